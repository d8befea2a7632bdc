/** `dead` and `redrive` as they are typed: against a store at rest and against a crawl that runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orbweaver-redrive-cli-'));
const data = join(folder, 'data');
const children = new Set<ChildProcess>();
const PAGES = 12;
let isWell = false;
let origin = '';

const SETTINGS: Readonly<Record<string, unknown>> = {
  'guard.allow': ['127.0.0.0/8'],
  'politeness.delayMs': 1,
  'politeness.adaptiveFactor': 0,
  'politeness.addressDelayMs': 0,
  'retry.delaysSeconds': [0.01],
  'retry.deliveriesMax': 2,
  'breaker.failures': 1_000,
  'egress.guard': false,
};
const sets = Object.entries(SETTINGS).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`]);

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  response.setHeader('content-type', 'text/html');
  if (path === '/robots.txt') return void response.writeHead(404).end();
  if (path === '/') {
    const links = Array.from({ length: PAGES }, (_, i) => `<a href="/p${i}">${i}</a>`);
    return void response.end(links.join(' '));
  }
  if (!isWell) return void response.writeHead(500).end('no');
  response.end(`<p>Words of ${path}, a few of them.`);
});

async function called(...words: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...words, '--data', data], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const texts = { out: '', err: '' };
  child.stdout.on('data', (piece) => (texts.out += piece));
  child.stderr.on('data', (piece) => (texts.err += piece));
  const [exit] = (await once(child, 'close')) as [number | null];
  children.delete(child);
  const json = (): Record<string, unknown>[] =>
    texts.out
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { exit, ...texts, json };
}

async function eventually<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 300; tries++) {
    const seen = await look();
    if (seen !== null) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`in vain: ${what}`);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await called('crawl', `${origin}/`, ...sets, '--json')).toMatchObject({ exit: 0 });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('dead and redrive, typed wrongly', () => {
  it.each([
    [['dead', '--code', 'timout'], 'usage', 'Did you mean timeout?'],
    [['redrive', '--code', 'timout'], 'usage', 'docs/dead-letters.md'],
    [['redrive', '--rate', '10'], 'usage', 'expected a rate as in 10/s'],
    [['redrive', '--rate', '0/s'], 'usage', 'expected a rate as in 10/s'],
    [['redrive', '--rate', '1000001/s'], 'usage', 'expected a rate'],
    [['redrive', '--older-than', '3 days'], 'usage', 'expected an age'],
    [['redrive', '--host', 'http://a.test/'], 'usage', 'expected a host name alone'],
    [['redrive', '--older-than', '2h', '--newer-than', '1h'], 'filter_contradictory', 'smaller one'],
    [['dead', '--older-than', '1h', '--newer-than', '1h'], 'filter_contradictory', 'smaller one'],
    [['redrive', '--cancel', '1', '--host', 'a.test'], 'usage', '--cancel stands alone'],
    [['dead', '--audit', '--host', 'a.test'], 'usage', 'takes no filter'],
    [['redrive', '--cancel', '99'], 'redrive_unknown', 'dead --audit'],
  ])('%j: %s', async (words, code, text) => {
    const { exit, err, out } = await called(...words);
    expect(err).toContain(`[${code}]`);
    expect(err).toContain(text);
    expect(exit).toBe(code === 'redrive_unknown' ? 1 : 2);
    expect(out).toBe('');
  });
});

describe('R1 dead letters of a crawl that has stopped', () => {
  it('a dry run tells what would become of each, and changes nothing', async () => {
    const dry = await called('redrive', '--dry-run', '--json');
    const lines = dry.json();
    expect(lines).toHaveLength(PAGES + 1);
    expect(lines[0]).toMatchObject({ redriven: false, reason: 'dry_run', would: 'queue' });
    expect(lines.at(-1)).toEqual({
      event: 'summary',
      dryRun: true,
      matched: PAGES,
      redriven: PAGES,
      blocked: 0,
      left: 0,
    });
    expect((await called('dead', '--json')).json()).toHaveLength(PAGES);
    expect((await called('dead', '--audit', '--json')).json()).toEqual([]);
  });

  it('what is excluded by now stays, and is told; the rest is queued; the audit says who and what', async () => {
    await called('exclude', '/p1');
    const dry = (await called('redrive', '--dry-run', '--json')).json();
    const kept = dry.filter(({ reason }) => reason === 'excluded').length;
    expect(kept).toBeGreaterThan(0);
    const { out } = await called('redrive', '--code', 'http_server_error');
    expect(out).toContain(`${PAGES - kept} of ${PAGES} dead letters are queued again; ${kept} stay dead letters`);
    const [audit] = (await called('dead', '--audit', '--json')).json();
    expect(audit).toMatchObject({
      ...{ number: 1, way: 'command', rate: null, stage: 'done', matched: PAGES, redriven: PAGES - kept, blocked: 0 },
      ...{ left: { excluded: kept }, ahead: 0, filter: { host: null, code: 'http_server_error' } },
    });
    expect(audit?.['who']).toMatch(/.@./);
    await called('exclude', '/p1', '--remove');
    expect((await called('redrive', '--code', 'timeout')).out).toContain('nothing was changed');
  });
});

describe('R1 dead letters of a crawl that runs', () => {
  it('are listed, brought back at a rate, cancelled, and fetched when they are mended', async () => {
    const daemon = spawn(process.execPath, [PROGRAM, 'daemon', '--data', data, ...sets], { stdio: 'ignore' });
    children.add(daemon);
    // Asked before it has its store, a command would open that itself, and the daemon find it locked.
    await eventually('it listens', async () => (existsSync(join(data, 'control.sock')) ? true : null));
    await eventually('all are dead again', async () => {
      const status = (await called('status', '--json')).json()[0];
      return status?.['state'] !== 'stopped' && status?.['dead'] === PAGES ? status : null;
    });
    expect((await called('dead', '--json')).json()).toHaveLength(PAGES);
    isWell = true;
    const slow = (await called('redrive', '--rate', '1/h', '--json')).json();
    expect(slow.at(-1)).toMatchObject({ number: 2, matched: PAGES, redriven: 1, ahead: PAGES - 1, stage: 'going' });
    expect((await called('redrive', '--cancel', '2', '--json')).json()[0]).toMatchObject({
      stage: 'cancelled',
      redriven: 1,
    });
    const rest = (await called('redrive', '--json')).json();
    expect(rest.at(-1)).toMatchObject({ number: 3, matched: PAGES - 1, redriven: PAGES - 1, stage: 'done', ahead: 0 });
    expect(rest.filter(({ redriven }) => redriven === true)).toHaveLength(PAGES - 1);
    await eventually('all are fetched', async () => {
      const status = (await called('status', '--json')).json()[0];
      return status?.['archivedPages'] === PAGES + 1 && status['dead'] === 0 ? status : null;
    });
    const { out } = await called('dead', '--audit');
    expect(out).toContain('cancelled');
    expect(out.split('\n')[1]).toMatch(/^\s*3 /);
    const exited = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await exited;
  }, 120_000);
});
