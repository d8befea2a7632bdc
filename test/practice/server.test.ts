/** The practice web over HTTP: what a crawl finds is what the truth says, and the witness saw it all. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Moment } from '../../src/practice/killer.js';
import { type PracticeServer, type PracticeServerOptions, startPracticeServer } from '../../src/practice/server.js';
import { type PracticeWeb, practiceWeb, type Resource } from '../../src/practice/web.js';
import { eventsOf, type WitnessEvent } from '../../src/practice/witness.js';
import { crawlAll, demanded, get, post } from './clients.js';

const CRAWL = { productToken: 'ExampleBot', deliveriesMax: 8, parallel: 24 };
const open: PracticeServer[] = [];
const agent = new Agent({ keepAlive: true });

async function serve(options: PracticeServerOptions): Promise<PracticeServer> {
  const server = await startPracticeServer(options);
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** The first URL whose page answers to a wish. */
function urlOf(
  web: PracticeWeb,
  port: number,
  wish: (resource: Extract<Resource, { kind: 'page' }>) => boolean,
): string {
  for (const host of web.hosts) {
    for (let page = 0; page < host.pageCount; page++) {
      const path = web.pathOf(host, page);
      const resource = web.resolve(host, path);
      if (resource.kind === 'page' && wish(resource)) return `http://${host.name}:${port}${path}`;
    }
  }
  throw new Error('no such page');
}

const starts = (events: WitnessEvent[]): WitnessEvent[] => events.filter((event) => event.e === 'S');
const ends = (events: WitnessEvent[]): WitnessEvent[] => events.filter((event) => event.e === 'E');

describe('truth', () => {
  it.each([
    ['ordinary', { profile: 'ordinary', hosts: 24, pages: 400, seed: 5 }],
    ['faulty', { profile: 'faulty', hosts: 30, pages: 400, seed: 6 }],
    ['wide', { profile: 'wide', hosts: 100, pages: 300 }],
    ['deep', { profile: 'deep', hosts: 2, pages: 120 }],
  ] as const)(
    '%s: is what a crawl finds that honours robots, nofollow and redirects (P4, P6)',
    async (_name, settings) => {
      const server = await serve({ web: practiceWeb(settings) });
      const truth = server.truth();
      const crawled = await crawlAll(truth.seeds, { ...CRAWL, next: (due) => due.shift() ?? '' });
      expect(Object.fromEntries(crawled.statuses)).toEqual(demanded(truth));
      expect([...crawled.forbidden].sort()).toEqual([...truth.forbidden].sort());
      expect(truth.nofollow.filter((url) => !crawled.nofollow.has(url) || crawled.statuses.has(url))).toEqual([]);
      expect(truth.reachable.length).toBe(
        truth.pages.length + truth.missing.length + truth.gone.length + truth.redirects.length,
      );
    },
  );

  it('does not depend on the order of the crawl, nor on attempts that a kill wasted', async () => {
    const settings = { profile: 'faulty', hosts: 16, pages: 160, seed: 9 } as const;
    const [one, other] = [await serve({ web: practiceWeb(settings) }), await serve({ web: practiceWeb(settings) })];
    await Promise.all(
      other
        .truth()
        .reachable.slice(0, 60)
        .map(({ url }) => get(url, agent).catch(() => undefined)),
    );
    const [first, second] = await Promise.all([
      crawlAll(one.truth().seeds, { ...CRAWL, next: (due) => due.shift() ?? '' }),
      crawlAll(other.truth().seeds, { ...CRAWL, next: (due) => due.pop() ?? '' }),
    ]);
    const bare = (entries: Iterable<[string, number]>, port: number): [string, number][] =>
      [...entries].map(([url, n]): [string, number] => [url.replace(`:${port}`, ''), n]).sort();
    expect(bare(second.statuses, other.port)).toEqual(bare(first.statuses, one.port));
    expect(bare(second.bytes, other.port)).toEqual(bare(first.bytes, one.port));
  });

  it('is served on any host, for any agent', async () => {
    const server = await serve({ web: practiceWeb({ hosts: 8, pages: 60 }) });
    const got = await get(`http://127.0.0.1:${server.port}/__truth`, agent);
    expect(JSON.parse(got.body.toString())).toEqual(server.truth());
    const stranger = await get(`http://host-0001.practice.test:${server.port}/__truth?agent=Stranger`, agent);
    expect(JSON.parse(stranger.body.toString())).toEqual(server.truth('Stranger'));
    expect(starts(eventsOf(server.log.text()))).toEqual([]);
  });
});

