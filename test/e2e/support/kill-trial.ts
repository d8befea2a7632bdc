/**
 * The kill -9 trial: a crawl of a faulty web is killed again and again, and must come to what an undisturbed one comes to.
 *
 * Two crawls of the same web, each with a server of its own, on the same port of two loopback addresses, so that URLs
 * and digests compare and the faults of each begin anew. The first is left alone. The second is killed by plan: at random moments after a life's first
 * request, at random moments of its start, and by the server in the middle of an answer. What a kill found open is read
 * from a copy of the database that it left; what was repeated, from the server's log (repeats.ts).
 *
 * Shown: D1 (nothing is lost), D2 (at most the open visits are repeated, each effect lands once), D4 (archives are
 * whole for an independent reader), and P1 to P5 and P9 by the judge over the server's log, kills and starts marked in it.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chance } from '../../../src/practice/dice.js';
import { judgeFile, type Verdict } from '../../../src/practice/judge.js';
import type { Truth } from '../../../src/practice/truth.js';
import { eventsOf } from '../../../src/practice/witness.js';
import { readStore, type StoreReading, sizeOf } from './data-directory.js';
import { compareEffects, type Effects, readEffects } from './effects.js';
import {
  type CrawlEnd,
  type CrawlProcess,
  PRODUCT_TOKEN,
  sleep,
  startCrawl,
  startWeb,
  type Web,
  within,
} from './programs.js';
import { accountFor, type KillAccount } from './repeats.js';

export interface TrialPlan {
  /** The entry of the built command line. */
  readonly program: string;
  /** An empty folder; what the trial wrote stays there. */
  readonly folder: string;
  /** Draws the web and the kills. */
  readonly seed: number;
  readonly hosts: number;
  readonly pages: number;
  readonly delayMs: number;
  /** Kills by this process; `startUpKills` of them fall before a life's first request, or about it. */
  readonly randomKills: number;
  readonly startUpKills: number;
  /** Kills by the server, in the middle of an answer. */
  readonly serverKills: number;
  /** A random kill falls up to so long after the life's first request. */
  readonly aliveMsMax: number;
  /** A server's kill falls at one of so many requests. */
  readonly requestsMax: number;
  /** Of all kills so many must find a visit open. */
  readonly withOpenVisitsMin: number;
  readonly waitSeconds: number;
  /** Both crawls at the same time: half the time, but neither is quite undisturbed by the other. */
  readonly sideBySide: boolean;
  /** Told of each step, for people. */
  readonly say: (line: string) => void;
}

export type KillKind = 'random' | 'start-up' | 'server';

export interface KillRow extends KillAccount {
  readonly kind: KillKind;
  /** From the start of the process. */
  readonly livedMs: number;
  /** From the start of the process to its first request; null where it came to none. */
  readonly firstRequestMs: number | null;
}

export interface TrialReport {
  readonly seed: number;
  readonly hosts: number;
  readonly pages: number;
  readonly kills: readonly KillRow[];
  readonly withOpenVisits: number;
  readonly undisturbed: CrawlFigures;
  readonly disturbed: CrawlFigures;
  readonly pagesInTruth: number;
  readonly verdicts: { readonly undisturbed: Verdict['stats']; readonly disturbed: Verdict['stats'] };
  readonly problems: readonly string[];
}

export interface CrawlFigures {
  readonly pages: number;
  readonly urls: number;
  readonly indexLines: number;
  readonly archiveRecords: number;
  readonly archiveBytes: number;
  readonly requests: number;
  readonly seconds: number;
  readonly reason: string;
}

/** What one kill left, before anything repairs it. */
export interface Remains {
  readonly kind: KillKind;
  readonly livedMs: number;
  readonly store: StoreReading;
}

const FIRST_REQUEST_MS_MAX = 30_000;
const SERVER_KILL_MS_MAX = 60_000;
const START_UP_MS = 700;
/** A crawl that is left alone ends within this time, or is stuck. */
const END_MS_MAX = 600_000;

