/**
 * The values of rows: msgpack tuples whose first element is the version of their shape.
 *
 * A tuple is half the size of a map and needs no table of field names beside it, which could get lost or mixed up.
 *
 * 1. Nothing that is read is believed (D6): every field is looked at, and what does not fit is a `Poison`, not an
 *    exception. The caller sets the row aside.
 * 2. A version's shape never changes. A new shape is a new version, and the old one stays readable.
 */
import { Packr } from 'msgpackr';
import type { Chain, ChainCookie } from '../domain/chain.js';
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import { type Attempt, CODES, type Code, type OutcomeKind } from '../domain/outcome.js';
import { LEFT_WORDS, type LeftReason, type Redrive, REDRIVE_WAYS, type RedriveRate } from '../domain/redrive.js';
import type { Archived, DeadLetter, PriorityClass, RobotsEvidence, UrlRecord, UrlState } from '../domain/record.js';
import { PRIORITY_CLASSES } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import type { Source, UrlKey } from '../domain/url.js';
import type { Totals } from '../protocols/commit.js';
import { UNUSED } from '../policy/browser-time.js';
import type { Clearance } from '../policy/clearance.js';
import { type Need, ON_THE_GROUND, type Signal } from '../policy/ladder.js';
import { isProblem, patternOf } from '../policy/url-pattern.js';
import type { OriginRobots } from '../policy/robots/freshness.js';
import type { RetryBudget } from '../policy/retry-budget.js';
import type { HostSnapshot } from '../protocols/host-snapshot.js';

/** A row that can't be what it should be. */
export class Poison {
  constructor(readonly reason: string) {}
}

const packr = new Packr({ useRecords: false });

/** A view of a shared slab: copy it where it is kept. */
function pack(tuple: readonly unknown[]): Buffer {
  return packr.pack(tuple);
}

// -- URL records ------------------------------------------------------------------------------------------------

export function encodeRecord(record: UrlRecord): Buffer {
  return pack([
    4,
    record.url,
    record.host,
    record.state,
    record.source,
    record.via,
    record.hopPath,
    record.depth,
    record.priority,
    record.discoveredAtMs,
    record.deliveries,
    record.workerCrashes,
    record.processDeaths,
    encodeAttempts(record.attempts),
    record.etag,
    record.lastModified,
    record.digest,
    record.robots === null ? null : encodeRobotsEvidence(record.robots),
    record.element,
    record.archived === null ? null : encodeArchived(record.archived, record.url),
    record.chain === null ? null : encodeChain(record.chain),
    record.ladder,
  ]);
}

/** The key is the row's own; the host is that of the row's queue, and must be the record's. */
export function decodeRecord(bytes: Uint8Array, key: UrlKey, host: HostName): UrlRecord | Poison {
  const row = decodeVersions(bytes, [18, 20, 21, 22]);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const record: UrlRecord = {
    key,
    url: read.text(1),
    host: read.text(2),
    state: read.oneOf(3, STATES),
    source: read.oneOf(4, SOURCES),
    via: read.textOrNull(5),
    hopPath: read.text(6),
    depth: read.count(7),
    priority: read.count(8) as PriorityClass,
    discoveredAtMs: read.number(9),
    deliveries: read.count(10),
    workerCrashes: read.count(11),
    processDeaths: read.count(12),
    attempts: read.items(13, decodeAttempt),
    etag: read.textOrNull(14),
    lastModified: read.textOrNull(15),
    digest: read.textOrNull(16),
    robots: row[17] === null ? null : decodeRobotsEvidence(read.fields(17), () => read.wrong(17)),
    // Version 1 ends before these two, version 2 before the next, version 3 before the last.
    element: row.length === 18 ? null : read.textOrNull(18),
    archived: row.length === 18 || row[19] === null ? null : decodeArchived(read.tuple(19, 4), read.text(1)),
    chain: row.length < 21 || row[20] === null ? null : decodeChain(read.tuple(20, 2), () => read.wrong(20)),
    ladder: row.length < 22 || row[21] === null ? null : tierIn(read, 21),
  };
  if (record.priority >= PRIORITY_CLASSES) read.wrong(8);
  if (record.host !== host) read.wrong(2);
  return read.poison ?? record;
}

