/**
 * How soon does a crawl with a large backlog make its first request, and in how much memory?
 *
 * A store is filled with a million URLs of fifty thousand hosts (`--hosts`, `--pages` of each), all ready. Then the command
 * line resumes in a process of its own, with a heap of 512 MB, against a loopback server that stands for all of them. Time
 * runs from the start of the process; memory is read after the first thousand requests and after the last that count.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../src/store/store.js';
import { nameOf, remember } from '../test/fairness/known-hosts.js';
import { round } from './measure.js';
import type { Bench } from './result.js';

const HOSTS = 50_000;
const PAGES_PER_HOST = 20;
const REQUESTS = 10_000;
const HEAP_MEBIBYTES = 512;
/** As Linux counts CPU time. */
const TICKS_PER_SECOND = 100;
/** As it was built last. */
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export const run: Bench = async ({ hosts, pages }) => {
  const [many, each] = [hosts ?? HOSTS, pages ?? PAGES_PER_HOST];
  const dir = mkdtempSync(join(tmpdir(), 'resume-'));
  const figures: Record<string, number> = { hosts: many, urls: many * each, heapMebibytesMax: HEAP_MEBIBYTES };
  let requests = 0;
  let startedMs = 0;
  let child: ChildProcess | null = null;
  const server = createServer((_request, response) => {
    requests += 1;
    if (requests === 1) {
      figures['seconds to the first request'] = sinceSeconds(startedMs);
      figures['CPU seconds to the first request'] = cpuSeconds(child?.pid as number);
    }
    if (requests === 1_000 || requests === REQUESTS) {
      figures[`seconds to request ${requests}`] = sinceSeconds(startedMs);
      figures[`ownMebibytes at request ${requests}`] = ownMebibytes(child?.pid as number);
    }
    if (requests === REQUESTS) child?.kill('SIGINT');
    response.writeHead(404, { 'content-length': 0 }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    const store = await openStore({ dir, warcinfo: () => new Uint8Array(0) });
    const known = { known: many, rotating: many, pagesPerHost: each, waking: 0, dueMs: 0, port };
    await remember(store, known, Date.now());
    await store.close();
    startedMs = performance.now();
    child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEBIBYTES}`, MAIN, ...argumentsOf(dir, port)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const code = await new Promise((resolve) => child?.on('exit', resolve));
    if (requests < REQUESTS) throw new Error(`the crawl ended with ${code} after ${requests} requests`);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return { name: 'resume', figures };
};

function argumentsOf(dir: string, port: number): string[] {
  const set = [
    'scope=any',
    'userAgent=ExampleBot/1.0 (+https://bot.example/)',
    'dns.hosts={"*.example":"127.0.0.1"}',
    'guard.allow=["127.0.0.0/8"]',
    'politeness.addressDelayMs=0',
  ];
  return [
    'crawl',
    `http://${nameOf(0)}:${port}/0`,
    '--data',
    dir,
    '--json',
    ...set.flatMap((assignment) => ['--set', assignment]),
  ];
}

function sinceSeconds(fromMs: number): number {
  return round((performance.now() - fromMs) / 1_000, 2);
}

/** Of all threads; what the machine has to do beside does not count. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Without the files that the store has mapped. */
function ownMebibytes(pid: number): number {
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return round(Number(kibibytes) / 1_024);
}
