/**
 * A process that commits until it is killed, and says each batch that was acknowledged.
 *
 * Batch n admits three URLs of its own and visits the first of batch n-1, so that whoever comes after knows from n
 * alone what must be there.
 */
import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/store.js';
import { admission, seedPart, visitPart, warcinfo } from './parts.js';

/** A dozen visits: kills find files that are being changed. */
export const ARCHIVE_BYTES_MAX = 20_000;

export function urlOf(batch: number, i: number): string {
  return `http://h${batch % 5}.test/${batch}/${i}`;
}

export function sequenceOf(batch: number, i: number): number {
  return batch * 3 + i;
}

export function partsOf(batch: number) {
  const admitted = [0, 1, 2].map((i) => admission(urlOf(batch, i), sequenceOf(batch, i)));
  if (batch === 1) return [seedPart(admitted)];
  return [visitPart(urlOf(batch - 1, 0), sequenceOf(batch - 1, 0), { admitted })];
}

const [, , directory] = process.argv;
if (directory !== undefined && process.argv[1]?.endsWith('committing-child.js')) {
  const store = await openStore({ dir: directory, warcinfo, archiveBytesMax: ARCHIVE_BYTES_MAX });
  for (let batch = store.opened().batch + 1; ; batch++) {
    await store.commit(batch, partsOf(batch), batch % 7 === 0);
    writeSync(1, `${batch}\n`);
  }
}
