/** Hard cases of stops, starts and load by number, on the built program and a web of this machine. */
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.js';
import { admission, seedPart, warcinfo } from '../store/parts.js';
import {
  type CrawlOrder,
  type CrawlReport,
  crawl,
  LOOPBACK_SETTINGS,
  type OutsideWeb,
  removeDirectory,
  serveWeb,
  startCrawl,
  temporaryDirectory,
} from './outside.js';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const urlsOf = ({ pages }: CrawlReport): string[] => pages.map(({ url }) => url).sort();

describe('a crawl that is stopped and started', () => {
  let web: OutsideWeb;
  let order: CrawlOrder;
  beforeEach(async () => {
    web = await serveWeb(join(directory, 'witness.log'), ['--hosts', '6', '--pages', '120', '--seed', '3']);
    order = {
      seeds: web.seeds,
      dataDir: join(directory, 'data'),
      settings: { ...LOOPBACK_SETTINGS, 'politeness.delayMs': 20 },
      options: ['--wait', '60'],
      secondsMax: 80,
    };
  });
  afterEach(() => web.close());

  it('F05: killed before its first seed is queued, and after, it goes on; with nothing left to do it says so', async () => {
    const requests = async (): Promise<number> => (await web.stats()).requests;
    const killAfter = async (moment: () => Promise<unknown>): Promise<number> => {
      const crawling = startCrawl(order);
      await moment();
      crawling.signal('SIGKILL');
      await crawling.ended;
      return requests();
    };
    expect(await killAfter(() => sleep(40))).toBe(0);
    for (const aliveMs of [250, 400, 500, 600, 700, 900]) await killAfter(() => sleep(aliveMs));
    // Then with pages pending, some of them just found.
    for (const more of [1, 3, 12]) {
      const before = await requests();
      await killAfter(async () => {
        while ((await requests()) < before + more) await sleep(5);
      });
    }
    const truth = await web.truth();
    const last = await crawl(order);
    expect(last.summary).toMatchObject({ reason: 'done', queued: 0 });
    expect(last.summary.fetched).toBeGreaterThan(0);
    expect(urlsOf(last)).toEqual([...truth.pages].sort());
    const asked = (await web.stats()).requests;
    const idle = await crawl(order);
    expect(idle.exitCode).toBe(0);
    expect(idle.summary).toMatchObject({ reason: 'done', fetched: 0, requests: 0, queued: 0 });
    expect((await web.stats()).requests).toBe(asked);
  }, 90_000);

  it('F23: stopped, started and stopped again within a second while requests run: nothing twice, and never two of it', async () => {
    const reports: CrawlReport[] = [];
    for (const more of [2, 1, 3]) {
      const asked = (await web.stats()).requests;
      const crawling = startCrawl(order);
      // It has the data directory to itself once it asks for something.
      while ((await web.stats()).requests < asked + more) await sleep(5);
      // A second one beside it is refused, and touches nothing. The first one does not end meanwhile.
      crawling.signal('SIGSTOP');
      const other = await crawl({ ...order, secondsMax: 20 });
      crawling.signal('SIGCONT');
      expect(other.exitCode).toBe(1);
      expect(JSON.stringify(other.log)).toMatch(/in use by another process/);
      crawling.signal('SIGINT');
      crawling.signal('SIGINT');
      reports.push(await crawling.ended);
    }
    const last = await crawl(order);
    expect(last.summary).toMatchObject({ reason: 'done', queued: 0 });
    const truth = await web.truth();
    expect(urlsOf(last)).toEqual([...truth.pages].sort());
    expect(reports.some(({ summary }) => summary.reason === 'interrupted')).toBe(true);
  }, 90_000);
});

