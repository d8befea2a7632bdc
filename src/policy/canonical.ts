/**
 * The canonical spelling of a URL: the crawler's identity function.
 *
 * Two spellings that every server must treat alike (RFC 3986 §6.2.2, and what the WHATWG URL parser does on its own)
 * become one; nothing that a server could tell apart is touched. Slashes are not joined, a query is not sorted, an
 * empty one is not dropped: such rules belong to an operator who knows the site.
 *
 * Invariants:
 * 1. Idempotent: the canonical form of a canonical form is itself.
 * 2. A URL past the bound is refused, never cut.
 * 3. Neither credentials nor a fragment survive.
 */
import { type HostName, hostOf, type Origin, originOf } from '../domain/host.js';
import type { UrlRefusal } from '../domain/url.js';

/** UTF-16 units, which after canonicalisation are bytes. RFC 9110 §4.1 asks for 8000 at least. */
export const URL_LENGTH_MAX = 8192;
/** RFC 1035 §2.3.4, without the root's own dot. */
const HOST_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/** What the engine asks of a URL after its spelling. */
export interface UrlParts {
  /** Without the trailing dot, which stays in the URL. */
  readonly host: HostName;
  /** As `scheme://host[:port]`, made with `host`: a trailing dot makes no origin of its own. */
  readonly origin: Origin;
  /** Path and query as sent in a request line; begins with a slash. */
  readonly target: string;
}

export type Canonical =
  | { readonly ok: true; readonly url: string; readonly parsed: UrlParts }
  | { readonly ok: false; readonly refusal: UrlRefusal };

/**
 * Resolves `input` against `base` and spells it canonically.
 *
 * @returns the spelling and its parts, or why it is no URL that could be fetched. Never throws.
 */
export function canonicalise(input: string, base?: string | URL): Canonical {
  return alreadyCanonical(input, base) ?? spell(input, base);
}

/** The same for any input; what `canonicalise` answers at a glance is answered alike here, at twice the cost. */
export function spell(input: string, base?: string | URL): Canonical {
  const url = parseUrl(input, base);
  if (url === null) return refuse('url_invalid');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('url_scheme');
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
  }
  const host = hostOf(url);
  if (!isPossibleHost(host)) return refuse('url_host_invalid');
  const prefix = `${url.protocol}//${url.host}`;
  const target = normaliseEscapes(requestTarget(url.href, prefix.length));
  const spelled = prefix + target;
  if (spelled.length > URL_LENGTH_MAX) return refuse('url_too_long');
  return { ok: true, url: spelled, parsed: { host, origin: originOf(url), target } };
}

/**
 * URLs that no rule changes, and that need no parser to be taken apart: names of letters and digits whose last label
 * is no number, a port without leading zeros, a path without escapes or dot segments, a query without quotes. Most links
 * on the web are such, or become such behind the origin of their page.
 */
const PLAIN =
  /^(https?:)\/\/((?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?::([1-9][0-9]{0,4}))?((?:\/(?!\.)[A-Za-z0-9._~!$&'()*+,;=:@-]*)+(?:\?[A-Za-z0-9._~!$&()*+,;=:@/?-]*)?)$/;
const PORTS_DEFAULT: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const PORT_MAX = 65_535;

/** Null where it takes a closer look. */
function alreadyCanonical(input: string, base: string | URL | undefined): Canonical | null {
  const url = input.startsWith('/') && typeof base === 'string' ? rooted(input, base) : input;
  const match = url === null || url.length > URL_LENGTH_MAX ? null : PLAIN.exec(url);
  if (url === null || match === null) return null;
  const [, protocol = '', host = '', port, target = ''] = match;
  if (port !== undefined && (Number(port) > PORT_MAX || Number(port) === PORTS_DEFAULT[protocol])) return null;
  if (!isPossibleHost(host)) return null;
  return { ok: true, url, parsed: { host, origin: url.slice(0, url.length - target.length), target } };
}

/** A path behind the origin of its base. */
function rooted(path: string, base: string): string | null {
  if (path.startsWith('//')) return null;
  const slash = base.indexOf('/', base.indexOf('//') + 2);
  return slash === -1 ? null : base.slice(0, slash) + path;
}

function parseUrl(input: string, base: string | URL | undefined): URL | null {
  try {
    return new URL(input, base);
  } catch {
    return null;
  }
}

function refuse(refusal: UrlRefusal): Canonical {
  return { ok: false, refusal };
}

/** Path and query out of a serialised URL. A `#` there can only begin the fragment; a bare `?` is kept (RFC 3986 §6.2.3). */
function requestTarget(href: string, prefixLength: number): string {
  const fragment = href.indexOf('#', prefixLength);
  return fragment === -1 ? href.slice(prefixLength) : href.slice(prefixLength, fragment);
}

const HOST_CHARACTERS = /^[a-z0-9_.-]+$/;

/** Could a resolver know this name? What the URL parser lets through (`a;b`, empty or long labels) is stopped here, for good. */
function isPossibleHost(host: string): boolean {
  if (host.startsWith('[')) return true;
  if (host.length > HOST_LENGTH_MAX || !HOST_CHARACTERS.test(host)) return false;
  for (let start = 0; start <= host.length; ) {
    const dot = host.indexOf('.', start);
    const end = dot === -1 ? host.length : dot;
    if (end === start || end - start > LABEL_LENGTH_MAX) return false;
    start = end + 1;
  }
  return true;
}

/**
 * RFC 3986 §6.2.2.1 and §6.2.2.2: escapes in upper case, escaped unreserved octets decoded.
 *
 * A stray `%` (one that begins no escape) means itself. So an octet that would complete it to an escape stays
 * escaped: `%%34%31` becomes `%%341` and not `%41`, which means something else.
 */
export function normaliseEscapes(text: string): string {
  let percent = text.indexOf('%');
  if (percent === -1) return text;
  let out = '';
  let copied = 0;
  while (percent !== -1) {
    out += text.slice(copied, percent);
    const octet = escapedOctet(text, percent);
    copied = percent + (octet === null ? 1 : 3);
    if (octet === null) out += '%';
    else if (isUnreserved(octet) && !(hexValue(octet) !== null && OPEN_ESCAPE.test(out.slice(-2)))) {
      out += String.fromCharCode(octet);
    } else out += text.slice(percent, copied).toUpperCase();
    percent = text.indexOf('%', copied);
  }
  return out + text.slice(copied);
}

/** An ending to which a hex digit could be added: a whole escape has two digits after its sign. */
const OPEN_ESCAPE = /%[0-9a-fA-F]?$/;

/** The octet that the escape at `at` stands for, or null where none begins there. */
function escapedOctet(text: string, at: number): number | null {
  const high = hexValue(text.charCodeAt(at + 1));
  const low = hexValue(text.charCodeAt(at + 2));
  return high === null || low === null ? null : high * 16 + low;
}

function hexValue(unit: number): number | null {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : null;
}

/** RFC 3986 §2.3: letters, digits, `-`, `.`, `_`, `~`. */
function isUnreserved(octet: number): boolean {
  if (octet >= 0x30 && octet <= 0x39) return true;
  const lower = octet | 0x20;
  if (lower >= 0x61 && lower <= 0x7a) return octet >= 0x41;
  return octet === 0x2d || octet === 0x2e || octet === 0x5f || octet === 0x7e;
}
