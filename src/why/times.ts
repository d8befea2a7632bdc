/** Times in words, relative first, as people ask; then absolute, as logs have them. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Each unit is used from two of it on, so that no plural has to be thought of. */
const UNITS = [
  [2 * DAY, DAY, 'days'],
  [2 * HOUR, HOUR, 'hours'],
  [2 * MINUTE, MINUTE, 'minutes'],
] as const;

/** How long: `40 ms`, `12 s`, `3 minutes`, `5 hours`, `4 days`. */
export function span(ms: number): string {
  const length = Math.max(0, ms);
  if (!Number.isFinite(length)) return 'an unknown time';
  for (const [from, unit, name] of UNITS) {
    if (length >= from) return `${Math.round(length / unit)} ${name}`;
  }
  if (length < SECOND) return `${Math.round(length)} ms`;
  // A delay of 1.5 s is not one of 2 s.
  return length < 10 * SECOND ? `${Math.round(length / 100) / 10} s` : `${Math.round(length / SECOND)} s`;
}

/** `3 minutes ago (2026-03-01 12:00:00 UTC)`, `in 12 s (…)`; within a second `just now` or `now`. */
export function moment(atMs: number, nowMs: number): string {
  const absolute = utc(atMs);
  if (absolute === null) return 'at an unknown time';
  const aheadMs = atMs - nowMs;
  if (Math.abs(aheadMs) < SECOND) return aheadMs > 0 ? 'now' : 'just now';
  return aheadMs > 0 ? `in ${span(aheadMs)} (${absolute})` : `${span(-aheadMs)} ago (${absolute})`;
}

/** ISO 8601; null for what is no time. */
export function iso(atMs: number | null): string | null {
  if (atMs === null || !(Math.abs(atMs) <= MS_MAX)) return null;
  return new Date(atMs).toISOString();
}

/** The range of a date (ECMA-262 §21.4.1.1). */
const MS_MAX = 8.64e15;

function utc(atMs: number): string | null {
  const text = iso(atMs);
  return text === null ? null : text.replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}
