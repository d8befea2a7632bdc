/**
 * What is the ceiling: how many pages a second can one process fetch, read, resolve, check and store on one thread,
 * with the same libraries and no engine around them?
 *
 * One request at a time to each of 50 hosts over keep-alive; the engine's own reading of HTML; links resolved by the
 * URL standard and checked against a set of strings; one chained batch of a record a page and a row a new link. No
 * politeness, no robots, no actors, no durability beyond the store's own log.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { Agent, type Dispatcher } from 'undici';
import { readHtml } from '../src/page/html.js';
import { CANNED_WEB, type CannedWeb, hostNameOf, pathOf } from './canned-web.js';
import { figuresOf, type Measured, measure, perPage, round, type Stages } from './measure.js';
import { loopbackLookup, startCannedServer } from './pages.js';
import type { Bench } from './result.js';

/** Before them the compiler is still at work; they are not counted. */
const PAGES_WARM = 2_000;
const ROWS_PER_BATCH = 500;

export const run: Bench = async () => {
  const server = await startCannedServer(CANNED_WEB);
  try {
    const { measured, counts } = await rawLoop(CANNED_WEB, server.port, PAGES_WARM);
    const { pages, links, bytes } = counts;
    return {
      name: 'raw-loop',
      figures: { pages, links, mebibytes: round(bytes / 2 ** 20), ...figuresOf(measured, pages) },
      cpuMicrosPerPage: perPage(measured, pages, REST),
    };
  } finally {
    await server.stop();
  }
};

/** The stage that is measured as what no other stage claims. */
export const REST = 'network and the rest';

/** Crawls a canned web that is served at `port`; the first `pagesWarm` pages are not counted. */
export async function rawLoop(
  web: CannedWeb,
  port: number,
  pagesWarm: number,
): Promise<{ readonly measured: Measured; readonly counts: Counts }> {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-bench-'));
  const store = new Level<string, string>(join(folder, 'store'), { writeBufferSize: 32 << 20, cacheSize: 64 << 20 });
  const agent = new Agent({ connections: 1, pipelining: 1, connect: { lookup: loopbackLookup } });
  try {
    await store.open();
    const loop = new RawLoop(agent, store, web, port);
    await loop.crawl(pagesWarm, { time: (_, work) => work() });
    const warm = loop.counts();
    const measured = await measure((stages) => loop.crawl(web.pages, stages));
    const { pages, links, bytes } = loop.counts();
    const counts = { pages: pages - warm.pages, links: links - warm.links, bytes: bytes - warm.bytes };
    return { measured, counts };
  } finally {
    await agent.destroy();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Counts {
  readonly pages: number;
  readonly links: number;
  readonly bytes: number;
}

interface Lane {
  readonly origin: string;
  readonly queue: string[];
  isBusy: boolean;
}

class RawLoop {
  private readonly seen = new Set<string>();
  private readonly lanes = new Map<string, Lane>();
  private readonly decoder = new TextDecoder();
  private rows: [key: string, value: string][] = [];
  private pages = 0;
  private links = 0;
  private bytes = 0;
  private started = 0;
  private pagesMax = 0;
  private stages: Stages | null = null;
  private finish: (error: Error | null) => void = () => {};

  constructor(
    private readonly agent: Agent,
    private readonly store: Level<string, string>,
    web: CannedWeb,
    port: number,
  ) {
    for (let host = 0; host < web.hosts; host++) {
      const origin = `http://${hostNameOf(web, host)}:${port}`;
      this.lanes.set(origin, { origin, queue: [], isBusy: false });
    }
    this.admit(`http://${hostNameOf(web, 0)}:${port}${pathOf(0)}`);
  }

  counts(): Counts {
    return { pages: this.pages, links: this.links, bytes: this.bytes };
  }

  /** Goes on until so many pages have been read since the beginning; rejects when anything fails. */
  async crawl(pagesMax: number, stages: Stages): Promise<void> {
    this.pagesMax = pagesMax;
    this.stages = stages;
    await new Promise<void>((resolve, reject) => {
      this.finish = (error) => (error === null ? resolve() : reject(error));
      for (const lane of this.lanes.values()) this.next(lane);
    });
  }

  private next(lane: Lane): void {
    if (lane.isBusy || this.started >= this.pagesMax) return;
    const url = lane.queue.pop();
    if (url === undefined) return;
    lane.isBusy = true;
    this.started++;
    const chunks: Buffer[] = [];
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => {
        lane.isBusy = false;
        if (status !== 200) this.finish(new Error(`${status} for ${url}`));
        else this.read(url, chunks);
        this.next(lane);
      },
      onResponseError: (_controller, error) => this.finish(error),
    };
    this.agent.dispatch({ origin: lane.origin, path: url.slice(lane.origin.length), method: 'GET' }, handler);
  }

  private read(url: string, chunks: readonly Buffer[]): void {
    const { time } = this.stages as Stages;
    const [first] = chunks;
    const body = time('join', () => (chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)));
    const html = time('decode', () => this.decoder.decode(body));
    const content = time('parse', () => readHtml(html, { forms: false, productToken: 'bench' }));
    const fresh = time('resolve and seen', () => this.unseen(url, content.links));
    time('batch', () => this.write(url, content.title ?? '', fresh));
    this.pages++;
    this.bytes += body.length;
    if (this.pages === this.pagesMax) this.finish(null);
    else for (const found of fresh) this.wake(found);
  }

  private unseen(page: string, links: readonly { readonly href: string }[]): string[] {
    const fresh: string[] = [];
    for (const { href } of links) {
      const url = new URL(href, page).href;
      this.links++;
      if (this.seen.has(url)) continue;
      this.admit(url);
      fresh.push(url);
    }
    return fresh;
  }

  private admit(url: string): void {
    this.seen.add(url);
    this.laneOf(url).queue.push(url);
  }

  private wake(url: string): void {
    this.next(this.laneOf(url));
  }

  private laneOf(url: string): Lane {
    const lane = this.lanes.get(url.slice(0, url.indexOf('/', 8)));
    if (lane === undefined) throw new Error(`no host has ${url}`);
    return lane;
  }

  private write(url: string, title: string, fresh: readonly string[]): void {
    this.rows.push([`u:${url}`, JSON.stringify({ url, title, status: 200, links: fresh.length })]);
    for (const found of fresh) this.rows.push([`q:${found}`, url]);
    if (this.rows.length < ROWS_PER_BATCH) return;
    const batch = this.store.batch();
    for (const [key, value] of this.rows) batch.put(key, value);
    this.rows = [];
    batch.write().catch((error: Error) => this.finish(error));
  }
}
