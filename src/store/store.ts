/**
 * The store: StorePort on one LevelDB and a few append-only files.
 *
 * A commit is: append to the files, force them to the disk if asked, write one batch, remember what it changed. The
 * port is called one commit at a time; reads go beside.
 *
 * 1. What was acknowledged is in the store and in the files, after a kill at any instruction (D1, D2). With `sync` it
 *    is on the disk, and no other commit comes between the files and the batch (D7).
 * 2. After any failed write nothing is written until the database was closed and opened again (D3): LevelDB keeps
 *    acknowledging after a failed write to its log, and then loses what it acknowledged.
 */
import { join } from 'node:path';
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import { partitionOf } from '../domain/host.js';
import type { DeadLetter, QueueSummary, Standing, UrlRecord, UrlState } from '../domain/record.js';
import type { Redrive } from '../domain/redrive.js';
import type { UrlKey } from '../domain/url.js';
import type { CommitReceipt, Part } from '../protocols/commit.js';
import type {
  BlockedRead,
  HostLoaded,
  HostsListed,
  QueueHead,
  QueueRead,
  RedrivablePage,
  RedrivableQuery,
} from '../protocols/effects.js';
import { StoreError, type StoreOpening, type StorePort, type DeadPage, type SummaryPage } from '../protocols/ports.js';
import { type FileSystem, realFiles } from '../sinks/files.js';
import { build, Miscount, type Prepared, prepare } from './batch.js';
import { decodeTold, encodeRecord, encodeTold, Poison } from './codec.js';
import { type Database, levelDatabase, RowBatch } from './database.js';
import { storeErrorFrom } from './errors.js';
import { archiveFile, indexFileOf, isIndex } from './appending.js';
import { type OpeningOptions, openSession, readScopeHosts, type Session } from './opening.js';
import { bestClass, type HostQueue, recount, summaryOf } from './queues.js';
import * as reading from './reading.js';
import { META, registryKey, unsyncedKey } from './schema.js';
import { noteSorted, sortIndex } from './sorting.js';

export interface StoreOptions {
  /** The data directory: `store/` for the database, the archive and pages beside it. */
  readonly dir: string;
  /** A database with binary keys and values at a path. LevelDB when not given. */
  readonly open?: (path: string) => Database;
  /** The real file system below `dir` when not given. */
  readonly fileSystem?: FileSystem;
  /** The warcinfo record, one gzip member, that a new archive file begins with; gets the file's name. */
  readonly warcinfo: (filename: string) => Uint8Array;
  /** A new archive file is begun before one grows beyond. 1 GB when not given. */
  readonly archiveBytesMax?: number;
  /** Hosts whose queue counts are kept in memory. 50 000 when not given. */
  readonly cachedHostsMax?: number;
}

/** More than the frontier can have given and not yet seen committed; what is queued anew stands behind them. */
const SEQUENCES_UNDER_WAY = 2 ** 32;
const ARCHIVE_BYTES_MAX = 1_000_000_000;
const CACHED_HOSTS_MAX = 50_000;

/** Rejects with StoreError: `store_locked`, `store_newer_schema`, `store_corrupt`, `store_full`, `store_read_only`, `store_io`. */
export async function openStore(options: StoreOptions): Promise<StorePort> {
  const open = options.open ?? levelDatabase;
  const opening: OpeningOptions = {
    directory: options.dir,
    database: () => open(join(options.dir, 'store')),
    files: options.fileSystem ?? realFiles(options.dir),
    warcinfo: options.warcinfo,
    archiveBytesMax: options.archiveBytesMax ?? ARCHIVE_BYTES_MAX,
    cachedHostsMax: options.cachedHostsMax ?? CACHED_HOSTS_MAX,
  };
  const opened = await openSession(opening, { distrust: false, leap: 0 });
  return new Store(opening, opened.session, opened.opening);
}

/** States of URLs that are in a queue: their visit has not been completed. */
const IN_QUEUE: ReadonlySet<UrlState> = new Set(['queued', 'waiting', 'parked']);

