import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha1Digest } from '../../src/sinks/digest.js';
import { parse } from '../../src/page/parse.js';
import type { Header } from '../../src/domain/fetching.js';
import { html, pageOf, parsed, taskOf } from './tasks.js';

describe('a page', () => {
  it('gives links, title, text and digests', () => {
    const body = gzipSync('<title>T</title><p>some words here<a href=next>');
    const result = parsed(parse(taskOf(body, { headers: html('text/html', ['Content-Encoding', 'gzip']) })));
    expect(result.page).toMatchObject({
      mime: 'text/html',
      charset: 'utf-8',
      title: 'T',
      textLength: 15,
      linksRefused: 0,
      noindex: false,
      nofollow: false,
    });
    expect(result.page?.links.map((link) => link.url)).toEqual(['http://site.example/dir/next']);
    expect(result.payloadDigest).toBe(sha1Digest(body));
    expect(result.contentDigest).toBe(sha1Digest(Buffer.from('<title>T</title><p>some words here<a href=next>')));
    expect(result.redirect).toBeNull();
    expect(result.archive).toBeNull();
  });

  it('has no links under a page-wide nofollow, of meta or X-Robots-Tag', () => {
    expect(pageOf(parse(taskOf('<meta name=robots content=nofollow><a href=x>')))).toMatchObject({
      links: [],
      nofollow: true,
    });
    const tagged = (value: string) =>
      pageOf(parse(taskOf('<a href=x>', { headers: html('text/html', ['X-Robots-Tag', value]) })));
    expect(tagged('noindex, nofollow')).toMatchObject({ links: [], noindex: true, nofollow: true });
    expect(tagged('otherbot: noindex, nofollow')).toMatchObject({ noindex: false, nofollow: false });
    expect(tagged('unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow')).toMatchObject({
      noindex: false,
      nofollow: true,
    });
    expect(tagged('max-snippet: 5, none')).toMatchObject({ noindex: true, nofollow: true });
  });

  it.each([
    ['testbot: noindex', true, false],
    ['TESTBOT : nofollow', false, true],
    ['otherbot: nofollow, testbot: noindex', true, false],
    ['testbot: noindex, otherbot: nofollow', true, false],
    ['noindex, otherbot: nofollow', true, false],
    ['otherbot: noindex, nofollow', false, false],
    ['testbot2: noindex', false, false],
    ['unavailable_after: 2030-01-01, noindex', true, false],
  ])('X-Robots-Tag: %s names crawlers, and the others need not follow', (value, noindex, nofollow) => {
    const page = pageOf(parse(taskOf('x', { headers: html('text/html', ['X-Robots-Tag', value]) })));
    expect(page).toMatchObject({ noindex, nofollow });
  });

  it('its nofollow is told but not obeyed where robots.meta is off', () => {
    const robotsMeta = { obeyed: false, productToken: 'TestBot' };
    const page = pageOf(
      parse(taskOf('<meta name=robots content=nofollow><a href=x><a rel=nofollow href=y>', { robotsMeta })),
    );
    expect(page).toMatchObject({ nofollow: true, links: [{ url: 'http://site.example/dir/x' }] });
  });

  it('names the URL that it calls its own, canonical and absolute; one that is no URL is none', () => {
    const canonical = (source: string) => pageOf(parse(taskOf(source))).canonical;
    expect(canonical('<base href=/b/><link rel="Canonical x" href=" c#d "><link rel=canonical href=/e>')).toBe(
      'http://site.example/b/c',
    );
    expect(canonical('<link rel=canonical href="http://[bad">')).toBeNull();
    expect(canonical('<link rel=alternate href=x>')).toBeNull();
  });

  it('is of a kind', () => {
    const kind = (source: string) => pageOf(parse(taskOf(source))).kind;
    const prose = '<p>A sentence of some words that tells a reader something. '.repeat(10);
    expect(kind(`${prose}<a href=x>a link</a>`)).toBe('document');
    expect(kind('<a href=x>some words of a link</a>'.repeat(12))).toBe('listing');
    expect(kind(`<meta name=robots content=noindex>${prose}<a href=x>a link</a>`)).toBe('lead');
    expect(kind('')).toBe('other');
  });

  it('is decoded in its own encoding, links included', () => {
    const body = Buffer.concat([
      Buffer.from('<title>'),
      Buffer.from([0xcf, 0xf0]),
      Buffer.from('</title><a href="?'),
      Buffer.from([0xcf]),
      Buffer.from('">'),
    ]);
    const page = pageOf(parse(taskOf(body, { headers: html('text/html; charset=cp1251') })));
    expect(page.title).toBe('Пр');
    expect(page.charset).toBe('windows-1251');
    expect(page.links[0]?.url).toBe('http://site.example/dir/page?%CF');
  });
});