describe('faults', () => {
  const web = practiceWeb({ profile: 'faulty', hosts: 20, pages: 1_500, hopeless: true });

  it('heal: each failure is met once, in order, and then the page is right for ever', async () => {
    const server = await serve({ web });
    for (const kind of ['status', 'reset', 'truncation'] as const) {
      const url = urlOf(
        web,
        server.port,
        ({ behaviour }) => behaviour.failures[0]?.kind === kind && behaviour.final.kind === 'page',
      );
      const first = await get(url, agent).catch(() => 'broken' as const);
      if (kind === 'status') expect(first === 'broken' ? 0 : first.status).toBeGreaterThanOrEqual(429);
      else expect(first).toBe('broken');
      await get(url, agent).catch(() => undefined);
      for (let again = 0; again < 3; again++) expect((await get(url, agent)).status).toBe(200);
    }
    expect(server.stats().faults).toMatchObject({ reset: 1, truncation: 1 });
  });

  it('say Retry-After on 429, on the wire and in the witness', async () => {
    const server = await serve({ web });
    const url = urlOf(
      web,
      server.port,
      ({ behaviour: { failures } }) => failures[0]?.kind === 'status' && failures[0].status === 429,
    );
    const got = await get(url, agent);
    expect([got.status, got.headers['retry-after']]).toEqual([429, '1']);
    expect(ends(eventsOf(server.log.text()))).toMatchObject([{ s: 429, how: 'done', ra: 1 }]);
  });

  it.each(['plain', 'gzip', 'brotli', 'chunked', 'close', 'hang-up', 'wrong-charset', 'big', 'slow', 'drip'] as const)(
    '%s pages arrive whole',
    async (kind) => {
      const server = await serve({ web });
      const url = urlOf(
        web,
        server.port,
        ({ behaviour: { final, failures } }) =>
          final.kind === 'page' && final.delivery.kind === kind && failures.length === 0,
      );
      const got = await get(url, agent);
      expect(got.status).toBe(200);
      expect(got.body.toString('utf8', 0, 15)).toBe('<!doctype html>');
      expect(got.body.toString('utf8', got.body.length - 8)).toBe('</html>\n');
      if (kind === 'big') expect(got.body.length).toBe(1_048_576);
      if (kind === 'gzip') expect(got.headers['content-encoding']).toBe('gzip');
      if (kind === 'brotli') expect(got.headers['content-encoding']).toBe('br');
      if (kind === 'chunked') expect(got.headers['transfer-encoding']).toBe('chunked');
      if (kind === 'close') expect(got.headers.connection).toBe('close');
      if (kind !== 'slow' && kind !== 'drip') expect((await get(url, new Agent())).body.equals(got.body)).toBe(true);
    },
  );

  it('never-ending pages end at their bound, or when the client has had enough', async () => {
    const server = await serve({ web, endlessMs: 300 });
    const url = urlOf(
      web,
      server.port,
      ({ behaviour: { final, failures } }) => final.kind === 'endless' && failures.length === 0,
    );
    expect((await get(url, agent)).status).toBe(200);
    const patience = new AbortController();
    setTimeout(() => patience.abort(), 50);
    await expect(get(url, agent, patience.signal)).rejects.toThrow();
    await expect.poll(() => ends(eventsOf(server.log.text()))).toMatchObject([{ how: 'done' }, { how: 'abort' }]);
  });
});

describe('witness', () => {
  it('sees a client leave before the answer', async () => {
    const web = practiceWeb({ profile: 'faulty', hosts: 20, pages: 600 });
    const server = await serve({ web });
    const url = urlOf(
      web,
      server.port,
      ({ behaviour: { final, failures } }) =>
        final.kind === 'page' && final.delivery.kind === 'slow' && failures.length === 0,
    );
    const patience = new AbortController();
    const asked = get(url, agent, patience.signal);
    await expect.poll(() => server.stats().open).toBe(1);
    patience.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => ends(eventsOf(server.log.text()))).toMatchObject([{ s: null, how: 'abort' }]);
    expect(server.stats()).toMatchObject({ requests: 1, open: 0 });
  });

  it('writes a start and an end for each request, in the order of one clock, also to a file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'practice-'));
    const logFile = join(directory, 'witness.jsonl');
    const server = await serve({ web: practiceWeb({ profile: 'faulty', hosts: 12, pages: 120 }), logFile });
    await crawlAll(server.truth().seeds, { ...CRAWL, next: (due) => due.shift() ?? '' });
    const stats = server.stats();
    await server.close();
    const events = eventsOf(readFileSync(logFile, 'utf8'));
    rmSync(directory, { recursive: true });
    expect(starts(events)).toHaveLength(stats.requests);
    expect(ends(events)).toHaveLength(stats.requests);
    expect(events.every((event, n) => n === 0 || event.t >= (events[n - 1]?.t ?? 0))).toBe(true);
    const robots = events.filter((event) => event.e === 'E' && event.rb !== undefined);
    expect(robots.length).toBeGreaterThan(0);
    expect(events.filter((event) => event.e === 'E' && event.how === 'reset').length).toBe(
      (stats.faults.reset ?? 0) + (stats.faults.truncation ?? 0),
    );
  });

  it('takes marks of kills and boots, and no others', async () => {
    const server = await serve({ web: practiceWeb() });
    expect(await post(server.port, '/__mark?e=K')).toBe(200);
    expect(await post(server.port, '/__mark?e=B')).toBe(200);
    expect(await post(server.port, '/__mark?e=S')).toBe(400);
    expect(eventsOf(server.log.text()).map((event) => event.e)).toEqual(['K', 'B']);
  });
});

