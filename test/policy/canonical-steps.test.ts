import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalise } from '../../src/policy/canonical.js';
import { CANONICAL_RULES, canonicalSteps } from '../../src/policy/canonical-steps.js';

it.each([
  ['http://site.test/a', undefined, []],
  ['HTTP://Site.Test:80', undefined, ['url-standard']],
  ['../b?q#f', 'http://site.test/a/c/d', ['resolve', 'drop-fragment']],
  ['http://u:p@site.test/%7euser/#top', undefined, ['drop-credentials', 'drop-fragment', 'normalise-escapes']],
  ['http://site.test/%c3%a9', undefined, ['normalise-escapes']],
  ['mailto:me@site.test', undefined, []],
  ['//', undefined, []],
])('canonical form, rule by rule: %s', (input, base, rules) => {
  const steps = canonicalSteps(input, base);
  expect(steps.map(({ rule }) => rule)).toEqual(rules);
  for (const { rule } of steps) expect(CANONICAL_RULES[rule]).toBeDefined();
});

it('steps join: the first begins at the input, each at the end of the last, the last at the canonical form', () => {
  const part = fc.stringMatching(/^[a-zA-Z0-9%./?#:@ ~-]{0,12}$/);
  const spelled = fc
    .tuple(fc.constantFrom('http://', 'HTTPS://u:p@', '', '/'), part, part)
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(spelled, fc.constantFrom(undefined, 'http://base.test/x/y'), (input, base) => {
      const steps = canonicalSteps(input, base);
      const canonical = canonicalise(input, base);
      let spelling = input;
      for (const { before, after } of steps) {
        expect(before).toBe(spelling);
        expect(after).not.toBe(before);
        spelling = after;
      }
      if (canonical.ok) expect(spelling).toBe(canonical.url);
    }),
    { numRuns: 2_000 },
  );
});
