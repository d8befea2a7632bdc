/**
 * The status of a crawl: counts of the whole store, and of its hosts why they are not being asked right now.
 *
 * Counting all hosts would take as long as there are hosts. So their counts are read up to a bound, and of those the
 * hosts with the longest queues are looked at closely: they are what the end of the crawl waits for. How many that
 * were is told.
 */
import type { QueueSummary } from '../domain/record.js';
import type { BenchFacts, GateFacts } from '../protocols/bench.js';
import { PAUSED } from '../protocols/workbench.js';
import type { Totals } from '../protocols/commit.js';
import type { StorePort } from '../protocols/ports.js';
import type { BrowserReport, CrawlState, ProbeReport, RetriesReport, StatusReport, WaitCause } from './control.js';
import { timeOf } from './control.js';
import {
  delayMsOf,
  type DelayTerms,
  type HostFacts,
  readHost,
  restMs,
  type Standing,
  sum,
  waitOf,
} from './host-facts.js';

/** Hosts whose counts are read for one status: some tens of milliseconds. */
export const HOSTS_COUNTED_MAX = 20_000;
/** Hosts that are looked at closely: four reads each. */
export const HOSTS_EXAMINED_MAX = 256;
const HOSTS_AT_ONCE = 1_000;

/** What a running crawl knows of itself. Times are of the wall clock. */
export interface RunFacts {
  readonly startedAtMs: number;
  readonly pages: number;
  readonly requests: number;
  readonly failed: number;
  readonly ratePerSecond: number;
  readonly totals: Totals;
  readonly hostsActive: number;
  /** Why no permits are given; empty while they are. */
  readonly holds: readonly string[];
  /** Its start, or the end of its last hold or pause. */
  readonly runsSinceMs: number;
  readonly holdsSinceMs: number | null;
  readonly isPaused: boolean;
  readonly drainsSinceMs: number | null;
  /** When something was last committed. */
  readonly movedAtMs: number;
}

/** Hosts with work, those that were looked at, and their gates. */
export interface Survey {
  readonly known: number;
  readonly ready: number;
  readonly waiting: number;
  readonly examined: readonly HostFacts[];
  readonly gates: ReadonlyMap<string, GateFacts>;
  readonly bench: BenchFacts | null;
}

export async function survey(
  store: StorePort,
  describe: (hosts: readonly string[]) => Promise<BenchFacts | null>,
): Promise<Survey> {
  const counted = await countHosts(store);
  const examined: HostFacts[] = [];
  for (const { host } of counted.longest) {
    const facts = await readHost(store, host, 1);
    if (facts !== null) examined.push(facts);
  }
  const bench = await describe(examined.map(({ name }) => name));
  const gates = new Map((bench?.gates ?? []).map((gate) => [gate.host, gate]));
  const { known, ready, waiting } = counted;
  return { known, ready, waiting, examined, gates, bench };
}

/** While the store of a running crawl fails: the hosts as they were counted last, and why all wait (D3). */
export async function surveyWithoutStore(
  last: Survey | null,
  describe: (hosts: readonly string[]) => Promise<BenchFacts | null>,
): Promise<Survey> {
  const { known, ready, waiting } = last ?? { known: 0, ready: 0, waiting: 0 };
  return { known, ready, waiting, examined: [], gates: new Map(), bench: await describe([]) };
}

async function countHosts(store: StorePort) {
  const withWork: QueueSummary[] = [];
  const counts = { known: 0, ready: 0, waiting: 0 };
  for (let after: string | null = null; counts.known < HOSTS_COUNTED_MAX; ) {
    const { summaries, complete } = await store.listSummaries(after, HOSTS_AT_ONCE);
    for (const summary of summaries) {
      counts.known += 1;
      if (sum(summary.ready) > 0) counts.ready += 1;
      else if (summary.waiting + summary.parked > 0) counts.waiting += 1;
      if (lengthOf(summary) > 0) withWork.push(summary);
    }
    after = summaries.at(-1)?.host ?? null;
    if (complete || after === null) break;
  }
  withWork.sort((a, b) => lengthOf(b) - lengthOf(a));
  return { ...counts, longest: withWork.slice(0, HOSTS_EXAMINED_MAX) };
}

function lengthOf({ ready, waiting, parked }: QueueSummary): number {
  return sum(ready) + waiting + parked;
}

export interface StatusGround {
  readonly dataDir: string;
  readonly totals: Totals;
  readonly terms: DelayTerms;
  readonly run: RunFacts | null;
  /** Of a crawl that does not run. */
  readonly isPaused: boolean;
  readonly nowMs: number;
}

