/**
 * Clearance: what a host has given a browser that it let in, so that it is not asked who it is with every page.
 *
 * It belongs to the name under which it was earned, and is shown by nobody else: tier 2 sends it with the very user agent
 * of the browser, tier 3 gives it back to it. It ends with the first of its cookies, or when the host refuses all the same.
 *
 * Invariants: no cookie of another host's or for another one is kept (S4); it is bounded (S2).
 */
import type { Rendered, RenderedCookie } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';

export interface Clearance {
  /** Of the page that it was earned on: it does not leave an encrypted connection, nor come to one. */
  readonly scheme: 'http' | 'https';
  readonly userAgent: string;
  readonly cookies: readonly RenderedCookie[];
  /** Wall clock. */
  readonly expiresAtMs: number;
}

export const CLEARANCE_COOKIES_MAX = 20;
export const CLEARANCE_CHARACTERS_MAX = 4_096;
const USER_AGENT_CHARACTERS_MAX = 512;

/** Null where nothing was given that could be shown again. @param memoryMs how long cookies are believed that name no end */
export function clearanceFrom(
  { userAgent, cookies }: Rendered,
  url: string,
  host: HostName,
  memoryMs: number,
  nowWallMs: number,
): Clearance | null {
  if (!/^[\x20-\x7e]+$/.test(userAgent) || userAgent.length > USER_AGENT_CHARACTERS_MAX) return null;
  const kept: RenderedCookie[] = [];
  let characters = 0;
  let expiresAtMs = nowWallMs + memoryMs;
  for (const cookie of cookies) {
    const { name, value, domain, path } = cookie;
    if (!isOf(host, domain) || !NAME.test(name) || !VALUE.test(value)) continue;
    if (cookie.expiresAtMs !== null && cookie.expiresAtMs <= nowWallMs) continue;
    characters += name.length + value.length + domain.length + path.length;
    if (kept.length === CLEARANCE_COOKIES_MAX || characters > CLEARANCE_CHARACTERS_MAX) break;
    kept.push(cookie);
    if (cookie.expiresAtMs !== null) expiresAtMs = Math.min(expiresAtMs, cookie.expiresAtMs);
  }
  return kept.length === 0 ? null : { scheme: schemeOf(url), userAgent, cookies: kept, expiresAtMs };
}

export function isValid(clearance: Clearance | null, nowWallMs: number): clearance is Clearance {
  return clearance !== null && clearance.expiresAtMs > nowWallMs;
}

/** The value of a Cookie header for a URL of the host (RFC 6265 §5.4); null where none is for its path, or its scheme. */
export function clearanceCookies({ scheme, cookies }: Clearance, url: string): string | null {
  if (scheme !== schemeOf(url)) return null;
  const { pathname } = new URL(url);
  const pairs = cookies.filter(({ path }) => isUnder(pathname, path)).map(({ name, value }) => `${name}=${value}`);
  return pairs.length === 0 ? null : pairs.join('; ');
}

/** RFC 6265 §5.1.3, with a dot before it or without. */
function isOf(host: HostName, domain: string): boolean {
  const bare = (domain.startsWith('.') ? domain.slice(1) : domain).toLowerCase();
  return bare !== '' && (host === bare || host.endsWith(`.${bare}`));
}

/** RFC 6265 §5.1.4. */
function isUnder(pathname: string, path: string): boolean {
  if (!path.startsWith('/') || pathname === path) return true;
  return pathname.startsWith(path) && (path.endsWith('/') || pathname[path.length] === '/');
}

function schemeOf(url: string): Clearance['scheme'] {
  return url.startsWith('https:') ? 'https' : 'http';
}

/** Without what separates a cookie from its value, and from the next one. */
const NAME = /^[\x21-\x3a\x3c\x3e-\x7e]+$/;
const VALUE = /^[\x21-\x3a\x3c-\x7e]*$/;
