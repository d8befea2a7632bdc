/**
 * The database as the store uses it: any abstract-level with binary keys and values, LevelDB in production.
 *
 * A chained batch hands its rows to LevelDB one by one as slices; the array form looks its fields up by name in C++
 * and costs ten times as much on the main thread.
 */
import { readdirSync } from 'node:fs';
import type { AbstractChainedBatch, AbstractLevel } from 'abstract-level';
import { Level } from 'level';
import { StoreError } from '../protocols/ports.js';
import { makeFolder } from '../sinks/folders.js';
import { storeErrorFrom } from './errors.js';
import type { Range } from './schema.js';

export type Database = AbstractLevel<string | Buffer | Uint8Array, Buffer, Buffer>;

/**
 * LevelDB with a write buffer that makes stalls few, and a cache for the heads of queues.
 * @throws StoreError `store_corrupt` when there are tables, but no CURRENT that leads to them
 */
export function levelDatabase(path: string): Database {
  refuseOrphans(path);
  try {
    makeFolder(path);
  } catch (error) {
    throw storeErrorFrom(error, "the store can't be opened", path);
  }
  return new Level<Buffer, Buffer>(path, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    writeBufferSize: 32 * 1024 * 1024,
    cacheSize: 64 * 1024 * 1024,
  });
}

/**
 * Without CURRENT LevelDB begins a new database, and its first act is to delete the tables of the old one. The log is
 * still read, and with it a state that speaks of rows that are no more: nobody would notice. A first start that was
 * killed leaves no CURRENT either, but never a table.
 */
function refuseOrphans(path: string): void {
  const names = namesIn(path);
  if (names.includes('CURRENT') || !names.some(isTable)) return;
  throw new StoreError('store_corrupt', "the store can't be opened: it has tables, but its file CURRENT is missing", {
    where: path,
    advice: 'put it back: it holds the name of the newest MANIFEST file and a line end',
  });
}

/** Whether there is a database, damaged or not; a first start that was killed has left none. */
export function isBegun(path: string): boolean {
  const names = namesIn(path);
  return names.includes('CURRENT') || names.some(isTable);
}

function isTable(name: string): boolean {
  return /\.(?:ldb|sst)$/.test(name);
}

/** What can't be listed LevelDB can't open, and says why. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Rows that are written together or not at all. */
export class RowBatch {
  readonly #batch: AbstractChainedBatch<Database, Buffer, Buffer>;
  /** A database in memory keeps what it is given, and values are views of a slab that is large. */
  readonly #copies: boolean;

  constructor(database: Database) {
    this.#batch = database.batch();
    this.#copies = database.supports.permanence === false;
  }

  put(key: Buffer, value: Buffer): void {
    this.#batch.put(key, this.#copies ? Buffer.from(value) : value);
  }

  delete(key: Buffer): void {
    this.#batch.del(key);
  }

  write(sync: boolean): Promise<void> {
    return this.#batch.write({ sync } as object);
  }

  /** Instead of `write`. */
  drop(): Promise<void> {
    return this.#batch.close();
  }
}

/** Rows of a range in key order, at most `limit` of them. */
export async function readRange(database: Database, range: Range, limit: number): Promise<[Buffer, Buffer][]> {
  const iterator = database.iterator({ ...range, limit });
  try {
    return await iterator.nextv(limit);
  } finally {
    await iterator.close();
  }
}

const SCAN_ROWS = 1000;

/** A whole range, in pieces that leave the event loop room. */
export async function* scanRange(database: Database, range: Range): AsyncGenerator<[Buffer, Buffer][]> {
  const iterator = database.iterator(range);
  try {
    for (;;) {
      const rows = await iterator.nextv(SCAN_ROWS);
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await iterator.close();
  }
}
