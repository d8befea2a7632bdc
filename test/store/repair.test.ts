/** What a failed sync costs is queued again beside whoever goes on numbering: no row takes another's place. */
import { MemoryLevel } from 'memory-level';
import { describe, expect, it } from 'vitest';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import type { Database } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { admission, hostPart, ready, recordOf, seedPart, visitPart, warcinfo } from './parts.js';

const URL_OF = (page: string) => `http://h.test/${page}`;

/** Pages a and b are seeds; a's visit is committed without a sync; b's comes with a sync that fails. */
async function storeAfterFailedSync() {
  const files = new MemoryFiles();
  const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const options = { dir: 'memory', open: () => database as unknown as Database, fileSystem: files, warcinfo };
  const store = await openStore(options);
  const bVisited = [visitPart(URL_OF('b'), 1, { admitted: [admission(URL_OF('d'), 3)] })];
  await store.commit(1, [seedPart([admission(URL_OF('a'), 0), admission(URL_OF('b'), 1)])], true);
  await store.commit(2, [visitPart(URL_OF('a'), 0, { admitted: [admission(URL_OF('c'), 2)] })], false);
  files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
  await expect(store.commit(3, bVisited, true)).rejects.toMatchObject({ code: 'store_io' });
  expect((await store.reopen()).batch).toBe(2);
  return { store, options, bVisited };
}

const pagesIn = (loaded: {
  readonly head: { readonly ready: readonly { readonly record: { readonly url: string } }[] };
}) => loaded.head.ready.map(({ record }) => record.url).sort();

describe('a failed sync while the frontier goes on numbering', () => {
  it('D3: what is queued again takes the place of nothing that was numbered meanwhile', async () => {
    const { store, bVisited } = await storeAfterFailedSync();
    await store.commit(3, bVisited, true);
    await store.commit(4, [seedPart([admission(URL_OF('e'), 4), admission(URL_OF('f'), 5)])], true);
    const loaded = await store.loadHost('h.test', 100);
    expect(pagesIn(loaded)).toEqual(['a', 'c', 'd', 'e', 'f'].map(URL_OF));
    const sequences = loaded.head.ready.map(({ at }) => at.sequence);
    expect(new Set(sequences).size).toBe(sequences.length);
    expect(store.opened().totals.ready).toBe(3);
    await store.close();
  });

  it('D3: a second failure queues again beside the first, and the next life counts on beyond both', async () => {
    const { store, options, bVisited } = await storeAfterFailedSync();
    await store.commit(3, bVisited, false);
    const files = options.fileSystem;
    files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    await expect(store.commit(4, [], true)).rejects.toMatchObject({ code: 'store_io' });
    await store.reopen();
    const loaded = await store.loadHost('h.test', 100);
    expect(pagesIn(loaded)).toEqual(['a', 'b', 'c', 'd'].map(URL_OF));
    const newest = Math.max(...loaded.head.ready.map(({ at }) => at.sequence));
    await store.close();
    const after = await openStore(options);
    expect(after.opened().nextSequence).toBe(newest + 1);
    await after.close();
  });

  it('without a row that is queued again no sequence is left out', async () => {
    const files = new MemoryFiles();
    const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
    const options = { dir: 'memory', open: () => database as unknown as Database, fileSystem: files, warcinfo };
    const store = await openStore(options);
    await store.commit(1, [seedPart([admission(URL_OF('a'), 0)])], true);
    files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    await expect(store.commit(2, [visitPart(URL_OF('a'), 0)], true)).rejects.toMatchObject({ code: 'store_io' });
    await store.reopen();
    expect(store.opened().nextSequence).toBe(1);
    await store.close();
  });

  it('D3: a retry stays where it stands, and a page that is lost stands behind all that its host has seen', async () => {
    const files = new MemoryFiles();
    const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
    const options = { dir: 'memory', open: () => database as unknown as Database, fileSystem: files, warcinfo };
    const store = await openStore(options);
    const [retried, kept] = [URL_OF('retried'), URL_OF('kept')];
    const waiting = (sequence: number) => ({ queue: 'waiting', dueAtMs: 1_700_000_060_000, sequence }) as const;
    await store.commit(1, [seedPart([admission(retried, 0), admission(kept, 1)])], true);
    const failed = visitPart(retried, 0, {
      moves: [{ from: ready(0), to: waiting(0), record: recordOf(retried, { state: 'waiting', deliveries: 1 }) }],
      page: null,
      heads: [0, 0, 0, 1, 0, 0, 0, 0],
    });
    const again = visitPart(kept, 1, {
      moves: [{ from: ready(1), to: waiting(1), record: recordOf(kept, { state: 'active', digest: 'sha1:X' }) }],
      heads: [0, 0, 0, 2, 0, 0, 0, 0],
    });
    await store.commit(2, [failed, again], false);
    files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    const doubtful = hostPart('h.test', { heads: [0, 0, 0, 2, 0, 0, 0, 0] });
    await expect(store.commit(3, [doubtful], true)).rejects.toMatchObject({ code: 'store_io' });
    await store.reopen();
    await store.commit(3, [doubtful], true);
    const from = [0, 0, 0, 2, 0, 0, 0, 0];
    const { head } = await store.readQueue('h.test', from, 100);
    expect(head.ready.map(({ record }) => record.url)).toEqual([kept]);
    expect(head.waiting.map(({ at, record }) => [record.url, record.state, at])).toEqual([
      [retried, 'waiting', waiting(0)],
    ]);
    await store.close();
  });

  it('a row below what its host believes to be the first is read all the same: the counts say that it is there', async () => {
    const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
    const options = {
      dir: 'memory',
      open: () => database as unknown as Database,
      fileSystem: new MemoryFiles(),
      warcinfo,
    };
    const store = await openStore(options);
    const [low, high] = [admission(URL_OF('low'), 3), admission(URL_OF('high'), 90)];
    const tooHigh = [0, 0, 0, 90, 0, 0, 0, 0];
    await store.commit(1, [seedPart([low, high]), hostPart('h.test', { heads: tooHigh })], true);
    const { head } = await store.readQueue('h.test', tooHigh, 100);
    expect(head.ready.map(({ record }) => record.url)).toEqual([URL_OF('low'), URL_OF('high')]);
    expect(head.notes).toEqual(["counts of h.test don't fit its rows: counted anew"]);
    await store.commit(2, [], false);
    expect((await store.loadHost('h.test', 100)).head.notes).toEqual([]);
    await store.close();
  });
});
