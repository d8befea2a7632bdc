/**
 * Reading: the head of a host's queue with its records, hosts that have work, single records.
 *
 * A class is read from its head on, so that the tombstones of what was visited before are never walked over, and a
 * class that is counted empty isn't read at all. The records of all rows are then fetched in one go.
 *
 * Reads go beside commits and never change what is counted: what they find wrong is noted, and the next batch sets
 * it right.
 */
import { type HostName, partitionOf } from '../domain/host.js';
import {
  type DeadLetter,
  PRIORITY_CLASSES,
  type QueueEntry,
  type QueueSummary,
  type Standing,
  type UrlRecord,
} from '../domain/record.js';
import type { Redrive } from '../domain/redrive.js';
import type { UrlKey } from '../domain/url.js';
import { isMeant } from '../policy/redrive.js';
import type { BlockedRows, HostsListed, QueueHead, RedrivablePage, RedrivableQuery } from '../protocols/effects.js';
import type { HostSnapshot, RobotsEntry } from '../protocols/host-snapshot.js';
import type { DeadPage, SummaryPage } from '../protocols/ports.js';
import {
  decodeCounts,
  decodeDead,
  decodeRecord,
  decodeRedrive,
  decodeRobots,
  decodeSnapshot,
  Poison,
} from './codec.js';
import { type Database, readRange, scanRange } from './database.js';
import type { PoisonList } from './poison.js';
import { bestClass, emptyQueue, type HostQueue, recount, summaryOf } from './queues.js';
import {
  deadKey,
  hostOfKey,
  KIND,
  kindRange,
  blockedRange,
  originOfKey,
  positionOf,
  queueRange,
  type Range,
  readyRange,
  redriveKey,
  redriveOfKey,
  registryKey,
  robotsRange,
  snapshotKey,
  summaryKey,
  urlKeyBytes,
  urlKeyOf,
} from './schema.js';

/** What reading needs of an open store. */
export interface Readable {
  readonly database: Database;
  readonly poison: PoisonList;
  /** Counts of hosts as of the last batch: fewer than there are. */
  readonly queues: { get(host: HostName): HostQueue | undefined };
  /** Hosts whose counts don't fit their rows: counted anew before the next batch. */
  readonly suspects: Set<HostName>;
}

/** Counts of a host, from memory, from its row, or, where that can't be read, from its queue. Null: never seen. */
export async function readQueueCounts(store: Readable, host: HostName, notes: string[]): Promise<HostQueue | null> {
  const cached = store.queues.get(host);
  if (cached !== undefined) return cached;
  const fresh = emptyQueue(host);
  const rowKey = summaryKey(fresh.partition, host);
  const value = await store.database.get(rowKey);
  return value === undefined ? null : queueOfRow(store, host, rowKey, value, notes);
}

async function queueOfRow(
  store: Readable,
  host: HostName,
  rowKey: Buffer,
  value: Buffer,
  notes: string[],
): Promise<HostQueue> {
  const counts = decodeCounts(value);
  if (!(counts instanceof Poison)) return { ...emptyQueue(host), ...counts };
  notes.push(store.poison.note({ rowKey, value, reason: counts.reason, queued: null }));
  store.suspects.add(host);
  return (await recount(store.database, host, null)).queue;
}

export async function readSnapshot(store: Readable, queue: HostQueue, notes: string[]): Promise<HostSnapshot | null> {
  const rowKey = snapshotKey(queue.partition, queue.host);
  const value = await store.database.get(rowKey);
  if (value === undefined) return null;
  const snapshot = decodeSnapshot(value);
  if (!(snapshot instanceof Poison)) return snapshot;
  notes.push(store.poison.note({ rowKey, value, reason: snapshot.reason, queued: null }));
  return null;
}

/** Rules of the host's origins. A row that can't be read is as if it had never been: robots.txt is asked for again. */
export async function readRobots(store: Readable, queue: HostQueue, notes: string[]): Promise<RobotsEntry[]> {
  const entries: RobotsEntry[] = [];
  for (const [rowKey, value] of await readRange(
    store.database,
    robotsRange(queue.partition, queue.host),
    ORIGINS_MAX,
  )) {
    const state = decodeRobots(value);
    if (state instanceof Poison) notes.push(store.poison.note({ rowKey, value, reason: state.reason, queued: null }));
    else entries.push({ origin: originOfKey(rowKey), state });
  }
  return entries;
}

/** A host has a handful of schemes and ports; whoever has more is asked for its rules again. */
const ORIGINS_MAX = 64;

export async function readRecord(
  store: Readable,
  partition: number,
  key: UrlKey,
  host: HostName,
): Promise<UrlRecord | null> {
  const value = await store.database.get(registryKey(partition, key));
  if (value === undefined) return null;
  const record = decodeRecord(value, key, host);
  return record instanceof Poison ? null : record;
}

