/** D1, D2, D4 by force: a process that commits is killed without warning, again and again. */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StorePort } from '../../src/protocols/ports.js';
import { openStore } from '../../src/store/store.js';
import { compileInto } from '../support/compile.js';
import { ARCHIVE_BYTES_MAX, urlOf } from './committing-child.js';
import { sortedLines } from '../../src/sinks/cdxj.js';
import { keyOf, warcinfo } from './parts.js';

const KILLS = 10;

describe('kill -9 of a process that commits', () => {
  let code: string;
  let dir: string;
  let entry: string;

  beforeAll(async () => {
    code = await mkdtemp(join(tmpdir(), 'orbweaver-child-'));
    dir = await mkdtemp(join(tmpdir(), 'orbweaver-killed-'));
    entry = await compileInto(code, 'test/store/committing-child.ts');
  });

  afterAll(async () => {
    await rm(code, { recursive: true });
    await rm(dir, { recursive: true });
  });

  it('D1, D2, D4: nothing that was acknowledged is lost, nothing is there twice, files are as long as committed', async () => {
    let before = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = await runAndKill(entry, dir, 3 + ((kill * 37) % 90));
      expect(acknowledged).toBeGreaterThan(before);
      const store = await openStore({ dir, warcinfo, archiveBytesMax: ARCHIVE_BYTES_MAX });
      expect(store.opened().unclean).toBe(true);
      expect(store.opened().batch).toBeGreaterThanOrEqual(acknowledged);
      before = store.opened().batch;
      await checkWhole(store, dir, before);
      await store.close();
    }
  }, 120_000);

  it('D5: refuses a directory that another process has open, and says so', async () => {
    const { child, waitFor } = start(entry, dir);
    await waitFor(1);
    await expect(openStore({ dir, warcinfo, archiveBytesMax: ARCHIVE_BYTES_MAX })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining('in use by another process'),
    });
    await end(child);
  }, 30_000);
});

function start(entry: string, dir: string) {
  const child = spawn(process.execPath, [entry, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  let heard = () => {};
  child.stdout.on('data', (data: Buffer) => {
    said.push(data.toString());
    heard();
  });
  const acknowledged = () => said.join('').split('\n').slice(0, -1).map(Number);
  const waitFor = (count: number) =>
    new Promise<void>((resolve, reject) => {
      heard = () => acknowledged().length >= count && resolve();
      child.once('exit', () => reject(new Error('it ended by itself')));
    });
  return { child, acknowledged, waitFor };
}

function end(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.kill('SIGKILL');
  });
}

/** The last batch that it said was acknowledged. */
async function runAndKill(entry: string, dir: string, afterAcknowledged: number): Promise<number> {
  const { child, acknowledged, waitFor } = start(entry, dir);
  await waitFor(afterAcknowledged);
  await end(child);
  return acknowledged().at(-1) as number;
}

async function checkWhole(store: StorePort, dir: string, batches: number): Promise<void> {
  const pages = (await readFile(join(dir, 'pages.jsonl'), 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((it) => JSON.parse(it));
  expect(pages.map((it) => it.url)).toEqual(Array.from({ length: batches - 1 }, (_, i) => urlOf(i + 1, 0)));
  const names = (await readdir(join(dir, 'archive'))).sort();
  const archives = names.filter((name) => name.endsWith('.warc.gz'));
  expect(archives.length).toBeGreaterThan(batches / 40);
  const bytes = await Promise.all(archives.map((name) => readFile(join(dir, 'archive', name))));
  for (const { length } of bytes) expect(length).toBeLessThanOrEqual(ARCHIVE_BYTES_MAX);
  const members = gunzipSync(Buffer.concat(bytes)).toString();
  // Those of full files are sorted, whenever the kill came.
  const indexes = await Promise.all(
    archives.map((name) => readFile(join(dir, 'archive', name.replace('.warc.gz', '.cdxj')))),
  );
  for (const index of indexes.slice(0, -1)) expect(sortedLines(index).equals(index)).toBe(true);
  expect(Buffer.concat(indexes).toString().split('\n')).toHaveLength(batches);
  expect(members.match(/\r\nWARC-Type: response\r\n/g)).toHaveLength(batches - 1);
  const last = pages.at(-1).warc;
  expect(last.offset + last.length).toBe(bytes.at(-1)?.length);
  expect(store.opened().totals).toEqual({
    urls: 3 * batches,
    ready: 2 * batches + 1,
    waiting: 0,
    parked: 0,
    dead: 0,
    pages: batches - 1,
  });
  const keys = new Set<string>();
  await store.eachKey((key) => keys.add(key));
  for (let batch = 1; batch <= batches; batch++)
    for (const i of [0, 1, 2]) expect(keys.has(keyOf(urlOf(batch, i)))).toBe(true);
  let rows = 0;
  for (let i = 0; i < 5; i++) {
    const { head, summary } = await store.loadHost(`h${i}.test`, 100_000);
    expect(head.failure).toBeNull();
    expect(head.ready).toHaveLength(summary?.ready[3] ?? 0);
    rows += head.ready.length;
  }
  expect(rows).toBe(2 * batches + 1);
}
