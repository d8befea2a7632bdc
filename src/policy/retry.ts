/**
 * What follows a failed delivery of a URL (R1): another one, later, or the dead letters.
 *
 * Every delivery that failed on the URL's or the host's account is counted; what waits for a host, a backend or
 * robots.txt is not. Crashes are counted apart and bounded tighter: a URL that kills what handles it is a poison.
 */
import type { Code } from '../domain/outcome.js';
import { jittered } from './backoff.js';

/** A blip, a restart, a deployment: by the last of them most of what heals by itself has healed. */
export const RETRY_DELAYS_MS: readonly number[] = [2_000, 10_000, 30_000, 60_000, 120_000];

/** Some nine minutes with the delays above; what is still failing then needs a person or a recrawl. */
export const DELIVERIES_MAX = 8;

/** One crash of a worker may be bad luck. */
export const WORKER_CRASHES_MAX = 2;

/** A death of the process is noted against every URL in hand, most of them innocent: one more is forgiven. */
export const PROCESS_DEATHS_MAX = 3;

export type AfterFailure = { readonly next: 'retry'; readonly dueInMs: number } | { readonly next: 'dead' };

export interface FailedDelivery {
  /** Deliveries used since the URL was last admitted, this one included: 1 or more. */
  readonly deliveries: number;
  /** Delay before the second delivery, the third, …; the last one repeats. Not empty. */
  readonly schedule: readonly number[];
  readonly deliveriesMax: number;
  /** In [0, 1). */
  readonly draw: number;
}

export function afterFailure({ deliveries, schedule, deliveriesMax, draw }: FailedDelivery): AfterFailure {
  if (deliveries >= deliveriesMax) return DEAD;
  const delayMs = schedule[Math.min(deliveries, schedule.length) - 1];
  if (delayMs === undefined) throw new RangeError(`no retry delay for delivery ${deliveries} of ${deliveriesMax}`);
  return { next: 'retry', dueInMs: jittered(delayMs, draw) };
}

const DEAD: AfterFailure = { next: 'dead' };

/** After crashes on one URL since its last completed visit, the present one included. */
export function isPoison(crashes: { readonly workerCrashes: number; readonly processDeaths: number }): boolean {
  return crashes.workerCrashes >= WORKER_CRASHES_MAX || crashes.processDeaths >= PROCESS_DEATHS_MAX;
}

/** After a 304 to a plain GET: one plain retry. A second such answer in a row is final. */
export function afterUnaskedUnmodified(previousCode: Code | null, delivery: FailedDelivery): AfterFailure {
  return previousCode === 'unmodified_without_validators' ? DEAD : afterFailure(delivery);
}
