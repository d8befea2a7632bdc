/**
 * How long an exchange has taken, and until when it may: time spent paused counts for neither. Pauses have a bound of
 * their own, so that whoever gave the permit knows when the request is over at the latest (P1).
 */
import { PAUSED_MS_MAX } from '../domain/fetching.js';

export class Stopwatch {
  readonly #clock: { monotonicMs(): number };
  readonly #startedAtMs: number;
  readonly #deadlineMs: number;
  #pausedAtMs: number | null = null;
  #pausedMs = 0;

  constructor(clock: { monotonicMs(): number }, deadlineMs: number) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
    this.#deadlineMs = deadlineMs;
  }

  /** By the clock: of the exchange, or of the pause that it is in. */
  get deadlineAtMs(): number {
    if (this.#pausedAtMs !== null) return this.#pausedAtMs + PAUSED_MS_MAX - this.#pausedMs;
    return this.#startedAtMs + this.#pausedMs + this.#deadlineMs;
  }

  get isPaused(): boolean {
    return this.#pausedAtMs !== null;
  }

  /** Without pauses, but for the one that it is in. */
  get durationMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs - this.#pausedMs;
  }

  pause(): void {
    this.#pausedAtMs ??= this.#clock.monotonicMs();
  }

  /** A pause is counted once, however often it ends. */
  resume(): void {
    if (this.#pausedAtMs === null) return;
    this.#pausedMs += this.#clock.monotonicMs() - this.#pausedAtMs;
    this.#pausedAtMs = null;
  }
}
