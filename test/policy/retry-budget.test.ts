import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ceilingOf,
  emptyBudget,
  refilled,
  type RetryBudget,
  type RetryBudgetTerms,
  retryWaitsUntilMs,
  unusedBudget,
  withFirst,
  withoutRetry,
  withRetry,
} from '../../src/policy/retry-budget.js';

const TERMS = fc.record({
  share: fc.double({ min: 0, max: 2, noNaN: true }),
  perMinute: fc.double({ min: 0.1, max: 600, noNaN: true }),
});
const steps = fc.array(fc.record({ afterMs: fc.nat(90_000), asks: fc.constantFrom('first', 'retry') }), {
  maxLength: 200,
});

/** Retries that are made where the budget lets them, with the time of each, and of each first attempt. */
function spend(terms: RetryBudgetTerms, script: readonly { afterMs: number; asks: string }[], begin: RetryBudget) {
  const made = { firsts: [] as number[], retries: [] as number[] };
  let budget = begin;
  let nowMs = begin.atMs;
  for (const { afterMs, asks } of script) {
    nowMs += afterMs;
    if (asks === 'first') {
      budget = withFirst(budget, terms, nowMs);
      made.firsts.push(nowMs);
    } else if (retryWaitsUntilMs(budget, terms, nowMs) === null) {
      budget = withRetry(budget, terms, nowMs);
      made.retries.push(nowMs);
    }
  }
  return { ...made, budget, nowMs };
}

describe('R1 the budget of retries', () => {
  it('in any stretch of time: at most the ceiling, a share of the first attempts, and so many a minute', () => {
    fc.assert(
      fc.property(TERMS, steps, (terms, script) => {
        const { firsts, retries } = spend(terms, script, unusedBudget(terms, 1_000));
        for (const [i, fromMs] of retries.entries()) {
          for (const [j, untilMs] of retries.entries()) {
            if (j < i) continue;
            const between = firsts.filter((atMs) => atMs >= fromMs && atMs <= untilMs).length;
            const granted = ceilingOf(terms) + terms.share * between + (terms.perMinute * (untilMs - fromMs)) / 60_000;
            expect(j - i + 1).toBeLessThanOrEqual(granted + 1e-3);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('who waits as long as is said may go, and not a moment before', () => {
    fc.assert(
      fc.property(TERMS, steps, (terms, script) => {
        const { budget, nowMs } = spend(terms, script, emptyBudget(0));
        const untilMs = retryWaitsUntilMs(budget, terms, nowMs);
        if (untilMs === null) return;
        expect(retryWaitsUntilMs(budget, terms, untilMs)).toBeNull();
        if (untilMs - 2 > nowMs) expect(retryWaitsUntilMs(budget, terms, untilMs - 2)).not.toBeNull();
      }),
    );
  });

  it('never starves: with no first attempt at all, so many a minute are made', () => {
    const terms = { share: 0, perMinute: 6 };
    const script = Array.from({ length: 600 }, () => ({ afterMs: 1_000, asks: 'retry' }));
    expect(spend(terms, script, emptyBudget(0)).retries).toHaveLength(60);
  });

  it('of whom nothing is known has a minute of its own, and at least one; n and n + 1', () => {
    const made = (perMinute: number) =>
      spend(
        { share: 0, perMinute },
        Array(40).fill({ afterMs: 0, asks: 'retry' }),
        unusedBudget({ share: 0, perMinute }, 5),
      ).retries.length;
    expect(made(30)).toBe(30);
    expect(made(0.1)).toBe(1);
  });

  it('five first attempts allow one more at a fifth, and what was not made is given back', () => {
    const terms = { share: 0.2, perMinute: 0.1 };
    let budget = emptyBudget(0);
    for (let i = 0; i < 4; i++) budget = withFirst(budget, terms, 0);
    expect(retryWaitsUntilMs(budget, terms, 0)).not.toBeNull();
    budget = withFirst(budget, terms, 0);
    expect(retryWaitsUntilMs(budget, terms, 0)).toBeNull();
    expect(withoutRetry(withRetry(budget, terms, 0), terms).left).toBeCloseTo(budget.left, 9);
  });

  it('P8: a clock that is put back adds nothing, and one that is put forward no more than the ceiling', () => {
    const terms = { share: 0, perMinute: 10 };
    const used = { left: 0, atMs: 1_000_000 };
    expect(refilled(used, terms, 0).left).toBe(0);
    expect(refilled(used, terms, 1e12).left).toBe(ceilingOf(terms));
  });
});
