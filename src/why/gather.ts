/**
 * Gathering facts: a few reads of the store around one URL, and what a running crawl adds.
 *
 * The same for a crawl that runs (its own store is asked beside its commits) and for a data directory at rest. Every
 * walk is bounded: the way back to the seed, the rows before the URL, the spellings close by.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { UrlRecord } from '../domain/record.js';
import type { Candidate } from '../domain/url.js';
import { candidate, isRefused } from '../page/candidate.js';
import { canonicalise } from '../policy/canonical.js';
import { canonicalSteps } from '../policy/canonical-steps.js';
import { type OriginRobots, pages, type RobotsCopy, UNKNOWN } from '../policy/robots/freshness.js';
import { compileRobots } from '../policy/robots/match.js';
import { type RobotsEntry, UNTOUCHED } from '../protocols/host-snapshot.js';
import type { StorePort } from '../protocols/ports.js';
import type {
  Hop,
  HostFacts,
  LiveFacts,
  Neighbour,
  RobotsFacts,
  RuleFacts,
  RunTerms,
  Spelling,
  WhyFacts,
} from './facts.js';

/** Pages on the way back to a seed that are looked at: further than any crawl but a trap's leads. */
export const HOPS_MAX = 64;

/** Rows of a queue that are looked at to find a URL's place in it. */
export const ROWS_MAX = 10_000;

export type WhyStore = Pick<StorePort, 'readRecord' | 'loadHost' | 'readStanding' | 'readDead'>;

/** What is known beside the store. */
export interface WhySources {
  readonly store: WhyStore;
  readonly nowMs: number;
  /** The crawl's rules on a URL so many links away from a seed; null where they are not known. */
  readonly judge: ((candidate: Candidate, depth: number, isKnown: boolean) => RuleFacts) | null;
  readonly termsOf: ((host: HostName) => RunTerms) | null;
  readonly liveOf: ((url: string, host: HostName) => Promise<LiveFacts>) | null;
}

/** Rejects with StoreError where the store can't be read. */
export async function gatherFacts(asked: string, sources: WhySources): Promise<WhyFacts> {
  const made = candidate(asked, null, 'link', null);
  if (isRefused(made)) return nothingOf(asked, { ok: false, refusal: made.refusal }, sources.nowMs);
  const { store, nowMs, judge, termsOf, liveOf } = sources;
  const { url, key, host, origin } = made;
  const record = await store.readRecord(key, host);
  const loaded = await store.loadHost(host, 1);
  const way = record === null ? NO_WAY : await wayToSeed(record, store);
  return {
    asked,
    nowMs,
    spelling: { ok: true, url, key, host, origin, steps: canonicalSteps(asked) },
    record,
    ...way,
    standing: record === null ? null : await store.readStanding(record, ROWS_MAX),
    dead: record?.state === 'dead' ? await store.readDead(key, host) : null,
    target: record === null ? null : await targetOf(record, store),
    neighbours: record === null ? await neighboursOf(url, store) : [],
    host: hostFactsOf(loaded, nowMs),
    robots: robotsFactsOf(url, origin, loaded.robots, nowMs),
    // A URL that nobody has found yet is judged as if a seed linked to it.
    rules:
      judge === null ? null : judge({ ...made, source: record?.source ?? 'link' }, record?.depth ?? 1, record !== null),
    terms: termsOf === null ? null : termsOf(host),
    live: liveOf === null ? null : await liveOf(url, host),
  };
}

function nothingOf(asked: string, spelling: Spelling, nowMs: number): WhyFacts {
  return {
    asked,
    nowMs,
    spelling,
    record: null,
    ...NO_WAY,
    standing: null,
    dead: null,
    target: null,
    neighbours: [],
    host: null,
    robots: null,
    rules: null,
    terms: null,
    live: null,
  };
}

// -- the way back -----------------------------------------------------------------------------------------------

interface Way {
  readonly hops: readonly Hop[];
  readonly reachesSeed: boolean;
}

const NO_WAY: Way = { hops: [], reachesSeed: false };

async function wayToSeed(record: UrlRecord, store: WhyStore): Promise<Way> {
  const hops: Hop[] = [];
  let via = record.via;
  while (via !== null && hops.length < HOPS_MAX) {
    const page = await readSpelled(via, store);
    if (page === null) return { hops, reachesSeed: false };
    hops.push({ url: page.url, source: page.source, element: page.element });
    via = page.via;
  }
  return { hops, reachesSeed: via === null };
}

async function readSpelled(url: string, store: WhyStore): Promise<UrlRecord | null> {
  const made = candidate(url, null, 'link', null);
  return isRefused(made) ? null : store.readRecord(made.key, made.host);
}

async function targetOf({ state, attempts }: UrlRecord, store: WhyStore): Promise<Neighbour | null> {
  const url = attempts.at(-1)?.detail;
  const record = state === 'redirected' && url !== undefined ? await readSpelled(url, store) : null;
  return record === null ? null : { url: record.url, state: record.state };
}

// -- close by ---------------------------------------------------------------------------------------------------

/** Spellings that people mix up, though a server may tell them apart. */
async function neighboursOf(url: string, store: WhyStore): Promise<Neighbour[]> {
  const found: Neighbour[] = [];
  for (const spelling of new Set(closeTo(url))) {
    const record = spelling === url ? null : await readSpelled(spelling, store);
    if (record !== null) found.push({ url: record.url, state: record.state });
  }
  return found;
}

function closeTo(url: string): string[] {
  const changed = (change: (parts: URL) => void): string => {
    const parts = new URL(url);
    change(parts);
    const canonical = canonicalise(parts.href);
    return canonical.ok ? canonical.url : url;
  };
  return [
    changed((parts) => (parts.protocol = parts.protocol === 'http:' ? 'https:' : 'http:')),
    changed(
      (parts) => (parts.pathname = parts.pathname.endsWith('/') ? parts.pathname.slice(0, -1) : `${parts.pathname}/`),
    ),
    changed(
      (parts) =>
        (parts.hostname = parts.hostname.startsWith('www.') ? parts.hostname.slice(4) : `www.${parts.hostname}`),
    ),
    changed((parts) => (parts.search = '')),
  ];
}

// -- host and robots.txt ----------------------------------------------------------------------------------------

type Loaded = Awaited<ReturnType<WhyStore['loadHost']>>;

function hostFactsOf({ snapshot, summary, robots }: Loaded, nowMs: number): HostFacts | null {
  if (summary === null) return null;
  const delays = robots.flatMap(({ state }) => copyInForce(state, nowMs)?.rules.crawlDelaySeconds ?? []);
  return {
    snapshot: snapshot ?? UNTOUCHED,
    queue: summary,
    crawlDelaySeconds: delays.length === 0 ? null : Math.max(...delays),
  };
}

function robotsFactsOf(url: string, origin: Origin, entries: readonly RobotsEntry[], nowMs: number): RobotsFacts {
  const state = entries.find((entry) => entry.origin === origin)?.state ?? UNKNOWN;
  const copy = copyInForce(state, nowMs) ?? newestCopy(state);
  const decision = copy === null ? null : compileRobots(copy.rules, `${origin}/robots.txt`).decide(url);
  return { state, decision };
}

function copyInForce(state: OriginRobots, nowMs: number): RobotsCopy | null {
  const answer = pages(state, nowMs);
  return answer.may === 'ask' ? answer.copy : null;
}

function newestCopy(state: OriginRobots): RobotsCopy | null {
  switch (state.phase) {
    case 'unknown':
      return null;
    case 'fresh':
      return state;
    case 'unreachable':
      return state.lastGood;
  }
}