const STATES: ReadonlySet<UrlState> = new Set<UrlState>([
  'queued',
  'waiting',
  'parked',
  'active',
  'redirected',
  'soft_missing',
  'gone_candidate',
  'refused',
  'blocked_by_robots',
  'dead',
]);
const SOURCES: ReadonlySet<Source> = new Set<Source>(['seed', 'link', 'redirect']);
const OUTCOMES: ReadonlySet<OutcomeKind> = new Set<OutcomeKind>([
  'fetched',
  'unchanged',
  'redirected',
  'missing',
  'refused',
  'challenged',
  'gone',
  'throttled',
  'failed',
  'blocked_by_robots',
  'parked',
  'dead',
]);
const KNOWN_CODES: ReadonlySet<Code> = new Set(Object.keys(CODES) as Code[]);

const NO_ATTEMPTS: readonly never[] = [];

function encodeAttempts(attempts: readonly Attempt[]): readonly unknown[] {
  if (attempts.length === 0) return NO_ATTEMPTS;
  return attempts.map(({ atMs, outcome, code, status, tier, durationMs, detail }) =>
    detail === undefined
      ? [atMs, outcome, code, status, tier, durationMs]
      : [atMs, outcome, code, status, tier, durationMs, detail],
  );
}

function tierIn(read: Fields, index: number): Tier {
  const tier = read.count(index);
  if (tier < 1 || tier > 3) read.wrong(index);
  return tier as Tier;
}

function decodeAttempt(read: Fields): Attempt {
  return {
    atMs: read.number(0),
    outcome: read.oneOf(1, OUTCOMES),
    code: read.oneOf(2, KNOWN_CODES),
    status: read.numberOrNull(3),
    tier: tierIn(read, 4),
    durationMs: read.number(5),
    ...(read.has(6) ? { detail: read.text(6) } : {}),
  };
}

function encodeRobotsEvidence({ rule, fetchedAtMs, status, copy }: RobotsEvidence): readonly unknown[] {
  return [rule?.text ?? null, rule?.line ?? null, fetchedAtMs, status, copy];
}

/** Most often the payload came from the record's own URL. */
function encodeArchived({ url, recordId, atMs, payloadDigest }: Archived, ownUrl: string): readonly unknown[] {
  return [url === ownUrl ? null : url, recordId, atMs, payloadDigest];
}

function decodeArchived(read: Fields, ownUrl: string): Archived {
  return {
    url: read.textOrNull(0) ?? ownUrl,
    recordId: read.text(1),
    atMs: read.number(2),
    payloadDigest: read.text(3),
  };
}

function encodeChain({ steps, cookies }: Chain): readonly unknown[] {
  return [
    steps.map((step) => [step.key, step.cookies]),
    cookies?.map((it) => [it.name, it.value, it.domain, it.hostOnly, it.path, it.secure, it.expiresAtMs]) ?? null,
  ];
}

function decodeChain(read: Fields, refuse: () => void): Chain {
  const steps = read.items(0, (it) => ({ key: it.text(0), cookies: it.count(1) }));
  const cookies = read.isNull(1) ? null : read.items(1, decodeChainCookie);
  if (steps.length < 2) read.wrong(0);
  if (read.poison !== null) refuse();
  return { steps, cookies };
}

function decodeChainCookie(read: Fields): ChainCookie {
  return {
    name: read.text(0),
    value: read.text(1),
    domain: read.text(2),
    hostOnly: read.flag(3),
    path: read.text(4),
    secure: read.flag(5),
    expiresAtMs: read.numberOrNull(6),
  };
}

/** The first three fields are older than the others. */
function decodeRobotsEvidence(read: Fields, refuse: () => void): RobotsEvidence {
  const isWhole = read.has(3);
  const evidence: RobotsEvidence = {
    rule: read.textOrNull(0) === null ? null : { text: read.text(0), line: read.count(1) },
    fetchedAtMs: read.number(2),
    status: isWhole ? read.numberOrNull(3) : null,
    copy: isWhole ? read.oneOf(4, COPIES) : 'current',
  };
  if (read.poison !== null) refuse();
  return evidence;
}

