/** What `why` answers: fields that programs may rely on, and the same in plain sentences. */
import type { Breaker } from '../policy/breaker.js';
import type { OutcomeKind, Code } from '../domain/outcome.js';
import type { UrlState } from '../domain/record.js';

export interface WhyAnswer {
  /** As it was asked for, but for a password in it. */
  readonly url: string;
  /** Null for what is no URL that could be fetched. */
  readonly canonical: string | null;
  /** Why there is no canonical form; null where there is one. */
  readonly refusal: string | null;
  /** Null: never seen. */
  readonly state: UrlState | null;
  readonly via: string | null;
  /** From the seed to the page that it was found on. */
  readonly hops: readonly { readonly url: string; readonly element: string | null }[];
  readonly hopPath: string | null;
  readonly depth: number | null;
  readonly discoveredAt: string | null;
  readonly host: {
    readonly name: string;
    /** Null: it may be asked at once. */
    readonly nextAllowedAt: string | null;
    /** Null where the pace of the last run is not known. */
    readonly delayMs: number | null;
    readonly breaker: Breaker['phase'];
    /** URLs of the host that are ready, waiting or parked. */
    readonly queued: number;
  } | null;
  readonly robots: {
    /** Null: not known. */
    readonly allowed: boolean | null;
    readonly rule: { readonly line: number; readonly text: string } | null;
    readonly fetchedAt: string | null;
    /** The URL of the file; null for what is no URL. */
    readonly source: string | null;
    readonly status: number | null;
  };
  readonly scope: {
    readonly kind: 'host' | 'site' | 'any';
    readonly inScope: boolean;
    /** The rule that refuses it, of whatever kind; null where all let it in. */
    readonly refusedBy: string | null;
  } | null;
  readonly trap: { readonly code: string; readonly detail: string | null } | null;
  readonly position: { readonly queue: string; readonly before: number } | null;
  /** Redirects on whose behalf it is to be asked for; null where it is asked for by itself, and once it was. */
  readonly chain: {
    readonly hops: number;
    readonly hopsMax: number;
    /** How often they have come to it. */
    readonly times: number;
    /** Names of the cookies that they gave; never values. Null: they gave too many, and all were dropped. */
    readonly cookies: readonly string[] | null;
  } | null;
  /** The newest at the end; at most as many as a record keeps. */
  readonly visits: readonly {
    readonly at: string | null;
    readonly outcome: OutcomeKind;
    readonly code: Code;
    readonly status: number | null;
    readonly tier: number;
    readonly durationMs: number;
    readonly detail: string | null;
  }[];
  readonly next: NextStep;
  /** All of it, sentence by sentence. */
  readonly explanation: readonly string[];
  /** The same sentences by topic, for people. */
  readonly story: readonly Paragraph[];
}

export interface NextStep {
  readonly action: NextAction;
  /** The earliest time that is known; null: not known, or never. */
  readonly at: string | null;
  readonly reason: string;
}

export type NextAction =
  /** Nothing happens by itself. */
  | 'none'
  /** A request for it is under way. */
  | 'in_flight'
  /** It is asked for when its turn has come. */
  | 'fetch'
  /** It is asked for again after a failure. */
  | 'retry'
  /** It waits for its robots.txt. */
  | 'await_robots'
  | 'await_browser'
  /** Were it found now, it would be queued. */
  | 'would_be_queued'
  /** Were it found now, it would be refused. */
  | 'would_be_refused';

export interface Paragraph {
  readonly topic: Topic;
  readonly sentences: readonly string[];
}

export type Topic = 'verdict' | 'spelling' | 'found' | 'rules' | 'robots' | 'visits' | 'queue' | 'host' | 'next';
