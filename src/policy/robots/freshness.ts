/**
 * How fresh an origin's robots rules are, and what may be done meanwhile (P5, RFC 9309 §2.3.1, §2.4).
 *
 * No page is asked for before the rules are known, and no rules are followed past a day without asking again. A file
 * that the server says it hasn't got is known: nothing is disallowed. A file that can't be read (5xx, 429, no
 * connection) is not: then the last good copy rules on, until it is a week old; without one the origin's URLs are
 * parked, and the file is asked for again after a minute, two, four, up to an hour.
 *
 * A copy that has run out is asked for on the condition that it is another one by now: a 304 makes it as good as new.
 *
 * Times are of the wall clock, as the state is stored. A copy "from the future" (the clock ran backwards) counts as
 * being as old as it is far away, so that no clock can make rules last for ever.
 */
import type { Code } from '../../domain/outcome.js';
import { type Backoff, backoffMs } from '../backoff.js';
import { RETRY_AFTER_MS_MAX } from '../throttle.js';
import type { Validators } from '../validators.js';
import { ALLOW_ALL, type RobotsRules } from './rules.js';

/** RFC 9309 §2.4: a copy should not be used for longer than 24 hours. */
export const ROBOTS_TTL_MS = 24 * 3_600_000;

/** A new copy is due this much earlier, so that it is there before the old one has run out. */
export const ROBOTS_REFRESH_MARGIN_MS = 60_000;

/** P5: what a site once allowed or forbade is not held against it, or for it, beyond a week of silence. */
export const ROBOTS_LAST_GOOD_MS_MAX = 7 * 24 * 3_600_000;

/** RFC 9309 §2.3.1.2: at least five redirects are followed; a sixth means that there is no file. */
export const ROBOTS_REDIRECTS_MAX = 5;

/** A minute lets a restart pass; an hour is the longest that a healed origin should wait to be noticed. */
export const ROBOTS_BACKOFF: Backoff = { firstMs: 60_000, capMs: 3_600_000 };

/** Attempts beyond this change nothing; the count stays small enough to store. */
const ATTEMPTS_MAX = 32;

/** Rules, when they were read or confirmed, and the status they came with: what `why` shows as their source. */
export interface RobotsCopy {
  readonly rules: RobotsRules;
  readonly fetchedAtMs: number;
  readonly status: number;
  /** Null where the server named none, and for what is no file. */
  readonly validators: RobotsValidators | null;
}

/** Validators, and what they are of: the last hop of the way to the file. They mean nothing to another resource. */
export interface RobotsValidators extends Validators {
  readonly url: string;
}

export type OriginRobots =
  | { readonly phase: 'unknown' }
  | ({ readonly phase: 'fresh' } & RobotsCopy)
  | {
      readonly phase: 'unreachable';
      readonly sinceMs: number;
      readonly retryAtMs: number;
      /** Failed attempts since then: 1 or more. */
      readonly attempts: number;
      /** What came of the last try: a status, or why there was none. Absent where an earlier release wrote it down. */
      readonly cause?: RobotsFailure;
      readonly lastGood: RobotsCopy | null;
    };

/** Why a robots.txt can't be read. */
export type RobotsFailure = number | Code;

export const UNKNOWN: OriginRobots = { phase: 'unknown' };

/** What came of asking for the file, all redirects behind it. */
export type RobotsAnswer =
  | {
      readonly kind: 'status';
      /** Of the last hop. A 3xx is one that was not followed: no usable target, or more hops than are followed. */
      readonly status: number;
      /** Read from the body of a 2xx. */
      readonly rules: RobotsRules;
      readonly retryAfterMs: number | null;
      /** Of the file that came with a 2xx. */
      readonly validators: RobotsValidators | null;
    }
  /** 304 to a request that carried these validators of the copy, or what it says of them. */
  | { readonly kind: 'unmodified'; readonly validators: RobotsValidators }
  | { readonly kind: 'failure'; readonly code: Code };

/** Must the file be asked for before anything else of this origin is? */
export function due(state: OriginRobots, nowWallMs: number): boolean {
  switch (state.phase) {
    case 'unknown':
      return true;
    case 'fresh':
      return ageOf(state, nowWallMs) >= ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS;
    case 'unreachable':
      return nowWallMs >= state.retryAtMs || state.retryAtMs > nowWallMs + RETRY_AFTER_MS_MAX;
  }
}

