/**
 * What is held against a crawl when its universe has ended: by the servers' log, by the files that it left, by its
 * registry. Never by what it says of itself.
 *
 * Each rule is a line `rule: detail`; the rules of politeness are the judge's own. What a rule grants after a kill is
 * what the next life can't have known, and nothing else.
 */
import { createHash } from 'node:crypto';
import type { UrlRecord, UrlState } from '../domain/record.js';
import { judge, type Verdict } from '../practice/judge.js';
import type { StorePort } from '../protocols/ports.js';
import type { Cut } from './cut.js';
import { WALL_START_MS } from './events.js';
import type { Final, Landscape, Page, Truth } from './landscape.js';
import type { UniverseSettings } from './settings.js';
import type { WitnessEvent } from '../practice/witness.js';

/** A rule that was broken, and how. */
export type Accuse = (rule: string, detail: string) => void;

/** A committed line of pages.jsonl. */
export interface PageTold {
  readonly canonical: string;
  readonly status: number;
  readonly outcome: 'fetched' | 'unchanged';
  /** By the crawl's wall clock. */
  readonly fetchedAt: string;
}

/** Of the simulated crawl's patience; what the judge holds it to, in its own words. */
const PATIENCE = {
  throttle: { firstMs: 2_000, capMs: 3_600_000 },
  breaker: { failures: 5, firstMs: 30_000, capMs: 3_600_000 },
  jitterShare: 0.2,
} as const;

/** RFC 9309 §2.4. */
const ROBOTS_AGE_MS_MAX = 24 * 3_600_000;

/** Rows looked at for one that must be there. */
const ROWS_MAX = 100_000;

/** By the servers' log alone (P1 to P9, B3). */
export function judgeLog(log: readonly WitnessEvent[], settings: UniverseSettings): Verdict {
  const { delayMs, addressDelayMs, adaptiveFactor, revisitMs, powerLosses, clockJumps, clockJumpMsMax } = settings;
  // A machine that was started anew knows of no step that its clock has made before: its wall clock is believed.
  const unseenStepMs = powerLosses > 0 ? clockJumps * clockJumpMsMax : 0;
  return judge(log, {
    productToken: 'orbweaver',
    delayMs,
    addressDelayMs,
    adaptiveFactor,
    patience: PATIENCE,
    robotsAgeMsMax: ROBOTS_AGE_MS_MAX + unseenStepMs,
    repeats: revisitMs > 0 ? 'allowed' : 'judged',
  });
}

export interface Evidence {
  readonly settings: UniverseSettings;
  readonly landscape: Landscape;
  readonly truth: Truth;
  /** The truth without what can be had only through these. */
  readonly truthWithout: (without: ReadonlySet<string>) => Truth;
  /** When the machine died, in simulated time. */
  readonly powerLossesAtMs: readonly number[];
  readonly pages: readonly PageTold[];
  readonly store: StorePort;
  /** Failures that the world has dealt a URL, and that use its deliveries. */
  readonly setbacksOf: (url: string) => number;
  /** Times in which nothing got through, and which the crawl must have taken for what they were. */
  readonly cuts: readonly Cut[];
}

/** A URL with so many failures is given up. */
const DELIVERIES_MAX = 8;
/** Attempts that say of a host what may be said of the way there. */
const UNREACHED: ReadonlySet<string> = new Set(['connect_failed', 'connection_reset', 'timeout', 'dns_failed']);
/** A visit that began longer ago than this is on the disk: its request, its reading, a held write, and the sync. */
const UNSYNCED_MS_MAX = 60_000;
/** What was under way as it began may have been judged just before. */
const CUT_MARGIN_MS = 1_000;

/**
 * By files and registry (D1, D2, L4): of a crawl that had nothing left to do, everything; of another, that nothing is lost.
 * Returns the URLs that need not have been had, as the world was so bad to them that giving them up was right.
 */
export async function judgeDisk(evidence: Evidence, accuse: Accuse): Promise<ReadonlySet<string>> {
  const { store, landscape, settings } = evidence;
  const pardoned = pardonedOf(evidence);
  const owed = pardoned.size === 0 ? evidence.truth : evidence.truthWithout(pardoned);
  judgePages(evidence, owed, accuse);
  await judgeAttempts(evidence, accuse);
  await judgeRows(evidence, accuse);
  await judgeLetters(evidence, accuse);
  if (settings.forMs > 0) return pardoned;
  const { ready, waiting, parked } = store.opened().totals;
  if (ready + waiting + parked > 0)
    accuse('left-over', `${ready} ready, ${waiting} waiting and ${parked} parked are left`);
  for (const url of owed.reachable) judgeRecord(await recordOf(store, url), pageOf(landscape, url), accuse);
  return pardoned;
}

