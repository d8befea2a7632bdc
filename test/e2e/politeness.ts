/**
 * Politeness, measured from outside: a web of many hosts whose delays differ, one crawl of it, and the judge's word on
 * what the web's own witness saw. The figures are those of the test and of the table that `npm run e2e:polite` prints.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { judge, type Verdict } from '../../src/practice/judge.js';
import type { Truth } from '../../src/practice/truth.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import { get } from '../practice/clients.js';
import {
  crawl,
  type CrawlReport,
  LOOPBACK_SETTINGS,
  PRODUCT_TOKEN,
  removeDirectory,
  serveWeb,
  temporaryDirectory,
} from './outside.js';

/** The delays that are configured, dealt out to the hosts in turn. */
export const DELAYS_MS = [0, 50, 300] as const;

export interface PolitenessSettings {
  readonly hosts: number;
  readonly pages: number;
  readonly seed: number;
  readonly secondsMax: number;
}

/** Hosts that are alike: what was asked of them, and how close to their delay. */
export interface DelayClass {
  readonly name: string;
  readonly hosts: number;
  readonly requests: number;
  /** Null where no host was asked twice. */
  readonly smallestGapMinusDelayMs: number | null;
}

export interface PolitenessReport {
  readonly crawl: CrawlReport;
  readonly truth: Truth;
  readonly events: readonly WitnessEvent[];
  readonly verdict: Verdict;
  readonly classes: readonly DelayClass[];
}

/** The configured delay of a host of the practice web. */
export function delayMsOf(host: string): number {
  const number = Number(/\d+/.exec(host)?.[0]);
  const delayMs = DELAYS_MS[number % DELAYS_MS.length];
  if (delayMs === undefined) throw new RangeError(`no host of the practice web: ${host}`);
  return delayMs;
}

export function judgeByHosts(events: Iterable<WitnessEvent>): Verdict {
  return judge(events, { productToken: PRODUCT_TOKEN, delayMs: delayMsOf });
}

export async function measurePoliteness(settings: PolitenessSettings): Promise<PolitenessReport> {
  const directory = temporaryDirectory();
  try {
    const web = await serveWeb(join(directory, 'witness.log'), webOptions(settings));
    const truth = await web.truth();
    const report = await crawl({
      seeds: web.seeds,
      dataDir: join(directory, 'data'),
      settings: {
        ...LOOPBACK_SETTINGS,
        'politeness.delayMs': 0,
        'politeness.hostDelaysMs': Object.fromEntries(truth.hosts.map(({ host }) => [host, delayMsOf(host)])),
      },
      options: ['--wait', '5'],
      secondsMax: settings.secondsMax,
    });
    const events = await web.close();
    return { crawl: report, truth, events, verdict: judgeByHosts(events), classes: classesOf(truth, events) };
  } finally {
    removeDirectory(directory);
  }
}

/** The same web, asked by somebody who doesn't care: the rest of the arrangement is as for the crawl. */
export async function measureRudeness(settings: PolitenessSettings): Promise<Verdict> {
  const directory = temporaryDirectory();
  try {
    const web = await serveWeb(join(directory, 'witness.log'), webOptions(settings));
    await crawlRudely(await web.truth());
    return judgeByHosts(await web.close());
  } finally {
    removeDirectory(directory);
  }
}

/** Asks for robots.txt of every second host and heeds none; forbidden pages as well as others, several at once, no rest. */
export async function crawlRudely(truth: Truth): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const sometimes = truth.hosts.filter((_, index) => index % 2 === 0).map(({ origin }) => `${origin}/robots.txt`);
  await Promise.all(sometimes.map((url) => get(url, agent)));
  await Promise.all([...truth.pages, ...truth.forbidden].map((url) => get(url, agent)));
  // Once more, one after the other: never two at once, and too soon all the same.
  for (const url of truth.pages.slice(0, 50)) await get(url, agent);
  agent.destroy();
}

function webOptions({ hosts, pages, seed }: PolitenessSettings): string[] {
  return ['--hosts', String(hosts), '--pages', String(pages), '--seed', String(seed)];
}

/** By configured delay; hosts whose served Crawl-delay is longer than theirs are classes of their own. */
function classesOf(truth: Truth, events: readonly WitnessEvent[]): DelayClass[] {
  const hostsOf = new Map<string, Set<string>>();
  for (const { host, crawlDelaySeconds } of truth.hosts) {
    const servedMs = (crawlDelaySeconds ?? 0) * 1_000;
    const name = servedMs > delayMsOf(host) ? `Crawl-delay ${servedMs} ms` : `configured ${delayMsOf(host)} ms`;
    hostsOf.set(name, (hostsOf.get(name) ?? new Set()).add(host));
  }
  return [...hostsOf]
    .sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([name, hosts]) => {
      const { requests, smallestGapMinusDelayMs } = judgeByHosts(eventsOfHosts(events, hosts)).stats;
      return { name, hosts: hosts.size, requests, smallestGapMinusDelayMs };
    });
}

function eventsOfHosts(events: readonly WitnessEvent[], hosts: ReadonlySet<string>): WitnessEvent[] {
  const requests = new Set<number>();
  return events.filter((event) => {
    if (event.e === 'S' && hosts.has(event.h.replace(/:\d+$/, ''))) requests.add(event.i);
    return (event.e === 'S' || event.e === 'E') && requests.has(event.i);
  });
}

/** The figures as lines of text. */
export function politenessTable({ crawl: { seconds, summary }, truth, verdict, classes }: PolitenessReport): string {
  const { stats, violations } = verdict;
  const row = (name: string, hosts: string, requests: string, gap: string): string =>
    `${name.padEnd(22)}${hosts.padStart(6)}${requests.padStart(10)}${gap.padStart(26)}`;
  return [
    row('delay', 'hosts', 'requests', 'smallest gap − delay, ms'),
    ...classes.map((one) => row(one.name, String(one.hosts), String(one.requests), inMs(one.smallestGapMinusDelayMs))),
    row('all', String(stats.hosts), String(stats.requests), inMs(stats.smallestGapMinusDelayMs)),
    `${stats.robotsAnswers} robots.txt answers, ${stats.pages} pages, at most ${stats.inFlightMax} requests at once on all hosts together`,
    `${truth.forbidden.length} URLs that robots.txt forbids were met and ${summary.blockedByRobots} left for it`,
    `${violations.length} violations; ended ${summary.reason} after ${seconds.toFixed(1)} s`,
  ].join('\n');
}

function inMs(gap: number | null): string {
  return gap === null ? 'never asked twice' : gap.toFixed(3);
}