/** When the file should be asked for again for the sake of URLs that it disallows; wall clock. */
export function recheckAtMs(state: OriginRobots, nowWallMs: number): number {
  switch (state.phase) {
    case 'unknown':
      return nowWallMs;
    case 'fresh':
      return due(state, nowWallMs) ? nowWallMs : state.fetchedAtMs + ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS;
    case 'unreachable':
      return due(state, nowWallMs) ? nowWallMs : state.retryAtMs;
  }
}

/** Whether a URL may be allowed by one and disallowed by the other. */
export function isSameRules(one: RobotsRules, other: RobotsRules): boolean {
  if (one.rules === other.rules) return true;
  if (one.rules.length !== other.rules.length) return false;
  return one.rules.every((rule, i) => rule.allow === other.rules[i]?.allow && rule.pattern === other.rules[i]?.pattern);
}

export type PagesAnswer =
  /** These rules are in force. */
  | { readonly may: 'ask'; readonly copy: RobotsCopy }
  /** The file must be read first, and may be asked for now. */
  | { readonly may: 'wait_for_robots' }
  /** The file can't be read; its URLs stay parked. `until` is a wall-clock time. */
  | { readonly may: { readonly parkedUntil: number } };

/** May pages of this origin be asked for now, and by which rules? */
export function pages(state: OriginRobots, nowWallMs: number): PagesAnswer {
  switch (state.phase) {
    case 'unknown':
      return WAIT;
    case 'fresh':
      return ageOf(state, nowWallMs) < ROBOTS_TTL_MS ? { may: 'ask', copy: copyOf(state) } : WAIT;
    case 'unreachable': {
      const { lastGood } = state;
      if (lastGood !== null && ageOf(lastGood, nowWallMs) < ROBOTS_LAST_GOOD_MS_MAX)
        return { may: 'ask', copy: lastGood };
      return due(state, nowWallMs) ? WAIT : { may: { parkedUntil: state.retryAtMs } };
    }
  }
}

const WAIT: PagesAnswer = { may: 'wait_for_robots' };

/**
 * The file was asked for, and this came. A 304 is only believed where it answers a condition of ours: one to a plain
 * request says nothing that could be known, as if the file could not be had.
 */
export function robotsAnswered(state: OriginRobots, answer: RobotsAnswer, nowWallMs: number): OriginRobots {
  if (answer.kind === 'failure') return unreachable(state, answer.code, 0, nowWallMs);
  if (answer.kind === 'unmodified') {
    const known = lastGoodOf(state);
    if (known === null) return unreachable(state, 304, 0, nowWallMs);
    return { phase: 'fresh', ...known, fetchedAtMs: nowWallMs, validators: answer.validators };
  }
  const { status, rules, validators, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { phase: 'fresh', rules, status, fetchedAtMs: nowWallMs, validators };
  if (status >= 300 && status < 500 && status !== 304 && status !== 429) {
    return { phase: 'fresh', rules: ALLOW_ALL, status, fetchedAtMs: nowWallMs, validators: null };
  }
  return unreachable(state, status, retryAfterMs ?? 0, nowWallMs);
}

function unreachable(state: OriginRobots, cause: RobotsFailure, retryAfterMs: number, nowWallMs: number): OriginRobots {
  const before = state.phase === 'unreachable' ? state : { sinceMs: nowWallMs, attempts: 0 };
  const waitMs = Math.max(
    backoffMs(ROBOTS_BACKOFF, before.attempts, UNMOVED),
    Math.min(RETRY_AFTER_MS_MAX, retryAfterMs),
  );
  return {
    phase: 'unreachable',
    sinceMs: before.sinceMs,
    retryAtMs: nowWallMs + waitMs,
    attempts: Math.min(ATTEMPTS_MAX, before.attempts + 1),
    cause,
    lastGood: lastGoodOf(state),
  };
}

/** One small file an origin, behind its host's own gate: nothing that jitter would have to spread. */
const UNMOVED = 0.5;

/** The newest copy there is, however old. */
export function lastGoodOf(state: OriginRobots): RobotsCopy | null {
  switch (state.phase) {
    case 'unknown':
      return null;
    case 'fresh':
      return copyOf(state);
    case 'unreachable':
      return state.lastGood;
  }
}

function copyOf({ rules, fetchedAtMs, status, validators }: RobotsCopy): RobotsCopy {
  return { rules, fetchedAtMs, status, validators };
}

function ageOf(copy: RobotsCopy, nowWallMs: number): number {
  return Math.abs(nowWallMs - copy.fetchedAtMs);
}
