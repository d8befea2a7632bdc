/**
 * A crawl whose process is stopped and goes on, whose wall clock is put forward and back while it runs, and that is
 * started again under another wall clock (P1 to P3, P8, P9), judged by the witness of a web that asks for patience.
 *
 * The clock is bent by libfaketime, for the crawl alone: the web and its witness keep the real one. The monotonic clock
 * stays as it is, as it does when a real clock is put.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge, type Verdict } from '../../src/practice/judge.js';
import type { PracticeStats } from '../../src/practice/server.js';
import type { Truth } from '../../src/practice/truth.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import type { Crawling, CrawlReport, LogLine, OutsideWeb } from './outside.js';
import { startCrawl } from './outside.js';
import { orderFor, pagesWrong, type PolitenessSettings, PROMISES, withWeb } from './politeness.js';

/** What is done to the crawl, one after the other, some requests apart. */
export type Disturbance =
  /** SIGSTOP, and SIGCONT so much later. */
  | { readonly what: 'stop'; readonly ms: number }
  /** The wall clock is put forward by so much, or back, while the crawl runs. */
  | { readonly what: 'step'; readonly seconds: number }
  /** The crawl ends, the wall clock is put, the crawl is started again. `SIGINT` lets it finish what it has begun. */
  | { readonly what: 'restart'; readonly by: 'SIGKILL' | 'SIGINT'; readonly seconds: number };

export interface ClocksReport {
  /** Of the last life. */
  readonly crawl: CrawlReport;
  readonly truth: Truth;
  readonly events: readonly WitnessEvent[];
  readonly stats: PracticeStats;
  readonly verdict: Verdict;
  /** Disturbances that came about. */
  readonly done: readonly Disturbance[];
  /** Steps of the clock that the crawl itself has noticed while it ran, in ms. */
  readonly noticedMs: readonly number[];
  /** Refusals that named a time which was not over when the crawl was started again. */
  readonly heldAcrossRestarts: number;
  readonly seconds: number;
}

/** Requests between two disturbances, and the longest that they are waited for. */
const REQUESTS_BETWEEN = 20;
const BETWEEN_MS_MAX = 8_000;

