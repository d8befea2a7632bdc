/**
 * Time that only a test moves: the global timers are patched, turns of the event loop stay real.
 *
 * `settle` lets everything happen that needs no time; `advance` goes from timer to timer in order and settles after
 * each. Real timers of the test runner itself are untouched, for they were set before.
 */
import type { Clock } from '../../src/protocols/ports.js';

interface Waiting {
  readonly id: number;
  readonly atMs: number;
  readonly fire: () => void;
}

const ROUNDS = 24;

export class VirtualTime implements Clock {
  private nowMs = 1_000;
  private ids = 0;
  private waiting: Waiting[] = [];
  /** Every delay that was asked of setTimeout. */
  readonly asked: number[] = [];
  /** Timers fire this much before their time, as Node's do. */
  earlyMs = 0;
  private readonly real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

  monotonicMs(): number {
    return this.nowMs;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.nowMs;
  }

  /** Time passes within a turn. */
  pass(ms: number): void {
    this.nowMs += ms;
  }

  install(): void {
    const set = (fire: () => void, delayMs = 0): number => {
      this.asked.push(delayMs);
      // Node's own rule: what does not fit in 31 bits fires at once.
      const sleepMs = delayMs > 2 ** 31 - 1 || delayMs < 1 ? 1 : Math.trunc(delayMs);
      const id = ++this.ids;
      this.waiting.push({ id, atMs: this.nowMs + sleepMs - this.earlyMs, fire });
      return id;
    };
    const clear = (id: number | undefined): void => {
      this.waiting = this.waiting.filter((timer) => timer.id !== id);
    };
    globalThis.setTimeout = set as unknown as typeof setTimeout;
    globalThis.clearTimeout = clear as unknown as typeof clearTimeout;
  }

  uninstall(): void {
    Object.assign(globalThis, this.real);
  }

  async settle(rounds = ROUNDS): Promise<void> {
    for (let i = 0; i < rounds; i++) await new Promise<void>((next) => setImmediate(next));
  }

  async advance(byMs: number): Promise<void> {
    const untilMs = this.nowMs + byMs;
    await this.settle();
    for (;;) {
      const due = this.waiting
        .filter((timer) => timer.atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs || a.id - b.id)[0];
      if (due === undefined) break;
      this.waiting = this.waiting.filter((timer) => timer !== due);
      this.nowMs = Math.max(this.nowMs, due.atMs);
      due.fire();
      await this.settle();
    }
    this.nowMs = untilMs;
  }
}
