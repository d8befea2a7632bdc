/**
 * Chains that are killed: a site that asks for cookies, and that kills the crawl again and again in the midst of it, now
 * before an answer and now just after. What a chain carries is in the store, or its redirect is asked for once more.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrawlEnd, type CrawlProcess, startCrawl, type VisitLine } from './crawl-process.js';

const DOORS = 10;
/** Requests after which it is killed, counted from its start; and so many ms after the answer began, 0 for before it. */
const KILLS = [
  { after: 3, ms: 0 },
  { after: 4, ms: 5 },
  { after: 6, ms: 0 },
  { after: 5, ms: 1 },
  { after: 7, ms: 40 },
  { after: 8, ms: 0 },
  { after: 6, ms: 15 },
] as const;

const asked: { readonly path: string; readonly cookie: string | null }[] = [];
const visits: VisitLine[] = [];
let folder = '';
let port = 0;
let running: CrawlProcess | null = null;
let plan: { after: number; readonly ms: number } | null = null;
let last: CrawlEnd;
let urls: string[] = [];

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const cookie = request.headers.cookie ?? null;
  if (path === '/robots.txt') return void response.writeHead(404).end();
  asked.push({ path, cookie });
  if (plan !== null && --plan.after === 0) {
    if (plan.ms === 0) return void running?.kill();
    setTimeout(() => running?.kill(), plan.ms);
  }
  const [, room = '', number = ''] = path.split('/');
  const to = (location: string, setCookie: string) =>
    void response.writeHead(302, { location, 'set-cookie': `${setCookie}; Path=/` }).end();
  if (room === 'login') return to(`/door/${number}`, `session=${number}b`);
  if (room === 'door' && cookie !== `session=${number}b`) return to(`/login/${number}`, `session=${number}a`);
  if (room === 'self' && cookie !== `seen=${number}`) return to(path, `seen=${number}`);
  response.setHeader('content-type', 'text/html').end(`<title>${path}</title><p>Words of ${path}.`);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-chains-'));
  const numbers = Array.from({ length: DOORS }, (_, number) => number);
  const seeds = numbers.flatMap((number) => [`/door/${number}`, `/self/${number}`]);
  for (const kill of [...KILLS, null]) {
    plan = kill === null ? null : { ...kill };
    running = startCrawl({
      seeds: seeds.map((path) => `http://127.0.0.1:${port}${path}`),
      dataDir: join(folder, 'data'),
      settings: {
        'guard.allow': ['127.0.0.0/8'],
        'politeness.delayMs': 25,
        'politeness.adaptiveFactor': 0,
        'politeness.addressDelayMs': 0,
      },
    });
    last = await running.ended;
    visits.push(...last.visits);
  }
  urls = readFileSync(join(folder, 'data/pages.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => new URL((JSON.parse(line) as { url: string }).url).pathname);
});

afterAll(async () => {
  if (running?.isAlive()) running.kill();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('a crawl of a site that asks for cookies, killed seven times', () => {
  it('D1: comes to every page behind a login, and ends as done', () => {
    expect(last.summary).toMatchObject({ reason: 'done', queued: 0, deadLettered: 0, refused: 0 });
    const pages = Array.from({ length: DOORS }, (_, number) => [`/door/${number}`, `/self/${number}`]).flat();
    expect(urls.toSorted()).toEqual(pages.toSorted());
  });

  it('D2: no chain ended in a circle, and a kill repeats no more than what was open', () => {
    expect(visits.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
    // Each door is asked for twice, its login once, each of the others twice.
    const requests = DOORS * 5;
    expect(asked.length).toBeGreaterThan(requests);
    expect(asked.length).toBeLessThanOrEqual(requests + KILLS.length * 3);
  });

  it('P6: each request carries the cookie of its own chain, or none', () => {
    for (const { path, cookie } of asked) {
      const [, room, number] = path.split('/');
      const mine = {
        door: [null, `session=${number}b`],
        login: [`session=${number}a`],
        self: [null, `seen=${number}`],
      };
      expect(mine[room as keyof typeof mine]).toContain(cookie);
    }
  });
});
