/**
 * From names to vetted addresses.
 *
 * A name is answered from the first of these that knows it: it is an address itself, the operator's static hosts,
 * `localhost` (RFC 6761 §6.3), the system's hosts file, the cache, a name server. The platform's own look-up is not
 * used: it has no time-out, tells no time to live, and occupies a thread of the pool that the store needs.
 *
 * 1. Every answer passes the guard; one refused address in it refuses the name (S1).
 * 2. Look-ups of one name under way are shared, so that a burst of pages costs one query.
 * 3. A failing AAAA spoils no A, and a slow one delays it by half a second at most (after RFC 8305 §3).
 * 4. The cache is bounded in number, and each entry in life: a TTL of 0 still lasts 5 s, one of a week lasts 1 h.
 */
import { Resolver as NameServerClient } from 'node:dns/promises';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Resolution } from '../domain/fetching.js';
import { type GuardRules, vetAll } from './guard.js';

export interface ResolverOptions {
  readonly guard: GuardRules;
  readonly clock: { monotonicMs(): number };
  /** Name servers as `address[:port]`; left out, those of the system, together with its hosts file. */
  readonly servers?: readonly string[];
  /** Fixed answers. `*.test` stands for every name below `test`, at any depth, `*` for every name. */
  readonly hosts?: Readonly<Record<string, string | readonly string[]>>;
  /** Only read when `servers` is left out. */
  readonly hostsFile?: string;
  readonly entriesMax?: number;
}

export interface Resolver {
  /**
   * What a host name (or address literal, brackets or not) stands for at this moment; `expiresInMs` is what remains.
   * Never rejects but for its signal, and then with the signal's reason: a look-up given up says nothing of the name.
   */
  resolve(hostname: string, signal: AbortSignal): Promise<Resolution>;
  /** Gives up the queries under way: their look-ups end as `dns_failed`. */
  close(): void;
}

const SECOND_MS = 1000;
const QUERY_TIMEOUT_MS = 2 * SECOND_MS;
const QUERY_TRIES = 2;
const TTL_MS_MIN = 5 * SECOND_MS;
const TTL_MS_MAX = 3600 * SECOND_MS;
const NOT_FOUND_MS = 300 * SECOND_MS;
const FAILED_MS_STEP = 5 * SECOND_MS;
const FAILED_MS_MAX = 30 * SECOND_MS;
/** How long an answered A waits for its AAAA. */
const AAAA_GRACE_MS = 500;
const ENTRIES_MAX = 50_000;

/** RFC 1035 §2.3.4, without the root's dot and length octet. */
const NAME_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;

/** A name that the URL parser would leave as it is: its last label starts with a letter, so it is no number. */
const PLAIN_NAME = /^(?:[a-z0-9_-]+\.)*[a-z_][a-z0-9_-]*$/;

/** The server said that there is no such name, or no address at it; or the name can't be asked for at all. */
const NOT_FOUND_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

interface Entry {
  readonly resolution: Resolution;
  readonly expiresAtMs: number;
  /** Failed look-ups in a row, this one included. */
  readonly failures: number;
}

