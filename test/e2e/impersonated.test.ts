/** A whole crawl of a site that lets only browsers in: tier 2 where it is allowed, and nothing where it is not. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSummary, VisitEvent } from '../../src/index.js';
import { AT_ONCE } from '../library/loopback-site.js';
import { authority } from '../net/identity.js';

// As built: parser threads run no TypeScript.
const { createCrawler } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');

const DELAY_MS = 60;
const PAGES = 6;

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly userAgent: string;
  readonly from: string | undefined;
  readonly beganMs: number;
  endedMs: number;
}

const trial = authority();
const asked: Asked[] = [];
const visits: VisitEvent[] = [];
let folder = '';
let port = 0;
let summary: CrawlSummary;

const server = createSecureServer({ ...trial.issue('DNS:picky.test,DNS:plain.test'), allowHTTP1: true });
server.on('session', (session) => session.on('error', () => undefined));
server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
  const { headers } = request;
  const host = String(headers[':authority'] ?? headers.host).split(':')[0] ?? '';
  const path = request.url;
  const userAgent = String(headers['user-agent']);
  const one: Asked = { host, path, userAgent, from: headers.from, beganMs: performance.now(), endedMs: 0 };
  asked.push(one);
  response.on('close', () => {
    one.endedMs = performance.now();
  });
  if (path === '/robots.txt') return void response.writeHead(200).end('User-agent: *\nDisallow: /closed');
  const isBrowser = / Chrome\/151\./.test(userAgent) && (request.socket as TLSSocket).alpnProtocol === 'h2';
  if (!isBrowser) return void response.writeHead(403, { 'content-type': 'text/html' }).end('<p>No.');
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end(pageOf(Number(path.slice(1))));
});

function pageOf(number: number): string {
  const next = number + 1 < PAGES ? `<a href="/${number + 1}">next</a>` : '';
  return `<!doctype html><title>Page ${number}</title><p>Words of page ${number}. ${next} <a href="/closed/${number}">x</a>`;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-impersonated-'));
  const crawler = createCrawler({
    dataDir: join(folder, 'data'),
    seeds: [`https://picky.test:${port}/0`, `https://plain.test:${port}/0`],
    config: {
      ...AT_ONCE,
      userAgent: 'ExampleBot/1.0 (+https://bot.example/)',
      dns: { hosts: { '*.test': '127.0.0.1' } },
      politeness: { delayMs: DELAY_MS, adaptiveFactor: 0, addressDelayMs: 0, addressExempt: ['127.0.0.0/8'] },
      impersonate: { sites: ['picky.test'] },
      tls: { ca: trial.caFile },
    },
    control: false,
  });
  crawler.on('visit', (visit) => visits.push(visit));
  for await (const _page of crawler) void _page;
  summary = await crawler.ended;
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
  trial.remove();
});

const of = (host: string) => asked.filter((one) => one.host === host);

describe('a site that lets only browsers in', () => {
  it('R2: the first page climbs, the others are asked for where that led; all are fetched', () => {
    expect(summary).toMatchObject({ fetched: PAGES, failed: 0, reason: 'done', failure: null });
    const pages = visits.filter(({ host }) => host === 'picky.test' && !host.includes('robots'));
    const byUrl = pages.map(({ url, tier, outcome }) => `${new URL(url).pathname} ${tier} ${outcome}`);
    expect(byUrl.filter((it) => it.startsWith('/0'))).toEqual(['/0 1 challenged', '/0 2 fetched']);
    for (let i = 1; i < PAGES; i++) expect(byUrl.filter((it) => it.startsWith(`/${i}`))).toEqual([`/${i} 2 fetched`]);
  });

  it('one that is not named is asked under our own name only, and its refusal stands', () => {
    expect(of('plain.test').map(({ path }) => path)).toEqual(['/robots.txt', '/0']);
    for (const { userAgent } of of('plain.test')) expect(userAgent).toBe('ExampleBot/1.0 (+https://bot.example/)');
    expect(visits.filter(({ host }) => host === 'plain.test').map(({ code }) => code)).toEqual(['http_forbidden']);
  });

  it('who asks as a browser says who it is all the same; robots.txt is asked for as ourselves', () => {
    for (const { userAgent, from, path } of of('picky.test')) {
      if (!/Chrome/.test(userAgent)) expect(from).toBeUndefined();
      else expect([from, path]).toEqual(['https://bot.example/', expect.not.stringContaining('robots')]);
    }
  });

  it('P4: what robots.txt forbids is forbidden to browsers too', () => {
    expect(asked.filter(({ path }) => path.startsWith('/closed'))).toEqual([]);
  });

  it('P1, P2: one at a time, and the delay between the end of one and the next, whatever the tier', () => {
    const all = of('picky.test').toSorted((a, b) => a.beganMs - b.beganMs);
    expect(all.length).toBe(PAGES + 2);
    // The server sees the end of its answer before we do, so that what it sees between is no less than the delay.
    for (let i = 1; i < all.length; i++) {
      expect((all[i]?.beganMs ?? 0) - (all[i - 1]?.endedMs ?? 0)).toBeGreaterThan(DELAY_MS - 5);
    }
  });

  it('the archive holds what was sent, and pages without their coding', () => {
    const records = summary.archive.map((file) => gunzipSync(readFileSync(file)).toString('latin1')).join('');
    const request = /GET \/3 HTTP\/1\.1\r\n(?:[^\r]+\r\n)+/.exec(records)?.[0] ?? '';
    expect(request).toMatch(/user-agent: Mozilla\/5\.0 .*Chrome\/151/);
    expect(request).toContain('from: https://bot.example/\r\n');
    expect(records).toContain('<title>Page 3</title>');
  });
});
