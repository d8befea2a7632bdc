/**
 * What can be asked of a crawl from outside, and what is answered: one interface, whoever answers.
 *
 * A running crawl answers itself; one that has stopped is read from its store; a command that finds a running crawl
 * asks it through its socket. All three are a `Control`, so that no command knows which one it has, and the same
 * question has the same answer. Times in answers are ISO 8601 in UTC.
 */
import type { RobotsFailure } from '../policy/robots/freshness.js';
import type { RobotsRemark } from '../policy/robots/rules.js';
import type { HostName, Origin } from '../domain/host.js';
import type { Code } from '../domain/outcome.js';
import type { PriorityClass, QueuePosition } from '../domain/record.js';
import type { Breaker } from '../policy/breaker.js';
import type { DeadFilter, LeftReason, Redrive, RedriveRate, RedriveWay } from '../domain/redrive.js';
import type { KernelCounts } from '../supervision/counts.js';
import type { WhyAnswer } from '../why/answer.js';

export interface Control {
  status(): Promise<StatusReport>;
  hosts(query: HostsQuery): Promise<HostsPage>;
  /** URLs that were given up. */
  dead(query: DeadQuery): Promise<DeadList>;
  /** Rejects with ControlError `host_unknown`. */
  host(name: HostName): Promise<HostReport>;
  /** Rejects with ControlError `not_running`. */
  tree(): Promise<TreeReport>;
  /** Everything known of one URL, whatever it is. */
  why(url: string): Promise<WhyAnswer>;
  pause(): Promise<PauseReport>;
  resume(): Promise<PauseReport>;
  /** All of one wish enter in one commit; resolves after it. */
  seed(wish: SeedWish): Promise<SeedReport>;
  exclude(wish: ExcludeWish): Promise<ExcludeReport>;
  /**
   * Brings dead letters back (R1). Resolves when it is over; with a rate after its first commit, and goes on by itself.
   * Rejects with ControlError `redrives_too_many`.
   */
  redrive(wish: RedriveAsk): Promise<RedriveReport>;
  /** What a redrive would do now, in pages as `dead`; changes nothing. */
  previewRedrive(query: DeadQuery): Promise<RedrivePreview>;
  /** Every redrive that there was, the newest first. */
  redrives(query: RedrivesQuery): Promise<RedriveList>;
  /** Lets a redrive go no further; what it has brought back stays so. Rejects with ControlError `redrive_unknown`. */
  cancelRedrive(number: number): Promise<RedriveView>;
}

/** A refusal that whoever asked can act on. */
export class ControlError extends Error {
  constructor(
    /** Stable, as in `host_unknown`. */
    readonly code: string,
    message: string,
    /** As HTTP has it. */
    readonly status: number,
    readonly where: string | null = null,
    readonly advice: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ControlError';
  }
}

/** ISO 8601, UTC. */
export type Time = string;

export type CrawlState = 'running' | 'paused' | 'held' | 'draining' | 'idle' | 'stopped';

/** Why a host with work is not being asked right now. `in_flight` is: a request of it is under way. */
export type WaitCause =
  | 'in_flight'
  | 'delay'
  | 'address'
  | 'permit'
  | 'turn'
  | 'retry'
  | 'retry_after'
  | 'retry_budget'
  | 'breaker'
  | 'robots'
  | 'browser'
  | 'held'
  | 'paused'
  | 'stopped';

/** What each cause means to an operator. */
export const WAIT_CAUSES: Readonly<Record<WaitCause, string>> = {
  in_flight: 'a request is under way',
  delay: 'the delay between two requests',
  address: 'another host of the same address is being asked, or was just now',
  permit: 'nothing of its own: all request slots are taken',
  turn: 'its turn among the hosts that are at work',
  retry: 'the time of the next delivery after a failure',
  retry_budget: 'it, or all hosts together, have used up their budget of retries; new URLs go on',
  retry_after: 'it asked for silence (429, 503 or Retry-After)',
  breaker: 'it failed time and again and is left alone for a while',
  robots: 'its robots.txt can not be read',
  browser: 'the browser service is not well, and nothing is left that can do without',
  held: 'no requests begin at all: see the reasons in status',
  paused: 'the crawl is paused',
  stopped: 'the crawl does not run',
};

