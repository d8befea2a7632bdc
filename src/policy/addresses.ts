/**
 * Whose clock an address runs on (P2): many names may stand for one server, and it is the server that bears the load.
 *
 * An IPv4 address is one server. Of IPv6 a customer is given a /64 at least, so that is what counts. Ranges may be
 * exempt: behind a shared delivery network's address stand thousands of sites that have nothing to do with each other.
 * An IPv4 address in IPv6 clothes (`::ffff:192.0.2.1`) is the IPv4 address.
 */
import ipaddr from 'ipaddr.js';

/** The bits of IPv6 that tell customers apart (RFC 6177). */
const CUSTOMER_BYTES = 8;

/** A range of addresses as data: all of them that share its first `bits` bits. 4 bytes or 16. */
export interface AddressRange {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Reads ranges written as `10.0.0.0/8`, `2001:db8::/32` or a single address. Throws RangeError that names the bad one. */
export function addressRangesOf(texts: readonly string[]): readonly AddressRange[] {
  return texts.map((text) => {
    const [address = '', bits, ...more] = text.split('/');
    const bytes = bytesOf(address);
    const bitsMax = (bytes?.length ?? 0) * 8;
    const mapped = bytes?.length === 4 && address.includes(':') ? 96 : 0;
    const prefix = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) - mapped : -1;
    if (bytes === null || more.length > 0 || prefix < 0 || prefix > bitsMax) {
      throw new RangeError(`not an address or a range of addresses: ${text}`);
    }
    return { bytes, bits: prefix };
  });
}

/** The key of the clock that a request to an address waits for; null if the address is exempt. Throws RangeError for what is no address. */
export function addressClockKey(address: string, exempt: readonly AddressRange[]): string | null {
  const bytes = bytesOf(address);
  if (bytes === null) throw new RangeError(`not an address: ${address}`);
  if (exempt.some((range) => isWithin(bytes, range))) return null;
  if (bytes.length === 4) return bytes.join('.');
  const network = [...bytes.slice(0, CUSTOMER_BYTES), ...new Array<number>(16 - CUSTOMER_BYTES).fill(0)];
  return `${ipaddr.fromByteArray(network).toString()}/${CUSTOMER_BYTES * 8}`;
}

function isWithin(bytes: readonly number[], range: AddressRange): boolean {
  if (bytes.length !== range.bytes.length) return false;
  const whole = range.bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== range.bytes[i]) return false;
  const rest = range.bits & 7;
  return rest === 0 || ((bytes[whole] as number) ^ (range.bytes[whole] as number)) >> (8 - rest) === 0;
}

/** Only spellings that can't be misread: no octal, no missing parts. */
function bytesOf(address: string): readonly number[] | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).toByteArray();
  return ipaddr.IPv6.isValid(address) ? ipaddr.process(address).toByteArray() : null;
}
