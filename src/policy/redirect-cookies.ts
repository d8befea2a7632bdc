/**
 * Cookies of a chain of redirects (RFC 6265): what an answer sets, and what goes along with the next request.
 *
 * Some sites set a cookie, redirect, and look whether it comes back. A crawl holds such cookies for the chain alone, so
 * there is no jar: a list in, a list out. Whose they are (one origin) is the chain's business; here they are judged as
 * a browser does, so that a site can't set what it may not.
 *
 * 1. A cookie that was set anew takes the place of the old one; a deletion leaves nothing (§5.3).
 * 2. Past their bound there are none at all: a part of them is what no browser would send.
 * 3. What can't be understood is no cookie; nothing is thrown.
 */
import { getPublicSuffix } from 'tldts';
import type { ChainCookie } from '../domain/chain.js';
import type { Header } from '../domain/fetching.js';
import { hostOf } from '../domain/host.js';

/** Names, values, domains and paths of all of them, in octets: what a browser grants a single one (RFC 6265 §6.1). */
export const COOKIE_BYTES_MAX = 4096;

/** Values of an answer's Set-Cookie headers, in order. */
export function setCookiesOf(headers: readonly Header[]): string[] {
  return headers.flatMap(([name, value]) => (name.toLowerCase() === 'set-cookie' ? [value] : []));
}

/**
 * The cookies after an answer from `url` (RFC 6265 §5.3).
 * @returns null where they have passed `COOKIE_BYTES_MAX`
 */
export function withSetCookies(
  cookies: readonly ChainCookie[],
  setCookies: readonly string[],
  url: string,
  nowWallMs: number,
): readonly ChainCookie[] | null {
  if (setCookies.length === 0) return cookies;
  // A map keeps the place of what is set anew, which is its time of creation.
  const kept = new Map(cookies.map((cookie) => [identityOf(cookie), cookie]));
  const setBy = new URL(url);
  for (const text of setCookies) {
    const cookie = cookieOf(text, setBy, nowWallMs);
    if (cookie === null) continue;
    if (isExpired(cookie, nowWallMs)) kept.delete(identityOf(cookie));
    else kept.set(identityOf(cookie), cookie);
  }
  const after = [...kept.values()];
  return bytesOf(after) > COOKIE_BYTES_MAX ? null : after;
}

/** The Cookie header for a request (RFC 6265 §5.4): longer paths first, then in order. Null where none is for it. */
export function cookieHeader(cookies: readonly ChainCookie[], url: string, nowWallMs: number): string | null {
  if (cookies.length === 0) return null;
  const asked = new URL(url);
  const sent = cookies.filter((cookie) => isFor(cookie, asked) && !isExpired(cookie, nowWallMs));
  sent.sort((one, other) => other.path.length - one.path.length);
  return sent.length === 0 ? null : sent.map(({ name, value }) => `${name}=${value}`).join('; ');
}

function identityOf({ name, domain, path }: ChainCookie): string {
  return `${name};${domain};${path}`;
}

function bytesOf(cookies: readonly ChainCookie[]): number {
  let bytes = 0;
  for (const { name, value, domain, path } of cookies)
    bytes += name.length + value.length + domain.length + path.length;
  return bytes;
}

function isExpired({ expiresAtMs }: ChainCookie, nowWallMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowWallMs;
}

function isFor({ domain, hostOnly, path, secure }: ChainCookie, asked: URL): boolean {
  const host = hostOf(asked);
  if (hostOnly ? host !== domain : !domainMatches(host, domain)) return false;
  return pathMatches(asked.pathname, path) && (!secure || asked.protocol === 'https:');
}

/** RFC 6265 §5.1.3. */
function domainMatches(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && !isAddress(host));
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);
}

/** RFC 6265 §5.1.4. */
function pathMatches(asked: string, path: string): boolean {
  return asked === path || (asked.startsWith(path) && (path.endsWith('/') || asked[path.length] === '/'));
}

// -- what is set ------------------------------------------------------------------------------------------------

/** No site sends them on purpose; in a header of ours they would end it. */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Null where it is none, or where `setBy` may not set it. */
function cookieOf(text: string, setBy: URL, nowWallMs: number): ChainCookie | null {
  const [pair = '', ...rest] = text.split(';');
  const equals = pair.indexOf('=');
  const name = trimmed(pair.slice(0, Math.max(equals, 0)));
  if (name === '' || CONTROL.test(text)) return null;
  const attributes = attributesOf(rest);
  const where = whereOf(attributes.domain, hostOf(setBy));
  const secure = attributes.secure;
  if (where === null || (secure && setBy.protocol !== 'https:')) return null;
  const path = attributes.path ?? defaultPathOf(setBy.pathname);
  if (!keepsPromise(name, { secure, hostOnly: attributes.domain === null, path: attributes.path })) return null;
  const value = trimmed(pair.slice(equals + 1));
  const expiresAtMs = attributes.maxAgeMs === null ? attributes.expiresAtMs : nowWallMs + attributes.maxAgeMs;
  return { name, value, ...where, path, secure, expiresAtMs };
}

