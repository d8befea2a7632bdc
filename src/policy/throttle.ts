/**
 * What a host that says "slow down" is given (P3).
 *
 * 429, 503 and Retry-After on any 5xx close the host's gate. What the server names is a floor above every cap of ours;
 * without it the gate stays closed for 2 s, doubling with each such answer in a row up to an hour. Any other answer
 * ends the row.
 */
import { type Backoff, backoffMs } from './backoff.js';

/** A server that asks for more than a day is asked again after a day: it may have meant milliseconds, or another year. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/** From "a moment" to the longest that a host should be left unasked on a guess. */
export const THROTTLE_BACKOFF: Backoff = { firstMs: 2_000, capMs: 3_600_000 };

/** Doublings beyond this change nothing; the count stays small enough to store. */
const CONSECUTIVE_MAX = 32;

export interface Throttle {
  /** Throttled answers in a row. */
  readonly consecutive: number;
}

export const UNTHROTTLED: Throttle = { consecutive: 0 };

/** A throttled answer came. `retryAfterMs` is null where the server named no time; `draw` is in [0, 1). */
export function throttled(
  state: Throttle,
  retryAfterMs: number | null,
  draw: number,
): { readonly state: Throttle; readonly closedForMs: number } {
  const backoff = backoffMs(THROTTLE_BACKOFF, state.consecutive, draw);
  const floor = Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0);
  return {
    state: { consecutive: Math.min(CONSECUTIVE_MAX, state.consecutive + 1) },
    closedForMs: Math.max(backoff, floor),
  };
}

/** An answer came that asks for nothing. */
export function eased(state: Throttle): Throttle {
  return state.consecutive === 0 ? state : UNTHROTTLED;
}

/**
 * Reads Retry-After (RFC 9110 §10.2.3): milliseconds from now, within 0 and `RETRY_AFTER_MS_MAX`; null if malformed.
 *
 * A date is measured against the response's own Date, so that a server whose clock is off is still understood;
 * without a readable one against `nowWallMs`. A cache's Age is not taken off: waiting longer offends nobody.
 *
 * @param value of the header; of several, all of them with commas between (§5.3). The longest that can be read counts:
 *   where a proxy and its server both ask for patience, both get it
 */
export function retryAfterMsOf(value: string | null, responseDate: string | null, nowWallMs: number): number | null {
  let longestMs: number | null = null;
  for (const element of value?.split(BETWEEN_ELEMENTS) ?? []) {
    const ms = retryAfterElementMsOf(element, responseDate, nowWallMs);
    if (ms !== null && ms >= (longestMs ?? 0)) longestMs = ms;
  }
  return longestMs;
}

/** Not the comma inside of a date. */
const BETWEEN_ELEMENTS = /,(?! \d\d[ -])/;

function retryAfterElementMsOf(element: string, responseDate: string | null, nowWallMs: number): number | null {
  const text = element.trim();
  if (/^\d+$/.test(text)) return Math.min(RETRY_AFTER_MS_MAX, Number(text) * 1000);
  const untilMs = httpDateMsOf(text, nowWallMs);
  if (untilMs === null) return null;
  const sinceMs = (responseDate === null ? null : httpDateMsOf(responseDate.trim(), nowWallMs)) ?? nowWallMs;
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(0, untilMs - sinceMs));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const IMF_FIXDATE = new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`);

/** Reads an HTTP-date in any of its three forms (RFC 9110 §5.6.7): wall-clock milliseconds; null if malformed. */
export function httpDateMsOf(text: string, nowWallMs: number): number | null {
  const found = IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text);
  if (found === null) return null;
  const { day, month, year, hour, minute, second } = found.groups as Record<string, string>;
  const fullYear = year?.length === 2 ? centuryOf(Number(year), nowWallMs) : Number(year);
  const monthIndex = MONTHS.indexOf(month ?? '');
  const midnightMs = Date.UTC(fullYear, monthIndex, Number(day));
  if (monthIndex < 0 || fullYear < 1000 || new Date(midnightMs).getUTCDate() !== Number(day)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  return midnightMs + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
}

/** Two digits mean the year that is at most 50 ahead of now (RFC 9110 §5.6.7). */
function centuryOf(year: number, nowWallMs: number): number {
  const thisYear = new Date(nowWallMs).getUTCFullYear();
  const candidate = thisYear - (thisYear % 100) + year;
  if (candidate > thisYear + 50) return candidate - 100;
  return candidate <= thisYear - 50 ? candidate + 100 : candidate;
}
