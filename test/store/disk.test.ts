/** D3: a disk that is full, and errors at every step of a commit. */
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MemoryLevel } from 'memory-level';
import { describe, expect, it } from 'vitest';
import { type FileOperation, MemoryFiles } from '../../src/sinks/memory-files.js';
import type { Database } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { partsOf, urlOf } from './committing-child.js';
import { keyOf, warcinfo } from './parts.js';

async function mountSmall(): Promise<string | null> {
  const dir = await mkdtemp(join(tmpdir(), 'orbweaver-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    await rm(dir, { recursive: true });
    return null;
  }
}

const small = await mountSmall();

describe.skipIf(small === null)('a full disk', () => {
  it('D3: is told as store_full; after room is made and the store opened again nothing acknowledged is lost', async () => {
    const dir = small as string;
    const copy = await mkdtemp(join(tmpdir(), 'orbweaver-copy-'));
    try {
      await writeFile(join(dir, 'filler'), Buffer.alloc(2_000_000));
      const store = await openStore({ dir, warcinfo });
      let batch = 1;
      const fill = async () => {
        for (; batch < 5000; batch++) await store.commit(batch, partsOf(batch), batch % 7 === 0);
      };
      await expect(fill()).rejects.toMatchObject({ code: 'store_full' });
      expect(batch).toBeLessThan(5000);
      await expect(store.commit(batch, partsOf(batch), false)).rejects.toMatchObject({ code: 'store_full' });
      expect((await store.loadHost('h1.test', 5)).head.failure).toContain('failed');
      await rm(join(dir, 'filler'));
      const newest = (await store.reopen()).batch;
      expect([batch - 1, batch]).toContain(newest);
      batch = newest + 1;
      for (const end = batch + 30; batch < end; batch++) await store.commit(batch, partsOf(batch), false);
      // What a kill would leave at this moment.
      await cp(dir, copy, { recursive: true, filter: (it) => !it.endsWith('LOCK') });
      const after = await openStore({ dir: copy, warcinfo });
      expect(after.opened()).toMatchObject({
        batch: batch - 1,
        notes: [],
        totals: { urls: 3 * (batch - 1), pages: batch - 2 },
      });
      const keys = new Set<string>();
      await after.eachKey((key) => keys.add(key));
      for (let i = 1; i < batch; i++) expect(keys.has(keyOf(urlOf(i, 2)))).toBe(true);
      await after.close();
      await store.close();
    } finally {
      execFileSync('umount', [dir]);
      await rm(dir, { recursive: true });
      await rm(copy, { recursive: true });
    }
  }, 60_000);
});

describe('errors in the middle of a commit', () => {
  const cases: readonly (readonly [FileOperation | 'batch', string, string])[] = [
    ['write', 'ENOSPC: no space left on device, write', 'store_full'],
    ['write', 'EIO: i/o error, write', 'store_io'],
    ['sync', 'EIO: i/o error, fdatasync', 'store_io'],
    ['batch', 'IO error: store/000005.log: No space left on device', 'store_full'],
    ['batch', 'IO error: LOCK: Read-only file system', 'store_read_only'],
    ['batch', 'Corruption: bad block', 'store_corrupt'],
  ];

  it.each(cases)(
    'D3: %s fails with "%s": code %s, nothing counts, and the batch can be written again',
    async (step, text, code) => {
      const files = new MemoryFiles();
      const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
      let failing = false;
      const innerBatch = (database as unknown as { _batch: (...it: unknown[]) => Promise<void> })._batch;
      (database as unknown as { _batch: unknown })._batch = function (this: unknown, ...args: unknown[]) {
        return failing ? Promise.reject(new Error(text)) : innerBatch.apply(this, args);
      };
      const store = await openStore({
        dir: 'memory',
        open: () => database as unknown as Database,
        fileSystem: files,
        warcinfo,
      });
      for (const batch of [1, 2, 3]) await store.commit(batch, partsOf(batch), true);
      const pages = files.bytes('pages.jsonl');
      if (step === 'batch') failing = true;
      else files.failNext(step, new Error(text), 17);
      await expect(store.commit(4, partsOf(4), true)).rejects.toMatchObject({ code });
      failing = false;
      await expect(store.commit(4, partsOf(4), true)).rejects.toMatchObject({ code });
      expect((await store.reopen()).batch).toBe(3);
      expect(files.bytes('pages.jsonl').equals(pages)).toBe(true);
      const receipt = await store.commit(4, partsOf(4), true);
      expect(receipt.totals).toMatchObject({ urls: 12, ready: 9, pages: 3 });
      expect(
        gunzipSync(files.bytes('archive/orbweaver-00001.warc.gz'))
          .toString()
          .match(/\r\nWARC-Type: response\r\n/g),
      ).toHaveLength(3);
      await store.close();
    },
  );

  it('D7: after a failed sync nothing since the last good one is believed', async () => {
    const files = new MemoryFiles();
    const database = new MemoryLevel<Buffer, Buffer>({
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    }) as unknown as Database;
    const store = await openStore({ dir: 'memory', open: () => database, fileSystem: files, warcinfo });
    for (const batch of [1, 2]) await store.commit(batch, partsOf(batch), true);
    await store.commit(3, partsOf(3), false);
    files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    await expect(store.commit(4, partsOf(4), true)).rejects.toMatchObject({ code: 'store_io' });
    expect((await store.reopen()).batch).toBe(3);
    expect(store.opened().notes.join()).toContain('1 visits are queued again');
    expect(store.opened().totals).toMatchObject({ urls: 9, ready: 8, pages: 1 });
    await store.close();
  });

  it.each([0, 0.3, 0.8, 1])(
    'D7: a loss of power that spares %s of the unsynced bytes leaves files and registry in step',
    async (luck) => {
      const files = new MemoryFiles();
      const database = new MemoryLevel<Buffer, Buffer>({
        keyEncoding: 'buffer',
        valueEncoding: 'buffer',
      }) as unknown as Database;
      const options = { dir: 'memory', open: () => database, fileSystem: files, warcinfo };
      const store = await openStore(options);
      for (let batch = 1; batch <= 20; batch++) await store.commit(batch, partsOf(batch), batch === 10);
      files.losePower(luck);
      await database.close();
      const after = await openStore(options);
      const { totals } = after.opened();
      const lines = files.bytes('pages.jsonl').toString().split('\n').slice(0, -1);
      expect(lines.length).toBe(totals.pages);
      expect(totals.pages).toBeGreaterThanOrEqual(9);
      // Every URL is either archived or queued.
      expect(totals.ready + totals.pages).toBe(totals.urls);
      expect(
        gunzipSync(files.bytes('archive/orbweaver-00001.warc.gz'))
          .toString()
          .match(/\r\nWARC-Type: response\r\n/g),
      ).toHaveLength(totals.pages);
      await after.close();
    },
  );
});

describe('the store in memory', () => {
  it('does everything in microtasks, so that simulated time can stand still meanwhile', async () => {
    const database = new MemoryLevel<Buffer, Buffer>({
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    }) as unknown as Database;
    const options = { dir: 'memory', open: () => database, fileSystem: new MemoryFiles(), warcinfo };
    let done = false;
    const work = async () => {
      const store = await openStore(options);
      for (const batch of [1, 2, 3]) await store.commit(batch, partsOf(batch), batch === 2);
      await store.loadHost('h1.test', 5);
      await store.listHosts(null, 5);
      await store.eachKey(() => {});
      await store.reopen();
      await store.close();
      done = true;
    };
    const finished = work();
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(true);
    await finished;
  });
});