describe('what a body is (MIME Sniffing Standard §7)', () => {
  const of = (body: string | Uint8Array, headers: Header[]) => pageOf(parse(taskOf(body, { headers })));
  const pdf = '%PDF-1.7\n<a href=x>';

  it('a PDF is no text under any type', () => {
    expect(of(pdf, [])).toMatchObject({ mime: 'application/pdf', links: [], textLength: 0, charset: null });
    expect(of(pdf, html('text/html'))).toMatchObject({ mime: 'text/html', links: [], textLength: 0 });
    expect(of(pdf, html('application/octet-stream'))).toMatchObject({ mime: 'application/octet-stream', links: [] });
    expect(of(pdf, html('text/plain'))).toMatchObject({ textLength: 0 });
  });

  it.each([
    '<!doctype html><a href=x>',
    '  \n<HTML ><a href=x>',
    '<!--c--><a href=x>',
    '\ufeff<p><a href=x>',
    '<a\thref=x>',
  ])('without a type, %j is HTML', (body) => {
    expect(of(body, [])).toMatchObject({ mime: 'text/html', links: [{ element: 'a' }] });
    expect(of(body, html('*/*'))).toMatchObject({ mime: 'text/html' });
    expect(of(body, html('garbage'))).toMatchObject({ mime: 'text/html' });
  });

  it('text gives its length, others nothing', () => {
    expect(of('a  b\n<a href=x>', html('text/plain'))).toMatchObject({
      textLength: 14,
      links: [],
      title: null,
      charset: 'utf-8',
    });
    expect(of('plain words', [])).toMatchObject({ mime: 'text/plain', textLength: 11 });
    expect(of('\0\x01\x02', [])).toMatchObject({ mime: 'application/octet-stream', textLength: 0 });
    expect(of('<?xml version="1.0"?><rss>', [])).toMatchObject({ mime: 'text/xml', textLength: 0 });
    expect(of('{}', html('application/json'))).toMatchObject({
      mime: 'application/json',
      charset: null,
      simhash: null,
    });
    expect(of('<a href=x>', html('application/xhtml+xml'))).toMatchObject({ links: [{ element: 'a' }] });
  });
});

describe('redirects', () => {
  const target = (status: number, headers: Header[], body = '') => {
    const { redirect, page } = parsed(parse(taskOf(body, { status, headers })));
    return { url: redirect?.url ?? null, element: redirect?.element ?? null, page };
  };

  it.each([301, 302, 303, 307, 308])('%i: Location is resolved, and the body is no page', (status) => {
    expect(target(status, [['LOCATION', '../x?y#z']], '<a href=q>')).toEqual({
      url: 'http://site.example/x?y',
      element: 'location',
      page: null,
    });
  });

  it('takes the bytes of Location for UTF-8 where they are', () => {
    const raw = Buffer.from('/é').toString('latin1');
    expect(target(302, [['location', raw]]).url).toBe('http://site.example/%C3%A9');
    expect(target(302, [['location', '/\xe9']]).url).toBe('http://site.example/%C3%A9');
    expect(target(302, [['location', 'http://e.com?test=1']]).url).toBe('http://e.com/?test=1');
  });

  it.each(['file://same-host/etc/passwd', 'data:text/html,x', 'ftp://a/', 's3://b/c', 'http://[bad'])(
    'is none to %s',
    (location) => {
      expect(target(302, [['location', location]]).url).toBeNull();
    },
  );

  it('D08: no scheme but http and https is ever led to: by Location, meta refresh or a Link header', () => {
    const scheme = fc.oneof(
      fc.constantFrom(
        'file',
        'data',
        'ftp',
        's3',
        'javascript',
        'mailto',
        'gopher',
        'ws',
        'wss',
        'blob',
        'about',
        'FILE',
      ),
      fc.stringMatching(/^[a-z][a-z0-9+.-]{0,9}$/).filter((it) => it !== 'http' && it !== 'https'),
    );
    const rest = fc.constantFrom('', '/etc/passwd', '//site.example/etc/passwd', '///etc/passwd', 'text/html,x');
    fc.assert(
      fc.property(scheme, rest, (name, after) => {
        const url = `${name}:${after}`;
        expect(target(302, [['location', url]]).url).toBeNull();
        const refreshed = target(200, html(), `<meta http-equiv=refresh content="0;url=${url}"><a href="${url}">x</a>`);
        expect(refreshed.url).toBeNull();
        expect(refreshed.page?.links).toEqual([]);
        const linked = target(200, [...html(), ['link', `<${url}>; rel=next`]]);
        expect([linked.url, linked.page?.links]).toEqual([null, []]);
      }),
    );
  });

  it('S4: what leads on has no credentials, however they are written', () => {
    for (const url of [
      'http://user:word@site.example/x',
      'http://user@site.example/x',
      'http://:word@site.example/x',
      '//u:w@site.example/x',
    ])
      expect(target(302, [['location', url]]).url).toBe('http://site.example/x');
  });

  it('is none without Location, or with one on another status', () => {
    expect(target(302, []).url).toBeNull();
    expect(
      target(200, [
        ['location', '/x'],
        ['content-type', 'text/html'],
      ]).url,
    ).toBeNull();
    expect(target(304, [['location', '/x']]).url).toBeNull();
  });

  it('a meta refresh to another URL is one, resolved with the base; a reload is none', () => {
    const refresh = (body: string) => target(200, html(), body);
    expect(refresh('<base href=/b/><meta http-equiv=refresh content="0;url=../x.html">')).toMatchObject({
      url: 'http://site.example/x.html',
      element: 'meta',
    });
    expect(refresh('<meta http-equiv=refresh content="0;url=page#again">').url).toBeNull();
    expect(refresh('<meta http-equiv=refresh content="0;url=file:///etc/passwd">').url).toBeNull();
    expect(refresh('<noscript><meta http-equiv=refresh content="0;url=x"></noscript>').url).toBeNull();
  });
});

