/**
 * Politeness, measured from outside: a web of many hosts that ask for patience in every way there is, one crawl of it,
 * killed or not, and the judge's word on what the web's own witness saw. The figures are those of the tests and of the
 * tables that `npm run e2e:polite` prints.
 *
 * Names share addresses, twenty to one; delays are configured by host; answers are slow now and then; robots.txt files
 * name delays; pages and robots.txt files are refused with Retry-After in all its forms and without it.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { judge, type Rules, type Verdict } from '../../src/practice/judge.js';
import { MOMENTS } from '../../src/practice/killer.js';
import type { PracticeStats } from '../../src/practice/server.js';
import type { Truth } from '../../src/practice/truth.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import { get } from '../practice/clients.js';
import {
  type CrawlOrder,
  type CrawlReport,
  LOOPBACK_SETTINGS,
  type OutsideWeb,
  PRODUCT_TOKEN,
  removeDirectory,
  serveWeb,
  startCrawl,
  temporaryDirectory,
} from './outside.js';

/** The delays that are configured, dealt out to the hosts in turn. */
export const DELAYS_MS = [0, 50, 300] as const;

/** So many hosts live at one address, on one clock. */
const HOSTS_OF_AN_ADDRESS = 20;
const ADDRESS_DELAY_MS = 20;
const ADAPTIVE_FACTOR = 2;
/** D2: a kill may cost so many visits, which are made once more. */
export const OPEN_VISITS_MAX = 64;

/** What the crawl promises, as the judge holds it against the log. */
export const PROMISES: Rules = {
  productToken: PRODUCT_TOKEN,
  delayMs: delayMsOf,
  adaptiveFactor: ADAPTIVE_FACTOR,
  addressDelayMs: ADDRESS_DELAY_MS,
  patience: {
    throttle: { firstMs: 2_000, capMs: 3_600_000 },
    breaker: { failures: 5, firstMs: 30_000, capMs: 3_600_000 },
    jitterShare: 0.2,
  },
  // By the visits that may be open, below: how long one is on its way to the store depends on the machine's load.
  repeats: 'allowed',
};

export interface PolitenessSettings {
  readonly hosts: number;
  readonly pages: number;
  readonly seed: number;
  readonly secondsMax: number;
  /** So many times the server kills the crawl, each at one of its next so many requests; then it is let be. */
  readonly kills?: { readonly times: number; readonly requestsMax: number };
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
  /** Of the last life. */
  readonly crawl: CrawlReport;
  readonly truth: Truth;
  readonly events: readonly WitnessEvent[];
  readonly stats: PracticeStats;
  readonly verdict: Verdict;
  readonly classes: readonly DelayClass[];
  readonly seconds: number;
}

/** The configured delay of a host of the practice web. */
export function delayMsOf(host: string): number {
  const delayMs = DELAYS_MS[numberOf(host) % DELAYS_MS.length];
  if (delayMs === undefined) throw new RangeError(`no host of the practice web: ${host}`);
  return delayMs;
}

function addressOf(host: string): string {
  return `127.0.0.${1 + Math.floor((numberOf(host) - 1) / HOSTS_OF_AN_ADDRESS)}`;
}

function numberOf(host: string): number {
  return Number(/\d+/.exec(host)?.[0]);
}

export async function measurePoliteness(settings: PolitenessSettings): Promise<PolitenessReport> {
  return withWeb(settings, async (web, directory) => {
    const startedMs = performance.now();
    const truth = await web.truth();
    const order = orderFor(web, truth, join(directory, 'data'), settings.secondsMax);
    await killRepeatedly(web, order, settings);
    await web.booted();
    const crawl = await startCrawl(order).ended;
    const seconds = (performance.now() - startedMs) / 1_000;
    const stats = await web.stats();
    const events = await web.close();
    const verdict = judge(events, PROMISES);
    return { crawl, truth, events, stats, verdict, classes: classesOf(truth, events), seconds };
  });
}

/** The same web, asked by somebody who doesn't care: the rest of the arrangement is as for the crawl. */
export async function measureRudeness(
  settings: PolitenessSettings,
): Promise<{ readonly verdict: Verdict; readonly repeats: Repeats }> {
  return withWeb(settings, async (web) => {
    await crawlRudely(await web.truth());
    const events = await web.close();
    return { verdict: judge(events, PROMISES), repeats: repeatsIn(events) };
  });
}

/** A web of these settings in a directory of its own, both gone afterwards. */
export async function withWeb<T>(
  { hosts, pages, seed }: PolitenessSettings,
  use: (web: OutsideWeb, directory: string) => Promise<T>,
): Promise<T> {
  const directory = temporaryDirectory();
  try {
    const addresses = Math.ceil(hosts / HOSTS_OF_AN_ADDRESS);
    const numbers = { '--hosts': hosts, '--pages': pages, '--seed': seed, '--addresses': addresses };
    const words = Object.entries(numbers).flatMap(([name, value]) => [name, String(value)]);
    const web = await serveWeb(join(directory, 'witness.log'), ['--profile', 'demanding', '--allow-kills', ...words]);
    try {
      return await use(web, directory);
    } finally {
      await web.close();
    }
  } finally {
    removeDirectory(directory);
  }
}

