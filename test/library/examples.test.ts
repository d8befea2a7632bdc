/** The examples as a reader runs them: by node, from the package, as it is built. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { type LoopbackSite, openSite } from './loopback-site.js';

const open: LoopbackSite[] = [];
afterEach(async () => {
  for (const site of open.splice(0)) await site.close();
});

async function runExample(name: string, ...words: string[]): Promise<string[]> {
  const path = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...words], { timeout: 50_000 });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

async function site(answers: Parameters<typeof openSite>[0] = {}): Promise<LoopbackSite> {
  const opened = await openSite(answers);
  open.push(opened);
  return opened;
}

it('titles.mjs prints as many titles as are wanted, of a site without an end', async () => {
  const { origin } = await site();
  const lines = await runExample('titles.mjs', `${origin}/0`, 'TitleBot/1.0', '12');
  expect(lines[0]).toBe(`Page 0\t${origin}/0`);
  expect(lines.slice(0, -1).every((line) => /^Page (\d+)\thttp:.*\/\1$/.test(line))).toBe(true);
  expect(new Set(lines).size).toBe(13);
  expect(lines.at(-1)).toMatch(/^12 titles, \d+ requests$/);
});

it('json-links.mjs follows the links of JSON documents by its own handler, and goes on after a stop', async () => {
  const document = (value: object) => ({ type: 'application/json', body: JSON.stringify(value) });
  const { origin, asked } = await site({
    '/index.json': document({ name: 'index', items: [{ href: 'a.json' }, { href: '/drafts/1.json' }], next: 'b.json' }),
    '/a.json': document({ name: 'a', description: 'of tulips' }),
    '/b.json': { type: 'application/json', body: 'no JSON' },
  });
  const lines = await runExample('json-links.mjs', `${origin}/index.json`);
  const [first, second, ...rest] = lines;
  expect([first, second]).toEqual(['page /index.json "index" {"items":2}', 'stopped after /index.json, 2 queued']);
  expect(rest.filter((line) => !line.startsWith('then')).sort()).toEqual([
    expect.stringMatching(/^The crawl does not take this URL: .* \[filtered\]\.$/),
    expect.stringMatching(/^error \[plugin_failed\] json-content\.mjs: SyntaxError: /),
    'page /a.json "a" {"items":0}',
    'page /b.json "null" null',
  ]);
  expect(lines).toContain('then 2 more: done');
  expect([...asked].sort()).toEqual(['/a.json', '/b.json', '/index.json']);
});
