/**
 * The archive, held against a reader that shares nothing with what wrote it.
 *
 * A site is crawled with archive files so small that they are changed all the time, killed in the middle again and
 * again, then asked once more: first unchanged, then with new validators on the same content. After each step warcio
 * reads every file, every payload is digested anew, its indexer's lines are ours, and each line of pages.jsonl is found
 * by bisection in a sorted index.
 */
import {
  cpSync,
  createReadStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CDXIndexer } from 'warcio';
import { openStore } from '../../src/store/store.js';
import { type ArchiveReading, readArchive } from './archive.js';
import { crawl, startCrawl, type SummaryLine, until } from './crawl-process.js';
import { startNginx } from './nginx.js';

/** What is crawled. */
export interface TrialSite {
  readonly seed: string;
  /** From now on it has other validators, and the same content. */
  touch(): void;
}

export interface TrialOptions {
  readonly site: TrialSite;
  readonly kills: number;
  /** Visits between two kills. */
  readonly visitsBetween: number;
  readonly fileBytesMax: number;
}

export interface TrialReport {
  readonly pages: number;
  /** Archive files at the end. */
  readonly files: number;
  readonly kills: number;
  /** Kills that left more in a file than was committed, and kills that came while an archive file was changed. */
  readonly torn: number;
  readonly records: Readonly<Record<string, number>>;
  readonly unmodified: SummaryLine;
  readonly touched: SummaryLine;
  readonly seconds: number;
  readonly faults: readonly string[];
}

interface PageLine {
  readonly canonical: string;
  readonly outcome: string;
  readonly status: number;
  readonly warc: { readonly type: string; readonly file: string; readonly offset: number; readonly length: number };
}

export async function archiveTrial({ site, kills, visitsBetween, fileBytesMax }: TrialOptions): Promise<TrialReport> {
  const startedMs = performance.now();
  const prefix = mkdtempSync(join(tmpdir(), 'orbweaver-archive-'));
  const dataDir = join(prefix, 'data');
  const faults: string[] = [];
  const settings = {
    'guard.allow': ['127.0.0.0/8'],
    'politeness.delayMs': 0,
    'politeness.adaptiveFactor': 0,
    'politeness.addressDelayMs': 0,
    'archive.fileBytesMax': fileBytesMax,
  };
  const words = ['--wait', '8'];
  const again = async (seeds: readonly string[]) =>
    (await crawl({ seeds, dataDir, settings, words: [...words, '--again', '--max-depth', '0'] })).summary;
  try {
    let torn = 0;
    for (let kill = 1; kill <= kills; kill++) {
      const running = startCrawl({ seeds: [site.seed], dataDir, settings, words });
      await until(
        `visits before kill ${kill}`,
        () => running.visits.length >= visitsBetween || !running.isAlive(),
        60_000,
      );
      running.kill();
      await running.ended;
      torn += await judgeKilled(dataDir, join(prefix, `killed-${kill}`), `after kill ${kill}`, faults);
    }
    await crawl({ seeds: [site.seed], dataDir, settings, words });
    const urls = (await judgeWhole(dataDir, 'after the crawl', faults)).pages.map(({ canonical }) => canonical);
    const unmodified = await again(urls);
    const second = await judgeWhole(dataDir, 'after asking again', faults);
    judgeRevisits(second, urls, 'server-not-modified', 304, faults);
    site.touch();
    const touched = await again(urls);
    const third = await judgeWhole(dataDir, 'after new validators', faults);
    judgeRevisits(third, urls, 'identical-payload-digest', 200, faults);
    const { records } = third.archive;
    const files = archiveFiles(dataDir);
    // Moved elsewhere by its operator: what refers to it is still written.
    rmSync(files[0] as string);
    const gone = await again([urls[0] as string]);
    if (gone.reason !== 'done') faults.push(`without its first archive file the crawl ended as ${gone.reason}`);
    const seconds = Math.round(performance.now() - startedMs) / 1_000;
    return { pages: urls.length, files: files.length, kills, torn, records, unmodified, touched, seconds, faults };
  } finally {
    rmSync(prefix, { recursive: true, force: true });
  }
}

// -- after a kill -----------------------------------------------------------------------------------------------

