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
}

/** The end of a life that came unasked: what it learned in the last moments is known to nobody. */
export interface Death {
  readonly atMs: number;
  readonly graceMs: number;
}