const COPIES: ReadonlySet<RobotsEvidence['copy']> = new Set<RobotsEvidence['copy']>(['current', 'last_good']);

// -- dead letters -----------------------------------------------------------------------------------------------

export function encodeDead(letter: DeadLetter): Buffer {
  const { url, host, cause, code, deliveries, firstAtMs, lastAtMs, attempts } = letter;
  return pack([1, url, host, cause, code, deliveries, firstAtMs, lastAtMs, encodeAttempts(attempts)]);
}

export function decodeDead(bytes: Uint8Array, key: UrlKey): DeadLetter | Poison {
  const row = decodeTuple(bytes, 1, 9);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const letter: DeadLetter = {
    key,
    url: read.text(1),
    host: read.text(2),
    cause: read.text(3),
    code: read.oneOf(4, KNOWN_CODES),
    deliveries: read.count(5),
    firstAtMs: read.number(6),
    lastAtMs: read.number(7),
    attempts: read.items(8, decodeAttempt),
  };
  return read.poison ?? letter;
}

// -- redrives ---------------------------------------------------------------------------------------------------

export function encodeRedrive(redrive: Redrive): Buffer {
  const { filter, rate, way, who, matched, untilMs, atMs, stage, changedAtMs, after, dueAtMs } = redrive;
  const { host, cause, code, beforeMs, sinceMs } = filter;
  const wish = [[host, cause, code, beforeMs, sinceMs], rate === null ? null : [rate.letters, rate.perMs], way, who];
  const left = Object.entries(redrive.left);
  const progress = [stage, changedAtMs, after, dueAtMs, redrive.queued, redrive.blocked, left];
  return pack([1, atMs, wish, matched, untilMs, progress]);
}

export function decodeRedrive(bytes: Uint8Array, number: number): Redrive | Poison {
  const row = decodeTuple(bytes, 1, 6);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const wish = read.tuple(2, 4);
  const filter = wish.tuple(0, 5);
  const progress = read.tuple(5, 7);
  const redrive: Redrive = {
    number,
    atMs: read.number(1),
    filter: {
      host: filter.textOrNull(0),
      cause: filter.textOrNull(1),
      code: filter.isNull(2) ? null : filter.oneOf(2, KNOWN_CODES),
      beforeMs: filter.numberOrNull(3),
      sinceMs: filter.numberOrNull(4),
    },
    rate: wish.isNull(1) ? null : rateIn(wish.tuple(1, 2), () => wish.wrong(1)),
    way: wish.oneOf(2, WAYS),
    who: wish.textOrNull(3),
    matched: read.count(3),
    untilMs: read.number(4),
    stage: progress.oneOf(0, STAGES),
    changedAtMs: progress.number(1),
    after: progress.textOrNull(2),
    dueAtMs: progress.number(3),
    queued: progress.count(4),
    blocked: progress.count(5),
    left: Object.fromEntries(progress.items(6, (it) => [it.oneOf(0, LEFT_REASONS), it.count(1)] as const)),
  };
  return filter.poison ?? wish.poison ?? progress.poison ?? read.poison ?? redrive;
}

function rateIn(read: Fields, refuse: () => void): RedriveRate {
  const rate = { letters: read.number(0), perMs: read.number(1) };
  if (!(rate.letters > 0 && rate.perMs > 0) || read.poison !== null) refuse();
  return rate;
}

const WAYS: ReadonlySet<Redrive['way']> = new Set(REDRIVE_WAYS);
const STAGES: ReadonlySet<Redrive['stage']> = new Set<Redrive['stage']>(['going', 'done', 'cancelled']);
const LEFT_REASONS: ReadonlySet<LeftReason> = new Set<LeftReason>([
  ...(Object.keys(CODES) as Code[]),
  ...(Object.keys(LEFT_WORDS) as (keyof typeof LEFT_WORDS)[]),
]);

// -- queue summaries --------------------------------------------------------------------------------------------

/** What a summary row holds: everything but the host, which is its key. */
export interface QueueCounts {
  readonly ready: number[];
  readonly heads: number[];
  readonly waiting: number;
  readonly parked: number;
  readonly blocked: number;
  readonly wakeAtMs: number | null;
}

