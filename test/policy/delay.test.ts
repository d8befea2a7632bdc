import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELAY_CAP_MS, delayAfter } from '../../src/policy/delay.js';

const terms = fc.record({
  configuredMs: fc.nat(200_000),
  crawlDelaySeconds: fc.option(fc.double({ min: 0, max: 1e308, noNaN: true })),
  adaptiveFactor: fc.double({ min: 0, max: 1_000, noNaN: true }),
  lastDurationMs: fc.option(fc.nat(100_000)),
});

describe('P2 delay', () => {
  it('is never below what the operator configured, and above it only up to the cap', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const ms = delayAfter(given);
        expect(ms).toBeGreaterThanOrEqual(given.configuredMs);
        expect(ms).toBeLessThanOrEqual(Math.max(given.configuredMs, DELAY_CAP_MS));
      }),
    );
  });

  it('grows with every term', () => {
    fc.assert(
      fc.property(terms, terms, (a, b) => {
        const larger = {
          configuredMs: Math.max(a.configuredMs, b.configuredMs),
          crawlDelaySeconds: Math.max(a.crawlDelaySeconds ?? 0, b.crawlDelaySeconds ?? 0),
          adaptiveFactor: Math.max(a.adaptiveFactor, b.adaptiveFactor),
          lastDurationMs: Math.max(a.lastDurationMs ?? 0, b.lastDurationMs ?? 0),
        };
        expect(delayAfter(larger)).toBeGreaterThanOrEqual(delayAfter(a));
      }),
    );
  });

  it('takes the largest of the three, each known by itself', () => {
    const none = { configuredMs: 1_000, crawlDelaySeconds: null, adaptiveFactor: 10, lastDurationMs: null };
    expect(delayAfter(none)).toBe(1_000);
    expect(delayAfter({ ...none, crawlDelaySeconds: 2.5 })).toBe(2_500);
    expect(delayAfter({ ...none, lastDurationMs: 350 })).toBe(3_500);
    expect(delayAfter({ ...none, crawlDelaySeconds: 5, lastDurationMs: 350 })).toBe(5_000);
    expect(delayAfter({ ...none, adaptiveFactor: 0, lastDurationMs: 99_999 })).toBe(1_000);
  });

  it('caps Crawl-delay and the adaptive delay, not the configured one', () => {
    const base = { configuredMs: 0, crawlDelaySeconds: null, adaptiveFactor: 1, lastDurationMs: null };
    expect(delayAfter({ ...base, crawlDelaySeconds: 60 })).toBe(60_000);
    expect(delayAfter({ ...base, crawlDelaySeconds: 60.001 })).toBe(60_000);
    expect(delayAfter({ ...base, lastDurationMs: 60_001 })).toBe(60_000);
    expect(delayAfter({ ...base, configuredMs: 60_001 })).toBe(60_001);
    expect(delayAfter({ ...base, crawlDelaySeconds: 9, capMs: 4_000 })).toBe(4_000);
  });
});
