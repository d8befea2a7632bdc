import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stampOf, stepSince } from '../../src/policy/elapsed.js';

const HOUR_MS = 3_600_000;
const machine = { boot: 7, uptimeAtZeroMs: 500_000 };

describe('P8: times of an earlier life', () => {
  it('the step of the wall clock between two lives is found, whatever the lives and the time between them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
        fc.double({ min: 0, max: 86_400_000, noNaN: true }),
        fc.double({ min: 0, max: 86_400_000, noNaN: true }),
        (stepMs, livedMs, sinceMs) => {
          const stamp = stampOf(machine, { monotonicMs: livedMs, wallMs: 1e12 + Math.floor(livedMs) });
          // The next process's monotonic clock begins anew.
          const next = { boot: 7, uptimeAtZeroMs: machine.uptimeAtZeroMs + livedMs + sinceMs };
          const found = stepSince(stamp, next, {
            monotonicMs: 0,
            wallMs: 1e12 + Math.floor(livedMs + sinceMs) + stepMs,
          });
          // Never so that a wait comes out shorter than it is by more than what counts as no step.
          expect(found - stepMs).toBeGreaterThanOrEqual(-6);
          expect(found - stepMs).toBeLessThanOrEqual(8);
        },
      ),
    );
  });

  it('what both clocks agree on to 4 ms is no step, from 5 ms on it is one', () => {
    const stamp = stampOf(machine, { monotonicMs: 0, wallMs: 1_000_000 });
    const at = (wallMs: number) => stepSince(stamp, machine, { monotonicMs: 100, wallMs: 1_000_100 + wallMs });
    expect([at(-4), at(0), at(4)]).toEqual([0, 0, 0]);
    expect([at(-5), at(5)]).toEqual([0, 10]);
  });

  it('nothing is told by no stamp, by no machine, by another start of it, or by an uptime from the future', () => {
    const stamp = stampOf(machine, { monotonicMs: 1_000, wallMs: 1_000_000 });
    const later = { monotonicMs: 2_000, wallMs: 9_000_000 };
    expect(stepSince(stamp, machine, later)).toBeGreaterThan(7_000_000);
    expect(stepSince(null, machine, later)).toBe(0);
    expect(stepSince(stamp, undefined, later)).toBe(0);
    expect(stepSince(stamp, { ...machine, boot: 8 }, later)).toBe(0);
    expect(stepSince(stamp, { ...machine, uptimeAtZeroMs: 1_000 }, later)).toBe(0);
  });
});