describe('aimed kills', () => {
  /** A process that does nothing, until it is killed. */
  function victim(): { pid: number; died: Promise<NodeJS.Signals | null> } {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    if (child.pid === undefined) throw new Error('no process');
    return { pid: child.pid, died: new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal))) };
  }

  it.each(['request', 'middle', 'after'] as const satisfies readonly Moment[])(
    '%s: SIGKILL at the n-th request, noted between the right events',
    async (moment) => {
      const server = await serve({ web: practiceWeb({ profile: 'flat', hosts: 1, pages: 1 }), allowKills: true });
      const { pid, died } = victim();
      const url = server.truth().seeds[0] ?? '';
      expect(await post(server.port, `/__arm?pid=${pid}&requests=2&moment=${moment}`)).toBe(200);
      await get(url, agent);
      expect(server.stats().kills).toBe(0);
      await get(url, agent);
      expect(await died).toBe('SIGKILL');
      const expected = { request: 'SESKE', middle: 'SESKE', after: 'SESEK' }[moment];
      expect(
        eventsOf(server.log.text())
          .map((event) => event.e)
          .join(''),
      ).toBe(expected);
      expect(server.stats()).toMatchObject({ kills: 1, killsMissed: 0 });
    },
  );

  it('kills in series from a pid file, and no pid twice', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'practice-'));
    const pidFile = join(directory, 'pid');
    const server = await serve({
      web: practiceWeb({ profile: 'flat', hosts: 1, pages: 1 }),
      kills: { victim: { pidFile }, everyRequests: 1, moment: 'any' },
    });
    const url = server.truth().seeds[0] ?? '';
    await get(url, agent);
    expect(server.stats()).toMatchObject({ kills: 0, killsMissed: 1 });
    for (let round = 0; round < 2; round++) {
      const { pid, died } = victim();
      writeFileSync(pidFile, `${pid}\n`);
      await get(url, agent);
      expect(await died).toBe('SIGKILL');
    }
    await get(url, agent);
    rmSync(directory, { recursive: true });
    await expect.poll(() => server.stats()).toMatchObject({ kills: 2, killsMissed: 2 });
  });

  it('are refused over HTTP unless they were allowed, and never aim at the server', async () => {
    const shy = await serve({ web: practiceWeb() });
    expect(await post(shy.port, `/__arm?pid=${process.pid}&requests=1&moment=request`)).toBe(403);
    const server = await serve({ web: practiceWeb(), allowKills: true });
    expect(await post(server.port, '/__arm?pid=1&requests=1&moment=request')).toBe(400);
    expect(await post(server.port, `/__arm?pid=${process.pid}&requests=1&moment=never`)).toBe(400);
    expect(await post(server.port, `/__arm?pid=${process.pid}&requests=1&moment=request`)).toBe(200);
    await get(server.truth().seeds[0] ?? '', agent);
    expect(server.stats()).toMatchObject({ kills: 0, killsMissed: 1 });
  });
});

describe('hosts', () => {
  it('are told apart by the Host header, whatever its case, dot or port; others are unknown', async () => {
    const server = await serve({ web: practiceWeb({ hosts: 2, pages: 2 }) });
    const one = await get(`http://host-0001.practice.test:${server.port}/`, agent);
    expect(one.body.toString()).toContain('host-0001.practice.test</title>');
    expect((await get(`http://host-0002.practice.test.:${server.port}/`, agent)).body.toString()).toContain(
      'host-0002.practice.test</title>',
    );
    expect((await get(`http://host-0003.practice.test:${server.port}/`, agent)).status).toBe(404);
  });
});
