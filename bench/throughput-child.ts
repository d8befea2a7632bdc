/**
 * One run over a canned web in a process of its own: its CPU time, its peak memory and its loop's delay are nobody
 * else's. The first argument says what runs (`ChildJob`); what it came to is sent to the parent.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, type EventLoopUtilization } from 'node:perf_hooks';
import { loadConfig } from '../src/config/load.js';
import { type Crawl, openCrawl } from '../src/main.js';
import { candidate, isRefused } from '../src/page/candidate.js';
import type { KernelCounts } from '../src/supervision/counts.js';
import { type CannedWeb, hostNameOf, pathOf } from './canned-web.js';
import { figuresOf, type Measured, perPage, round } from './measure.js';
import { REST, rawLoop } from './raw-loop.js';
import type { Figures } from './result.js';

export interface ChildJob {
  readonly subject: 'raw loop' | 'engine' | 'engine, no archive';
  readonly web: CannedWeb;
  readonly port: number;
  /** Pages that are not counted: before them the compiler is still at work. */
  readonly pagesWarm: number;
  /** What the engine keeps; the raw loop has a folder of its own. */
  readonly dataDir: string;
}

export interface ChildReport {
  readonly figures: Figures;
  readonly cpuMicrosPerPage: Figures;
}

/** A folder for each thread of this process, on Linux. */
const TASKS = '/proc/self/task';

const job = JSON.parse(process.argv[2] ?? 'null') as ChildJob;
const report = job.subject === 'raw loop' ? await runRawLoop() : await runEngine();
process.send?.(report satisfies ChildReport);
process.disconnect?.();

async function runRawLoop(): Promise<ChildReport> {
  const { measured, counts } = await rawLoop(job.web, job.port, job.pagesWarm);
  return {
    figures: { pages: counts.pages, ...figuresOf(measured, counts.pages) },
    cpuMicrosPerPage: perPage(measured, counts.pages, REST),
  };
}

// -- the engine -------------------------------------------------------------------------------------------------

/** What is read at the beginning and at the end of what counts. */
interface Reading {
  readonly atMs: number;
  readonly cpu: NodeJS.CpuUsage;
  readonly loop: EventLoopUtilization;
  readonly threads: ReadonlyMap<string, number>;
  readonly counts: KernelCounts;
}

async function runEngine(): Promise<ChildReport> {
  const { web, pagesWarm } = job;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let visits = 0;
  let begun: Reading | null = null;
  let ended: Reading | null = null;
  const threadsBefore = new Set(threadTimes().keys());
  const crawl = await openCrawl({
    config: configOfJob(),
    dataDir: job.dataDir,
    seeds: [seedOf(`http://${hostNameOf(web, 0)}:${job.port}${pathOf(0)}`)],
    pagesMax: null,
    secondsMax: null,
    log: { log: (level, event, fields) => level === 'error' && console.error(event, fields) },
    onEvent: ({ event }) => {
      if (event !== 'visit') return;
      visits += 1;
      if (visits === pagesWarm) {
        delay.enable();
        begun = read(crawl);
      }
      if (visits === web.pages) {
        delay.disable();
        ended = read(crawl);
      }
    },
  });
  const outcome = await crawl.ended;
  if (outcome.failure !== null) throw new Error(outcome.failure);
  if (begun === null || ended === null) throw new Error(`${visits} visits of ${web.pages}`);
  const pages = web.pages - pagesWarm;
  const measured = between(begun, ended, delay);
  const { written, distinct } = pagesWritten(job.dataDir);
  return {
    figures: {
      pages,
      ...figuresOf(measured, pages),
      ...messagesPerPage(begun, ended, pages),
      pagesMissing: web.pages - distinct,
      pagesDoubled: written - distinct,
    },
    cpuMicrosPerPage: threadsPerPage(begun, ended, threadsBefore, pages, measured),
  };
}

function configOfJob() {
  const assignments = [
    'scope=any',
    'waitSeconds=1',
    'dns.hosts={"*.bench.test":"127.0.0.1"}',
    'guard.allow=["127.0.0.0/8"]',
    'politeness.delayMs=0',
    'politeness.adaptiveFactor=0',
    'politeness.addressDelayMs=0',
    `archive.enabled=${job.subject === 'engine'}`,
  ];
  return loadConfig({ cores: 2, assignments }).config;
}