function judgePages(evidence: Evidence, owed: Truth, accuse: Accuse): void {
  const { settings, pages, truth } = evidence;
  const told = new Map<string, number[]>();
  const confirmed = new Set<string>();
  for (const { canonical, outcome, fetchedAt } of pages) {
    if (outcome === 'unchanged') confirmed.add(canonical);
    else told.set(canonical, [...(told.get(canonical) ?? []), Date.parse(fetchedAt) - WALL_START_MS]);
  }
  for (const [url, timesMs] of told) {
    const unexcused = timesMs.slice(0, -1).filter((atMs) => !mayHaveBeenLost(evidence, atMs)).length;
    if (unexcused > 0) accuse('double', `${url} stands in pages.jsonl ${timesMs.length} times`);
    if (!truth.committed.has(url)) accuse('unexpected', `${url} stands in pages.jsonl`);
  }
  if (settings.forMs > 0) return;
  for (const url of owed.committed) {
    if (!told.has(url)) accuse('lost', `${url} was never committed`);
    const isDue = settings.again && !confirmed.has(url) && !isMadeAgain(evidence, told.get(url) ?? []);
    if (isDue) accuse('unasked', `${url} was not told as unchanged`);
    if (!settings.again && confirmed.has(url)) accuse('asked-again', `${url} was told as unchanged`);
  }
}

/** Its line was written so shortly before the power went that its records may have been lost: then it is made once more. */
function mayHaveBeenLost({ powerLossesAtMs, settings }: Evidence, fetchedAtMs: number): boolean {
  // The line says when by a wall clock that jumps.
  if (settings.clockJumps > 0) return powerLossesAtMs.length > 0;
  return powerLossesAtMs.some((atMs) => fetchedAtMs < atMs && fetchedAtMs > atMs - UNSYNCED_MS_MAX);
}

/** Its records went with the power, its confirmation perhaps with them: it was asked for whole once more after that. */
function isMadeAgain({ powerLossesAtMs, settings }: Evidence, toldAtMs: readonly number[]): boolean {
  // The lines say when by a wall clock that jumps.
  const isBefore = (atMs: number) => settings.clockJumps > 0 || atMs < Math.max(...toldAtMs);
  return toldAtMs.length > 1 && powerLossesAtMs.some(isBefore);
}

function judgeRecord(record: UrlRecord | null, page: Page, accuse: Accuse): void {
  const expected = stateOf(page.final);
  if (record === null) return accuse('unknown-url', `${page.url} is not in the registry`);
  if (record.state !== expected) accuse('state', `${page.url} is ${record.state}, not ${expected}`);
}

/** The world was so bad to them that giving them up was right. */
function pardonedOf({ truth, landscape, setbacksOf }: Evidence): Set<string> {
  const isFine = (url: string): boolean => stateOf(pageOf(landscape, url).final) !== 'dead';
  return new Set([...truth.reachable].filter((url) => setbacksOf(url) >= DELIVERIES_MAX && isFine(url)));
}

/** B5: what fails while nothing gets through says nothing of a URL. */
async function judgeAttempts({ store, truth, cuts, settings }: Evidence, accuse: Accuse): Promise<void> {
  // The record says when by a wall clock that jumps.
  if (cuts.length === 0 || settings.clockJumps > 0) return;
  for (const url of truth.reachable) {
    for (const { atMs, code } of (await recordOf(store, url))?.attempts ?? []) {
      const sinceStartMs = atMs - WALL_START_MS;
      const cut = cuts.find(({ fromMs, untilMs }) => sinceStartMs > fromMs + CUT_MARGIN_MS && sinceStartMs < untilMs);
      if (cut !== undefined && UNREACHED.has(code))
        accuse('egress', `${url} is said to have ended in ${code} while nothing got through to anybody`);
    }
  }
}

/** What was given up is kept with its cause for as long as it is given up, and no longer. */
async function judgeLetters({ store, truth }: Evidence, accuse: Accuse): Promise<void> {
  for (const url of truth.reachable) {
    const record = await recordOf(store, url);
    if (record === null) continue;
    const letter = await store.readDead(keyOf(url), new URL(url).hostname);
    if (record.state === 'dead' && letter === null) accuse('dead-letter', `${url} is dead, and no letter says why`);
    if (record.state !== 'dead' && letter !== null)
      accuse('dead-letter', `${url} is ${record.state}, and is still among the dead letters`);
  }
}

/** A URL whose visit is not over has its row, in the queue that its state names. */
async function judgeRows({ store, truth }: Evidence, accuse: Accuse): Promise<void> {
  for (const url of truth.reachable) {
    const record = await recordOf(store, url);
    if (record === null || !IN_QUEUE.has(record.state)) continue;
    if ((await store.readStanding(record, ROWS_MAX)) === null)
      accuse('lost-row', `${url} is ${record.state}, and stands in no queue`);
  }
}

const IN_QUEUE: ReadonlySet<UrlState> = new Set(['queued', 'waiting', 'parked', 'blocked_by_robots']);

function recordOf(store: StorePort, url: string): Promise<UrlRecord | null> {
  return store.readRecord(keyOf(url), new URL(url).hostname);
}

function pageOf({ pages }: Landscape, url: string): Page {
  return pages.get(url) as Page;
}

/** The state in which the world leaves a URL that was asked for until nothing more was due. */
function stateOf(final: Final): UrlState {
  switch (final.kind) {
    case 'page':
    case 'binary':
    case 'wall':
    case 'mending':
      return 'active';
    case 'redirect':
    case 'login':
      return 'redirected';
    case 'missing':
      return 'soft_missing';
    case 'gone':
      return 'gone_candidate';
    case 'endless':
      return 'refused';
    case 'failing':
    case 'poison':
      return 'dead';
  }
}

/** The first 128 bits of the canonical URL's SHA-256, in hex. */
export function keyOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}
