/**
 * What a crawl has brought about, and the rules that hold for it whatever happened on the way (D2, D4):
 *
 * 1. a page has one line, its archive record is there, whole, and of that URL;
 * 2. an index entry stands once, for a record that is there; a response record has its index entry;
 * 3. files are exactly as long as the store says.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Truth } from '../../../src/practice/truth.js';
import {
  type ArchiveReading,
  type IndexRow,
  type PageRow,
  readArchive,
  readIndex,
  readPages,
  readStore,
  responseAt,
  type StoreReading,
  sizeOf,
} from './data-directory.js';

export interface Effects {
  readonly pages: readonly PageRow[];
  readonly index: readonly IndexRow[];
  readonly archive: ArchiveReading;
  readonly store: StoreReading;
}

/** Reads all of it; what breaks a rule is added to `problems`. The database is copied to `copy`. */
export async function readEffects(dataDir: string, copy: string, problems: string[]): Promise<Effects> {
  const pages = await readPages(dataDir);
  const index = await readIndex(dataDir);
  const archive = await readArchive(dataDir);
  const store = await readStore(dataDir, copy);
  problems.push(...archive.problems);
  problems.push(
    ...doubled(
      'page line',
      pages.map(({ canonical }) => canonical),
    ),
  );
  problems.push(
    ...doubled(
      'index entry',
      index.map(({ url, timestamp }) => `${timestamp} ${url}`),
    ),
  );
  problems.push(
    ...doubled(
      'index place',
      index.map(({ filename, offset }) => `${filename}@${offset}`),
    ),
  );
  problems.push(
    ...doubled(
      'archive record',
      [...archive.responses.values()].map(({ id }) => id),
    ),
  );
  problems.push(...indexProblems(index, archive));
  problems.push(...(await pageProblems(dataDir, pages, archive)));
  for (const [name, length] of store.committed) {
    const found = await sizeOf(join(dataDir, name));
    if (found !== length) problems.push(`${name} has ${found} bytes, and ${length} are committed`);
  }
  return { pages, index, archive, store };
}

/** Both crawls must have come to the same pages, byte for byte, and to the same states of the same URLs; and to the truth. */
export function compareEffects(calm: Effects, hard: Effects, truth: Truth): string[] {
  const pageOf = ({ canonical, status, outcome, digest }: PageRow) => `${canonical} ${status} ${outcome} ${digest}`;
  const statesOf = ({ store }: Effects) => [...store.urls].map(([url, { state }]) => `${url} ${state}`);
  return [
    ...difference('page', 'disturbed', calm.pages.map(pageOf), hard.pages.map(pageOf)),
    ...difference('URL state', 'disturbed', statesOf(calm), statesOf(hard)),
    ...difference(
      'page of the truth',
      'undisturbed',
      truth.pages,
      calm.pages.map(({ canonical }) => canonical),
    ),
  ];
}

function indexProblems(index: readonly IndexRow[], { responses }: ArchiveReading): string[] {
  const problems: string[] = [];
  const unseen = new Set(responses.keys());
  for (const { url, filename, offset, length, digest } of index) {
    const place = `${filename}@${offset}`;
    const record = responses.get(place);
    unseen.delete(place);
    if (record === undefined) problems.push(`the index says ${place}, where no response begins`);
    else if (record.url !== url || record.length !== length || record.payloadDigest !== digest)
      problems.push(`the index says of ${place} what its record does not: ${url} ${length} ${digest}`);
  }
  for (const place of unseen) problems.push(`the response at ${place} is in no index`);
  return problems;
}

async function pageProblems(
  dataDir: string,
  pages: readonly PageRow[],
  { responses }: ArchiveReading,
): Promise<string[]> {
  const problems: string[] = [];
  const files = new Map<string, Buffer>();
  for (const { canonical, warc } of pages) {
    if (warc === null) {
      problems.push(`${canonical} has no archive record`);
      continue;
    }
    const file = files.get(warc.file) ?? (await readFile(join(dataDir, warc.file)));
    files.set(warc.file, file);
    const target = await responseAt(file, warc.offset, warc.length);
    if (target !== canonical) problems.push(`${canonical} has ${target} at ${warc.file}@${warc.offset}`);
    if (!responses.has(`${warc.file.slice(warc.file.lastIndexOf('/') + 1)}@${warc.offset}`))
      problems.push(`${canonical} has its record where none begins: ${warc.file}@${warc.offset}`);
  }
  return problems;
}

function doubled(what: string, keys: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) twice.add(key);
    seen.add(key);
  }
  return [...twice].map((key) => `${what} is there twice: ${key}`);
}

function difference(what: string, whose: string, expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, had] = [new Set(expected), new Set(found)];
  return [
    ...[...wanted].filter((key) => !had.has(key)).map((key) => `${what} lacks in the ${whose} crawl: ${key}`),
    ...[...had].filter((key) => !wanted.has(key)).map((key) => `${what} is only in the ${whose} crawl: ${key}`),
  ];
}
