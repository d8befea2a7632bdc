/** What a crawl came to, for people: the fields of the JSON summary in a few aligned lines. */
import type { CrawlOutcome } from '../main.js';
import { count, quantity } from './progress.js';

/** Why it ended, in words. */
const REASONS: Readonly<Record<string, string>> = {
  done: 'Done: nothing is left to fetch.',
  'only-waiting': 'Ended: what is left falls due later. The same command goes on with it.',
  unreachable: 'Given up: hardly any host could be reached. The same command goes on.',
  'max-pages': 'Ended at the bound on pages. The same command goes on.',
  'max-seconds': 'Ended at the bound on time. The same command goes on.',
  interrupted: 'Interrupted; stopped cleanly. The same command goes on.',
};

/** Hosts by what they wait for, the most first. */
export type WaitCounts = readonly (readonly [cause: string, hosts: number])[];

/** Lines that are zero are left out, but for the first two. */
export function formatSummary(summary: CrawlOutcome, dataDir: string, waitingWhy: WaitCounts = []): string[] {
  const perSecond = summary.durationSeconds > 0 ? summary.requests / summary.durationSeconds : 0;
  const rows: readonly (readonly [label: string, value: number, note: string])[] = [
    ['fetched', summary.fetched, ''],
    ['requests', summary.requests, `in ${duration(summary.durationSeconds)}, ${perSecond.toFixed(1)} a second`],
    ['unchanged', summary.unchanged, 'the same content as before'],
    ['redirected', summary.redirected, 'their targets are URLs of their own'],
    ['missing', summary.missing, 'status 404'],
    ['gone', summary.gone, 'status 410'],
    ['refused', summary.refused, 'by the site, a bound or the guard'],
    ['blocked by robots', summary.blockedByRobots, ''],
    ['challenged', summary.challenged, ''],
    ['left', leftIn(summary), leftNote(summary)],
    ['throttled', summary.throttled, 'asked again when the host allows'],
    ['parked', summary.parked, 'until robots.txt, or a browser, can be had'],
    ['failed', summary.failed, 'asked again later, within bounds'],
    ['died', summary.died, 'with the process, three times'],
    ['dead letters', summary.deadLettered, 'given up for good, in all runs'],
    ['discovered', summary.discovered, 'URLs in all'],
    ['queued', summary.queued, queuedNote(waitingWhy)],
  ];
  const shown = rows.filter(([, value], index) => index < 2 || value > 0);
  const width = Math.max(...shown.map(([, value]) => count(value).length));
  return [
    REASONS[summary.reason] ?? `Ended: ${summary.reason}.`,
    ...shown.map(([label, value, note]) => `  ${label.padEnd(18)}${count(value).padStart(width)}  ${note}`.trimEnd()),
    `  ${'data'.padEnd(18)}${dataDir}`,
    ...(summary.archive.length > 0 ? [`  ${'archive'.padEnd(18)}${archived(summary.archive)}`] : []),
  ];
}

function leftIn({ refusedOnAdmission }: CrawlOutcome): number {
  return Object.values(refusedOnAdmission).reduce((sum, times) => sum + times, 0);
}

/** The codes, the most frequent first. */
function leftNote({ refusedOnAdmission }: CrawlOutcome): string {
  const codes = Object.entries(refusedOnAdmission).sort(([, left], [, right]) => right - left);
  return `links that the rules of the crawl leave (${codes.map(([code, times]) => `${code} ${count(times)}`).join(', ')})`;
}

function queuedNote(waitingWhy: WaitCounts): string {
  const causes = waitingWhy.map(([cause, hosts]) => `${quantity(hosts, 'host')}: ${cause.replace('_', ' ')}`);
  return `not fetched yet${causes.length === 0 ? '' : ` (${causes.join(', ')})`}`;
}

function archived(files: readonly string[]): string {
  const [first] = files as readonly [string];
  return files.length === 1 ? first : `${first} and ${files.length - 1} more`;
}

/** `4.2 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${count(Math.floor(whole / 3_600))} h ${Math.floor((whole % 3_600) / 60)} min`;
}
