/**
 * A crawl whose disk fails under it (D3): full, read-only, or with syncs that end in an I/O error.
 *
 * The data directory lies on a small file system of its own; a ballast file takes what room is left in the middle of the
 * crawl. It must stop asking, say why, and go on by itself when there is room again; a kill -9 later on, and the same
 * command again, must bring it to the same set of pages as if nothing had been. What was asked is known from the server.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, type Verdict } from '../../src/practice/judge.js';
import { type PracticeServer, startPracticeServer } from '../../src/practice/server.js';
import { practiceWeb, type WebSettings } from '../../src/practice/web.js';
import { eventsOf } from '../../src/practice/witness.js';
import { type ArchiveReading, readArchive } from './archive.js';
import {
  crawl,
  type CrawlOptions,
  type LogLine,
  PRODUCT_TOKEN,
  readLog,
  startCrawl,
  type SummaryLine,
  until,
} from './crawl-process.js';

const ROOM_BYTES = 16 << 20;
const DELAY_MS = 250;
/** Long enough for the store to be tried again a few times. */
const HELD_MS = 1_800;
/** Hosts that stay at work from beginning to end, and hosts that have long come to rest when a sync fails. */
const BUSY = { profile: 'wide', hosts: 20, pages: 400, seedHosts: 20, pageBytes: 6_000 } as const;
const QUIET = { profile: 'ordinary', hosts: 50, pages: 110, seedHosts: 25, pageBytes: 6_000 } as const;

export interface DiskFullReport {
  /** Why permits were held while there was no room, and while nothing could be written. */
  readonly reasons: { readonly full: readonly string[]; readonly readOnly: readonly string[] };
  /** Requests that began while it was held, after those that were open had ended. */
  readonly requestsWhileHeld: number;
  /** Visits told before the disk was full, before the kill, and when the second process ended. */
  readonly visits: { readonly before: number; readonly killed: number };
  /** The process that went on is the one that was held. */
  readonly samePid: boolean;
  readonly result: CrawlResult;
}

export interface FailingSyncsReport {
  /** Commits that failed, by code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly injected: number;
  /** Visits that were taken back, as far as the log tells. */
  readonly queuedAgain: number;
  readonly result: CrawlResult;
}

/** What is left when all is done, beside the truth. */
export interface CrawlResult {
  readonly summary: SummaryLine;
  /** URLs that `pages.jsonl` lacks, has too much, or has twice. */
  readonly missing: readonly string[];
  readonly surplus: readonly string[];
  readonly doubled: readonly string[];
  readonly pages: number;
  /** URLs whose page is in the archive more than once. */
  readonly archivedTwice: readonly string[];
  readonly archive: ArchiveReading;
  readonly verdict: Verdict;
}

