/** C05: one host that asks to be left alone, with ten thousand URLs, beside fifty that answer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSummary, VisitEvent } from '../../src/index.js';
import { AT_ONCE } from '../library/loopback-site.js';

// As built: parser threads run no TypeScript.
const { createCrawler } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');

const HOSTS = 50;
const PAGES = 6;
const HOT_URLS = 2 * 5_000;
const LINKS_A_PAGE = HOT_URLS / 2;

const asked: { readonly host: string; readonly path: string }[] = [];
const visits: VisitEvent[] = [];
let folder = '';
let port = 0;
let summary: CrawlSummary;

const server = createServer((request, response) => {
  const host = (request.headers.host ?? '').split(':')[0] ?? '';
  const path = request.url ?? '/';
  asked.push({ host, path });
  if (path === '/robots.txt') return void response.writeHead(404).end();
  if (host === 'hot.test') return void response.writeHead(503, { 'retry-after': '3600' }).end('later');
  response.setHeader('content-type', 'text/html').end(pageOf(host, Number(path.slice(1))));
});

function pageOf(host: string, number: number): string {
  const next = number + 1 < PAGES ? `<a href="/${number + 1}">next</a>` : '';
  if (host !== 'h0.test' || number > 1) return `<p>Words of ${host} ${number}. ${next}`;
  const hot = Array.from(
    { length: LINKS_A_PAGE - 1 },
    (_, i) => `<a href="http://hot.test:${port}/${number * LINKS_A_PAGE + i}">${i}</a>`,
  );
  return `<p>Words. ${next} ${hot.join(' ')}`;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-throttled-'));
  const crawler = createCrawler({
    dataDir: join(folder, 'data'),
    seeds: Array.from({ length: HOSTS }, (_, i) => `http://h${i}.test:${port}/0`),
    config: {
      ...AT_ONCE,
      userAgent: 'ExampleBot/1.0 (+https://bot.example/)',
      scope: 'any',
      dns: { hosts: { '*.test': '127.0.0.1' } },
      politeness: { delayMs: 50, adaptiveFactor: 0, addressDelayMs: 0, addressExempt: ['127.0.0.0/8'] },
      // So large that none of them is taken for a known one.
      seen: { expectedUrls: 5_000_000 },
    },
    control: false,
  });
  crawler.on('visit', (visit) => visits.push(visit));
  for await (const _page of crawler) void _page;
  summary = await crawler.ended;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('C05: a throttled host beside healthy ones', () => {
  it('every page of the healthy ones is fetched, and the crawl ends as only waiting', () => {
    expect(summary).toMatchObject({ fetched: HOSTS * PAGES, throttled: 1, reason: 'only-waiting', failure: null });
  });

  it('P3: the host is asked once, and none of its URLs is touched but that one', () => {
    expect(asked.filter(({ host }) => host === 'hot.test').map(({ path }) => path)).toHaveLength(2);
    const hot = visits.filter(({ host }) => host === 'hot.test');
    expect(hot.map(({ outcome }) => outcome)).toEqual(['throttled']);
    // The links to it but one a page, which leads to the next page.
    expect(summary).toMatchObject({ queued: HOT_URLS - 2 });
  });
});
