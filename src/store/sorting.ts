/**
 * Indexes in the order of URLs: sorted once their archive file is full, and at a clean stop.
 *
 * Until then lines come in the order of appending, which a loss of power may cut anywhere. A sorted index has the same
 * lines and so the same length: nothing that the store says of it changes, whatever moment a kill strikes.
 */
import { Buffer } from 'node:buffer';
import { sortedLines } from '../sinks/cdxj.js';
import type { FileSystem } from '../sinks/files.js';
import { archiveFile, indexFileOf } from './appending.js';
import { encodeVersion, decodeVersion, Poison } from './codec.js';
import { type Database, RowBatch } from './database.js';
import { META } from './schema.js';

/** It is sorted in memory; an index of this size belongs to some fifty gigabytes of archive. */
export const SORTED_BYTES_MAX = 512 * 1024 * 1024;

/** What could not be sorted stays as it was, which is an index all the same. Resolves to why; null when all is well. */
export async function sortIndex(files: FileSystem, name: string): Promise<string | null> {
  try {
    const size = await files.size(name);
    if (size === null || size === 0) return null;
    if (size > SORTED_BYTES_MAX) return `${name} is too large to be sorted here`;
    const bytes = Buffer.from(await files.read(name, 0, size));
    const sorted = sortedLines(bytes);
    if (sorted.length !== bytes.length) return `${name} has an end that is no line: it is left unsorted`;
    if (!sorted.equals(bytes)) await files.rewrite(name, sorted);
    return null;
  } catch (error) {
    return `${name} can't be sorted: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** At the opening: those that a kill left between rotation and sorting. Everything in them must be on the disk. */
export async function sortLeftOver(
  database: Database,
  files: FileSystem,
  archiveNumber: number,
  notes: string[],
): Promise<void> {
  const stored = await database.get(META.sorted);
  const from = stored === undefined ? 1 : decodeVersion(stored);
  for (let number = from instanceof Poison ? 1 : from; number < archiveNumber; number++) {
    const trouble = await sortIndex(files, indexFileOf(archiveFile(number)));
    if (trouble !== null) notes.push(trouble);
  }
  if (from !== archiveNumber) await noteSorted(database, archiveNumber);
}

/** All indexes before this one are sorted. If it is forgotten they are looked at once more. */
export async function noteSorted(database: Database, archiveNumber: number): Promise<void> {
  const rows = new RowBatch(database);
  rows.put(META.sorted, encodeVersion(archiveNumber));
  await rows.write(false);
}