/** The crawl of it, by all the promises. */
export function orderFor({ seeds }: OutsideWeb, { hosts }: Truth, dataDir: string, secondsMax: number): CrawlOrder {
  return {
    seeds,
    dataDir,
    settings: {
      ...LOOPBACK_SETTINGS,
      'dns.hosts': Object.fromEntries(hosts.map(({ host }) => [host, addressOf(host)])),
      'politeness.delayMs': 0,
      'politeness.hostDelaysMs': Object.fromEntries(hosts.map(({ host }) => [host, delayMsOf(host)])),
      'politeness.adaptiveFactor': ADAPTIVE_FACTOR,
      'politeness.addressDelayMs': ADDRESS_DELAY_MS,
      'retry.delaysSeconds': [1, 2, 3],
      'fetch.openVisitsMax': OPEN_VISITS_MAX,
    },
    options: ['--wait', '180'],
    secondsMax,
  };
}

/** Life after life, until all kills have fallen. The moments take turns; the requests are spread evenly up to the most. */
async function killRepeatedly(web: OutsideWeb, order: CrawlOrder, { kills }: PolitenessSettings): Promise<void> {
  for (let life = 0; life < (kills?.times ?? 0); life++) {
    await web.booted();
    const crawling = startCrawl(order);
    const requests = 1 + Math.floor((((life * 7) % 10) / 10) * (kills?.requestsMax ?? 1));
    await web.arm(crawling.pid, requests, MOMENTS[life % MOMENTS.length] ?? 'request');
    const { exitCode } = await crawling.ended;
    await web.disarm();
    if (exitCode !== null) return;
  }
}

/** Asks for robots.txt of every second host and heeds none; forbidden pages as well as others, several at once, no rest. */
export async function crawlRudely(truth: Truth): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const rudely = (url: string): Promise<unknown> => get(url, agent).catch(() => null);
  const sometimes = truth.hosts.filter((_, index) => index % 2 === 0).map(({ origin }) => `${origin}/robots.txt`);
  await Promise.all(sometimes.map(rudely));
  await Promise.all([...truth.pages, ...truth.forbidden].map(rudely));
  // Once more, one after the other: never two at once, and too soon all the same.
  for (const url of truth.pages.slice(0, 50)) await rudely(url);
  agent.destroy();
}

/** By configured delay; hosts whose served Crawl-delay is longer than theirs are classes of their own. */
function classesOf(truth: Truth, events: readonly WitnessEvent[]): DelayClass[] {
  const hostsOf = new Map<string, Set<string>>();
  for (const { host, crawlDelaySeconds } of truth.hosts) {
    const servedMs = Math.min(60_000, (crawlDelaySeconds ?? 0) * 1_000);
    const name = servedMs > delayMsOf(host) ? `Crawl-delay ${servedMs} ms` : `configured ${delayMsOf(host)} ms`;
    hostsOf.set(name, (hostsOf.get(name) ?? new Set()).add(host));
  }
  return [...hostsOf]
    .sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([name, hosts]) => {
      const { requests, smallestGapMinusDelayMs } = judge(eventsOfHosts(events, hosts), PROMISES).stats;
      return { name, hosts: hosts.size, requests, smallestGapMinusDelayMs };
    });
}

/** Marks of kills stay: what they put in doubt stays in doubt. */
function eventsOfHosts(events: readonly WitnessEvent[], hosts: ReadonlySet<string>): WitnessEvent[] {
  const requests = new Set<number>();
  return events.filter((event) => {
    if (event.e === 'S' && hosts.has(event.h.replace(/:\d+$/, ''))) requests.add(event.i);
    return event.e === 'S' || event.e === 'E' ? requests.has(event.i) : true;
  });
}

/** What the log says about refusals and addresses, beyond the judge's figures. */
export function figuresOf(events: readonly WitnessEvent[]): {
  readonly throttledHosts: number;
  readonly addresses: number;
  /** The least time from the end of a request to the next one at the same address. */
  readonly smallestAddressGapMs: number | null;
} {
  const open = new Map<number, { readonly host: string; readonly address: string }>();
  const lastEndOf = new Map<string, number>();
  const throttled = new Set<string>();
  let smallestAddressGapMs: number | null = null;
  for (const event of events) {
    if (event.e === 'S') {
      const address = event.a ?? '';
      const lastEnd = lastEndOf.get(address);
      if (lastEnd !== undefined) {
        smallestAddressGapMs = Math.min(smallestAddressGapMs ?? Number.POSITIVE_INFINITY, event.t - lastEnd);
      }
      open.set(event.i, { host: event.h, address });
    } else if (event.e === 'E') {
      const { host, address } = open.get(event.i) ?? { host: '', address: '' };
      lastEndOf.set(address, event.t);
      if (event.s === 429 || event.s === 503) throttled.add(host);
    }
  }
  return { throttledHosts: throttled.size, addresses: lastEndOf.size, smallestAddressGapMs };
}

