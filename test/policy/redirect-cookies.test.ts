import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainCookie } from '../../src/domain/chain.js';
import {
  COOKIE_BYTES_MAX,
  cookieDateMsOf,
  cookieHeader,
  setCookiesOf,
  withSetCookies,
} from '../../src/policy/redirect-cookies.js';

const NOW_MS = Date.UTC(2026, 0, 1);

/** What is sent to `asked` after answers from `setBy`. */
function sent(setBy: string, setCookies: readonly string[], asked = setBy, afterMs = 0): string | null {
  const cookies = withSetCookies([], setCookies, setBy, NOW_MS);
  return cookies === null ? null : cookieHeader(cookies, asked, NOW_MS + afterMs);
}

describe('withSetCookies and cookieHeader', () => {
  it('RFC 6265 §5.2: name and value come without the space around them, attributes in any spelling', () => {
    expect(sent('http://a.test/', [' \t s = 1 ; PATH = / ; httponly;; samesite=lax'])).toBe('s=1');
    expect(sent('http://a.test/', ['s=a=b"c"'])).toBe('s=a=b"c"');
    expect(sent('http://a.test/', ['s='])).toBe('s=');
  });

  it.each(['', ';', '=1', ' =1', 'name', '; s=1', 's=1\u0000', 's=1\rx', 's=\u007f'])('%j is no cookie', (text) => {
    expect(sent('http://a.test/', [text])).toBeNull();
  });

  it('RFC 6265 §5.3: what is set anew takes the place of the old one', () => {
    const before = withSetCookies([], ['s=1', 't=1'], 'http://a.test/', NOW_MS) as ChainCookie[];
    const after = withSetCookies(before, ['s=2'], 'http://a.test/', NOW_MS) as ChainCookie[];
    expect(cookieHeader(after, 'http://a.test/', NOW_MS)).toBe('s=2; t=1');
    expect(cookieHeader(before, 'http://a.test/', NOW_MS)).toBe('s=1; t=1');
    expect(sent('http://a.test/', ['s=1', 's=2', 's=3'])).toBe('s=3');
  });

  it('RFC 6265 §5.3: one name on two paths is two cookies; the longer path comes first (§5.4)', () => {
    expect(sent('http://a.test/b/', ['s=1; Path=/', 's=2; Path=/b'])).toBe('s=2; s=1');
    expect(sent('http://a.test/b/', ['s=1; Path=/', 's=2; Path=/b'], 'http://a.test/')).toBe('s=1');
  });

  it.each([
    ['Max-Age=0', null],
    ['Max-Age=-1', null],
    ['Max-Age=-99999999999999999999', null],
    ['Expires=Thu, 01 Jan 1970 00:00:00 GMT', null],
    ['Expires=Thu, 01-Jan-70 00:00:00 GMT', null],
    // Max-Age counts before Expires, whatever the order; what can't be read does not count.
    ['Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60', 's=2'],
    ['Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 's=2'],
    ['Max-Age=; Expires=soon', 's=2'],
    ['Max-Age=1e1', 's=2'],
    ['Max-Age=60; Max-Age=0', null],
    ['Max-Age=99999999999999999999999', 's=2'],
  ])('RFC 6265 §5.2.1, §5.2.2: after s=1 a second s with %s leaves %j', (attributes, left) => {
    expect(sent('http://a.test/', ['s=1', `s=2; ${attributes}`])).toBe(left);
  });

  it('RFC 6265 §5.4: a cookie that has run out is not sent: at n and n - 1', () => {
    expect(sent('http://a.test/', ['s=1; Max-Age=60'], 'http://a.test/', 59_999)).toBe('s=1');
    expect(sent('http://a.test/', ['s=1; Max-Age=60'], 'http://a.test/', 60_000)).toBeNull();
  });

  it.each([
    // The folder of what was asked for.
    ['http://a.test/b/c', 's=1', 'http://a.test/b', 's=1'],
    ['http://a.test/b/c', 's=1', 'http://a.test/b/d/e?q', 's=1'],
    ['http://a.test/b/c', 's=1', 'http://a.test/bc', null],
    ['http://a.test/b/c', 's=1', 'http://a.test/', null],
    ['http://a.test/b', 's=1', 'http://a.test/', 's=1'],
    ['http://a.test/b?/c/d', 's=1', 'http://a.test/', 's=1'],
    // What it names, if that begins with a slash.
    ['http://a.test/b/c', 's=1; Path=/', 'http://a.test/x', 's=1'],
    ['http://a.test/b/c', 's=1; Path=/x/', 'http://a.test/x/y', 's=1'],
    ['http://a.test/b/c', 's=1; Path=/x/', 'http://a.test/x', null],
    ['http://a.test/b/c', 's=1; Path=x', 'http://a.test/b/x', 's=1'],
    ['http://a.test/b/c', 's=1; Path=/x; Path=', 'http://a.test/b/x', 's=1'],
    ['http://a.test/b/c', 's=1; Path=/B', 'http://a.test/b/x', null],
  ])('RFC 6265 §5.1.4: of %s with %j goes to %s: %j', (setBy, text, asked, header) => {
    expect(sent(setBy, [text], asked)).toBe(header);
  });

  it.each([
    // For that very host.
    ['http://www.a.test/', 's=1', 'http://www.a.test/', 's=1'],
    ['http://www.a.test/', 's=1', 'http://a.test/', null],
    ['http://a.test/', 's=1', 'http://www.a.test/', null],
    ['http://a.test/', 's=1; Domain=', 'http://www.a.test/', null],
    // For it and all below.
    ['http://a.test/', 's=1; Domain=a.test', 'http://www.a.test/', 's=1'],
    ['http://www.a.test/', 's=1; Domain=.A.Test', 'http://a.test/', 's=1'],
    ['http://www.a.test/', 's=1; domain=a.test', 'http://ba.test/', null],
    ['http://www.a.test/', 's=1; domain=b.test; domain=a.test', 'http://a.test/', 's=1'],
    // For others.
    ['http://www.a.test/', 's=1; Domain=b.test', 'http://b.test/', null],
    ['http://www.a.test/', 's=1; Domain=b.test', 'http://www.a.test/', null],
    ['http://a.test/', 's=1; Domain=www.a.test', 'http://a.test/', null],
    // For all who share a public suffix.
    ['http://a.co.uk/', 's=1; Domain=co.uk', 'http://a.co.uk/', null],
    ['http://a.test/', 's=1; Domain=test', 'http://a.test/', null],
    ['http://a.github.io/', 's=1; Domain=github.io', 'http://a.github.io/', null],
    ['http://github.io/', 's=1; Domain=github.io', 'http://github.io/', 's=1'],
    ['http://github.io/', 's=1; Domain=github.io', 'http://a.github.io/', null],
    // Addresses have none below them.
    ['http://127.0.0.1/', 's=1; Domain=127.0.0.1', 'http://127.0.0.1/', 's=1'],
    ['http://127.0.0.1/', 's=1; Domain=0.0.1', 'http://127.0.0.1/', null],
    ['http://[::1]/', 's=1; Domain=[::1]', 'http://[::1]/', 's=1'],
    ['http://localhost/', 's=1; Domain=localhost', 'http://localhost/', 's=1'],
    ['http://a.test./', 's=1; Domain=a.test', 'http://a.test/', 's=1'],
  ])('RFC 6265 §5.1.3, §5.3: of %s with %j goes to %s: %j', (setBy, text, asked, header) => {
    expect(sent(setBy, [text], asked)).toBe(header);
  });

  it.each([
    ['https://a.test/', 's=1; Secure', 'https://a.test/', 's=1'],
    ['https://a.test/', 's=1; Secure', 'http://a.test/', null],
    ['http://a.test/', 's=1; Secure', 'https://a.test/', null],
    ['https://a.test/', '__Secure-s=1', 'https://a.test/', null],
    ['https://a.test/', '__secure-s=1; secure', 'https://a.test/', '__secure-s=1'],
    ['https://a.test/', '__Host-s=1; Secure; Path=/', 'https://a.test/', '__Host-s=1'],
    ['https://a.test/', '__Host-s=1; Secure', 'https://a.test/', null],
    ['https://a.test/', '__Host-s=1; Secure; Path=/; Domain=a.test', 'https://a.test/', null],
  ])('RFC 6265 §5.2.5: of %s with %j goes to %s: %j', (setBy, text, asked, header) => {
    expect(sent(setBy, [text], asked)).toBe(header);
  });

  it('past its bound there are none at all: at n and n + 1', () => {
    // Name, value, domain and path.
    const room = COOKIE_BYTES_MAX - 's'.length - 'a.test'.length - '/'.length;
    expect(sent('http://a.test/', [`s=${'x'.repeat(room)}`])).toHaveLength(room + 2);
    expect(withSetCookies([], ['t=1', `s=${'x'.repeat(room)}`], 'http://a.test/', NOW_MS)).toBeNull();
    expect(withSetCookies([], [`s=${'x'.repeat(room + 1)}`], 'http://a.test/', NOW_MS)).toBeNull();
    // What is set anew or deleted takes no room.
    const half = 'x'.repeat(room / 2 + 100);
    expect(sent('http://a.test/', [`s=${half}`, `s=${half}`])).toBe(`s=${half}`);
    expect(sent('http://a.test/', [`s=${half}`, `t=${half}`, 's=; Max-Age=0'])).toBe(`t=${half}`);
  });

  it('any rubbish is understood or left: nothing is thrown, and nothing could end a header', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 8 });
    const likely = fc.array(
      fc.stringMatching(/^[a-z]{0,2}[=;\r\n\t ]{0,2}(?:Path|Domain|Max-Age|Expires)?=?[/.a-z0-9]{0,5};?/),
    );
    fc.assert(
      fc.property(fc.oneof(texts, likely), fc.webUrl({ validSchemes: ['http', 'https'] }), (setCookies, url) => {
        const cookies = withSetCookies([], setCookies, url, NOW_MS) ?? [];
        expect(cookieHeader(cookies, url, NOW_MS) ?? '').not.toMatch(/[\r\n\0]/);
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it('is what a slow reading of RFC 6265 says, for any cookies and any request', () => {
    const host = fc.constantFrom('a.test', 'www.a.test', 'x.www.a.test', 'b.test', 'a.co.uk', 'co.uk');
    const path = fc.constantFrom('/', '/b', '/b/', '/b/c', '/bc', '/b/c/d');
    const url = fc.record({ scheme: fc.constantFrom('http', 'https'), host, path });
    const cookie = fc.record({
      name: fc.constantFrom('s', 't'),
      value: fc.constantFrom('1', '2', '3'),
      domain: fc.option(host, { nil: null }),
      path: fc.option(path, { nil: null }),
      secure: fc.boolean(),
      maxAge: fc.option(fc.constantFrom(-1, 0, 1, 100), { nil: null }),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(url, fc.array(cookie, { maxLength: 4 })), { maxLength: 4 }), url, (answers, to) => {
        let cookies: readonly ChainCookie[] = [];
        const slow: SlowCookie[] = [];
        for (const [from, set] of answers) {
          cookies = withSetCookies(cookies, set.map(spelled), spell(from), NOW_MS) ?? [];
          for (const one of set) slowlySet(slow, from, one);
        }
        expect(cookieHeader(cookies, spell(to), NOW_MS)).toBe(slowlySent(slow, to));
      }),
      { seed: 12, numRuns: 2_000 },
    );
  });
});

interface Place {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
}
interface Wish {
  readonly name: string;
  readonly value: string;
  readonly domain: string | null;
  readonly path: string | null;
  readonly secure: boolean;
  readonly maxAge: number | null;
}
interface SlowCookie extends Wish {
  readonly hosts: string;
  readonly isAlone: boolean;
  readonly folder: string;
}

const spell = ({ scheme, host, path }: Place) => `${scheme}://${host}${path}`;

function spelled({ name, value, domain, path, secure, maxAge }: Wish): string {
  return [
    `${name}=${value}`,
    ...(domain === null ? [] : [`Domain=${domain}`]),
    ...(path === null ? [] : [`Path=${path}`]),
    ...(secure ? ['Secure'] : []),
    ...(maxAge === null ? [] : [`Max-Age=${maxAge}`]),
  ].join('; ');
}

/** Label by label, segment by segment. */
function isBelow(host: string, domain: string): boolean {
  const labels = host.split('.');
  const wanted = domain.split('.');
  return wanted.every((label, i) => labels[labels.length - wanted.length + i] === label);
}

function slowlySet(jar: SlowCookie[], from: Place, wish: Wish): void {
  if (wish.secure && from.scheme !== 'https') return;
  const isShared = wish.domain === 'co.uk';
  if (wish.domain !== null && isShared && from.host !== 'co.uk') return;
  if (wish.domain !== null && !isBelow(from.host, wish.domain)) return;
  const segments = from.path.split('/').slice(1, -1);
  const hosts = wish.domain ?? from.host;
  const folder = wish.path ?? `/${segments.join('/')}`;
  const made = { ...wish, hosts, isAlone: wish.domain === null || isShared, folder };
  const i = jar.findIndex((it) => it.name === wish.name && it.hosts === hosts && it.folder === folder);
  const isGone = wish.maxAge !== null && wish.maxAge <= 0;
  if (i === -1 && !isGone) jar.push(made);
  if (i !== -1) jar.splice(i, 1, ...(isGone ? [] : [made]));
}

function slowlySent(jar: readonly SlowCookie[], to: Place): string | null {
  const folders = to.path.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'));
  const sentOnes = jar.filter(({ hosts, isAlone, folder, secure }) => {
    if (secure && to.scheme !== 'https') return false;
    if (isAlone ? to.host !== hosts : !isBelow(to.host, hosts)) return false;
    return folder === to.path || folders.slice(0, -1).includes(folder.replace(/\/$/, '')) || folders.includes(folder);
  });
  const byLength = sentOnes
    .map((cookie, i) => ({ cookie, i }))
    .toSorted((one, other) => other.cookie.folder.length - one.cookie.folder.length || one.i - other.i);
  return byLength.length === 0 ? null : byLength.map(({ cookie }) => `${cookie.name}=${cookie.value}`).join('; ');
}

describe('cookieDateMsOf', () => {
  it.each([
    ['Wed, 31 Dec 2025 23:59:59 GMT', Date.UTC(2025, 11, 31, 23, 59, 59)],
    ['Wednesday, 31-Dec-25 23:59:59 GMT', Date.UTC(2025, 11, 31, 23, 59, 59)],
    ['Wed Dec 31 23:59:59 2025', Date.UTC(2025, 11, 31, 23, 59, 59)],
    ['2025 december 31 1:2:3', Date.UTC(2025, 11, 31, 1, 2, 3)],
    ['31 Dec 69 00:00:00', Date.UTC(2069, 11, 31)],
    ['31 Dec 70 00:00:00', Date.UTC(1970, 11, 31)],
    ['1 Jan 1601 00:00:00', Date.UTC(1601, 0, 1)],
    ['29 Feb 2024 00:00:00', Date.UTC(2024, 1, 29)],
    ['1 Jan 1600 00:00:00', null],
    ['29 Feb 2025 00:00:00', null],
    ['32 Jan 2025 00:00:00', null],
    ['0 Jan 2025 00:00:00', null],
    ['1 Jan 2025 24:00:00', null],
    ['1 Jan 2025 00:60:00', null],
    ['1 Jan 2025 00:00:60', null],
    ['1 Jan 2025', null],
    ['Jan 2025 00:00:00', null],
    ['1 2025 00:00:00', null],
    ['soon', null],
    ['', null],
  ])('RFC 6265 §5.1.1: %j', (text, ms) => {
    expect(cookieDateMsOf(text)).toBe(ms);
  });
});

describe('setCookiesOf', () => {
  it('finds the values in any spelling of the name, in order, and joins none', () => {
    const headers = [
      ['Set-Cookie', 'a=1'],
      ['X', 'y'],
      ['set-cookie', 'b=1, c=2'],
      ['SET-COOKIE', ''],
    ] as const;
    expect(setCookiesOf(headers)).toEqual(['a=1', 'b=1, c=2', '']);
  });
});