/** One record type's answer. */
type Answer =
  | { readonly kind: 'records'; readonly addresses: readonly string[]; readonly ttlMs: number }
  | { readonly kind: 'nothing'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

/** @throws Error when a server, a static host or its address is malformed; the message names it. */
export function createResolver(options: ResolverOptions): Resolver {
  const { guard, clock } = options;
  const client = nameServerClient(options.servers);
  const fixed = staticHosts(options.hosts ?? {});
  const system = options.servers ? new Map<string, string[]>() : readHostsFile(options.hostsFile ?? '/etc/hosts');
  const cache = new LRUCache<string, Entry>({ max: options.entriesMax ?? ENTRIES_MAX });
  const underWay = new Map<string, Promise<Entry>>();

  return {
    async resolve(hostname, signal) {
      signal.throwIfAborted();
      const name = canonicalName(hostname);
      if (name === null) return notFound(`${hostname} can not be a host name`);
      const known = localAnswer(name);
      if (known !== null) return known;
      const cached = cache.get(name);
      if (cached !== undefined && cached.expiresAtMs > clock.monotonicMs()) return remaining(cached);
      return remaining(await orAborted(shared(name), signal));
    },
    close: () => client.cancel(),
  };

  /** What needs no query: literals, static hosts, localhost, the hosts file. */
  function localAnswer(name: string): Resolution | null {
    const literal = literalOf(name);
    if (literal !== null) return judged([literal], TTL_MS_MAX, guard);
    const addresses = fixed(name);
    if (addresses !== null) return judged(addresses, TTL_MS_MAX, guard);
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback(guard);
    const listed = system.get(name);
    return listed === undefined ? null : judged(listed, TTL_MS_MAX, guard);
  }

  function shared(name: string): Promise<Entry> {
    let lookup = underWay.get(name);
    if (lookup === undefined) {
      lookup = lookUp(name).finally(() => underWay.delete(name));
      underWay.set(name, lookup);
    }
    return lookup;
  }

  async function lookUp(name: string): Promise<Entry> {
    const resolution = await query(client, name, guard);
    const failed = resolution.kind === 'failed' && resolution.code === 'dns_failed';
    const failures = failed ? (cache.peek(name)?.failures ?? 0) + 1 : 0;
    const livesMs = failed ? Math.min(failures * FAILED_MS_STEP, FAILED_MS_MAX) : resolution.expiresInMs;
    const entry = { resolution, failures, expiresAtMs: clock.monotonicMs() + livesMs };
    cache.set(name, entry);
    return entry;
  }

  function remaining(entry: Entry): Resolution {
    return { ...entry.resolution, expiresInMs: Math.max(0, entry.expiresAtMs - clock.monotonicMs()) };
  }
}

async function query(client: NameServerClient, name: string, guard: GuardRules): Promise<Resolution> {
  const answerV6 = ask(() => client.resolve6(name, { ttl: true }));
  const answerV4 = await ask(() => client.resolve4(name, { ttl: true }));
  const answers = [answerV4, await (answerV4.kind === 'records' ? orLate(answerV6) : answerV6)];

  const records = answers.filter((answer) => answer.kind === 'records');
  if (records.length > 0) {
    const ttlMs = Math.min(...records.map((answer) => answer.ttlMs));
    return judged(
      records.flatMap((answer) => answer.addresses),
      Math.min(Math.max(ttlMs, TTL_MS_MIN), TTL_MS_MAX),
      guard,
    );
  }
  const failed = answers.find((answer) => answer.kind === 'failed');
  if (failed === undefined) return notFound(`${name} does not exist or has no address`);
  return { kind: 'failed', code: 'dns_failed', detail: `${name}: ${failed.detail}`, expiresInMs: FAILED_MS_STEP };
}

async function ask(records: () => Promise<{ address: string; ttl: number }[]>): Promise<Answer> {
  try {
    const found = await records();
    if (found.length === 0) return { kind: 'nothing', detail: 'no records' };
    return {
      kind: 'records',
      addresses: found.map((record) => record.address),
      ttlMs: Math.min(...found.map((record) => record.ttl)) * SECOND_MS,
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return NOT_FOUND_CODES.has(code) ? { kind: 'nothing', detail: code } : { kind: 'failed', detail: code };
  }
}

function orLate(answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'failed', detail: 'late' }), AAAA_GRACE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** The look-up goes on for whoever else waits for it. */
function orAborted<T>(lookup: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    // One signal is shared by all look-ups of a caller: many listeners are no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', onAbort, { once: true });
    lookup.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function judged(addresses: readonly string[], expiresInMs: number, guard: GuardRules): Resolution {
  const vetting = vetAll(addresses, guard);
  return vetting.ok
    ? { kind: 'addresses', addresses: vetting.addresses, expiresInMs }
    : { kind: 'refused', detail: vetting.detail, expiresInMs };
}

/** Both loopback addresses are ours and not an answer from outside: either may be allowed without the other. */
function loopback(guard: GuardRules): Resolution {
  const overV4 = judged(['127.0.0.1'], TTL_MS_MAX, guard);
  const overV6 = judged(['::1'], TTL_MS_MAX, guard);
  if (overV4.kind !== 'addresses') return overV6.kind === 'addresses' ? overV6 : overV4;
  if (overV6.kind !== 'addresses') return overV4;
  return { ...overV4, addresses: [...overV4.addresses, ...overV6.addresses] };
}

function notFound(detail: string): Resolution {
  return { kind: 'failed', code: 'dns_not_found', detail, expiresInMs: NOT_FOUND_MS };
}

/** Lower case, A-labels, no trailing dot; an IPv6 literal in brackets. Null when no such name can exist. */
function canonicalName(hostname: string): string | null {
  const name = PLAIN_NAME.test(hostname) ? hostname : parsedName(hostname);
  if (name === null || name.length > NAME_OCTETS_MAX) return null;
  const labels = name.split('.');
  return labels.some((label) => label === '' || label.length > LABEL_OCTETS_MAX) ? null : name;
}

/** Through the URL parser, which reads every spelling of a host as a page's link to it was read. */
function parsedName(hostname: string): string | null {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  if (/[\s/\\@?#]/.test(host) || (host.includes(':') && !host.startsWith('['))) return null;
  if (!URL.canParse(`http://${host}/`)) return null;
  const { hostname: name, port } = new URL(`http://${host}/`);
  if (port !== '') return null;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function literalOf(name: string): string | null {
  if (name.startsWith('[')) return name.slice(1, -1);
  return isIP(name) === 4 ? name : null;
}

function nameServerClient(servers: readonly string[] | undefined): NameServerClient {
  const client = new NameServerClient({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers === undefined) return client;
  if (servers.length === 0) throw new Error('dns.servers: the list is empty');
  try {
    client.setServers(servers);
  } catch (error) {
    throw new Error(`dns.servers: ${JSON.stringify(servers)}: ${(error as Error).message}`);
  }
  return client;
}

/** Exact names win; then the pattern with the longest suffix. */
function staticHosts(hosts: NonNullable<ResolverOptions['hosts']>): (name: string) => readonly string[] | null {
  const exact = new Map<string, readonly string[]>();
  const below = new Map<string, readonly string[]>();
  let others: readonly string[] | null = null;
  for (const [pattern, value] of Object.entries(hosts)) {
    const wild = pattern.startsWith('*.');
    const name = pattern === '*' ? '' : canonicalName(wild ? pattern.slice(2) : pattern);
    const addresses = typeof value === 'string' ? [value] : value;
    const wrong = addresses.find((address) => isIP(address) === 0);
    if (name === null) throw new Error(`dns.hosts: ${JSON.stringify(pattern)} is neither a name nor a "*." pattern`);
    if (addresses.length === 0) throw new Error(`dns.hosts: ${JSON.stringify(pattern)} has no address`);
    if (wrong !== undefined) throw new Error(`dns.hosts: ${JSON.stringify(wrong)} is not an address`);
    if (name === '') others = addresses;
    else (wild ? below : exact).set(name, addresses);
  }
  return (name) => {
    const addresses = exact.get(name);
    if (addresses !== undefined) return addresses;
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const under = below.get(name.slice(dot + 1));
      if (under !== undefined) return under;
    }
    return others;
  };
}

/** hosts(5): an address, then its names; `#` starts a comment. An unreadable file lists nothing. */
function readHostsFile(path: string): Map<string, string[]> {
  const listed = new Map<string, string[]>();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return listed;
  }
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address === undefined || isIP(address) === 0) continue;
    for (const name of names) {
      const canonical = canonicalName(name);
      if (canonical !== null) listed.set(canonical, [...(listed.get(canonical) ?? []), address]);
    }
  }
  return listed;
}