/** Runs both crawls and compares. Never rejects for what it is to find out: that stands in `problems`. */
export async function runKillTrial(plan: TrialPlan): Promise<TrialReport> {
  const problems: string[] = [];
  const { calm, hard } = await crawlTwice(plan, problems);

  const kills = await account(plan, hard, problems);
  problems.push(...compareEffects(calm.effects, hard.effects, calm.truth));
  const verdicts = {
    undisturbed: await verdictOf(plan, calm.logFile, 'undisturbed', problems),
    disturbed: await verdictOf(plan, hard.logFile, 'disturbed', problems),
  };
  const planned = plan.randomKills + plan.serverKills;
  const withOpenVisits = kills.filter(({ openVisits }) => openVisits > 0).length;
  if (kills.length < planned) problems.push(`only ${kills.length} of ${planned} kills came about`);
  if (withOpenVisits < plan.withOpenVisitsMin)
    problems.push(`only ${withOpenVisits} kills found an open visit, not ${plan.withOpenVisitsMin}`);
  return {
    seed: plan.seed,
    hosts: plan.hosts,
    pages: plan.pages,
    kills,
    withOpenVisits,
    undisturbed: figuresOf(calm),
    disturbed: figuresOf(hard),
    pagesInTruth: calm.truth.pages.length,
    verdicts,
    problems,
  };
}

// -- the two crawls ---------------------------------------------------------------------------------------------

interface Crawled {
  readonly port: number;
  readonly truth: Truth;
  readonly logFile: string;
  readonly effects: Effects;
  readonly end: CrawlEnd;
  readonly requests: number;
  readonly seconds: number;
  readonly remains: readonly Remains[];
}

/** The second web takes the port of the first, on another address. */
async function crawlTwice(plan: TrialPlan, problems: string[]): Promise<{ calm: Crawled; hard: Crawled }> {
  let listening: (port: number) => void = () => {};
  const port = new Promise<number>((resolve) => {
    listening = resolve;
  });
  const calmly = crawlOnOwnWeb(plan, 'undisturbed', '127.0.0.1', 0, problems, async (web) => {
    listening(web.port);
    return [];
  });
  // Where the first web does not come up there is no port to wait for.
  const firstPort = Promise.race([port, calmly.then(({ port: its }) => its)]);
  if (!plan.sideBySide) await calmly;
  const hardly = firstPort.then((taken) =>
    crawlOnOwnWeb(plan, 'disturbed', '127.0.0.2', taken, problems, (web, start) =>
      killByPlan(plan, web, start, problems),
    ),
  );
  const [calm, hard] = await Promise.all([calmly, hardly]);
  return { calm, hard };
}

type Disturb = (web: Web, start: () => CrawlProcess) => Promise<Remains[]>;

/** A fresh web, the disturbance, then one crawl to its end. */
async function crawlOnOwnWeb(
  plan: TrialPlan,
  name: string,
  address: string,
  port: number,
  problems: string[],
  disturb: Disturb,
): Promise<Crawled> {
  const { program, folder, seed, hosts, pages, delayMs, waitSeconds, say } = plan;
  const logFile = join(folder, `${name}.log`);
  const dataDir = join(folder, name);
  await mkdir(dataDir, { recursive: true });
  const web = await startWeb({ program, address, port, profile: 'faulty', seed, hosts, pages, logFile });
  try {
    const startedMs = performance.now();
    const start = (): CrawlProcess =>
      startCrawl({
        program,
        address,
        seeds: web.seeds,
        dataDir,
        delayMs,
        waitSeconds,
        errorFile: join(folder, `${name}.err`),
      });
    const remains = await disturb(web, start);
    await web.mark('B');
    const end = await endOf(start(), name, problems);
    const { requests } = await web.stats();
    const seconds = (performance.now() - startedMs) / 1_000;
    const effects = await readEffects(dataDir, join(folder, `${name}-store`), problems);
    say(`${name}: ${effects.pages.length} pages with ${requests} requests in ${seconds.toFixed(1)} s`);
    return { port: web.port, truth: await web.truth(), logFile, effects, end, requests, seconds, remains };
  } finally {
    await web.stop();
  }
}

async function endOf(crawl: CrawlProcess, name: string, problems: string[]): Promise<CrawlEnd> {
  try {
    const end = await within(END_MS_MAX, `the ${name} crawl`, crawl.ended);
    const reason = end.summary?.reason ?? `exit ${end.code} ${end.signal}`;
    if (end.code !== 0 || reason !== 'done') problems.push(`the ${name} crawl ended with ${reason}`);
    return end;
  } catch (error) {
    crawl.kill();
    problems.push(String(error));
    return crawl.ended;
  }
}

// -- killing ----------------------------------------------------------------------------------------------------

