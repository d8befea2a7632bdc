/**
 * Does memory stay flat when a million hosts are known and tens of thousands of them rotate?
 *
 * A real store on disk is filled with what earlier lives have left: `--hosts` known hosts, of which some have `--pages`
 * rows each that are ready, some a row that falls due in the first minutes, and all others one that falls due in a month.
 * Then the production engine resumes, in simulated time, with room for few live hosts. Heap is read after collection. What
 * the million cost is the line of the frontier, read when all are listed; from then on nothing may grow.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openStore } from '../src/store/store.js';
import { type KnownHosts, knownSite, remember, rotate } from '../test/fairness/known-hosts.js';
import { quietCrawl } from '../test/fairness/quiet-crawl.js';
import { round } from './measure.js';
import type { Bench } from './result.js';

const HOSTS = 1_000_000;
const ROTATING = 30_000;
const WAKING = 10_000;
const DUE_MS = 120_000;
const LIVE_MAX = 3_000;
const START_WALL_MS = Date.UTC(2026, 0, 5);

export const run: Bench = async ({ hosts, pages }) => {
  const known = hosts ?? HOSTS;
  const share = known / HOSTS;
  const settings: KnownHosts = {
    known,
    rotating: Math.round(ROTATING * share),
    pagesPerHost: pages ?? 2,
    waking: Math.round(WAKING * share),
    dueMs: DUE_MS,
  };
  const liveMax = Math.max(300, Math.round(LIVE_MAX * share));
  const dir = mkdtempSync(join(tmpdir(), 'passivation-'));
  try {
    return {
      name: 'passivation',
      figures: { knownHosts: known, liveMax, ...(await figuresOf(dir, settings, liveMax)) },
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

async function figuresOf(dir: string, hosts: KnownHosts, liveMax: number): Promise<Record<string, number>> {
  const opened = () => openStore({ dir, warcinfo: () => new Uint8Array(0) });
  const filling = await opened();
  await remember(filling, hosts, START_WALL_MS);
  await filling.close();
  const collect = collector();
  const heapBefore = heapMebibytes(collect);
  const disk = await opened();
  const startedMs = performance.now();
  const realNow = performance.now.bind(performance);
  let firstFetchMs: number | null = null;
  const heaps: number[] = [];
  const options = [`hosts.liveMax=${liveMax}`, 'politeness.adaptiveFactor=0'];
  const urls = hosts.known + hosts.rotating * hosts.pagesPerHost;
  const crawled = { seed: 1, siteOf: knownSite, options, disk, expectedUrls: 2 * urls };
  const rotation = await quietCrawl(crawled, (crawl) => {
    let looks = 0;
    return rotate(crawl, hosts, () => {
      if (crawl.visits > 0) firstFetchMs ??= realNow() - startedMs;
      if (++looks % 10 === 0) heaps.push(heapMebibytes(collect));
    });
  });
  await disk.close();
  const after = (tenth: number) => heaps[Math.min(heaps.length - 1, Math.floor((heaps.length * tenth) / 10))] ?? 0;
  return {
    rotatingHosts: hosts.rotating,
    wakingHosts: hosts.waking,
    simulatedSeconds: round(rotation.seconds),
    'simulatedSeconds to the first fetch': round(rotation.firstFetchSeconds),
    'seconds to the first fetch, filter of known URLs included': round((firstFetchMs ?? 0) / 1_000),
    visits: rotation.visits,
    hostsBroughtToLife: rotation.activations,
    activationsPerVisit: round(rotation.activations / rotation.visits, 3),
    hostsWokenByTime: rotation.woken,
    liveHostsMost: rotation.liveMost,
    'heapMebibytes before': heapBefore,
    'heapMebibytes at a tenth': after(1),
    'heapMebibytes at a half': after(5),
    'heapMebibytes at the end': after(10),
    seconds: round((performance.now() - startedMs) / 1_000),
  };
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function heapMebibytes(collect: () => void): number {
  collect();
  return round(process.memoryUsage().heapUsed / 2 ** 20);
}
