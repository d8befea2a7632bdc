/** What a crawl came to, for people: the fields of the JSON summary in a few aligned lines. */
import { count } from './progress.js';

/** The last line of `crawl --json`. */
export interface CrawlSummary {
  readonly event: 'summary';
  readonly requests: number;
  readonly fetched: number;
  readonly unchanged: number;
  readonly redirected: number;
  readonly missing: number;
  readonly gone: number;
  readonly throttled: number;
  readonly parked: number;
  readonly died: number;
  readonly failed: number;
  readonly blockedByRobots: number;
  readonly refused: number;
  readonly challenged: number;
  readonly deadLettered: number;
  readonly discovered: number;
  readonly queued: number;
  readonly durationSeconds: number;
  /** `done`, `only-waiting`, `max-pages`, `max-seconds`, `interrupted`, or what else ended it. */
  readonly reason: string;
  readonly dataDir: string;
  readonly archive: readonly string[];
}

/** Why it ended, in words. */
const REASONS: Readonly<Record<string, string>> = {
  done: 'Done: nothing is left to fetch.',
  'only-waiting': 'Ended: what is left falls due later. The same command goes on with it.',
  'max-pages': 'Ended at the bound on pages. The same command goes on.',
  'max-seconds': 'Ended at the bound on time. The same command goes on.',
  interrupted: 'Interrupted; stopped cleanly. The same command goes on.',
};

/** Lines that are zero are left out, but for the first two. */
export function formatSummary(summary: CrawlSummary): string[] {
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
    ['throttled', summary.throttled, 'asked again when the host allows'],
    ['parked', summary.parked, 'until robots.txt can be read'],
    ['failed', summary.failed, 'asked again later, within bounds'],
    ['died', summary.died, 'with the process, three times'],
    ['dead letters', summary.deadLettered, 'given up for good, in all runs'],
    ['discovered', summary.discovered, 'URLs in all'],
    ['queued', summary.queued, 'not fetched yet'],
  ];
  const shown = rows.filter(([, value], index) => index < 2 || value > 0);
  const width = Math.max(...shown.map(([, value]) => count(value).length));
  return [
    REASONS[summary.reason] ?? `Ended: ${summary.reason}.`,
    ...shown.map(([label, value, note]) => `  ${label.padEnd(18)}${count(value).padStart(width)}  ${note}`.trimEnd()),
    `  ${'data'.padEnd(18)}${summary.dataDir}`,
    ...(summary.archive.length > 0 ? [`  ${'archive'.padEnd(18)}${archived(summary.archive)}`] : []),
  ];
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
