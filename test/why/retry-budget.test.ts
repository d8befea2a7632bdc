import { describe, expect, it } from 'vitest';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import type { WhyFacts } from '../../src/why/facts.js';
import { budgetWaitOf } from '../../src/why/situation.js';
import { recordOf } from '../store/parts.js';

const NOW = 1_000_000;
const RETRY = recordOf('http://a.test/', { state: 'waiting', deliveries: 2 });

function facts(left: number | null, allUntilMs: number | null): WhyFacts {
  const retryBudget = left === null ? null : { left, atMs: NOW };
  return {
    nowMs: NOW,
    host: { snapshot: { ...UNTOUCHED, retryBudget } },
    terms: { retryBudget: { share: 0, perMinute: 6 } },
    live: { retriesWaitUntilMs: allUntilMs },
  } as unknown as WhyFacts;
}

describe('R1 why a retry waits for a budget', () => {
  it('its host has used up its own: until one is earned', () => {
    expect(budgetWaitOf(facts(0, null), RETRY, NOW - 5)).toEqual({ of: 'host', untilMs: NOW + 10_000 });
  });

  it('all hosts together have: until the time that the workbench names', () => {
    expect(budgetWaitOf(facts(3, NOW + 700), RETRY, NOW - 5)).toEqual({ of: 'all', untilMs: NOW + 700 });
  });

  it('nothing is said where its due time is later, where there is a budget, or where it is no retry', () => {
    expect(budgetWaitOf(facts(0, null), RETRY, NOW + 10_000)).toBeNull();
    expect(budgetWaitOf(facts(1, null), RETRY, NOW - 5)).toBeNull();
    expect(budgetWaitOf(facts(null, null), RETRY, null)).toBeNull();
    expect(budgetWaitOf(facts(0, null), { ...RETRY, deliveries: 0 }, null)).toBeNull();
  });
});