function seedOf(url: string) {
  const made = candidate(url, null, 'seed', null);
  if (isRefused(made)) throw new Error(`${made.refusal}: ${url}`);
  return made;
}

function read(crawl: Crawl): Reading {
  return {
    atMs: performance.now(),
    cpu: process.cpuUsage(),
    loop: performance.eventLoopUtilization(),
    threads: threadTimes(),
    counts: crawl.counts(),
  };
}

function between(begun: Reading, ended: Reading, delay: ReturnType<typeof monitorEventLoopDelay>): Measured {
  const milliseconds = (nanos: number) => Math.round(nanos / 1e4) / 100;
  return {
    seconds: (ended.atMs - begun.atMs) / 1_000,
    cpuMicros: ended.cpu.user + ended.cpu.system - begun.cpu.user - begun.cpu.system,
    activeMicros: performance.eventLoopUtilization(ended.loop, begun.loop).active * 1_000,
    loopDelayMs: {
      p50: milliseconds(delay.percentile(50)),
      p99: milliseconds(delay.percentile(99)),
      max: milliseconds(delay.max),
    },
    peakRssBytes: process.resourceUsage().maxRSS * 1_024,
    stagesMicros: {},
  };
}

// -- messages ---------------------------------------------------------------------------------------------------

function messagesPerPage(begun: Reading, ended: Reading, pages: number): Figures {
  const sum = (reading: Reading, name: string) =>
    reading.counts.actors
      .filter(({ path }) => `${path}/`.startsWith(name))
      .reduce((total, { messages }) => total + messages, 0);
  const per = (name: string) => round((sum(ended, name) - sum(begun, name)) / pages, 2);
  return {
    messagesPerPage: per(''),
    'messages of hosts': per('hosts/'),
    'messages of workbench': per('workbench/'),
    'messages of fetchers': per('fetchers/'),
    'messages of parsers': per('parsers/'),
    'messages of frontier': per('frontier/'),
    'messages of recorder': per('recorder/'),
  };
}

// -- threads ----------------------------------------------------------------------------------------------------

/** CPU time of each thread so far in µs, by its number in the system; none where the system does not tell. */
function threadTimes(): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  if (!existsSync(TASKS)) return times;
  for (const task of readdirSync(TASKS)) {
    const path = join(TASKS, task, 'schedstat');
    // A thread may end between the two looks.
    if (!existsSync(path)) continue;
    const [nanos] = readFileSync(path, 'utf8').split(' ');
    times.set(task, Number(nanos) / 1_000);
  }
  return times;
}

/** The parser threads are the busiest of those that the crawl began; the others write, collect and compile. */
function threadsPerPage(
  begun: Reading,
  ended: Reading,
  before: ReadonlySet<string>,
  pages: number,
  measured: Measured,
): Figures {
  const spent = [...ended.threads].map(([thread, micros]) => ({
    thread,
    micros: micros - (begun.threads.get(thread) ?? 0),
  }));
  const main = spent.find(({ thread }) => thread === String(process.pid))?.micros ?? 0;
  const parsers = spent
    .filter(({ thread }) => !before.has(thread))
    .sort((a, b) => b.micros - a.micros)
    .slice(0, configOfJob().page.threads)
    .reduce((sum, { micros }) => sum + micros, 0);
  return {
    'main thread': round(main / pages),
    'parser threads': round(parsers / pages),
    'other threads': round((measured.cpuMicros - main - parsers) / pages),
  };
}

// -- completeness -----------------------------------------------------------------------------------------------

function pagesWritten(dataDir: string): { readonly written: number; readonly distinct: number } {
  const lines = readFileSync(join(dataDir, 'pages.jsonl'), 'utf8').trimEnd().split('\n');
  const urls = new Set(lines.map((line) => (JSON.parse(line) as { url: string }).url));
  return { written: lines.length, distinct: urls.size };
}
