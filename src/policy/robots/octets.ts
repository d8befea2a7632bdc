/**
 * Octets of robots rules and of URLs, and the one canonical form in which they are compared.
 *
 * RFC 9309 §2.2.2 compares octets: `~` and `%7E` are one, `/` and `%2F` are not. So both sides go through the same
 * mill: escapes of unreserved octets are decoded, other escapes get upper-case digits, everything that is neither
 * unreserved nor one of `/ ? & =` is escaped, and a `%` that begins no escape stays. In a rule `*` keeps its meaning,
 * and so does `$` at the end; in a URL both are escaped, so that a rule's `%2A` and `%24` can mean the characters.
 *
 * A text of octets is a string with one character an octet (Latin-1): nothing is lost, whatever the bytes are.
 */

const UNRESERVED = /[A-Za-z0-9\-._~]/;

/** What each octet becomes when it stood escaped, or stood raw where it may not. */
const CANONICAL_OCTETS: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  const char = String.fromCharCode(octet);
  return UNRESERVED.test(char) ? char : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
});

const TO_CHANGE_IN_URL = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~/?&=%]/g;
const TO_CHANGE_IN_RULE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~/?&=%*]/g;

/** The canonical octets of a URL's path and query. The input is ASCII, as the URL parser leaves it. */
export function canonicalTarget(pathAndQuery: string): string {
  return pathAndQuery.replace(TO_CHANGE_IN_URL, canonicalOctet);
}

/** The canonical octets of a rule's pattern, given one character an octet. */
export function canonicalPattern(pattern: string): string {
  const anchored = pattern.endsWith('$');
  const body = anchored ? pattern.slice(0, -1) : pattern;
  const canonical = body.replace(TO_CHANGE_IN_RULE, canonicalOctet);
  return anchored ? `${canonical}$` : canonical;
}

function canonicalOctet(found: string): string {
  const octet = found.length === 3 ? Number.parseInt(found.slice(1), 16) : found.charCodeAt(0);
  return CANONICAL_OCTETS[octet] as string;
}

/** Arguments of one call: far below any engine's limit on them. */
const CHUNK_OCTETS = 8_192;

/** Bytes as text of octets. */
export function octetsOf(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += CHUNK_OCTETS) {
    text += String.fromCharCode.apply(null, bytes.subarray(from, from + CHUNK_OCTETS) as unknown as number[]);
  }
  return text;
}

const HIGH_OCTET = /[\x80-\xff]/;
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text of octets read as UTF-8, for people and for URLs; octets that are not UTF-8 become U+FFFD. */
export function utf8Of(octets: string): string {
  if (!HIGH_OCTET.test(octets)) return octets;
  return utf8.decode(Uint8Array.from(octets, (char) => char.charCodeAt(0)));
}