type Phase =
  | { readonly is: 'open'; readonly session: Session }
  | { readonly is: 'committing'; readonly session: Session; readonly over: Promise<void> }
  /** `session` is what is still to be closed. */
  | { readonly is: 'failed'; readonly error: StoreError; readonly session: Session | null; readonly distrust: boolean }
  | { readonly is: 'closed' };

class Store implements StorePort {
  readonly #options: OpeningOptions;
  #phase: Phase;
  #opening: StoreOpening;
  #commitIsOver: () => void = () => {};

  constructor(options: OpeningOptions, session: Session, opening: StoreOpening) {
    this.#options = options;
    this.#phase = { is: 'open', session };
    this.#opening = opening;
  }

  opened(): StoreOpening {
    return this.#opening;
  }

  // -- writing --------------------------------------------------------------------------------------------------

  async commit(batch: number, parts: readonly Part[], sync: boolean): Promise<CommitReceipt> {
    const session = this.#begin();
    const progress = { syncFailed: false };
    try {
      const isThere = batch === session.state.batch;
      const receipt = isThere
        ? await receiptAgain(session, parts)
        : await write(session, { batch, parts, sync }, progress);
      this.#phase = { is: 'open', session };
      return receipt;
    } catch (error) {
      if (error instanceof Refusal) {
        this.#phase = { is: 'open', session };
        throw error.cause;
      }
      const failure = storeErrorFrom(error, `batch ${batch} can't be written`);
      this.#phase = { is: 'failed', error: failure, session, distrust: progress.syncFailed };
      throw failure;
    } finally {
      this.#commitIsOver();
    }
  }

