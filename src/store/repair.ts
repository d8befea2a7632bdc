/**
 * Files that are not what the store says of them: shorter, missing, or with an end that can't be read.
 *
 * Rows may outlive the bytes they speak of: between two sync commits the database's log and our files go to the disk
 * in any order, and a loss of power keeps some of each. So each batch leaves a row that says which bytes it appended
 * for whom, until a sync commit vouches for all of them.
 *
 * - **Within those batches** the files are taken back to the last batch that is whole in all of them, and the visits
 *   after it are queued again: consistent, and at most a second of work (D7).
 * - **Beyond them** something else has damaged the files. The archive's index says which visits are lost, and they
 *   are queued again; the files are cut to what is whole. An index that is lost itself is made anew from its archive.
 *
 * What was archived beyond the end is forgotten with its digest: no revisit may refer to a record that is no more.
 *
 * A URL is queued again by its row if it still has one; else with a fresh sequence, which no row has had and none will
 * get from whoever numbers them.
 */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type HostName, hostOf, partitionOf } from '../domain/host.js';
import type { QueuePosition, UrlState } from '../domain/record.js';
import type { UrlKey } from '../domain/url.js';
import { readCdxjLine, sortedLines } from '../sinks/cdxj.js';
import type { FileSystem } from '../sinks/files.js';
import { warcOfPageLine } from '../sinks/pages.js';
import { indexLinesOf } from '../sinks/warc-index.js';
import { archiveFile, archiveOfIndex, filenameOf, indexFileOf, isIndex, PAGES_FILE } from './appending.js';
import {
  decodeCounts,
  decodeRecord,
  encodeCounts,
  encodeFile,
  encodeRecord,
  encodeState,
  type FileMark,
  Poison,
  type StoreState,
  type UnsyncedBatch,
} from './codec.js';
import { type Database, RowBatch } from './database.js';
import { emptyQueue, QueueDraft, recount, scanHost } from './queues.js';
import { digestKey, fileKey, META, positionKey, registryKey, summaryKey, unsyncedKey, urlKeyBytes } from './schema.js';

/** What the rows say of files. */
export interface FilesKnown {
  readonly marks: Map<string, FileMark>;
  /** In the order of their batches. */
  readonly unsynced: readonly (UnsyncedBatch & { readonly batch: number })[];
}

export interface RepairInput {
  readonly database: Database;
  readonly files: FileSystem;
  /** Its marks are set right. */
  readonly known: FilesKnown;
  readonly state: StoreState;
  /** Nothing that came after the last sync commit is believed. */
  readonly distrust: boolean;
  /** So many sequences beyond those of the state may be in use by what is not yet committed. */
  readonly leap: number;
  readonly notes: string[];
}

export interface Repaired {
  readonly state: StoreState;
  /** Batches whose rows of kind `a` are left. */
  readonly unsynced: number[];
}

/** What is lost, and what the files are cut to. */
interface Damage {
  readonly lost: Map<HostName, Set<UrlKey>>;
  /** Payloads whose only whole record may be lost. */
  readonly digests: Set<string>;
  readonly marks: Map<string, FileMark>;
  /** To be made anew, once it is known what is left of their archives. */
  readonly indexes: string[];
  /** Rotated archives that were taken elsewhere. */
  readonly gone: string[];
  /** Lines that pages.jsonl is left with, where they had to be counted; else how many it loses. */
  pagesLeft: number | null;
  pagesLost: number;
}

export async function repairFiles(input: RepairInput): Promise<Repaired> {
  const { known, state } = input;
  const damage: Damage = {
    lost: new Map(),
    digests: new Set(),
    marks: new Map(),
    indexes: [],
    gone: [],
    pagesLeft: null,
    pagesLost: 0,
  };
  const kept = await takeBack(input, damage);
  for (const [name, mark] of known.marks) {
    const now = damage.marks.get(name) ?? mark;
    if (!(await isIntact(input, name, now))) await examine(input, damage, name, now);
  }
  for (const index of damage.indexes) await indexAnew(input, damage, index);
  const unsynced = known.unsynced.slice(0, kept).map((it) => it.batch);
  if (damage.marks.size === 0 && damage.gone.length === 0) return { state, unsynced };
  const repaired = await writeRepair(
    input,
    damage,
    known.unsynced.slice(kept).map((it) => it.batch),
  );
  for (const [name, mark] of damage.marks) known.marks.set(name, mark);
  for (const name of damage.gone) known.marks.delete(name);
  return { state: repaired, unsynced };
}

// -- within the unsynced batches --------------------------------------------------------------------------------

