/**
 * The clock of a crawl: both hands of it never run backwards (P8).
 *
 * The monotonic hand can't. The wall clock can be put back, by a person or by the network: then it goes on from where
 * it was, a tenth slower, until the world has caught up. Everything that waits for a time of it waits no longer than it
 * must, and what is written down stands in the order in which it happened. A clock that is put forward is followed at
 * once: what must not come early for that is kept on the monotonic hand. One that was a day ahead was wrong, and is
 * left.
 */
import type { Clock } from '../protocols/ports.js';

/** What both hands showed at once. */
export interface Reading {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** A clock that is ahead goes at this rate. */
const SLOWED = 0.9;

/** Nothing that is waited for lies further ahead. */
const AHEAD_MS_MAX = 24 * 3_600_000;

/** Hands that were read further apart than this were not read at once: the process was stopped in between. */
const APART_MS_MAX = 100;
const READINGS_MAX = 3;

/** A smaller step is told to nobody. */
const STEP_MS_MIN = 1_000;

/**
 * `from` is what the clock of an earlier life would show now, null where nothing is known of it. `stepped` hears of each
 * step that the source makes, in ms; it must not throw.
 */
export function steadyClock(source: Clock, from: Reading | null, stepped: (byMs: number) => void): Clock {
  const first = readBoth(source);
  let last = from ?? first;
  let leadMs = first.wallMs - first.monotonicMs;
  return {
    monotonicMs: () => source.monotonicMs(),
    wallMs() {
      const { monotonicMs, wallMs: real } = readBoth(source);
      const slowed = last.wallMs + (monotonicMs - last.monotonicMs) * SLOWED;
      if (real >= slowed || slowed - real > AHEAD_MS_MAX) last = { monotonicMs, wallMs: real };
      const wallMs = last.monotonicMs === monotonicMs ? last.wallMs : Math.floor(slowed);
      const stepMs = real - monotonicMs - leadMs;
      if (Math.abs(stepMs) >= STEP_MS_MIN) {
        leadMs = real - monotonicMs;
        stepped(Math.round(stepMs));
      }
      return wallMs;
    },
  };
}

/** As near to one moment as can be had. */
function readBoth(source: Clock): Reading {
  for (let tries = 1; ; tries++) {
    const monotonicMs = source.monotonicMs();
    const wallMs = source.wallMs();
    if (tries === READINGS_MAX || source.monotonicMs() - monotonicMs <= APART_MS_MAX) return { monotonicMs, wallMs };
  }
}
