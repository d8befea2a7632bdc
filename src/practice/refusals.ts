/**
 * How long a host must be left alone for what it has refused, as far as its own log can tell.
 *
 * Two rows are counted from the server's side: answers that say "slow down" without a time (P3), and failures (B3). The
 * crawler has seen at least these, and perhaps more that never reached the server, so a count here is never above its
 * own, and the floor that follows from it is one that must hold. What the crawler may not have learned, or may have
 * forgotten, ends a row: then nothing is demanded.
 */
import type { Span } from './knowledge.js';

/** How patient the crawler says that it is. */
export interface PatienceTerms {
  /** The least back-off after the first answer that says "slow down", and the most after any; ms. Twice as long each time. */
  readonly throttle: { readonly firstMs: number; readonly capMs: number };
  /** Failures in a row that open the host's breaker, and its quarantines likewise. */
  readonly breaker: { readonly failures: number; readonly firstMs: number; readonly capMs: number };
  /** The part of each that jitter may take away. */
  readonly jitterShare: number;
}

/** What an answer means for the rows. `unreached`: none came, which may be a fault of the way there. */
export type Answered = 'success' | 'failure' | 'unreached' | 'throttled' | 'unknown';

/** A time before which nothing may be asked, and the rule that says so. */
export interface RefusalFloor {
  readonly rule: 'throttle' | 'breaker-open';
  readonly until: number;
}

export interface Refusals {
  answered(what: Answered, span: Span): void;
  /** The crawler may have forgotten what ended last. */
  lapsed(at: number): void;
  floors(): readonly RefusalFloor[];
}

/** Whose fault it is that no answer came is said after so long at most (B5): what dies before that has charged nobody. */
const SUSPENSE_MS = 5_000;

/** A refusal, and by when the crawler has surely taken it for one. */
interface Refused extends Span {
  readonly judgedBy: number;
}

/** What ended so shortly before the crawler's part crashed may not have been written down. */
const LAPSE_MS = 1_000;

export function openRefusals(terms: PatienceTerms, isDoubted: (span: Span) => boolean): Refusals {
  let throttled: Refused[] = [];
  let failures: Refused[] = [];
  /** Spans of the failures that opened it: the first opening, then each failed probe. */
  let openings: Refused[] = [];

  const leastMs = (firstMs: number, capMs: number, doublings: number): number =>
    Math.min(capMs, firstMs * 2 ** Math.min(doublings, 32)) * (1 - terms.jitterShare);

  const isInDoubt = ({ startedAt, judgedBy }: Refused): boolean => isDoubted({ startedAt, endedAt: judgedBy });

  const known = (row: Refused[]): Refused[] => {
    const lost = row.findLastIndex(isInDoubt);
    return lost < 0 ? row : row.slice(lost + 1);
  };

  const refresh = (): void => {
    throttled = known(throttled);
    failures = known(failures);
    if (openings.some(isInDoubt)) openings = [];
  };

  return {
    answered(what, span) {
      refresh();
      if (what === 'success' || what === 'unknown') {
        throttled = [];
        failures = [];
        openings = [];
        return;
      }
      const refused = { ...span, judgedBy: span.endedAt + (what === 'unreached' ? SUSPENSE_MS : 0) };
      if (what === 'throttled') {
        throttled.push(refused);
        // The probe has told nothing of the host's health: as before it, for as long.
        if (openings.length > 0) openings[openings.length - 1] = refused;
        return;
      }
      throttled = [];
      failures.push(refused);
      if (openings.length > 0 || failures.length >= terms.breaker.failures) openings.push(refused);
    },
    lapsed(at) {
      const isRecent = ({ judgedBy }: Refused): boolean => judgedBy >= at - LAPSE_MS;
      if (throttled.some(isRecent)) throttled = [];
      if (failures.some(isRecent)) failures = [];
      if (openings.some(isRecent)) openings = [];
    },
    floors() {
      refresh();
      const floors: RefusalFloor[] = [];
      const throttle = throttled.at(-1);
      if (throttle !== undefined) {
        const { firstMs, capMs } = terms.throttle;
        floors.push({ rule: 'throttle', until: throttle.endedAt + leastMs(firstMs, capMs, throttled.length - 1) });
      }
      const opening = openings.at(-1);
      if (opening !== undefined) {
        const { firstMs, capMs } = terms.breaker;
        floors.push({ rule: 'breaker-open', until: opening.endedAt + leastMs(firstMs, capMs, openings.length - 1) });
      }
      return floors;
    },
  };
}