const LIBRARIES = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`);

/** Why the clock can't be bent here; null where it can. */
export function whyNoFakeTime(): string | null {
  return libraryHere() === undefined ? 'libfaketime is not installed' : null;
}

function libraryHere(): string | undefined {
  return LIBRARIES.find(existsSync);
}

export async function crawlByBentClock(
  settings: PolitenessSettings,
  disturbances: readonly Disturbance[],
): Promise<ClocksReport> {
  return withWeb(settings, async (web, directory) => {
    const startedMs = performance.now();
    const truth = await web.truth();
    const clock = openBentClock(join(directory, 'clock'));
    const order = {
      ...orderFor(web, truth, join(directory, 'data'), settings.secondsMax),
      environment: clock.environment,
    };
    const log: LogLine[] = [];
    const done: Disturbance[] = [];
    await web.booted();
    let crawling = startCrawl(order);
    for (const one of disturbances) {
      if (!(await someRequests(web, crawling))) break;
      if (one.what === 'restart') await aRefusal(web, one.by);
      if (one.what === 'stop') await stopFor(crawling, one.ms);
      else if (one.what === 'step') clock.step(one.seconds);
      else {
        crawling.signal(one.by);
        const { exitCode, log: told, summary } = await crawling.ended;
        log.push(...told);
        // It was at its end when the signal came.
        if (exitCode === 0 && summary.reason === 'done') break;
        if (one.by === 'SIGKILL') await web.killed();
        clock.step(one.seconds);
        await web.booted();
        crawling = startCrawl(order);
      }
      done.push(one);
    }
    const crawl = await crawling.ended;
    log.push(...crawl.log);
    const seconds = (performance.now() - startedMs) / 1_000;
    const stats = await web.stats();
    const events = await web.close();
    const noticedMs = log.filter(({ event }) => event === 'clock_stepped').map(({ byMs }) => Number(byMs));
    const verdict = judge(events, PROMISES);
    return { crawl, truth, events, stats, verdict, done, noticedMs, heldAcrossRestarts: heldIn(events), seconds };
  });
}

export interface BentClock {
  readonly environment: Readonly<Record<string, string>>;
  step(seconds: number): void;
}

/** Without the library the environment bends nothing: whoever needs it has asked `whyNoFakeTime`. */
export function openBentClock(file: string): BentClock {
  let seconds = 0;
  const write = (): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  const library = libraryHere();
  write();
  return {
    environment:
      library === undefined
        ? {}
        : {
            LD_PRELOAD: library,
            FAKETIME_TIMESTAMP_FILE: file,
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          },
    step(by) {
      seconds += by;
      write();
    },
  };
}

/** False where the crawl ended before. */
async function someRequests(web: OutsideWeb, crawling: Crawling): Promise<boolean> {
  let isOver = false;
  void crawling.ended.then(() => {
    isOver = true;
  });
  const before = (await web.stats()).requests;
  const untilMs = performance.now() + BETWEEN_MS_MAX;
  while (!isOver && performance.now() < untilMs && (await web.stats()).requests < before + REQUESTS_BETWEEN)
    await sleep(20);
  return !isOver;
}

/** Until a host has just named a time: then that is in force at the restart. What a kill may undo is waited for as well. */
async function aRefusal(web: OutsideWeb, by: 'SIGKILL' | 'SIGINT'): Promise<void> {
  const count = async (): Promise<number> => {
    const { faults } = await web.stats();
    const dated = Object.entries(faults).filter(([name]) => /fixdate|rfc850|asctime/.test(name));
    return dated.reduce((sum, [, times]) => sum + times, 0);
  };
  const before = await count();
  const untilMs = performance.now() + BETWEEN_MS_MAX;
  while (performance.now() < untilMs && (await count()) === before) await sleep(10);
  await sleep(by === 'SIGKILL' ? 1_200 : 50);
}

async function stopFor(crawling: Crawling, ms: number): Promise<void> {
  crawling.signal('SIGSTOP');
  await sleep(ms);
  crawling.signal('SIGCONT');
}

/** Retry-Afters whose time was not over at a start of the crawl that came after them. */
function heldIn(events: readonly WitnessEvent[]): number {
  let floors: number[] = [];
  let held = 0;
  for (const event of events) {
    if (event.e === 'E' && event.ra !== undefined) floors.push(event.t + event.ra * 1_000);
    else if (event.e === 'B') {
      held += floors.filter((untilMs) => untilMs > event.t).length;
      floors = [];
    }
  }
  return held;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** What is wrong; empty where all is as it must be. */
export function clocksWrong(report: ClocksReport, disturbances: readonly Disturbance[]): string[] {
  const { crawl, verdict, done, noticedMs } = report;
  const steps = disturbances.filter(({ what }) => what === 'step');
  const restarts = disturbances.filter(({ what }) => what === 'restart');
  return [
    ...verdict.violations.map(({ rule, host, detail }) => `${rule} ${host}: ${detail}`),
    ...pagesWrong(report),
    ...(crawl.exitCode === 0 && crawl.summary.reason === 'done' ? [] : [`the crawl ended ${crawl.summary.reason}`]),
    ...(done.length === disturbances.length
      ? []
      : [`${done.length} of ${disturbances.length} disturbances came about`]),
    ...(noticedMs.length === steps.length ? [] : [`the crawl noticed ${noticedMs.length} of ${steps.length} steps`]),
    ...(restarts.length === 0 || report.heldAcrossRestarts > 0 ? [] : ['no Retry-After was in force at a restart']),
  ];
}

export function clocksTable({ verdict, done, noticedMs, heldAcrossRestarts, crawl, seconds }: ClocksReport): string {
  const { stats, violations } = verdict;
  const named = done.map((one) =>
    one.what === 'stop'
      ? `stopped ${one.ms / 1_000} s`
      : one.what === 'step'
        ? `clock ${one.seconds} s`
        : `${one.by} and clock ${one.seconds} s`,
  );
  return [
    `${stats.hosts} hosts, ${stats.requests} requests, ${stats.pages} pages; ${named.join(', ')}`,
    `${noticedMs.length} steps noticed by the crawl, ${stats.retryAfters} Retry-Afters met, ${heldAcrossRestarts} in force at a restart`,
    `smallest gap − delay ${stats.smallestGapMinusDelayMs?.toFixed(3) ?? 'none'} ms; ${stats.refusalsJudged} requests judged by back-off or quarantine`,
    `${violations.length} violations; ended ${crawl.summary.reason} after ${seconds.toFixed(1)} s`,
  ].join('\n');
}
