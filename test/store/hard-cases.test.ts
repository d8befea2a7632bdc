/** Hard cases of a state that comes back by number: torn files, doubled rows, snapshots. On LevelDB with real files. */
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLevel } from 'memory-level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { partitionOf } from '../../src/domain/host.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import { StoreError } from '../../src/protocols/ports.js';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import type { Database } from '../../src/store/database.js';
import { positionKey } from '../../src/store/schema.js';
import { openStore } from '../../src/store/store.js';
import { admission, hostPart, ready, seedPart, visitPart, warcinfo } from './parts.js';

const BATCHES = 24;
const urlOf = (n: number): string => `http://h.test/${n}`;

describe('F03: a state whose end or whose beginning is torn', () => {
  let folder: string;
  let dir: string;

  /** A copy of the directory of a process that has it open, as a loss of power leaves it. */
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-torn-'));
    dir = join(folder, 'copy');
    const original = join(folder, 'original');
    const store = await openStore({ dir: original, warcinfo });
    await store.commit(1, [seedPart(Array.from({ length: BATCHES }, (_, n) => admission(urlOf(n), n)))], true);
    for (let n = 0; n + 1 < BATCHES; n++) await store.commit(n + 2, [visitPart(urlOf(n), n)], false);
    await cp(original, dir, { recursive: true });
    await store.close();
  });

  afterEach(() => rm(folder, { recursive: true }));

  const named = async (pattern: RegExp): Promise<string> => {
    const name = (await readdir(join(dir, 'store'))).sort().findLast((one) => pattern.test(one));
    if (name === undefined) throw new Error(`no file like ${pattern}`);
    return join(dir, 'store', name);
  };

  it.each([0, 1, 2, 3, 7, 13, 29, 64, 99, 150, 200])(
    'the last %i bytes of its log: what is left is whole, and an exact beginning of what there was',
    async (bytes) => {
      const log = await named(/\.log$/);
      const { size } = await stat(log);
      await truncate(log, size - bytes);
      const store = await openStore({ dir, warcinfo });
      const { batch, totals } = store.opened();
      expect(batch).toBeLessThanOrEqual(BATCHES);
      expect(batch).toBeGreaterThanOrEqual(bytes === 0 ? BATCHES : BATCHES - 2);
      // Batch n + 2 is the visit of page n.
      const visited = batch - 1;
      expect(totals).toMatchObject({ urls: BATCHES, ready: BATCHES - visited, pages: visited });
      const { head } = await store.loadHost('h.test', 100);
      expect(head.ready.map(({ record }) => record.url)).toEqual(
        Array.from({ length: BATCHES - visited }, (_, n) => urlOf(visited + n)),
      );
      const lines = (await readFile(join(dir, 'pages.jsonl'), 'utf8')).split('\n').slice(0, -1);
      expect(lines.map((line) => (JSON.parse(line) as { url: string }).url)).toEqual(
        Array.from({ length: visited }, (_, n) => urlOf(n)),
      );
      await store.close();
    },
  );

  it.each([
    ['CURRENT', /^CURRENT$/],
    ['the manifest', /^MANIFEST-/],
  ])('an empty file for %s: refused in words, and what is there stays there', async (_name, pattern) => {
    await writeFile(await named(pattern), '');
    const before = (await readdir(join(dir, 'store'))).filter((name) => /\.(ldb|log)$/.test(name));
    const refused = await openStore({ dir, warcinfo }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(StoreError);
    expect((refused as StoreError).code).toBe('store_corrupt');
    expect((refused as StoreError).advice).not.toBeNull();
    const after = await readdir(join(dir, 'store'));
    for (const name of before) expect(after).toContain(name);
    expect((await readFile(join(dir, 'pages.jsonl'), 'utf8')).split('\n')).toHaveLength(BATCHES);
  });

  it.each([1, 17, 60])(
    'half a line at the end of pages.jsonl (%i bytes of one): cut off, and the rest is as it was',
    async (bytes) => {
      const file = join(dir, 'pages.jsonl');
      const whole = await readFile(file);
      await writeFile(file, Buffer.concat([whole, whole.subarray(0, bytes)]));
      const store = await openStore({ dir, warcinfo });
      expect(await readFile(file)).toEqual(whole);
      expect(store.opened().batch).toBe(BATCHES);
      await store.close();
    },
  );
});

