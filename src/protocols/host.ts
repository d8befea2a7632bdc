/** What may be said to a host actor: the owner of one host's back queue, delay policy and breaker. */
import type { FetchResult } from '../domain/fetching.js';
import type { HostName, Origin } from '../domain/host.js';
import type { Code } from '../domain/outcome.js';
import type { ParseResult } from '../domain/parsing.js';
import type { Tier } from '../domain/tier.js';
import type { Candidate } from '../domain/url.js';
import type { Fault } from '../policy/egress.js';
import type { RobotsValidators } from '../policy/robots/freshness.js';
import type { BlockedRead, HostLoaded, QueueRead, Resolved } from './effects.js';
import type { Doubt, Permit, PermitNumber } from './workbench.js';

export type Message =
  | Wake
  | Fenced
  | HostLoaded
  | QueueRead
  | BlockedRead
  | Resolved
  | Granted
  | Declined
  | RetriesHeld
  | Fetched
  | Parsed
  | Recorded
  | Unrecorded
  | Errand
  | ErrandDone
  | Blamed
  | { readonly type: 'errandDue'; readonly origin: Origin }
  | { readonly type: 'readDue' }
  | { readonly type: 'visitLost'; readonly permit: PermitNumber }
  | { readonly type: 'idleDue' };

/** There is work: new rows, or the time has come. */
export interface Wake {
  readonly type: 'wake';
  readonly wake: number;
}

/** Everything that an earlier incarnation wished to be recorded is in the store. */
export interface Fenced {
  readonly type: 'fenced';
  readonly epoch: number;
}

export interface Granted {
  readonly type: 'granted';
  readonly permit: Permit;
}

/** What was asked for can't be had for now (B2): all that needs this tier waits, everything else goes on. */
export interface Declined {
  readonly type: 'declined';
  readonly tier: Tier;
  /** Monotonic: it may be asked for again. */
  readonly untilMs: number;
}

/** The budget of retries of all hosts is used up: retries wait, everything else goes on. */
export interface RetriesHeld {
  readonly type: 'retriesHeld';
  /** Monotonic: a retry may be asked for again. */
  readonly untilMs: number;
}

/** From the fetcher. */
export interface Fetched {
  readonly type: 'fetched';
  readonly permit: PermitNumber;
  readonly result: FetchResult;
}

/** From the parser. */
export interface Parsed {
  readonly type: 'parsed';
  readonly permit: PermitNumber;
  readonly result: ParseResult;
}

/** Fetch a file for another host: a hop of its robots.txt redirect. On this host's own permit, exempt from its robots (P6). */
export interface Errand {
  readonly type: 'errand';
  /** Null: for the workbench, which only wants to know whether this host can be reached. */
  readonly for: HostName | null;
  /** Whose rules are being looked for. */
  readonly origin: Origin;
  readonly url: string;
  /** Sent along if they are of this URL; null: nothing is known of an earlier version. */
  readonly validators: RobotsValidators | null;
}

export interface ErrandDone {
  readonly type: 'errandDone';
  readonly origin: Origin;
  readonly found: RobotsFound;
}

/** What one request for a robots.txt, or for a hop on the way to it, led to. */
export type RobotsFound =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly bytes: Uint8Array | null;
      readonly cut: boolean;
      readonly redirect: Candidate | null;
      readonly retryAfterMs: number | null;
      /** Of the file that came. */
      readonly validators: RobotsValidators | null;
    }
  /** 304 to a request with validators: the file is the one that is known. */
  | { readonly kind: 'unmodified'; readonly validators: RobotsValidators }
  | { readonly kind: 'failure'; readonly code: Code };

/** Whose fault a failure was, once that can be said (B5). */
export interface Blamed {
  readonly type: 'blamed';
  readonly about: Doubt;
  readonly fault: Fault;
}

/** These wishes of this host are in the store. */
export interface Recorded {
  readonly type: 'recorded';
  readonly tickets: readonly number[];
  /** Ready rows of the host that the store holds now. */
  readonly ready: number;
  /** Rows of it that robots.txt disallows. */
  readonly blocked: number;
}

/** From the frontier: this wish crashed it, twice, and will not be in the store. */
export interface Unrecorded {
  readonly type: 'unrecorded';
  readonly ticket: number;
  readonly permit: PermitNumber | null;
}