interface Attributes {
  /** Null: none, so that it is for the host alone. */
  domain: string | null;
  path: string | null;
  secure: boolean;
  maxAgeMs: number | null;
  expiresAtMs: number | null;
}

/** RFC 6265 §5.2: of each attribute the last one that can be read counts. */
function attributesOf(texts: readonly string[]): Attributes {
  const read: Attributes = { domain: null, path: null, secure: false, maxAgeMs: null, expiresAtMs: null };
  for (const text of texts) {
    const equals = text.indexOf('=');
    const value = equals === -1 ? '' : trimmed(text.slice(equals + 1));
    switch (trimmed(equals === -1 ? text : text.slice(0, equals)).toLowerCase()) {
      case 'expires':
        read.expiresAtMs = cookieDateMsOf(value) ?? read.expiresAtMs;
        break;
      case 'max-age':
        read.maxAgeMs = maxAgeMsOf(value) ?? read.maxAgeMs;
        break;
      case 'domain':
        if (value !== '') read.domain = value.replace(/^\./, '').toLowerCase();
        break;
      case 'path':
        read.path = value.startsWith('/') ? value : null;
        break;
      case 'secure':
        read.secure = true;
        break;
    }
  }
  return read;
}

/** The hosts that it is for; null where a host may not set it for them (RFC 6265 §5.3, steps 5 and 6). */
function whereOf(domain: string | null, host: string): Pick<ChainCookie, 'domain' | 'hostOnly'> | null {
  if (domain === null || domain === '') return { domain: host, hostOnly: true };
  if (isPublicSuffix(domain)) return domain === host ? { domain, hostOnly: true } : null;
  return domainMatches(host, domain) ? { domain, hostOnly: false } : null;
}

function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true, validateHostname: false }) === domain;
}

/** A name may promise how it was set: `__Secure-` and `__Host-`, which servers rely on. */
function keepsPromise(
  name: string,
  { secure, hostOnly, path }: { readonly secure: boolean; readonly hostOnly: boolean; readonly path: string | null },
): boolean {
  const promise = name.toLowerCase();
  if (promise.startsWith('__secure-')) return secure;
  return !promise.startsWith('__host-') || (secure && hostOnly && path === '/');
}

/** RFC 6265 §5.1.4: the folder of what was asked for. */
function defaultPathOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** RFC 6265 §5.2.2. Null where it is no number; what is not positive has run out. */
function maxAgeMsOf(value: string): number | null {
  if (!/^-?\d+$/.test(value)) return null;
  return Math.min(Math.max(Number(value), 0) * 1000, Number.MAX_SAFE_INTEGER / 2);
}

function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

// -- dates ------------------------------------------------------------------------------------------------------

const DELIMITERS = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/;
const TIME_OF_DAY = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/;
const DAY = /^(\d{1,2})(?:\D|$)/;
const YEAR = /^(\d{2,4})(?:\D|$)/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A date as cookies have it, in whatever order its parts come (RFC 6265 §5.1.1): wall clock; null where it is none. */
export function cookieDateMsOf(text: string): number | null {
  const tokens = text.split(DELIMITERS);
  // Each token is the first of these that is still wanted and that it can be.
  const take = (isIt: (token: string) => boolean): string | null => {
    const index = tokens.findIndex(isIt);
    return index === -1 ? null : (tokens.splice(index, 1)[0] ?? null);
  };
  const time = take((token) => TIME_OF_DAY.test(token));
  const day = numberIn(take((token) => DAY.test(token)));
  const month = monthOf(take((token) => monthOf(token) >= 0));
  const year = fullYearOf(numberIn(take((token) => YEAR.test(token))));
  if (time === null || day === null || month === -1 || year === null || year < 1601) return null;
  const [hour = 0, minute = 0, second = 0] = (TIME_OF_DAY.exec(time) ?? []).slice(1).map(Number);
  if (hour > 23 || minute > 59 || second > 59) return null;
  const midnightMs = Date.UTC(year, month, day);
  return new Date(midnightMs).getUTCDate() === day ? midnightMs + ((hour * 60 + minute) * 60 + second) * 1000 : null;
}

function numberIn(token: string | null): number | null {
  const digits = /^\d+/.exec(token ?? '');
  return digits === null ? null : Number(digits[0]);
}

function monthOf(token: string | null): number {
  return token === null ? -1 : MONTHS.indexOf(token.slice(0, 3).toLowerCase());
}

function fullYearOf(year: number | null): number | null {
  if (year === null || year >= 100) return year;
  return year + (year >= 70 ? 1900 : 2000);
}