export function encodeCounts({ waiting, parked, blocked, wakeAtMs, ready, heads }: QueueCounts): Buffer {
  return pack([2, waiting, parked, wakeAtMs, ...ready, ...heads, blocked]);
}

/** Before version 2 nothing was kept of rows that are blocked. */
export function decodeCounts(bytes: Uint8Array): QueueCounts | Poison {
  const row = decodeVersions(bytes, [4 + 2 * PRIORITY_CLASSES, 5 + 2 * PRIORITY_CLASSES]);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const ready: number[] = [];
  const heads: number[] = [];
  for (let i = 0; i < PRIORITY_CLASSES; i++) {
    ready.push(read.count(4 + i));
    heads.push(read.count(4 + PRIORITY_CLASSES + i));
  }
  const blocked = row[0] === 1 ? 0 : read.count(4 + 2 * PRIORITY_CLASSES);
  const counts = {
    ready,
    heads,
    waiting: read.count(1),
    parked: read.count(2),
    blocked,
    wakeAtMs: read.numberOrNull(3),
  };
  return read.poison ?? counts;
}

// -- host snapshots ---------------------------------------------------------------------------------------------

export function encodeSnapshot(snapshot: HostSnapshot): Buffer {
  const { breaker, throttle, closedUntilMs, lastDurationMs, requests, recheckFrom, stamp } = snapshot;
  const { ladder, browserTime, retryBudget } = snapshot;
  const at = stamp === null ? null : [stamp.boot, stamp.uptimeMs, stamp.wallMs];
  const climbs = [encodeNeed(ladder.need), encodeClearance(ladder.clearance), browserTime.day, browserTime.usedMs];
  const retries = retryBudget === null ? null : [retryBudget.left, retryBudget.atMs];
  return pack([5, breaker, throttle, closedUntilMs, lastDurationMs, requests, recheckFrom, at, climbs, retries]);
}

/** Shallow: the shapes of breaker and throttle belong to their policies. */
export function decodeSnapshot(bytes: Uint8Array): HostSnapshot | Poison {
  const row = decodeVersions(bytes, [6, 7, 8, 9, 10]);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  if (!isObject(row[1]) || typeof row[1].phase !== 'string') read.wrong(1);
  if (!isObject(row[2]) || typeof row[2].consecutive !== 'number') read.wrong(2);
  const snapshot = {
    breaker: row[1],
    throttle: row[2],
    closedUntilMs: read.numberOrNull(3),
    lastDurationMs: read.numberOrNull(4),
    requests: read.count(5),
    recheckFrom: row[0] === 1 || row[6] === null ? null : read.count(6),
    stamp: stampIn(row[7]),
    ...(row.length < 9 ? NEVER_CLIMBED : climbsIn(read.tuple(8, 4), () => read.wrong(8))),
    // Before version 5 retries had no budget.
    retryBudget: row.length < 10 || row[9] === null ? null : budgetIn(read.tuple(9, 2), () => read.wrong(9)),
  };
  return read.poison ?? (snapshot as unknown as HostSnapshot);
}

function budgetIn(read: Fields, refuse: () => void): RetryBudget {
  const budget = { left: read.number(0), atMs: read.number(1) };
  if (read.poison !== null) refuse();
  return budget;
}

/** Before version 4. */
const NEVER_CLIMBED: Pick<HostSnapshot, 'ladder' | 'browserTime'> = { ladder: ON_THE_GROUND, browserTime: UNUSED };

function encodeNeed(need: Need | null): readonly unknown[] | null {
  return need === null ? null : [need.tier, need.cause, need.believedUntilMs, need.believedForMs, need.clearance];
}

function encodeClearance(clearance: Clearance | null): readonly unknown[] | null {
  if (clearance === null) return null;
  const { scheme, userAgent, expiresAtMs, cookies } = clearance;
  const rows = cookies.map((it) => [it.name, it.value, it.domain, it.path, it.expiresAtMs]);
  return [scheme, userAgent, expiresAtMs, rows];
}

