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
}

/** Of the simulated crawl's patience; what the judge holds it to, in its own words. */
const PATIENCE = {
  throttle: { firstMs: 2_000, capMs: 3_600_000 },
  breaker: { failures: 5, firstMs: 30_000, capMs: 3_600_000 },
  jitterShare: 0.2,
} as const;

/** Rows looked at for one that must be there. */
const ROWS_MAX = 100_000;

/** By the servers' log alone (P1 to P9, B3). */
export function judgeLog(log: readonly WitnessEvent[], settings: UniverseSettings): Verdict {
  const { delayMs, addressDelayMs, adaptiveFactor, revisitMs } = settings;
  return judge(log, {
    productToken: 'orbweaver',
    delayMs,
    addressDelayMs,
    adaptiveFactor,
    patience: PATIENCE,
    repeats: revisitMs > 0 ? 'allowed' : 'judged',
  });
}

export interface Evidence {
  readonly settings: UniverseSettings;
  readonly landscape: Landscape;
  readonly truth: Truth;
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
/** What was under way as it began may have been judged just before. */
const CUT_MARGIN_MS = 1_000;

/** By files and registry (D1, D2, L4): of a crawl that had nothing left to do, everything; of another, that nothing is lost. */
export async function judgeDisk(evidence: Evidence, accuse: Accuse): Promise<void> {
  judgePages(evidence, accuse);
  await judgeAttempts(evidence, accuse);
  if (evidence.settings.forMs > 0 || mayHaveGivenUp(evidence)) return judgeRows(evidence, accuse);
  const { store, truth, landscape } = evidence;
  const { ready, waiting, parked } = store.opened().totals;
  if (ready + waiting + parked > 0)
    accuse('left-over', `${ready} ready, ${waiting} waiting and ${parked} parked are left`);
  for (const url of truth.reachable) judgeRecord(await recordOf(store, url), pageOf(landscape, url), accuse);
}

function judgePages(evidence: Evidence, accuse: Accuse): void {
  const { settings, pages } = evidence;
  const { committed } = evidence.truth;
  const counts = new Map<string, number>();
  const confirmed = new Set<string>();
  for (const { canonical, outcome } of pages) {
    if (outcome === 'unchanged') confirmed.add(canonical);
    else counts.set(canonical, (counts.get(canonical) ?? 0) + 1);
  }
  for (const [url, count] of counts) {
    // Where power took a visit's records with it, though not all of its history, it is made once more, in full.
    if (count > 1 + settings.powerLosses) accuse('double', `${url} stands in pages.jsonl ${count} times`);
    if (!committed.has(url)) accuse('unexpected', `${url} stands in pages.jsonl`);
  }
  if (settings.forMs > 0 || mayHaveGivenUp(evidence)) return;
  for (const url of committed) {
    if (!counts.has(url)) accuse('lost', `${url} was never committed`);
    if (settings.again && !confirmed.has(url)) accuse('unasked', `${url} was not told as unchanged`);
    if (!settings.again && confirmed.has(url)) accuse('asked-again', `${url} was told as unchanged`);
  }
}

function judgeRecord(record: UrlRecord | null, page: Page, accuse: Accuse): void {
  const expected = stateOf(page.final);
  if (record === null) return accuse('unknown-url', `${page.url} is not in the registry`);
  if (record.state !== expected) accuse('state', `${page.url} is ${record.state}, not ${expected}`);
}

/** The world may have been so bad to a URL that giving it up was right: then what lies behind it is not asked for. */
function mayHaveGivenUp({ truth, landscape, setbacksOf }: Evidence): boolean {
  const isFine = (url: string): boolean => stateOf(pageOf(landscape, url).final) !== 'dead';
  return [...truth.reachable].some((url) => setbacksOf(url) >= DELIVERIES_MAX && isFine(url));
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
