/**
 * What a crawl has left in its data directory, read from outside while nobody has it open.
 *
 * Pages and index are read as any consumer reads them, line by line. Archives are read by warcio, and every digest is
 * recomputed here. The database is read from a copy: opening it would repair what a killed process left, and the next
 * life has to find exactly that.
 */
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from 'msgpackr';
import { WARCParser } from 'warcio';
import type { Attempt } from '../../../src/domain/outcome.js';
import type { UrlState } from '../../../src/domain/record.js';
import type { OriginRobots } from '../../../src/policy/robots/freshness.js';
import { decodeFile, decodeRecord, decodeRobots, Poison } from '../../../src/store/codec.js';
import { levelDatabase, scanRange } from '../../../src/store/database.js';
import { fileOfKey, kindRange, KIND, type Kind, originOfKey, urlKeyOf } from '../../../src/store/schema.js';

export interface PageRow {
  readonly url: string;
  readonly canonical: string;
  readonly status: number;
  readonly digest: string;
  readonly outcome: string;
  readonly warc: { readonly file: string; readonly offset: number; readonly length: number } | null;
}

/** The lines of pages.jsonl. A line that can't be parsed throws. */
export async function readPages(dataDir: string): Promise<PageRow[]> {
  return (await linesOf(join(dataDir, 'pages.jsonl'))).map((line) => JSON.parse(line) as PageRow);
}

export interface IndexRow {
  readonly url: string;
  readonly timestamp: string;
  readonly status: string;
  readonly digest: string;
  readonly filename: string;
  readonly offset: number;
  readonly length: number;
}

/** The lines of every CDXJ file. */
export async function readIndex(dataDir: string): Promise<IndexRow[]> {
  const rows: IndexRow[] = [];
  for (const name of await archiveNames(dataDir, '.cdxj')) {
    for (const line of await linesOf(join(dataDir, 'archive', name))) {
      const [, timestamp = '', json = ''] = /^\S+ (\d{14}) (\{.*\})$/.exec(line) ?? [];
      const fields = JSON.parse(json) as Record<'url' | 'status' | 'digest' | 'filename' | 'offset' | 'length', string>;
      rows.push({
        ...fields,
        digest: `sha1:${fields.digest}`,
        timestamp,
        offset: Number(fields.offset),
        length: Number(fields.length),
      });
    }
  }
  return rows;
}

export interface ArchiveReading {
  readonly files: number;
  readonly bytes: number;
  readonly records: number;
  /** Response and revisit records by `file@offset`. */
  readonly responses: ReadonlyMap<string, ResponseRecord>;
  readonly problems: readonly string[];
}

export interface ResponseRecord {
  readonly url: string;
  readonly id: string;
  readonly length: number;
  readonly payloadDigest: string;
}

/** Reads every archive file whole, record by record; problems are digests that differ, gaps, and what can't be parsed. */
export async function readArchive(dataDir: string): Promise<ArchiveReading> {
  const responses = new Map<string, ResponseRecord>();
  const problems: string[] = [];
  const names = await archiveNames(dataDir, '.warc.gz');
  let bytes = 0;
  let records = 0;
  for (const name of names) {
    const file = await readFile(join(dataDir, 'archive', name));
    bytes += file.length;
    try {
      records += await readArchiveFile(name, file, responses, problems);
    } catch (error) {
      problems.push(`${name} can't be read: ${String(error)}`);
    }
  }
  return { files: names.length, bytes, records, responses, problems };
}

