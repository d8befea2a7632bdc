import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { run } from '../../src/cli/run.js';

async function called(...words: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { print: (line: string) => void out.push(line), note: (line: string) => void err.push(line) };
  return { exit: await run(words, terminal, COMMANDS), out, err };
}

describe('crawl: its seeds', () => {
  // The contact rule comes after the seeds have been read, and before anything is opened.
  it.each([
    ['site.test', 'no_contact'],
    ['site.test:8080', 'no_contact'],
    ['site.test:8080/path?a=b', 'no_contact'],
    ['https://site.test/', 'no_contact'],
    ['mailto:x', 'url_scheme'],
    ['ftp://site.test/', 'url_scheme'],
    ['site.test:http', 'url_scheme'],
    ['site.test:99999', 'url_invalid'],
  ])('reads the seed %s: %s', async (seed, code) => {
    const { exit, err } = await called('crawl', seed);
    expect(exit).toBe(2);
    expect(err.join('\n')).toContain(`[${code}]`);
  });
});

describe('canonical', () => {
  it('--json: input, canonical, reason, steps', async () => {
    const { exit, out } = await called('canonical', '--json', '--base', 'http://site.test/a/', 'b#c', 'mailto:x');
    expect(exit).toBe(0);
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        input: 'b#c',
        canonical: 'http://site.test/a/b',
        reason: null,
        steps: [
          { rule: 'resolve', before: 'b#c', after: 'http://site.test/a/b#c' },
          { rule: 'drop-fragment', before: 'http://site.test/a/b#c', after: 'http://site.test/a/b' },
        ],
      },
      { input: 'mailto:x', canonical: null, reason: 'url_scheme', steps: [] },
    ]);
  });

  it('for people: each rule in words, and why one is refused', async () => {
    const { out } = await called('canonical', 'http://site.test/#a', 'mailto:x');
    expect(out.join('\n')).toContain('without the fragment');
    expect(out).toContain('  = http://site.test/');
    expect(out).toContain('  = refused: not an http or https URL [url_scheme]');
  });

  it('wrong usage: no URL, or a base that is none', async () => {
    expect((await called('canonical')).exit).toBe(2);
    expect((await called('canonical', '--base', '/x', 'y')).exit).toBe(2);
  });
});

describe('practice', () => {
  it('wrong usage: a port out of bounds, a profile that is none, fewer pages than hosts', async () => {
    expect((await called('practice', '--port', '65536')).exit).toBe(2);
    expect((await called('practice', '--profile', 'kind')).exit).toBe(2);
    const { exit, err } = await called('practice', '--hosts', '3', '--pages', '2');
    expect(exit).toBe(2);
    expect(err[0]).toContain('[practice_settings]');
  });

  it('serves until it is interrupted, then ends with 130', async () => {
    const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
    const child = spawn(
      process.execPath,
      [program, 'practice', '--json', '--hosts', '2', '--pages', '6', '--seed', '7'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const exited = once(child, 'exit');
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const told = JSON.parse(line);
    expect(told).toMatchObject({ event: 'listening', hosts: 2, pages: 6, profile: 'ordinary', seed: 7 });
    const truth = (await (await fetch(told.truth)).json()) as { seeds: string[] };
    expect(truth.seeds).toEqual(told.seeds);
    child.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
  });
});

describe('crawl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-crawl-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'file');
  writeFileSync(file, 'no folder and no certificate\n');
  const seed = 'http://127.0.0.1:9/';

  it.each([
    ['a bare word', ['notaurl'], 'url_invalid'],
    ['an actor that is none', [seed, '--fault', 'nonsense'], 'fault_invalid'],
    ['a message that is none', [seed, '--fault', 'frontier:toString'], 'fault_invalid'],
    ['a group that is meant as a whole', [seed, '--fault', 'hosts'], 'fault_invalid'],
    ['no file of authorities', [seed, '--set', `tls.ca=${file}.pem`], 'config_invalid'],
    ['no certificate in it', [seed, '--set', `tls.ca=${file}`], 'config_invalid'],
    ['a folder as configuration', [seed, '--config', folder], 'file_unreadable'],
    ['events without JSON', [seed, '--events'], 'option_unused'],
    ['scope any without a contact', [seed, '--scope', 'any'], 'no_contact'],
  ])('wrong usage: %s', async (_, words, code) => {
    const { exit, err } = await called('crawl', ...words);
    expect([exit, err[0]]).toEqual([2, expect.stringContaining(`[${code}]`)]);
    expect(err.slice(1).map((line) => line.slice(0, 5))).toEqual(['  at:', '  do:']);
  });

  it.each([
    ['log', ['--log', join(file, 'a.log')], 'file_unwritable'],
    ['data directory', ['--data', file], 'store_blocked'],
  ])('a file in the way of the %s is told as such', async (_, words, code) => {
    const { exit, err } = await called('crawl', seed, ...words);
    expect([exit, err[0]]).toEqual([1, expect.stringContaining(`[${code}]`)]);
    expect(err.slice(1).map((line) => line.slice(0, 5))).toEqual(['  at:', '  do:']);
  });

  it('a crawl whose only seed the guard refuses has failed, and says what allows it', async () => {
    const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
    const child = spawn(process.execPath, [program, 'crawl', seed, '--data', join(folder, 'data'), '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { out: '', err: '' };
    child.stdout.on('data', (chunk) => (texts.out += chunk));
    child.stderr.on('data', (chunk) => (texts.err += chunk));
    expect(await once(child, 'close')).toEqual([1, null]);
    const lostSeeds = [{ url: seed, outcome: 'refused', code: 'guard_refused' }];
    expect(JSON.parse(texts.out)).toMatchObject({ event: 'summary', fetched: 0, refused: 1, lostSeeds });
    expect(texts.err).toContain(`--set guard.allow='["127.0.0.0/8"]'`);
  });
});
