/**
 * Crashes with work in hand, from outside: one crawl of an ordinary practice web for each planned fault, and what is
 * to be said of it afterwards. The page that crashes its reader every time is one of the cases.
 */
import { join } from 'node:path';
import { judge, type Verdict } from '../../src/practice/judge.js';
import type { Truth } from '../../src/practice/truth.js';
import {
  crawl,
  type CrawlReport,
  LOOPBACK_SETTINGS,
  type LogLine,
  PRODUCT_TOKEN,
  removeDirectory,
  serveWeb,
  temporaryDirectory,
} from './outside.js';

/** A planned crash: as `crawl --fault ACTOR:MESSAGE:NTH:TIMES`. */
export interface PlannedCrash {
  readonly actor: string;
  readonly message: string;
  readonly nth: number;
  readonly times: number;
}

export interface CrashReport {
  readonly crawl: CrawlReport;
  readonly truth: Truth;
  readonly verdict: Verdict;
}

const DELAY_MS = 5;
/** Makes the crawl last for more than the second after which what was committed is synced. */
const DELAY_MS_FOR_SYNC = 150;

export const WEB_OPTIONS = ['--hosts', '6', '--pages', '60', '--seed', '4'];

interface Weak {
  readonly message: string;
  /** Puts the crash in the middle of the crawl. */
  readonly nth: number;
  /** How often it can crash at most, where the message comes no more often. */
  readonly timesMax?: number;
  /** What has to go wrong for the message to come at all. */
  readonly after?: PlannedCrash;
}

const A_RETRY: PlannedCrash = { actor: 'parsers/', message: 'read', nth: 48, times: 1 };

/** Actors by the beginning of their paths, and the messages in which each is crashed. */
export const MESSAGES: Readonly<Record<string, readonly Weak[]>> = {
  recorder: [
    { message: 'record', nth: 12 },
    { message: 'committed', nth: 4 },
    { message: 'flushDue', nth: 3 },
    { message: 'fence', nth: 1, timesMax: 2, after: { actor: 'hosts/', message: 'granted', nth: 14, times: 1 } },
    { message: 'syncDue', nth: 1, timesMax: 1 },
  ],
  frontier: [
    { message: 'seed', nth: 1, timesMax: 2 },
    { message: 'visited', nth: 20 },
    { message: 'recorded', nth: 4 },
    { message: 'rested', nth: 4 },
    { message: 'hostsListed', nth: 1, timesMax: 1 },
    { message: 'wakeDue', nth: 1, timesMax: 1, after: A_RETRY },
  ],
  workbench: [
    { message: 'settle', nth: 12 },
    { message: 'ended', nth: 12 },
    { message: 'closed', nth: 4 },
    { message: 'returned', nth: 1, timesMax: 2, after: { actor: 'fetchers/', message: 'start', nth: 12, times: 1 } },
    { message: 'gateDue', nth: 6 },
  ],
  'hosts/': [
    { message: 'wake', nth: 3 },
    { message: 'hostLoaded', nth: 2 },
    { message: 'granted', nth: 14 },
    { message: 'fetched', nth: 26 },
    { message: 'parsed', nth: 26 },
    { message: 'recorded', nth: 14 },
    { message: 'queueRead', nth: 4 },
    { message: 'resolved', nth: 3 },
  ],
  'fetchers/': [
    { message: 'start', nth: 12 },
    { message: 'fetchEnded', nth: 26 },
  ],
  'parsers/': [
    { message: 'read', nth: 26 },
    { message: 'parseEnded', nth: 26 },
  ],
};

/** Each message alone, so many times in a row, with what has to go wrong before it. */
export function casesOf(times: number): (readonly PlannedCrash[])[] {
  return Object.entries(MESSAGES).flatMap(([actor, messages]) =>
    messages
      .filter(({ timesMax = Number.MAX_SAFE_INTEGER }) => times <= timesMax)
      .map(({ message, nth, after }) => [...(after === undefined ? [] : [after]), { actor, message, nth, times }]),
  );
}

/** All messages of an actor, so many times each, in one crawl. */
export function caseOfAll(actor: string, times: number): readonly PlannedCrash[] {
  const messages = (MESSAGES[actor] ?? []).filter(({ timesMax = times }) => times <= timesMax);
  return messages.flatMap(({ message, nth, after }) => [
    ...(after === undefined ? [] : [after]),
    { actor, message, nth, times },
  ]);
}

