/**
 * Kills that the server aims.
 *
 * A kill at a random time hardly ever hits the few milliseconds that matter. The server knows them: a request has just
 * come, half of its answer is out, the answer is complete. It counts requests and sends SIGKILL at the chosen moment,
 * and its own log says when, by the same clock as everything else.
 *
 * A pid is killed once: a number that the system has given to another process meanwhile is safe.
 */
import { readFileSync } from 'node:fs';
import type { Witness } from './witness.js';

export const MOMENTS = ['request', 'middle', 'after'] as const;
export type Moment = (typeof MOMENTS)[number];

/** A process, by number or by a file that holds the number when the time comes. */
export type Victim = { readonly pid: number } | { readonly pidFile: string };

/** One kill, at the `requests`-th request from now. */
export interface Shot {
  readonly victim: Victim;
  readonly requests: number;
  readonly moment: Moment;
}

/** Kills again and again, at each `everyRequests`-th request; `any` takes the moments in turn. */
export interface Series {
  readonly victim: Victim;
  readonly everyRequests: number;
  readonly moment: Moment | 'any';
}

export interface Killer {
  /** Replaces the shot that was armed before. */
  arm(shot: Shot): void;
  disarm(): void;
  /** Counts a request; the moment of its answer at which to fire, if any. */
  count(): Shot | undefined;
  fire(shot: Shot): void;
  readonly fired: () => number;
  /** Shots that found no process to kill. */
  readonly missed: () => number;
}

export function openKiller(witness: Witness, series?: Series): Killer {
  let armed: Shot | undefined;
  let left = 0;
  let fired = 0;
  let missed = 0;
  let last: number | undefined;

  const arm = (shot: Shot): void => {
    armed = shot;
    left = shot.requests;
  };
  const armNext = (): void => {
    if (series === undefined) return;
    const moment = series.moment === 'any' ? (MOMENTS[fired % MOMENTS.length] ?? 'request') : series.moment;
    arm({ victim: series.victim, requests: series.everyRequests, moment });
  };
  armNext();

  return {
    arm,
    disarm: () => {
      armed = undefined;
    },
    count() {
      if (armed === undefined || --left > 0) return undefined;
      const shot = armed;
      armed = undefined;
      return shot;
    },
    fire(shot) {
      const at = witness.now();
      const pid = pidOf(shot.victim);
      if (pid !== undefined && pid !== last && killed(pid)) {
        last = pid;
        fired += 1;
        witness.mark('K', at);
      } else missed += 1;
      if (armed === undefined) armNext();
    },
    fired: () => fired,
    missed: () => missed,
  };
}

function pidOf(victim: Victim): number | undefined {
  if ('pid' in victim) return toPid(victim.pid);
  try {
    return toPid(Number(readFileSync(victim.pidFile, 'utf8').trim()));
  } catch {
    return undefined; // not written yet: the crawler is between two lives
  }
}

/** Neither this process nor the system's first, nor a group. */
function toPid(pid: number): number | undefined {
  return Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid ? pid : undefined;
}

function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
