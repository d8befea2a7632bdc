/** Scripted time and chance: an instant is what a test says it is. */
import type { Instant } from '../../../src/protocols/actor.js';

/** Between the two clocks, so that no behaviour can take one for the other. */
export const WALL_AHEAD_MS = 1_700_000_000_000;

/** The instant at a monotonic time; the wall clock runs beside it. */
export function at(monotonicMs: number, draw = 0.5): Instant {
  return { monotonicMs, wallMs: WALL_AHEAD_MS + monotonicMs, draw: () => draw };
}

/** Numbers in [0, 1) from a seed, the same for ever (mulberry32). */
export function drawsFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
