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
  signalBrowser,
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

  it.each(['/alert', '/popup'])('%s does not hold it up', async (path) => {
    expect(await get(path)).toMatchObject({ status: 'ok', solution: { status: 200 } });
  });

  it.each(['/missing-part', '/restless'])('B1: %s is told before its time is over, however short', async (path) => {
    expect(await get(path, 5_000)).toMatchObject({ status: 'ok', solution: { status: 200 } });
  });

  it('R2: what is behind a door comes with its own answer, whenever the door opens', async () => {
    for (const opensAfterMs of [200, 240, 260, 280, 300, 400, 550]) {
      const { solution } = await get(`/door-${opensAfterMs}`);
      expect({ opensAfterMs, status: solution?.status, response: solution?.response }).toMatchObject({
        status: 200,
        response: expect.stringContaining('the page'),
      });
    }
  }, 40_000);

  it('P1: a page that goes to itself without end does so five times', async () => {
    expect(await get('/again')).toMatchObject({ status: 'ok', solution: { status: 200 } });
    expect(site.asked.filter((path) => path === '/again')).toHaveLength(6);
  });

  it.each([
    ['/moved', '/'],
    ['/moved-away', 'other:/elsewhere'],
    ['/script-away', 'other:/elsewhere'],
    ['/refresh-away', 'other:/elsewhere'],
    ['/form-away', 'other:/elsewhere'],
    ['/script-on', '/two?x=1'],
  ])('P4, P6: %s leads elsewhere, which is told and not asked for', async (path, to) => {
    const [host, target] = to.startsWith('other:') ? ['other.test', to.slice('other:'.length)] : ['site.test', to];
    const before = site.asked.length;
    const url = `http://site.test:${site.port}${path}`;
    const { status, solution } = await sidecar.ask({ cmd: 'request.get', url, maxTimeout: 10_000, redirects: 'told' });
    expect({ status, solution }).toMatchObject({
      status: 'ok',
      solution: { url, status: 302, headers: { location: `http://${host}:${site.port}${target}` } },
    });
    expect(site.asked.slice(before).filter((asked) => asked !== '/favicon.ico')).toEqual([path]);
  });

  it('R2: to itself it may go all the same, and so a door is passed', async () => {
    const told = (path: string) => {
      const url = `http://site.test:${site.port}${path}`;
      return sidecar.ask({ cmd: 'request.get', url, maxTimeout: 10_000, redirects: 'told' });
    };
    expect(await told('/door-300')).toMatchObject({
      solution: { status: 200, response: expect.stringContaining('the page') },
    });
    expect(await told('/to-itself')).toMatchObject({ status: 'ok', solution: { status: 200 } });
    expect(site.asked.filter((path) => path === '/to-itself')).toHaveLength(2);
  });

  it('whoever does not ask for that has redirects followed, as the protocol has it', async () => {
    expect(await get('/moved')).toMatchObject({ solution: { status: 200, url: `http://site.test:${site.port}/` } });
  });

  it('an answer without a body is told as that', async () => {
    expect(await get('/nothing')).toMatchObject({ status: 'ok', solution: { status: 204, response: '' } });
  });

  it('so is one that says no with nothing', async () => {
    expect(await get('/no-such-page')).toMatchObject({ status: 'ok', solution: { status: 404, response: '' } });
  });

  it('what the browser shows of its own errors is no page', async () => {
    expect(await get('/round')).toMatchObject({ status: 'error', code: 'navigation_failed' });
  });

  it('a cookie that the browser does not take keeps none of the others back', async () => {
    const cookies = [
      { name: '__Host-a', value: '1' },
      { name: 'ok', value: '2' },
    ];
    const url = `http://site.test:${site.port}/deep/er`;
    expect(await sidecar.ask({ cmd: 'request.get', url, cookies })).toMatchObject({ status: 'ok' });
    expect(site.cookies.at(-1)).toBe('ok=2');
  });

  it('a session holds its cookies from one page to the next, and no other page has them', async () => {
    const ask = (session?: string) =>
      sidecar.ask({ cmd: 'request.get', url: `http://site.test:${site.port}/cookie`, ...(session ? { session } : {}) });
    await ask('one');
    await ask('one');
    expect(site.cookies.at(-1)).toBe('a=1; b=2');
    for (const session of ['two', undefined]) {
      await ask(session);
      expect(site.cookies.at(-1)).toBeUndefined();
    }
  });

  it('S2: of sixty pictures it loads thirty', async () => {
    expect(await get('/many')).toMatchObject({ status: 'ok' });
    expect(site.asked.filter((path) => path.startsWith('/part'))).toHaveLength(30);
  });

  it('S1: what a page reaches for passes the guard: nothing but this site is asked', async () => {
    expect(await get('/reach')).toMatchObject({ status: 'ok' });
    expect(site.strays()).toEqual({ datagrams: 0, connections: 0 });
    for (const url of ['http://10.0.0.1/', 'http://127.0.0.2:8099/', 'http://169.254.169.254/latest/']) {
      const answer = await sidecar.ask({ cmd: 'request.get', url, maxTimeout: 5_000 });
      expect(answer.status).toBe('error');
      expect(answer.message).toContain('[guard_refused]');
    }
  });

  it('S1: nothing goes by datagram', async () => {
    expect(await get('/datagrams')).toMatchObject({ status: 'ok' });
    expect(site.strays()).toEqual({ datagrams: 0, connections: 0 });
  });

  it.each(['/socket', '/worker-socket'])('%s opens no WebSocket', async (path) => {
    expect(await get(path)).toMatchObject({ status: 'ok' });
    expect(site.sockets()).toBe(0);
  });

  it('S2: what a worker asks for counts as well', () => {
    expect(site.asked.filter((path) => path.startsWith('/part-w')).length).toBeLessThanOrEqual(30);
  });

  it('S2: more markup than any page has is told as that', async () => {
    expect(await get('/huge')).toMatchObject({ status: 'error', code: 'bound' });
    expect(await get('/')).toMatchObject({ status: 'ok' });
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
    signalBrowser(sidecar, 'SIGKILL');
    await until('the browser is missed', async () => (await sidecar.health()).browser === 'gone');
    expect(await get('/')).toMatchObject({ status: 'ok' });
    expect(folders(sidecar)).toHaveLength(1);
  });

  it('a browser that is stopped is killed at the time-out, and the next page comes', async () => {
    await get('/');
    signalBrowser(sidecar, 'SIGSTOP');
    expect(await get('/', 1_500)).toMatchObject({ status: 'error', code: 'timeout' });
    expect(await get('/')).toMatchObject({ status: 'ok' });
    expect(folders(sidecar)).toHaveLength(1);
  }, 30_000);

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

