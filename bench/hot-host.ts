/**
 * Does the memory of a crawl grow with the queue of one hot host?
 *
 * The command line crawls a loopback server in a process of its own, with a small heap. Each page of its one host links to
 * thousands of others, so that its queue grows to a million URLs (P7). Its resident memory is read when the queue has
 * reached a hundredth, a tenth and the whole of that, and how much there is to read of the store's own buffers is the same
 * for all. `--pages` is the number of URLs, `--links` how many a page links to.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { round } from './measure.js';
import type { Bench } from './result.js';

const URLS = 1_000_000;
const LINKS_PER_PAGE = 5_000;
/** A heap beyond it ends the process, and the bench with it. */
const HEAP_MEBIBYTES = 192;
const HOST = 'hot.bench.test';
/** As it was built last. */
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export const run: Bench = async ({ pages, links }) => {
  const urls = pages ?? URLS;
  const perPage = links ?? LINKS_PER_PAGE;
  const marks = [urls / 100, urls / 10, urls].map((mark) => Math.max(perPage, Math.round(mark)));
  const dataDir = mkdtempSync(join(tmpdir(), 'hot-host-'));
  const figures: Record<string, number> = { heapMebibytesMax: HEAP_MEBIBYTES };
  const startedMs = performance.now();
  try {
    await crawl(dataDir, perPage, (queued, pid) => {
      while (marks[0] !== undefined && queued >= marks[0]) {
        figures[`residentMebibytes at ${marks.shift()} URLs`] = residentMebibytes(pid);
      }
      return marks.length === 0;
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return { name: 'hot-host', figures: { ...figures, seconds: round((performance.now() - startedMs) / 1_000) } };
};

/** Until `isOver`, which is asked before each page what was found up to it. */
async function crawl(
  dataDir: string,
  perPage: number,
  isOver: (queued: number, pid: number) => boolean,
): Promise<void> {
  let served = 0;
  let end = (): void => {};
  const server = await serve((page) => {
    // What the page before it led to is in the store, as its host has one request at a time and rests in between.
    if (isOver(served * perPage, child.pid as number)) end();
    served += 1;
    return Array.from({ length: perPage }, (_, n) => `<a href="/${page * perPage + n + 1}">x</a>`).join('');
  });
  const { port } = server.address() as AddressInfo;
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MEBIBYTES}`, MAIN, ...argumentsOf(dataDir, port)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors = (errors + text).slice(-2_000)));
  let isEnding = false;
  end = () => {
    isEnding = true;
    child.kill('SIGINT');
  };
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('exit', (...how) => resolve(how)),
  );
  server.closeAllConnections();
  server.close();
  if (!isEnding) throw new Error(`the crawl ended by itself, with ${code ?? signal}: ${errors}`);
}

function argumentsOf(dataDir: string, port: number): string[] {
  const set = [
    'scope=host',
    'userAgent=ExampleBot/1.0 (+https://bot.example/)',
    `dns.hosts={"${HOST}":"127.0.0.1"}`,
    'guard.allow=["127.0.0.0/8"]',
    'politeness.delayMs=20',
    'politeness.adaptiveFactor=0',
    'politeness.addressDelayMs=0',
    'page.threads=1',
  ];
  const options = set.flatMap((assignment) => ['--set', assignment]);
  return ['crawl', `http://${HOST}:${port}/0`, '--data', dataDir, '--json', ...options];
}

function serve(htmlOf: (page: number) => string): Promise<Server> {
  const server = createServer((request, response) => {
    const page = Number((request.url ?? '').slice(1));
    if (!Number.isInteger(page)) return response.writeHead(404, { 'content-length': 0 }).end();
    const body = `<!doctype html><title>${page}</title>${htmlOf(page)}`;
    return response.writeHead(200, { 'content-type': 'text/html' }).end(body);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function residentMebibytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return round(Number(kibibytes) / 1_024);
}
