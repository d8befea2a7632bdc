import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Header } from '../../src/domain/fetching.js';
import { parseLinkHeader } from '../../src/page/link-header.js';
import { parse } from '../../src/page/parse.js';
import { html, pageOf, taskOf } from './tasks.js';

const read = (value: string) => parseLinkHeader(value).map(({ target, rel }) => [target, rel]);

describe('the Link header (RFC 8288 §3)', () => {
  it.each([
    ['</a>; rel=next', [['/a', 'next']]],
    [
      '</a>; rel="next last", </b>;rel=prev',
      [
        ['/a', 'next last'],
        ['/b', 'prev'],
      ],
    ],
    ['</a,b;c>; title="x, <y>; rel=no"; rel=next', [['/a,b;c', 'next']]],
    ['</a>; rel=next; rel=stylesheet', [['/a', 'next']]],
    ['</a>; REL = "next"', [['/a', 'next']]],
    ['</a>; title="a \\" b"; rel=next', [['/a', 'next']]],
    ['</a>', [['/a', null]]],
    ['</a>; rel', [['/a', null]]],
    ['<>; rel=self', [['', 'self']]],
    [', ,</a>;;; rel=next;,', [['/a', 'next']]],
    ['</a>; rel="next', [['/a', 'next']]],
    ['</a> junk </b>; rel=next', [['/a', 'next']]],
    ['</a; rel=next', []],
    ['/a; rel=next', []],
    ['', []],
  ])('%s', (value, links) => {
    expect(read(value)).toEqual(links);
  });

  it('answers any text, in time that is linear in it', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('<', '>', ';', ',', '"', '\\', 'rel', '=', ' ', 'a')), (parts) => {
        expect(parseLinkHeader(parts.join(''))).toBeInstanceOf(Array);
      }),
    );
    expect(read(`${'<a>;'.repeat(20_000)}</b>`)).toHaveLength(1);
    expect(read(`${'<a>,'.repeat(20_000)}`)).toHaveLength(20_000);
  });
});

describe('links of a Link header', () => {
  const facts = (value: string, ...more: Header[]) =>
    pageOf(parse(taskOf('<base href=/base/>', { headers: html('text/html', ['Link', value], ...more) })));
  const found = (value: string) => facts(value).links.map(({ url, element, rel }) => [url, element, rel]);

  it('are followed by their relation, as those of a link element, against the URL that was asked for', () => {
    expect(
      found('<next?a>; rel=next, </s.css>; rel=preload, </t.css>; rel=stylesheet, <//cdn.example>; rel=preconnect'),
    ).toEqual([
      ['http://site.example/dir/next?a', 'header', 'next'],
      ['http://site.example/t.css', 'header', 'stylesheet'],
    ]);
    expect(found('</a>; rel="next nofollow", </b>; rel=NEXT')).toEqual([['http://site.example/b', 'header', 'NEXT']]);
  });

  it('that speak of something else (anchor) are left out', () => {
    expect(found('</a>; rel=next; anchor="/other", </b>; rel=next; anchor="#part"')).toEqual([
      ['http://site.example/b', 'header', 'next'],
    ]);
  });

  it('name the canonical URL, of a PDF as well; that of the page itself goes first', () => {
    expect(facts('</c>; rel=canonical').canonical).toBe('http://site.example/c');
    const pdf = parse(
      taskOf('%PDF-1.7', { headers: html('application/pdf', ['Link', '<../c.html>; rel="canonical"']) }),
    );
    expect(pageOf(pdf)).toMatchObject({
      canonical: 'http://site.example/c.html',
      kind: 'other',
      links: [{ element: 'header' }],
    });
    const both = parse(
      taskOf('<link rel=canonical href=/page>', { headers: html('text/html', ['link', '</header>; rel=canonical']) }),
    );
    expect(pageOf(both).canonical).toBe('http://site.example/page');
  });

  it('are read from several lines, and as UTF-8', () => {
    const raw = Buffer.from('</é>; rel=next').toString('latin1');
    const page = facts('</a>; rel=next', ['link', raw]);
    expect(page.links.map(({ url }) => url)).toEqual(['http://site.example/a', 'http://site.example/%C3%A9']);
  });
});