/** Pages that were fetched whole more than once. */
export interface Repeats {
  /** In the same life: no kill excuses them. */
  readonly unexcused: readonly string[];
  /** The most that one kill cost, and all of them together. */
  readonly mostOfAKill: number;
  readonly sum: number;
}

export function repeatsIn(events: readonly WitnessEvent[]): Repeats {
  const open = new Map<number, { readonly url: string; readonly life: number }>();
  const lifeOf = new Map<string, number>();
  const costs = new Map<number, number>();
  const unexcused: string[] = [];
  let life = 0;
  for (const event of events) {
    // What was sent before a kill may come in after it.
    if (event.e === 'B') life += 1;
    else if (event.e === 'S') open.set(event.i, { url: `${event.h}${event.u}`, life });
    else if (event.e === 'E') {
      const asked = open.get(event.i);
      open.delete(event.i);
      if (asked === undefined || event.s !== 200 || event.how !== 'done' || asked.url.endsWith('/robots.txt')) continue;
      const before = lifeOf.get(asked.url);
      lifeOf.set(asked.url, asked.life);
      if (before === asked.life) unexcused.push(asked.url);
      else if (before !== undefined) costs.set(before, (costs.get(before) ?? 0) + 1);
    }
  }
  const all = [...costs.values()];
  return { unexcused, mostOfAKill: Math.max(0, ...all), sum: all.reduce((sum, cost) => sum + cost, 0) };
}

/** What is wrong with the pages that were found; empty where each is there once, and was fetched once but for kills. */
export function pagesWrong({ crawl, truth, events }: Pick<PolitenessReport, 'crawl' | 'truth' | 'events'>): string[] {
  const found = crawl.pages.map(({ url }) => url);
  const once = new Set(found);
  const wanted = new Set(truth.pages);
  const { unexcused, mostOfAKill } = repeatsIn(events);
  return [
    ...unexcused.map((url) => `fetched twice, with no kill between: ${url}`),
    ...(mostOfAKill > OPEN_VISITS_MAX ? [`a kill cost ${mostOfAKill} visits, more than may be open`] : []),
    ...(once.size < found.length ? [`${found.length - once.size} lines of pages.jsonl are doubled`] : []),
    ...truth.pages.filter((url) => !once.has(url)).map((url) => `not found: ${url}`),
    ...found.filter((url) => !wanted.has(url)).map((url) => `not in the truth: ${url}`),
  ];
}

/** The figures as lines of text. */
export function politenessTable(report: PolitenessReport): string {
  const { crawl, truth, events, stats: served, verdict, classes, seconds } = report;
  const { stats, violations } = verdict;
  const { throttledHosts, addresses, smallestAddressGapMs } = figuresOf(events);
  const row = (name: string, hosts: string, requests: string, gap: string): string =>
    `${name.padEnd(22)}${hosts.padStart(6)}${requests.padStart(10)}${gap.padStart(26)}`;
  const repeats = repeatsIn(events);
  const counts = Object.entries(served.faults).map(([name, count]) => `${count} × ${name}`);
  return [
    row('delay', 'hosts', 'requests', 'smallest gap − delay, ms'),
    ...classes.map((one) => row(one.name, String(one.hosts), String(one.requests), inMs(one.smallestGapMinusDelayMs))),
    row('all', String(stats.hosts), String(stats.requests), inMs(stats.smallestGapMinusDelayMs)),
    `${addresses} addresses, ${ADDRESS_DELAY_MS} ms each: smallest gap ${inMs(smallestAddressGapMs)} ms`,
    `${stats.robotsAnswers} robots.txt answers, ${stats.pages} pages, at most ${stats.inFlightMax} requests at once on all hosts together`,
    `${stats.retryAfters} Retry-Afters met, ${throttledHosts} throttled hosts, ${stats.refusalsJudged} requests judged by back-off or quarantine`,
    `refused: ${counts.join(', ')}`,
    `${truth.forbidden.length} URLs that robots.txt forbids were met and ${crawl.summary.blockedByRobots ?? 0} left for it in the last life`,
    `${served.kills} kills (${served.killsMissed} missed), ${repeats.sum} pages repeated for them, at most ${repeats.mostOfAKill} for one (of ${OPEN_VISITS_MAX} visits that may be open)`,
    `${violations.length} violations${byRule(verdict)}; ended ${crawl.summary.reason} after ${seconds.toFixed(1)} s`,
  ].join('\n');
}

function byRule({ violations }: Verdict): string {
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return counts.size === 0 ? '' : ` (${[...counts].map(([rule, count]) => `${rule}: ${count}`).join(', ')})`;
}

function inMs(gap: number | null): string {
  return gap === null ? 'never asked twice' : gap.toFixed(3);
}
