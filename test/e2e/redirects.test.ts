/** One crawl of a site that redirects in every way there is; its log is the witness. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
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

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
  readonly startMs: number;
  endMs: number;
}

const asked: Asked[] = [];
const visits: VisitEvent[] = [];
/** As they are handed to the program. */
const pages: string[] = [];
let folder = '';
let summary: CrawlSummary;
let lines: { readonly url: string }[] = [];
let port = 0;

/** Where the robots.txt of a host leads: nowhere, in the end. */
const ROBOTS_REDIRECTS: Readonly<Record<string, string>> = {
  'file.test': 'file:///etc/passwd',
  'data.test': 'data:text/plain,User-agent:*%0ADisallow:/',
  'self.test': '/robots.txt',
  'cloud.test': 'http://169.254.169.254/robots.txt',
};

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const host = (request.headers.host ?? '').split(':')[0] ?? '';
  const { cookie, authorization } = request.headers;
  const entry: Asked = { host, path, cookie, authorization, startMs: performance.now(), endMs: 0 };
  asked.push(entry);
  response.once('close', () => {
    entry.endMs = performance.now();
  });
  if (path === '/robots.txt') {
    const location = ROBOTS_REDIRECTS[host];
    const headers = location === undefined ? {} : { location, 'set-cookie': 'robots=1; Path=/' };
    return void response.writeHead(location === undefined ? 404 : 301, headers).end();
  }
  answer(path, cookie, response, request);
});

function answer(path: string, cookie: string | undefined, response: ServerResponse, { headers }: IncomingMessage) {
  const [, room = '', rest = ''] = path.split('/');
  const number = Number(rest);
  const page = () =>
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>${path}</title><p>Words.`);
  const to = (location: string, ...setCookies: string[]) =>
    response.writeHead(302, { location, ...(setCookies.length === 0 ? {} : { 'set-cookie': setCookies }) }).end();
  switch (room) {
    // Asks for a cookie by sending to itself.
    case 'self':
      return cookie === 'seen=1' ? page() : to('/self', 'seen=1');
    // Sends to a login, which sends back; the second cookie takes the place of the first (D12).
    case 'door':
      return cookie === 'session=2; tour=1' ? page() : to('/login', 'session=1; Path=/; HttpOnly', 'tour=1; Path=/');
    case 'login':
      return to('/door', 'session=2; Path=/; HttpOnly');
    // To another host, and back: nothing goes along, and nothing is there again (D11).
    case 'leave':
      return to(`http://other.test:${port}/landing`, 'secret=1; Path=/', `wide=1; Domain=other.test; Path=/`);
    case 'landing':
      return to(`http://site.test:${port}/home`);
    case 'name':
      return to(`http://user:word@site.test:${port}/plain`);
    case 'meta':
      return void response
        .setHeader('set-cookie', 'meta=1; Path=/')
        .setHeader('content-type', 'text/html')
        .end('<meta http-equiv=refresh content="0; url=/target">');
    // In circles (D02): without a cookie, with a cookie that is not new, with one that is always new.
    case 'ring':
      return to(`/ring/${(number + 1) % 3}`);
    case 'loop':
      return to('/loop', 'same=1');
    case 'count':
      return to('/count', `count=${Number(/count=(\d+)/.exec(cookie ?? '')?.[1] ?? 0) + 1}`);
    case 'endless':
      return to(`http://${number % 2 === 0 ? 'other' : 'site'}.test:${port}/endless/${number + 1}`);
    // Elsewhere than on the web (D08), and where no crawl may go (D09).
    case 'file':
      return to('file:///etc/passwd');
    case 'data':
      return to('data:text/html,x');
    case 'cloud':
      return to(number === 0 ? 'http://169.254.169.254/latest/' : 'http://[::ffff:a9fe:a9fe]/');
    case 'metafile':
      return void response
        .setHeader('content-type', 'text/html')
        .end('<meta http-equiv=refresh content="0; url=file:///etc/passwd"><p>Words.');
  }
  void headers;
  return page();
}