export function nameOf({ actor, message, nth, times }: PlannedCrash): string {
  return `${actor}:${message}:${nth}:${times}`;
}

/** A crawl of the whole web with these crashes. With `crashingPage` one page of it crashes its reader each time. */
export async function crawlWithCrashes(
  crashes: readonly PlannedCrash[],
  crashingPage = false,
  // Whoever crashes over a robots.txt does not know what delay it asked for: its host is left alone for the longest, a
  // minute, and then goes on.
  secondsMax = 150,
): Promise<CrashReport> {
  const directory = temporaryDirectory();
  try {
    const web = await serveWeb(join(directory, 'witness.log'), [
      ...WEB_OPTIONS,
      ...(crashingPage ? ['--crashing'] : []),
    ]);
    const truth = await web.truth();
    const delayMs = crashes.some(({ message }) => message === 'syncDue') ? DELAY_MS_FOR_SYNC : DELAY_MS;
    const report = await crawl({
      seeds: web.seeds,
      dataDir: join(directory, 'data'),
      settings: {
        ...LOOPBACK_SETTINGS,
        'politeness.delayMs': delayMs,
        'fetch.timeoutMs': 2_000,
        'fetch.slots': 8,
        'robots.timeoutMs': 2_000,
        // A retry has to find its host resting where the frontier is to wake it.
        'retry.delaysSeconds': [crashes.some(({ message }) => message === 'wakeDue') ? 1 : 0.2],
      },
      options: ['--wait', '5', ...crashes.flatMap((crash) => ['--fault', nameOf(crash)])],
      environment: crashingPage ? { ORBWEAVER_PRACTICE_FAULTS: '1' } : {},
      secondsMax,
    });
    const events = await web.close();
    // A crash may cost a visit, which is then made again: that is what it may cost.
    const verdict = judge(events, { productToken: PRODUCT_TOKEN, delayMs, repeats: 'allowed' });
    return { crawl: report, truth, verdict };
  } finally {
    removeDirectory(directory);
  }
}

export function linesNamed(report: CrashReport, event: string): LogLine[] {
  return report.crawl.log.filter((line) => line.event === event);
}

/** What is wrong after a crawl with these crashes; empty where all is as it must be. */
export function faultsIn(report: CrashReport, crashes: readonly PlannedCrash[]): string[] {
  const { crawl: crawled, truth, verdict } = report;
  const wrong: string[] = [];
  const { summary, exitCode } = crawled;
  if (exitCode !== 0 || summary.reason !== 'done') wrong.push(`exit ${exitCode}, reason ${summary.reason}`);
  if ((summary.queued ?? 0) > 0) wrong.push(`${summary.queued} URLs are still queued`);
  const lines = crawled.pages.map(({ url }) => url);
  const committed = new Set(lines);
  if (committed.size < lines.length) wrong.push(`${lines.length - committed.size} lines of pages.jsonl are doubled`);
  const missing = truth.pages.filter((url) => !committed.has(url));
  if (missing.length > 0) wrong.push(`not committed: ${missing.slice(0, 3).join(' ')} (${missing.length})`);
  const strange = lines.filter((url) => !truth.pages.includes(url));
  if (strange.length > 0) wrong.push(`committed and not in the truth: ${strange.slice(0, 3).join(' ')}`);
  for (const { rule, detail } of verdict.violations) wrong.push(`${rule}: ${detail}`);
  for (const crash of crashes) wrong.push(...unsaid(report, crash));
  return wrong;
}

/** The log must count the crashes, and say of each what was restarted and what became of the message in hand. */
function unsaid(report: CrashReport, { actor, message, times }: PlannedCrash): string[] {
  const of = (event: string): LogLine[] =>
    linesNamed(report, event).filter((line) => String(line.actor).startsWith(actor) && line.message === message);
  const wrong: string[] = [];
  const injected = of('fault_injected').length;
  if (injected !== times) wrong.push(`${injected} crashes were injected into ${actor} at ${message}, not ${times}`);
  if (of('actor_crashed').length !== injected) wrong.push(`${of('actor_crashed').length} crashes were logged`);
  const restarts = linesNamed(report, 'actor_restarted').filter((line) => String(line.actor).startsWith(actor));
  if (restarts.length < injected) wrong.push(`${restarts.length} restarts of ${actor} were logged`);
  return wrong;
}
