import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Crawler, CrawlerOptions, ErrorEvent, Page } from '../../src/index.js';
import { AT_ONCE, type LoopbackSite, openSite } from './loopback-site.js';

// As built: parser threads run no TypeScript.
const library = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');
const { createCrawler, CrawlerError } = library;

let folder = '';
let site: LoopbackSite;
const made: Crawler[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-library-'));
  site = await openSite({}, 40);
});
afterEach(async () => {
  await Promise.all(made.splice(0).map((crawler) => crawler.stop().catch(() => null)));
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

function crawlerOf(options: Partial<CrawlerOptions> = {}): Crawler {
  const crawler = createCrawler({
    dataDir: join(folder, 'data'),
    seeds: [`${site.origin}/0`],
    config: AT_ONCE,
    control: false,
    ...options,
  });
  made.push(crawler);
  return crawler;
}

async function all(crawler: Crawler): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of crawler) pages.push(page);
  return pages;
}

const pathOf = ({ url }: { readonly url: string }) => new URL(url).pathname;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => `/${number}`).sort();

function moduleOf(source: string): string {
  return `data:text/javascript,${encodeURIComponent(`export default ${source}`)}`;
}

describe('pages', () => {
  it('come once each, after their commit, and the loop ends with the crawl', async () => {
    const crawler = crawlerOf();
    const pages = await all(crawler);
    expect(pages.map(pathOf).sort()).toEqual(numbers(40));
    expect(pages[0]).toMatchObject({
      ...{ url: `${site.origin}/0`, status: 200, mime: 'text/html', charset: 'utf-8', title: 'Page 0' },
      ...{ outcome: 'fetched', linkCount: 2, links: null, text: null, body: null, data: null, noindex: false },
      warc: { type: 'response', file: expect.stringMatching(/^archive\/.*\.warc\.gz$/), length: expect.any(Number) },
    });
    expect(new Map(pages[0]?.headers.map(([name, value]) => [name.toLowerCase(), value])).get('content-type')).toBe(
      'text/html; charset=utf-8',
    );
    expect(await crawler.ended).toMatchObject({
      fetched: 40,
      reason: 'done',
      failure: null,
      dataDir: join(folder, 'data'),
    });
    const lines = readFileSync(join(folder, 'data', 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const places = new Map(lines.map((line) => JSON.parse(line)).map(({ url, warc }) => [url, warc]));
    for (const { url, warc } of pages) expect(places.get(url)).toEqual(warc);
  });

  it('bring text, body and links where they are wanted', async () => {
    const pages = await all(crawlerOf({ want: { text: true, body: true, links: true } }));
    const [first] = pages;
    expect(first?.text).toBe('Words of page 0. page 1 page 2');
    expect(Buffer.from(first?.body ?? []).toString()).toMatch(/^<!doctype html><title>Page 0/);
    expect(first?.links).toEqual([
      { url: `${site.origin}/1`, element: 'a', rel: 'next' },
      { url: `${site.origin}/2`, element: 'a', rel: 'next' },
    ]);
  });

  it('that nobody takes hold the crawl, with the reason `consumer`; none is lost', async () => {
    const crawler = crawlerOf({ pagesHeldMax: 4, want: {}, config: { ...AT_ONCE, fetch: { openVisitsMax: 3 } } });
    const held = new Promise<{ why: string }>((resolve) => crawler.on('held', resolve));
    await crawler.start();
    expect(await held).toEqual({ why: 'consumer' });
    const status = async () => {
      const { state, reasons, run } = await crawler.status();
      return { state, reasons, openVisits: run?.openVisits };
    };
    await expect.poll(status).toEqual({ state: 'held', reasons: ['consumer'], openVisits: 0 });
    // What stood in the queue, and what was open then.
    expect(site.asked.length).toBeLessThanOrEqual(4 + 3);
    expect((await all(crawler)).map(pathOf).sort()).toEqual(numbers(40));
    expect(site.asked.length).toBe(40);
  });

  it('are shared by loops; leaving one takes nothing with it', async () => {
    const crawler = crawlerOf();
    const taken: Page[] = [];
    for await (const page of crawler) {
      taken.push(page);
      if (taken.length === 3) break;
    }
    const shares = await Promise.all([all(crawler), all(crawler)]);
    expect([...taken, ...shares.flat()].map(pathOf).sort()).toEqual(numbers(40));
  });

  it('go to a callback one at a time, which may fail and may stop the crawl', async () => {
    const errors: ErrorEvent[] = [];
    let inHand = 0;
    let taken = 0;
    const crawler = crawlerOf({
      onPage: async (page) => {
        expect(++inHand).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        inHand -= 1;
        taken += 1;
        if (taken === 2) throw new Error(`no room for ${pathOf(page)}`);
        if (taken === 5) await crawler.stop();
      },
    }).on('error', (error) => errors.push(error));
    await crawler.start();
    expect(await crawler.ended).toMatchObject({ reason: 'interrupted' });
    expect(taken).toBeGreaterThanOrEqual(5);
    expect(errors).toMatchObject([{ code: 'consumer_failed', message: expect.stringContaining('no room for /') }]);
    expect(() => crawler.pages()).toThrow(expect.objectContaining({ code: 'pages_not_asked' }));
  });

  it('go to listeners alone, without a queue, where there is nobody else', async () => {
    const heard: string[] = [];
    const crawler = crawlerOf({ pagesHeldMax: 2 }).on('page', (page) => heard.push(pathOf(page)));
    await crawler.start();
    await crawler.ended;
    expect(heard.sort()).toEqual(numbers(40));
  });
});

describe('a crawler', () => {
  it('shares nothing with another one: two crawl at once', async () => {
    const [one, other] = await Promise.all([all(crawlerOf()), all(crawlerOf({ dataDir: join(folder, 'other') }))]);
    expect([one.length, other.length]).toEqual([40, 40]);
  });

  it('handles no signals, and takes no exit code', async () => {
    const before = [process.listenerCount('SIGINT'), process.listenerCount('SIGTERM'), process.exitCode];
    const crawler = crawlerOf();
    await crawler.start();
    expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM'), process.exitCode]).toEqual(before);
  });

  it('is started and stopped as often as anybody likes, in any order (F23)', async () => {
    const crawler = crawlerOf({ want: {} });
    expect(await crawler.stop()).toBeNull();
    const starts = [crawler.start(), crawler.start()];
    const stops = [crawler.stop(), crawler.stop()];
    const [first, second] = await Promise.all(stops);
    expect(first).toBe(second);
    await Promise.all(starts);
    const again = crawler.start();
    const stop = crawler.stop();
    const last = crawler.start();
    await Promise.all([again, stop, last, crawler.start()]);
    await all(crawler);
    expect(await crawler.ended).toMatchObject({ reason: 'done', discovered: 40, queued: 0 });
    expect(await crawler.stop()).toBe(await crawler.ended);
    // Nothing was asked for twice: what was open when it was stopped was committed.
    expect([...site.asked].sort()).toEqual(numbers(40));
  });

  it('takes commands while it runs and while it does not', async () => {
    const crawler = crawlerOf({ seeds: [], keepRunning: true });
    await expect(crawler.status()).rejects.toMatchObject({ code: 'not_running' });
    await crawler.start();
    expect(await crawler.pause()).toEqual({ state: 'paused', changed: true });
    expect(await crawler.seed([`${site.origin}/39`, 'tulips'])).toMatchObject({
      seeds: [{ verdict: 'queued' }, { verdict: 'refused', code: 'url_invalid' }],
    });
    expect(await crawler.exclude(['/38'])).toMatchObject({ patterns: ['/38'] });
    await expect(crawler.exclude([''])).rejects.toMatchObject({ code: 'pattern_invalid' });
    expect(await crawler.status()).toMatchObject({ state: 'paused', queued: 1 });
    await crawler.stop();
    expect(await crawler.status()).toMatchObject({ state: 'stopped', queued: 1 });
    expect(await crawler.seed([`${site.origin}/38`])).toMatchObject({ refused: 1 });
    expect(await crawler.resume()).toMatchObject({ changed: true });
    const visited = new Promise<string>((resolve) => crawler.on('visit', ({ url }) => resolve(url)));
    await crawler.start();
    expect(await visited).toBe(`${site.origin}/39`);
    expect(await crawler.why(`${site.origin}/39`)).toMatchObject({ state: 'active' });
  });

  it('answers a command that its end overtakes', async () => {
    const crawler = crawlerOf({ keepRunning: true });
    await crawler.start();
    const [, seeded, status] = await Promise.all([
      crawler.stop(),
      crawler.seed([`${site.origin}/seeded`]),
      crawler.status(),
    ]);
    expect(seeded).toMatchObject({ refused: 0 });
    expect(status.dataDir).toBe(join(folder, 'data'));
  });

  it('tells of a listener that throws, and goes on', async () => {
    const errors: ErrorEvent[] = [];
    const crawler = crawlerOf({ pagesMax: 3 })
      .on('visit', () => {
        throw new Error('oh');
      })
      .on('error', (error) => errors.push(error));
    await crawler.start();
    await crawler.ended;
    expect(errors[0]).toEqual({ code: 'listener_failed', message: 'visit: Error: oh', url: null });
  });
});

describe('what can not be done is refused with its code', () => {
  it.each<[string, Partial<CrawlerOptions>, object]>([
    [
      'an option that is none',
      { config: { fetch: { slot: 3 } } as never },
      { code: 'config_invalid', where: 'config.fetch.slot' },
    ],
    [
      'a value that is none',
      { config: { fetch: { slots: 0 } } },
      { code: 'config_invalid', where: 'config.fetch.slots' },
    ],
    ['a bound of nothing', { pagesMax: 0 }, { code: 'config_invalid', where: 'pagesMax' }],
    ['no folder', { dataDir: '' }, { code: 'config_invalid', where: 'dataDir' }],
    [
      'no authorities',
      { config: { tls: { ca: '/no/such/file' } } },
      { code: 'config_invalid', where: 'config.tls.ca' },
    ],
    ['a seed that is none', { seeds: ['tulips'] }, { code: 'url_invalid', where: 'tulips' }],
    ['a crawl that says not who it is', { seeds: ['https://example.com/'] }, { code: 'no_contact' }],
    [
      'a plug-in by a relative path',
      { linkExtractors: ['./links.js'] },
      { code: 'plugin_invalid', where: './links.js' },
    ],
  ])('%s', (_, options, refusal) => {
    expect(() => crawlerOf(options)).toThrow(expect.objectContaining({ name: 'CrawlerError', ...refusal }));
  });

  it('a folder that another crawl has', async () => {
    await crawlerOf({ keepRunning: true }).start();
    const second = crawlerOf();
    await expect(second.start()).rejects.toMatchObject({ code: 'store_locked' });
    await expect(second.ended).rejects.toBeInstanceOf(CrawlerError);
    await expect(all(crawlerOf())).rejects.toMatchObject({ code: 'store_locked' });
  });

  it('a plug-in that is none', async () => {
    const crawler = crawlerOf({ contentHandlers: [moduleOf('7')] });
    await expect(crawler.start()).rejects.toMatchObject({ code: 'plugin_invalid' });
  });

  it('seeds beyond this machine, while it runs', async () => {
    const crawler = crawlerOf({ keepRunning: true });
    await crawler.start();
    await expect(crawler.seed(['https://example.com/'])).rejects.toMatchObject({ code: 'no_contact' });
  });

  it('pages that nobody asked for', async () => {
    const crawler = crawlerOf();
    await crawler.start();
    expect(() => crawler.pages()).toThrow(expect.objectContaining({ code: 'pages_not_asked' }));
  });
});

describe('plug-ins', () => {
  it('a URL filter leaves what it likes; where it fails only that URL is left, and the reason is told', async () => {
    const errors: ErrorEvent[] = [];
    const crawler = crawlerOf({
      seeds: [],
      keepRunning: true,
      urlFilter: ({ url, source, via }) => {
        if (url.endsWith('/1')) throw new Error(`not ${source}ed from ${via && pathOf({ url: via })}`);
        return url.endsWith('/2') ? 'an even one' : !url.endsWith('/3');
      },
    }).on('error', (error) => errors.push(error));
    const visited = new Promise((resolve) => crawler.on('visit', resolve));
    await crawler.start();
    const { seeds } = await crawler.seed(['/0', '/1', '/2', '/3'].map((path) => site.origin + path));
    expect(seeds).toMatchObject([
      { verdict: 'queued' },
      { verdict: 'refused', code: 'plugin_failed', detail: 'urlFilter: Error: not seeded from null' },
      { verdict: 'refused', code: 'filtered', detail: 'an even one' },
      { verdict: 'refused', code: 'filtered', detail: 'the URL filter left it' },
    ]);
    await visited;
    for (const state of ['running', 'stopped']) {
      const { next, explanation } = await crawler.why(`${site.origin}/2`);
      expect([state, next.action]).toEqual([state, 'would_be_refused']);
      expect(explanation.join(' ')).toContain('[filtered]');
      await crawler.stop();
    }
    expect(site.asked).toEqual(['/0']);
    expect(errors).toMatchObject([{ code: 'plugin_failed', url: `${site.origin}/1` }, { code: 'plugin_failed' }]);
  });

  it('one that fails on a page leaves it as the engine reads it, with the code `plugin_failed`', async () => {
    const visits: string[] = [];
    const source = `{ types: ['text/html'], read({ url }) {
      if (url.endsWith('/1')) throw new Error('oh');
      if (url.endsWith('/2')) process.exit(9);
      return { title: 'by the plug-in', data: [url.length] };
    } }`;
    const crawler = crawlerOf({
      contentHandlers: [moduleOf(source)],
      config: { ...AT_ONCE, waitSeconds: 5, retry: { delaysSeconds: [0] }, maxDepth: 1 },
    }).on('visit', ({ url, outcome, code }) => visits.push(`${pathOf({ url })} ${outcome} ${code}`));
    const pages = new Map((await all(crawler)).map((page) => [pathOf(page), page]));
    expect(visits.sort()).toEqual([
      '/0 fetched ok',
      '/1 fetched plugin_failed',
      '/2 failed plugin_failed',
      '/2 fetched plugin_failed',
    ]);
    expect(pages.get('/0')).toMatchObject({ title: 'by the plug-in', data: [site.origin.length + 2] });
    expect(pages.get('/1')).toMatchObject({ title: 'Page 1', data: null });
    expect(pages.get('/2')).toMatchObject({ title: 'Page 2', data: null });
    const lines = readFileSync(join(folder, 'data', 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).data)).toContainEqual([site.origin.length + 2]);
  });
});

describe('the package', () => {
  it('exports these names, and no others', () => {
    expect(Object.keys(library).sort()).toEqual(['CrawlerError', 'createCrawler']);
    const source = readFileSync(new URL('../../src/index.ts', import.meta.url), 'utf8');
    const names = [...source.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) => inside.split(','));
    const types = names.map((name) => name.replace('type ', '').trim()).filter((name) => name !== '');
    expect(types.sort()).toMatchInlineSnapshot(`
      [
        "ConfigOptions",
        "Content",
        "ContentFacts",
        "ContentHandler",
        "ContentHeader",
        "ContentLink",
        "CrawlSummary",
        "Crawler",
        "CrawlerError",
        "CrawlerEvents",
        "CrawlerOptions",
        "DeadList",
        "DeadQuery",
        "ErrorEvent",
        "EventName",
        "ExcludeReport",
        "LinkExtractor",
        "Listener",
        "LogFields",
        "LogFunction",
        "LogLevel",
        "Logger",
        "ModuleName",
        "Page",
        "PageLink",
        "PauseReport",
        "PlugIn",
        "RedriveList",
        "RedriveOptions",
        "RedriveReport",
        "RedriveView",
        "RedrivesQuery",
        "SeedReport",
        "SeedVerdict",
        "StatusReport",
        "TextPage",
        "UrlCandidate",
        "UrlFilter",
        "VisitEvent",
        "Want",
        "WarcPlace",
        "WhyAnswer",
        "createCrawler",
      ]
    `);
  });
});
