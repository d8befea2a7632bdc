import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalise, spell, normaliseEscapes, URL_LENGTH_MAX } from '../../src/policy/canonical.js';

function urlOf(input: string, base?: string): string {
  const canonical = canonicalise(input, base);
  return canonical.ok ? canonical.url : canonical.refusal;
}

describe('canonical spelling', () => {
  it.each([
    ['HTTP://User:pw@EXAMPLE.com:80/a#frag', 'http://example.com/a'],
    ['http://例え.テスト:8080/', 'http://xn--r8jz45g.xn--zckzah:8080/'],
    ['http://u:p@例え.テスト:81/a', 'http://xn--r8jz45g.xn--zckzah:81/a'],
    ['https://[2001:0DB8:0040:40:0::2:3b6]:80/', 'https://[2001:db8:40:40::2:3b6]:80/'],
    ['http://e.com/50%+off', 'http://e.com/50%+off'],
    ['http://e.com/a%zz', 'http://e.com/a%zz'],
    ['http://e.com?', 'http://e.com/?'],
    ['http://e.com', 'http://e.com/'],
    ['http://e.com?test=1', 'http://e.com/?test=1'],
    ['http://e.com/?#x', 'http://e.com/?'],
    ['http://e.com/../../a/./b/../c', 'http://e.com/a/c'],
    ['http://e.com/d/%2e%2e/f', 'http://e.com/f'],
    ['http://e.com:/', 'http://e.com/'],
    ['https://e.com:443/', 'https://e.com/'],
    ['https://example%2Ecom/', 'https://example.com/'],
    ['http://127。0。0。1/', 'http://127.0.0.1/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['http://exa_mple.com/', 'http://exa_mple.com/'],
    ['http://-a.example/', 'http://-a.example/'],
    ['  http://e.com/a\n', 'http://e.com/a'],
    ['http://e.com/%7euser/%c3%a9', 'http://e.com/~user/%C3%A9'],
    ['http://e.com/a%2Fb?q=%2f%41', 'http://e.com/a%2Fb?q=%2FA'],
    ['http://e.com//a//b?b=1&a=2', 'http://e.com//a//b?b=1&a=2'],
  ])('%s → %s (RFC 3986 §6.2.2, WHATWG URL)', (input, canonical) => {
    expect(urlOf(input)).toBe(canonical);
  });

  it('keeps a trailing dot in the URL, but neither in host nor origin', () => {
    expect(canonicalise('https://example.com.:8443/a?b')).toEqual({
      ok: true,
      url: 'https://example.com.:8443/a?b',
      parsed: { host: 'example.com', origin: 'https://example.com:8443', target: '/a?b' },
    });
  });

  it.each([
    ['http://e.com:65536/', 'url_invalid'],
    ['http://[2001:db8:1:2:3:4]', 'url_invalid'],
    ['', 'url_invalid'],
    ['/relative', 'url_invalid'],
    ['file://same-host/etc/passwd', 'url_scheme'],
    ['data:text/html,x', 'url_scheme'],
    ['javascript:void(0)', 'url_scheme'],
    ['ftp://e.com/', 'url_scheme'],
    ['http://a..b/', 'url_host_invalid'],
    ['http://./', 'url_host_invalid'],
    ['http://h.example;jsessionid=AB.n1?p=v', 'url_host_invalid'],
  ])('refuses %s as %s', (input, refusal) => {
    expect(urlOf(input)).toBe(refusal);
  });

  it('bounds labels at 63 and names at 253 characters (RFC 1035 §2.3.4)', () => {
    expect(urlOf(`http://${'a'.repeat(63)}.com/`)).toBe(`http://${'a'.repeat(63)}.com/`);
    expect(urlOf(`http://${'a'.repeat(64)}.com/`)).toBe('url_host_invalid');
    const name = `${`${'a'.repeat(49)}.`.repeat(5)}`;
    expect(urlOf(`http://${name}com/`)).toBe(`http://${name}com/`);
    expect(urlOf(`http://${name}comm/`)).toBe('url_host_invalid');
    expect(urlOf(`http://${name}com./`)).toBe(`http://${name}com./`);
  });

  it('bounds the spelling at 8192 characters and never cuts it', () => {
    const head = 'http://e.com/';
    const longest = head + 'a'.repeat(URL_LENGTH_MAX - head.length);
    expect(urlOf(longest)).toBe(longest);
    expect(urlOf(`${longest}a`)).toBe('url_too_long');
    expect(urlOf(`${longest}#fragment`)).toBe(longest);
    expect(urlOf(head + 'a'.repeat(3_000_000))).toBe('url_too_long');
  });

  it('resolves against a base', () => {
    expect(urlOf('../x?y', 'http://e.com/a/b/c')).toBe('http://e.com/a/x?y');
    expect(urlOf('//f.com', 'https://e.com/')).toBe('https://f.com/');
    expect(urlOf('x', 'not a base')).toBe('url_invalid');
  });
});

describe('escapes', () => {
  it.each([
    ['%%34%31', '%%341'],
    ['%%32%35', '%%325'],
    ['%4%31', '%4%31'],
    ['%%311', '%%311'],
    ['%25%34%31', '%2541'],
    ['%%7a', '%z'],
    ['a%2', 'a%2'],
    ['%', '%'],
    ['%41%%41', 'A%%41'],
  ])('%s → %s: a stray percent sign is never completed', (text, normal) => {
    expect(normaliseEscapes(text)).toBe(normal);
  });

  const escapeText = fc.string({
    unit: fc.constantFrom('%', '2', '5', '4', '1', 'a', 'F', 'g', '~', '/', '.', '?', '&', 'é'),
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl({ withFragments: true, withQueryParameters: true }),
          escapeText.map((text) => `http://e.com/${text}`),
        ),
        (input) => {
          const once = urlOf(input);
          if (once.startsWith('url_')) return;
          expect(urlOf(once)).toBe(once);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('means the same octets to a server, and the same reserved ones (RFC 3986 §2.2)', () => {
    fc.assert(
      fc.property(escapeText, (text) => {
        const spelled = Buffer.from(text).toString('latin1');
        const normal = normaliseEscapes(spelled);
        expect(octets(normal)).toEqual(octets(spelled));
        expect(normal.match(/[/?&]|%(2F|3F|26|25)/g)).toEqual(
          spelled.match(/[/?&]|%(2F|3F|26|25)/gi)?.map((s) => s.toUpperCase()) ?? null,
        );
      }),
      { numRuns: 3000 },
    );
  });
});

/** What a server makes of a path: every escape once. */
function octets(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
}

describe('at a glance', () => {
  const text = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 12 });
  const label = text('a', 'z', '0', '9', '-', 'A', '_', 'x', 'n', 'é');
  const urlLike = fc
    .record({
      scheme: fc.constantFrom('http:', 'https:', 'HTTP:', 'ftp:', ''),
      slashes: fc.constantFrom('//', '//', '/', '///'),
      labels: fc.array(fc.oneof(label, fc.constantFrom('example', 'xn--a', '0x1', '1', 'test')), {
        minLength: 1,
        maxLength: 4,
      }),
      port: fc.constantFrom('', '', ':', ':80', ':443', ':8080', ':0', ':080', ':65535', ':65536', ':99999'),
      path: text('/', '.', 'a', 'B', '%', '2', 'e', '\\', '|', "'", '~', ' ', ';', ':', '@', 'é', '^'),
      query: fc.constantFrom('', '?', '?a=1&b=2', "?q='x'", '?a/../b', '?a?b', '?|', '?%41', '#', '#f', '?a#f'),
    })
    .map(({ scheme, slashes, labels, port, path, query }) => {
      const authority = scheme === '' ? '' : `${scheme}${slashes}${labels.join('.')}${port}`;
      return `${authority}/${path}${query}`;
    });
  const bases = fc.constantFrom(
    undefined,
    'http://a.example/dir/page',
    'https://a.example:8443/',
    'http://a.example',
    'http://a.example?x',
    'http://u:p@a.example/',
    'http://A.example/x',
    'http://a.example:80/x',
    'http://[::1]/x',
  );

  it('says what the rules say', () => {
    fc.assert(
      fc.property(urlLike, bases, (input, base) => {
        expect(canonicalise(input, base)).toEqual(spell(input, base));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['http://a.example/', undefined],
    ["/x/y-z_~!$&'()*+,;=:@.html?q=1/2?", 'https://a.example:8443/dir/page'],
    [`http://a.example/${'a'.repeat(8192 - 17)}`, undefined],
  ])('and so for what is plain, up to its bound: %s', (input, base) =>
    expect(canonicalise(input, base)).toEqual(spell(input, base)),
  );
});
