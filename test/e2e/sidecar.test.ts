/** The browser tier with a real Chromium: what it renders, what it bounds, what it leaves. Needs `dist`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PracticeServer, startPracticeServer } from '../../src/practice/server.js';
import { practiceWeb } from '../../src/practice/web.js';
import { startCrawl, until } from './crawl-process.js';
import {
  browserProcesses,
  CHROMIUM,
  folders,
  killBrowser,
  leavesNothing,
  type OddSite,
  openOddSite,
  type Sidecar,
  startSidecar,
} from './sidecar.js';
import { readPages } from './support/data-directory.js';

describe.skipIf(CHROMIUM === null)('a sidecar with a real Chromium', () => {
  let sidecar: Sidecar;
  let site: OddSite;
  const get = (path: string, maxTimeout = 10_000) =>
    sidecar.ask({ cmd: 'request.get', url: `http://site.test:${site.port}${path}`, maxTimeout });

  beforeAll(async () => {
    site = await openOddSite();
    sidecar = await startSidecar();
  }, 30_000);

  afterAll(async () => {
    await sidecar.end('SIGTERM');
    await leavesNothing(sidecar);
    site.close();
  }, 30_000);

  it('tells a page as it is once its scripts have run', async () => {
    const { status, solution } = await get('/script');
    expect(status).toBe('ok');
    expect(solution).toMatchObject({ status: 200, url: `http://site.test:${site.port}/script` });
    expect(solution?.response).toContain('<a href="/two">two</a>');
    expect(solution?.userAgent).toContain('Chrome/');
  });

  it.each(['/alert', '/popup', '/socket'])('%s does not hold it up', async (path) => {
    expect(await get(path)).toMatchObject({ status: 'ok', solution: { status: 200 } });
  });

  it('S2: of sixty pictures it loads thirty', async () => {
    expect(await get('/many')).toMatchObject({ status: 'ok' });
    expect(site.asked.filter((path) => path.startsWith('/part'))).toHaveLength(30);
  });

  it('S1: what a page reaches for passes the guard: nothing but this site is asked', async () => {
    expect(await get('/reach')).toMatchObject({ status: 'ok' });
    for (const url of ['http://10.0.0.1/', 'http://127.0.0.2:8099/', 'http://169.254.169.254/latest/']) {
      const answer = await sidecar.ask({ cmd: 'request.get', url, maxTimeout: 5_000 });
      expect(answer.status).toBe('error');
      expect(answer.message).toContain('[guard_refused]');
    }
  });

  it('a download is no page, and nothing is written', async () => {
    expect(await get('/file', 5_000)).toMatchObject({ status: 'error' });
  });

  it.each(['/hang', '/hang-later'])('%s ends at its time-out, and the next page comes', async (path) => {
    expect(await get(path, 1_500)).toMatchObject({ status: 'error', message: expect.stringContaining('[timeout]') });
    expect(await get('/')).toMatchObject({ status: 'ok' });
  });

  it.each<[string, object, string]>([
    ['another command', { cmd: 'request.delete' }, 'cmd'],
    ['no URL', { cmd: 'request.get' }, 'url'],
    ['a file', { cmd: 'request.get', url: 'file:///etc/passwd' }, 'url'],
    ['no time', { cmd: 'request.get', url: 'http://a.test/', maxTimeout: 0 }, 'maxTimeout'],
  ])('bad input, %s, is told with its place', async (_what, asked, where) => {
    const { status, message } = await sidecar.ask(asked);
    expect(status).toBe('error');
    expect(message).toContain(where);
  });

  it('a browser that is killed is started again, and leaves nothing', async () => {
    await get('/');
    killBrowser(sidecar);
    await until('the browser is missed', async () => (await sidecar.health()).browser === 'gone');
    expect(await get('/')).toMatchObject({ status: 'ok' });
    expect(folders(sidecar)).toHaveLength(1);
  });

  it('whoever hangs up has his visit ended', async () => {
    const gone = new AbortController();
    const asked = { cmd: 'request.get', url: `http://site.test:${site.port}/hang`, maxTimeout: 60_000 };
    const headers = { 'content-type': 'application/json' };
    const answer = fetch(sidecar.endpoint, {
      method: 'POST',
      headers,
      body: JSON.stringify(asked),
      signal: gone.signal,
    });
    await until('it visits', async () => (await sidecar.health()).visiting === 1);
    gone.abort();
    await expect(answer).rejects.toThrow();
    await until('the visit is over', async () => (await sidecar.health()).visiting === 0, 10_000);
  });
});

describe.skipIf(CHROMIUM === null)('kill -9 of a sidecar', () => {
  it('leaves no process and no folder', async () => {
    const site = await openOddSite();
    const sidecar = await startSidecar();
    await sidecar.ask({ cmd: 'request.get', url: `http://site.test:${site.port}/`, maxTimeout: 10_000 });
    expect(browserProcesses(sidecar).length).toBeGreaterThan(2);
    await sidecar.end('SIGKILL');
    await leavesNothing(sidecar);
    site.close();
  }, 40_000);
});

describe.skipIf(CHROMIUM === null)('a crawl of a walled web', () => {
  let server: PracticeServer;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'orbweaver-walled-'));
    server = await startPracticeServer({ web: practiceWeb({ profile: 'walled', hosts: 4, pages: 16 }), port: 0 });
  });

  afterAll(async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('R2, B2: reads what scripts fill and what doors hide, follows its links, and loses nothing when the service dies', async () => {
    const settings = {
      'dns.hosts': { '*.practice.test': '127.0.0.1' },
      'guard.allow': ['127.0.0.1/32'],
      'politeness.delayMs': 20,
      'politeness.adaptiveFactor': 0,
      'politeness.addressDelayMs': 0,
      scope: 'any',
      // Its rest is longer than this trial.
      'browser.breaker': false,
    };
    let sidecar = await startSidecar();
    const seeds = [1, 2, 3, 4].map((n) => `http://host-000${n}.practice.test:${server.port}/`);
    const { endpoint } = sidecar;
    const crawl = startCrawl({
      seeds,
      dataDir,
      settings: { ...settings, 'browser.endpoint': endpoint },
      words: ['--wait', '20'],
    });
    await until(
      'a page is rendered',
      () => crawl.visits.some(({ tier, outcome }) => tier === 3 && outcome === 'fetched'),
      40_000,
    );
    await sidecar.end('SIGKILL');
    await leavesNothing(sidecar);
    await until('it is missed', () => crawl.visits.some(({ code }) => code === 'backend_failed'), 30_000);
    sidecar = await startSidecar(Number(new URL(endpoint).port));
    const { code, summary } = await crawl.ended;
    await sidecar.end('SIGTERM');
    expect({ code, reason: summary?.reason }).toEqual({ code: 0, reason: 'done' });
    const pages = await readPages(dataDir);
    expect(new Set(pages.map(({ canonical }) => canonical)).size).toBe(16);
    expect(pages).toHaveLength(16);
    expect(crawl.visits.filter(({ outcome }) => outcome === 'dead')).toEqual([]);
  }, 150_000);
});

it.runIf(process.env.PACKAGES_INSTALLED !== undefined)('continuous integration has a Chromium', () => {
  expect(CHROMIUM).not.toBeNull();
});