export async function readDead(
  store: Readable,
  partition: number,
  key: UrlKey,
  host: HostName,
): Promise<DeadLetter | null> {
  const value = await store.database.get(deadKey(partition, key));
  if (value === undefined) return null;
  const letter = decodeDead(value, key);
  return letter instanceof Poison || letter.host !== host ? null : letter;
}

/**
 * Ready rows of better classes are counted, not read; within its own class, and in the other queues, rows are read from
 * the head on until the URL's own is met.
 */
export async function readStanding(
  store: Readable,
  queue: HostQueue,
  record: UrlRecord,
  rowsMax: number,
): Promise<Standing | null> {
  const { host, priority } = record;
  const { partition } = queue;
  switch (record.state) {
    case 'queued': {
      const better = queue.ready.slice(0, priority).reduce((sum, count) => sum + count, 0);
      const range = readyRange(partition, host, priority, queue.heads[priority] ?? 0);
      const found = await placeAmong(store.database, range, record.key, rowsMax);
      return found === null ? null : { at: found.at, before: better + found.before };
    }
    case 'waiting':
    case 'parked':
      return placeAmong(store.database, queueRange(record.state, partition, host), record.key, rowsMax);
    default:
      return null;
  }
}

async function placeAmong(database: Database, range: Range, key: UrlKey, rowsMax: number): Promise<Standing | null> {
  const wanted = urlKeyBytes(key);
  let before = 0;
  for await (const rows of scanRange(database, range)) {
    for (const [rowKey, value] of rows) {
      if (before === rowsMax) return { at: null, before };
      if (wanted.equals(value)) return { at: positionOf(rowKey), before };
      before += 1;
    }
  }
  return null;
}

// -- heads of queues --------------------------------------------------------------------------------------------

/** @param from lowest ready sequence wanted, a class each. */
export async function readHead(
  store: Readable,
  queue: HostQueue,
  from: readonly number[],
  limit: number,
  notes: string[],
): Promise<QueueHead> {
  const [ready, waiting, parked] = await Promise.all([
    readReady(store.database, queue, from, limit),
    queue.waiting === 0
      ? NOTHING
      : readWhole(store.database, queueRange('waiting', queue.partition, queue.host), limit),
    queue.parked === 0 ? NOTHING : readWhole(store.database, queueRange('parked', queue.partition, queue.host), limit),
  ]);
  const entries = await withRecords(store, queue, [...ready.rows, ...waiting.rows, ...parked.rows], notes);
  return {
    ready: entries.filter((it) => it.at.queue === 'ready'),
    readyComplete: ready.complete,
    waiting: entries.filter((it) => it.at.queue === 'waiting'),
    waitingComplete: waiting.complete,
    parked: entries.filter((it) => it.at.queue === 'parked'),
    parkedComplete: parked.complete,
    notes,
    failure: null,
  };
}

/** Blocked rows from a sequence on, with their records. */
export async function readBlocked(
  store: Readable,
  queue: HostQueue,
  fromSequence: number,
  limit: number,
  notes: string[],
): Promise<BlockedRows> {
  if (queue.blocked === 0) return { entries: [], complete: true, notes, failure: null };
  const { rows, complete } = await readWhole(
    store.database,
    blockedRange(queue.partition, queue.host, fromSequence),
    limit,
  );
  return { entries: await withRecords(store, queue, rows, notes), complete, notes, failure: null };
}

export function unreadHead(failure: string): QueueHead {
  return {
    ready: [],
    readyComplete: false,
    waiting: [],
    waitingComplete: false,
    parked: [],
    parkedComplete: false,
    notes: [],
    failure,
  };
}

export const EMPTY_HEAD: QueueHead = {
  ready: [],
  readyComplete: true,
  waiting: [],
  waitingComplete: true,
  parked: [],
  parkedComplete: true,
  notes: [],
  failure: null,
};

/** Whether as many rows follow the heads as are counted, in the classes that are read whole. */
export function agrees(queue: HostQueue, head: QueueHead): boolean {
  const seen = new Array<number>(PRIORITY_CLASSES).fill(0);
  for (const { at } of head.ready) {
    if (at.queue === 'ready') seen[at.priority] = (seen[at.priority] as number) + 1;
  }
  const last = head.ready.at(-1)?.at;
  const lastClass = head.readyComplete ? PRIORITY_CLASSES : last?.queue === 'ready' ? last.priority : 0;
  return seen.every((count, i) => i >= lastClass || count === queue.ready[i]);
}

interface Rows {
  readonly rows: readonly [Buffer, Buffer][];
  readonly complete: boolean;
}

