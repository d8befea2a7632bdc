/**
 * What a host's actor knows: the types that its files share, and small verbs on them.
 */
import type { DeliveryTerms } from '../domain/delivery.js';
import type { FetchResult, Header, Rendered, VettedAddress, Resolution } from '../domain/fetching.js';
import type { HostName, Origin } from '../domain/host.js';
import type { ChallengeTerms, FollowedLinks, RobotsMetaTerms } from '../domain/parsing.js';
import type { QueueEntry, RobotsEvidence } from '../domain/record.js';
import type { AddressRange } from '../policy/addresses.js';
import type { BackQueue } from '../policy/back-queue.js';
import { delayAfter } from '../policy/delay.js';
import type { BreakerTerms } from '../policy/breaker.js';
import type { Machine } from '../policy/elapsed.js';
import type { Clearance } from '../policy/clearance.js';
import type { LadderTerms, Start } from '../policy/ladder.js';
import type { RetryTerms } from '../policy/history.js';
import type { RetryBudgetTerms } from '../policy/retry-budget.js';
import type { TransportJudgement } from '../policy/judgement.js';
import {
  lastGoodOf,
  type OriginRobots,
  type RobotsCopy,
  type RobotsValidators,
  UNKNOWN,
} from '../policy/robots/freshness.js';
import { compileRobots, type RobotsMatcher } from '../policy/robots/match.js';
import type { Throttle } from '../policy/throttle.js';
import type { Validators } from '../policy/validators.js';
import type { Errand } from '../protocols/host.js';
import type { HostSnapshot } from '../protocols/host-snapshot.js';
import type { PermitNumber } from '../protocols/workbench.js';

export interface Props {
  readonly name: HostName;
  readonly userAgent: string;
  readonly productToken: string;
  /** When this process began; wall clock. */
  readonly startedAtMs: number;
  /** That this process runs on; absent where it tells nothing of itself. */
  readonly machine?: Machine;
  readonly delayMs: number;
  readonly adaptiveFactor: number;
  readonly addressExempt: readonly AddressRange[];
  readonly requestMsMax: number;
  readonly robotsMsMax: number;
  readonly bodyBytesMax: number;
  readonly decodedBytesMax: number;
  readonly headerBytesMax: number;
  readonly linksMax: number;
  readonly links: FollowedLinks;
  readonly robotsMeta: RobotsMetaTerms;
  readonly challenge: ChallengeTerms;
  readonly archive: boolean;
  /** What goes with each page to whoever embeds the crawl; absent where nobody does. */
  readonly delivers?: DeliveryTerms;
  /** Metadata records beside it. */
  readonly metadata: boolean;
  readonly parserThreads: number;
  readonly retry: RetryTerms;
  /** How many retries it may make. */
  readonly retryBudget: RetryBudgetTerms;
  /** By which tiers it may be fetched, and how long what it needed is believed. */
  readonly ladder: LadderTerms;
  /** What no tier could get is tried again so much later. */
  readonly retryLateMs: number;
  /** The longest that a browser may take over a page. */
  readonly browserMsMax: number;
  /** Of the browser's time that it is granted in a day. */
  readonly browserMsPerDay: number;
  readonly breaker: BreakerTerms;
  /** Rows read at once. */
  readonly window: number;
  /** Visits of one activity: then another host's turn has come. */
  readonly quota: number;
  /** Visits of this host that are open at once: its requests come one by one, but reading and recording take time. */
  readonly openMax: number;
  /** After resting for so long its state goes back to the store. */
  readonly idleMs: number;
}

/**
 * A request for a page that an earlier incarnation began and did not see the end of: its end is judged by the delay
 * that was known then. A robots.txt is none, as it may have held another.
 */
export interface Orphan {
  readonly permit: PermitNumber;
  readonly delayMs: number;
}

/**
 * What an incarnation that crashed knew of its host's patience, and the store may not: the gate knows it too, but a gate
 * is forgotten with its process.
 */
export interface Legacy {
  /** Until when the host is left alone for what it has asked; monotonic, null where it hasn't. */
  readonly silentUntilMs: number | null;
  readonly throttle: Throttle;
  readonly lastDurationMs: number | null;
}

