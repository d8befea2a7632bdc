/**
 * A host's retries and what they may use up: its own budget, which stands in its snapshot, and what the workbench said of
 * the one of all hosts.
 *
 * A retry is what stands among the rows that wait for a due time after a delivery that failed. While a budget is used up
 * such rows are passed over: they stay where they are, with their due times, and everything else goes on.
 */
import type { QueueEntry } from '../domain/record.js';
import { type RetryBudget, retryWaitsUntilMs, unusedBudget, withFirst, withRetry } from '../policy/retry-budget.js';
import type { Instant } from '../protocols/actor.js';
import type { DeliveryKind } from '../protocols/workbench.js';
import type { Live, Target } from './host-state.js';

export function isRetry({ at, record }: QueueEntry): boolean {
  return at.queue === 'waiting' && record.deliveries > 0;
}

/** Null for a robots.txt, whose retries have a clock of their own. */
export function deliveryOf(target: Target): DeliveryKind | null {
  if (target.what !== 'page') return null;
  return isRetry(target.entry) ? 'retry' : 'first';
}

/** Until when no retry may be asked for; null where one may. Wall clock. */
export function retriesHeldUntilMs(state: Live, now: Instant): number | null {
  const own = retryWaitsUntilMs(budgetOf(state, now), state.props.retryBudget, now.wallMs);
  const { retriesHeldUntilMs: heldMs } = state;
  if (heldMs === null || heldMs <= now.monotonicMs) return own;
  return Math.max(own ?? 0, Math.ceil(now.wallMs + heldMs - now.monotonicMs));
}

/** When the first of its waiting rows may be asked for; null without any. Wall clock. */
export function nextWaitingMs(state: Live, now: Instant): number | null {
  const heldMs = retriesHeldUntilMs(state, now);
  let earliestMs: number | null = null;
  for (const entry of state.queue.waiting) {
    if (entry.at.queue !== 'waiting') continue;
    if (earliestMs !== null && entry.at.dueAtMs >= earliestMs) break;
    const atMs = heldMs !== null && isRetry(entry) ? Math.max(heldMs, entry.at.dueAtMs) : entry.at.dueAtMs;
    earliestMs = Math.min(earliestMs ?? atMs, atMs);
  }
  return earliestMs;
}

export function noteRetry(state: Live, now: Instant): void {
  const retryBudget = withRetry(budgetOf(state, now), state.props.retryBudget, now.wallMs);
  state.snapshot = { ...state.snapshot, retryBudget };
}

export function noteFirst(state: Live, now: Instant): void {
  const retryBudget = withFirst(budgetOf(state, now), state.props.retryBudget, now.wallMs);
  state.snapshot = { ...state.snapshot, retryBudget };
}

function budgetOf({ snapshot, props }: Live, now: Instant): RetryBudget {
  return snapshot.retryBudget ?? unusedBudget(props.retryBudget, now.wallMs);
}