export interface StatusReport {
  readonly state: CrawlState;
  /** When it came to this; null where nobody knows. */
  readonly since: Time | null;
  /** Why no request begins; empty while they do. */
  readonly reasons: readonly string[];
  readonly dataDir: string;
  /** Null for a crawl that does not run. */
  readonly run: {
    readonly pid: number;
    readonly startedAt: Time;
    readonly pages: number;
    readonly requests: number;
    readonly failed: number;
    /** Pages a second, of late. */
    readonly rate: number;
    readonly openVisits: number | null;
    readonly openBytes: number | null;
    readonly slotsFree: number | null;
    /** The budget of retries of all hosts; null where there is none, or the workbench did not answer. */
    readonly retries: RetriesReport | null;
    /** The browser service; null where there is none, or the workbench did not answer. */
    readonly browser: BrowserReport | null;
    readonly memory: { readonly rssBytes: number; readonly heapUsedBytes: number };
  } | null;
  /** B5: while hardly any host can be reached, who finds out whether it is over; null at all other times. */
  readonly probing: ProbeReport | null;
  /** Of this run; 0 for a crawl that does not run. */
  readonly pages: number;
  readonly requests: number;
  readonly rate: number;
  readonly hosts: {
    /** Ever queued for. */
    readonly known: number;
    /** At work. */
    readonly active: number;
    /** With URLs that may be asked for as soon as the host may. */
    readonly ready: number;
    /** With URLs, all of which fall due later. */
    readonly waiting: number;
  };
  /** URLs over the whole store. */
  readonly queued: number;
  readonly waiting: number;
  readonly parked: number;
  readonly dead: number;
  readonly discovered: number;
  readonly archivedPages: number;
  /** Hosts with work, by why they are not being asked right now; of those that were examined. */
  readonly waitingWhy: Readonly<Partial<Record<WaitCause, number>>>;
  readonly hostsExamined: number;
  /**
   * About so long for what is queued now, by delays, rests and the rate; new links come on top. Null where nothing can
   * be said, and while no request begins.
   */
  readonly etaSeconds: number | null;
}

/** Which hosts: with something to do, with rows of a kind, or every one that was ever queued for. */
export const HOST_STATES = ['work', 'ready', 'waiting', 'parked', 'all'] as const;
export type HostState = (typeof HOST_STATES)[number];

export interface HostsQuery {
  readonly state: HostState;
  readonly limit: number;
  /** Begin after this host, in the order of the store. */
  readonly after: HostName | null;
}

export interface HostsPage {
  readonly hosts: readonly HostRow[];
  /** Where the next page begins; null when there is none. */
  readonly next: HostName | null;
}

export interface DeadQuery extends DeadFilter {
  readonly limit: number;
  /** Where to go on, as the page before said. */
  readonly after: string | null;
}

/** May hold fewer than were asked for, and still not be the last: what meets no filter is passed over in pages too. */
export interface DeadList {
  readonly letters: readonly DeadRow[];
  readonly next: string | null;
}

export interface DeadRow {
  readonly url: string;
  readonly cause: string;
  readonly code: Code;
  readonly deliveries: number;
  readonly firstAt: Time | null;
  readonly lastAt: Time | null;
  readonly attempts: readonly {
    readonly at: Time | null;
    readonly tier: number;
    readonly status: number | null;
    readonly code: Code;
    readonly durationMs: number;
  }[];
}

export interface RedriveAsk extends DeadFilter {
  /** Null: as fast as the store takes them. */
  readonly rate: RedriveRate | null;
  readonly way: RedriveWay;
  readonly who: string | null;
}

