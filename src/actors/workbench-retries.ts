/**
 * The budget of retries of all hosts together: who asks for one while it is used up is told when to ask again.
 *
 * It is kept for the length of a life and begins empty: what an earlier one has used is not known, and a restart must not
 * give it once more. Those who have to wait are told times one after the other, so that they do not all come at once.
 */
import {
  emptyBudget,
  refilled,
  type RetryBudget,
  type RetryBudgetTerms,
  retryWaitsUntilMs,
  withFirst,
  withoutRetry,
  withRetry,
} from '../policy/retry-budget.js';
import type { Instant } from '../protocols/actor.js';
import type { RetryFacts } from '../protocols/bench.js';

export interface RetryBooks {
  readonly terms: RetryBudgetTerms | null;
  budget: RetryBudget;
  /** For when the last host was told to come again; monotonic. */
  promisedUntilMs: number;
  /** Asks that were put off. */
  withheld: number;
}

/** Nobody is sent away for longer: what is asked for the first time meanwhile may have filled it. */
const AWAY_MS_MAX = 60_000;

export function createRetryBooks(terms: RetryBudgetTerms | null, now: Instant): RetryBooks {
  return { terms, budget: emptyBudget(now.monotonicMs), promisedUntilMs: now.monotonicMs, withheld: 0 };
}

/** Takes one for a retry that is asked for; else says until when to stay away. Monotonic. */
export function takeRetry(books: RetryBooks, now: Instant): number | null {
  const { terms } = books;
  if (terms === null) return null;
  const { monotonicMs } = now;
  const untilMs = retryWaitsUntilMs(books.budget, terms, monotonicMs);
  if (untilMs === null) {
    books.budget = withRetry(books.budget, terms, monotonicMs);
    return null;
  }
  books.withheld += 1;
  const afterMs = Math.max(untilMs, books.promisedUntilMs + 60_000 / terms.perMinute);
  books.promisedUntilMs = Math.min(afterMs, monotonicMs + AWAY_MS_MAX);
  return books.promisedUntilMs;
}

/** Its ask was taken back, or its permit came back unused. */
export function giveBackRetry(books: RetryBooks): void {
  if (books.terms !== null) books.budget = withoutRetry(books.budget, books.terms);
}

export function noteFirst(books: RetryBooks, now: Instant): void {
  if (books.terms !== null) books.budget = withFirst(books.budget, books.terms, now.monotonicMs);
}

export function describe({ terms, budget, withheld }: RetryBooks, now: Instant): RetryFacts | null {
  if (terms === null) return null;
  const { left } = refilled(budget, terms, now.monotonicMs);
  const untilMs = retryWaitsUntilMs(budget, terms, now.monotonicMs);
  const waitsUntilMs = untilMs === null ? null : Math.ceil(now.wallMs + untilMs - now.monotonicMs);
  return { left: Math.max(0, Math.floor(left)), waitsUntilMs, withheld };
}
