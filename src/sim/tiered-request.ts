/** Requests of simulated crawls as their clients made them, and the deaths that may have made them forget. */
import type { Tier } from '../domain/tier.js';
import type { Owner } from './events.js';

/** One request as its client made it. */
export interface TieredRequest {
  readonly owner: Owner;
  readonly url: string;
  readonly tier: Tier;
  readonly beganAtMs: number;
  /** Null while it is under way, or where its client died; `none` where no status came. */
  answer: number | 'none' | null;
  endedAtMs: number | null;
  /** The server has answered with a door. */
  isDoor: boolean;
  /** The server has failed at it, in a way that uses a delivery. */
  isFailure: boolean;
}

/** What a life learned in its last moments is not known to the next one. */
export function isForgotten({ owner, endedAtMs }: TieredRequest, deaths: ReadonlyMap<Owner, Death>): boolean {
  const death = deaths.get(owner);
  return endedAtMs === null || (death !== undefined && endedAtMs > death.atMs - death.graceMs);
}

/** The end of a life that came unasked: what it learned in the last moments is known to nobody. */
export interface Death {
  readonly atMs: number;
  readonly graceMs: number;
}
