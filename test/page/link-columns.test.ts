import { describe, expect, it } from 'vitest';
import type { ParseResult } from '../../src/domain/parsing.js';
import { packed, unpacked } from '../../src/page/link-columns.js';
import { parse } from '../../src/page/parse.js';
import { html, taskOf } from './tasks.js';

const across = (result: ParseResult): ParseResult => unpacked(structuredClone(packed(result)));

describe('links as columns', () => {
  it('come out as they went in: one host of two origins, several hosts, elements', () => {
    const result = parse(
      taskOf(
        '<a href=//a.example/1></a><a href=//a.example:81/2></a><iframe src=//b.example/></iframe><a href=//a.example/3 rel="next x"></a><img src=//a.example/4><link rel=icon href=//a.example/5>',
      ),
    );
    expect(result.kind === 'parsed' && result.page?.links.map(({ origin }) => origin)).toEqual([
      'http://a.example',
      'http://a.example:81',
      'http://b.example',
      'http://a.example',
      'http://a.example',
      'http://a.example',
    ]);
    expect(across(result)).toEqual(result);
  });

  it.each([
    ['a page without links', taskOf('words')],
    ['no page', taskOf('x', { status: 302, headers: [['location', '/y']] })],
    ['an answer without a reading', taskOf('broken', { headers: html('text/html', ['content-encoding', 'gzip']) })],
  ])('%s stays what it is', (_, task) => {
    const result = parse(task);
    expect(across(result)).toEqual(result);
  });
});