const NOTHING: Rows = { rows: [], complete: true };

async function readWhole(database: Database, range: Range, limit: number): Promise<Rows> {
  const rows = await readRange(database, range, limit);
  return { rows, complete: rows.length < limit };
}

/** Class by class, the best first. */
async function readReady(database: Database, queue: HostQueue, from: readonly number[], limit: number): Promise<Rows> {
  const rows: [Buffer, Buffer][] = [];
  for (let i = 0; i < PRIORITY_CLASSES; i++) {
    if (queue.ready[i] === 0) continue;
    const room = limit - rows.length;
    if (room === 0) return { rows, complete: false };
    const range = readyRange(queue.partition, queue.host, i, Math.min(from[i] ?? 0, Number.MAX_SAFE_INTEGER));
    const more = await readRange(database, range, room);
    rows.push(...more);
    if (more.length === room) return { rows, complete: false };
  }
  return { rows, complete: true };
}

/** Joins rows with their records. A row without one is set aside. */
async function withRecords(
  store: Readable,
  queue: HostQueue,
  rows: readonly [Buffer, Buffer][],
  notes: string[],
): Promise<QueueEntry[]> {
  if (rows.length === 0) return [];
  const keys = rows.map(([, value]) => value.toString('hex'));
  const valid = keys.map((it) => it.length === 32);
  const values = await store.database.getMany(
    keys.filter((_, i) => valid[i]).map((it) => registryKey(queue.partition, it)),
  );
  const entries: QueueEntry[] = [];
  let next = 0;
  rows.forEach(([rowKey, value], i) => {
    const at = positionOf(rowKey);
    const bytes = valid[i] ? values[next++] : undefined;
    const record = recordOf(bytes, keys[i] as string, queue.host, valid[i] as boolean);
    if (at !== null && !(record instanceof Poison)) {
      entries.push({ at, record });
      return;
    }
    const reason = record instanceof Poison ? record.reason : 'not a queue key';
    notes.push(store.poison.note({ rowKey, value, reason, queued: at === null ? null : { host: queue.host, at } }));
    if (bytes !== undefined) {
      store.poison.note({
        rowKey: registryKey(queue.partition, keys[i] as string),
        value: bytes,
        reason,
        queued: null,
      });
    }
  });
  return entries;
}

function recordOf(bytes: Buffer | undefined, key: UrlKey, host: HostName, valid: boolean): UrlRecord | Poison {
  if (!valid) return new Poison('its value is no URL key');
  if (bytes === undefined) return new Poison('the registry does not know its URL');
  return decodeRecord(bytes, key, host);
}

// -- scans ------------------------------------------------------------------------------------------------------

/** Rows of summaries that are looked at in one go. */
const LIST_ROWS = 1000;

/** Hosts with rows in any queue. `limit` hosts at most. */
export async function listHosts(
  store: Readable,
  after: HostName | null,
  limit: number,
  notes: string[],
): Promise<Omit<HostsListed, 'type'>> {
  const { gte, lt } = kindRange(KIND.summary);
  const from = after === null ? { gte } : { gt: summaryKey(emptyQueue(after).partition, after) };
  const hosts: HostsListed['hosts'][number][] = [];
  const iterator = store.database.iterator({ ...from, lt });
  try {
    for (;;) {
      const rows = await iterator.nextv(Math.min(LIST_ROWS, limit));
      if (rows.length === 0) return { hosts, complete: true, notes, failure: null };
      for (const [rowKey, value] of rows) {
        const host = hostOfKey(rowKey);
        const queue = await queueOfRow(store, host, rowKey, value, notes);
        const best = bestClass(queue.ready);
        if (best !== null || queue.waiting + queue.parked + queue.blocked > 0)
          hosts.push({ host, best, wakeAtMs: queue.wakeAtMs });
        if (hosts.length >= limit) return { hosts, complete: false, notes, failure: null };
      }
    }
  } finally {
    await iterator.close();
  }
}

/** Of all hosts, also of those with nothing queued. What can't be read is counted anew, as everywhere. */
export async function listSummaries(store: Readable, after: HostName | null, limit: number): Promise<SummaryPage> {
  const { gte, lt } = kindRange(KIND.summary);
  const from = after === null ? { gte } : { gt: summaryKey(emptyQueue(after).partition, after) };
  const iterator = store.database.iterator({ ...from, lt, limit });
  const summaries: QueueSummary[] = [];
  try {
    while (summaries.length < limit) {
      const rows = await iterator.nextv(Math.min(LIST_ROWS, limit - summaries.length));
      if (rows.length === 0) return { summaries, complete: true };
      for (const [rowKey, value] of rows) {
        const host = hostOfKey(rowKey);
        summaries.push(summaryOf(await queueOfRow(store, host, rowKey, value, [])));
      }
    }
    return { summaries, complete: false };
  } finally {
    await iterator.close();
  }
}

