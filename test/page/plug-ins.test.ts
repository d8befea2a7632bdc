import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createInlineParser, createParserThreads, type Parser } from '../../src/page/parser-pool.js';
import { DATA_BYTES_MAX, loadPlugIns, PlugInError, TITLE_CHARACTERS_MAX } from '../../src/page/plug-ins.js';
import type { PlugInModule, PlugInModules } from '../../src/plugins/modules.js';
import { type CompiledWorker, compileWorker } from './compiled-worker.js';
import { html, pageOf, parsed, taskOf } from './tasks.js';

let compiled: CompiledWorker;
const open: Parser[] = [];

beforeAll(() => {
  compiled = compileWorker();
});
afterEach(async () => {
  for (const parser of open.splice(0)) await parser.close();
});
afterAll(() => compiled.remove());

const KEEP = { text: true, body: true };
const JSON_TYPE = html('application/json');

/** A module whose default export is this expression. */
function moduleOf(source: string, options: unknown = null): PlugInModule {
  return { href: `data:text/javascript,${encodeURIComponent(`export default ${source}`)}`, options };
}

function handler(body: string, types = "['application/json']", options: unknown = null): PlugInModules {
  return {
    contentHandlers: [moduleOf(`{ types: ${types}, read(content, options) { ${body} } }`, options)],
    linkExtractors: [],
  };
}

async function inline(plugIns: PlugInModules): Promise<Parser> {
  return createInlineParser(await loadPlugIns(plugIns));
}

/** A thread takes a while to load, which counts against its first task. */
function threads(plugIns: PlugInModules, taskMsMax = 3_000): Parser {
  const parser = createParserThreads({ threads: 1, workerUrl: compiled.url, plugIns, taskMsMax });
  open.push(parser);
  return parser;
}

