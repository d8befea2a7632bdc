/**
 * The append-only side of a commit: archive files, the index beside each, and pages.jsonl.
 *
 * A batch is planned first (`take`), so that every offset is known before a byte is written, and then written with
 * one write a file at the file's committed length. What a failed write left beyond that length is written over by
 * the next, or cut at the next opening.
 *
 * 1. Bytes are written before the rows that say how many there are.
 * 2. A file is forced to the disk before the sync commit that vouches for it; a file that was rotated away stays
 *    open until then.
 * 3. The index of a file that was rotated away is sorted once everything in it is on the disk, and not before: what a
 *    loss of power costs is told by where lines stand.
 * 4. Every archive file begins with a warcinfo record, and none but its first records can carry it over its bound.
 */
import { Buffer } from 'node:buffer';
import type { PageLine } from '../protocols/commit.js';
import { cdxjLine } from '../sinks/cdxj.js';
import type { AppendFile, FileSystem } from '../sinks/files.js';
import { pageLine, type WarcPlace } from '../sinks/pages.js';
import type { FileMark, UnsyncedBatch } from './codec.js';
import type { Kept } from './keeping.js';

export const PAGES_FILE = 'pages.jsonl';
export const ARCHIVE_FOLDER = 'archive';

export interface ArchiveOptions {
  /** A file is left for the next one before it would grow beyond. */
  readonly archiveBytesMax: number;
  /** The first record of a new archive file, compressed; gets the file's name. */
  readonly warcinfo: (filename: string) => Uint8Array;
}

export function archiveFile(number: number): string {
  return `${ARCHIVE_FOLDER}/orbweaver-${String(number).padStart(5, '0')}.warc.gz`;
}

/** The index beside an archive file. */
export function indexFileOf(archive: string): string {
  return archive.replace(/\.warc\.gz$/, '.cdxj');
}

/** The archive file beside an index. */
export function archiveOfIndex(index: string): string {
  return index.replace(/\.cdxj$/, '.warc.gz');
}

export function isIndex(name: string): boolean {
  return name.endsWith('.cdxj');
}

/** As index lines name it: without its folder. */
export function filenameOf(archive: string): string {
  return archive.slice(ARCHIVE_FOLDER.length + 1);
}

/** A file as it is committed, with its handle once it was needed. */
interface OpenFile {
  readonly name: string;
  mark: FileMark;
  handle: AppendFile | null;
  unsynced: boolean;
}

export interface Append {
  readonly file: OpenFile;
  readonly chunks: Uint8Array[];
  /** Lines are joined once, at the end. */
  lines: string;
  start: number;
  end: number;
  lastStart: number;
}

/** What one batch is going to append. */
export interface AppendPlan {
  readonly appends: Map<string, Append>;
  archiveNumber: number;
  pages: number;
}

export class Appending {
  readonly #files: FileSystem;
  readonly #options: ArchiveOptions;
  readonly #open = new Map<string, OpenFile>();
  #archiveNumber: number;

  constructor(files: FileSystem, options: ArchiveOptions, marks: ReadonlyMap<string, FileMark>, archiveNumber: number) {
    this.#files = files;
    this.#options = options;
    this.#archiveNumber = archiveNumber;
    const archive = archiveFile(archiveNumber);
    for (const name of [archive, indexFileOf(archive), PAGES_FILE]) {
      const mark = marks.get(name);
      if (mark !== undefined) this.#open.set(name, { name, mark, handle: null, unsynced: false });
    }
  }

