/**
 * What goes wrong in real crawls, as far as the reading of a page decides it: each by its number, with the kind around it.
 * U: URLs and links. T: charsets. H: bodies and types.
 */
import { spawnSync } from 'node:child_process';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Header } from '../../src/domain/fetching.js';
import { charsetOf, decodeText } from '../../src/page/charset.js';
import { parse } from '../../src/page/parse.js';
import { canonicalise, URL_LENGTH_MAX } from '../../src/policy/canonical.js';
import { type CompiledWorker, compileWorker } from './compiled-worker.js';
import { html, pageOf, parsed, taskOf } from './tasks.js';

const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;

function linksOf(source: string | Uint8Array, headers = html(), url = 'http://w.example/dir/page?id=9'): string[] {
  return pageOf(parse(taskOf(source, { headers, url }))).links.map((link) => link.url);
}

/** The link as it stands, on a page and as a redirect: both must come to the same. */
function ledTo(href: string): string | null {
  const [link = null] = linksOf(`<a href="${href}">x</a>`);
  const headers: Header[] = [['Location', Buffer.from(href).toString('latin1')]];
  const { redirect } = parsed(parse(taskOf('', { status: 301, headers, url: 'http://w.example/dir/page?id=9' })));
  expect(redirect?.url ?? null, `Location: ${href}`).toBe(link);
  return link;
}