/** Dead letters of all partitions, `limit` rows at most; those that can't be read are set aside and passed over. */
export async function listDead(store: Readable, after: string | null, limit: number): Promise<DeadPage> {
  const { gte, lt } = kindRange(KIND.dead);
  const from = after === null ? { gte } : { gt: Buffer.concat([gte, Buffer.from(after, 'hex')]) };
  const iterator = store.database.iterator({ ...from, lt, limit });
  const letters: DeadLetter[] = [];
  let last: Buffer | null = null;
  let seen = 0;
  try {
    while (seen < limit) {
      const rows = await iterator.nextv(Math.min(LIST_ROWS, limit - seen));
      if (rows.length === 0) return { letters, next: null };
      for (const [rowKey, value] of rows) {
        const letter = decodeDead(value, urlKeyOf(rowKey));
        if (letter instanceof Poison) store.poison.note({ rowKey, value, reason: letter.reason, queued: null });
        else letters.push(letter);
        last = rowKey;
      }
      seen += rows.length;
    }
    return { letters, next: last === null ? null : last.toString('hex', 1) };
  } finally {
    await iterator.close();
  }
}

/** Rows that one page of a redrive looks at: a filter that nothing meets must leave room for others. */
const REDRIVABLE_ROWS_MAX = 20_000;

/** The letters that a redrive means, from where it has come to, and what has to be known of each to admit it. */
export async function readRedrivable(store: Readable, query: RedrivableQuery): Promise<RedrivablePage> {
  const found: DeadLetter[] = [];
  let next = query.after;
  for (let seen = 0; found.length < query.limit && seen < REDRIVABLE_ROWS_MAX; ) {
    const rows = Math.min(REDRIVABLE_ROWS_MAX - seen, Math.max(LIST_ROWS, query.limit));
    const page = await listDead(store, next, rows);
    seen += rows;
    const meant = page.letters.filter((letter) => isMeant(letter, query));
    const taken = meant.slice(0, query.limit - found.length);
    found.push(...taken);
    const last = taken.at(-1);
    next = taken.length < meant.length && last !== undefined ? cursorOf(last) : page.next;
    if (next === null) break;
  }
  const robots = new Map<HostName, readonly RobotsEntry[]>();
  for (const { host } of found) {
    if (!robots.has(host)) robots.set(host, await readRobots(store, emptyQueue(host), []));
  }
  return { letters: await withTheirRecords(store, found), robots, next };
}

/** As `listDead` names where a page ends. */
function cursorOf({ host, key }: DeadLetter): string {
  return deadKey(partitionOf(host), key).toString('hex', 1);
}

async function withTheirRecords(store: Readable, letters: readonly DeadLetter[]): Promise<RedrivablePage['letters']> {
  const values = await store.database.getMany(letters.map(({ host, key }) => registryKey(partitionOf(host), key)));
  return letters.map((letter, i) => {
    const value = values[i];
    const record = value === undefined ? null : decodeRecord(value, letter.key, letter.host);
    return { letter, record: record instanceof Poison ? null : record };
  });
}

/** Redrives with smaller numbers than `before`, the newest first. One that can't be read is left out, and noted. */
export async function listRedrives(store: Readable, before: number | null, limit: number): Promise<Redrive[]> {
  const { gte, lt } = kindRange(KIND.redrive);
  const end = before === null ? lt : redriveKey(before);
  const iterator = store.database.iterator({ gte, lt: end, reverse: true, limit });
  try {
    const redrives: Redrive[] = [];
    for (const [rowKey, value] of await iterator.nextv(limit)) {
      const redrive = redriveIn(rowKey, value);
      if (redrive instanceof Poison) store.poison.note({ rowKey, value, reason: redrive.reason, queued: null });
      else redrives.push(redrive);
    }
    return redrives;
  } finally {
    await iterator.close();
  }
}

export function redriveIn(rowKey: Buffer, value: Buffer): Redrive | Poison {
  const number = redriveOfKey(rowKey);
  return number === null ? new Poison('its key is no number') : decodeRedrive(value, number);
}

const KEY_ROWS = 4096;

export async function eachKey(database: Database, visit: (key: UrlKey) => void): Promise<void> {
  const iterator = database.keys(kindRange(KIND.registry));
  try {
    for (;;) {
      const keys = await iterator.nextv(KEY_ROWS);
      if (keys.length === 0) return;
      for (const key of keys) visit(urlKeyOf(key));
    }
  } finally {
    await iterator.close();
  }
}
