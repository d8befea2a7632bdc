/**
 * How a redrive goes on (R1): how many letters it takes up at once, when the next, and what becomes of each.
 *
 * A URL that is brought back enters as every candidate does: by the rules of the crawl as they are now, by the filter of
 * the program that runs it, by the robots rules that are in force. What the rules refuse stays a dead letter, so that
 * the same wish may be told once more under other rules; what robots.txt disallows stands among what is looked at when
 * it changes. Its history stays; what was used up is given back.
 *
 * The rate is a bound whatever happens meanwhile: times in which nothing was taken up are made up for by one portion at
 * most, and the due time is kept with what it holds back.
 */
import type { DeadLetter, UrlRecord } from '../domain/record.js';
import {
  type DeadFilter,
  type LeftReason,
  type Redrive,
  type RedriveLine,
  type RedriveRate,
  type RedriveWish,
  takenUp,
} from '../domain/redrive.js';
import type { RobotsEvidence } from '../domain/record.js';
import { meets } from './dead-filter.js';
import { blockedAgain, queuedAgain } from './history.js';

/** Letters of one commit. */
export const PORTION_MAX = 500;
/** A rate is kept over this: so much of it may be taken up at once. */
const PORTION_MS = 1_000;
/** Redrives that go on beside each other. */
export const REDRIVES_MAX = 16;

/** The wish as it is first stored, before any letter is taken up. */
export function begun(wish: RedriveWish, number: number, nowWallMs: number): Redrive {
  const atMs = Math.round(nowWallMs);
  const progress = { queued: 0, blocked: 0, left: {} };
  return { ...wish, ...progress, number, atMs, stage: 'going', changedAtMs: atMs, after: null, dueAtMs: atMs };
}

export function isMeant(letter: DeadLetter, { filter, untilMs }: { filter: DeadFilter; untilMs: number }): boolean {
  return letter.lastAtMs < untilMs && meets(letter, filter);
}

// -- how fast ---------------------------------------------------------------------------------------------------

function everyMs({ letters, perMs }: RedriveRate): number {
  return perMs / letters;
}

/** Letters that may be taken up at once, however long nothing was. */
export function portionMax(rate: RedriveRate | null): number {
  if (rate === null) return PORTION_MAX;
  return Math.min(PORTION_MAX, Math.max(1, Math.floor(PORTION_MS / everyMs(rate))));
}

/** Letters that may be taken up now; 0 before the due time. Both times by one clock. */
export function portionAt(rate: RedriveRate | null, dueAtMs: number, nowMs: number): number {
  if (rate === null) return PORTION_MAX;
  if (nowMs < dueAtMs) return 0;
  return Math.min(portionMax(rate), 1 + Math.floor((nowMs - dueAtMs) / everyMs(rate)));
}

/** When the next may be taken up after `count` of them at `nowMs`. */
export function dueAfter(rate: RedriveRate | null, dueAtMs: number, nowMs: number, count: number): number {
  if (rate === null) return nowMs;
  const earliestMs = nowMs - (portionMax(rate) - 1) * everyMs(rate);
  return Math.max(dueAtMs, earliestMs) + count * everyMs(rate);
}

/** How long a redrive that was read from the store has still to wait. A clock that was put back makes it wait no longer than once. */
export function waitMsOf({ rate, dueAtMs }: Redrive, nowWallMs: number): number {
  if (rate === null) return 0;
  return Math.min(Math.max(0, dueAtMs - nowWallMs), portionMax(rate) * everyMs(rate));
}

// -- what becomes of a letter -------------------------------------------------------------------------------------

/** What is asked about a URL before it enters once more. */
export interface RedriveLooks {
  /** By the rules of the crawl and the filter of its program; null: it may enter. */
  refusalOf(record: UrlRecord): LeftReason | null;
  /** The evidence where robots.txt disallows it; null where it is allowed, or nothing is known. */
  disallowed(record: UrlRecord): RobotsEvidence | null;
}

export type Fate =
  | { readonly fate: 'queued'; readonly record: UrlRecord }
  | { readonly fate: 'blocked'; readonly record: UrlRecord }
  | { readonly fate: 'left'; readonly reason: LeftReason };

/** What becomes of a letter's URL, by what is known of it; `record` null where that can't be read. */
export function fateOf(record: UrlRecord | null, looks: RedriveLooks, now: { readonly wallMs: number }): Fate {
  if (record === null) return { fate: 'left', reason: 'record_unreadable' };
  if (record.state !== 'dead') return { fate: 'left', reason: 'queued_already' };
  const refusal = looks.refusalOf(record);
  if (refusal !== null) return { fate: 'left', reason: refusal };
  const evidence = looks.disallowed(record);
  const fresh = queuedAgain(record, record);
  if (evidence === null) return { fate: 'queued', record: fresh };
  return { fate: 'blocked', record: blockedAgain(fresh, evidence, now) };
}

/** As it is told: what robots.txt disallows is not asked for, though it is no dead letter any more. */
export function lineOf(url: string, key: RedriveLine['key'], fate: Fate): RedriveLine {
  const reason = fate.fate === 'left' ? fate.reason : fate.fate === 'blocked' ? 'robots_disallowed' : null;
  return { url, key, reason };
}

/** Where the letters of a portion come to an end, and what stays of them. What enters is counted by the commit. */
export function advanced(
  redrive: Redrive,
  portion: { readonly left: readonly LeftReason[]; readonly next: string | null; readonly dueAtMs: number },
  nowWallMs: number,
): Redrive {
  const left: Partial<Record<LeftReason, number>> = { ...redrive.left };
  for (const reason of portion.left) left[reason] = (left[reason] ?? 0) + 1;
  return {
    ...redrive,
    left,
    after: portion.next ?? redrive.after,
    stage: portion.next === null ? 'done' : redrive.stage,
    dueAtMs: Math.ceil(portion.dueAtMs),
    changedAtMs: Math.round(nowWallMs),
  };
}

/** The same with what its commit has brought back. */
export function withEntered(redrive: Redrive, entered: { readonly queued: number; readonly blocked: number }): Redrive {
  const { queued, blocked } = redrive;
  return { ...redrive, queued: queued + entered.queued, blocked: blocked + entered.blocked };
}

/** Letters that are still to be taken up, about: others may have been redriven or have died meanwhile. */
export function lettersAhead(redrive: Redrive): number {
  return redrive.stage === 'going' ? Math.max(0, redrive.matched - takenUp(redrive)) : 0;
}