describe.skipIf(CHROMIUM === null)('a sidecar with little to give', () => {
  let sidecar: Sidecar;
  let site: OddSite;
  const ask = (path: string, maxTimeout: number) =>
    sidecar.ask({ cmd: 'request.get', url: `http://site.test:${site.port}${path}`, maxTimeout });

  beforeAll(async () => {
    site = await openOddSite();
    sidecar = await startSidecar(0, ['--memory', '512', '--set', 'browser.concurrency=1']);
  }, 30_000);

  afterAll(async () => {
    await sidecar.end('SIGTERM');
    await leavesNothing(sidecar);
    site.close();
  }, 30_000);

  it('S2: a page that grows without end is ended, and the next one comes', async () => {
    const { message, code } = await ask('/grow', 15_000);
    expect({ message, code }).toMatchObject({ code: 'bound' });
    expect(await ask('/', 10_000)).toMatchObject({ status: 'ok' });
  }, 40_000);

  it('S2: so many may wait and no more; waiting is part of their time', async () => {
    const answers = await Promise.all(Array.from({ length: 11 }, () => ask('/hang', 1_500)));
    const codes = answers.map(({ code }) => code);
    expect(codes.filter((code) => code === 'busy')).toHaveLength(2);
    expect(codes.filter((code) => code === 'timeout')).toHaveLength(9);
    expect(await sidecar.health()).toMatchObject({ visiting: 0, waiting: 0 });
    expect(await ask('/', 10_000)).toMatchObject({ status: 'ok' });
  }, 40_000);

  it('SIGTERM waits for the page that is being rendered', async () => {
    const answer = ask('/missing-part', 4_000);
    await until('it visits', async () => (await sidecar.health()).visiting === 1);
    await sidecar.end('SIGTERM');
    expect(await answer).toMatchObject({ status: 'ok' });
    sidecar = await startSidecar();
  }, 40_000);
});

describe.skipIf(CHROMIUM === null)('kill -9 of a sidecar', () => {
  it('in the middle of a page that hangs leaves no process and no folder', async () => {
    const site = await openOddSite();
    const sidecar = await startSidecar();
    const hung = sidecar.ask({ cmd: 'request.get', url: `http://site.test:${site.port}/hang`, maxTimeout: 60_000 });
    hung.catch(() => {});
    await until('it hangs', () => site.asked.includes('/hang'), 10_000);
    expect(browserProcesses(sidecar).length).toBeGreaterThan(4);
    await sidecar.end('SIGKILL');
    await leavesNothing(sidecar);
    site.close();
  }, 40_000);

  it('and of its browser’s shell leaves what the next one ends', async () => {
    const site = await openOddSite();
    const first = await startSidecar();
    await first.ask({ cmd: 'request.get', url: `http://site.test:${site.port}/`, maxTimeout: 10_000 });
    signalBrowser(first, 'SIGSTOP');
    await first.end('SIGKILL');
    expect(browserProcesses(first).length).toBeGreaterThan(4);
    const second = await startSidecar();
    await leavesNothing(first);
    await second.end('SIGTERM');
    site.close();
  }, 40_000);

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