  plan(): AppendPlan {
    return { appends: new Map(), archiveNumber: this.#archiveNumber, pages: 0 };
  }

  /** Adds what one visit leaves, and says where its record will lie. */
  take(plan: AppendPlan, kept: Kept | null, page: PageLine | null): WarcPlace | null {
    const place = kept === null ? null : this.#takeArchive(plan, kept);
    if (page === null) return place;
    this.#takeLine(plan, PAGES_FILE, pageLine(page, place));
    plan.pages++;
    return place;
  }

  /** One write a file, all at once. */
  async write(plan: AppendPlan): Promise<void> {
    const writes: Promise<void>[] = [];
    for (const append of plan.appends.values()) writes.push(this.#write(append));
    await settleAll(writes);
  }

  /** Forces everything that was written since the last time to the disk. */
  async sync(): Promise<void> {
    const syncs: Promise<void>[] = [];
    for (const file of this.#open.values()) {
      if (file.unsynced && file.handle !== null) syncs.push(file.handle.sync());
    }
    await settleAll(syncs);
    for (const file of this.#open.values()) file.unsynced = false;
  }

  /** The batch is in the store: what it appended is committed. Resolves to the files that are left for good, closed. */
  async accept(plan: AppendPlan): Promise<string[]> {
    for (const append of plan.appends.values()) append.file.mark = markOf(append);
    this.#archiveNumber = plan.archiveNumber;
    const archive = archiveFile(this.#archiveNumber);
    const current = new Set([archive, indexFileOf(archive), PAGES_FILE]);
    const left: string[] = [];
    for (const [name, file] of this.#open) {
      if (current.has(name) || file.unsynced) continue;
      this.#open.delete(name);
      await file.handle?.close();
      left.push(name);
    }
    return left;
  }

  /** The number of the first archive file that is still written to, or not on the disk yet. */
  firstOpen(): number {
    let first = this.#archiveNumber;
    while (first > 1 && (this.#open.has(archiveFile(first - 1)) || this.#open.has(indexFileOf(archiveFile(first - 1)))))
      first--;
    return first;
  }

  async close(): Promise<void> {
    const handles = [...this.#open.values()].map((it) => it.handle);
    this.#open.clear();
    await settleAll(handles.map(async (it) => it?.close()));
  }

  #takeArchive(plan: AppendPlan, { record, chunks, index, length, ...kept }: Kept): WarcPlace {
    const append = this.#archiveWithRoom(plan, lengthOf(chunks));
    const offset = append.end + kept.offset;
    takeBytes(append, chunks);
    const file = append.file.name;
    this.#takeLine(plan, indexFileOf(file), cdxjLine(index, { filename: filenameOf(file), offset, length }));
    return { type: record, file, offset, length };
  }

  /** Invariant 4: the current archive file, or the next when these bytes would carry it over its bound. */
  #archiveWithRoom(plan: AppendPlan, bytes: number): Append {
    let append = this.#append(plan, archiveFile(plan.archiveNumber));
    if (append.end > 0 && append.end + bytes > this.#options.archiveBytesMax) {
      // An untouched file has nothing to be written.
      if (append.chunks.length === 0) plan.appends.delete(append.file.name);
      plan.archiveNumber++;
      append = this.#append(plan, archiveFile(plan.archiveNumber));
    }
    if (append.end === 0) takeBytes(append, [this.#options.warcinfo(filenameOf(append.file.name))]);
    return append;
  }

  #takeLine(plan: AppendPlan, name: string, line: string): void {
    const append = this.#append(plan, name);
    append.lines += line;
    append.lastStart = append.end;
    append.end += Buffer.byteLength(line);
  }

  #append(plan: AppendPlan, name: string): Append {
    const planned = plan.appends.get(name);
    if (planned !== undefined) return planned;
    const file = this.#open.get(name) ?? { name, mark: { length: 0, lastStart: 0 }, handle: null, unsynced: false };
    const { length, lastStart } = file.mark;
    const append: Append = { file, chunks: [], lines: '', start: length, end: length, lastStart };
    plan.appends.set(name, append);
    return append;
  }

  async #write(append: Append): Promise<void> {
    const { file } = append;
    this.#open.set(file.name, file);
    file.unsynced = true;
    file.handle ??= await this.#openAtCommitted(file);
    if (append.lines !== '') append.chunks.push(Buffer.from(append.lines));
    await file.handle.write(append.chunks, append.start);
  }

  /** A file that no commit knows may still be there: what a batch left that never came to be. */
  async #openAtCommitted(file: OpenFile): Promise<AppendFile> {
    const handle = await this.#files.open(file.name);
    if (file.mark.length === 0) await handle.truncate(0);
    return handle;
  }
}

export function markOf(append: Append): FileMark {
  return { length: append.end, lastStart: append.lastStart };
}

export function segmentsOf(plan: AppendPlan): UnsyncedBatch['segments'] {
  return [...plan.appends.values()].map((it) => ({ file: it.file.name, start: it.start, end: it.end }));
}

function takeBytes(append: Append, chunks: readonly Uint8Array[]): void {
  append.chunks.push(...chunks);
  append.lastStart = append.end;
  append.end += lengthOf(chunks);
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

/** Waits for all, also when one fails: nothing may still be writing when the failure is dealt with. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(promises);
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
  }
}
