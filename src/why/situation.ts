/**
 * What stands now with a URL: one phase, from which the verdict and the next step are told, so that the two can not
 * contradict each other.
 */
import type { Attempt } from '../domain/outcome.js';
import type { DeadLetter, UrlRecord } from '../domain/record.js';
import type { UrlRefusal } from '../domain/url.js';
import { askAgainAtMs, isParkedForBackend } from '../policy/parking.js';
import { retryWaitsUntilMs } from '../policy/retry-budget.js';
import { pages } from '../policy/robots/freshness.js';
import type { RuleFacts, WhyFacts } from './facts.js';

export type Situation =
  | { readonly is: 'no_url'; readonly refusal: UrlRefusal }
  | { readonly is: 'unseen'; readonly refusal: NonNullable<RuleFacts['refusal']> | null; readonly disallowed: boolean }
  | { readonly is: 'in_flight'; readonly record: UrlRecord; readonly sinceMs: number }
  | { readonly is: 'queued'; readonly record: UrlRecord }
  /** `dueAtMs` null: its place was not found among the rows looked at. */
  | { readonly is: 'waiting'; readonly record: UrlRecord; readonly dueAtMs: number | null }
  /** `untilMs` null: robots.txt, or the browser service, is asked for as soon as its host may be. */
  | {
      readonly is: 'parked';
      readonly for: 'robots' | 'browser';
      readonly record: UrlRecord;
      readonly untilMs: number | null;
    }
  | { readonly is: 'dead'; readonly record: UrlRecord; readonly letter: DeadLetter | null }
  | { readonly is: 'blocked'; readonly record: UrlRecord }
  /** `last` null: nothing is kept of how it ended. */
  | { readonly is: 'settled'; readonly record: UrlRecord; readonly last: Attempt | null };

export function situationOf(facts: WhyFacts): Situation {
  const { spelling, record, live } = facts;
  if (!spelling.ok) return { is: 'no_url', refusal: spelling.refusal };
  if (record === null) {
    const disallowed = facts.robots?.decision?.allowed === false;
    return { is: 'unseen', refusal: facts.rules?.refusal ?? null, disallowed };
  }
  const sinceMs = live?.inFlightSinceMs ?? null;
  if (sinceMs !== null) return { is: 'in_flight', record, sinceMs };
  switch (record.state) {
    case 'queued':
      return { is: 'queued', record };
    case 'waiting':
      return { is: 'waiting', record, dueAtMs: dueAtMsOf(facts) };
    case 'parked':
      return isParkedForBackend(record)
        ? { is: 'parked', for: 'browser', record, untilMs: browserAtMs(record, facts) }
        : { is: 'parked', for: 'robots', record, untilMs: parkedUntilMs(facts) };
    case 'dead':
      return { is: 'dead', record, letter: facts.dead };
    case 'blocked_by_robots':
      return { is: 'blocked', record };
    case 'active':
    case 'redirected':
    case 'soft_missing':
    case 'gone_candidate':
    case 'refused':
      return { is: 'settled', record, last: record.attempts.at(-1) ?? null };
  }
}

/** Which budget a retry waits for beyond its due time, and until when about; null where none keeps it. */
export function budgetWaitOf(
  { host, terms, live, nowMs }: WhyFacts,
  { deliveries }: UrlRecord,
  dueAtMs: number | null,
): { readonly of: 'host' | 'all'; readonly untilMs: number } | null {
  if (deliveries === 0) return null;
  const own = host?.snapshot.retryBudget ?? null;
  const ownMs = own === null || terms === null ? null : retryWaitsUntilMs(own, terms.retryBudget, nowMs);
  const allMs = live?.retriesWaitUntilMs ?? null;
  const untilMs = Math.max(ownMs ?? 0, allMs ?? 0);
  if (untilMs <= Math.max(nowMs, dueAtMs ?? nowMs)) return null;
  return { of: ownMs === untilMs ? 'host' : 'all', untilMs };
}

function dueAtMsOf({ standing }: WhyFacts): number | null {
  return standing?.at?.queue === 'waiting' ? standing.at.dueAtMs : null;
}

function parkedUntilMs({ robots, nowMs }: WhyFacts): number | null {
  if (robots === null) return null;
  const { may } = pages(robots.state, nowMs);
  return typeof may === 'string' ? null : may.parkedUntil;
}

/** When it is asked for again, as far as that is known: the service may be given a rest until then. */
function browserAtMs(record: UrlRecord, { live, nowMs }: WhyFacts): number | null {
  const atMs = Math.max(askAgainAtMs(record), live?.browserRestsUntilMs ?? 0);
  return atMs > nowMs ? atMs : null;
}

/** When its host may be asked again; null when that is at once. */
export function hostOpensAtMs({ host, live, nowMs }: WhyFacts): number | null {
  const breaker = host?.snapshot.breaker;
  const opensAtMs = Math.max(
    host?.snapshot.closedUntilMs ?? 0,
    breaker?.phase === 'open' ? breaker.untilMs : 0,
    live?.gateOpensAtMs ?? 0,
  );
  return opensAtMs > nowMs ? opensAtMs : null;
}
