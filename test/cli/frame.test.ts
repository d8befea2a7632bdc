import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { wholeNumber } from '../../src/cli/options.js';
import { run } from '../../src/cli/run.js';
import { CommandError, type CommandFactory, EXIT } from '../../src/cli/terminal.js';
import { OPTIONS } from '../../src/config/schema.js';
import { StoreError } from '../../src/protocols/ports.js';

const folder = mkdtempSync(join(tmpdir(), 'orbweaver-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function called(words: readonly string[], commands: readonly CommandFactory[] = COMMANDS) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { print: (line: string) => void out.push(line), note: (line: string) => void err.push(line) };
  return { exit: await run(words, terminal, commands), out, err };
}

const throwing =
  (error: unknown): CommandFactory =>
  () =>
    new Command('go').action(() => {
      throw error;
    });

describe('exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted', () => {
  it.each([[['--help']], [['config', '--help']], [['--version']]])('0, on standard output: %j', async (words) => {
    const { exit, out, err } = await called(words);
    expect([exit, err]).toEqual([EXIT.done, []]);
    expect(out.join('\n')).toMatch(/Usage: orbweaver|^\d+\.\d+\.\d+$/);
  });

  it.each([[[]], [['confog']], [['--frobnicate']], [['config', '--frobnicate']], [['config', '--set']]])(
    '2, on standard error: %j',
    async (words) => {
      const { exit, out, err } = await called(words);
      expect([exit, out]).toEqual([EXIT.usage, []]);
      expect(err.join('\n')).not.toBe('');
    },
  );

  it('a mistyped command is answered with the one that was meant', async () => {
    expect((await called(['confog'])).err.join('\n')).toContain('Did you mean config?');
  });

  it('a URL where a command has to be is answered with the command for it', async () => {
    expect((await called(['example.org'])).err.join('\n')).toContain('crawl http://example.org/');
    expect(await called(['help', 'nosuch'])).toMatchObject({ exit: EXIT.usage, out: [] });
  });

  it('what a command says it ended with', async () => {
    const command: CommandFactory = (_, ended) => new Command('go').action(() => ended(EXIT.interrupted));
    expect((await called(['go'], [command])).exit).toBe(130);
  });

  it('an error says what, where and what to do', async () => {
    const foreseen = new CommandError(
      'file_unreadable',
      'there is no such file',
      EXIT.usage,
      'a.yaml',
      'check the path',
    );
    expect(await called(['go'], [throwing(foreseen)])).toEqual({
      exit: 2,
      out: [],
      err: ['orbweaver: there is no such file [file_unreadable]', '  at: a.yaml', '  do: check the path'],
    });
    const store = new StoreError('store_locked', 'another process has it open', { where: 'crawls/a', advice: 'wait' });
    expect(await called(['go'], [throwing(store)])).toMatchObject({
      exit: 1,
      err: ['orbweaver: another process has it open [store_locked]', '  at: crawls/a', '  do: wait'],
    });
    const fault = await called(['go'], [throwing(new TypeError('x is not y'))]);
    expect(fault.exit).toBe(1);
    expect(fault.err[0]).toMatch(/^orbweaver: TypeError: x is not y\n[\s\S]+\[internal\]$/);
  });
});

describe('config', () => {
  it('--json: one object a line, each option once, with value and origin', async () => {
    const { exit, out, err } = await called(['config', '--json', '--set', 'fetch.slots=64', '--set', 'scope=any']);
    expect([exit, err]).toEqual([0, []]);
    const options = out.map((line) => JSON.parse(line));
    expect(options.map(({ key }) => key)).toEqual([...OPTIONS.keys()]);
    expect(options.find(({ key }) => key === 'fetch.slots')).toEqual({
      key: 'fetch.slots',
      value: 64,
      origin: '--set fetch.slots=64',
      unit: 'requests',
      allowed: 'a whole number from 1 to 4096 (requests)',
      variable: 'ORBWEAVER_FETCH_SLOTS',
      description: 'Requests at once.',
    });
  });

  it('reads a file, and shows only what was asked for', async () => {
    const path = join(folder, 'crawl.yaml');
    writeFileSync(path, 'robots:\n  timeoutMs: 5000\n');
    const { out } = await called(['config', 'robots', 'scope', '--config', path]);
    expect(out).toContain(`robots.timeoutMs = 5000  # ${path}:2:14`);
    expect(out).toContain('scope = "site"  # default');
    expect(out.filter((line) => / {2}# /.test(line) && !/^(robots\.|scope )/.test(line))).toEqual([]);
  });

  it('wrong usage: an unknown option, a bad value, a file that is not there', async () => {
    expect(await called(['config', 'fetch.slot'])).toMatchObject({ exit: 2, out: [] });
    const bad = await called(['config', '--set', 'fetch.slots=0']);
    expect(bad.exit).toBe(2);
    expect(bad.err.slice(0, 2)).toEqual([
      'orbweaver: fetch.slots takes a whole number from 1 to 4096 (requests); it was given 0 [config_invalid]',
      '  at: --set fetch.slots=0',
    ]);
    const absent = await called(['config', '--config', join(folder, 'absent.yaml')]);
    expect(absent).toMatchObject({
      exit: 2,
      err: ['orbweaver: there is no such file [file_unreadable]', expect.any(String), expect.any(String)],
    });
  });
});

it('a whole number of the command line holds at its bounds and not beyond', () => {
  const parse = wholeNumber(1, 65_535);
  expect([parse('1'), parse('65535')]).toEqual([1, 65_535]);
  for (const text of ['0', '65536', '-1', '1.5', '1e3', '', ' 1', 'x'])
    expect(() => parse(text)).toThrow('from 1 to 65535');
});