function openInMemory() {
  const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const options = {
    dir: 'memory',
    open: () => database as unknown as Database,
    fileSystem: new MemoryFiles(),
    warcinfo,
  };
  return { database, open: () => openStore(options) };
}

describe('F20: the same URL more than once in what is pending', () => {
  it('several times in one command, and once more in the next: one row', async () => {
    const { open } = openInMemory();
    const store = await open();
    // The frontier asks so where its filter says that it may have seen a URL.
    const maybe = (n: number, sequence: number) => admission(urlOf(n), sequence, { ifAbsent: true });
    await store.commit(1, [seedPart([maybe(1, 0), maybe(1, 1), maybe(1, 2), maybe(2, 3)])], true);
    const { totals } = await store.commit(2, [seedPart([maybe(1, 4)], 2)], true);
    expect(totals).toMatchObject({ urls: 2, ready: 2 });
    const { head } = await store.loadHost('h.test', 100);
    expect(head.ready.map(({ record }) => record.url)).toEqual([urlOf(1), urlOf(2)]);
    await store.close();
  });

  it('rows that stand beside their like, as no commit writes them: each is visited away, and the counts come to nothing, not to less', async () => {
    const { database, open } = openInMemory();
    const store = await open();
    await store.commit(1, [seedPart([admission(urlOf(1), 0), admission(urlOf(2), 1)])], true);
    await store.close();
    await database.open();
    const partition = partitionOf('h.test');
    const row = (await database.get(positionKey(partition, 'h.test', ready(0)))) as Buffer;
    for (const sequence of [7, 8]) await database.put(positionKey(partition, 'h.test', ready(sequence)), row);
    await database.close();
    const again = await open();
    const { head } = await again.loadHost('h.test', 100);
    expect(head.ready.map(({ at }) => at.sequence)).toContain(0);
    let totals = again.opened().totals;
    for (const [index, { record, at }] of head.ready.entries()) {
      totals = (await again.commit(2 + index, [visitPart(record.url, at.sequence)], true)).totals;
    }
    expect(totals).toMatchObject({ urls: 2, ready: 0 });
    expect((await again.loadHost('h.test', 100)).head.ready).toEqual([]);
    await again.close();
  });
});

describe('F22: what is known of a host is never one step behind what was done to it', () => {
  it('after each commit, the first one too, a life that ends without a word leaves the newest', async () => {
    const { database, open } = openInMemory();
    let store = await open();
    await store.commit(1, [seedPart(Array.from({ length: 6 }, (_, n) => admission(urlOf(n), n)))], false);
    expect((await store.loadHost('h.test', 10)).snapshot).toBeNull();
    for (let n = 0; n < 6; n++) {
      const snapshot = { ...UNTOUCHED, requests: n + 1, closedUntilMs: n % 2 === 0 ? 1_000 + n : null };
      const robots = [
        {
          origin: 'http://h.test',
          state: { phase: 'unreachable', sinceMs: 1, retryAtMs: n, attempts: n + 1, lastGood: null },
        },
      ] as const;
      await store.commit(n + 2, [visitPart(urlOf(n), n, { snapshot, robots })], false);
      await database.close();
      store = await open();
      const loaded = await store.loadHost('h.test', 10);
      expect(loaded.snapshot).toEqual(snapshot);
      expect(loaded.robots).toEqual(robots);
      expect(loaded.head.ready).toHaveLength(5 - n);
    }
    await store.commit(8, [hostPart('h.test', { snapshot: { ...UNTOUCHED, requests: 99 } })], false);
    expect((await store.loadHost('h.test', 10)).snapshot?.requests).toBe(99);
    await store.close();
  });
});
