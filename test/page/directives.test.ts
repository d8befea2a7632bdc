import { describe, expect, it } from 'vitest';
import type { Header } from '../../src/domain/fetching.js';
import { headerDirectives } from '../../src/page/directives.js';
import { parse } from '../../src/page/parse.js';
import { html, pageOf, taskOf } from './tasks.js';

const asked = (...values: string[]) => {
  const { noindex, nofollow } = headerDirectives(
    values.map((value): Header => ['X-Robots-Tag', value]),
    'testbot',
  );
  return [noindex ? 'noindex' : '', nofollow ? 'nofollow' : ''].filter((word) => word !== '').join(' ');
};

describe('X-Robots-Tag', () => {
  it.each([
    [['noindex'], 'noindex'],
    [['NOINDEX , NoFollow'], 'noindex nofollow'],
    [['none'], 'noindex nofollow'],
    [['all'], ''],
    [['noindex', 'nofollow'], 'noindex nofollow'],
    [['otherbot: noindex, nofollow'], ''],
    [['testbot: noindex'], 'noindex'],
    [['TestBot: noindex, nofollow'], 'noindex nofollow'],
    [['testbot-news: noindex'], ''],
    [['otherbot: noindex, testbot: nofollow'], 'nofollow'],
    [['testbot: nofollow, otherbot: noindex'], 'nofollow'],
    [['otherbot: noindex', 'nofollow'], 'nofollow'],
    [['unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow'], 'nofollow'],
    [['max-snippet: 5, none'], 'noindex nofollow'],
    [['noindexing'], ''],
    [[''], ''],
    [[], ''],
  ])('%j asks us: %s', (values, wanted) => {
    expect(asked(...values)).toBe(wanted);
  });
});

describe('what a page asks', () => {
  const body = '<meta name=TestBot content=noindex><meta name=otherbot content=none><a href=x></a>';
  const page = (obeyed: boolean, ...headers: Header[]) =>
    pageOf(
      parse(taskOf(body, { headers: html('text/html', ...headers), robotsMeta: { obeyed, productToken: 'TestBot' } })),
    );

  it('of us by name is heard, of others is not', () => {
    expect(page(true)).toMatchObject({ noindex: true, nofollow: false, links: [{ element: 'a' }] });
  });

  it('is obeyed unless an operator says otherwise, and told in any case', () => {
    const nofollow: Header = ['X-Robots-Tag', 'testbot: nofollow'];
    expect(page(true, nofollow)).toMatchObject({ noindex: true, nofollow: true, links: [] });
    expect(page(false, nofollow)).toMatchObject({ noindex: true, nofollow: true, links: [{ element: 'a' }] });
  });
});
