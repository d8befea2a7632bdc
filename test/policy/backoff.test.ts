import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs, JITTER_SHARE, jittered } from '../../src/policy/backoff.js';
import { drawn } from './arbitraries.js';

it('jitter moves a delay by at most its share, and a draw of a half not at all', () => {
  expect(jittered(1000, 0)).toBe(1000 * (1 - JITTER_SHARE));
  expect(jittered(1000, 0.5)).toBe(1000);
  expect(jittered(1000, 1 - Number.EPSILON)).toBe(1000 * (1 + JITTER_SHARE));
});

it('back-off doubles to its cap and never passes it, however often it doubles', () => {
  const backoff = { firstMs: 2_000, capMs: 60_000 };
  expect([0, 1, 2, 3, 4, 5, 6].map((n) => backoffMs(backoff, n, 0.5))).toEqual([
    2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
  fc.assert(
    fc.property(fc.nat(5_000), drawn, (doublings, draw) => {
      const ms = backoffMs(backoff, doublings, draw);
      expect(ms).toBeGreaterThanOrEqual(1_600);
      expect(ms).toBeLessThanOrEqual(60_000);
    }),
  );
});