export interface RedriveReport {
  /** Null where no letter is meant: nothing is kept of it. */
  readonly redrive: RedriveView | null;
  readonly matched: number;
  /** URLs that are queued again. */
  readonly redriven: number;
  /** URLs that robots.txt disallows now; no dead letters any more. */
  readonly blocked: number;
  /** Letters that stay. */
  readonly left: number;
  /** Letters that its rate leaves for later. */
  readonly ahead: number;
  /** Those that were taken up until the answer, up to 100 000. */
  readonly letters: readonly { readonly url: string; readonly redriven: boolean; readonly reason: LeftReason | null }[];
}

/** A redrive as the audit shows it. */
export interface RedriveView {
  readonly number: number;
  readonly at: Time;
  /** How and by whom it was wished. */
  readonly way: RedriveWay;
  readonly who: string | null;
  readonly filter: {
    readonly host: HostName | null;
    readonly cause: string | null;
    readonly code: Code | null;
    readonly before: Time | null;
    readonly since: Time | null;
  };
  /** As in `10/s`; null: as fast as the store takes them. */
  readonly rate: string | null;
  readonly stage: Redrive['stage'];
  /** Letters that were meant as it was wished. */
  readonly matched: number;
  readonly redriven: number;
  readonly blocked: number;
  /** Letters that stay, by what keeps them. */
  readonly left: Redrive['left'];
  /** Letters that are still to be taken up, about. */
  readonly ahead: number;
  readonly changedAt: Time;
  /** When the next are taken up, while a crawl runs; null where it is over. */
  readonly nextAt: Time | null;
  readonly endsAbout: Time | null;
}

export interface RedrivePreview {
  readonly letters: readonly {
    readonly url: string;
    readonly would: 'queue' | 'block' | 'stay';
    readonly reason: LeftReason | null;
  }[];
  readonly next: string | null;
}

export interface RedrivesQuery {
  readonly limit: number;
  /** Begin below this number. */
  readonly before: number | null;
}

export interface RedriveList {
  readonly redrives: readonly RedriveView[];
  readonly next: number | null;
}

export interface HostRow {
  readonly name: HostName;
  readonly queued: { readonly ready: number; readonly waiting: number; readonly parked: number };
  /** Null: as soon as it wishes to ask, or the crawl runs again. */
  readonly nextAllowedAt: Time | null;
  readonly delayMs: number;
  readonly breaker: Breaker['phase'];
  readonly robots: 'unknown' | 'fresh' | 'unreachable';
  readonly waits: { readonly why: WaitCause; readonly until: Time | null } | null;
}

export interface ProbeReport {
  /** The host that is asked; null while nobody is. */
  readonly host: HostName | null;
  /** When the next one is asked; null while one is. */
  readonly nextAt: Time | null;
  /** Hosts that were asked so far, and not reached. */
  readonly failed: number;
}

/** What retries may still be made (R1): of all hosts together, or of one. */
export interface RetriesReport {
  /** Whole ones. */
  readonly left: number;
  /** When the next may be made; null while one may at once. */
  readonly nextAt: Time | null;
}

/** How the browser service stands (B1). */
export interface BrowserReport {
  readonly breaker: 'off' | 'closed' | 'open' | 'probing';
  readonly failuresInARow: number | null;
  readonly restsUntil: Time | null;
  /** Since the start. */
  readonly failures: number;
  readonly rests: number;
  readonly slots: number;
  readonly slotsFree: number;
  readonly hostsInLine: number;
}

