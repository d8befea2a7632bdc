/** How things stand at the workbench at one moment, for whoever watches a crawl. Times are of the wall clock. */
import type { HostName } from '../domain/host.js';
import type { PriorityClass } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';

export interface BenchFacts {
  /** Of the hosts that were asked for, those that have a gate. */
  readonly gates: readonly GateFacts[];
  /** Of all hosts at work. */
  readonly hosts: {
    readonly inFlight: number;
    /** They wish to ask, and their own gate is closed. */
    readonly closed: number;
    /** Their gate is open, the clock of their address is not. */
    readonly behindAddress: number;
    /** Nothing of theirs keeps them: they wait for a permit. */
    readonly inLine: number;
  };
  /** Why no permits are given; empty while they are. */
  readonly holds: readonly string[];
  readonly stage: 'granting' | 'draining' | 'drained';
  readonly openVisits: number;
  readonly openBytes: number;
  /** Of the plain tier. */
  readonly slotsFree: number;
  /** Every tier that the crawl has, the plain one too. */
  readonly tiers: readonly {
    readonly tier: Tier;
    readonly slots: number;
    readonly free: number;
    readonly inLine: number;
  }[];
  /** The browser service; null where there is none. */
  readonly backend: BackendFacts | null;
  /** The budget of retries of all hosts; null where there is none. */
  readonly retries: RetryFacts | null;
  /** B5: who finds out whether hosts can be reached again; null while they can. */
  readonly probing: ProbeFacts | null;
}

export interface RetryFacts {
  /** Whole ones. */
  readonly left: number;
  /** Until when the next has to wait, if nothing is asked for the first time meanwhile; null while it need not. */
  readonly waitsUntilMs: number | null;
  /** Asks that were put off, since the start. */
  readonly withheld: number;
}

export interface ProbeFacts {
  /** Who is asked, or bidden to ask; null while nobody is. */
  readonly host: HostName | null;
  /** When the next one is asked, if anybody wishes to ask by then; null while one is. */
  readonly nextAtMs: number | null;
  /** Those that were asked, and not reached. */
  readonly failed: number;
}

export interface BackendFacts {
  readonly breaker: 'off' | 'closed' | 'open' | 'probing';
  /** Failures in a row; null unless it is closed. */
  readonly inARow: number | null;
  /** When it may be asked again; null unless it is open. */
  readonly restsUntilMs: number | null;
  /** Since the start. */
  readonly failures: number;
  readonly openings: number;
}

export interface GateFacts {
  readonly host: HostName;
  /** `judging`: its request has ended, and what it means for the gate is not known yet. */
  readonly phase: 'open' | 'closed' | 'behind_address' | 'in_flight' | 'judging';
  /** When its own gate opens; null while that is not known. */
  readonly nextAllowedAtMs: number | null;
  readonly inFlightSinceMs: number | null;
  /** The clock of its address: whether a request to it is in flight, and else when it opens. */
  readonly address: { readonly name: string; readonly inFlight: boolean; readonly opensAtMs: number } | null;
  /** The class in which it wishes to ask; null when it does not. */
  readonly wish: PriorityClass | null;
}
