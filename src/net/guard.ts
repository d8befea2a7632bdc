/**
 * The guard: which addresses a crawl may reach (S1).
 *
 * A page can name any address, and a name can answer with any; what stands between a link and the operator's own
 * network is this one decision. It is pure, and asked twice for every connection: of what a name resolved to, and of
 * the very address that the socket is opened to.
 *
 * 1. Only globally routable unicast passes: for IPv4 what no special-purpose registry lists, for IPv6 2000::/3 less
 *    its special ranges.
 * 2. Addresses that carry an IPv4 address inside (IPv4-mapped, 6to4, NAT64, Teredo) never pass, whatever is allowed:
 *    a rule for an IPv4 range could not be trusted otherwise.
 * 3. What an operator allows is a range of addresses, never a name. The cloud's metadata addresses are not opened by a
 *    wide range: they must be named one by one.
 * 4. What passes is spelled canonically, so that `0x7f.1` can't be vetted as one address and connected as another.
 */
import ipaddr from 'ipaddr.js';
import type { VettedAddress } from '../domain/fetching.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = readonly [network: Address, prefixBits: number];

/** The operator's exceptions, parsed once. */
export interface GuardRules {
  readonly allow: readonly Cidr[];
}

export type Vetting =
  | { readonly ok: true; readonly address: VettedAddress }
  /** `range` names the kind of address; `detail` is a sentence for the log. */
  | { readonly ok: false; readonly range: string; readonly detail: string };

/** Ranges that embed an IPv4 address: RFC 4291 §2.5.5, RFC 3056, RFC 6052, RFC 8215, RFC 6145, RFC 4380. */
const EMBEDS_IPV4: ReadonlySet<string> = new Set([
  'ipv4Mapped',
  'ipv4Compatible',
  '6to4',
  'rfc6052',
  'rfc6145',
  'teredo',
]);

/** Where clouds answer with credentials. Most lie in link-local or private ranges, Azure's does not. */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS, Azure, Google, and most that copied them
  '169.254.170.2', // AWS container credentials
  '168.63.129.16', // Azure's host agent: a public address that is routed nowhere else
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  'fd00:ec2::254', // AWS over IPv6
  'fd20:ce::254', // Google over IPv6
]);

const GLOBAL_UNICAST_V6: Cidr = [ipaddr.IPv6.parse('2000::'), 3];
const IPV4_COMPATIBLE: Cidr = [ipaddr.IPv6.parse('::'), 96];

/**
 * Parses the operator's ranges: CIDRs, or single addresses.
 * @throws Error that names the entry, when one is neither.
 */
export function guardRules(allow: readonly string[]): GuardRules {
  return { allow: allow.map(parseCidr) };
}

/** Whether a connection may be made to an address. Reads any spelling that a system's resolver would; brackets too. */
export function vet(address: string, rules: GuardRules): Vetting {
  const parsed = parse(address);
  if (parsed === null) return refused(address, 'invalid', 'is not an address');
  const canonical = parsed.toString();
  const range = rangeOf(parsed, canonical);
  if (EMBEDS_IPV4.has(range)) return refused(address, range, `embeds an IPv4 address (${range})`);
  if (range === 'unicast' || allowed(parsed, range, rules)) {
    return { ok: true, address: { address: canonical, family: parsed.kind() === 'ipv4' ? 4 : 6 } };
  }
  return refused(address, range, `is in a range that a crawl may not reach (${range})`);
}

/** Vets a whole answer: one refused address refuses all, since a mixed answer is how a name is turned against us. */
export function vetAll(
  addresses: readonly string[],
  rules: GuardRules,
): { readonly ok: true; readonly addresses: readonly VettedAddress[] } | Extract<Vetting, { ok: false }> {
  const vetted = new Map<string, VettedAddress>();
  for (const address of addresses) {
    const vetting = vet(address, rules);
    if (!vetting.ok) return vetting;
    vetted.set(vetting.address.address, vetting.address);
  }
  const all = [...vetted.values()];
  return { ok: true, addresses: [...all.filter((one) => one.family === 4), ...all.filter((one) => one.family === 6)] };
}

/** The canonical spelling of an address, an IPv4-mapped one as the IPv4 that it stands for; null for anything else. */
export function canonicalAddress(address: string): string | null {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : null;
}

function rangeOf(address: Address, canonical: string): string {
  if (METADATA.has(canonical)) return 'metadata';
  const range = address.range();
  if (range !== 'unicast' || address.kind() === 'ipv4') return range;
  if (address.match(IPV4_COMPATIBLE[0], IPV4_COMPATIBLE[1])) return 'ipv4Compatible';
  return address.match(GLOBAL_UNICAST_V6[0], GLOBAL_UNICAST_V6[1]) ? range : 'unassigned';
}

function allowed(address: Address, range: string, rules: GuardRules): boolean {
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  return rules.allow.some(
    ([network, prefixBits]) =>
      network.kind() === address.kind() &&
      address.match(network, prefixBits) &&
      (range !== 'metadata' || prefixBits === bits),
  );
}

/** A zone (`%eth0`) picks a network interface, which is never a page's to choose. */
function parse(address: string): Address | null {
  const bare = address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
  return !bare.includes('%') && ipaddr.isValid(bare) ? ipaddr.parse(bare) : null;
}

function parseCidr(entry: string): Cidr {
  if (!entry.includes('/')) {
    const address = parse(entry);
    if (address !== null) return [address, address.kind() === 'ipv4' ? 32 : 128];
  } else if (ipaddr.isValidCIDR(entry)) {
    return ipaddr.parseCIDR(entry);
  }
  throw new Error(`guard.allow: ${JSON.stringify(entry)} is neither an address nor a CIDR such as "127.0.0.0/8"`);
}

function refused(address: string, range: string, what: string): Vetting & { ok: false } {
  return { ok: false, range, detail: `${address} ${what}` };
}
