/**
 * The workbench's watch over the browser service (B1, B2): whether it may be called, and who is told that it may not.
 *
 * A host that wishes for a browser while the service rests is told so at once, and until when: it parks what needs it and
 * goes on with all else. Nobody stands in line for what can't be had.
 */
import * as policy from '../policy/backend-breaker.js';
import type { Instant } from '../protocols/actor.js';
import type { BackendFacts } from '../protocols/bench.js';
import { type Effect, log } from '../protocols/effects.js';
import type { PermitNumber } from '../protocols/workbench.js';

export interface BackendBooks {
  /** Null: the breaker is switched off. */
  readonly terms: policy.BackendTerms | null;
  breaker: policy.BackendBreaker;
  /** Since the start. */
  failures: number;
  openings: number;
}

export function createBackendBooks(terms: policy.BackendTerms | null): BackendBooks {
  return { terms, breaker: policy.WELL, failures: 0, openings: 0 };
}

export function mayCall({ breaker }: BackendBooks, now: Instant): boolean {
  return policy.mayCall(breaker, now.monotonicMs);
}

/** Until when nobody may call; null when somebody may. @param callMsMax by when a probe must be over */
export function restsUntilMs({ breaker }: BackendBooks, callMsMax: number, now: Instant): number | null {
  if (policy.mayCall(breaker, now.monotonicMs)) return null;
  return breaker.phase === 'open' ? breaker.untilMs : now.monotonicMs + callMsMax;
}

/** Whether nobody else may call from now on. */
export function called(books: BackendBooks, permit: PermitNumber): { readonly isProbe: boolean } {
  books.breaker = policy.called(books.breaker, permit);
  return { isProbe: books.breaker.phase === 'probing' };
}

/** What the end of a call says of the service. Null: nothing. */
export function hear(
  books: BackendBooks,
  permit: PermitNumber,
  word: policy.BackendWord | null,
  now: Instant,
): Effect[] {
  const { terms, breaker: before } = books;
  if (word === 'failed') books.failures += 1;
  if (terms === null) return [];
  books.breaker =
    word === null
      ? policy.lost(before, permit, now.monotonicMs)
      : policy.told(before, permit, word, now.monotonicMs, terms);
  const { breaker } = books;
  if (breaker.phase === before.phase) return [];
  if (breaker.phase === 'closed') return [log('info', 'browser_service_well')];
  if (word === null) return [];
  books.openings += 1;
  return [
    log('warn', 'browser_service_rests', {
      forMs: terms.restMs,
      after: before.phase === 'probing' ? 'probe' : 'failures',
    }),
  ];
}

export function describe({ terms, breaker, failures, openings }: BackendBooks, now: Instant): BackendFacts {
  const inARow = breaker.phase === 'closed' ? breaker.failures : null;
  const untilMs = breaker.phase === 'open' ? now.wallMs + breaker.untilMs - now.monotonicMs : null;
  return { breaker: terms === null ? 'off' : breaker.phase, inARow, restsUntilMs: untilMs, failures, openings };
}
