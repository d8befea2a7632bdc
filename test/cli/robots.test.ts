import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { robotsCommand } from '../../src/cli/robots.js';
import type { CommandError } from '../../src/cli/terminal.js';

type Part = string | readonly [string, number];
interface Case {
  readonly id: string;
  readonly tier: string;
  readonly kind: 'allowed' | 'crawlDelay' | 'sitemaps';
  readonly robots: string;
  readonly robotsEncoding?: 'base64';
  readonly robotsGen?: readonly Part[];
  readonly robotsUrl?: string;
  readonly ua: string;
  readonly url: string;
  readonly urlGen?: readonly Part[];
  readonly expected: unknown;
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(new URL('../policy/robots/cases.json', import.meta.url), 'utf8'),
);
const concatenated = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join('');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-robots-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is printed, a line each. */
async function run(...words: string[]): Promise<string[]> {
  const lines: string[] = [];
  const terminal = { print: (line: string) => void lines.push(line), note: () => {} };
  const command = robotsCommand(terminal)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  await command.parseAsync(words, { from: 'user' });
  return lines;
}

function written(contents: string | Buffer): string {
  const path = join(folder, 'robots.txt');
  writeFileSync(path, contents);
  return path;
}

const refusal = (promise: Promise<unknown>): Promise<CommandError> =>
  promise.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => error as CommandError,
  );

describe('orbweaver robots', () => {
  it('decides every case of the regression set as it is expected', async () => {
    let checks = 0;
    for (const one of CASES.filter(({ tier }) => tier !== 'info')) {
      const url = one.urlGen === undefined ? one.url : concatenated(one.urlGen);
      const text = one.robotsGen === undefined ? one.robots : concatenated(one.robotsGen);
      const file = written(one.robotsEncoding === 'base64' ? Buffer.from(text, 'base64') : text);
      const at = one.robotsUrl === undefined ? [] : ['--robots-url', one.robotsUrl];
      const [line = ''] = await run(url, '--file', file, '--agent', one.ua, '--json', ...at);
      const told = JSON.parse(line);
      const answer = { allowed: told.allowed, crawlDelay: told.crawlDelaySeconds, sitemaps: told.sitemaps }[one.kind];
      expect(answer, one.id).toEqual(one.expected);
      checks += 1;
    }
    expect(checks).toBeGreaterThan(230);
  });

  it('its JSON has the fields of the contract, one object a URL', async () => {
    const file = written('User-agent: *\nCrawl-delay: 2\nDisallow: /private # for us\nSitemap: /map.xml\n');
    const lines = await run(
      'https://a.example/private/x',
      'https://a.example/',
      '--file',
      file,
      '--agent',
      'x',
      '--json',
    );
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        url: 'https://a.example/private/x',
        allowed: false,
        rule: { line: 3, text: 'Disallow: /private # for us' },
        crawlDelaySeconds: 2,
        sitemaps: ['https://a.example/map.xml'],
        remark: null,
      },
      {
        url: 'https://a.example/',
        allowed: true,
        rule: null,
        crawlDelaySeconds: 2,
        sitemaps: ['https://a.example/map.xml'],
        remark: null,
      },
    ]);
  });

  it('says the line that decides, that none does, or that the file has no say', async () => {
    const file = written('User-agent: *\nDisallow: /private\n');
    const said = await run(
      'https://a.example/private',
      '--file',
      file,
      '--agent',
      'ExampleBot/1.0 (+https://b.example/)',
    );
    expect(said).toEqual(['disallowed  https://a.example/private', '  line 2: Disallow: /private']);
    expect(await run('https://a.example/', '--file', file, '--agent', 'x')).toContain('  no line speaks of it');
    const other = ['--robots-url', 'https://b.example/robots.txt'];
    expect((await run('https://a.example/private', '--file', file, '--agent', 'x', ...other))[0]).toMatch(/^no say/);
  });

  it('U12: a trailing dot makes no other origin', async () => {
    const file = written('User-agent: *\nDisallow: /private\n');
    const at = ['--robots-url', 'https://a.example/robots.txt'];
    const [line = ''] = await run('https://a.example.:443/private', '--file', file, '--agent', 'x', '--json', ...at);
    expect(JSON.parse(line).allowed).toBe(false);
  });

  it('refuses what it can not use, as wrong usage', async () => {
    const file = written('');
    const refusals = [
      [['https://a.example/', '--file', join(folder, 'none'), '--agent', 'x'], 'file_unreadable'],
      [['https://a.example/', '--file', folder, '--agent', 'x'], 'file_unreadable'],
      [['https://a.example/', '--file', file, '--agent', 'Bot2'], 'agent_invalid'],
      [['/private', '--file', file, '--agent', 'x'], 'url_invalid'],
      [['ftp://a.example/', '--file', file, '--agent', 'x'], 'url_invalid'],
      [['https://a.example/', '--file', file, '--agent', 'x', '--robots-url', 'robots.txt'], 'url_invalid'],
    ] as const;
    for (const [words, code] of refusals) {
      const error = await refusal(run(...words));
      expect([error.code, error.exit]).toEqual([code, 2]);
      expect(error.where).not.toBeNull();
    }
  });
});