function climbsIn(read: Fields, refuse: () => void): Pick<HostSnapshot, 'ladder' | 'browserTime'> {
  const climbs = {
    ladder: {
      need: read.isNull(0) ? null : needIn(read.tuple(0, 5), () => read.wrong(0)),
      clearance: read.isNull(1) ? null : clearanceIn(read.tuple(1, 4), () => read.wrong(1)),
    },
    browserTime: { day: read.count(2), usedMs: read.count(3) },
  };
  if (read.poison !== null) refuse();
  return climbs;
}

function needIn(read: Fields, refuse: () => void): Need {
  const tier = tierIn(read, 0);
  if (tier === 1) read.wrong(0);
  const need: Need = {
    tier: tier as Need['tier'],
    cause: read.oneOf(1, SIGNALS),
    believedUntilMs: read.number(2),
    believedForMs: read.number(3),
    clearance: read.oneOf(4, RECEPTIONS),
  };
  if (read.poison !== null) refuse();
  return need;
}

const SIGNALS: ReadonlySet<Signal> = new Set<Signal>(['http_forbidden', 'challenge', 'script_shell']);
const RECEPTIONS: ReadonlySet<Need['clearance']> = new Set<Need['clearance']>(['welcome', 'spurned']);
const SCHEMES: ReadonlySet<Clearance['scheme']> = new Set<Clearance['scheme']>(['http', 'https']);

function clearanceIn(read: Fields, refuse: () => void): Clearance {
  const clearance: Clearance = {
    scheme: read.oneOf(0, SCHEMES),
    userAgent: read.text(1),
    expiresAtMs: read.number(2),
    cookies: read.items(3, (it) => ({
      name: it.text(0),
      value: it.text(1),
      domain: it.text(2),
      path: it.text(3),
      expiresAtMs: it.numberOrNull(4),
    })),
  };
  if (read.poison !== null) refuse();
  return clearance;
}

/** Null where it can't be read: then nothing is known of the machine, which is no reason to forget the host. */
function stampIn(value: unknown): HostSnapshot['stamp'] {
  if (!Array.isArray(value)) return null;
  const [boot, uptimeMs, wallMs] = value as unknown[];
  if (typeof boot !== 'number' || typeof uptimeMs !== 'number' || typeof wallMs !== 'number') return null;
  return { boot, uptimeMs, wallMs };
}

// -- robots rules -----------------------------------------------------------------------------------------------

export function encodeRobots(state: OriginRobots): Buffer {
  return pack([2, state]);
}

/**
 * What is in force must be whole: a copy without its rules or its age would allow what it forbids. Before version 2 a
 * copy had no validators.
 */
export function decodeRobots(bytes: Uint8Array): OriginRobots | Poison {
  const row = decodeVersions(bytes, [2, 2]);
  if (row instanceof Poison) return row;
  const state = row[0] === 1 ? withoutValidators(row[1]) : row[1];
  const read = new Fields(row);
  if (!isObject(state)) read.wrong(1);
  else if (state.phase === 'fresh' && !isCopy(state)) read.wrong(1);
  else if (state.phase === 'unreachable' && !isUnreachable(state)) read.wrong(1);
  else if (!['fresh', 'unreachable', 'unknown'].includes(String(state.phase))) read.wrong(1);
  return read.poison ?? (state as unknown as OriginRobots);
}

function withoutValidators(state: unknown): unknown {
  if (!isObject(state)) return state;
  if (state.phase === 'fresh') return { ...state, validators: null };
  const { lastGood } = state;
  return isObject(lastGood) ? { ...state, lastGood: { ...lastGood, validators: null } } : state;
}

function isCopy(value: unknown): boolean {
  if (!isObject(value) || typeof value.fetchedAtMs !== 'number' || typeof value.status !== 'number') return false;
  const { rules, validators } = value;
  if (validators !== null && !isValidators(validators)) return false;
  if (!isObject(rules) || !Array.isArray(rules.rules)) return false;
  return rules.rules.every(
    (rule) => isObject(rule) && typeof rule.allow === 'boolean' && typeof rule.pattern === 'string',
  );
}

function isValidators(value: unknown): boolean {
  if (!isObject(value) || typeof value.url !== 'string') return false;
  return [value.etag, value.lastModified].every((it) => it === null || typeof it === 'string');
}