/** Takes the files back to the last batch that is whole in all of them. Returns how many batches stay. */
async function takeBack(input: RepairInput, damage: Damage): Promise<number> {
  const { unsynced } = input.known;
  const kept = input.distrust ? 0 : await countWhole(input);
  for (const batch of unsynced.slice(kept)) {
    for (const { file, start } of batch.segments) {
      if (!damage.marks.has(file)) damage.marks.set(file, { length: start, lastStart: start });
    }
    for (const { key, host } of batch.visits) lose(damage, host, key);
    for (const digest of batch.digests) damage.digests.add(digest);
    damage.pagesLost += batch.pages;
  }
  if (kept < unsynced.length) {
    const first = unsynced[kept]?.batch;
    input.notes.push(`took files back to before batch ${first}, ${countLost(damage)} visits are queued again`);
  }
  return kept;
}

async function countWhole({ known, files }: RepairInput): Promise<number> {
  for (let i = 0; i < known.unsynced.length; i++) {
    for (const { file, start, end } of known.unsynced[i]?.segments ?? []) {
      if (!(await isWhole(files, file, start, end))) return i;
    }
  }
  return known.unsynced.length;
}

/** Whether a segment is all there, and ends where a record or a line ends. */
async function isWhole(files: FileSystem, name: string, start: number, end: number): Promise<boolean> {
  if (start === end) return true;
  if (((await files.size(name)) ?? 0) < end) return false;
  const bytes = await files.read(name, start, end - start);
  if (bytes.length < end - start) return false;
  if (!name.endsWith('.gz')) return bytes[bytes.length - 1] === LINE_END && !bytes.includes(0);
  try {
    const { engine } = gunzipSync(bytes, { info: true }) as unknown as { engine: { bytesWritten: number } };
    return engine.bytesWritten === bytes.length;
  } catch {
    return false;
  }
}

const LINE_END = 0x0a;

// -- beyond them ------------------------------------------------------------------------------------------------

/** Its length, and, where it is still written to, the last thing in it. */
async function isIntact(input: RepairInput, name: string, mark: FileMark): Promise<boolean> {
  if (((await input.files.size(name)) ?? 0) < mark.length) return false;
  return !isCurrent(input, name) || isWhole(input.files, name, mark.lastStart, mark.length);
}

function isCurrent({ state }: RepairInput, name: string): boolean {
  const archive = archiveFile(state.archiveNumber);
  return name === PAGES_FILE || name === archive || name === indexFileOf(archive);
}

async function examine(input: RepairInput, damage: Damage, name: string, mark: FileMark): Promise<void> {
  const size = await input.files.size(name);
  if (isIndex(name) && (await input.files.size(archiveOfIndex(name))) !== null) {
    damage.indexes.push(name);
    return;
  }
  if (size === null && !isCurrent(input, name)) {
    damage.gone.push(name);
    input.notes.push(`${name} is no longer there: taken to be kept elsewhere`);
    return;
  }
  // Where the length is right the end is broken: believe what comes before it.
  const end = Math.min(size ?? 0, (size ?? 0) < mark.length ? mark.length : mark.lastStart);
  const before = countLost(damage);
  if (name === PAGES_FILE) await examinePages(input, damage, end);
  else if (name.endsWith('.gz')) await examineArchive(input, damage, name, end);
  else cutTo(damage, name, await endOfLastLine(input.files, name, end));
  const lost = countLost(damage) - before;
  input.notes.push(`${name} has ${end} good bytes of ${mark.length}: ${lost} visits are queued again`);
}

/** A line for each record that its archive is left with. */
async function indexAnew(input: RepairInput, damage: Damage, index: string): Promise<void> {
  const archive = archiveOfIndex(index);
  const lines: string[] = [];
  const length = lengthOf(input, damage, archive);
  for await (const line of indexLinesOf(input.files, archive, filenameOf(archive), length)) lines.push(line);
  await rewriteIndex(input, damage, index, lines);
  input.notes.push(`${index} was made anew from its archive: ${lines.length} lines`);
}

/** If this is all that comes about, the next opening finds it shorter than its mark, and makes it anew. */
async function rewriteIndex(
  { files }: RepairInput,
  damage: Damage,
  index: string,
  lines: readonly string[],
): Promise<void> {
  const bytes = sortedLines(Buffer.from(lines.join('')));
  await files.rewrite(index, bytes);
  damage.marks.set(index, { length: bytes.length, lastStart: bytes.length });
}

