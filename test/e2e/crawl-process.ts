/**
 * A crawl as a process of its own, as an operator starts it: the built program, its JSON lines, its log, its end.
 *
 * What it is started with is written out in words, so that a test reads like a command. Only the process itself is
 * ever signalled, by its id.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../..');

/** The product token and a contact, which a crawl beyond loopback has to name. */
export const USER_AGENT = 'ExampleBot/1.0 (+https://bot.example/)';
export const PRODUCT_TOKEN = 'ExampleBot';

/** Without `npm start`: what it would start after its build. */
const PROGRAM = [process.execPath, join(ROOT, 'dist/cli/main.js'), 'crawl'] as const;

export interface CrawlOptions {
  readonly seeds: readonly string[];
  readonly dataDir: string;
  /** `--set` for each. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further words of the command line. */
  readonly words?: readonly string[];
  /** The log is appended there, from level info on. */
  readonly logFile?: string;
  /** What runs the crawl; the built program when left out. */
  readonly command?: readonly string[];
  /** Put before the command: a tracer, for one. */
  readonly under?: readonly string[];
}

export interface VisitLine {
  readonly event: 'visit';
  readonly url: string;
  readonly outcome: string;
  readonly code: string;
  readonly status: number | null;
  readonly tier: number;
}

export interface SummaryLine {
  readonly event: 'summary';
  readonly requests: number;
  readonly fetched: number;
  readonly refused: number;
  readonly queued: number;
  readonly discovered: number;
  readonly deadLettered: number;
  readonly blockedByRobots: number;
  readonly durationSeconds: number;
  readonly reason: string;
  readonly archive: readonly string[];
}

export interface CrawlEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly visits: readonly VisitLine[];
  /** Null where it was killed. */
  readonly summary: SummaryLine | null;
  /** Standard error. */
  readonly errors: string;
}

export interface CrawlProcess {
  readonly pid: number;
  readonly ended: Promise<CrawlEnd>;
  /** Told so far. */
  readonly visits: readonly VisitLine[];
  isAlive(): boolean;
  kill(): void;
}

export function startCrawl(options: CrawlOptions): CrawlProcess {
  const [program, ...words] = [
    ...(options.under ?? []),
    ...(options.command ?? PROGRAM),
    ...options.seeds,
    ...['--data', options.dataDir, '--json', '--events'],
    ...['--set', `userAgent=${USER_AGENT}`],
    ...Object.entries(options.settings ?? {}).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`]),
    ...(options.logFile === undefined ? [] : ['--log', options.logFile, '--log-level', 'info']),
    ...(options.words ?? []),
  ];
  const child = spawn(program as string, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const visits: VisitLine[] = [];
  return {
    pid: child.pid ?? 0,
    visits,
    ended: endOf(child, visits),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill: () => child.kill('SIGKILL'),
  };
}

/** Crawls to the end. Throws, with what it said, where that end is not a good one. */
export async function crawl(options: CrawlOptions): Promise<CrawlEnd & { readonly summary: SummaryLine }> {
  const end = await startCrawl(options).ended;
  if (end.code !== 0 || end.summary === null) {
    throw new Error(`the crawl ended with ${end.code ?? end.signal}: ${end.errors.slice(-2_000)}`);
  }
  return { ...end, summary: end.summary };
}

async function endOf(child: ChildProcess, visits: VisitLine[]): Promise<CrawlEnd> {
  let summary: SummaryLine | null = null;
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => {
    // What a package runner says before the program is no JSON.
    if (!line.startsWith('{')) return;
    const told = JSON.parse(line) as VisitLine | SummaryLine;
    if (told.event === 'visit') visits.push(told);
    else if (told.event === 'summary') summary = told;
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...end) => resolve(end));
  });
  return { code, signal, visits, summary, errors };
}

export interface LogLine {
  readonly event: string;
  readonly time: string;
  readonly [field: string]: unknown;
}

/** The log so far, without a last line that is still being written. */
export function readLog(file: string): LogLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogLine);
}

/** Polls until it holds. Throws with `what` when it takes too long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, msMax = 20_000): Promise<void> {
  const endMs = performance.now() + msMax;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`waited ${msMax} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
