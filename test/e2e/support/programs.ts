/**
 * The product's own commands as processes: a practice web, and a crawl of it that can be killed.
 *
 * The web lives in a process of its own, since it has to outlive every crawl and to see their ends from outside. Its
 * control door (`/__mark`, `/__arm`, `/__stats`, `/__truth`) is spoken to over HTTP, as any test of another language would.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { PracticeStats } from '../../../src/practice/server.js';
import type { Truth } from '../../../src/practice/truth.js';

/** The crawler that the practice web's robots.txt files speak to. */
export const PRODUCT_TOKEN = 'ExampleBot';

export interface WebPlan {
  /** The entry of the built command line. */
  readonly program: string;
  /** A loopback address: webs on two of them can have the same port, and so the same URLs. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly profile: string;
  readonly seed: number;
  readonly hosts: number;
  readonly pages: number;
  readonly logFile: string;
}

export interface Web {
  readonly port: number;
  readonly seeds: readonly string[];
  /** Writes a mark into the log: a crawl was killed (K) or is being started (B). */
  mark(e: 'K' | 'B'): Promise<void>;
  /** Kills `pid` in the middle of the answer to the `requests`-th request from now. */
  arm(pid: number, requests: number): Promise<void>;
  disarm(): Promise<void>;
  stats(): Promise<PracticeStats>;
  truth(): Promise<Truth>;
  /** Resolves when the process is gone and the log is whole. */
  stop(): Promise<void>;
}

const START_MS_MAX = 20_000;
const PORT_TRIES = 20;

/** Serves a practice web. A port that was in use a moment ago is asked for again. */
export async function startWeb(plan: WebPlan): Promise<Web> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startWebOnce(plan);
    } catch (error) {
      if (attempt === PORT_TRIES) throw error;
      await sleep(100);
    }
  }
}

async function startWebOnce(plan: WebPlan): Promise<Web> {
  const { program, address, port, profile, seed, hosts, pages, logFile } = plan;
  const words = ['practice', '--json', '--allow-kills', '--port', port, '--profile', profile, '--seed', seed];
  const more = ['--address', address, '--hosts', hosts, '--pages', pages, '--agent', PRODUCT_TOKEN, '--log', logFile];
  const child = spawn(process.execPath, [program, ...[...words, ...more].map(String)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(child, 'exit');
  const listening = once(createInterface(child.stdout), 'line').then(
    ([line]) => JSON.parse(String(line)) as { port: number; seeds: string[] },
  );
  const early = gone.then(([code]) => {
    throw new Error(`the practice web ended at once, with ${code}`);
  });
  early.catch(() => {}); // it ends later too, when nobody listens any more
  const { port: bound, seeds } = await within(START_MS_MAX, 'the practice web', Promise.race([listening, early]));
  const control = async (method: string, path: string): Promise<unknown> => {
    const answer = await fetch(`http://${address}:${bound}/__${path}`, { method });
    if (!answer.ok) throw new Error(`/__${path} answers ${answer.status}`);
    return answer.json();
  };
  return {
    port: bound,
    seeds,
    mark: async (e) => void (await control('POST', `mark?e=${e}`)),
    arm: async (pid, requests) => void (await control('POST', `arm?pid=${pid}&requests=${requests}&moment=middle`)),
    disarm: async () => void (await control('POST', 'disarm')),
    stats: async () => (await control('GET', 'stats')) as PracticeStats,
    truth: async () => (await control('GET', `truth?agent=${PRODUCT_TOKEN}`)) as Truth,
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

export interface CrawlPlan {
  readonly program: string;
  /** Where the names of the practice web lead. */
  readonly address: string;
  readonly seeds: readonly string[];
  readonly dataDir: string;
  readonly delayMs: number;
  readonly waitSeconds: number;
  /** Where standard error goes, appended. */
  readonly errorFile: string;
}

/** How a crawl's process ended. */
export interface CrawlEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last line of `--json`; null when there was none. */
  readonly summary: CrawlSummary | null;
}

export interface CrawlSummary {
  readonly requests: number;
  readonly fetched: number;
  readonly deadLettered: number;
  readonly discovered: number;
  readonly queued: number;
  readonly durationSeconds: number;
  readonly reason: string;
}

export interface CrawlProcess {
  readonly pid: number;
  readonly ended: Promise<CrawlEnd>;
  kill(): void;
}

/** `orbweaver crawl` with the settings under which a test web is crawled quickly and judged without tolerance. */
export function startCrawl({
  program,
  address,
  seeds,
  dataDir,
  delayMs,
  waitSeconds,
  errorFile,
}: CrawlPlan): CrawlProcess {
  const settings = {
    'dns.hosts': { '*.practice.test': address },
    'guard.allow': ['127.0.0.0/8'],
    'politeness.delayMs': delayMs,
    'politeness.adaptiveFactor': 0,
    'politeness.addressDelayMs': 0,
    'retry.delaysSeconds': [0.2, 0.5, 1],
    userAgent: `${PRODUCT_TOKEN}/1.0 (+https://bot.example/)`,
  };
  const words = ['crawl', ...seeds, '--data', dataDir, '--scope', 'any', '--wait', String(waitSeconds), '--json'];
  const sets = Object.entries(settings).flatMap(([key, value]) => [
    '--set',
    `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ]);
  const errors = openSync(errorFile, 'a');
  const child = spawn(process.execPath, [program, ...words, ...sets], { stdio: ['ignore', 'pipe', errors] });
  closeSync(errors);
  if (child.pid === undefined) throw new Error('the crawl could not be started');
  return { pid: child.pid, ended: endOf(child), kill: () => void child.kill('SIGKILL') };
}

async function endOf(child: ChildProcess): Promise<CrawlEnd> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  return { code, signal, summary: last.startsWith('{') ? (JSON.parse(last) as CrawlSummary) : null };
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Rejects when it takes longer. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
