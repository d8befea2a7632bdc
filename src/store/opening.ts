/**
 * Opening a store: the lock, the schema, what was committed, and files that are as long as the store says.
 *
 * Nothing is scanned but a few rows, so that a start takes as long with a hundred million URLs as with one (F07).
 * The order is the algorithm:
 *
 * 1. The database first: its lock is what keeps a second process away from the files (D5).
 * 2. A schema that is newer than this program is left alone (D5).
 * 3. The state row: batch, sequence, totals. A new database beside old files is refused, never 'started empty'.
 * 4. Files: longer than committed is what a kill left, and is cut (D4); shorter or broken is repaired (`repair.ts`).
 *    What earlier processes did not see forced to the disk is forced there before, so that nothing of it is in doubt
 *    when this one begins.
 * 5. The mark that a process is running, on the disk before anything else is written.
 */
import { LRUCache } from 'lru-cache';
import { NO_SETTINGS } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import type { Redrive } from '../domain/redrive.js';
import { StoreError, type StoreOpening } from '../protocols/ports.js';
import type { FileSystem } from '../sinks/files.js';
import { Appending, type ArchiveOptions, archiveFile, indexFileOf, PAGES_FILE } from './appending.js';
import {
  decodeFile,
  decodeSettings,
  decodeState,
  decodeUnsynced,
  decodeVersion,
  encodeFile,
  encodeState,
  encodeVersion,
  type FileMark,
  Poison,
  type SettingsRow,
  type StoreState,
  type UnsyncedBatch,
} from './codec.js';
import { type Database, RowBatch, scanRange } from './database.js';
import { storeErrorFrom } from './errors.js';
import { PoisonList, setAside } from './poison.js';
import type { HostQueue } from './queues.js';
import { type FilesKnown, repairFiles, type Repaired } from './repair.js';
import { redriveIn } from './reading.js';
import {
  fileKey,
  fileOfKey,
  hostOfKey,
  KIND,
  kindRange,
  META,
  redriveOfKey,
  SCHEMA_VERSION,
  unsyncedKey,
} from './schema.js';
import { sortLeftOver } from './sorting.js';

export interface OpeningOptions extends ArchiveOptions {
  /** Where it is, for messages. */
  readonly directory: string;
  /** A database with binary keys and values, that opens itself on first use or on `open()`. */
  readonly database: () => Database;
  readonly files: FileSystem;
  /** Hosts whose counts are kept in memory. */
  readonly cachedHostsMax: number;
}

/** An open store: what the port works on until it fails or is closed. */
export interface Session {
  readonly database: Database;
  readonly files: FileSystem;
  readonly appending: Appending;
  readonly queues: LRUCache<HostName, HostQueue>;
  readonly poison: PoisonList;
  readonly suspects: Set<HostName>;
  /** Batches whose rows of kind `a` the next sync commit takes away. */
  unsynced: number[];
  state: StoreState;
  settings: SettingsRow;
}

export const EMPTY_STATE: StoreState = {
  batch: 0,
  nextSequence: 0,
  totals: { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 },
  archiveNumber: 1,
};

/** How far what is there is believed. */
export interface Belief {
  /** The last sync failed: what came after the last good one may be lost though it can still be read. */
  readonly distrust: boolean;
  /** Rows that are queued anew leave so many sequences to what is numbered and not yet committed. */
  readonly leap: number;
}

export async function openSession(
  options: OpeningOptions,
  belief: Belief,
): Promise<{ session: Session; opening: StoreOpening }> {
  const database = options.database();
  await openDatabase(database, options.directory); // 1
  try {
    return await openStoreOn(database, options, belief);
  } catch (error) {
    await database.close().catch(() => {});
    throw storeErrorFrom(error, "the store can't be opened", options.directory);
  }
}

