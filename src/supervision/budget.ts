/**
 * How much crashing is borne: a sliding window of restarts, and the wait before each.
 *
 * Invariants: 1. within any window of `withinMs` at most `restarts` restarts are granted; 2. the wait doubles with
 * each restart in the window and is back at `firstMs` when the window is empty.
 */
import type { BackOff, RestartBudget } from './specification.js';

export class Budget {
  /** When restarts were granted, oldest first; never more than `restarts`. */
  private times: number[] = [];

  constructor(private readonly budget: RestartBudget) {}

  /** Asks for a restart at a monotonic time: the how-manieth in the window it is, from 1 on, or null when over. */
  spend(nowMs: number): number | null {
    const fromMs = nowMs - this.budget.withinMs;
    this.times = this.times.filter((timeMs) => timeMs > fromMs);
    if (this.times.length >= this.budget.restarts) return null;
    this.times.push(nowMs);
    return this.times.length;
  }
}

/** How long the n-th restart of a window waits, n from 1 on. */
export function backOffMs(backoff: BackOff, nth: number): number {
  return Math.min(backoff.maxMs, backoff.firstMs * 2 ** (nth - 1));
}
