/**
 * Real pages: installed documentation behind nginx, crawled whole, and held against what `wget --recursive` finds.
 *
 * Two programs that share nothing walk the same site; nginx writes down what each was given. Every HTML page that wget
 * gets must be got by the crawl, once; what only one of them gets is listed with its reason. The judge reads the same
 * log, and the archive must hold, byte for byte, what lies in the folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { judge, type Verdict } from '../../src/practice/judge.js';
import { eventsFromNginx } from '../../src/practice/nginx-log.js';
import { type ArchiveReading, readArchive } from './archive.js';
import { crawl, PRODUCT_TOKEN, type SummaryLine } from './crawl-process.js';
import { type AccessLine, isInstalled, isOfWget, type Site, startNginx } from './nginx.js';

export const DELAY_MS = 50;

/** Packages that hold HTML, each on an address of its own. One page of each is closed by its robots.txt. */
export const DOCUMENTATION: Readonly<Record<string, Site>> = {
  'debian-handbook': {
    address: '127.0.0.1',
    folder: '/usr/share/doc/debian-handbook/html/en-US',
    robots: 'User-agent: *\nDisallow: /sect.kali.html\n',
  },
  'python3.11-doc': {
    address: '127.0.0.3',
    folder: '/usr/share/doc/python3.11/html',
    robots: 'User-agent: *\nDisallow: /library/turtle.html\n',
  },
  'postgresql-doc-15': {
    address: '127.0.0.4',
    folder: '/usr/share/doc/postgresql-doc-15/html',
    robots: 'User-agent: *\nDisallow: /release-15.html\n',
  },
};

export interface Difference {
  readonly url: string;
  readonly contentType: string;
  readonly by: 'crawl only' | 'wget only';
  /** Null where none is known: then it is a fault. */
  readonly reason: string | null;
}

export interface RealSiteReport {
  /** HTML that wget was given with 2xx. */
  readonly pagesOfWget: number;
  readonly pagesOfCrawl: number;
  readonly differences: readonly Difference[];
  /** URLs that the crawl was given more than once. */
  readonly repeated: readonly string[];
  readonly verdict: Verdict;
  readonly summary: SummaryLine;
  readonly archive: ArchiveReading;
  /** Archived pages that are not what lies in the folder. */
  readonly altered: readonly string[];
}

/** Why it can't be done here; null when it can. */
export function whatIsMissing(names: readonly string[]): string | null {
  for (const program of ['nginx', 'wget']) if (!isInstalled(program)) return `${program} is not installed`;
  for (const name of names) if (!existsSync(folderOf(name))) return `${name} is not installed`;
  return null;
}

function folderOf(name: string): string {
  return DOCUMENTATION[name]?.folder ?? name;
}

/** @param command what runs the crawl; the built program when left out. */
export async function crawlRealSites(names: readonly string[], command?: readonly string[]): Promise<RealSiteReport> {
  const sites = names.map((name) => DOCUMENTATION[name] as Site);
  const prefix = mkdtempSync(join(tmpdir(), 'orbweaver-real-site-'));
  try {
    const nginx = await startNginx(prefix, sites);
    try {
      const seeds = sites.map(({ address }) => `http://${address}:${nginx.port}/`);
      for (const seed of seeds) await mirror(seed, join(prefix, 'wget'));
      const { summary } = await crawl({
        seeds,
        dataDir: join(prefix, 'data'),
        words: ['--wait', '2'],
        settings: {
          'guard.allow': ['127.0.0.0/8'],
          'politeness.delayMs': DELAY_MS,
          'politeness.adaptiveFactor': 0,
          'politeness.addressDelayMs': 0,
        },
        ...(command === undefined ? {} : { command }),
      });
      const archive = await readArchive(summary.archive);
      await nginx.settled();
      const lines = nginx.lines();
      const crawlLines = lines.filter((line) => !isOfWget(line));
      return report(sites, nginx.port, lines.filter(isOfWget), crawlLines, summary, archive);
    } finally {
      await nginx.stop();
    }
  } finally {
    rmSync(prefix, { recursive: true, force: true });
  }
}

