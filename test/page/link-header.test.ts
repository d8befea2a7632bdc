import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLinkHeader } from '../../src/page/link-header.js';
import { parse } from '../../src/page/parse.js';
import { html, pageOf, taskOf } from './tasks.js';

const shown = (value: string) => parseLinkHeader(value).map(({ target, rel }) => `${target} ${rel}`);

describe('the Link header (RFC 8288 §3)', () => {
  it.each([
    ['<http://e.example/2>; rel="next"', ['http://e.example/2 next']],
    ['<a>;rel=next', ['a next']],
    ['<a>; rel=next, <b>; rel=prev', ['a next', 'b prev']],
    ['<a>; rel="next prev"', ['a next prev']],
    ['<a>', ['a null']],
    ['<>; rel=next', [' next']],
    ['< a >;REL=Next', ['a Next']],
    ['<a>; rel=next; rel=prev', ['a next']],
    ['<a,b>; title="x, <y>; rel=prev"; rel=next', ['a,b next']],
    ['<a>; title="say \\"rel=prev\\""; rel=next', ['a next']],
    ["<a>; title*=UTF-8''%e2%82%ac; rel=next", ['a next']],
    ['<a> ; rel = "next" , , <b> ; rel = prev', ['a next', 'b prev']],
    ['<a>;;;rel=next;', ['a next']],
    ['<a>; rel', ['a null']],
    ['<a>; rel=', ['a ']],
    ['<a>; rel="next', ['a next']],
    ['<a; rel=next', []],
    ['a; rel=next', []],
    ['garbage, <b>; rel=next', ['b next']],
    ['', []],
  ])('%j → %j', (value, links) => {
    expect(shown(value)).toEqual(links);
  });

  it('answers for any value', () => {
    const piece = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', '\t', 'rel', 'a', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const { target } of parseLinkHeader(pieces.join(''))) expect(target).not.toContain('>');
      }),
    );
  });
});

describe('what a Link header leads to', () => {
  const page = (link: string, type = 'text/html', body = '<base href=/elsewhere/><a href=x></a>') =>
    pageOf(parse(taskOf(body, { headers: html(type, ['Link', link]) })));

  it('is resolved against the page, not its base (RFC 8288 §3.1), and carries its relation', () => {
    expect(page('<next>; rel="next"').links).toMatchObject([
      { url: 'http://site.example/dir/next', element: 'header', rel: 'next' },
      { url: 'http://site.example/elsewhere/x', element: 'a', rel: null },
    ]);
  });

  it('is found beside what is no markup', () => {
    expect(page('</next>; rel=next', 'application/pdf', '%PDF-1.7').links).toMatchObject([{ element: 'header' }]);
    expect(page('</next>; rel=next', 'text/plain', 'words').links).toMatchObject([{ element: 'header' }]);
  });

  it.each(['preconnect', 'dns-prefetch', 'preload', 'modulepreload', 'nofollow next', 'unheard-of'])(
    'is not followed with rel=%s',
    (rel) => {
      expect(page(`</x>; rel="${rel}"`).links).toMatchObject([{ element: 'a' }]);
    },
  );

  it('is another thing’s where it names another anchor (RFC 8288 §3.2)', () => {
    expect(page('</x>; rel=next; anchor="/other"').links).toMatchObject([{ element: 'a' }]);
    expect(page('</x>; rel=next; anchor="#part"').links).toMatchObject([{ element: 'header' }, { element: 'a' }]);
  });

  it('says which URL is canonical, where the page itself does not', () => {
    expect(page('</c>; rel=canonical').canonical).toBe('http://site.example/c');
    expect(page('</c>; rel=canonical', 'text/html', '<link rel=canonical href=/d>').canonical).toBe(
      'http://site.example/d',
    );
    expect(page('</c>; rel=canonical', 'application/pdf', '%PDF-1.7').canonical).toBe('http://site.example/c');
    expect(page('<mailto:x@y>; rel=canonical').canonical).toBeNull();
  });
});