/** Looks at a copy, so that the crawl itself finds what the kill has left. Answers 1 where the kill tore a file. */
async function judgeKilled(dataDir: string, copy: string, when: string, faults: string[]): Promise<number> {
  cpSync(dataDir, copy, { recursive: true, filter: (name) => !/LOCK$|\.sock$/.test(name) });
  try {
    const store = await openStore({ dir: copy, warcinfo: () => new Uint8Array(0) });
    const { notes } = store.opened();
    await store.close();
    for (const note of notes) if (!note.startsWith('cut ')) faults.push(`${when}: ${note}`);
    await judgeWhole(copy, when, faults);
    return notes.some((note) => note.includes('.warc.gz')) ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

// -- whole data directories ---------------------------------------------------------------------------------------

interface Whole {
  readonly archive: ArchiveReading;
  readonly pages: readonly PageLine[];
}

async function judgeWhole(dataDir: string, when: string, faults: string[]): Promise<Whole> {
  const files = archiveFiles(dataDir);
  const archive = await readArchive(files);
  faults.push(...archive.faults.map((fault) => `${when}: ${fault}`));
  for (const file of files) faults.push(...(await indexFaults(file)).map((fault) => `${when}: ${fault}`));
  const pages = lines(join(dataDir, 'pages.jsonl')).map((line) => JSON.parse(line) as PageLine);
  for (const page of pages) {
    if (!isFound(dataDir, page)) faults.push(`${when}: ${page.canonical} is not found at ${JSON.stringify(page.warc)}`);
  }
  return { archive, pages };
}

function archiveFiles(dataDir: string): string[] {
  const folder = join(dataDir, 'archive');
  const names = readdirSync(folder).filter((name) => name.endsWith('.warc.gz'));
  return names.sort().map((name) => join(folder, name));
}

function indexOf(file: string): string {
  return file.replace(/\.warc\.gz$/, '.cdxj');
}

function lines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** Sorted, and what warcio's indexer makes of the same file. */
async function indexFaults(file: string): Promise<string[]> {
  const ours = lines(indexOf(file));
  const faults = ours.every(
    (line, i) => i === 0 || Buffer.compare(Buffer.from(ours[i - 1] as string), Buffer.from(line)) <= 0,
  )
    ? []
    : [`${basename(indexOf(file))} is not sorted`];
  const theirs = new Set<string>();
  const indexer = new CDXIndexer({ format: 'cdxj' });
  const reader = createReadStream(file) as AsyncIterable<Uint8Array>;
  for await (const entry of indexer.iterIndex([{ filename: basename(file), reader }])) {
    theirs.add(unordered(indexer.serializeCDXJ(entry).trimEnd()));
  }
  for (const line of ours) if (!theirs.delete(unordered(line))) faults.push(`warcio does not index as we do: ${line}`);
  for (const line of theirs) faults.push(`warcio alone indexes: ${line}`);
  return faults;
}

/** Key and time as they are; the order of fields means nothing. */
function unordered(line: string): string {
  const brace = line.indexOf('{');
  const fields = Object.entries(JSON.parse(line.slice(brace)) as Record<string, string>).sort();
  return `${line.slice(0, brace)}${JSON.stringify(fields)}`;
}

/** By bisection, as whoever replays an archive looks for a URL. */
function isFound(dataDir: string, { canonical, warc }: PageLine): boolean {
  const sorted = lines(indexOf(join(dataDir, warc.file)));
  const prefix = `${surtOf(canonical)} `;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(Buffer.from(sorted[middle] as string), Buffer.from(prefix)) < 0) low = middle + 1;
    else high = middle;
  }
  for (let i = low; sorted[i]?.startsWith(prefix); i++) {
    const { offset, length, mime } = JSON.parse((sorted[i] as string).slice((sorted[i] as string).indexOf('{')));
    if (Number(offset) !== warc.offset || Number(length) !== warc.length) continue;
    return (mime === 'warc/revisit') === (warc.type === 'revisit');
  }
  return false;
}

/** For the plain URLs of a trial: host labels reversed, path and query as they are but for case. */
function surtOf(url: string): string {
  const { hostname, port, pathname, search } = new URL(url.toLowerCase());
  const query = search === '' ? '' : `?${search.slice(1).split('&').sort().join('&')}`;
  return `${hostname.split('.').reverse().join(',')}${port === '' ? '' : `:${port}`})${pathname}${query}`;
}

// -- what is asked again ------------------------------------------------------------------------------------------

/** Each URL's newest line speaks of a revisit of this kind. */
function judgeRevisits(
  { archive, pages }: Whole,
  urls: readonly string[],
  profile: string,
  status: number,
  faults: string[],
): void {
  const newest = new Map(pages.map((page) => [page.canonical, page]));
  const revisits = new Map(archive.responses.map((response) => [response.url, response]));
  for (const url of urls) {
    const page = newest.get(url);
    const revisit = revisits.get(url);
    if (page?.outcome !== 'unchanged' || page.status !== status || page.warc.type !== 'revisit')
      faults.push(`${url} was not told as unchanged by ${status}: ${JSON.stringify(page)}`);
    if (revisit?.profile !== profile) faults.push(`${url}: its newest record is ${revisit?.profile ?? revisit?.type}`);
  }
}

/** A folder of documentation behind nginx, in a copy whose files can be touched. */
export async function startDocumentation(
  folder: string,
  prefix: string,
): Promise<TrialSite & { stop(): Promise<void> }> {
  const copy = join(prefix, 'site');
  cpSync(folder, copy, { recursive: true, dereference: true });
  const nginx = await startNginx(prefix, [{ address: '127.0.0.1', folder: copy, robots: 'User-agent: *\nAllow: /\n' }]);
  return {
    seed: `http://127.0.0.1:${nginx.port}/`,
    touch: () => touchAll(copy),
    stop: () => nginx.stop(),
  };
}

/** An hour later than it was: times in files have whole seconds, and so have the validators made of them. */
function touchAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const seconds = statSync(file).mtimeMs / 1_000 + 3_600;
    utimesSync(file, seconds, seconds);
  }
}
