/**
 * What does the engine cost beside the bare loop: CPU time a page, memory, messages, and is every page there once?
 *
 * The raw loop, the engine, and the engine without an archive crawl the same canned pages without delay, one after
 * the other, each in a process of its own, against one server in another; CPU time is of all threads of a process.
 * Then the engine runs once more under the sampling profiler, and its CPU time is split by what the samples stood in:
 * shares are of that run, times of the others.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CANNED_WEB, type CannedWeb } from './canned-web.js';
import { round, spread } from './measure.js';
import { type CannedServer, startCannedServer } from './pages.js';
import { sharesOf } from './profile.js';
import type { Bench, BenchOptions, Figures } from './result.js';
import type { ChildJob, ChildReport } from './throughput-child.js';

const PAGES = 10_000;
const PAGES_WARM = 2_000;
const HOSTS = 100;
const ROUNDS = 3;
const SUBJECTS: readonly ChildJob['subject'][] = ['raw loop', 'engine', 'engine, no archive'];

export const run: Bench = async (options) => {
  const web = webOf(options);
  const server = await startCannedServer(web);
  try {
    const reports = new Map<ChildJob['subject'], ChildReport[]>(SUBJECTS.map((subject) => [subject, []]));
    // Round by round, so that what else the machine does hits all of them alike.
    for (let i = 0; i < (options.rounds ?? ROUNDS); i++) {
      for (const subject of SUBJECTS) reports.get(subject)?.push(await runOnce(subject, web, server, null));
    }
    const subjects = Object.fromEntries([...reports].map(([subject, all]) => [subject, medianOf(all)]));
    const engine = subjects.engine as ChildReport;
    const stages = await profiled(web, server, engine.cpuMicrosPerPage);
    const raw = subjects['raw loop'] as ChildReport;
    const times = (report: ChildReport) =>
      round((report.figures.cpuMicrosPerPage as number) / (raw.figures.cpuMicrosPerPage as number), 2);
    return {
      name: 'throughput',
      figures: {
        pages: web.pages - PAGES_WARM,
        hosts: web.hosts,
        bytesPerPage: web.bytes,
        linksPerPage: web.links,
        engineTimesRawLoop: times(engine),
        engineWithoutArchiveTimesRawLoop: times(subjects['engine, no archive'] as ChildReport),
      },
      subjects: { ...subjects, 'engine by module': { figures: {}, cpuMicrosPerPage: stages } },
    };
  } finally {
    await server.stop();
  }
};

function webOf({ pages, hosts, bytes, links }: BenchOptions): CannedWeb {
  return {
    pages: (pages ?? PAGES) + PAGES_WARM,
    hosts: hosts ?? HOSTS,
    bytes: bytes ?? CANNED_WEB.bytes,
    links: links ?? CANNED_WEB.links,
  };
}

/** @param profileDir where the profiles of its threads are to be written; null for none. */
async function runOnce(
  subject: ChildJob['subject'],
  web: CannedWeb,
  server: CannedServer,
  profileDir: string | null,
): Promise<ChildReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'orbweaver-bench-'));
  try {
    await server.testify();
    const job: ChildJob = { subject, web, port: server.port, pagesWarm: PAGES_WARM, dataDir };
    const child = fork(new URL('./throughput-child.js', import.meta.url), [JSON.stringify(job)], {
      execArgv: profileDir === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir],
    });
    const exited = once(child, 'exit');
    const [report] = (await Promise.race([once(child, 'message'), exited])) as [ChildReport | number | null];
    if (report === null || typeof report !== 'object') throw new Error(`${subject} ended early`);
    await exited;
    const { requests, inFlightMax } = await server.testify();
    return { ...report, figures: { ...report.figures, requests, inFlightMaxOfAHost: inFlightMax } };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The median of each figure. */
function medianOf(reports: readonly ChildReport[]): ChildReport {
  const median = (pick: (report: ChildReport) => Figures): Figures => {
    const names = Object.keys(pick(reports[0] as ChildReport));
    return Object.fromEntries(
      names.map((name) => [name, spread(reports.map((report) => pick(report)[name] as number)).median]),
    );
  };
  return { figures: median((it) => it.figures), cpuMicrosPerPage: median((it) => it.cpuMicrosPerPage) };
}

/** Splits the time of the threads, as it was without the profiler, by the shares of a run with it. */
async function profiled(web: CannedWeb, server: CannedServer, threads: Figures): Promise<Figures> {
  const profileDir = mkdtempSync(join(tmpdir(), 'orbweaver-profile-'));
  try {
    await runOnce('engine', web, server, profileDir);
    const { main, workers } = sharesOf(profileDir);
    const split = (thread: string, shares: ReadonlyMap<string, number>) =>
      [...shares].map(([stage, share]) => [
        `${thread}: ${stage}`,
        round(share * (threads[thread === 'main' ? 'main thread' : 'parser threads'] as number)),
      ]);
    return Object.fromEntries([
      ...split('main', main),
      ...split('parsers', workers),
      ['other threads', threads['other threads'] as number],
    ]);
  } finally {
    rmSync(profileDir, { recursive: true, force: true });
  }
}
