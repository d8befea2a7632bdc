/**
 * The database as the store uses it: any abstract-level with binary keys and values, LevelDB in production.
 *
 * A chained batch hands its rows to LevelDB one by one as slices; the array form looks its fields up by name in C++
 * and costs ten times as much on the main thread.
 */
import type { AbstractChainedBatch, AbstractLevel } from 'abstract-level';
import { Level } from 'level';
import type { Range } from './schema.js';

export type Database = AbstractLevel<string | Buffer | Uint8Array, Buffer, Buffer>;

/** LevelDB with a write buffer that makes stalls few, and a cache for the heads of queues. */
export function levelDatabase(path: string): Database {
  return new Level<Buffer, Buffer>(path, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    writeBufferSize: 32 * 1024 * 1024,
    cacheSize: 64 * 1024 * 1024,
  });
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
