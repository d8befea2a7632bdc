/** Commands against real crawls: processes of their own, on the practice web. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orbweaver-commands-'));
const children = new Set<ChildProcess>();

const settings = {
  'dns.hosts': { '*.practice.test': '127.0.0.1' },
  'guard.allow': ['127.0.0.0/8'],
  'politeness.delayMs': 2_000,
  'politeness.adaptiveFactor': 0,
  'politeness.addressDelayMs': 0,
  userAgent: 'ExampleBot/1.0 (+https://bot.example/)',
};
const sets = Object.entries(settings).flatMap(([key, value]) => [
  '--set',
  `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
]);

function start(...words: string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

/** A line of a stream that has `text` in it. */
async function lineOf(stream: NodeJS.ReadableStream | null, text: string): Promise<string> {
  for await (const line of createInterface(stream as NodeJS.ReadableStream)) if (line.includes(text)) return line;
  throw new Error(`it ended without a line that has ${text}`);
}

async function called(...words: string[]) {
  const child = start(...words);
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (piece) => (texts.out += piece));
  child.stderr?.on('data', (piece) => (texts.err += piece));
  const [exit] = (await once(child, 'close')) as [number | null];
  const json = () =>
    texts.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { exit, ...texts, json };
}

let seeds: string[] = [];

/** Runs until it is killed; resolves when its control answers. */
async function daemon(data: string, ...more: string[]): Promise<ChildProcess> {
  const child = start('daemon', ...more, '--data', data, '--scope', 'any', ...sets);
  const line = JSON.parse(await lineOf(child.stderr, 'daemon_started'));
  expect(line).toMatchObject({ pid: child.pid, dataDir: data, socket: join(data, 'control.sock') });
  child.stderr?.resume();
  return child;
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals) {
  const exited = once(child, 'exit');
  child.kill(signal);
  return exited;
}