async function readArchiveFile(
  name: string,
  file: Buffer,
  responses: Map<string, ResponseRecord>,
  problems: string[],
): Promise<number> {
  const parser = new WARCParser([file], { keepHeadersCase: true });
  let records = 0;
  let end = 0;
  for await (const record of parser) {
    const payload = await record.readFully(false);
    await record.skipFully();
    records += 1;
    const { offset, recordLength: length } = parser;
    const place = `${name}@${offset}`;
    if (offset !== end) problems.push(`${place} begins ${offset - end} bytes after the record before it`);
    end = offset + length;
    const url = record.warcTargetURI ?? '';
    const payloadDigest = record.warcPayloadDigest ?? '';
    if (record.warcType !== 'response' && record.warcType !== 'revisit') continue;
    if (record.warcType === 'response' && payloadDigest !== sha1Of(payload))
      problems.push(`${place} ${url} has another payload than its digest says`);
    responses.set(place, { url, id: record.warcHeader('WARC-Record-ID') ?? '', length, payloadDigest });
  }
  if (end !== file.length) problems.push(`${name} has ${file.length - end} bytes after its last record`);
  return records;
}

/** The target of the one response or revisit record that lies there, read by itself; null where none does. */
export async function responseAt(file: Buffer, offset: number, length: number): Promise<string | null> {
  try {
    const record = await WARCParser.parse([file.subarray(offset, offset + length)]);
    if (record === null || (record.warcType !== 'response' && record.warcType !== 'revisit')) return null;
    await record.readFully(false);
    return record.warcTargetURI ?? null;
  } catch {
    return null;
  }
}

/** What a database holds. */
export interface StoreReading {
  readonly urls: ReadonlyMap<string, { readonly state: UrlState; readonly attempts: readonly Attempt[] }>;
  /** By origin. */
  readonly robots: ReadonlyMap<string, OriginRobots>;
  /** Committed lengths of the append-only files, in bytes, by name from the data directory. */
  readonly committed: ReadonlyMap<string, number>;
}

/** Copies the database to `copy`, which must not exist, and reads the copy. Empty where there is none yet. */
export async function readStore(dataDir: string, copy: string): Promise<StoreReading> {
  const urls = new Map<string, { state: UrlState; attempts: readonly Attempt[] }>();
  const robots = new Map<string, OriginRobots>();
  const committed = new Map<string, number>();
  const source = join(dataDir, 'store');
  if ((await sizeOf(join(source, 'CURRENT'))) === null) return { urls, robots, committed };
  await cp(source, copy, { recursive: true });
  const database = levelDatabase(copy);
  await database.open();
  const each = async <T>(
    kind: Kind,
    decode: (value: Buffer, key: Buffer) => T | Poison,
    keep: (key: Buffer, row: T) => void,
  ) => {
    for await (const rows of scanRange(database, kindRange(kind))) {
      for (const [key, value] of rows) {
        const row = decode(value, key);
        if (row instanceof Poison) throw new Error(`a row can't be read: ${row.reason}`);
        keep(key, row);
      }
    }
  };
  try {
    await each(
      KIND.registry,
      (value, key) => decodeRecord(value, urlKeyOf(key), hostOfRecord(value)),
      (_key, { url, state, attempts }) => urls.set(url, { state, attempts }),
    );
    await each(KIND.robots, decodeRobots, (key, row) => robots.set(originOfKey(key), row));
    await each(KIND.file, decodeFile, (key, mark) => committed.set(fileOfKey(key), mark.length));
  } finally {
    await database.close();
  }
  return { urls, robots, committed };
}

/** In bytes; null where there is no such file. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The codec asks for the host of the queue that a record stands in; here the record's own has to do. */
function hostOfRecord(value: Uint8Array): string {
  const [, url] = unpack(value) as [number, string];
  return new URL(url).hostname;
}

async function archiveNames(dataDir: string, ending: string): Promise<string[]> {
  return (await readdir(join(dataDir, 'archive'))).filter((name) => name.endsWith(ending)).sort();
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} ends within a line`);
  return text.split('\n').slice(0, -1);
}

/** As archives write it (RFC 4648 §6), by another way than the engine's. */
function sha1Of(bytes: Uint8Array): string {
  const digits = BigInt(`0x${createHash('sha1').update(bytes).digest('hex')}`)
    .toString(32)
    .padStart(32, '0');
  const letters = [...digits].map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number.parseInt(digit, 32)));
  return `sha1:${letters.join('')}`;
}