export type State = Beginning | Live;

/** Before anything of it is known in this incarnation. */
export interface Beginning {
  /**
   * `activated`: it is being loaded, and the message that brought it to life is the next one; `loading_again`: what is
   * on its way may be older than the newest wake.
   */
  readonly phase: 'activated' | 'fencing' | 'loading' | 'loading_again';
  readonly props: Props;
  readonly epoch: number;
  wake: number;
  readonly errands: Errand[];
  readonly orphan: Orphan | null;
  /** Null: there was none before, or it knew nothing. */
  legacy: Legacy | null;
}

export interface Live {
  readonly phase: 'live';
  readonly props: Props;
  readonly epoch: number;
  /** The newest wake that was seen. */
  wake: number;
  readonly activity: Activity;
  snapshot: HostSnapshot;
  /** Until when the host is left alone for what it has asked of this life or an earlier one; monotonic, null where it hasn't. */
  silentUntilMs: number | null;
  readonly robots: Map<Origin, OriginRobots>;
  readonly matchers: Map<Origin, { readonly copy: RobotsCopy; readonly matcher: RobotsMatcher }>;
  readonly queue: BackQueue;
  /** Rows in the store that robots.txt disallows, as of the last acknowledgement. */
  blocked: number;
  /** What the last change of the rules came with, or the last look at blocked rows by them: nothing older may be on its way when they are read. */
  recheckTicket: number;
  readonly names: Names;
  /** Until when the budget of all hosts leaves no retry to this one, as it was told; monotonic, null where it was not. */
  retriesHeldUntilMs: number | null;
  /** What is known here of the browser service. */
  backend: BackendView;
  /** Until when the last word to the gate has closed it; monotonic. It may be closed for longer, for reasons of its own. */
  gateClosedUntilMs: number;
  readonly open: Map<PermitNumber, OpenVisit>;
  /** Rows of each part that is on its way to the store, and where they will stand then. */
  readonly parts: Map<number, readonly Moved[]>;
  nextTicket: number;
  /** Origins whose robots.txt is being asked for: by a visit of ours, or by an errand of another host. */
  readonly asking: Map<Origin, RobotsHunt>;
  readonly errands: Errand[];
  readonly orphan: Orphan | null;
}

/** What the actor waits for before its next step: one thing at a time. */
export interface Activity {
  doing:
    | 'nothing'
    | 'resolving'
    | 'reading'
    | 'reading_again'
    | 'rechecking'
    | 'rechecking_again'
    | 'asking'
    | 'fetching'
    /** A request or the resolution of its name has failed: whose fault that is will be said (B5). */
    | 'suspecting'
    | 'resting';
  /** Since it was woken. */
  visits: number;
}

export interface Moved {
  readonly sequence: number;
  readonly next: QueueEntry | null;
}

/** What a host knows of the browser service: as much as it was told. */
export type BackendView =
  /** It was not told, or the last call failed: what is parked is asked for one by one. */
  | { readonly phase: 'unknown' }
  /** Monotonic: until then there is no use in asking. */
  | { readonly phase: 'down'; readonly untilMs: number }
  /** A page of this host has come from it. */
  | { readonly phase: 'well' };

/** The host's name as resolved last. A failure is charged to one row, then the name is left alone until it runs out. */
export interface Names {
  known: { readonly resolution: Resolution; readonly untilMs: number; readonly charged: boolean } | null;
}

/** The way to a robots.txt: where it has led so far. */
export interface RobotsHunt {
  readonly origin: Origin;
  readonly url: string;
  readonly hops: number;
  readonly by: 'nobody' | 'us' | 'errand';
  /** Of the copy that is to be renewed. */
  readonly validators: RobotsValidators | null;
}

export type Target =
  | { readonly what: 'page'; readonly entry: QueueEntry; readonly robots: RobotsEvidence; readonly start: Start }
  | { readonly what: 'robots'; readonly hunt: RobotsHunt }
  | { readonly what: 'errand'; readonly errand: Errand };