  #begin(): Session {
    const phase = this.#phase;
    switch (phase.is) {
      case 'open':
        this.#phase = {
          is: 'committing',
          session: phase.session,
          over: new Promise((resolve) => {
            this.#commitIsOver = resolve;
          }),
        };
        return phase.session;
      case 'committing':
        throw new Error('one commit at a time: another is being written');
      case 'failed':
        throw new StoreError(phase.error.code, `the store must be opened again first: ${phase.error.message}`);
      case 'closed':
        throw closed();
    }
  }

  async reopen(): Promise<StoreOpening> {
    const phase = this.#phase;
    if (phase.is === 'closed') throw closed();
    if (phase.is === 'committing') throw new Error('a commit is being written');
    const distrust = phase.is === 'failed' && phase.distrust;
    const waiting = new StoreError('store_io', 'the store is being opened again');
    const error = phase.is === 'failed' ? phase.error : waiting;
    this.#phase = { is: 'failed', error, session: null, distrust };
    if (phase.session !== null) await shut(phase.session);
    try {
      const { session, opening } = await openSession(this.#options, {
        distrust,
        leap: SEQUENCES_UNDER_WAY,
      });
      if (this.#isClosed()) {
        await shut(session);
        throw closed();
      }
      this.#phase = { is: 'open', session };
      this.#opening = { ...opening, unclean: this.#opening.unclean };
      return this.#opening;
    } catch (failed) {
      const failure = storeErrorFrom(failed, "the store can't be opened again");
      if (this.#isClosed()) throw failure;
      this.#phase = { is: 'failed', error: failure, session: null, distrust };
      throw failure;
    }
  }

  #isClosed(): boolean {
    return this.#phase.is === 'closed';
  }

  async close(): Promise<void> {
    // Whoever closes may have waited for it as long as he could.
    if (this.#phase.is === 'committing') await this.#phase.over;
    const phase = this.#phase;
    if (phase.is === 'closed') return;
    if (phase.is === 'committing') throw new Error('a commit was begun while the store was to be closed');
    this.#phase = { is: 'closed' };
    if (phase.session === null) return;
    try {
      if (phase.is === 'open') await stop(phase.session);
    } catch (error) {
      throw storeErrorFrom(error, "the store can't be closed in order");
    } finally {
      await shut(phase.session);
    }
  }

  async countDeaths(urls: readonly { readonly key: UrlKey; readonly host: HostName }[]): Promise<UrlRecord[]> {
    return this.#readOrThrow(async (session) => {
      const counted: UrlRecord[] = [];
      const rows = new RowBatch(session.database);
      for (const { key, host } of urls) {
        const record = await reading.readRecord(session, partitionOf(host), key, host);
        if (record === null || !IN_QUEUE.has(record.state)) continue;
        const next = { ...record, processDeaths: record.processDeaths + 1 };
        rows.put(registryKey(partitionOf(host), key), encodeRecord(next));
        counted.push(next);
      }
      await rows.write(true);
      return counted;
    });
  }

  async noteRun(told: string): Promise<void> {
    await this.#readOrThrow(async ({ database }) => {
      const rows = new RowBatch(database);
      rows.put(META.told, encodeTold(told));
      await rows.write(true);
    });
  }

  // -- reading --------------------------------------------------------------------------------------------------

  async loadHost(host: HostName, limit: number): Promise<Omit<HostLoaded, 'type'>> {
    return this.#read(
      (session) => whileUnchanged(session, host, () => this.#load(session, host, limit)),
      (failure) => ({ ...nothingOf(host), head: reading.unreadHead(failure) }),
    );
  }

  async #load(session: Session, host: HostName, limit: number): Promise<Omit<HostLoaded, 'type'>> {
    const notes: string[] = [];
    const counted = await reading.readQueueCounts(session, host, notes);
    if (counted === null) return { ...nothingOf(host), head: reading.EMPTY_HEAD };
    const snapshot = await reading.readSnapshot(session, counted, notes);
    const robots = await reading.readRobots(session, counted, notes);
    const { queue, head } = await this.#readTrueHead(session, counted, counted.heads, limit, notes);
    return { host, snapshot, robots, summary: summaryOf(queue), head };
  }

  /**
   * Rows that don't come to as many as are counted are counted anew, and read from where they begin: a lower bound that
   * was too high, the store's or its host's, must hide nothing. A batch that is being written is waited for: its rows
   * may be there before its counts are.
   */
  async #readTrueHead(
    session: Session,
    counted: HostQueue,
    from: readonly number[],
    limit: number,
    notes: string[],
  ): Promise<{ readonly queue: HostQueue; readonly head: QueueHead }> {
    const { host } = counted;
    const head = await reading.readHead(session, counted, from, limit, notes);
    if (reading.agrees(counted, head)) return { queue: counted, head };
    const phase = this.#phase;
    if (phase.is === 'committing') {
      await phase.over;
      const now = (await reading.readQueueCounts(session, host, notes)) ?? counted;
      return this.#readTrueHead(session, now, from, limit, notes);
    }
    if (phase.is !== 'open') return { queue: counted, head };
    const { queue } = await recount(session.database, host, counted);
    session.suspects.add(host);
    notes.push(`counts of ${host} don't fit its rows: counted anew`);
    return { queue, head: await reading.readHead(session, queue, queue.heads, limit, notes) };
  }

  async readQueue(host: HostName, from: readonly number[], limit: number): Promise<Omit<QueueRead, 'type'>> {
    return this.#read(
      (session) =>
        whileUnchanged(session, host, async () => {
          const notes: string[] = [];
          const queue = await reading.readQueueCounts(session, host, notes);
          if (queue === null) return { host, head: reading.EMPTY_HEAD };
          return { host, head: (await this.#readTrueHead(session, queue, from, limit, notes)).head };
        }),
      (failure) => ({ host, head: reading.unreadHead(failure) }),
    );
  }

  async readBlocked(host: HostName, from: number, limit: number): Promise<Omit<BlockedRead, 'type'>> {
    return this.#read<Omit<BlockedRead, 'type'>>(
      async (session) => {
        const notes: string[] = [];
        const queue = await reading.readQueueCounts(session, host, notes);
        if (queue === null) return { host, rows: { entries: [], complete: true, notes, failure: null } };
        return { host, rows: await reading.readBlocked(session, queue, from, limit, notes) };
      },
      (failure) => ({ host, rows: { entries: [], complete: false, notes: [], failure } }),
    );
  }

  async listHosts(after: HostName | null, limit: number): Promise<Omit<HostsListed, 'type'>> {
    return this.#read(
      (session) => reading.listHosts(session, after, limit, []),
      (failure) => ({ hosts: [], complete: false, notes: [], failure }),
    );
  }

  async eachKey(visit: (key: UrlKey) => void): Promise<void> {
    await this.#readOrThrow((session) => reading.eachKey(session.database, visit));
  }

  async readRecord(key: UrlKey, host: HostName): Promise<UrlRecord | null> {
    return this.#readOrThrow((session) => reading.readRecord(session, partitionOf(host), key, host));
  }

  async readSummary(host: HostName): Promise<QueueSummary | null> {
    return this.#readOrThrow(async (session) => {
      const queue = await reading.readQueueCounts(session, host, []);
      return queue === null ? null : summaryOf(queue);
    });
  }

  async readStanding(record: UrlRecord, rowsMax: number): Promise<Standing | null> {
    return this.#readOrThrow(async (session) => {
      const queue = await reading.readQueueCounts(session, record.host, []);
      return queue === null ? null : reading.readStanding(session, queue, record, rowsMax);
    });
  }

  async readDead(key: UrlKey, host: HostName): Promise<DeadLetter | null> {
    return this.#readOrThrow((session) => reading.readDead(session, partitionOf(host), key, host));
  }

  async listDead(after: string | null, limit: number): Promise<DeadPage> {
    return this.#readOrThrow((session) => reading.listDead(session, after, limit));
  }

  async readRedrivable(query: RedrivableQuery): Promise<RedrivablePage> {
    return this.#readOrThrow((session) => reading.readRedrivable(session, query));
  }

  async listRedrives(before: number | null, limit: number): Promise<readonly Redrive[]> {
    return this.#readOrThrow((session) => reading.listRedrives(session, before, limit));
  }

  async readSettings(): Promise<CrawlSettings> {
    return this.#readOrThrow(async ({ database, settings }) => {
      return { ...settings, scopeHosts: await readScopeHosts(database) };
    });
  }

  async lastRun(): Promise<string | null> {
    const value = await this.#readOrThrow(({ database }) => database.get(META.told));
    const told = value === undefined ? null : decodeTold(value);
    return told instanceof Poison ? null : told;
  }

  async listSummaries(after: HostName | null, limit: number): Promise<SummaryPage> {
    return this.#readOrThrow((session) => reading.listSummaries(session, after, limit));
  }

  /** A failed read is an answer like any other: it says why. */
  async #read<T>(read: (session: Session) => Promise<T>, failed: (failure: string) => T): Promise<T> {
    try {
      return await this.#readOrThrow(read);
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  }

  async #readOrThrow<T>(read: (session: Session) => Promise<T>): Promise<T> {
    const phase = this.#phase;
    if (phase.is === 'closed') throw closed();
    if (phase.is === 'failed') throw new StoreError(phase.error.code, `the store has failed: ${phase.error.message}`);
    try {
      return await read(phase.session);
    } catch (error) {
      throw storeErrorFrom(error, "the store can't be read");
    }
  }
}

