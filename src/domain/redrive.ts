/**
 * A redrive: dead letters that are brought back, as somebody wished it.
 *
 * It is kept for good, whatever became of it: what was wished, when, by whom, how fast, and how far it has come. It goes
 * through the dead letters once, in their order, so that a URL which dies again meanwhile is not brought back by it twice.
 */
import type { HostName } from './host.js';
import type { Code } from './outcome.js';
import type { UrlKey } from './url.js';

/** Which dead letters are meant. What it does not name it does not ask about. */
export interface DeadFilter {
  readonly host: HostName | null;
  /** Occurs in the cause, whatever the case of its letters. */
  readonly cause: string | null;
  readonly code: Code | null;
  /** Given up before this instant, wall clock. */
  readonly beforeMs: number | null;
  /** Given up at this instant or later, wall clock. */
  readonly sinceMs: number | null;
}

/** At most so many letters in so long a time. */
export interface RedriveRate {
  readonly letters: number;
  readonly perMs: number;
}

/** By which way the wish came: the command line, the control interface, the library. */
export const REDRIVE_WAYS = ['command', 'api', 'library'] as const;
export type RedriveWay = (typeof REDRIVE_WAYS)[number];

export interface RedriveWish {
  readonly filter: DeadFilter;
  /** Null: as fast as the store takes them. */
  readonly rate: RedriveRate | null;
  readonly way: RedriveWay;
  /** Who wished it, as the way knows it; null where it does not. */
  readonly who: string | null;
  /** Letters that met the filter as it was wished. */
  readonly matched: number;
  /** Letters of URLs that died at this instant or later are not meant; wall clock. */
  readonly untilMs: number;
}

/** Why a letter stays, beside the codes of admission. */
export const LEFT_WORDS = {
  record_unreadable: 'what is known of the URL can not be read',
  queued_already: 'it is queued already',
} as const;
export type LeftReason = Code | keyof typeof LEFT_WORDS;

export interface Redrive extends RedriveWish {
  /** From 1 on; grows. */
  readonly number: number;
  /** When it was wished; wall clock. */
  readonly atMs: number;
  readonly stage: 'going' | 'done' | 'cancelled';
  /** The newest commit that has changed it; wall clock. */
  readonly changedAtMs: number;
  /** The last letter that was taken up, as the store names it; null before the first. */
  readonly after: string | null;
  /** When the next letters may be taken up; wall clock. */
  readonly dueAtMs: number;
  /** URLs that are queued again. */
  readonly queued: number;
  /** URLs that robots.txt disallows now: they wait for other rules, and are no dead letters any more. */
  readonly blocked: number;
  /** Letters that stay, by what keeps them. */
  readonly left: Readonly<Partial<Record<LeftReason, number>>>;
}

/** What became of one letter. */
export interface RedriveLine {
  readonly url: string;
  readonly key: UrlKey;
  /** Null: it is queued again. */
  readonly reason: LeftReason | null;
}

/** Letters that were taken up so far. */
export function takenUp({ queued, blocked, left }: Pick<Redrive, 'queued' | 'blocked' | 'left'>): number {
  return queued + blocked + leftIn(left);
}

export function leftIn(left: Redrive['left']): number {
  return Object.values(left).reduce((sum, count) => sum + count, 0);
}
