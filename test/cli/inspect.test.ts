import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { run } from '../../src/cli/run.js';
import { parse } from '../../src/page/parse.js';
import { pageOf, taskOf } from '../page/tasks.js';

const folder = mkdtempSync(join(tmpdir(), 'orbweaver-inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function called(...words: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { print: (line: string) => void out.push(line), note: (line: string) => void err.push(line) };
  return { exit: await run(['inspect', ...words], terminal, COMMANDS), out, err };
}

const URL_OPTION = ['--url', 'http://site.example/dir/page'];

const SOURCE = `<!doctype html><title> A  page </title><base href=/base/>
<meta name=robots content=noindex><link rel=canonical href=/page><link rel=stylesheet href=s.css>
<link rel=alternate hreflang=tr href=/tr><link rel=preconnect href=//cdn.example>
<p>Words <a href=next rel=next>next</a> <a href=no rel="nofollow ugc">no</a> <a href=mailto:a@b>mail</a>
<img src=a.png srcset="b.png 2x"><form action=/s><input name=q></form>`;

describe('inspect --json', () => {
  it('tells what the engine sees, every link and whether it is followed', async () => {
    const { exit, out } = await called(file('page.html', SOURCE), ...URL_OPTION, '--json');
    expect(exit).toBe(0);
    expect(out).toHaveLength(1);
    const base = 'http://site.example/base';
    expect(JSON.parse(out[0] as string)).toEqual({
      url: 'http://site.example/dir/page',
      mime: 'text/html',
      charset: 'utf-8',
      title: 'A page',
      kind: 'lead',
      textLength: 18,
      links: [
        { url: 'http://site.example/page', element: 'link', rel: 'canonical', followed: true },
        { url: `${base}/s.css`, element: 'link', rel: 'stylesheet', followed: true },
        { url: 'http://site.example/tr', element: 'link', rel: 'alternate', followed: true },
        { url: 'http://cdn.example/', element: 'link', rel: 'preconnect', followed: false },
        { url: `${base}/next`, element: 'a', rel: 'next', followed: true },
        { url: `${base}/no`, element: 'a', rel: 'nofollow ugc', followed: false },
        { url: `${base}/a.png`, element: 'img', rel: null, followed: true },
        { url: `${base}/b.png`, element: 'img', rel: null, followed: true },
        { url: 'http://site.example/s?q=', element: 'form', rel: null, followed: false },
      ],
      linksRefused: 1,
      canonical: 'http://site.example/page',
      alternates: [{ hreflang: 'tr', href: 'http://site.example/tr' }],
      robotsMeta: { noindex: true, nofollow: false },
      baseUrl: 'http://site.example/base/',
      refresh: null,
      challenge: { verdict: false, kind: null, reasons: [] },
      digest: expect.stringMatching(/^sha1:[A-Z2-7]{32}$/),
      simhash: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  it('sees what a parser thread sees: the links it follows, kind, digests', async () => {
    for (const source of [
      SOURCE,
      '<meta name=robots content=nofollow><a href=x>words</a>',
      '%PDF-1.7',
      'plain words',
    ]) {
      const { out } = await called(file('same.html', source), ...URL_OPTION, '--json');
      const seen = JSON.parse(out[0] as string);
      const result = parse(taskOf(source));
      const { links, ...facts } = pageOf(result);
      const followed = seen.links
        .filter((link: { followed: boolean }) => link.followed)
        .map(({ url }: { url: string }) => url);
      expect(new Set(followed)).toEqual(new Set(links.map(({ url }) => url)));
      for (const name of ['kind', 'title', 'textLength', 'simhash', 'canonical', 'mime'] as const)
        expect(seen[name]).toEqual(facts[name]);
      expect(seen.digest).toBe(result.kind === 'parsed' && result.contentDigest);
    }
  });

  it('says what stands in the place of a page, and why, by its status and headers as well', async () => {
    const shell = file(
      'shell.html',
      '<div id=root></div><script type=module src="/assets/index-4fk2a1b0.js"></script>',
    );
    const seen = async (...given: string[]) =>
      JSON.parse((await called(shell, ...URL_OPTION, '--json', ...given)).out[0] as string).challenge;
    expect(await seen()).toEqual({ verdict: true, kind: 'script_shell', reasons: expect.any(Array) });
    expect(await seen('--set', 'challenge.byDensity=false')).toEqual({ verdict: false, kind: null, reasons: [] });
    expect(await seen('--status', '403', '--header', 'cf-mitigated: challenge')).toEqual({
      verdict: true,
      kind: 'challenge',
      reasons: ['it came with the header cf-mitigated: challenge'],
    });
    const { out } = await called(shell, ...URL_OPTION);
    expect(out.find((line) => line.startsWith('challenge'))).toMatch(
      /^challenge {2}a script's empty shell: it says 0 char/,
    );
  });

  it('what is followed is configured', async () => {
    const path = file('page.html', SOURCE);
    const followedWith = async (...set: string[]) => {
      const { out } = await called(path, ...URL_OPTION, '--json', ...set.flatMap((one) => ['--set', one]));
      const { links } = JSON.parse(out[0] as string) as {
        links: { element: string; rel: string | null; followed: boolean }[];
      };
      return links.filter(({ followed }) => followed).map(({ element, rel }) => `${element} ${rel}`);
    };
    expect(await followedWith('links.embeds=false')).toEqual(['link canonical', 'link alternate', 'a next']);
    expect(await followedWith('links.forms=true', 'links.nofollow=follow')).toHaveLength(8);
  });

  it.each([
    ['text/html; charset=windows-1251', 'windows-1251', 'Пр'],
    ['text/html', 'windows-1252', 'Ïð'],
  ])('--type %s', async (type, charset, title) => {
    const bytes = Buffer.from('<meta charset=latin1><title>\xcf\xf0</title>', 'latin1');
    const { out } = await called(file('bytes', bytes), ...URL_OPTION, '--json', '--type', type);
    expect(JSON.parse(out[0] as string)).toMatchObject({ charset, title });
  });

  it.each([
    ['part', '<form action=/s>', 'text/html'],
    ['xhtml', '<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE html PUBLIC "x"><html><a href=x>', 'application/xhtml+xml'],
    ['feed', '<?xml version="1.0"?><rss>', 'text/xml'],
    ['words', 'a < b', 'text/plain'],
    ['picture', '\x89PNG\r\n\x1a\n', 'image/png'],
  ])('without --type, by its bytes: %s', async (name, content, mime) => {
    const { out } = await called(file(name, Buffer.from(content, 'latin1')), ...URL_OPTION, '--json');
    expect(JSON.parse(out[0] as string)).toMatchObject({ mime });
  });
});

describe('inspect for people', () => {
  it('says each thing in a line, and links with what carried them', async () => {
    const { out } = await called(file('page.html', SOURCE), ...URL_OPTION);
    const text = out.join('\n');
    for (const line of [
      'title      A page',
      'robots     noindex',
      '  img                  http://site.example/base/a.png',
      '6 followed:',
      '3 not followed:',
      '1 more lead to nothing',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('--text prints the text', async () => {
    expect((await called(file('page.html', SOURCE), ...URL_OPTION, '--text')).out).toEqual(['Words next no mail']);
  });

  it('reads standard input, up to the bound and no further', () => {
    const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
    const piped = (bytesMax: number) =>
      spawnSync(
        process.execPath,
        [program, 'inspect', '-', ...URL_OPTION, '--json', '--set', `fetch.bytesMax=${bytesMax}`],
        { input: SOURCE, encoding: 'utf8' },
      );
    expect(JSON.parse(piped(SOURCE.length).stdout)).toMatchObject({ title: 'A page', mime: 'text/html' });
    const { status, stderr } = piped(SOURCE.length - 1);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/\[too_large\]\n {2}at: standard input/)]);
  });

  it('wrong files and URLs are named, with what to do', async () => {
    const refused = async (...words: string[]) => {
      const { exit, err } = await called(...words);
      return [exit, err.join('\n')] as const;
    };
    const path = file('page.html', SOURCE);
    expect(await refused(join(folder, 'none'), ...URL_OPTION)).toEqual([
      2,
      expect.stringMatching(/no such file \[file_unreadable\]\n {2}at: .*none\n {2}do: /),
    ]);
    expect(await refused(folder, ...URL_OPTION)).toEqual([2, expect.stringContaining('it is a folder')]);
    expect(await refused(path, '--url', 'http://[')).toEqual([2, expect.stringContaining('at: --url')]);
    expect(await refused(path, '--url', 'mailto:x')).toEqual([2, expect.stringContaining('[url_scheme]')]);
    expect(await refused(path)).toEqual([2, expect.stringContaining('--url')]);
    const bound = (most: number) => refused(path, ...URL_OPTION, '--set', `fetch.bytesMax=${most}`);
    expect((await bound(SOURCE.length))[0]).toBe(0);
    expect(await bound(SOURCE.length - 1)).toEqual([1, expect.stringContaining('[too_large]')]);
    expect(await refused('/dev/zero', ...URL_OPTION)).toEqual([1, expect.stringContaining('[too_large]')]);
  });
});