/** wget's exit code 8 says that a link was broken, which is none of its faults. */
async function mirror(seed: string, folder: string): Promise<void> {
  const words = ['--recursive', '--level=inf', '-nv', '--no-proxy', '--directory-prefix', folder, seed];
  const child = spawn('wget', words, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 && code !== 8) throw new Error(`wget ended with ${code}`);
}

function report(
  sites: readonly Site[],
  port: number,
  wgetLines: readonly string[],
  crawlLines: readonly string[],
  summary: SummaryLine,
  archive: ArchiveReading,
): RealSiteReport {
  const [byWget, byCrawl] = [answered(wgetLines), answered(crawlLines)];
  const robotsOf = (host: string) => sites.find(({ address }) => address === host)?.robots;
  const verdict = judge(eventsFromNginx(crawlLines, { robotsOf }), {
    productToken: PRODUCT_TOKEN,
    delayMs: DELAY_MS,
    clockToleranceMs: 2,
  });
  return {
    pagesOfWget: countPages(byWget),
    pagesOfCrawl: countPages(byCrawl),
    differences: [...differences(byWget, byCrawl, 'wget only'), ...differences(byCrawl, byWget, 'crawl only')],
    repeated: [...byCrawl].filter(([, { times }]) => times > 1).map(([url]) => url),
    verdict,
    summary,
    archive,
    altered: alteredPages(sites, port, byCrawl, archive),
  };
}

interface Answered {
  readonly contentType: string;
  readonly times: number;
}

/** What was given with 2xx, by host and path. */
function answered(lines: readonly string[]): Map<string, Answered> {
  const found = new Map<string, Answered>();
  for (const line of lines) {
    const { host, request_uri, status, content_type } = JSON.parse(line) as AccessLine;
    if (status < 200 || status > 299) continue;
    const url = `${host}${request_uri}`;
    const times = (found.get(url)?.times ?? 0) + 1;
    found.set(url, { contentType: content_type.replace(/;.*/, ''), times });
  }
  return found;
}

const HTML = 'text/html';

function countPages(found: ReadonlyMap<string, Answered>): number {
  return [...found.values()].filter(({ contentType }) => contentType === HTML).length;
}

function differences(
  these: ReadonlyMap<string, Answered>,
  those: ReadonlyMap<string, Answered>,
  by: Difference['by'],
): Difference[] {
  return [...these]
    .filter(([url]) => !those.has(url))
    .map(([url, { contentType }]) => ({ url, contentType, by, reason: reasonFor(contentType, by) }));
}

function reasonFor(contentType: string, by: Difference['by']): string | null {
  if (contentType === HTML || by === 'crawl only') return null;
  return 'embedded in a page: the crawl follows links to documents, not what a page is shown with';
}

/** The archive beside the files: each page that was given must be there, as it lies in its folder. */
function alteredPages(
  sites: readonly Site[],
  port: number,
  byCrawl: ReadonlyMap<string, Answered>,
  archive: ArchiveReading,
): string[] {
  const archived = new Map(archive.responses.map((response) => [response.url, response]));
  return [...byCrawl].flatMap(([url, { contentType }]) => {
    if (contentType !== HTML) return [];
    const slash = url.indexOf('/');
    const [host, path] = [url.slice(0, slash), url.slice(slash)];
    const response = archived.get(`http://${host}:${port}${path}`);
    if (response === undefined) return [`${url} is not in the archive`];
    const folder = sites.find(({ address }) => address === host)?.folder as string;
    const file = decodeURIComponent(path.replace(/\?.*/, '')).replace(/\/$/, '/index.html');
    const isCoded = response.headers.get('content-encoding') === 'gzip';
    const text = isCoded ? gunzipSync(response.payload) : response.payload;
    return text.equals(readFileSync(join(folder, file))) ? [] : [`${url} is not what its file holds`];
  });
}
