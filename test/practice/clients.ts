/**
 * Small clients for the practice web: one careful enough to pass the judge, and a way to crawl without politeness where
 * only completeness is asked. Robots rules are read by `robots-parser` here, so that the web's own matcher is checked.
 */
import { Agent, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import robotsParserModule from 'robots-parser';
import type { Truth } from '../../src/practice/truth.js';

/** CommonJS behind a default export that its types misname. */
const robotsParser = robotsParserModule as unknown as (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean | undefined };

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** One request to the port that stands in the URL, on loopback; rejects on a reset or a cut body. */
export function get(url: string, agent: Agent, signal?: AbortSignal): Promise<Got> {
  const { host, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path: pathname + search,
        headers: { Host: host, 'Accept-Encoding': 'gzip, br' },
        ...(signal ? { signal } : {}),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const raw = Buffer.concat(chunks);
          const coding = incoming.headers['content-encoding'];
          const body = coding === 'gzip' ? gunzipSync(raw) : coding === 'br' ? brotliDecompressSync(raw) : raw;
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

export function post(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method: 'POST', agent: false }, (incoming) => {
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

/** URL without fragment, and whether a crawler may follow it. */
export function linksIn(base: string, html: string): { url: string; nofollow: boolean }[] {
  return [...html.matchAll(/<a href="([^"]*)"( rel="nofollow")?>/g)].map(([, href = '', rel]) => {
    const url = new URL(href, base);
    url.hash = '';
    return { url: url.href, nofollow: rel !== undefined };
  });
}

export interface Crawled {
  /** Last status of each URL asked for. */
  readonly statuses: Map<string, number>;
  readonly forbidden: Set<string>;
  readonly nofollow: Set<string>;
  /** Digest material: body length by URL, of answers with 200. */
  readonly bytes: Map<string, number>;
}

export interface CrawlOptions {
  readonly productToken: string;
  readonly deliveriesMax: number;
  readonly parallel: number;
  /** Takes the next URL out of those that are due. */
  readonly next: (due: string[]) => string;
}

const RETRIED = new Set([429, 500, 502, 503]);

/** Crawls all that is reachable from the seeds, as fast as it can. */
export async function crawlAll(seeds: readonly string[], options: CrawlOptions): Promise<Crawled> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.parallel });
  const crawled: Crawled = { statuses: new Map(), forbidden: new Set(), nofollow: new Set(), bytes: new Map() };
  const robots = new Map<string, Promise<ReturnType<typeof robotsParser>>>();
  const seen = new Set(seeds);
  const due = [...seeds];
  const meet = (url: string): void => {
    if (!seen.has(url)) due.push(url);
    seen.add(url);
  };
  const rulesOf = (origin: string): Promise<ReturnType<typeof robotsParser>> => {
    const known =
      robots.get(origin) ??
      persist(`${origin}/robots.txt`).then((got) =>
        robotsParser(`${origin}/robots.txt`, got?.status === 200 ? got.body.toString() : ''),
      );
    robots.set(origin, known);
    return known;
  };
  const persist = async (url: string): Promise<Got | undefined> => {
    let got: Got | undefined;
    for (let delivery = 0; delivery < options.deliveriesMax; delivery++) {
      got = await get(url, agent).catch(() => undefined);
      if (got !== undefined && !RETRIED.has(got.status)) return got;
    }
    return got;
  };
  const visit = async (url: string): Promise<void> => {
    const rules = await rulesOf(new URL(url).origin);
    if (rules.isAllowed(url, options.productToken) !== true) return void crawled.forbidden.add(url);
    const got = await persist(url);
    if (got === undefined) throw new Error(`no answer from ${url}`);
    crawled.statuses.set(url, got.status);
    if (got.status === 200) crawled.bytes.set(url, got.body.length);
    if (typeof got.headers.location === 'string') meet(new URL(got.headers.location, url).href);
    if (!String(got.headers['content-type']).startsWith('text/html')) return;
    for (const link of linksIn(url, got.body.toString())) {
      if (link.nofollow) crawled.nofollow.add(link.url);
      else meet(link.url);
    }
  };
  let open = 0;
  await new Promise<void>((resolve, reject) => {
    const pump = (): void => {
      while (open < options.parallel && due.length > 0) {
        open += 1;
        visit(options.next(due)).then(() => {
          open -= 1;
          pump();
        }, reject);
      }
      if (open === 0) resolve();
    };
    pump();
  });
  agent.destroy();
  return crawled;
}

/** What a truth demands, in the shape of what a crawl found. */
export function demanded(truth: Truth): Record<string, number> {
  return Object.fromEntries(truth.reachable.map(({ url, status }) => [url, status]));
}