/** The index beside an archive says which responses lie beyond its end. */
async function examineArchive(input: RepairInput, damage: Damage, name: string, end: number): Promise<void> {
  const index = indexFileOf(name);
  const kept: string[] = [];
  let goodEnd = 0;
  let lost = false;
  for await (const { text } of linesOf(input.files, index, lengthOf(input, damage, index))) {
    const entry = readCdxjLine(text);
    if (entry === null) continue;
    if (entry.offset + entry.length <= end) {
      goodEnd = Math.max(goodEnd, entry.offset + entry.length);
      kept.push(`${text}\n`);
      continue;
    }
    lost = true;
    loseUrl(damage, entry.url);
    damage.digests.add(entry.payloadDigest);
  }
  // What is appended next, or read last, begins where the last whole response ends.
  cutTo(damage, name, goodEnd);
  if (lost && !damage.indexes.includes(index)) await rewriteIndex(input, damage, index, kept);
  if (isCurrent(input, name)) await cutPagesBeyond(input, damage, name, goodEnd);
}

/** Lines that speak of bytes that are no more, and all after them: their visits are repeated. */
async function cutPagesBeyond(input: RepairInput, damage: Damage, archive: string, end: number): Promise<void> {
  let cut: number | null = null;
  let left = 0;
  for await (const { text, start } of linesOf(input.files, PAGES_FILE, lengthOf(input, damage, PAGES_FILE))) {
    const warc = warcOfPageLine(text);
    if (cut === null && warc?.file === archive && warc.offset + warc.length > end) cut = start;
    if (cut === null) left++;
    else loseUrl(damage, urlOfPageLine(text));
  }
  if (cut === null) return;
  cutTo(damage, PAGES_FILE, cut);
  damage.pagesLeft = left;
}

/** Lost are the visits whose responses lie after that of the last line that is left. */
async function examinePages(input: RepairInput, damage: Damage, end: number): Promise<void> {
  const goodEnd = await endOfLastLine(input.files, PAGES_FILE, end);
  let last = { file: '', offset: -1 };
  damage.pagesLeft = 0;
  for await (const { text } of linesOf(input.files, PAGES_FILE, goodEnd)) {
    last = warcOfPageLine(text) ?? last;
    damage.pagesLeft++;
  }
  cutTo(damage, PAGES_FILE, goodEnd);
  for (const archive of [...input.known.marks.keys()].filter((it) => it.endsWith('.gz') && it >= last.file)) {
    const index = indexFileOf(archive);
    for await (const { text } of linesOf(input.files, index, lengthOf(input, damage, index))) {
      const entry = readCdxjLine(text);
      if (entry !== null && (archive > last.file || entry.offset > last.offset)) loseUrl(damage, entry.url);
    }
  }
}

function lengthOf({ known }: RepairInput, damage: Damage, name: string): number {
  return (damage.marks.get(name) ?? known.marks.get(name))?.length ?? 0;
}

/** Files only ever get shorter here. */
function cutTo(damage: Damage, name: string, length: number): void {
  const now = damage.marks.get(name);
  if (now === undefined || length < now.length) damage.marks.set(name, { length, lastStart: length });
}

function lose(damage: Damage, host: HostName, key: UrlKey): void {
  const keys = damage.lost.get(host);
  if (keys === undefined) damage.lost.set(host, new Set([key]));
  else keys.add(key);
}

function loseUrl(damage: Damage, url: string | null): void {
  if (url === null || !URL.canParse(url)) return;
  lose(damage, hostOf(new URL(url)), createHash('sha256').update(url).digest('hex').slice(0, 32));
}

function countLost(damage: Damage): number {
  let count = 0;
  for (const keys of damage.lost.values()) count += keys.size;
  return count;
}

// -- lines ------------------------------------------------------------------------------------------------------

const READ_BYTES = 1 << 20;

/** The whole lines among the first `length` bytes of a file; none when it isn't there. */
async function* linesOf(
  files: FileSystem,
  name: string,
  length: number,
): AsyncGenerator<{ text: string; start: number }> {
  const end = Math.min(length, (await files.size(name)) ?? 0);
  let rest: Buffer = Buffer.alloc(0);
  let start = 0;
  for (let at = 0; at < end; ) {
    const bytes = await files.read(name, at, Math.min(READ_BYTES, end - at));
    if (bytes.length === 0) return;
    at += bytes.length;
    rest = Buffer.concat([rest, bytes]);
    let from = 0;
    for (let to = rest.indexOf(LINE_END); to >= 0; to = rest.indexOf(LINE_END, from)) {
      yield { text: rest.toString('utf8', from, to), start };
      start += to + 1 - from;
      from = to + 1;
    }
    rest = rest.subarray(from);
  }
}

async function endOfLastLine(files: FileSystem, name: string, length: number): Promise<number> {
  let end = 0;
  for await (const { text, start } of linesOf(files, name, length)) {
    if (!text.includes('\0')) end = start + Buffer.byteLength(text) + 1;
  }
  return end;
}

