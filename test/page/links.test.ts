import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withLegacyQuery } from '../../src/page/legacy-query.js';
import { baseOf, resolveLinks } from '../../src/page/links.js';
import { readHtml } from '../../src/page/html.js';
import type { FollowedLinks } from '../../src/domain/parsing.js';

const FOLLOWED: FollowedLinks = { embeds: true, forms: false, nofollow: 'skip' };

function urls(source: string, page = 'http://site.example/dir/page?id=9', charset = 'utf-8', linksMax = 100): string[] {
  return resolve(source, page, charset, linksMax).links.map((link) => link.url);
}

function resolve(source: string, page = 'http://site.example/dir/page?id=9', charset = 'utf-8', linksMax = 100) {
  const content = readHtml(source, { forms: false, productToken: 'testbot' });
  return resolveLinks(content.links, baseOf(page, content.baseHref, charset), charset, linksMax, FOLLOWED);
}

describe('links', () => {
  it('strips white space around an href (HTML Standard §2.4.1)', () => {
    expect(urls('<a href=" http://t.example/"><a href="\n\n http://t/\n"><a href="ht\ntp://u/">')).toEqual([
      'http://t.example/',
      'http://t/',
      'http://u/',
    ]);
  });

  it('one bad link costs itself only, and is counted', () => {
    const { links, refused } = resolve(
      '<a href="http://[bad"><a href="mailto:x@y"><a href="javascript:void(0)"><a href=good><a href="http://a..b/">',
    );
    expect(links.map((link) => link.url)).toEqual(['http://site.example/dir/good']);
    expect(refused).toBe(4);
  });

  it('drops duplicates by key, keeps the order', () => {
    expect(urls('<a href=b><a href=./b#x><a href=a><a href=%62><a href=b>')).toEqual([
      'http://site.example/dir/b',
      'http://site.example/dir/a',
    ]);
  });

  it('gives documents first, then what the page shows, then forms, each in order', () => {
    const source = '<img src=1><a href=2></a><link rel=stylesheet href=3><img src=2 srcset="4 2x"><a href=5></a>';
    expect(urls(source).map((url) => url.slice(-1))).toEqual(['2', '5', '1', '3', '4']);
    expect(resolve(source, undefined, 'utf-8', 3)).toMatchObject({ links: [{}, {}, { element: 'img' }], refused: 2 });
  });

  it('a skipped link does not hide the same one elsewhere', () => {
    expect(urls('<a rel=nofollow href=x></a><a href=x></a><link rel=preconnect href=y><a href=y></a>')).toHaveLength(2);
  });

  it('keeps a relation as it is written, and no more of it than 256 characters', () => {
    const rel = (text: string) => resolve(`<a href=x rel="${text}">`).links[0]?.rel;
    expect(rel(' Next  x ')).toBe(' Next  x ');
    expect(rel('r'.repeat(256))).toHaveLength(256);
    expect(rel('r'.repeat(257))).toHaveLength(256);
  });

  it('bounds links at n and counts the rest', () => {
    const source = '<a href=1><a href=2><a href=2><a href=3><a href=4>';
    expect(resolve(source, undefined, 'utf-8', 4)).toMatchObject({ refused: 0 });
    const bounded = resolve(source, undefined, 'utf-8', 3);
    expect(bounded.links).toHaveLength(3);
    expect(bounded.refused).toBe(1);
  });

  it('resolves against the first base that has an href, wherever it stands (HTML Standard §4.2.3)', () => {
    expect(urls('<a href=x><base target=_top><base href=../other/><base href=/third/>')).toEqual([
      'http://site.example/other/x',
    ]);
    expect(urls('<base href="http://[bad"><a href=x>')).toEqual(['http://site.example/dir/x']);
    expect(urls('<base href="data:text/html,q"><a href=x>')).toEqual(['http://site.example/dir/x']);
    expect(urls('<base href="//other.example"><a href=x>')).toEqual(['http://other.example/x']);
  });

  it('carries element, key, host and origin', () => {
    expect(resolve('<iframe src="https://other.example.:8443/x">').links).toEqual([
      {
        url: 'https://other.example.:8443/x',
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
        host: 'other.example',
        origin: 'https://other.example:8443',
        source: 'link',
        element: 'iframe',
        rel: null,
      },
    ]);
  });
});

describe('queries in the encoding of the page (URL Standard §4.4)', () => {
  it('windows-1251: the query in bytes of it, the path in UTF-8', () => {
    expect(urls('<a href="/й?q=Привет#я">', undefined, 'windows-1251')).toEqual([
      'http://site.example/%D0%B9?q=%CF%F0%E8%E2%E5%F2',
    ]);
    expect(urls('<a href="/й?q=Привет">', undefined, 'utf-8')).toEqual([
      'http://site.example/%D0%B9?q=%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82',
    ]);
  });

  it.each([
    ['shift_jis', '?q=日本表', '?q=%93%FA%96{%95\\'],
    ['euc-jp', '?q=日本', '?q=%C6%FC%CB%DC'],
    ['gbk', '?a=%20日&b=c', '?a=%20%C8%D5&b=c'],
    ['iso-2022-jp', '?日', '?%1B$BF|%1B(B'],
    ['windows-1252', '?a=é€Ж😀', '?a=%E9%80%26%231046%3B%26%23128512%3B'],
    ['utf-16le', '?é', '?é'],
    ['windows-1252', 'é#?é', 'é#?é'],
    ['windows-1252', '?\ud800', '?%26%2365533%3B'],
  ])('%s: %j → %j', (charset, href, escaped) => {
    expect(withLegacyQuery(href, charset)).toBe(escaped);
  });

  it('leaves ASCII alone and never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('shift_jis', 'big5', 'euc-kr', 'gb18030', 'koi8-u', 'x-user-defined', 'replacement'),
        (text, charset) => {
          expect(withLegacyQuery(`?${text}`, charset)).toBeTypeOf('string');
          const ascii = text.replace(/[^\x00-\x7f]/g, '');
          expect(withLegacyQuery(`?${ascii}`, charset)).toBe(`?${ascii}`);
        },
      ),
    );
  });
});