export function statusReport(ground: StatusGround, found: Survey): StatusReport {
  const { run, totals, nowMs } = ground;
  const state = stateOf(ground, found);
  // The workbench knows best; its events tell only when the last hold has gone.
  const holds = found.bench?.holds ?? run?.holds ?? (ground.isPaused ? [PAUSED] : []);
  const { retryBudget } = ground.terms;
  const standing: Standing = { bench: found.bench, phase: phaseOf(state), nowMs, retryBudget };
  const waitingWhy = new Map<WaitCause, number>();
  for (const facts of found.examined) {
    const wait = waitOf(facts, found.gates.get(facts.name) ?? null, standing);
    if (wait !== null) waitingWhy.set(wait.why, (waitingWhy.get(wait.why) ?? 0) + 1);
  }
  const { bench } = found;
  return {
    state,
    since: sinceOf(state, run),
    reasons: holds,
    dataDir: ground.dataDir,
    run: run === null ? null : runReport(run, bench),
    probing: probeReport(bench),
    pages: run?.pages ?? 0,
    requests: run?.requests ?? 0,
    rate: rounded(run?.ratePerSecond ?? 0),
    hosts: {
      known: found.known,
      active: run === null ? 0 : activeHosts(run, bench),
      ready: found.ready,
      waiting: found.waiting,
    },
    queued: totals.ready,
    waiting: totals.waiting,
    parked: totals.parked,
    dead: totals.dead,
    discovered: totals.urls,
    archivedPages: totals.pages,
    waitingWhy: Object.fromEntries([...waitingWhy].sort(([, a], [, b]) => b - a)),
    hostsExamined: found.examined.length,
    etaSeconds: ADVANCES.has(state) ? etaSeconds(ground, found) : null,
  };
}

/** Where there is a pace to reckon with. */
const ADVANCES: ReadonlySet<CrawlState> = new Set(['running', 'idle']);

function probeReport(bench: BenchFacts | null): ProbeReport | null {
  if (bench === null || bench.probing === null) return null;
  const { host, nextAtMs, failed } = bench.probing;
  return { host, nextAt: timeOf(nextAtMs), failed };
}

function runReport(run: RunFacts, bench: BenchFacts | null): NonNullable<StatusReport['run']> {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    pid: process.pid,
    startedAt: timeOf(run.startedAtMs),
    pages: run.pages,
    requests: run.requests,
    failed: run.failed,
    rate: rounded(run.ratePerSecond),
    openVisits: bench?.openVisits ?? null,
    openBytes: bench?.openBytes ?? null,
    slotsFree: bench?.slotsFree ?? null,
    retries: retriesReport(bench),
    browser: browserReport(bench),
    memory: { rssBytes: rss, heapUsedBytes: heapUsed },
  };
}

function retriesReport(bench: BenchFacts | null): RetriesReport | null {
  if (bench === null || bench.retries === null) return null;
  return { left: bench.retries.left, nextAt: timeOf(bench.retries.waitsUntilMs) };
}

function browserReport(bench: BenchFacts | null): BrowserReport | null {
  const pool = bench?.tiers.find(({ tier }) => tier === 3);
  if (bench === null || bench.backend === null || pool === undefined) return null;
  const { breaker, inARow, restsUntilMs, failures, openings } = bench.backend;
  return {
    breaker,
    failuresInARow: inARow,
    restsUntil: timeOf(restsUntilMs),
    failures,
    rests: openings,
    slots: pool.slots,
    slotsFree: pool.free,
    hostsInLine: pool.inLine,
  };
}

function stateOf({ run, totals }: StatusGround, { bench }: Survey): CrawlState {
  if (run === null) return 'stopped';
  if (run.drainsSinceMs !== null) return 'draining';
  if (run.isPaused) return 'paused';
  if ((bench?.holds ?? run.holds).length > 0) return 'held';
  return totals.ready > 0 || activeHosts(run, bench) > 0 || (bench?.openVisits ?? 0) > 0 ? 'running' : 'idle';
}

/** Hosts that are asking or being asked; without the workbench's word, those of the last commit. */
function activeHosts(run: RunFacts, bench: BenchFacts | null): number {
  if (bench === null) return run.hostsActive;
  const { inFlight, closed, behindAddress, inLine } = bench.hosts;
  return inFlight + closed + behindAddress + inLine;
}

function phaseOf(state: CrawlState): Standing['phase'] {
  return state === 'stopped' || state === 'paused' ? state : 'running';
}

function sinceOf(state: CrawlState, run: RunFacts | null): string | null {
  if (run === null) return null;
  switch (state) {
    case 'draining':
      return timeOf(run.drainsSinceMs);
    case 'held':
    case 'paused':
      return timeOf(run.holdsSinceMs);
    case 'idle':
      return timeOf(run.movedAtMs);
    default:
      return timeOf(run.runsSinceMs);
  }
}

/** The longest queue at its host's pace, after its rest, or all at the crawl's pace, whichever takes longer. New links come on top. */
function etaSeconds({ run, totals, terms, nowMs }: StatusGround, { examined }: Survey): number | null {
  const left = totals.ready + totals.waiting;
  if (left === 0) return 0;
  let longest = 0;
  for (const facts of examined) {
    const perVisitMs = delayMsOf(facts, terms, nowMs) + (facts.snapshot.lastDurationMs ?? 0);
    const visits = sum(facts.summary.ready) + facts.summary.waiting;
    if (visits > 0) longest = Math.max(longest, (restMs(facts, nowMs) + visits * perVisitMs) / 1_000);
  }
  const rate = run?.ratePerSecond ?? 0;
  const byRate = rate > 0.001 ? left / rate : 0;
  return longest + byRate > 0 ? Math.ceil(Math.max(longest, byRate)) : null;
}

function rounded(perSecond: number): number {
  return Math.round(perSecond * 100) / 100;
}
