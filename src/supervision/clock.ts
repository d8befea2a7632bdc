/**
 * What the machine knows of time beside its clocks: how long it has been up, and which of its starts this is.
 *
 * Both are Linux's; elsewhere nothing is known, and the wall clock has to be believed. What the clock of a crawl showed
 * is noted in its directory, so that the next life of the crawl can go on from there (P8); a note that is not there, is
 * broken or of an earlier start of the machine says nothing, and one that can't be written is missed by nobody but a
 * crawl whose clock is put back between two lives.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine, Stamp } from '../policy/elapsed.js';
import type { Clock } from '../protocols/ports.js';
import type { Reading } from './steady-clock.js';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const BOOT_DIGITS = 12;
const NOTE_FILE = 'clock.json';

/** Undefined where the machine tells nothing. On Linux `hrtime` counts from its start, without what it slept. */
export function thisMachine(clock: Pick<Clock, 'monotonicMs'>): Machine | undefined {
  try {
    const boot = Number.parseInt(readFileSync(BOOT_ID_FILE, 'utf8').replaceAll('-', '').slice(0, BOOT_DIGITS), 16);
    if (!Number.isSafeInteger(boot)) return undefined;
    return { boot, uptimeAtZeroMs: Number(process.hrtime.bigint()) / 1e6 - clock.monotonicMs() };
  } catch {
    return undefined;
  }
}

/** What the clock that left the note would show now; null where there is none that says anything. */
export function readClockNote(directory: string, machine: Machine | undefined, clock: Clock): Reading | null {
  const note = machine === undefined ? null : readNote(join(directory, NOTE_FILE));
  if (machine === undefined || note?.boot !== machine.boot) return null;
  const monotonicMs = clock.monotonicMs();
  const elapsedMs = machine.uptimeAtZeroMs + monotonicMs - note.uptimeMs;
  return elapsedMs < 0 ? null : { monotonicMs, wallMs: note.wallMs + Math.floor(elapsedMs) };
}

/** True if it was written. */
export function writeClockNote(directory: string, stamp: Stamp): boolean {
  try {
    writeFileSync(join(directory, NOTE_FILE), `${JSON.stringify(stamp)}\n`);
    return true;
  } catch {
    return false;
  }
}

function readNote(file: string): Stamp | null {
  try {
    const { boot, uptimeMs, wallMs } = JSON.parse(readFileSync(file, 'utf8')) as Stamp;
    return [boot, uptimeMs, wallMs].every(Number.isFinite) ? { boot, uptimeMs, wallMs } : null;
  } catch {
    return null;
  }
}