function nothingOf(host: HostName): Omit<HostLoaded, 'type' | 'head'> {
  return { host, snapshot: null, robots: [], summary: null };
}

/**
 * Reads again where a batch changed the host meanwhile: counts from before it and rows from after it would not fit,
 * and a class that was empty before it would be passed over.
 */
async function whileUnchanged<T>(session: Session, host: HostName, read: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = session.queues.get(host);
    const result = await read();
    if (session.queues.get(host) === before) return result;
  }
}

function closed(): StoreError {
  return new StoreError('store_io', 'the store is closed');
}

// -- one commit -------------------------------------------------------------------------------------------------

interface Commit {
  readonly batch: number;
  readonly parts: readonly Part[];
  readonly sync: boolean;
}

async function write(session: Session, commit: Commit, progress: { syncFailed: boolean }): Promise<CommitReceipt> {
  const { built, prepared } = await buildCounted(session, commit);
  const { appending } = session;
  // 1. Bytes before the rows that speak of them.
  if (built.plan.appends.size > 0) await appending.write(built.plan);
  // 2. Files on the disk before the batch that vouches for them.
  if (commit.sync) {
    progress.syncFailed = true;
    await appending.sync();
    progress.syncFailed = false;
  }
  // 3. All rows, or none.
  await built.rows.write(commit.sync);
  // 4. Only now does anything count.
  session.state = built.state;
  session.settings = built.settings;
  for (const queue of built.queues) session.queues.set(queue.host, queue);
  session.poison.settle(prepared.poison);
  for (const host of prepared.recounted.keys()) session.suspects.delete(host);
  if (commit.sync) session.unsynced = [];
  else if (built.unsynced) session.unsynced.push(commit.batch);
  if (built.plan.appends.size > 0 || commit.sync) await sortLeft(session, await appending.accept(built.plan));
  return built.receipt;
}