function isUnreachable(value: { readonly [field: string]: unknown }): boolean {
  if (typeof value.retryAtMs !== 'number' || typeof value.attempts !== 'number') return false;
  if (!['undefined', 'number', 'string'].includes(typeof value.cause)) return false;
  return value.lastGood === null || isCopy(value.lastGood);
}

// -- digests, poison --------------------------------------------------------------------------------------------

/** What a later revisit record must be able to refer to. The digest is the row's key. */
export type DigestOrigin = Omit<Archived, 'payloadDigest'>;

export function encodeDigest(origin: DigestOrigin): Buffer {
  return pack([1, origin.url, origin.atMs, origin.recordId]);
}

export function decodeDigest(bytes: Uint8Array): DigestOrigin | Poison {
  const row = decodeTuple(bytes, 1, 4);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const origin = { url: read.text(1), atMs: read.number(2), recordId: read.text(3) };
  return read.poison ?? origin;
}

export function encodePoison(reason: string, value: Uint8Array | null): Buffer {
  return pack([1, reason, value]);
}

// -- files ------------------------------------------------------------------------------------------------------

export interface FileMark {
  /** What is committed of the file. */
  readonly length: number;
  /** Where the last thing that was appended begins: what a look at the file's tail must find whole. */
  readonly lastStart: number;
}

export function encodeFile(mark: FileMark): Buffer {
  return pack([1, mark.length, mark.lastStart]);
}

export function decodeFile(bytes: Uint8Array): FileMark | Poison {
  const row = decodeTuple(bytes, 1, 3);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const mark = { length: read.count(1), lastStart: read.count(2) };
  if (mark.lastStart > mark.length) read.wrong(2);
  return read.poison ?? mark;
}

/** What one batch appended since the last sync commit: where, and on whose behalf. */
export interface UnsyncedBatch {
  readonly segments: readonly { readonly file: string; readonly start: number; readonly end: number }[];
  readonly visits: readonly { readonly key: UrlKey; readonly host: HostName }[];
  /** Payloads that were archived whole. */
  readonly digests: readonly string[];
  readonly pages: number;
}

export function encodeUnsynced(batch: UnsyncedBatch): Buffer {
  return pack([
    2,
    batch.segments.map((it) => [it.file, it.start, it.end]),
    batch.visits.map((it) => [it.key, it.host]),
    batch.pages,
    batch.digests,
  ]);
}

export function decodeUnsynced(bytes: Uint8Array): UnsyncedBatch | Poison {
  const row = decodeVersions(bytes, [4, 5]);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const batch = {
    segments: read.items(1, (it) => ({ file: it.text(0), start: it.count(1), end: it.count(2) })),
    visits: read.items(2, (it) => ({ key: it.text(0), host: it.text(1) })),
    pages: read.count(3),
    digests: row.length === 4 ? [] : read.texts(4),
  };
  return read.poison ?? batch;
}

// -- meta -------------------------------------------------------------------------------------------------------

export interface StoreState {
  readonly batch: number;
  readonly nextSequence: number;
  readonly totals: Totals;
  /** The number of the archive file that is being written. */
  readonly archiveNumber: number;
}

export function encodeState(state: StoreState): Buffer {
  const { urls, ready, waiting, parked, dead, pages } = state.totals;
  return pack([1, state.batch, state.nextSequence, urls, ready, waiting, parked, dead, pages, state.archiveNumber]);
}

export function decodeState(bytes: Uint8Array): StoreState | Poison {
  const row = decodeTuple(bytes, 1, 10);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const state: StoreState = {
    batch: read.count(1),
    nextSequence: read.count(2),
    totals: {
      urls: read.count(3),
      ready: read.count(4),
      waiting: read.count(5),
      parked: read.count(6),
      dead: read.count(7),
      pages: read.count(8),
    },
    archiveNumber: read.count(9),
  };
  return read.poison ?? state;
}

// -- settings ---------------------------------------------------------------------------------------------------

/** All settings but the hosts of the scope, which have rows of their own. */
export type SettingsRow = Omit<CrawlSettings, 'scopeHosts'>;

export function encodeSettings({ exclusions, paused }: SettingsRow): Buffer {
  return pack([1, exclusions, paused]);
}

export function decodeSettings(bytes: Uint8Array): SettingsRow | Poison {
  const row = decodeTuple(bytes, 1, 3);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const settings: SettingsRow = { exclusions: read.patterns(1), paused: read.flag(2) };
  return read.poison ?? settings;
}

