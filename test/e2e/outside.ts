/**
 * The engine from outside: a practice web and a crawl, each a process of its own, told from their command lines and
 * known only by what they print, log and write. Everything lives in one temporary directory that is removed in the end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Moment } from '../../src/practice/killer.js';
import type { PracticeStats } from '../../src/practice/server.js';
import type { Truth } from '../../src/practice/truth.js';
import { eventsOf, type WitnessEvent } from '../../src/practice/witness.js';

/** As robots.txt files of the practice web name the crawler. */
export const PRODUCT_TOKEN = 'ExampleBot';

/** Found from the working directory, so that it holds for compiled files as well: tests and scripts start at the root. */
const COMMAND_LINE = join(process.cwd(), 'dist/cli/main.js');

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'orbweaver-e2e-'));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

export interface OutsideWeb {
  readonly port: number;
  readonly seeds: readonly string[];
  truth(): Promise<Truth>;
  stats(): Promise<PracticeStats>;
  /** Writes into the log that a crawl is being started. */
  booted(): Promise<void>;
  /** Writes into the log that a crawl was killed just now. */
  killed(): Promise<void>;
  /** Kills `pid` at the `requests`-th request from now. The web must have been started with `--allow-kills`. */
  arm(pid: number, requests: number, moment: Moment): Promise<void>;
  disarm(): Promise<void>;
  /** Ends the process and reads what its witness wrote. */
  close(): Promise<WitnessEvent[]>;
}

/** Serves a practice web of these `orbweaver practice` options, with its log in `logFile`. */
export async function serveWeb(logFile: string, options: readonly string[]): Promise<OutsideWeb> {
  const child = spawn(
    process.execPath,
    [COMMAND_LINE, 'practice', '--port', '0', '--log', logFile, '--agent', PRODUCT_TOKEN, '--json', ...options],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = endOf(child);
  const { port, seeds } = await firstLine(child, ended);
  const control = <T>(method: string, path: string): Promise<T> => ask(method, `http://127.0.0.1:${port}/__${path}`);
  return {
    port,
    seeds,
    truth: () => control('GET', 'truth'),
    stats: () => control('GET', 'stats'),
    booted: () => control('POST', 'mark?e=B'),
    killed: () => control('POST', 'mark?e=K'),
    arm: (pid, requests, moment) => control('POST', `arm?pid=${pid}&requests=${requests}&moment=${moment}`),
    disarm: () => control('POST', 'disarm'),
    async close() {
      child.kill('SIGINT');
      await ended;
      return eventsOf(readFileSync(logFile, 'utf8'));
    },
  };
}

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface CrawlReport {
  /** Null where it had to be killed, since it did not end in its time. */
  readonly exitCode: number | null;
  readonly summary: CrawlSummaryLine;
  readonly log: readonly LogLine[];
  /** The lines of `pages.jsonl`. */
  readonly pages: readonly { readonly url: string; readonly status: number }[];
  /** One for each attempt on a URL. */
  readonly visits: readonly { readonly url: string; readonly outcome: string; readonly code: string }[];
  readonly seconds: number;
}

/** The fields of the summary that are looked at. */
export interface CrawlSummaryLine {
  readonly reason: string;
  readonly requests: number;
  readonly fetched: number;
  readonly blockedByRobots: number;
  readonly deadLettered: number;
  readonly queued: number;
  readonly failure: string | null;
}

export interface CrawlOrder {
  readonly seeds: readonly string[];
  readonly dataDir: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly options?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secondsMax: number;
}

/** Settings for a crawl of loopback hosts: names lead there, and only the hosts' own delays hold. */
export const LOOPBACK_SETTINGS = {
  'dns.hosts': { '*.practice.test': '127.0.0.1' },
  'guard.allow': ['127.0.0.0/8'],
  'politeness.adaptiveFactor': 0,
  'politeness.addressDelayMs': 0,
  userAgent: `${PRODUCT_TOKEN}/1.0 (+https://bot.example/)`,
} as const;

/** Crawls to the end, by the command line. One that does not end in its time is killed and reported as it stands. */
export function crawl(order: CrawlOrder): Promise<CrawlReport> {
  return startCrawl(order).ended;
}

/** A crawl under way, a process of its own. */
export interface Crawling {
  readonly pid: number;
  readonly ended: Promise<CrawlReport>;
  signal(name: NodeJS.Signals): void;
}

export function startCrawl(order: CrawlOrder): Crawling {
  const { seeds, dataDir, settings, options = [], environment = {}, secondsMax } = order;
  const assignments = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${asValue(value)}`]);
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      COMMAND_LINE,
      'crawl',
      ...seeds,
      '--data',
      dataDir,
      '--scope',
      'any',
      '--json',
      '--events',
      ...assignments,
      ...options,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } },
  );
  if (child.pid === undefined) throw new Error('the crawl could not be started');
  const overdue = setTimeout(() => child.kill('SIGKILL'), secondsMax * 1_000);
  const ended = endOf(child).then((end) => {
    clearTimeout(overdue);
    return reportOf(end, dataDir, startedMs);
  });
  return { pid: child.pid, ended, signal: (name) => void child.kill(name) };
}

function reportOf({ exitCode, output, errors }: End, dataDir: string, startedMs: number): CrawlReport {
  const lines = linesOf(output);
  const summary = lines.find(({ event }) => event === 'summary');
  return {
    exitCode,
    summary: (summary ?? { reason: 'killed by the test' }) as unknown as CrawlSummaryLine,
    log: linesOf(errors),
    pages: pageLinesIn(dataDir),
    visits: lines.filter(({ event }) => event === 'visit') as unknown as CrawlReport['visits'],
    seconds: (performance.now() - startedMs) / 1_000,
  };
}

function asValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function pageLinesIn(dataDir: string): CrawlReport['pages'] {
  const file = join(dataDir, 'pages.jsonl');
  if (!existsSync(file)) return [];
  return linesOf(readFileSync(file, 'utf8')) as unknown as CrawlReport['pages'];
}

/** Lines that are no JSON (a stack, a warning of the runtime) are kept as events of their own. */
function linesOf(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      try {
        return JSON.parse(line) as LogLine;
      } catch {
        return { level: 'none', event: 'not_json', line };
      }
    });
}

interface End {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

function endOf(child: ChildProcess): Promise<End> {
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, output, errors }));
  });
}

function firstLine(child: ChildProcess, ended: Promise<End>): Promise<{ port: number; seeds: string[] }> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (more: string) => {
      text += more;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(JSON.parse(text.slice(0, end)));
    });
    ended.then(({ errors }) => reject(new Error(`the practice web did not start: ${errors}`)), reject);
  });
}

function ask<T>(method: string, url: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false, method }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () =>
        response.statusCode === 200 ? resolve(JSON.parse(text) as T) : reject(new Error(`${url}: ${text}`)),
      );
      response.on('error', reject);
    });
    asked.on('error', reject).end();
  });
}
