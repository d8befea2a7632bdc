/**
 * What a visit makes of a URL's record: the next record, where its row goes, and the dead letter if this was the end.
 *
 * Pure book-keeping over the judgements: deliveries are counted here and nowhere else (R1), and a URL leaves its
 * queue only through what is returned here.
 */
import type { Chain } from '../domain/chain.js';
import type { Attempt, Code } from '../domain/outcome.js';
import {
  ATTEMPTS_KEPT,
  type DeadLetter,
  type QueueEntry,
  type QueuePosition,
  type RobotsEvidence,
  type UrlRecord,
} from '../domain/record.js';
import type { UrlState } from '../domain/record.js';
import { judgeRobots } from './judgement.js';
import type { Tier } from '../domain/tier.js';
import { type AfterFailure, afterFailure, afterUnaskedUnmodified, isPoison } from './retry.js';

export interface RetryTerms {
  readonly schedule: readonly number[];
  readonly deliveriesMax: number;
}

/** One row's settlement. `to` null: it leaves the queue. */
export interface Settlement {
  readonly from: QueuePosition;
  readonly to: QueuePosition | null;
  readonly record: UrlRecord;
  readonly attempt: Attempt;
  readonly dead: DeadLetter | null;
}

/** The visit is over; the URL is not in the queue any more. `changes` is what was learned of it. */
export function completed(
  entry: QueueEntry,
  attempt: Attempt,
  state: UrlState,
  changes: Partial<Pick<UrlRecord, 'etag' | 'lastModified' | 'digest' | 'archived' | 'robots'>>,
): Settlement {
  const record: UrlRecord = {
    ...noted(entry.record, attempt),
    ...changes,
    state,
    deliveries: 0,
    workerCrashes: 0,
    processDeaths: 0,
    chain: null,
    ladder: null,
  };
  return { from: entry.at, to: null, record, attempt, dead: null };
}

/** It can't be asked for until something else changes: robots.txt, or the browser service. */
export function parked(entry: QueueEntry, attempt: Attempt): Settlement {
  const record: UrlRecord = { ...noted(entry.record, attempt), state: 'parked' };
  return { from: entry.at, to: { queue: 'parked', sequence: entry.at.sequence }, record, attempt, dead: null };
}

/** The record of a URL that robots.txt disallows as it is found. */
export function blockedOnAdmission(
  record: UrlRecord,
  robots: RobotsEvidence,
  now: { readonly wallMs: number },
): UrlRecord {
  return { ...record, state: 'blocked_by_robots', attempts: [disallowedAt(now)], robots };
}

/** The same of a URL that is queued once more. */
export function blockedAgain(record: UrlRecord, robots: RobotsEvidence, now: { readonly wallMs: number }): UrlRecord {
  return { ...noted(record, disallowedAt(now)), state: 'blocked_by_robots', robots };
}

function disallowedAt(now: { readonly wallMs: number }): Attempt {
  const { outcome, code, status } = judgeRobots('disallowed');
  return { atMs: Math.round(now.wallMs), outcome, code, status, tier: 1, durationMs: 0 };
}

/** Robots.txt disallows it: no work, but it stays to be looked at again when the rules change. */
export function blocked(entry: QueueEntry, attempt: Attempt, robots: RobotsEvidence): Settlement {
  const { record } = completed(entry, attempt, 'blocked_by_robots', { robots });
  return { from: entry.at, to: { queue: 'blocked', sequence: entry.at.sequence }, record, attempt, dead: null };
}

/** What it was parked or blocked for has gone. No attempt: nothing was tried. */
export function unparked(entry: QueueEntry): {
  readonly from: QueuePosition;
  readonly to: QueuePosition;
  readonly record: UrlRecord;
} {
  return readied(entry, entry.record);
}

function readied({ at }: QueueEntry, record: UrlRecord): ReturnType<typeof unparked> {
  const to: QueuePosition = { queue: 'ready', priority: record.priority, sequence: at.sequence };
  return { from: at, to, record: { ...record, state: 'queued' } };
}

/** Nothing was lost but time: the row stays where it is and no delivery is used. */
export function postponed(entry: QueueEntry, attempt: Attempt): Settlement {
  const record = { ...noted(entry.record, attempt), ladder: afterwards(entry.record, attempt) };
  return { from: entry.at, to: entry.at, record, attempt, dead: null };
}

/** It goes a step up (R2): it is asked for by that tier as soon as its turn comes. No delivery is used. */
export function climbed(entry: QueueEntry, attempt: Attempt, to: Tier): Settlement {
  return { ...readied(entry, { ...noted(entry.record, attempt), ladder: to }), attempt, dead: null };
}

/** Its host has used up what it is granted: it waits for more. No delivery is used. */
export function rationed(entry: QueueEntry, attempt: Attempt, untilMs: number): Settlement {
  const to: QueuePosition = { queue: 'waiting', dueAtMs: Math.ceil(untilMs), sequence: entry.at.sequence };
  return { from: entry.at, to, record: { ...noted(entry.record, attempt), state: 'waiting' }, attempt, dead: null };
}

/** R2: no failure leads up. What was asked for in one way is retried in that way, whatever its host needs by then. */
function afterwards({ ladder }: UrlRecord, { outcome, code, tier }: Attempt): Tier | null {
  if (outcome === 'challenged') return null;
  return code === 'interrupted' || code.startsWith('dns_') ? ladder : tier;
}

/** It redirects to itself with other cookies: the row stays where it is, to be asked for with them. No delivery is used. */
export function sentBack(entry: QueueEntry, attempt: Attempt, chain: Chain): Settlement {
  const { record, ...rest } = postponed(entry, attempt);
  return { ...rest, record: { ...record, chain } };
}

