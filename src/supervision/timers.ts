/**
 * All timers of a kernel: one heap, and one `setTimeout` for the earliest.
 *
 * Node's timers fire up to a millisecond early, and at once when asked for more than 2^31-1 ms. So the clock has the
 * last word: whatever fires looks at the monotonic time, lets go of what is due and sleeps again for the rest.
 *
 * Invariants: 1. nothing is let go before its time; 2. of two timers the one due earlier goes first, of two due at
 * once the one set first; 3. a cancelled timer never fires; 4. no timer is set for longer than `SLEEP_MS_MAX`.
 */
import type { Clock } from '../protocols/ports.js';

/** The longest that setTimeout can sleep. */
export const SLEEP_MS_MAX = 2 ** 31 - 1;

export class Timer {
  /** Where it stands in the heap; null when it has fired or was cancelled. */
  place: number | null = null;

  constructor(
    readonly atMs: number,
    readonly order: number,
    readonly due: () => void,
  ) {}
}

type Sleep =
  | { readonly phase: 'idle' }
  | { readonly phase: 'asleep'; readonly untilMs: number; readonly handle: ReturnType<typeof setTimeout> }
  | { readonly phase: 'firing' };

export class Timers {
  private readonly heap: Timer[] = [];
  private order = 0;
  private sleep: Sleep = { phase: 'idle' };

  constructor(
    private readonly clock: Clock,
    /** Told of what a timer threw; the others go on. */
    private readonly stray: (error: unknown) => void,
  ) {}

  get size(): number {
    return this.heap.length;
  }

  /** Calls `due` at or after a monotonic time, never within this call. */
  at(atMs: number, due: () => void): Timer {
    const timer = new Timer(atMs, this.order++, due);
    timer.place = this.heap.length;
    this.heap.push(timer);
    this.rise(timer, timer.place);
    this.arm();
    return timer;
  }

  after(delayMs: number, due: () => void): Timer {
    return this.at(this.clock.monotonicMs() + delayMs, due);
  }

  cancel(timer: Timer): void {
    if (timer.place !== null) this.remove(timer.place);
    // The sleep stays: it ends early, finds nothing due and sleeps on. Only an empty heap need not be waited for.
    if (this.heap.length === 0) this.wakeNoMore();
  }

  /** Forgets all of them. */
  clear(): void {
    for (const timer of this.heap) timer.place = null;
    this.heap.length = 0;
    this.wakeNoMore();
  }

  private fire(): void {
    this.sleep = { phase: 'firing' };
    const nowMs = this.clock.monotonicMs();
    for (let first = this.heap[0]; first !== undefined && first.atMs <= nowMs; first = this.heap[0]) {
      this.remove(0);
      try {
        first.due();
      } catch (error) {
        this.stray(error);
      }
    }
    this.sleep = { phase: 'idle' };
    this.arm();
  }

  private arm(): void {
    const first = this.heap[0];
    if (first === undefined || this.sleep.phase === 'firing') return;
    if (this.sleep.phase === 'asleep') {
      if (this.sleep.untilMs <= first.atMs) return;
      clearTimeout(this.sleep.handle);
    }
    const sleepMs = Math.min(SLEEP_MS_MAX, Math.max(0, Math.ceil(first.atMs - this.clock.monotonicMs())));
    this.sleep = { phase: 'asleep', untilMs: first.atMs, handle: setTimeout(() => this.fire(), sleepMs) };
  }

  private wakeNoMore(): void {
    if (this.sleep.phase !== 'asleep') return;
    clearTimeout(this.sleep.handle);
    this.sleep = { phase: 'idle' };
  }

  // -- the heap: four children a node, half as deep as a binary one ---------------------------------------------

  private remove(place: number): void {
    const { heap } = this;
    const gone = heap[place] as Timer;
    gone.place = null;
    const last = heap.pop() as Timer;
    if (last === gone) return;
    heap[place] = last;
    last.place = place;
    this.rise(last, place);
    this.sink(last, last.place);
  }

  private rise(timer: Timer, from: number): void {
    const { heap } = this;
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const parent = heap[above] as Timer;
      if (!isEarlier(timer, parent)) break;
      heap[place] = parent;
      parent.place = place;
      place = above;
    }
    heap[place] = timer;
    timer.place = place;
  }

  private sink(timer: Timer, from: number): void {
    const { heap } = this;
    let place = from;
    for (;;) {
      const firstChild = place * 4 + 1;
      let earliest = timer;
      for (let child = firstChild; child < firstChild + 4 && child < heap.length; child++) {
        const candidate = heap[child] as Timer;
        if (isEarlier(candidate, earliest)) earliest = candidate;
      }
      if (earliest === timer) break;
      const below = earliest.place as number;
      heap[place] = earliest;
      earliest.place = place;
      place = below;
    }
    heap[place] = timer;
    timer.place = place;
  }
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
