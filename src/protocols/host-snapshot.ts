/** What is stored of a host beside its queue: what its next incarnation must know to be as polite and as patient as this one. */
import type { Origin } from '../domain/host.js';
import type { BreakerState } from '../policy/breaker.js';
import type { RobotsState } from '../policy/robots/freshness.js';
import type { ThrottleState } from '../policy/throttle.js';

export interface HostSnapshot {
  readonly robots: readonly { readonly origin: Origin; readonly state: RobotsState }[];
  readonly breaker: BreakerState;
  readonly throttle: ThrottleState;
  /** The host asked for silence until then (Retry-After, back-off). */
  readonly closedUntilWallMs: number | null;
  readonly lastDurationMs: number | null;
  readonly requests: number;
}
