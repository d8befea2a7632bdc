/**
 * P4, P6: pages that only a browser gets, and that lead elsewhere once their scripts run. By the log of their server no
 * browser comes to where they lead before that host's robots.txt was read, nor to what it disallows.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrawlEnd, startCrawl } from './crawl-process.js';
import { CHROMIUM, leavesNothing, type Sidecar, startSidecar } from './sidecar.js';

interface Asked {
  readonly url: string;
  readonly by: 'crawler' | 'browser';
}

interface Site {
  readonly port: number;
  readonly asked: readonly Asked[];
  close(): void;
}

describe.skipIf(CHROMIUM === null)('pages whose scripts lead elsewhere', () => {
  const directory = mkdtempSync(join(tmpdir(), 'orbweaver-redirects-'));
  let sidecar: Sidecar;
  let site: Site;
  let end: CrawlEnd;

  beforeAll(async () => {
    site = await openSite();
    sidecar = await startSidecar();
    end = await startCrawl({
      seeds: [`http://a.test:${site.port}/`],
      dataDir: join(directory, 'data'),
      words: ['--scope', 'any', '--wait', '20'],
      settings: {
        'dns.hosts': { '*.test': '127.0.0.1' },
        'guard.allow': ['127.0.0.0/8'],
        'politeness.delayMs': 50,
        'politeness.adaptiveFactor': 0,
        'politeness.addressDelayMs': 0,
        'browser.endpoint': sidecar.endpoint,
      },
    }).ended;
  }, 60_000);

  afterAll(async () => {
    await sidecar.end('SIGTERM');
    await leavesNothing(sidecar);
    site.close();
    rmSync(directory, { recursive: true, force: true });
  }, 30_000);

  const outcomes = (path: string) =>
    end.visits.filter(({ url }) => new URL(url).host + new URL(url).pathname === path).map(({ outcome }) => outcome);

  it('each is a redirect, and its target a URL of its own', () => {
    expect({ code: end.code, errors: end.errors.slice(-300) }).toMatchObject({ code: 0 });
    for (const path of ['/away', '/secret', '/on'])
      expect(outcomes(`a.test:${site.port}${path}`).at(-1), path).toBe('redirected');
    expect(outcomes(`b.test:${site.port}/page`)).toEqual(['fetched']);
    expect(outcomes(`a.test:${site.port}/on/`).at(-1)).toBe('fetched');
  });

  it('what the robots.txt of the target disallows is asked for by nobody', () => {
    expect(outcomes(`b.test:${site.port}/secret`)).toEqual(['blocked_by_robots']);
    expect(site.asked.filter(({ url }) => url === 'b.test/secret')).toEqual([]);
  });

  it('the robots.txt comes first, and no browser comes at all to where a plain request will do', () => {
    const ofTarget = site.asked.filter(({ url }) => url.startsWith('b.test/') && !url.endsWith('/favicon.ico'));
    expect(ofTarget).toEqual([
      { url: 'b.test/robots.txt', by: 'crawler' },
      { url: 'b.test/page', by: 'crawler' },
    ]);
  });
});

async function openSite(): Promise<Site> {
  const asked: Asked[] = [];
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { port } = server.address() as AddressInfo;
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    asked.push({
      url: host + request.url,
      by: request.headers['user-agent']?.includes('Chrome/') === true ? 'browser' : 'crawler',
    });
    if (request.url === '/robots.txt') {
      const rules = host === 'b.test' ? 'Disallow: /secret' : 'Allow: /';
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end(`User-agent: *\n${rules}\n`);
    }
    const script = host === 'a.test' ? SCRIPTS[request.url ?? ''] : undefined;
    response.writeHead(200, html).end(script === undefined ? PAGE : shellOf(script.replaceAll('PORT', String(port))));
  };
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, asked, close };
}

const SCRIPTS: Readonly<Record<string, string>> = {
  '/': `root.innerHTML = '<a href=/away>1</a><a href=/secret>2</a><a href=/on>3</a><p>' + 'word '.repeat(100)`,
  '/away': 'location.href = "http://b.test:PORT/page"',
  '/secret': 'location.href = "http://b.test:PORT/secret"',
  '/on': 'location.replace("/on/")',
};

const PAGE = `<!doctype html><title>A page</title><p>${'text '.repeat(100)}`;

/** Nothing to be seen before its script has run. */
function shellOf(script: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><title>Loading</title></head>
<body><div id="root"></div><noscript>Please switch scripts on.</noscript><script>${script};
/* ${'x'.repeat(3_000)} */</script></body></html>`;
}