async function openStoreOn(database: Database, options: OpeningOptions, belief: Belief) {
  await checkSchema(database, options.directory); // 2
  const notes: string[] = [];
  const stored = await readState(database, options); // 3
  const unclean = (await database.get(META.running)) !== undefined;
  const known = await readFilesKnown(database, options.files, notes);
  const { files } = options;
  const distrust = belief.distrust || !(await forceToDisk(files, known)); // 4
  const { leap } = belief;
  const repaired = await repairFiles({ database, files, known, state: stored, distrust, leap, notes });
  await cutFiles(files, committedLengths(known.marks, repaired.state.archiveNumber), notes);
  await markRunning(database, repaired); // 5
  await sortLeftOver(database, files, repaired.state.archiveNumber, notes);
  const { state } = repaired;
  const settings = await readSettings(database, notes);
  const session: Session = {
    database,
    files,
    appending: new Appending(files, options, known.marks, state.archiveNumber),
    queues: new LRUCache({ max: options.cachedHostsMax }),
    poison: new PoisonList(),
    suspects: new Set(),
    unsynced: [],
    state,
    settings,
  };
  const { batch, nextSequence, totals } = state;
  const whole = { ...settings, scopeHosts: await readScopeHosts(database) };
  const redrives = await readRedrives(session, notes);
  return { session, opening: { totals, batch, nextSequence, settings: whole, ...redrives, unclean, notes } };
}

/** Those that go on, and the number of the newest. There are as many rows as there were wishes. */
async function readRedrives(
  { database, poison }: Session,
  notes: string[],
): Promise<Pick<StoreOpening, 'redrives' | 'lastRedrive'>> {
  const redrives: Redrive[] = [];
  let lastRedrive = 0;
  for await (const rows of scanRange(database, kindRange(KIND.redrive))) {
    for (const [rowKey, value] of rows) {
      const redrive = redriveIn(rowKey, value);
      lastRedrive = Math.max(lastRedrive, redriveOfKey(rowKey) ?? 0);
      if (redrive instanceof Poison) notes.push(poison.note({ rowKey, value, reason: redrive.reason, queued: null }));
      else if (redrive.stage === 'going') redrives.push(redrive);
    }
  }
  return { redrives, lastRedrive };
}

/** Settings that can't be read are as if there were none, and are said: a crawl goes on by its configuration. */
async function readSettings(database: Database, notes: string[]): Promise<SettingsRow> {
  const value = await database.get(META.settings);
  if (value === undefined) return NO_SETTINGS;
  const settings = decodeSettings(value);
  if (!(settings instanceof Poison)) return settings;
  notes.push(
    `the crawl's settings can't be read (${settings.reason}): it is as if nothing had been excluded or paused`,
  );
  return NO_SETTINGS;
}

export async function readScopeHosts(database: Database): Promise<HostName[]> {
  const hosts: HostName[] = [];
  for await (const rows of scanRange(database, kindRange(KIND.scopeHost))) {
    for (const [rowKey] of rows) hosts.push(hostOfKey(rowKey));
  }
  return hosts;
}

/** Files that grew since the last sync commit. False when one of them can't be forced to the disk: then nothing of it counts. */
async function forceToDisk(files: FileSystem, { unsynced }: FilesKnown): Promise<boolean> {
  const names = new Set(unsynced.flatMap(({ segments }) => segments.map(({ file }) => file)));
  try {
    for (const name of names) {
      if ((await files.size(name)) === null) continue;
      const file = await files.open(name);
      await file.sync().finally(() => file.close());
    }
    return true;
  } catch {
    return false;
  }
}

async function openDatabase(database: Database, directory: string): Promise<void> {
  try {
    await database.open();
  } catch (error) {
    const failure = storeErrorFrom(error, "the store can't be opened", directory);
    if (failure.code !== 'store_locked') throw failure;
    throw new StoreError(failure.code, 'the data directory is in use by another process', {
      cause: error,
      where: directory,
      advice: `only one process may use it; find that one with: fuser ${directory}/store/LOCK`,
    });
  }
}

async function checkSchema(database: Database, directory: string): Promise<void> {
  const value = await database.get(META.schema);
  if (value === undefined) return;
  const version = decodeVersion(value);
  if (version instanceof Poison) {
    throw new StoreError('store_corrupt', `the store does not say its schema: ${version.reason}`, {
      where: directory,
      advice: 'put a copy of the data directory back, or begin anew in another one',
    });
  }
  if (version > SCHEMA_VERSION) {
    const text = `the store has schema ${version}, this program knows up to ${SCHEMA_VERSION}`;
    throw new StoreError('store_newer_schema', text, { where: directory, advice: 'use a newer program' });
  }
}

