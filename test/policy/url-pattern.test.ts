import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstMatch,
  isProblem,
  PATTERN_CHARACTERS_MAX,
  patternOf,
  type UrlPattern,
} from '../../src/policy/url-pattern.js';

function pattern(text: string): UrlPattern {
  const made = patternOf(text);
  if (isProblem(made)) throw new Error(made.problem);
  return made;
}

const TABLE: [pattern: string, url: string, matches: boolean][] = [
  ['/private/', 'http://a.example/private/x', true],
  ['/private/', 'http://a.example/x/private/', false],
  ['/*.pdf$', 'http://a.example/x/y.pdf', true],
  ['/*.pdf$', 'http://a.example/y.pdf?page=2', false],
  ['/*?session=', 'http://a.example/x?session=1', true],
  ['/', 'http://a.example/', true],
  ['a.example', 'http://a.example/x', true],
  ['a.example', 'https://a.example:8443/x', true],
  ['a.example', 'http://a.example./x', true],
  ['a.example', 'http://a.example.org/x', false],
  ['a.example', 'http://www.a.example/x', false],
  ['*.a.example', 'http://www.a.example/x', true],
  ['*.a.example', 'http://a.example/x', false],
  ['[::1]', 'http://[::1]:8080/', true],
  ['a.example/private/', 'http://a.example/private/x', true],
  ['a.example/private/', 'http://b.example/a.example/private/', false],
  ['*.example/shop/*/old', 'http://a.example/shop/x/y/older', true],
  ['https://', 'https://a.example/', true],
  ['https://', 'http://a.example/', false],
  ['http://a.example/x$', 'http://a.example/x', true],
  ['http://a.example/x$', 'http://a.example/xy', false],
  ['*.png$', 'http://a.example/x/y.png', true],
  ['*.png$', 'http://a.example/y.png?x', false],
  ['*.png$', 'http://a.png/', false],
  ['regex:\\.(zip|iso)$', 'http://a.example/x.iso', true],
  ['regex:\\.(zip|iso)$', 'http://a.example/x.iso?y', false],
];

describe('patterns of URLs', () => {
  it.each(TABLE)('%s and %s: %s', (text, url, matches) => {
    expect(pattern(text).matches(url)).toBe(matches);
  });

  it.each(['', 'two words', 'regex:(', 'x'.repeat(PATTERN_CHARACTERS_MAX + 1)])('is none: %s', (text) => {
    expect(isProblem(patternOf(text))).toBe(true);
  });

  it('a regular expression that would backtrack for years is decided at once', () => {
    const hostile = `http://a.example/${'a'.repeat(5_000)}!`;
    expect(pattern('regex:(a+)+$').matches(hostile)).toBe(false);
    expect(pattern('regex:(a|a)*b').matches(hostile)).toBe(false);
  });

  it('at the bound of its length it is one', () => {
    expect(isProblem(patternOf('x'.repeat(PATTERN_CHARACTERS_MAX)))).toBe(false);
  });

  it('stars mean what a regular expression of the same meaning says', () => {
    const piece = fc.stringMatching(/^[ab/]{0,3}$/);
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        fc.stringMatching(/^[ab/]{0,12}$/),
        (pieces, isWhole, path) => {
          const text = `/${pieces.join('*')}${isWhole ? '$' : ''}`;
          const regex = new RegExp(`^/${pieces.join('[^]*')}${isWhole ? '$' : ''}`);
          expect(pattern(text).matches(`http://h.example/${path}`)).toBe(regex.test(`/${path}`));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('names the first that matches', () => {
    const all = ['/b', '/a', '/'].map(pattern);
    expect(firstMatch(all, 'http://h.example/ab')?.text).toBe('/a');
    expect(firstMatch(all.slice(0, 1), 'http://h.example/ab')).toBeNull();
  });
});
