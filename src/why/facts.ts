/**
 * What is known of a URL and of what decides about it: the whole input of an explanation, as plain data.
 *
 * Facts are gathered once, at one moment, from the store and from a crawl that runs on it. What could not be had is
 * null, and the explanation says so instead of guessing. Times are of the wall clock, in milliseconds.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { DeadLetter, QueueSummary, Standing, UrlRecord, UrlState } from '../domain/record.js';
import type { Source, UrlKey, UrlRefusal } from '../domain/url.js';
import type { FilterRefusal } from '../policy/url-filter.js';
import type { AdmissionRefusal } from '../policy/admission.js';
import type { CanonicalStep } from '../policy/canonical-steps.js';
import type { RetryBudgetTerms } from '../policy/retry-budget.js';
import type { OriginRobots } from '../policy/robots/freshness.js';
import type { RobotsDecision } from '../policy/robots/match.js';
import type { Scope } from '../policy/scope.js';
import type { HostSnapshot } from '../protocols/host-snapshot.js';

export interface WhyFacts {
  /** As it was typed. */
  readonly asked: string;
  readonly nowMs: number;
  readonly spelling: Spelling;
  /** Null: never seen, or no URL. */
  readonly record: UrlRecord | null;
  /** From the page that it was found on back to its seed, the nearest first; empty for a seed. */
  readonly hops: readonly Hop[];
  /** Whether the last hop is the seed; if not, the way back is longer than was looked at, or a record is missing. */
  readonly reachesSeed: boolean;
  /** Null: it is in no queue. */
  readonly standing: Standing | null;
  readonly dead: DeadLetter | null;
  /** Where it redirects to, and what became of that; null where it does not, or nothing is known of the target. */
  readonly target: Neighbour | null;
  /** Spellings that stand near a URL that was never seen, and were seen. */
  readonly neighbours: readonly Neighbour[];
  /** Null: nothing is known of its host. */
  readonly host: HostFacts | null;
  /** Null for what is no URL. */
  readonly robots: RobotsFacts | null;
  /** What the rules of the crawl say of it; null where they are not known. */
  readonly rules: RuleFacts | null;
  /** What the last run was told about pace and patience; null where it is not known. */
  readonly terms: RunTerms | null;
  /** Null: no crawl is running on the data directory. */
  readonly live: LiveFacts | null;
}

export type Spelling =
  | {
      readonly ok: true;
      readonly url: string;
      readonly key: UrlKey;
      readonly host: HostName;
      readonly origin: Origin;
      /** The rules that changed the spelling. */
      readonly steps: readonly CanonicalStep[];
    }
  | { readonly ok: false; readonly refusal: UrlRefusal };

/** A page on the way back to the seed. */
export interface Hop {
  readonly url: string;
  /** How this page itself was found. */
  readonly source: Source;
  /** What carried the link to this page; null where it is not known, and for a seed. */
  readonly element: string | null;
}

export interface Neighbour {
  readonly url: string;
  readonly state: UrlState;
}

export interface HostFacts {
  readonly snapshot: HostSnapshot;
  readonly queue: QueueSummary;
  /** The greatest Crawl-delay of its origins; null where none asks for any. */
  readonly crawlDelaySeconds: number | null;
}

export interface RobotsFacts {
  readonly state: OriginRobots;
  /** By the copy that is in force, or else by the newest there is; null without any. */
  readonly decision: RobotsDecision | null;
}

/** What the crawl's own rules say, whatever is known of the URL. */
export interface RuleFacts {
  readonly scope: Scope;
  readonly inScope: boolean;
  /** The name by which the scope judges: the host, or its site. */
  readonly judgedBy: string;
  /** The first rule that refuses it; null where all let it in. */
  readonly refusal: AdmissionRefusal | FilterRefusal | null;
}

export interface RunTerms {
  /** The configured delay of this host. */
  readonly delayMs: number;
  readonly adaptiveFactor: number;
  readonly deliveriesMax: number;
  /** Of this host. */
  readonly retryBudget: RetryBudgetTerms;
}

/** What only a running crawl knows. */
export interface LiveFacts {
  /** Since when a request for this very URL is under way; null when none is. */
  readonly inFlightSinceMs: number | null;
  /** What the host is being asked for, if for anything else than this. */
  readonly hostBusyWith: string | null;
  /** When the gate of the host opens; null when it is open, or not known. */
  readonly gateOpensAtMs: number | null;
  /** What keeps the host, though its own clock does not: its address, a free slot, its turn. Null: nothing of the kind. */
  readonly waits: { readonly why: string; readonly words: string } | null;
  /** Until when the browser service is given a rest; null where it is not. */
  readonly browserRestsUntilMs: number | null;
  /** Until when the budget of retries of all hosts leaves none, about; null while it does. */
  readonly retriesWaitUntilMs: number | null;
  /** An operator paused the crawl. */
  readonly paused: boolean;
  /** Why no permits are given; null while they are. */
  readonly held: string | null;
}
