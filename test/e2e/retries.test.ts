/**
 * R1 under kill -9: a host that fails for a while, and a crawl that is killed again and again while it retries, and while a
 * redrive goes on. Needs the built command line in `dist`.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrawlProcess, crawl, ROOT, startCrawl, until } from './crawl-process.js';

const PAGES = 60;
/** Fails so often, then it is well; those beyond fail until they are mended. */
const FAILURES = 3;
const BROKEN = 20;
const RETRY_MS = 700;
const JITTER_SHARE = 0.2;
const KILLS = 10;
const RATE = 5;

const asked = new Map<string, number[]>();
let isMended = false;

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') return void response.writeHead(404).end();
  const times = asked.get(path) ?? [];
  asked.set(path, [...times, performance.now()]);
  response.setHeader('content-type', 'text/html');
  if (path === '/') return void response.end(index());
  const number = Number(path.slice(1));
  const fails = number < BROKEN ? !isMended : times.length < FAILURES;
  if (fails) return void response.writeHead(500).end('not now');
  response.end(`<p>Words of page ${number}, of which there are a few.`);
});

function index(): string {
  return Array.from({ length: PAGES }, (_, i) => `<a href="/${i}">page ${i}</a>`).join(' ');
}

let folder = '';
let origin = '';
const options = () => ({
  seeds: [`${origin}/`],
  dataDir: join(folder, 'data'),
  settings: {
    'guard.allow': ['127.0.0.0/8'],
    'politeness.delayMs': 2,
    'politeness.adaptiveFactor': 0,
    'politeness.addressDelayMs': 0,
    'retry.delaysSeconds': [RETRY_MS / 1_000],
    'retry.deliveriesMax': 8,
    'retry.budgetPerHostAndMinute': 6_000,
    'retry.budgetPerMinute': 60_000,
    'breaker.failures': 1_000,
    'egress.guard': false,
  },
  words: ['--wait', '5'],
});

async function command(...words: string[]): Promise<Record<string, unknown>[]> {
  const program = join(ROOT, 'dist/cli/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    ...words,
    '--data',
    join(folder, 'data'),
    '--json',
  ]);
  return stdout
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function killed(running: CrawlProcess): Promise<void> {
  running.kill();
  expect((await running.ended).signal).toBe('SIGKILL');
}

const failedOf = (path: string) => asked.get(path) ?? [];

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-retries-'));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('R1 retries of a crawl that is killed again and again', () => {
  let kills = 0;

  it('D1, D2: nothing is lost; a URL has eight deliveries, and what was under way at a kill once more', async () => {
    for (; kills < KILLS; kills++) {
      const before = [...asked.values()].flat().length;
      const running = startCrawl(options());
      // Some way into its retries, further with each life.
      await until('it asks', () => !running.isAlive() || [...asked.values()].flat().length > before + 10 + 2 * kills);
      await killed(running);
    }
    const { summary } = await crawl(options());
    expect(summary).toMatchObject({ reason: 'done', queued: 0, deadLettered: BROKEN, discovered: PAGES + 1 });
    let repeats = 0;
    for (let number = 0; number < PAGES; number++) {
      const deliveries = failedOf(`/${number}`).length;
      const due = number < BROKEN ? 8 : FAILURES + 1;
      expect(deliveries, `deliveries of /${number}`).toBeGreaterThanOrEqual(due);
      repeats += deliveries - due;
    }
    // Of one host one request is under way, and what came within the last commits before a kill is asked for again.
    expect(repeats).toBeLessThanOrEqual(KILLS * 8);
    const letters = await command('dead');
    expect(letters).toHaveLength(BROKEN);
    for (const letter of letters) expect(letter).toMatchObject({ deliveries: 8, code: 'http_server_error' });
  }, 60_000);

  it('due times outlive kills: no retry comes before its time, but for what a kill has undone', () => {
    let early = 0;
    for (const times of asked.values()) {
      for (const [i, atMs] of times.entries()) {
        const before = times[i - 1];
        if (before !== undefined && atMs - before < RETRY_MS * (1 - JITTER_SHARE) - 20) early += 1;
      }
    }
    expect(early).toBeLessThanOrEqual(KILLS * 8);
  });

  it('a redrive goes on at its pace after kill -9 of the crawl, and brings back what was mended', async () => {
    isMended = true;
    const before = new Map([...asked].map(([path, times]) => [path, times.length]));
    const sinceMs = performance.now();
    const told = await command('redrive', '--rate', `${RATE}/s`);
    expect(told.at(-1)).toMatchObject({ event: 'summary', matched: BROKEN, stage: 'going', rate: `${RATE}/s` });
    let running = startCrawl(options());
    for (let i = 0; i < 3; i++) {
      const already = [...asked.values()].flat().length;
      await until('it asks', () => [...asked.values()].flat().length > already);
      await killed(running);
      running = startCrawl(options());
    }
    const end = await running.ended;
    expect(end.summary).toMatchObject({ reason: 'done', deadLettered: 0, queued: 0 });
    const arrivals = [...asked].flatMap(([path, times]) => times.slice(before.get(path) ?? 0)).sort((a, b) => a - b);
    // The bound holds over all lives together: so many a second, and one portion.
    for (const [i, atMs] of arrivals.entries()) {
      const within = arrivals.filter((it) => it >= atMs && it <= atMs + 1_000).length;
      expect(within, `${within} from the ${i}th on`).toBeLessThanOrEqual(2 * RATE + 2);
    }
    expect((arrivals.at(-1) as number) - sinceMs).toBeGreaterThanOrEqual(((BROKEN - RATE) / RATE) * 1_000 - 100);
    const [audit] = await command('dead', '--audit');
    expect(audit).toMatchObject({ stage: 'done', redriven: BROKEN, matched: BROKEN, way: 'command', left: {} });
    for (let number = 0; number < BROKEN; number++) {
      const more = failedOf(`/${number}`).length - (before.get(`/${number}`) ?? 0);
      expect(more, `/${number} after the redrive`).toBeGreaterThanOrEqual(1);
    }
  }, 60_000);
});