const SEEDS = [
  ...['self', 'door', 'leave', 'name', 'meta', 'ring/0', 'loop', 'count', 'endless/0'],
  ...['file', 'data', 'cloud/0', 'cloud/1', 'metafile'],
];

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-redirects-'));
  const crawler = createCrawler({
    dataDir: join(folder, 'data'),
    seeds: [
      ...SEEDS.map((path) => `http://site.test:${port}/${path}`),
      ...Object.keys(ROBOTS_REDIRECTS).map((host) => `http://${host}:${port}/page`),
    ],
    config: {
      ...AT_ONCE,
      userAgent: 'ExampleBot/1.0 (+https://bot.example/)',
      scope: 'any',
      dns: { hosts: { '*.test': '127.0.0.1' } },
      guard: { allow: ['127.0.0.0/8'] },
      politeness: { delayMs: 20, adaptiveFactor: 0, addressDelayMs: 0 },
    },
    control: false,
  });
  crawler.on('visit', (visit) => visits.push(visit));
  for await (const page of crawler) pages.push(page.url);
  summary = await crawler.ended;
  lines = readFileSync(join(folder, 'data/pages.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { url: string });
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const cookiesOf = (path: string) => asked.filter((it) => it.path === path).map(({ cookie }) => cookie ?? null);
const codesOf = (path: string, host = 'site') =>
  visits.filter(({ url }) => url === `http://${host}.test:${port}${path}`).map(({ code }) => code);

describe('redirects of a real site', () => {
  it('P6: end, all of them', () => {
    expect(summary).toMatchObject({ reason: 'only-waiting', failure: null, parked: 1 });
  });

  it('P6: a URL that redirects to itself with a cookie is the same record, asked again with it', () => {
    expect(cookiesOf('/self')).toEqual([null, 'seen=1']);
    expect(codesOf('/self')).toEqual(['redirect', 'ok']);
  });

  it('P6, RFC 6265 §5.3: a login that sends back is asked with what it was given last', () => {
    expect(cookiesOf('/door')).toEqual([null, 'session=2; tour=1']);
    expect(cookiesOf('/login')).toEqual(['session=1; tour=1']);
    expect(codesOf('/door')).toEqual(['redirect', 'ok']);
  });

  it('D2: nothing is doubled in pages.jsonl, nor for the program', () => {
    const urls = lines.map(({ url }) => url);
    expect(pages.toSorted()).toEqual(urls.toSorted());
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.map((url) => new URL(url).pathname).toSorted()).toEqual([
      '/door',
      '/home',
      '/metafile',
      ...Array(3).fill('/page'),
      '/plain',
      '/self',
      '/target',
    ]);
  });

  it('S4: no cookie and no credential crosses an origin, and none comes back', () => {
    expect(cookiesOf('/landing')).toEqual([null]);
    expect(cookiesOf('/home')).toEqual([null]);
    expect(cookiesOf('/plain')).toEqual([null]);
    expect(asked.flatMap(({ authorization }) => authorization ?? [])).toEqual([]);
  });

  it('a cookie of one chain is no other chain’s, nor that of robots.txt, nor of a meta refresh', () => {
    expect(cookiesOf('/target')).toEqual([null]);
    expect(new Set([...cookiesOf('/robots.txt'), ...cookiesOf('/page')])).toEqual(new Set([null]));
  });

  it('RFC 9110 §15.4: circles end as redirect_loop where they close', () => {
    expect([0, 1, 2].map((number) => codesOf(`/ring/${number}`))).toEqual([
      ['redirect'],
      ['redirect'],
      ['redirect_loop'],
    ]);
    expect(codesOf('/loop')).toEqual(['redirect', 'redirect_loop']);
    expect(cookiesOf('/loop')).toEqual([null, 'same=1']);
  });

  it('P6: with a cookie that is always new it is asked again three times, not four', () => {
    expect(cookiesOf('/count')).toEqual([null, 'count=1', 'count=2', 'count=3']);
    expect(codesOf('/count')).toEqual(['redirect', 'redirect', 'redirect', 'redirect_loop']);
  });

  it('P6: an endless chain ends after ten hops, across hosts', () => {
    const numbers = asked.filter(({ path }) => path.startsWith('/endless/')).map(({ path }) => path);
    expect(numbers).toEqual(Array.from({ length: 11 }, (_, number) => `/endless/${number}`));
    expect(codesOf('/endless/10')).toEqual(['redirect_limit']);
    expect(codesOf('/endless/9', 'other')).toEqual(['redirect']);
  });

  it('RFC 9110 §17: a scheme that is not the web’s is not followed', () => {
    expect([codesOf('/file'), codesOf('/data')]).toEqual([['redirect_without_target'], ['redirect_without_target']]);
    expect(codesOf('/metafile')).toEqual(['ok']);
  });

  it('S1: a redirect to an address that no crawl may reach ends in guard_refused', () => {
    const refused = visits.filter(({ code }) => code === 'guard_refused').map(({ url }) => url);
    expect(refused.toSorted()).toEqual(['http://169.254.169.254/latest/', 'http://[::ffff:a9fe:a9fe]/']);
    expect([codesOf('/cloud/0'), codesOf('/cloud/1')]).toEqual([['redirect'], ['redirect']]);
  });

  it('D08, D09: a robots.txt that redirects off the web, in a circle or to a refused address ends there', () => {
    const robotsOf = (host: string) => asked.filter((it) => it.host === host && it.path === '/robots.txt').length;
    expect(['file', 'data', 'self', 'cloud'].map((name) => robotsOf(`${name}.test`))).toEqual([1, 1, 6, 1]);
    // A file that is not there disallows nothing; one that can't be had parks its pages (P5).
    const codes = ['file', 'data', 'self', 'cloud'].map((name) => codesOf('/page', name));
    expect(codes).toEqual([['ok'], ['ok'], ['ok'], ['robots_unreadable']]);
  });

  it('P1, P2: each hop waits for the gate of its own host', () => {
    for (const host of ['site.test', 'other.test']) {
      const ofHost = asked.filter((it) => it.host === host);
      for (const [i, { startMs }] of ofHost.entries()) {
        const before = ofHost[i - 1];
        if (before !== undefined) expect(startMs - before.endMs, `${host} ${i}`).toBeGreaterThanOrEqual(20 - 4);
      }
    }
  });
});