/** What can't be sorted now is tried again at the next opening. */
async function sortLeft({ database, files, appending }: Session, left: readonly string[]): Promise<void> {
  const indexes = left.filter(isIndex);
  if (indexes.length === 0) return;
  const troubles = await Promise.all(indexes.map((name) => sortIndex(files, name)));
  if (troubles.every((it) => it === null)) await noteSorted(database, appending.firstOpen());
}

/**
 * A batch that was in doubt and turned out to be in the store: its answer, from what is there now. What was known
 * before it can't be told apart any more, and every host with rows has news: both only cost a look.
 */
async function receiptAgain(session: Session, parts: readonly Part[]): Promise<CommitReceipt> {
  const hosts = new Set(parts.flatMap((part) => (part.kind === 'host' ? [part.host] : [])));
  for (const part of parts) for (const { record } of part.admitted) hosts.add(record.host);
  const queues: CommitReceipt['queues'][number][] = [];
  for (const host of hosts) {
    const queue = await reading.readQueueCounts(session, host, []);
    if (queue !== null) queues.push({ ...summaryOf(queue), news: bestClass(queue.ready) });
  }
  const redrives = await redrivesAgain(session, parts);
  return { known: [], queues, totals: session.state.totals, ...(redrives.length === 0 ? {} : { redrives }) };
}

async function redrivesAgain(session: Session, parts: readonly Part[]): Promise<Redrive[]> {
  const redrives: Redrive[] = [];
  for (const part of parts) {
    if (part.kind !== 'redrive') continue;
    const { number } = part.redrive;
    redrives.push(...(await reading.listRedrives(session, number + 1, 1)).filter((it) => it.number === number));
  }
  return redrives;
}

/** Counts that turn out to be wrong are counted anew, once: then they are right. */
async function buildCounted(session: Session, commit: Commit) {
  let miscounted: readonly HostName[] = [];
  for (;;) {
    const prepared = await prepare(session, commit.parts, miscounted);
    const built = tryBuild(session, prepared, commit);
    if (!(built instanceof Miscount)) return { built, prepared };
    if (miscounted.length > 0)
      throw new StoreError('store_corrupt', `rows of ${built.hosts.join(', ')} can't be counted`);
    miscounted = built.hosts;
  }
}

/** A part that can't be made into rows is a mistake in the program: nothing was written, the store is as it was. */
class Refusal extends Error {}

function tryBuild(session: Session, prepared: Prepared, commit: Commit) {
  try {
    return build(session, prepared, session.state, commit, session.unsynced);
  } catch (error) {
    throw new Refusal('a part can not be written', { cause: error });
  }
}

// -- the end ----------------------------------------------------------------------------------------------------

/** The last thing is the index that is written to: what comes later is put behind its lines. */
async function stop(session: Session): Promise<void> {
  await markStopped(session);
  await session.appending.close();
  await sortIndex(session.files, indexFileOf(archiveFile(session.state.archiveNumber)));
}

/** Everything on the disk, and the mark of a running process gone. */
async function markStopped(session: Session): Promise<void> {
  await session.appending.sync();
  const rows = new RowBatch(session.database);
  for (const batch of session.unsynced) rows.delete(unsyncedKey(batch));
  rows.delete(META.running);
  await rows.write(true);
}

/** Lets go of files and database, whatever state they are in. */
async function shut(session: Session): Promise<void> {
  await session.appending.close().catch(() => {});
  await session.database.close().catch(() => {});
}