export function encodeVersion(version: number): Buffer {
  return pack([1, version]);
}

export function decodeVersion(bytes: Uint8Array): number | Poison {
  const row = decodeTuple(bytes, 1, 2);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const version = read.count(1);
  return read.poison ?? version;
}

export function encodeTold(told: string): Buffer {
  return pack([1, told]);
}

export function decodeTold(bytes: Uint8Array): string | Poison {
  const row = decodeTuple(bytes, 1, 2);
  if (row instanceof Poison) return row;
  const read = new Fields(row);
  const told = read.text(1);
  return read.poison ?? told;
}

// -- reading ----------------------------------------------------------------------------------------------------

function decodeTuple(bytes: Uint8Array, version: number, length: number): readonly unknown[] | Poison {
  const lengths = new Array<number>(version).fill(0);
  lengths[version - 1] = length;
  return decodeVersions(bytes, lengths);
}

/** @param lengths of the tuple, by version from 1 on; 0 for a version that is not read */
function decodeVersions(bytes: Uint8Array, lengths: readonly number[]): readonly unknown[] | Poison {
  let value: unknown;
  try {
    value = packr.unpack(bytes);
  } catch (error) {
    return new Poison(`not msgpack: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(value)) return new Poison('not a tuple');
  const version: unknown = value[0];
  const length = typeof version === 'number' ? (lengths[version - 1] ?? 0) : 0;
  if (length === 0) return new Poison(`version ${String(version)} of its shape is not known`);
  if (value.length !== length) return new Poison(`${value.length} fields instead of ${length}`);
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Looks at the fields of a tuple one by one, and remembers the first that does not fit. */
class Fields {
  poison: Poison | null = null;
  constructor(private readonly row: readonly unknown[]) {}

  wrong(index: number): void {
    this.poison ??= new Poison(`field ${index} does not fit`);
  }

  /** For a field that may be absent at the end. */
  has(index: number): boolean {
    return index < this.row.length;
  }

  text(index: number): string {
    const value = this.row[index];
    if (typeof value === 'string') return value;
    this.wrong(index);
    return '';
  }

  isNull(index: number): boolean {
    return this.row[index] === null;
  }

  textOrNull(index: number): string | null {
    return this.row[index] === null ? null : this.text(index);
  }

  number(index: number): number {
    const value = this.row[index];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.wrong(index);
    return 0;
  }

  numberOrNull(index: number): number | null {
    return this.row[index] === null ? null : this.number(index);
  }

  /** A whole number from 0 on. */
  count(index: number): number {
    const value = this.row[index];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    this.wrong(index);
    return 0;
  }

  oneOf<T extends string>(index: number, known: ReadonlySet<T>): T {
    const value = this.row[index] as T;
    if (!known.has(value)) this.wrong(index);
    return value;
  }

  texts(index: number): string[] {
    const values = this.list(index);
    if (!values.every((value) => typeof value === 'string')) this.wrong(index);
    return values as string[];
  }

  flag(index: number): boolean {
    const value = this.row[index];
    if (typeof value !== 'boolean') this.wrong(index);
    return value === true;
  }

  /** Patterns of URLs. */
  patterns(index: number): string[] {
    return this.list(index).map((value) => {
      if (typeof value === 'string' && !isProblem(patternOf(value))) return value;
      this.wrong(index);
      return '';
    });
  }

  list(index: number): readonly unknown[] {
    const value = this.row[index];
    if (Array.isArray(value)) return value;
    this.wrong(index);
    return [];
  }

  tuple(index: number, length: number): Fields {
    const fields = this.fields(index);
    if (fields.row.length !== length) this.wrong(index);
    return fields;
  }

  /** A tuple whose last fields may be absent. */
  fields(index: number): Fields {
    return new Fields(this.list(index));
  }

  items<T>(index: number, decode: (item: Fields) => T): T[] {
    return this.list(index).map((value) => {
      const item = new Fields(Array.isArray(value) ? value : []);
      const decoded = decode(item);
      if (item.poison !== null) this.wrong(index);
      return decoded;
    });
  }
}
