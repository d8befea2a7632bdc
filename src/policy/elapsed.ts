/**
 * Wall-clock times that an earlier life has stored, read by this one (P8).
 *
 * What is stored is a time of the wall clock, and that clock may be put forward or back between two lives: a silence
 * that a host has asked for would look over, or last for hours. The machine knows better as long as it is not started
 * anew: beside the time stands how long the machine had been up then. The step that the wall clock has made meanwhile
 * is taken out of what was stored. Where nothing can be told of it, after a start of the machine, the wall clock is
 * believed, within the bound that every wait has.
 */

/** Of the machine that the process runs on; a monotonic time + `uptimeAtZeroMs` is how long it has been up. */
export interface Machine {
  /** A number of this start of the machine: times up to it say nothing about times since. */
  readonly boot: number;
  readonly uptimeAtZeroMs: number;
}

/** One moment, by the machine and by the wall clock. */
export interface Stamp {
  readonly boot: number;
  readonly uptimeMs: number;
  readonly wallMs: number;
}

interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Both clocks are read one after the other, and one of them in whole milliseconds: less than this is no step. */
const STEP_MS_MIN = 5;

export function stampOf(machine: Machine, now: Moment): Stamp {
  return { boot: machine.boot, uptimeMs: Math.floor(machine.uptimeAtZeroMs + now.monotonicMs), wallMs: now.wallMs };
}

/** So much the wall clock has been put forward since (back: negative), in ms; 0 where that can't be told. */
export function stepSince(stamp: Stamp | null, machine: Machine | undefined, now: Moment): number {
  if (stamp === null || machine === undefined || stamp.boot !== machine.boot) return 0;
  const elapsedMs = machine.uptimeAtZeroMs + now.monotonicMs - stamp.uptimeMs;
  if (elapsedMs < 0) return 0;
  const stepMs = now.wallMs - stamp.wallMs - elapsedMs;
  return Math.abs(stepMs) < STEP_MS_MIN ? 0 : Math.ceil(stepMs) + STEP_MS_MIN;
}