interface SmallSite {
  readonly port: number;
  /** Host names in the order in which they were asked for a page. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

async function openSite(answer: (host: string, path: string, response: ServerResponse) => void): Promise<SmallSite> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const path = request.url ?? '/';
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(host);
    answer(host, path, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const page = (response: ServerResponse): void =>
  void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>A page.');

describe('a crawl with a backlog', () => {
  const HOSTS = 2_500;
  const URLS = 50_000;
  const HEAP_MB = 96;

  it(`F07, F10: ${URLS} pending URLs of ${HOSTS} hosts: it starts, within ${HEAP_MB} MB of heap, and takes batches only`, async () => {
    const site = await openSite((_host, _path, response) => page(response));
    try {
      const dataDir = join(directory, 'data');
      mkdirSync(dataDir);
      const store = await openStore({ dir: dataDir, warcinfo });
      const size = 1_000;
      for (let batch = 0; batch * size < URLS; batch++) {
        const admitted = Array.from({ length: size }, (_, i) => {
          const n = batch * size + i;
          return admission(`http://h${n % HOSTS}.practice.test:${site.port}/${Math.floor(n / HOSTS)}`, n);
        });
        await store.commit(batch + 1, [seedPart(admitted, batch)], (batch + 1) * size === URLS);
      }
      await store.close();
      const startedMs = performance.now();
      const crawling = startCrawl({
        seeds: [`http://h0.practice.test:${site.port}/0`],
        dataDir,
        settings: { ...LOOPBACK_SETTINGS, 'politeness.delayMs': 0 },
        options: ['--max-pages', '200'],
        nodeWords: [`--max-old-space-size=${HEAP_MB}`],
        secondsMax: 60,
      });
      let firstMs: number | null = null;
      const watching = setInterval(() => {
        if (site.asked.length > 0) firstMs ??= performance.now() - startedMs;
      }, 5);
      const report = await crawling.ended;
      clearInterval(watching);
      console.log(`first page asked for ${firstMs === null ? 'never' : Math.round(firstMs)} ms after the start`);
      expect(report.exitCode).toBe(0);
      expect(report.summary.reason).toBe('max-pages');
      expect(report.pages.length).toBeGreaterThanOrEqual(200);
      expect(report.summary.queued).toBe(URLS - report.pages.length);
    } finally {
      await site.close();
    }
  }, 90_000);
});

describe('hosts beside each other', () => {
  const SMALL_HOSTS = 60;
  const PAGES = 10;
  const SLOW_PAGES = 3_000;

  it(`F15: a slow host with ${SLOW_PAGES} URLs takes one place: ${SMALL_HOSTS} others are done while it answers a few times`, async () => {
    const links = (count: number): string =>
      Array.from({ length: count }, (_, n) => `<a href="/${n + 1}">${n + 1}</a>`).join('');
    const site = await openSite((host, path, response) => {
      const body = path === '/' ? links(host === 'slow.practice.test' ? SLOW_PAGES : PAGES - 1) : '<p>A page.';
      response.writeHead(200, { 'Content-Type': 'text/html' });
      if (host === 'slow.practice.test') setTimeout(() => response.end(body), 300);
      else response.end(body);
    });
    try {
      const small = Array.from({ length: SMALL_HOSTS }, (_, n) => `small-${n}.practice.test`);
      const crawling = startCrawl({
        seeds: ['slow.practice.test', ...small].map((host) => `http://${host}:${site.port}/`),
        dataDir: join(directory, 'data'),
        // Fewer places than hosts: what the slow one took would be missed.
        settings: {
          ...LOOPBACK_SETTINGS,
          'politeness.delayMs': 20,
          'politeness.hostDelaysMs': { 'slow.practice.test': 500 },
          'fetch.slots': 4,
        },
        secondsMax: 60,
      });
      const smallDone = (): number => site.asked.filter((host) => host !== 'slow.practice.test').length;
      while (smallDone() < SMALL_HOSTS * PAGES && crawling.isAlive()) await sleep(20);
      const slowAnswers = site.asked.length - smallDone();
      crawling.signal('SIGINT');
      await crawling.ended;
      expect(smallDone()).toBe(SMALL_HOSTS * PAGES);
      // Its pages come 800 ms apart at the least: had it been given its turns by the number of its URLs, the others
      // would have waited for a hundred of them.
      expect(slowAnswers).toBeGreaterThan(0);
      expect(slowAnswers).toBeLessThan(60);
    } finally {
      await site.close();
    }
  }, 90_000);
});
