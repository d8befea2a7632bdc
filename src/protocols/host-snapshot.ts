/**
 * What is stored of a host beside its queue: what its next incarnation must know to be as polite and as patient as
 * this one. The snapshot is small and goes with every part; robots rules are large and go only when they change.
 */
import type { Origin } from '../domain/host.js';
import { type BrowserTime, UNUSED } from '../policy/browser-time.js';
import { type Breaker, CLOSED } from '../policy/breaker.js';
import type { Stamp } from '../policy/elapsed.js';
import { type HostLadder, ON_THE_GROUND } from '../policy/ladder.js';
import type { RetryBudget } from '../policy/retry-budget.js';
import type { OriginRobots } from '../policy/robots/freshness.js';
import { type Throttle, UNTHROTTLED } from '../policy/throttle.js';

export interface HostSnapshot {
  readonly breaker: Breaker;
  readonly throttle: Throttle;
  /** The host asked for silence until then (Retry-After, back-off); wall clock. */
  readonly closedUntilMs: number | null;
  /** When this was written, by the machine as well: null where nothing in it waits for a time, or the machine tells nothing. */
  readonly stamp: Stamp | null;
  /** Of the last response, for the adaptive delay. */
  readonly lastDurationMs: number | null;
  readonly requests: number;
  /**
   * Robots rules have changed: blocked rows from this sequence on have still to be looked at by the new ones. Null:
   * none. It goes with the same part as the rules, and as the rows that were looked at, so that no crash loses it.
   */
  readonly recheckFrom: number | null;
  /** By which tier it is fetched. */
  readonly ladder: HostLadder;
  readonly browserTime: BrowserTime;
  /** What is left of its retries; null: none was made yet. Wall clock. */
  readonly retryBudget: RetryBudget | null;
}

/** The rules of one origin, or that they can't be had. */
export interface RobotsEntry {
  readonly origin: Origin;
  readonly state: OriginRobots;
}

export const UNTOUCHED: HostSnapshot = {
  breaker: CLOSED,
  throttle: UNTHROTTLED,
  closedUntilMs: null,
  stamp: null,
  lastDurationMs: null,
  requests: 0,
  recheckFrom: null,
  ladder: ON_THE_GROUND,
  browserTime: UNUSED,
  retryBudget: null,
};