describe('URLs and links', () => {
  it.each([
    ['U01', 'http://例え.テスト:8080/', 'http://xn--r8jz45g.xn--zckzah:8080/'],
    ['U01', 'http://u:p@例え.テスト:81/a', 'http://xn--r8jz45g.xn--zckzah:81/a'],
    ['U01', 'http://BÜCHER.example:80/', 'http://xn--bcher-kva.example/'],
    ['U01', 'http://faß.example/', 'http://xn--fa-hia.example/'],
    ['U02', 'https://[2001:0DB8:0040:40:0::2:3b6]:80/', 'https://[2001:db8:40:40::2:3b6]:80/'],
    ['U02', 'http://[::FFFF:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
    ['U02', 'http://[2001:db8:1:2:3:4]', null],
    ['U02', 'http://[fe80::1%25eth0]/', null],
    ['U05', '/50%+off', 'http://w.example/50%+off'],
    ['U05', '/a%zz', 'http://w.example/a%zz'],
    ['U05', '/a%', 'http://w.example/a%'],
    ['U05', '?q=100%&r=%u0041', 'http://w.example/dir/page?q=100%&r=%u0041'],
    ['U09', 'http://e.com?', 'http://e.com/?'],
    ['U09', 'http://e.com', 'http://e.com/'],
    ['U09', '?', 'http://w.example/dir/page?'],
    ['U10', 'http://e.com?test=1', 'http://e.com/?test=1'],
    ['U10', '//e.com?test=1', 'http://e.com/?test=1'],
    ['U11', '/../../a/./b/../c', 'http://w.example/a/c'],
    ['U11', '/d/%2e%2e/f', 'http://w.example/f'],
    ['U11', '../.%2E/g/.', 'http://w.example/g/'],
    ['U12', 'https://example.com.:443/a', 'https://example.com./a'],
    ['U13', 'http://e.com:/', 'http://e.com/'],
    ['U13', 'http://e.com:80/', 'http://e.com/'],
    ['U13', 'https://e.com:443/', 'https://e.com/'],
    ['U13', 'https://e.com:80/', 'https://e.com:80/'],
    ['U13', 'http://e.com:0080/', 'http://e.com/'],
    ['U13', 'http://e.com:65535/', 'http://e.com:65535/'],
    ['U13', 'http://e.com:65536/', null],
    ['U14', 'https://example%2Ecom/', 'https://example.com/'],
    ['U14', 'http://127。0。0。1/', 'http://127.0.0.1/'],
    ['U14', 'http://127%E3%80%820%E3%80%820%E3%80%821/', 'http://127.0.0.1/'],
    ['U14', 'http://127．0｡0.1/', 'http://127.0.0.1/'],
    ['U14', 'http://ｌｏｃａｌｈｏｓｔ/', 'http://localhost/'],
    ['U14', 'http://１２７.0.0.1/', 'http://127.0.0.1/'],
    ['U15', 'http://2130706433/', 'http://127.0.0.1/'],
    ['U15', 'http://0x7f.0.0.1/', 'http://127.0.0.1/'],
    ['U15', 'http://0177.1/', 'http://127.0.0.1/'],
    ['U15', 'http://127.1/', 'http://127.0.0.1/'],
    ['U15', 'http://0X7F000001/', 'http://127.0.0.1/'],
    ['U15', 'http://0.0.0.0/', 'http://0.0.0.0/'],
    ['U15', 'http://0/', 'http://0.0.0.0/'],
    ['U15', 'http://256.0.0.1/', null],
    ['U23', '/a;jsessionid=AB12.n1?p=v', 'http://w.example/a;jsessionid=AB12.n1?p=v'],
    ['U23', 'http://h.example;jsessionid=AB.n1?p=v', null],
    ['U25', 'http://exa_mple.com/', 'http://exa_mple.com/'],
    ['U25', 'http://-a.example/', 'http://-a.example/'],
    ['U25', `http://${'a'.repeat(63)}.example/`, `http://${'a'.repeat(63)}.example/`],
    ['U25', `http://${'a'.repeat(64)}.example/`, null],
  ])('%s: %s → %s, as a link and as a redirect', (_case, href, url) => {
    expect(ledTo(href)).toBe(url);
  });

  it('U12: with a trailing dot it is the same host to its queue, its robots.txt and its clock', () => {
    const candidates = pageOf(
      parse(taskOf('<a href=https://example.com./a></a><a href=https://example.com/a></a>')),
    ).links;
    expect(new Set(candidates.map(({ host }) => host))).toEqual(new Set(['example.com']));
    expect(new Set(candidates.map(({ origin }) => origin))).toEqual(new Set(['https://example.com']));
  });

  it.each([' ', '\n', '\t', '\f', '\r', '\u0001', ' \n\n\t '])('U16: %j around an href is no part of it', (space) => {
    const href = `${space}http://t.example/${space}`;
    expect(linksOf(`<a href="${href}"></a>`)).toEqual(['http://t.example/']);
    expect(linksOf(`<link rel=next href="${href}"><iframe src="${href}"></iframe><area href="${href}">`)).toHaveLength(
      1,
    );
    expect(linksOf(`<base href="${href}"><a href=x></a>`)).toEqual(['http://t.example/x']);
    if (space.includes('\u0001')) return;
    expect(linksOf(`<img srcset="${href}">`)).toEqual(['http://t.example/']);
  });

  it.each([1_900, 7_900, URL_LENGTH_MAX])('U24: a URL of %i characters is taken whole', (length) => {
    const href = `http://e.com/${'a'.repeat(length - 'http://e.com/'.length)}`;
    expect(linksOf(`<a href="${href}"></a>`)).toEqual([href]);
  });

  it.each([URL_LENGTH_MAX + 1, 70_000, 3_000_000])('U24: one of %i is refused and counted, never cut', (length) => {
    const href = `http://e.com/${'a'.repeat(length - 'http://e.com/'.length)}`;
    expect(pageOf(parse(taskOf(`<a href="${href}"></a>`)))).toMatchObject({ links: [], linksRefused: 1 });
    expect(canonicalise(href)).toEqual({ ok: false, refusal: 'url_too_long' });
  });

  it('U26: a query is sent in the encoding of its page, however the page told it; the path in UTF-8', () => {
    const wanted = ['http://w.example/%D0%B9?q=%CF%F0%E8%E2%E5%F2'];
    const link = Buffer.from('<a href="/\xe9?q=\xcf\xf0\xe8\xe2\xe5\xf2"></a>', 'latin1');
    const meta = Buffer.concat([Buffer.from('<meta charset=windows-1251>'), link]);
    expect(linksOf(link, html('text/html; charset=windows-1251'))).toEqual(wanted);
    expect(linksOf(meta, html('text/html'))).toEqual(wanted);
    expect(linksOf('<a href="/й?q=Привет"></a>')).toEqual([
      'http://w.example/%D0%B9?q=%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82',
    ]);
    const wide = Buffer.from('\ufeff<a href="/й?q=Привет"></a>', 'utf16le');
    expect(linksOf(wide, html('text/html'))).toEqual([
      'http://w.example/%D0%B9?q=%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82',
    ]);
  });
});

describe('charsets', () => {
  const charsetIn = (body: string | Uint8Array, type: string) => pageOf(parse(taskOf(body, { headers: html(type) })));

  it.each(['cp1251', 'shift_jis', 'utf-16', 'iso-8859-1'])('T01: a byte order mark beats charset=%s', (label) => {
    const utf8 = '\ufeff<title>größer</title>';
    expect(charsetIn(utf8, `text/html; charset=${label}`)).toMatchObject({ charset: 'utf-8', title: 'größer' });
    const wide = Buffer.from(utf8, 'utf16le');
    expect(charsetIn(wide, `text/html; charset=${label}`)).toMatchObject({ charset: 'utf-16le', title: 'größer' });
    expect(charsetIn(Buffer.from(wide).swap16(), `text/html; charset=${label}`)).toMatchObject({
      charset: 'utf-16be',
      title: 'größer',
    });
  });

  it('T02: what is declared is believed, whatever the bytes look like', () => {
    // Hebrew, in which no statistic sees Cyrillic.
    const hebrew = Buffer.from(
      '\xf9\xec\xe5\xed \xf2\xe5\xec\xed, \xe6\xe4 \xe3\xf3 \xe1\xf2\xe1\xf8\xe9\xfa',
      'latin1',
    );
    const page = (head: string) => Buffer.concat([Buffer.from(`${head}<p>`), Buffer.concat(Array(50).fill(hebrew))]);
    expect(charsetIn(page(''), 'text/html').charset).not.toBe('windows-1251');
    const meta = page('<meta charset=windows-1251>');
    expect(charsetIn(meta, 'text/html; charset=windows-1251')).toMatchObject({ charset: 'windows-1251' });
    expect(charsetIn(meta, 'text/html')).toMatchObject({ charset: 'windows-1251' });
    expect(charsetIn(meta, 'text/html; charset=koi8-r')).toMatchObject({ charset: 'koi8-r' });
    expect(charsetIn(page('<meta charset=koi8-r>'), 'text/html; charset=utf-8')).toMatchObject({ charset: 'utf-8' });
  });

  it.each([
    ['windows-31j', 'shift_jis'],
    ['x-sjis', 'shift_jis'],
    ['gb2312', 'gbk'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['"utf-8"', 'utf-8'],
    ['"windows-1251" ; x=y', 'windows-1251'],
    ['UTF8', 'utf-8'],
    ['unicode', 'utf-16le'],
    ['utf-7', 'koi8-r'],
    ['"utf-8;"', 'koi8-r'],
    ['none', 'koi8-r'],
    ['', 'koi8-r'],
  ])('T04: charset=%s in the header comes to %s', (label, charset) => {
    expect(charsetIn('<meta charset=koi8-r>x', `text/html; charset=${label}`).charset).toBe(charset);
  });

  it('T04: the same labels in a meta element; utf-16 there means utf-8 (HTML Standard §13.2.3.2)', () => {
    const meta = (label: string) => charsetIn(`<meta charset="${label}">\u00e9`, 'text/html').charset;
    expect(['windows-31j', 'x-sjis', 'gb2312', 'ks_c_5601-1987'].map(meta)).toEqual([
      'shift_jis',
      'shift_jis',
      'gbk',
      'euc-kr',
    ]);
    expect(['unicode', 'utf-16', 'utf-7', 'none'].map(meta)).toEqual(['utf-8', 'utf-8', 'utf-8', 'utf-8']);
  });

  it.each(['iso-8859-1', 'latin1', 'windows-1252', 'ascii', 'us-ascii', 'cp819', 'x-cp1252'])(
    'T05: bytes 80 to 9f under %s are those of windows-1252 (Encoding Standard, its index)',
    (label) => {
      const bytes = Uint8Array.from({ length: 32 }, (_, i) => 0x80 + i);
      const text = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
      expect(decodeText(bytes, charsetOf(bytes, label, true))).toBe(text);
      expect(charsetIn(Buffer.concat([Buffer.from('<title>'), bytes]), `text/html; charset=${label}`).title).toBe(text);
    },
  );
});

describe('bodies', () => {
  const TEXT = '<title>read</title><a href=x>';
  const coded = (coding: string, ...more: Header[]) => html('text/html', ['Content-Encoding', coding], ...more);

  it.each<[string, Uint8Array, string]>([
    ['two members', Buffer.concat([gzipSync(TEXT.slice(0, 9)), gzipSync(TEXT.slice(9))]), 'gzip'],
    ['a hundred members', Buffer.concat(Array.from(TEXT, (char) => gzipSync(char))), 'gzip'],
    ['raw deflate', deflateRawSync(TEXT), 'deflate'],
    ['deflate', deflateSync(TEXT), 'deflate'],
    ['x-gzip', gzipSync(TEXT), 'x-gzip'],
    ['512 NULs behind', Buffer.concat([gzipSync(TEXT), Buffer.alloc(512)]), 'gzip'],
    ['one NUL behind', Buffer.concat([gzipSync(TEXT), Buffer.alloc(1)]), 'gzip'],
  ])('H19: %s', (_, body, coding) => {
    expect(pageOf(parse(taskOf(body, { headers: coded(coding) })))).toMatchObject({ title: 'read', links: [{}] });
  });

  it.each(['garbage', '\n', '\r\n', '<!-- cached -->', '\0\0x', '\x8b\x1f', 'x'.repeat(100_000)])(
    'H19: what stands behind a whole body and is no part of it is left: %j',
    (tail) => {
      const body = 'x'.repeat(70_000) + TEXT;
      for (const [coding, whole] of [
        ['gzip', gzipSync(body)],
        ['gzip', Buffer.concat([gzipSync(body.slice(0, 500)), gzipSync(body.slice(500))])],
        ['deflate', deflateSync(body)],
        ['deflate', deflateRawSync(body)],
        ['br', brotliCompressSync(body)],
      ] as const) {
        const longer = Buffer.concat([whole, Buffer.from(tail, 'latin1')]);
        expect(pageOf(parse(taskOf(longer, { headers: coded(coding) }))).title, coding).toBe('read');
      }
    },
  );

  it('H19: behind a thousand members, and behind one more', () => {
    const members = (count: number) => [
      ...Array<Uint8Array>(count - 1).fill(gzipSync('')),
      gzipSync(TEXT),
      Buffer.from('x'),
    ];
    const reading = (count: number) => parse(taskOf(Buffer.concat(members(count)), { headers: coded('gzip') }));
    expect(pageOf(reading(1_000)).title).toBe('read');
    expect(reading(1_001)).toMatchObject({ code: 'undecodable' });
  });

  it('H19: a further member that is broken, or ends too soon, breaks the body', () => {
    const whole = gzipSync(TEXT);
    for (let length = 1; length < whole.length; length++) {
      const body = Buffer.concat([whole, whole.subarray(0, length)]);
      expect(parse(taskOf(body, { headers: coded('gzip') })), `${length} bytes more`).toMatchObject({
        code: 'undecodable',
      });
    }
    const spoilt = Buffer.from(whole);
    spoilt[whole.length - 5] = (spoilt[whole.length - 5] ?? 0) ^ 1;
    for (const body of [spoilt, Buffer.concat([spoilt, Buffer.from('behind')])])
      expect(parse(taskOf(body, { headers: coded('gzip') }))).toMatchObject({ code: 'undecodable' });
  });

  it('H19: headers of members with all that may stand in them (RFC 1952 §2.3)', () => {
    const deflated = gzipSync(TEXT).subarray(10);
    const name = Buffer.from('a name\0');
    const extra = Buffer.from([3, 0, 1, 2, 3]);
    for (let flags = 0; flags < 32; flags += 4) {
      const fields = [extra, name, name].filter((_, i) => (flags & (4 << i)) !== 0);
      const body = Buffer.concat([
        Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]),
        ...fields,
        deflated,
        Buffer.from('behind'),
      ]);
      expect(pageOf(parse(taskOf(body, { headers: coded('gzip') }))).title, `flags ${flags}`).toBe('read');
    }
  });

  it('H19: any bytes under any coding are a page, or undecodable, or a bomb; nothing throws', () => {
    const coding = fc.constantFrom('gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'gzip, br', 'br, deflate', 'identity');
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(fc.nat(60), fc.nat(255)).map(([at, octet]) => {
        const spoilt = Buffer.from(gzipSync(TEXT));
        spoilt[at % spoilt.length] = octet;
        return Uint8Array.from(spoilt);
      }),
    );
    fc.assert(
      fc.property(coding, body, fc.boolean(), (name, bytes, cut) => {
        const result = parse(taskOf(Uint8Array.from(bytes), { headers: coded(name), cut }));
        if (result.kind === 'unparsed') expect(['undecodable', 'bomb']).toContain(result.code);
      }),
      { numRuns: 500 },
    );
  });

  it.skipIf(!('zstdDecompressSync' in zlib))(
    'H15: zstd is undone, and its bombs are refused, where the runtime has it',
    () => {
      const compress = (zlib as unknown as { zstdCompressSync(bytes: Uint8Array): Uint8Array }).zstdCompressSync;
      expect(pageOf(parse(taskOf(compress(Buffer.from(TEXT)), { headers: coded('zstd') }))).title).toBe('read');
      const bomb = compress(Buffer.alloc(64 * 1024 * 1024));
      expect(parse(taskOf(bomb, { headers: coded('zstd') }))).toMatchObject({ code: 'bomb' });
    },
  );

  it.skipIf('zstdDecompressSync' in zlib)('H15: zstd is undecodable where the runtime has none', () => {
    expect(parse(taskOf('x', { headers: coded('zstd') }))).toMatchObject({ code: 'undecodable' });
  });

  it.each(['gzip', 'x-gzip', 'deflate', 'br', 'gzip, br'])('H19: nothing under %s is an empty page', (coding) => {
    expect(parsed(parse(taskOf('', { headers: coded(coding, ['Content-Length', '0']) })))).toMatchObject({
      decodedBytes: 0,
      page: { title: null, links: [], textLength: 0 },
    });
  });

  it('H01, H03: of a body that ends before its end nothing is taken for a page, unless it was cut on purpose', () => {
    for (const [coding, whole] of [
      ['gzip', gzipSync(TEXT)],
      ['deflate', deflateSync(TEXT)],
      ['br', brotliCompressSync(TEXT)],
    ] as const) {
      for (let length = 1; length < whole.length; length++) {
        const result = parse(taskOf(whole.subarray(0, length), { headers: coded(coding) }));
        expect(result, `${length} bytes of ${coding}`).toMatchObject({ kind: 'unparsed', code: 'undecodable' });
        const cut = parse(taskOf(whole.subarray(0, length), { headers: coded(coding), cut: true }));
        if (coding !== 'gzip' || length > 10) expect(cut.kind, `${length} bytes of ${coding}, cut`).toBe('parsed');
      }
    }
  });

  it('H02, H04: the reader believes the bytes it was given, not a Content-Length of something else', () => {
    const lengths = [TEXT.length, 16_775, 0].map((length): Header => ['Content-Length', String(length)]);
    for (const length of lengths) {
      expect(pageOf(parse(taskOf(gzipSync(TEXT), { headers: coded('gzip', length) }))).title).toBe('read');
      expect(pageOf(parse(taskOf(TEXT, { headers: html('text/html', length) }))).title).toBe('read');
    }
  });

  it('H14: a third coding is refused before it is undone', () => {
    const nested = gzipSync(gzipSync(gzipSync(TEXT)));
    expect(parse(taskOf(nested, { headers: coded('gzip, gzip, gzip') }))).toMatchObject({ code: 'undecodable' });
    expect(
      parse(
        taskOf(nested, {
          headers: html('text/html', ['Content-Encoding', 'gzip'], ['Content-Encoding', 'gzip, gzip']),
        }),
      ),
    ).toMatchObject({ code: 'undecodable' });
  });

  describe('bombs', () => {
    const CAP_BYTES = 16 * 1024 * 1024;
    const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    // Members one after another are one body: 2 GiB of zeros.
    const huge = Buffer.concat(Array(32).fill(zeros));

    it.each<[string, string, Uint8Array]>([
      ['H14', 'gzip', huge],
      ['H14', 'gzip, gzip', gzipSync(huge)],
      ['H14', 'deflate', deflateSync(Buffer.alloc(64 * 1024 * 1024))],
      ['H14', 'deflate', deflateRawSync(Buffer.alloc(64 * 1024 * 1024))],
      ['H14', 'x-gzip', Buffer.concat([zeros, Buffer.from('behind')])],
      ['H14', 'deflate, gzip', gzipSync(deflateSync(Buffer.alloc(64 * 1024 * 1024)))],
      ['H15', 'gzip, br', brotliCompressSync(zeros)],
      ['H15', 'br', brotliCompressSync(Buffer.alloc(64 * 1024 * 1024))],
      ['H15', 'br, gzip', gzipSync(brotliCompressSync(Buffer.alloc(64 * 1024 * 1024)))],
    ])('%s: a bomb of %s is refused', (_case, coding, body) => {
      expect(parse(taskOf(body, { headers: coded(coding) }))).toMatchObject({ kind: 'unparsed', code: 'bomb' });
    });

    it('H14, H15: a process that meets one grows by less than twice the bound', () => {
      const compiled: CompiledWorker = compileWorker();
      try {
        const peak = (coding: string, body: string) => {
          const decode = new URL('decode.js', compiled.url).href;
          const code = `import { decodeBody } from '${decode}'; import * as zlib from 'node:zlib';
            const body = ${body}; globalThis.gc?.();
            const before = process.resourceUsage().maxRSS;
            const { kind } = decodeBody(body, [['content-encoding', '${coding}']], ${CAP_BYTES}, false);
            console.log(kind, (process.resourceUsage().maxRSS - before) * 1024);`;
          const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
          const [kind, bytes] = stdout.trim().split(' ');
          return { kind, bytes: Number(bytes) };
        };
        for (const [coding, body] of [
          ['gzip', `Buffer.concat(Array(32).fill(Buffer.from('${zeros.toString('base64')}', 'base64')))`],
          ['br', `Buffer.from('${brotliCompressSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64')}', 'base64')`],
        ] as const) {
          const { kind, bytes } = peak(coding, body);
          expect(kind).toBe('bomb');
          expect(bytes, coding).toBeLessThan(2 * CAP_BYTES);
        }
      } finally {
        compiled.remove();
      }
    });
  });

  const PDF = '%PDF-1.7\n<html><title>t</title><a href=x>link</a>';
  const PNG = '\x89PNG\r\n\x1a\n<a href=x>';
  const XML = '<?xml version="1.0"?><rss><link>x</link><a href="x"/></rss>';
  const PAGE = '<!doctype html><title>t</title><a href=x>link</a>';

  it.each<[string, string, string | null, object]>([
    ['a PDF without a type', PDF, null, { mime: 'application/pdf', links: [], textLength: 0, kind: 'other' }],
    ['a PDF called HTML', PDF, 'text/html', { mime: 'text/html', links: [], textLength: 0, title: null }],
    ['a PDF called XHTML', PDF, 'application/xhtml+xml', { links: [], textLength: 0 }],
    ['a PDF called bytes', PDF, 'application/octet-stream', { links: [], textLength: 0, charset: null }],
    ['a PDF called text', PDF, 'text/plain', { links: [], textLength: 0 }],
    ['a picture called HTML', PNG, 'text/html', { links: [], textLength: 0 }],
    ['a picture without a type', PNG, null, { mime: 'image/png', links: [] }],
    ['XML without a type', XML, null, { mime: 'text/xml', links: [], textLength: 0 }],
    ['XML called XML', XML, 'application/xml', { mime: 'application/xml', links: [] }],
    ['HTML without a type', PAGE, null, { mime: 'text/html', title: 't', links: [{}] }],
    ['HTML called nothing sensible', PAGE, 'garbage', { mime: 'text/html', links: [{}] }],
    ['HTML called text', PAGE, 'text/plain', { mime: 'text/plain', links: [], title: null }],
    ['HTML called bytes', PAGE, 'application/octet-stream', { mime: 'application/octet-stream', links: [] }],
    ['HTML of two types, the last counts', PAGE, 'text/plain\ntext/html', { mime: 'text/html', links: [{}] }],
  ])('H20: %s', (_, body, types, facts) => {
    const headers = (types?.split('\n') ?? []).map((type): Header => ['Content-Type', type]);
    const page = pageOf(parse(taskOf(Buffer.from(body, 'latin1'), { headers })));
    expect(page).toMatchObject(facts);
  });
});
