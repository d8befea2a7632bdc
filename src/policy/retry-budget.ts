/**
 * How many retries are worth their while: as many as a share of the first attempts, and a few beside them.
 *
 * When much fails at once, retries come on top of what could not be borne anyhow. A budget bounds them by what is asked
 * for the first time: each first attempt adds a share of a retry, time adds a few, each retry takes one. Where it is
 * used up a retry waits; it does not die, and its due time stays.
 *
 * In any stretch of time there are at most `ceiling + share × first attempts + perMinute × minutes` retries.
 */
export interface RetryBudgetTerms {
  /** Retries for each first attempt: 0.2 is one for five. */
  readonly share: number;
  /** Retries a minute that are allowed whatever comes; above 0, so that each has its turn. */
  readonly perMinute: number;
}

/** What is left at an instant, by the clock of whoever keeps it. */
export interface RetryBudget {
  readonly left: number;
  readonly atMs: number;
}

/** So many first attempts are remembered: what they allow beyond is not saved up. */
const FIRSTS_REMEMBERED = 1_000;
const MINUTE_MS = 60_000;
/** Sums of shares fall short of a whole by so little. */
const ROUNDING = 1e-6;

export function ceilingOf({ share, perMinute }: RetryBudgetTerms): number {
  return Math.max(1, perMinute) + share * FIRSTS_REMEMBERED;
}

/** Of whom nothing is known yet: a minute's worth. */
export function unusedBudget({ perMinute }: RetryBudgetTerms, nowMs: number): RetryBudget {
  return { left: Math.max(1, perMinute), atMs: nowMs };
}

/** Of whom it is not known what was used: it has to be earned. */
export function emptyBudget(nowMs: number): RetryBudget {
  return { left: 0, atMs: nowMs };
}

/** As it stands now. A clock that was put back adds nothing. */
export function refilled({ left, atMs }: RetryBudget, terms: RetryBudgetTerms, nowMs: number): RetryBudget {
  const earned = (Math.max(0, nowMs - atMs) / MINUTE_MS) * terms.perMinute;
  return { left: Math.min(ceilingOf(terms), left + earned), atMs: nowMs };
}

export function withFirst(budget: RetryBudget, terms: RetryBudgetTerms, nowMs: number): RetryBudget {
  const now = refilled(budget, terms, nowMs);
  return { ...now, left: Math.min(ceilingOf(terms), now.left + terms.share) };
}

export function withRetry(budget: RetryBudget, terms: RetryBudgetTerms, nowMs: number): RetryBudget {
  const now = refilled(budget, terms, nowMs);
  return { ...now, left: now.left - 1 };
}

/** A retry that was not made after all. */
export function withoutRetry({ left, atMs }: RetryBudget, terms: RetryBudgetTerms): RetryBudget {
  return { left: Math.min(ceilingOf(terms), left + 1), atMs };
}

/** Until when a retry has to wait if nothing is asked for the first time meanwhile; null where it need not. */
export function retryWaitsUntilMs(budget: RetryBudget, terms: RetryBudgetTerms, nowMs: number): number | null {
  const { left } = refilled(budget, terms, nowMs);
  if (left >= 1 - ROUNDING) return null;
  return nowMs + Math.ceil(((1 - left) / terms.perMinute) * MINUTE_MS);
}