beforeAll(async () => {
  const web = start('practice', '--json', '--hosts', '4', '--pages', '60', '--agent', 'ExampleBot');
  seeds = JSON.parse(await lineOf(web.stdout, 'listening')).seeds;
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('a running crawl', () => {
  const data = join(folder, 'running');
  let crawl: ChildProcess;
  const ask = (...words: string[]) => called(...words, '--data', data);
  beforeAll(async () => {
    crawl = await daemon(data, seeds[0] as string);
  }, 30_000);

  it('status, hosts, host and tree answer while it runs, the same to people and programs', async () => {
    const status = (await ask('status', '--json')).json()[0];
    expect(status).toMatchObject({ dataDir: data, run: { pid: crawl.pid }, reasons: [] });
    expect(['running', 'idle']).toContain(status.state);
    const name = new URL(seeds[0] as string).hostname;
    const hosts = (await ask('hosts', '--state', 'all', '--json')).json();
    expect(hosts.map((row: { name: string }) => row.name)).toContain(name);
    expect((await ask('host', name, '--json')).json()[0]).toMatchObject({ name, delay: { configuredMs: 2_000 } });
    expect((await ask('tree')).out).toMatch(/recorder .*\[\d+ messages, \d+ waiting, 0 restarts\]/);
    const words = await ask('host', name);
    expect([words.exit, words.err]).toEqual([0, '']);
    expect(words.out).toContain('2 s: the longest of 2 s as configured');
  }, 30_000);

  it('pause lets no request begin, resume does; both may be said twice', async () => {
    expect((await ask('pause', '--json')).json()).toEqual([{ state: 'paused', changed: true }]);
    expect((await ask('pause', '--json')).json()).toEqual([{ state: 'paused', changed: false }]);
    const before = (await ask('status', '--json')).json()[0];
    expect(before).toMatchObject({ state: 'paused', reasons: ['paused'] });
    await ask('seed', ...seeds);
    expect((await ask('status', '--json')).json()[0].requests).toBe(before.requests);
    expect((await ask('resume', '--json')).json()).toEqual([{ state: 'running', changed: true }]);
    expect((await ask('status', '--json')).json()[0].reasons).toEqual([]);
  }, 30_000);

  it('D1, A07: seeds of a file enter in one commit, each line has its verdict, and again they change nothing', async () => {
    const file = join(folder, 'seeds.txt');
    const origin = new URL(seeds[0] as string).origin;
    writeFileSync(file, `\uFEFF# new\r\n${origin}/planted\r\n\r\nnotaurl\n10.0.0.1\n${origin}/planted#x\n`);
    const first = await ask('seed', '--file', file, '--json');
    expect(first.exit).toBe(0);
    expect(first.json()).toMatchObject([
      { line: 2, verdict: 'queued', url: `${origin}/planted` },
      { line: 4, verdict: 'refused', code: 'url_invalid' },
      { line: 5, verdict: 'refused', code: 'guard_refused' },
      { line: 6, verdict: 'known' },
      { event: 'summary', queued: 1, known: 1, refused: 2 },
    ]);
    expect((await ask('seed', '--file', file, '--json')).json().at(-1)).toMatchObject({
      queued: 0,
      known: 2,
      refused: 2,
    });
    expect((await ask('seed', 'notaurl')).exit).toBe(1);
  }, 30_000);

  it('exclude: one commit, listed, taken back; a pattern that is none is told', async () => {
    expect((await ask('exclude', '/calendar/', 'regex:\\.zip$', '--json')).json()).toEqual([
      { patterns: ['/calendar/', 'regex:\\.zip$'], configured: [], changed: true },
    ]);
    const origin = new URL(seeds[0] as string).origin;
    expect((await ask('seed', `${origin}/calendar/1`, '--json')).json()[0]).toMatchObject({ code: 'excluded' });
    expect((await ask('exclude', 'regex:\\.zip$', '--remove', '--json')).json()[0].patterns).toEqual(['/calendar/']);
    const wrong = await ask('exclude', 'regex:(');
    expect([wrong.exit, wrong.err]).toEqual([2, expect.stringContaining('[pattern_invalid]')]);
    expect((await ask('exclude', '--list')).out).toBe('/calendar/\n');
  }, 30_000);

  it('D5: a second crawl is refused, and the first one goes on being answered for', async () => {
    const second = await called('crawl', seeds[0] as string, '--data', data, ...sets);
    expect([second.exit, second.err]).toEqual([1, expect.stringContaining('[store_locked]')]);
    expect((await ask('status', '--json')).json()[0].run.pid).toBe(crawl.pid);
  }, 30_000);

  it('SIGTERM ends it after its open visits, with 130, and its socket is gone', async () => {
    expect(await stopped(crawl, 'SIGTERM')).toEqual([130, null]);
    expect(existsSync(join(data, 'control.sock'))).toBe(false);
    expect((await ask('status', '--json')).json()[0]).toMatchObject({ state: 'stopped', run: null });
  }, 60_000);

  it('D1: what is seeded while it is stopped is in the store, and known to the next run', async () => {
    const url = `${new URL(seeds[0] as string).origin}/planted-later`;
    expect((await ask('seed', url, '--json')).json().at(-1)).toMatchObject({ queued: 1 });
    crawl = await daemon(data);
    expect((await ask('seed', url, '--json')).json().at(-1)).toMatchObject({ queued: 0, known: 1 });
    await stopped(crawl, 'SIGKILL');
    expect(statSync(join(data, 'control.sock')).isSocket()).toBe(true);
  }, 60_000);

  it('D1: a pause and an exclusion of a stopped crawl hold for its next run, and survive kill -9', async () => {
    expect((await ask('pause', '--json')).json()).toEqual([{ state: 'paused', changed: true }]);
    expect((await ask('exclude', '/archive/', '--json')).json()[0].patterns).toEqual(['/calendar/', '/archive/']);
    crawl = await daemon(data, seeds[1] as string);
    expect((await ask('status', '--json')).json()[0]).toMatchObject({ state: 'paused', requests: 0 });
    await stopped(crawl, 'SIGKILL');
    expect((await ask('status', '--json')).json()[0]).toMatchObject({ state: 'stopped', reasons: ['paused'] });
    expect((await ask('exclude', '--list', '--json')).json()[0].patterns).toEqual(['/calendar/', '/archive/']);
    expect((await ask('resume', '--json')).json()).toEqual([{ state: 'stopped', changed: true }]);
  }, 60_000);

  it('kill -9 leaves a socket: commands read the store, and the next run takes its place', async () => {
    expect((await ask('status', '--json')).json()[0]).toMatchObject({ state: 'stopped' });
    crawl = await daemon(data);
    expect((await ask('status', '--json')).json()[0].run.pid).toBe(crawl.pid);
    await stopped(crawl, 'SIGKILL');
  }, 60_000);
});

describe('where there is no crawl', () => {
  const nowhere = join(folder, 'nowhere');
  it.each([['status'], ['hosts'], ['host', 'a.test'], ['pause'], ['resume'], ['seed', 'http://a.test/']])(
    '%s says so, and makes nothing',
    async (...words) => {
      const { exit, err, out } = await called(...words, '--data', nowhere);
      expect([exit, out, err]).toEqual([1, '', expect.stringContaining('[no_crawl]')]);
      expect(existsSync(nowhere)).toBe(false);
    },
  );

  it('wrong usage is another matter', async () => {
    expect((await called('hosts', '--state', 'nonsense', '--data', nowhere)).exit).toBe(2);
    expect((await called('seed', '--data', nowhere)).exit).toBe(2);
    expect((await called('exclude', '--data', nowhere)).exit).toBe(2);
    expect((await called('seed', '--file', join(folder, 'absent'), '--data', nowhere)).exit).toBe(2);
  });
});

it('every command teaches by example, with the program as it was started', async () => {
  for (const command of ['daemon', 'status', 'hosts', 'host', 'seed', 'pause', 'resume', 'exclude', 'tree']) {
    const { exit, out } = await called(command, '--help');
    expect([exit, out]).toEqual([0, expect.stringMatching(new RegExp(`Examples:\n  node \\S+main\\.js ${command}`))]);
  }
}, 30_000);

it('sim tells on Ctrl-C how far it came, and ends with 130', async () => {
  const sim = start('sim', '--seeds', '1000000', '--json');
  await lineOf(sim.stdout, 'traceHash');
  sim.stdout?.resume();
  const word = lineOf(sim.stderr, 'Interrupted');
  expect(await stopped(sim, 'SIGINT')).toEqual([130, null]);
  expect(await word).toMatch(/^Interrupted: \d+ of 1000000 universes done, 0 violations\.$/);
}, 30_000);

it.skipIf(!existsSync('/proc/self'))('a place where no folder can be made is told at once', async () => {
  const log = await called('crawl', 'http://127.0.0.1:9/', '--log', '/proc/x/y');
  expect([log.exit, log.err]).toEqual([1, expect.stringContaining('[file_unwritable]')]);
  const data = await called('crawl', 'http://127.0.0.1:9/', '--data', '/proc/x/y');
  expect([data.exit, data.err]).toEqual([1, expect.stringContaining('at: /proc/x')]);
});

describe('a crawl that ends before its control listens', () => {
  it('exits all the same, and leaves no socket', async () => {
    const words = ['--exclude', '/', '--set', 'guard.allow=["127.0.0.0/8"]'];
    for (let i = 0; i < 4; i++) {
      const data = join(folder, `quick-${i}`);
      const { exit, err } = await called('crawl', 'http://127.0.0.1:9/', '--data', data, ...words);
      expect([exit, err]).toEqual([1, expect.stringContaining('[excluded]')]);
      expect(existsSync(join(data, 'control.sock'))).toBe(false);
    }
  }, 120_000);
});
