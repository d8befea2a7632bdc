/**
 * What does the commit of a page cost the main thread, with one record, ten admissions and three files?
 *
 * For batches of 1 and of 16 pages on LevelDB and real files: microseconds a page of the main thread's CPU (as Linux
 * counts it), of the whole process's CPU, and of wall time. One commit in fifty is a sync commit.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Part } from '../src/protocols/commit.js';
import { openStore } from '../src/store/store.js';
import { admission, seedPart, visitPart, warcinfo } from '../test/store/parts.js';

const PAGES = 8000;
const LINKS = 10;
const HOSTS = 200;

/** Page n of the run, with its links: made before the clock starts. */
function pagePart(page: number): Part {
  const host = `host${page % HOSTS}.example`;
  const admitted = Array.from({ length: LINKS }, (_, i) =>
    admission(`https://${host}/section/${page}/article-${i}`, PAGES + page * LINKS + i),
  );
  const part = visitPart(`https://${host}/page/${page}`, page, { admitted });
  const bytes = Buffer.alloc(6000, page);
  return { ...part, archive: part.archive && { ...part.archive, records: { ...part.archive.records, bytes } } };
}

async function measure(pagesPerBatch: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'orbweaver-bench-'));
  const store = await openStore({ dir, warcinfo });
  const seeds = Array.from({ length: PAGES }, (_, i) => admission(`https://host${i % HOSTS}.example/page/${i}`, i));
  await store.commit(1, [seedPart(seeds)], true);
  const parts = Array.from({ length: PAGES }, (_, i) => pagePart(i));
  const start = performance.now();
  const cpu = process.cpuUsage();
  const main = mainThreadMs();
  for (let i = 0; i < PAGES; i += pagesPerBatch) {
    await store.commit(2 + i, parts.slice(i, i + pagesPerBatch), i % (50 * pagesPerBatch) === 0);
  }
  const busy = mainThreadMs() - main;
  const used = process.cpuUsage(cpu);
  const wall = performance.now() - start;
  const perPage = (milliseconds: number) => ((milliseconds * 1000) / PAGES).toFixed(1);
  console.log(
    `${pagesPerBatch} pages a batch: main thread ${perPage(busy)} us, process CPU ${perPage((used.user + used.system) / 1000)} us, wall ${perPage(wall)} us a page`,
  );
  await store.close();
  await rm(dir, { recursive: true });
}

/** CPU time of the main thread so far. */
function mainThreadMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

for (const pagesPerBatch of [1, 16, 1, 16]) await measure(pagesPerBatch);