export type OpenVisit = Target & {
  readonly sinceWallMs: number;
  readonly address: VettedAddress;
  readonly requestHeaders: readonly (readonly [string, string])[];
  /** What was shown of what a browser was let in with. */
  readonly clearance: Clearance | null;
} & (
    | { readonly phase: 'fetching' }
    /** It did not reach the host, and counts for nothing until it is said whose fault that is. */
    | { readonly phase: 'suspected'; readonly result: FetchResult; readonly transport: TransportJudgement }
    | {
        readonly phase: 'reading';
        readonly transport: TransportJudgement;
        readonly durationMs: number;
        readonly bytes: number;
        readonly cut: boolean;
        /** What the gate is owed: a robots.txt may hold the delay that counts from its own end on. Null once it was told. */
        readonly closedForMs: number | null;
        readonly remoteAddress: string;
        readonly validators: Validators;
        /** Of a redirect status: they may be for its target. */
        readonly setCookies: readonly string[];
        /** Of the answer, where pages are delivered. */
        readonly headers?: readonly Header[];
        readonly rendered?: Rendered;
      }
  );

/** A visit whose body is with the parser. */
export type ReadingVisit = Extract<OpenVisit, { phase: 'reading' }>;

/** What is asked for. */
export function urlOf(target: Target): string {
  switch (target.what) {
    case 'page':
      return target.entry.record.url;
    case 'robots':
      return target.hunt.url;
    case 'errand':
      return target.errand.url;
  }
}

export function robotsOf(state: Live, origin: Origin): OriginRobots {
  return state.robots.get(origin) ?? UNKNOWN;
}

export function matcherOf(state: Live, origin: Origin, copy: RobotsCopy): RobotsMatcher {
  const known = state.matchers.get(origin);
  if (known !== undefined && known.copy.fetchedAtMs === copy.fetchedAtMs && known.copy.rules === copy.rules) {
    return known.matcher;
  }
  const matcher = compileRobots(copy.rules, robotsUrlOf(origin));
  state.matchers.set(origin, { copy, matcher });
  return matcher;
}

/** What the file that is asked for was when it was asked for last; null where that was another one, or is not known. */
export function validatorsFor(target: Exclude<Target, { what: 'page' }>): RobotsValidators | null {
  const { url, validators } = target.what === 'robots' ? target.hunt : target.errand;
  return validators?.url === url ? validators : null;
}

export function robotsUrlOf(origin: Origin): string {
  return `${origin}/robots.txt`;
}

/**
 * The delay that holds for this host now (P2): one clock, so the slowest of its origins' rules. A copy that has run out
 * still says how patient its host wishes us to be, until a newer one is there.
 */
export function delayMsOf(state: Live): number {
  let crawlDelaySeconds: number | null = null;
  for (const robots of state.robots.values()) {
    const asked = lastGoodOf(robots)?.rules.crawlDelaySeconds ?? null;
    if (asked !== null && asked > (crawlDelaySeconds ?? 0)) crawlDelaySeconds = asked;
  }
  const { delayMs: configuredMs, adaptiveFactor } = state.props;
  return delayAfter({ configuredMs, crawlDelaySeconds, adaptiveFactor, lastDurationMs: state.snapshot.lastDurationMs });
}

/** For so long its window is to last. */
const WINDOW_MS = 60_000;
const WINDOW_ROWS_MIN = 4;

/**
 * Rows that it holds: what it can ask for within a minute. So the rows that all live hosts hold together are bounded by
 * the rate at which pages are fetched, however many hosts it takes to reach it.
 */
export function windowOf(state: Live): number {
  const rows = Math.ceil(WINDOW_MS / Math.max(1, delayMsOf(state)));
  return Math.min(state.props.window, Math.max(WINDOW_ROWS_MIN, rows));
}

/** `scheme://host[:port]` of a canonical URL: up to the first slash after the authority, without the dot that may end its name. */
export function originOf(url: string): Origin {
  const origin = url.slice(0, url.indexOf('/', url.indexOf('://') + 3));
  return origin.includes('.:') || origin.endsWith('.') ? origin.replace(/\.(?=$|:\d+$)/, '') : origin;
}
