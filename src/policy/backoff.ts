/**
 * Exponential back-off with jitter: the one formula behind retries, throttling, quarantine and robots.
 *
 * Jitter keeps what failed together from coming back together. It moves a delay by at most a fifth to either side, so
 * that the schedule an operator reads is still the schedule that is kept.
 */

/** Largest part of a delay that jitter adds or takes away. */
export const JITTER_SHARE = 0.2;

/** A delay moved by jitter; `draw` is in [0, 1), and 0.5 leaves it as it is. Whole milliseconds. */
export function jittered(delayMs: number, draw: number): number {
  return Math.round(delayMs * (1 + JITTER_SHARE * (2 * draw - 1)));
}

export interface Backoff {
  readonly firstMs: number;
  /** Never passed, jitter included. */
  readonly capMs: number;
}

/** `firstMs` × 2^`doublings`, jittered, at most `capMs`. Any number of doublings is fine. */
export function backoffMs({ firstMs, capMs }: Backoff, doublings: number, draw: number): number {
  return Math.min(capMs, jittered(Math.min(capMs, firstMs * 2 ** doublings), draw));
}