export interface HostReport extends HostRow {
  readonly site: string;
  readonly partition: number;
  readonly readyByClass: readonly number[];
  /** What makes the delay: the longest of them. */
  readonly delay: {
    readonly configuredMs: number;
    readonly crawlDelaySeconds: number | null;
    readonly adaptiveMs: number | null;
  };
  readonly gate: {
    readonly phase: string;
    readonly inFlightSince: Time | null;
    readonly address: { readonly name: string; readonly inFlight: boolean; readonly opensAt: Time | null } | null;
    readonly wish: PriorityClass | null;
  } | null;
  readonly breakerState:
    | { readonly phase: 'closed'; readonly failures: number }
    | { readonly phase: 'open'; readonly until: Time; readonly openings: number }
    | { readonly phase: 'half_open'; readonly openings: number };
  readonly throttle: { readonly consecutive: number; readonly closedUntil: Time | null };
  /** What is left of its budget of retries; null where it is not known what it is granted. */
  readonly retries: RetriesReport | null;
  readonly requests: number;
  readonly lastDurationMs: number | null;
  readonly wakesAt: Time | null;
  /** What it was found to need to be fetched. */
  readonly ladder: {
    /** Null: nothing but plain requests. */
    readonly needs: { readonly tier: 2 | 3; readonly cause: Code; readonly believedUntil: Time | null } | null;
    readonly clearanceUntil: Time | null;
    /** Of the day that they were used on last. */
    readonly browserSeconds: number;
  };
  readonly origins: readonly OriginReport[];
  /** The first rows of its queue, in the order in which they are to be visited. */
  readonly next: readonly {
    readonly url: string;
    readonly queue: QueuePosition['queue'];
    readonly priority: PriorityClass | null;
    readonly dueAt: Time | null;
    readonly deliveries: number;
    readonly lastCode: Code | null;
  }[];
}

export interface OriginReport {
  readonly origin: Origin;
  readonly state: 'unknown' | 'fresh' | 'unreachable';
  /** Of the copy that rules; null without one. */
  readonly fetchedAt: Time | null;
  readonly ageSeconds: number | null;
  readonly status: number | null;
  readonly rules: number | null;
  readonly crawlDelaySeconds: number | null;
  readonly sitemaps: number | null;
  /** What its site may not have meant: `cut` (longer than is read), `markup` (an HTML page). */
  readonly remark: RobotsRemark | null;
  readonly retryAt: Time | null;
  readonly attempts: number;
  /** Why it can't be read, by the last try: a status or a code; null where it can, or is not known. */
  readonly cause: RobotsFailure | null;
}

export interface TreeReport {
  /** Drawn, as `tree` prints it. */
  readonly picture: string;
  readonly counts: KernelCounts;
}

export interface PauseReport {
  readonly state: 'paused' | 'running' | 'stopped';
  /** Whether it was otherwise before. */
  readonly changed: boolean;
}

export interface SeedWish {
  /** URLs, or host names for which http is assumed. */
  readonly urls: readonly string[];
  /** Fetch what was fetched before once more. */
  readonly again: boolean;
}

export type SeedVerdict = 'queued' | 'known' | 'refused';

export interface SeedReport {
  readonly queued: number;
  readonly known: number;
  readonly refused: number;
  /** One for each that was wished, in its order. */
  readonly seeds: readonly {
    readonly input: string;
    readonly url: string | null;
    readonly verdict: SeedVerdict;
    readonly code: Code | null;
    /** What exactly refuses it, where more is known than the code says. */
    readonly detail?: string;
  }[];
}

export interface ExcludeWish {
  readonly patterns: readonly string[];
  /** Take them away instead. */
  readonly remove: boolean;
}

export interface ExcludeReport {
  /** Excluded by command, now. */
  readonly patterns: readonly string[];
  /** Excluded by configuration, beside them. */
  readonly configured: readonly string[];
  readonly changed: boolean;
}

export function timeOf(ms: number): Time;
export function timeOf(ms: number | null): Time | null;
export function timeOf(ms: number | null): Time | null {
  // Beyond what a Date can hold no instant has a name.
  return ms === null || Math.abs(ms) > 8.64e15 ? null : new Date(ms).toISOString();
}