/** Kills life after life. Ends early where a crawl ends by itself. */
async function killByPlan(
  plan: TrialPlan,
  web: Web,
  start: () => CrawlProcess,
  problems: string[],
): Promise<Remains[]> {
  const remains: Remains[] = [];
  const dataDir = join(plan.folder, 'disturbed');
  for (const [number, kind] of kindsOf(plan).entries()) {
    await web.mark('B');
    const startedMs = performance.now();
    const crawl = start();
    const killed = await killOnce(plan, web, crawl, kind, number);
    const end = await crawl.ended;
    if (!killed || end.signal !== 'SIGKILL') {
      problems.push(`kill ${number} (${kind}): the crawl ended before it, with ${end.code} ${end.summary?.reason}`);
      return remains;
    }
    if (kind !== 'server') await web.mark('K');
    const livedMs = performance.now() - startedMs;
    const store = await readStore(dataDir, join(plan.folder, `killed-${number}`));
    problems.push(...(await shorterThanCommitted(dataDir, store)).map((what) => `kill ${number}: ${what}`));
    remains.push({ kind, livedMs, store });
    plan.say(`kill ${number + 1} (${kind}) after ${livedMs.toFixed(0)} ms, ${store.urls.size} URLs known`);
  }
  return remains;
}

/** The kinds of all kills, shuffled by the seed. */
function kindsOf({ seed, randomKills, startUpKills, serverKills }: TrialPlan): KillKind[] {
  const kinds = [
    ...new Array<KillKind>(randomKills - startUpKills).fill('random'),
    ...new Array<KillKind>(startUpKills).fill('start-up'),
    ...new Array<KillKind>(serverKills).fill('server'),
  ];
  return kinds
    .map((kind, index) => ({ kind, rank: chance(seed, index, 0, 901) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ kind }) => kind);
}

/** False where the crawl ended by itself, or the server did not come to kill it. */
async function killOnce(
  plan: TrialPlan,
  web: Web,
  crawl: CrawlProcess,
  kind: KillKind,
  number: number,
): Promise<boolean> {
  const draw = chance(plan.seed, number, 0, 902);
  let isOver = false;
  void crawl.ended.then(() => {
    isOver = true;
  });
  if (kind === 'server') {
    await web.arm(crawl.pid, 1 + Math.floor(draw * plan.requestsMax));
    try {
      await within(SERVER_KILL_MS_MAX, 'the kill by the server', crawl.ended);
      return true;
    } catch {
      await web.disarm();
      crawl.kill();
      return false;
    }
  }
  if (kind === 'random') {
    const { requests } = await web.stats();
    const untilMs = performance.now() + FIRST_REQUEST_MS_MAX;
    while (!isOver && performance.now() < untilMs && (await web.stats()).requests === requests) await sleep(5);
  }
  await sleep(draw * (kind === 'random' ? plan.aliveMsMax : START_UP_MS));
  if (isOver) return false;
  crawl.kill();
  return true;
}

/** D4: what a commit vouches for is in the files, whatever the kill cut. */
async function shorterThanCommitted(dataDir: string, { committed }: StoreReading): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, length] of committed) {
    const found = await sizeOf(join(dataDir, name));
    if ((found ?? 0) < length) problems.push(`${name} has ${found} bytes of ${length} that were committed`);
  }
  return problems;
}

// -- judging ----------------------------------------------------------------------------------------------------

async function account(plan: TrialPlan, { logFile, remains }: Crawled, problems: string[]): Promise<KillRow[]> {
  const events = eventsOf(await readFile(logFile, 'utf8'));
  const accounts = accountFor(
    events,
    remains.map(({ store }) => store),
    problems,
  );
  plan.say(`accounted for ${events.length} events of the disturbed web's log`);
  return accounts.map(({ firstRequestMs, ...of }, index) => {
    const { kind, livedMs } = remains[index] as Remains;
    return { kind, livedMs: Math.round(livedMs), firstRequestMs, ...of };
  });
}

/** Repeats are judged more strictly by the accounts: the log alone can't tell which visits were open. */
async function verdictOf(
  { delayMs }: TrialPlan,
  logFile: string,
  name: string,
  problems: string[],
): Promise<Verdict['stats']> {
  const { violations, stats } = await judgeFile(logFile, {
    productToken: PRODUCT_TOKEN,
    delayMs,
    repeats: 'allowed',
  });
  for (const { rule, host, detail } of violations) problems.push(`${name}: ${rule} at ${host}: ${detail}`);
  return stats;
}

function figuresOf({ effects, requests, seconds, end }: Crawled): CrawlFigures {
  return {
    pages: effects.pages.length,
    urls: effects.store.urls.size,
    indexLines: effects.index.length,
    archiveRecords: effects.archive.records,
    archiveBytes: effects.archive.bytes,
    requests,
    seconds: Math.round(seconds * 10) / 10,
    reason: end.summary?.reason ?? 'none',
  };
}