async function readState(database: Database, options: OpeningOptions): Promise<StoreState> {
  const value = await database.get(META.state);
  if (value !== undefined) {
    const state = decodeState(value);
    if (!(state instanceof Poison)) return state;
    throw new StoreError('store_corrupt', `the state of the store can't be read: ${state.reason}`, {
      where: options.directory,
      advice: 'put a copy of the data directory back, or begin anew in another one',
    });
  }
  const archive = archiveFile(1);
  for (const name of [PAGES_FILE, archive, indexFileOf(archive)]) {
    if (((await options.files.size(name)) ?? 0) === 0) continue;
    throw new StoreError('store_corrupt', `${name} is there, but the store is empty`, {
      where: options.directory,
      advice: 'put the store back, or move the files away to begin anew',
    });
  }
  return EMPTY_STATE;
}

async function readFilesKnown(database: Database, files: FileSystem, notes: string[]): Promise<FilesKnown> {
  const poison = new PoisonList();
  const marks = new Map<string, FileMark>();
  const restored: string[] = [];
  for await (const rows of scanRange(database, kindRange(KIND.file))) {
    for (const [rowKey, value] of rows) {
      const mark = decodeFile(value);
      if (!(mark instanceof Poison)) {
        marks.set(fileOfKey(rowKey), mark);
        continue;
      }
      // Better a file with an odd end than one that is cut to nothing.
      const length = (await files.size(fileOfKey(rowKey))) ?? 0;
      marks.set(fileOfKey(rowKey), { length, lastStart: length });
      restored.push(fileOfKey(rowKey));
      notes.push(poison.note({ rowKey, value, reason: mark.reason, queued: null }));
    }
  }
  const unsynced: (UnsyncedBatch & { batch: number })[] = [];
  for await (const rows of scanRange(database, kindRange(KIND.unsynced))) {
    for (const [rowKey, value] of rows) {
      const batch = decodeUnsynced(value);
      if (!(batch instanceof Poison)) unsynced.push({ ...batch, batch: Number(rowKey.readBigUInt64BE(1)) });
      else notes.push(poison.note({ rowKey, value, reason: batch.reason, queued: null }));
    }
  }
  await setAsideNow(database, poison, (batch) => {
    for (const name of restored) batch.put(fileKey(name), encodeFile(marks.get(name) as FileMark));
  });
  return { marks, unsynced };
}

async function setAsideNow(database: Database, poison: PoisonList, restore: (batch: RowBatch) => void): Promise<void> {
  const rows = await poison.confirmed(database);
  if (rows.length === 0) return;
  const batch = new RowBatch(database);
  for (const row of rows) setAside(batch, row);
  restore(batch);
  await batch.write(true);
}

/** Of every file, those included that a commit was to begin and did not: nothing of them is vouched for. */
function committedLengths(marks: ReadonlyMap<string, FileMark>, archiveNumber: number): Map<string, number> {
  const archives = [archiveFile(archiveNumber), archiveFile(archiveNumber + 1)];
  const begun = [PAGES_FILE, ...archives, ...archives.map(indexFileOf)];
  const lengths = new Map(begun.map((name) => [name, 0]));
  for (const [name, { length }] of marks) lengths.set(name, length);
  return lengths;
}

/** D4: what no commit vouches for is cut off. */
async function cutFiles(files: FileSystem, lengths: ReadonlyMap<string, number>, notes: string[]): Promise<void> {
  for (const [name, length] of lengths) {
    const size = (await files.size(name)) ?? 0;
    if (size <= length) continue;
    const file = await files.open(name);
    try {
      await file.truncate(length);
      await file.sync();
    } finally {
      await file.close();
    }
    notes.push(`cut ${size - length} uncommitted bytes off ${name}`);
  }
}

async function markRunning(database: Database, { state, unsynced }: Repaired): Promise<void> {
  const batch = new RowBatch(database);
  for (const vouchedFor of unsynced) batch.delete(unsyncedKey(vouchedFor));
  batch.put(META.schema, encodeVersion(SCHEMA_VERSION));
  batch.put(META.state, encodeState(state));
  batch.put(META.running, encodeVersion(1));
  await batch.write(true);
}
