import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UrlCandidate, UrlFilter } from '../../src/plugins/url-filter.js';
import { filterRefusal } from '../../src/policy/url-filter.js';

const CANDIDATE: UrlCandidate = {
  url: 'http://a.test/x',
  host: 'a.test',
  depth: 1,
  source: 'link',
  element: 'a',
  rel: null,
  via: 'http://a.test/',
};

describe('a URL filter', () => {
  it.each<[string, UrlFilter, ReturnType<typeof filterRefusal>]>([
    ['lets in', () => true, null],
    ['leaves', () => false, { code: 'filtered', detail: 'the URL filter left it' }],
    ['says why', ({ element }) => `no ${element}`, { code: 'filtered', detail: 'no a' }],
    ['says why at length', () => 'x'.repeat(301), { code: 'filtered', detail: 'x'.repeat(300) }],
  ])('%s', (_, filter, refusal) => {
    expect(filterRefusal(filter, CANDIDATE)).toEqual(refusal);
  });

  it.each<[string, () => unknown]>([
    ['throws an error', () => JSON.parse('{')],
    [
      'throws nothing',
      () => {
        throw null;
      },
    ],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers a promise', () => Promise.resolve(true)],
  ])('that %s costs the URL, and no more', (_, filter) => {
    expect(filterRefusal(filter as UrlFilter, CANDIDATE)).toMatchObject({ code: 'plugin_failed' });
  });
});

describe('any URL filter', () => {
  it('lets in with true alone, never throws, and says why in bounded words', () => {
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (answer, throws) => {
        const filter = (() => {
          if (throws) throw answer;
          return answer;
        }) as UrlFilter;
        const refusal = filterRefusal(filter, CANDIDATE);
        expect(refusal === null).toBe(!throws && answer === true);
        expect(refusal?.detail.length ?? 0).toBeLessThanOrEqual(300);
        const isWord = !throws && (answer === false || typeof answer === 'string');
        if (refusal !== null) expect(refusal.code).toBe(isWord ? 'filtered' : 'plugin_failed');
      }),
      { numRuns: 300 },
    );
  });
});