describe('robots files', () => {
  it('come back decoded, in a buffer of their own, up to the bound', () => {
    const lines = 'User-agent: *\nDisallow: /x\n'.repeat(1000);
    const result = parsed(
      parse(taskOf(gzipSync(lines), { want: 'robots', headers: [['content-encoding', 'gzip']], decodedBytesMax: 500 })),
    );
    expect(Buffer.from(result.decoded ?? []).toString()).toBe(lines.slice(0, 500));
    expect(result.decoded?.buffer.byteLength).toBe(500);
    expect(result.page).toBeNull();
  });
});

describe('faults of a body', () => {
  it('are answers, with the archive records all the same', () => {
    const broken = parse(
      taskOf('not gzip', { headers: html('text/html', ['content-encoding', 'gzip']), archive: true }),
    );
    expect(broken).toMatchObject({
      kind: 'unparsed',
      code: 'undecodable',
      archive: { recordId: expect.stringMatching(/^urn:uuid:/) },
    });
    const bomb = parse(
      taskOf(gzipSync(Buffer.alloc(2_000_000)), { headers: html('text/html', ['content-encoding', 'gzip']) }),
    );
    expect(bomb).toMatchObject({ kind: 'unparsed', code: 'bomb', archive: null });
  });

  it('a fault of the parser itself is answered as a crash', () => {
    expect(parse(taskOf('<a href=x>', { url: 'no url' }))).toMatchObject({ kind: 'unparsed', code: 'worker_crashed' });
  });

  it('any bytes under any header are answered', () => {
    const value = fc.oneof(
      fc.constantFrom(
        'text/html',
        'text/html; charset=utf-16',
        'text/html;charset=shift_jis',
        'gzip',
        'br, deflate',
        '/x',
        '',
        'noindex: a, b',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text).toString('latin1')),
    );
    const name = fc.constantFrom('Content-Type', 'Content-Encoding', 'Location', 'X-Robots-Tag', 'Transfer-Encoding');
    const markup = fc
      .array(
        fc.constantFrom(
          '<',
          '>',
          '&',
          'a href=',
          '</',
          '!--',
          'svg',
          'title',
          '\0',
          '"',
          ' ',
          'é',
          '\x80',
          '<base href=',
          'meta http-equiv=refresh content=0;url=',
        ),
        { maxLength: 40 },
      )
      .map((parts) => new Uint8Array(Buffer.from(parts.join(''), 'latin1')));
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), markup),
        fc.array(fc.tuple(name, value), { maxLength: 4 }),
        fc.constantFrom(200, 302, 404),
        fc.boolean(),
        (body, headers, status, cut) => {
          const result = parse(taskOf(body, { headers, status, cut, archive: true }));
          if (result.kind === 'unparsed') expect(result.code, result.detail).toBe('undecodable');
          expect(result.archive?.bytes.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