/** Null for a line that can't be read: what damaged the archive may have damaged it too, and the rest is still repaired. */
function urlOfPageLine(text: string): string | null {
  try {
    const page: unknown = JSON.parse(text);
    if (typeof page !== 'object' || page === null || !('canonical' in page)) return null;
    return typeof page.canonical === 'string' ? page.canonical : null;
  } catch {
    return null;
  }
}

// -- writing ----------------------------------------------------------------------------------------------------

/** One sync batch: marks, rows of kind `a` that are dealt with, and everything that is queued again. */
async function writeRepair(input: RepairInput, damage: Damage, dealtWith: readonly number[]): Promise<StoreState> {
  const rows = new RowBatch(input.database);
  for (const [name, mark] of damage.marks) rows.put(fileKey(name), encodeFile(mark));
  for (const name of damage.gone) rows.delete(fileKey(name));
  for (const batch of dealtWith) rows.delete(unsyncedKey(batch));
  for (const digest of damage.digests) rows.delete(digestKey(digest));
  const freshFrom = input.state.nextSequence + input.leap;
  let nextFresh = freshFrom;
  let { ready, waiting } = input.state.totals;
  for (const [host, keys] of damage.lost) {
    const again = await queueAgain(input, rows, host, keys, nextFresh);
    nextFresh = again.nextFresh;
    ready += again.ready;
    waiting -= again.fromWaiting;
  }
  const pages = damage.pagesLeft ?? Math.max(0, input.state.totals.pages - damage.pagesLost);
  const nextSequence = nextFresh > freshFrom ? nextFresh : input.state.nextSequence;
  const state = { ...input.state, nextSequence, totals: { ...input.state.totals, ready, waiting, pages } };
  rows.put(META.state, encodeState(state));
  await rows.write(true);
  return state;
}

const STATE_IN: Readonly<Record<QueuePosition['queue'], UrlState>> = {
  ready: 'queued',
  waiting: 'waiting',
  parked: 'parked',
  blocked: 'blocked_by_robots',
};

interface QueuedAgain {
  readonly nextFresh: number;
  readonly ready: number;
  readonly fromWaiting: number;
}

async function queueAgain(
  input: RepairInput,
  rows: RowBatch,
  host: HostName,
  keys: ReadonlySet<UrlKey>,
  firstFresh: number,
): Promise<QueuedAgain> {
  const { database, notes } = input;
  const partition = partitionOf(host);
  const stored = await database.get(summaryKey(partition, host));
  const counts = stored === undefined ? null : decodeCounts(stored);
  const queue = counts === null || counts instanceof Poison ? null : { ...emptyQueue(host), ...counts };
  const recounted = await recount(database, host, queue);
  const draft = new QueueDraft(recounted.queue, recounted.rows);
  const places = await placesOf(database, partition, host, keys);
  let nextFresh = firstFresh;
  let fromWaiting = 0;
  let ready = 0;
  for (const key of keys) {
    const value = await database.get(registryKey(partition, key));
    const record = value === undefined ? new Poison('the registry does not know it') : decodeRecord(value, key, host);
    if (record instanceof Poison) {
      notes.push(`${key} of ${host} can't be queued again: ${record.reason}`);
      continue;
    }
    // Its validators would turn the repetition into a 304, and the lost body would stay lost.
    const again = { ...record, state: 'queued' as const, etag: null, lastModified: null, digest: null, archived: null };
    const place = places.get(key);
    if (place !== undefined && (place.queue !== 'waiting' || record.state === 'waiting')) {
      // It is asked for again from where it stands: a retry when it falls due.
      const state = STATE_IN[place.queue];
      rows.put(registryKey(partition, key), encodeRecord({ ...again, state }));
      continue;
    }
    if (place !== undefined) {
      rows.delete(positionKey(partition, host, place));
      draft.remove(place);
      fromWaiting++;
    }
    // Never below what its host has seen of the class already: it would be passed over.
    const at: QueuePosition = { queue: 'ready', priority: record.priority, sequence: nextFresh++ };
    rows.put(registryKey(partition, key), encodeRecord(again));
    rows.put(positionKey(partition, host, at), urlKeyBytes(key));
    draft.add(at);
    ready++;
  }
  rows.put(summaryKey(partition, host), encodeCounts(draft.after()));
  return { nextFresh, ready, fromWaiting };
}

async function placesOf(
  database: Database,
  partition: number,
  host: HostName,
  keys: ReadonlySet<UrlKey>,
): Promise<ReadonlyMap<UrlKey, QueuePosition>> {
  const places = new Map<UrlKey, QueuePosition>();
  for await (const row of scanHost(database, partition, host)) {
    const key = row.value.toString('hex');
    if (keys.has(key)) places.set(key, row.at);
  }
  return places;
}