describe('a content handler', () => {
  it('reads what the engine does not, in threads as inline', async () => {
    const plugIns = handler(
      `const document = JSON.parse(content.text());
       return { title: document.name, text: document.text, links: [document.next, { href: '/no', rel: 'nofollow' }],
                data: { mime: content.mime, url: content.url, bytes: content.bytes.length, options } };`,
      "['text/*', 'application/*+json']",
      { a: 1 },
    );
    const body = JSON.stringify({ name: 'tulips', text: ' red \n tulips ', next: 'more' });
    for (const parser of [await inline(plugIns), threads(plugIns)]) {
      const task = taskOf(body, { headers: html('application/hal+json'), keep: KEEP });
      const result = await parser.parse(0, task);
      const page = pageOf(result);
      expect(page).toMatchObject({ title: 'tulips', textLength: 10, kind: 'document', mime: 'application/hal+json' });
      expect(page.simhash).toMatch(/^[0-9a-f]{16}$/);
      expect(page.links).toMatchObject([
        { url: 'http://site.example/dir/more', source: 'link', element: 'plugin', rel: null },
      ]);
      expect(JSON.parse(parsed(result).data ?? '')).toEqual({
        ...{ mime: 'application/hal+json', url: task.url, bytes: body.length },
        options: { a: 1 },
      });
      expect(parsed(result).kept?.text).toBe('red tulips');
      expect(Buffer.from(parsed(result).kept?.body ?? []).toString()).toBe(body);
    }
  });

  it('leaves what it does not name as the engine read it; only the first that matches is asked', async () => {
    const first = handler('return { data: 1 };', "['text/html']");
    const second = handler("return { title: 'second' };", "['*/*']");
    const plugIns = { ...first, contentHandlers: [...first.contentHandlers, ...second.contentHandlers] };
    const result = await (await inline(plugIns)).parse(0, taskOf('<title>One</title><a href=/x>x</a>'));
    expect(pageOf(result)).toMatchObject({ title: 'One', links: [{ url: 'http://site.example/x', element: 'a' }] });
    expect(parsed(result).data).toBe('1');
  });

  it.each([
    ['throws', "throw new Error('no tulips')", 'no tulips'],
    ['answers with a number', 'return 7', 'number'],
    ['answers with a promise', 'return Promise.resolve({})', 'promise'],
    ['gives links that are none', 'return { links: [{ url: 1 }] }', 'href'],
    ['gives a title that is none', 'return { title: 3 }', 'title'],
    ['gives too long a title', `return { title: 'x'.repeat(${TITLE_CHARACTERS_MAX + 1}) }`, 'characters'],
    ['gives data that is no JSON', 'const data = {}; data.data = data; return { data }', 'circular'],
    ['gives too much data', `return { data: 'x'.repeat(${DATA_BYTES_MAX - 1}) }`, 'bytes'],
  ])('that %s costs the page a note, and no more', async (_, body, said) => {
    const parser = await inline(handler(body));
    const result = parsed(await parser.parse(0, taskOf('{}', { headers: JSON_TYPE })));
    expect(result.plugInFault).toContain(said);
    expect(result.page).toMatchObject({ title: null, links: [], mime: 'application/json' });
    expect(result.data).toBeUndefined();
  });

  it('may go to its bounds', async () => {
    const body = `return { title: 'x'.repeat(${TITLE_CHARACTERS_MAX}), data: 'x'.repeat(${DATA_BYTES_MAX - 2}) }`;
    const parser = await inline(handler(body));
    const result = parsed(await parser.parse(0, taskOf('{}', { headers: JSON_TYPE })));
    expect(result.plugInFault).toBeUndefined();
    expect(result.data).toHaveLength(DATA_BYTES_MAX);
  });

  it.each([
    ['never comes back', 'for (;;);'],
    ['ends its thread', 'process.exit(3)'],
  ])('that %s is told apart from the page, which is then read without it', async (_, body) => {
    const parser = threads(handler(body));
    const task = () => taskOf('{}', { headers: JSON_TYPE });
    const died = await parser.parse(0, task());
    expect(died).toMatchObject({ kind: 'unparsed', code: 'plugin_failed', detail: expect.stringMatching(/^data:: /) });
    const again = await parser.parse(0, { ...task(), withoutPlugIns: true });
    expect(parsed(again).plugInFault).toContain('without plug-ins');
    expect(pageOf(await parser.parse(0, taskOf('<title>x</title>'))).title).toBe('x');
  });
});

describe('a link extractor', () => {
  it('finds links beside those that are there, of HTML where it names no types', async () => {
    const source = '{ links: ({ text }) => [...text.matchAll(/data-page=(\\w+)/g)].map(([, page]) => page) }';
    const plugIns = { contentHandlers: [], linkExtractors: [moduleOf(source)] };
    for (const parser of [await inline(plugIns), threads(plugIns)]) {
      const result = await parser.parse(0, taskOf('<a href=one>1</a><p data-page=two><p data-page=one>'));
      expect(pageOf(result).links.map(({ url, element }) => [url, element])).toEqual([
        ['http://site.example/dir/one', 'a'],
        ['http://site.example/dir/two', 'plugin'],
      ]);
      const plain = await parser.parse(0, taskOf('data-page=two', { headers: html('text/plain') }));
      expect(pageOf(plain).links).toEqual([]);
    }
  });
});

describe('a module that is no plug-in is refused when it is loaded', () => {
  it.each([
    ['is not there', { href: 'file:///no/such/plug-in.mjs', options: null }],
    ['does not compile', moduleOf('{')],
    ['exports a function', moduleOf('() => {}')],
    ['has no method', moduleOf("{ types: ['text/html'] }")],
    ['names no types', moduleOf('{ types: [], read() {} }')],
    ['names a type that is none', moduleOf("{ types: ['html'], read() {} }")],
  ])('%s', async (_, module) => {
    await expect(loadPlugIns({ contentHandlers: [module], linkExtractors: [] })).rejects.toThrow(PlugInError);
  });
});
