/**
 * A host's breaker (B3): after a run of failures the host is left alone, then asked once to see whether it is back.
 *
 * Closed, it counts failures in a row. At the threshold it opens for a quarantine; when that is over it is half open
 * and lets exactly one probe through. The probe's success closes it; its failure opens it for twice as long. Times are
 * of the wall clock, since the state is stored beside the host; a quarantine that lies further ahead than any can be
 * long (the clock ran backwards) is cut to the longest one. Nothing here touches the host's queue.
 */
import { type Backoff, backoffMs } from './backoff.js';

export type Breaker =
  | { readonly phase: 'closed'; readonly failures: number }
  | { readonly phase: 'open'; readonly untilMs: number; readonly openings: number }
  /** The one probe is out. */
  | { readonly phase: 'half_open'; readonly openings: number };

export const CLOSED: Breaker = { phase: 'closed', failures: 0 };

/** Four failures in a row happen to sound hosts under load; a fifth is a pattern. */
export const BREAKER_FAILURES_MAX = 5;

/** From a restart of the server to the longest that an outage should go unnoticed to have ended. */
export const QUARANTINE: Backoff = { firstMs: 30_000, capMs: 3_600_000 };

/** When a host is given a rest, and for how long: options of the operator's. */
export interface BreakerTerms {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  readonly quarantine: Backoff;
}

export const BREAKER_TERMS: BreakerTerms = { failuresMax: BREAKER_FAILURES_MAX, quarantine: QUARANTINE };

/** Openings beyond this change nothing; the count stays small enough to store. */
const OPENINGS_MAX = 32;

export type BreakerAnswer =
  | { readonly may: 'ask'; readonly state: Breaker }
  /** Ask once, and tell `succeeded`, `failed` or `lost` what came of it. */
  | { readonly may: 'probe'; readonly state: Breaker }
  /** `until` is a wall-clock time; null means until the outcome of the probe that is out is told. */
  | { readonly may: { readonly until: number | null }; readonly state: Breaker };

/** May the host be asked? An answer of `probe` must be stored at once: it is given only once. */
export function ask(state: Breaker, nowWallMs: number): BreakerAnswer {
  if (state.phase === 'closed') return { may: 'ask', state };
  if (state.phase === 'half_open') return { may: { until: null }, state };
  if (nowWallMs >= state.untilMs) return { may: 'probe', state: { phase: 'half_open', openings: state.openings } };
  const untilMs = Math.min(state.untilMs, nowWallMs + QUARANTINE.capMs);
  return { may: { until: untilMs }, state: untilMs === state.untilMs ? state : { ...state, untilMs } };
}

/** A visit's outcome counts for the host. Late ones, of visits from before an opening, don't close it: only a probe does. */
export function succeeded(state: Breaker): Breaker {
  return state.phase === 'open' || (state.phase === 'closed' && state.failures === 0) ? state : CLOSED;
}

/** A visit's outcome counts against the host. `draw` is in [0, 1). */
export function failed(state: Breaker, nowWallMs: number, draw: number, terms = BREAKER_TERMS): Breaker {
  if (state.phase === 'open') return state;
  if (state.phase === 'half_open') return opened(state.openings + 1, nowWallMs, draw, terms);
  const failures = state.failures + 1;
  return failures < terms.failuresMax ? { phase: 'closed', failures } : opened(1, nowWallMs, draw, terms);
}

/** The probe's outcome never came, or says nothing about the host: as before it, with a quarantine of the same length. */
export function lost(state: Breaker, nowWallMs: number, draw: number, terms = BREAKER_TERMS): Breaker {
  return state.phase === 'half_open' ? opened(state.openings, nowWallMs, draw, terms) : state;
}

function opened(openings: number, nowWallMs: number, draw: number, { quarantine }: BreakerTerms): Breaker {
  const untilMs = nowWallMs + backoffMs(quarantine, openings - 1, draw);
  return { phase: 'open', untilMs, openings: Math.min(OPENINGS_MAX, openings) };
}