/** It is not asked for again: the process died with it in hand as often as is borne. */
export function poisonous(entry: QueueEntry, atMs: number): Settlement {
  const attempt: Attempt = { atMs, outcome: 'dead', code: 'process_died', status: null, tier: 1, durationMs: 0 };
  return died(entry, noted(entry.record, attempt), attempt);
}

/** After a death a page is left for so long in the next life, after two for twice as long. */
export const SUSPECT_WAIT_MS = 5_000;

/** Once in each life of the process, which its attempts tell. */
export function isToBePutOff(record: UrlRecord, lifeBeganAtMs: number): boolean {
  if (record.processDeaths === 0) return false;
  return !record.attempts.some(({ code, atMs }) => code === 'process_died' && atMs >= lifeBeganAtMs);
}

/**
 * The process died while it was in hand: innocent most often, as a kill finds something in hand at any time. It is put
 * off, so that it is not among the first of each life and dies with every short one. No delivery is used.
 */
export function putOff(entry: QueueEntry, nowWallMs: number): Settlement {
  const { record, at } = entry;
  const atMs = Math.round(nowWallMs);
  const attempt: Attempt = { atMs, outcome: 'failed', code: 'process_died', status: null, tier: 1, durationMs: 0 };
  const dueAtMs = atMs + SUSPECT_WAIT_MS * record.processDeaths;
  const to: QueuePosition = { queue: 'waiting', dueAtMs, sequence: at.sequence };
  return { from: at, to, record: { ...noted(record, attempt), state: 'waiting' }, attempt, dead: null };
}

/**
 * Whether a seed that is known is admitted once more when it is given again: one that was refused without having been
 * asked for. What refused it (the guard, a bound of ours) may be set otherwise now, and whoever gives it again says so.
 */
export function maySeedAgain(record: UrlRecord): boolean {
  return record.state === 'refused' && record.attempts.at(-1)?.status == null;
}

/** Whether a URL stands in no queue, so that it can be queued once more. */
export function isAtRest({ state }: UrlRecord): boolean {
  return state !== 'queued' && state !== 'waiting' && state !== 'parked' && state !== 'blocked_by_robots';
}

/**
 * The record of a URL that is to be fetched again: what is known of it stays, what was used up is given back. As a seed
 * it is as near as can be, however far from one it was found.
 */
export function queuedAgain(record: UrlRecord, { priority, depth }: Pick<UrlRecord, 'priority' | 'depth'>): UrlRecord {
  const fresh = { deliveries: 0, workerCrashes: 0, processDeaths: 0, chain: null, ladder: null };
  return { ...record, ...fresh, state: 'queued', priority, depth };
}

/** The same of one to which a chain of redirects comes back: it stays where it was found. */
export function queuedByChain(
  record: UrlRecord,
  { priority, chain }: Pick<UrlRecord, 'priority' | 'chain'>,
): UrlRecord {
  return { ...queuedAgain(record, { priority, depth: record.depth }), chain };
}

/** A delivery was used: it waits for the next, or it was the last. */
export function failed(
  entry: QueueEntry,
  attempt: Attempt,
  terms: RetryTerms,
  nowWallMs: number,
  draw: number,
): Settlement {
  const deliveries = entry.record.deliveries + 1;
  const workerCrashes = entry.record.workerCrashes + (attempt.code === 'worker_crashed' ? 1 : 0);
  const ladder = afterwards(entry.record, attempt);
  const record: UrlRecord = { ...noted(entry.record, attempt), deliveries, workerCrashes, ladder, state: 'waiting' };
  const next = isPoison(record) ? DEAD : afterDelivery(entry.record, attempt.code, { deliveries, ...terms, draw });
  if (next.next === 'dead') return died(entry, record, attempt);
  const to: QueuePosition = {
    queue: 'waiting',
    dueAtMs: Math.ceil(nowWallMs + next.dueInMs),
    sequence: entry.at.sequence,
  };
  return { from: entry.at, to, record, attempt, dead: null };
}

const DEAD: AfterFailure = { next: 'dead' };

/** What was answered before it was last admitted says nothing of this delivery. */
function afterDelivery(before: UrlRecord, code: Code, delivery: Parameters<typeof afterFailure>[0]): AfterFailure {
  const previous = before.deliveries === 0 ? null : (before.attempts.at(-1)?.code ?? null);
  return code === 'unmodified_without_validators' ? afterUnaskedUnmodified(previous, delivery) : afterFailure(delivery);
}

function died(entry: QueueEntry, record: UrlRecord, attempt: Attempt): Settlement {
  const { url, key, host, deliveries, attempts } = record;
  const first = attempts[0] ?? attempt;
  const dead: DeadLetter = {
    url,
    key,
    host,
    cause: causeOf(record, attempt),
    code: attempt.code,
    deliveries,
    firstAtMs: first.atMs,
    lastAtMs: attempt.atMs,
    attempts,
  };
  return { from: entry.at, to: null, record: { ...record, state: 'dead', chain: null, ladder: null }, attempt, dead };
}

function causeOf(record: UrlRecord, { outcome, code }: Attempt): string {
  if (outcome === 'challenged') return 'challenged';
  if (code === 'process_died') return `the process died ${record.processDeaths} times while it was being read`;
  if (record.workerCrashes > 1) return `crashed its worker ${record.workerCrashes} times`;
  return `${record.deliveries} deliveries, the last one: ${code}`;
}

function noted(record: UrlRecord, attempt: Attempt): UrlRecord {
  return { ...record, attempts: [...record.attempts, attempt].slice(-ATTEMPTS_KEPT) };
}
