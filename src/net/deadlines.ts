/**
 * Total deadlines for all exchanges, on one timer.
 *
 * A timer per request is a cost that a fast crawl feels, and no page cares about a twentieth of a second: one sweep
 * every 50 ms looks at all exchanges under way, and rests while there are none.
 *
 * 1. Nothing is expired before its instant, and nothing later than one interval behind it.
 * 2. Each is expired once; it may be added again with a later instant.
 */
const SWEEP_INTERVAL_MS = 50;

export interface Timed {
  readonly deadlineAtMs: number;
  expire(): void;
}

export class Deadlines {
  readonly #clock: { monotonicMs(): number };
  readonly #timed = new Set<Timed>();
  #sweep: ReturnType<typeof setInterval> | null = null;

  constructor(clock: { monotonicMs(): number }) {
    this.#clock = clock;
  }

  add(timed: Timed): void {
    this.#timed.add(timed);
    this.#sweep ??= setInterval(() => this.#expireDue(), SWEEP_INTERVAL_MS);
  }

  delete(timed: Timed): void {
    this.#timed.delete(timed);
  }

  #expireDue(): void {
    // The timer stops in the first sweep that finds nothing, not when the last one leaves: the next is often near.
    if (this.#timed.size === 0 && this.#sweep !== null) {
      clearInterval(this.#sweep);
      this.#sweep = null;
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    for (const timed of this.#timed) {
      if (timed.deadlineAtMs > nowMs) continue;
      this.#timed.delete(timed);
      timed.expire();
    }
  }
}
