/** Pages that are made to be hard to read end in the parser thread, within its bound on time. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createParserThreads, type Parser } from '../../src/page/parser-pool.js';
import { type CompiledWorker, compileWorker } from './compiled-worker.js';
import { LAST_LINK, NASTY_PAGES } from './nasty-pages.js';
import { pageOf, taskOf } from './tasks.js';

let compiled: CompiledWorker;
let parser: Parser;

beforeAll(() => {
  compiled = compileWorker();
  parser = createParserThreads({ threads: 1, workerUrl: compiled.url });
});
afterAll(async () => {
  await parser.close();
  compiled.remove();
});

it.each(NASTY_PAGES.map(({ name, pieces, pageOf }) => [name, pieces, pageOf] as const))(
  '%s: the thread reads on to the last link',
  async (_name, pieces, make) => {
    const { links } = pageOf(await parser.parse(0, taskOf(make(pieces), { linksMax: 100_000 })));
    expect(links.some(({ url }) => url === `http://site.example/dir/${LAST_LINK}`)).toBe(true);
  },
  30_000,
);