/** Why a small disk can't be had here; null when it can. */
export function whatIsMissing(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder], { stdio: 'ignore' });
    return null;
  } catch {
    return 'a file system can be mounted by root only';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Full, then read-only, then room again, then a kill -9, then the same command once more. */
export async function crawlOnSmallDisk(): Promise<DiskFullReport> {
  return withStage(BUSY, async ({ folder, server, optionsFor }) => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOM_BYTES}`, 'tmpfs', disk]);
    const logFile = join(folder, 'log');
    const options = { ...optionsFor(join(disk, 'data')), logFile };
    const first = startCrawl(options);
    try {
      await until('a part of the crawl', () => first.visits.length >= 100);
      const before = first.visits.length;
      fill(join(disk, 'ballast'));
      await until('it is held', () => reasonsIn(readLog(logFile)).length > 0);
      await until('open requests have ended', () => server.stats().open === 0);
      // A request that was granted in the moment of the hold may still be on its way.
      await sleep(100);
      const requestsBefore = server.stats().requests;
      await sleep(HELD_MS);
      const full = reasonsIn(readLog(logFile));
      // The whole file system can't be: files that are kept open for writing forbid it.
      const store = join(disk, 'data/store');
      execFileSync('mount', ['--bind', store, store]);
      execFileSync('mount', ['-o', 'remount,bind,ro', store]);
      await until('it says that it can not be written', () => reasonsIn(readLog(logFile)).length > full.length);
      const readOnly = reasonsIn(readLog(logFile)).slice(full.length);
      const requestsWhileHeld = server.stats().requests - requestsBefore;
      execFileSync('umount', ['--lazy', store]);
      rmSync(join(disk, 'ballast'));
      await until('it goes on', () => first.visits.length >= before + 80, 30_000);
      const samePid = first.isAlive();
      server.log.mark('K');
      first.kill();
      await first.ended;
      server.log.mark('B');
      const { summary } = await crawl(options);
      return {
        reasons: { full, readOnly },
        requestsWhileHeld,
        visits: { before, killed: first.visits.length },
        samePid,
        result: await resultOf(join(disk, 'data'), server, summary),
      };
    } finally {
      first.kill();
      await first.ended;
      execFileSync('umount', ['--recursive', disk]);
    }
  });
}

/** Some syncs fail with EIO, again and again: what came since the last good one must be believed no more. */
export async function crawlWithFailingSyncs(): Promise<FailingSyncsReport> {
  return withStage(QUIET, async ({ folder, server, optionsFor }) => {
    const [dataDir, logFile, calls] = [join(folder, 'data'), join(folder, 'log'), join(folder, 'calls')];
    // Of the files that grow; counted by thread, of which there are four: the first and the fourth of each fails.
    const paths = ['-P', join(dataDir, 'pages.jsonl'), '-P', join(dataDir, 'archive/orbweaver-00001.warc.gz')];
    const inject = ['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO:when=1..4+3'];
    const under = ['strace', '-f', '-qq', '--seccomp-bpf', ...paths, ...inject, '-o', calls];
    const { summary } = await crawl({ ...optionsFor(dataDir), logFile, under });
    const failures: Record<string, number> = {};
    let queuedAgain = 0;
    for (const { event, code, note } of readLog(logFile)) {
      if (event === 'commit_failed') failures[String(code)] = (failures[String(code)] ?? 0) + 1;
      if (event === 'store_repaired')
        queuedAgain += Number(/(\d+) visits are queued again/.exec(String(note))?.[1] ?? 0);
    }
    const injected = readFileSync(calls, 'utf8').match(/\(INJECTED\)/g)?.length ?? 0;
    return { failures, injected, queuedAgain, result: await resultOf(dataDir, server, summary, 'allowed') };
  });
}

// -- the stage --------------------------------------------------------------------------------------------------

interface Stage {
  readonly folder: string;
  readonly server: PracticeServer;
  optionsFor(dataDir: string): CrawlOptions;
}

async function withStage<T>(kind: Partial<WebSettings>, play: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-disk-full-'));
  const web = practiceWeb(kind);
  const server = await startPracticeServer({ web });
  try {
    const { seeds } = server.truth(PRODUCT_TOKEN);
    const settings = {
      'dns.hosts': { '*.practice.test': '127.0.0.1' },
      'guard.allow': ['127.0.0.0/8'],
      'politeness.delayMs': DELAY_MS,
      'politeness.adaptiveFactor': 0,
      'politeness.addressDelayMs': 0,
      'retry.delaysSeconds': [1],
    };
    const optionsFor = (dataDir: string) => ({
      seeds,
      dataDir,
      settings,
      words: ['--wait', '5', '--max-seconds', '45', '--scope', 'any'],
    });
    return await play({ folder, server, optionsFor });
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Takes all the room that there is. */
function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  const blocks = [1 << 20, 1 << 16, 1 << 12].map((bytes) => Buffer.alloc(bytes, 1));
  try {
    for (const block of blocks) while (writes(descriptor, block));
  } finally {
    closeSync(descriptor);
  }
}

function writes(descriptor: number, block: Buffer): boolean {
  try {
    return writeSync(descriptor, block) === block.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

/** Each reason that was given, once the log has it: for holding the permits, and for not getting on. */
function reasonsIn(lines: readonly LogLine[]): string[] {
  return lines.flatMap(({ event, why, code }) =>
    event === 'permits_held' ? [String(why)] : event === 'reopen_failed' ? [`${code}`] : [],
  );
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// -- what came of it --------------------------------------------------------------------------------------------

async function resultOf(
  dataDir: string,
  server: PracticeServer,
  summary: SummaryLine,
  repeats: 'judged' | 'allowed' = 'judged',
): Promise<CrawlResult> {
  const truth = new Set(server.truth(PRODUCT_TOKEN).pages);
  const lines = readFileSync(join(dataDir, 'pages.jsonl'), 'utf8').split('\n').slice(0, -1);
  const found = lines.map((line) => (JSON.parse(line) as { url: string }).url);
  const archive = await readArchive(summary.archive);
  const archived = archive.responses.map(({ url }) => url).filter((url) => truth.has(url));
  return {
    summary,
    missing: [...truth].filter((url) => !found.includes(url)),
    surplus: found.filter((url) => !truth.has(url)),
    doubled: repeatedIn(found),
    pages: truth.size,
    archivedTwice: repeatedIn(archived),
    archive,
    verdict: judge(eventsOf(server.log.text()), {
      productToken: PRODUCT_TOKEN,
      delayMs: DELAY_MS,
      repeats,
    }),
  };
}

function repeatedIn(urls: readonly string[]): string[] {
  const seen = new Set<string>();
  return urls.filter((url) => seen.has(url) || !seen.add(url));
}
