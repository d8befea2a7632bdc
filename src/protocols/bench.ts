/** How things stand at the workbench at one moment, for whoever watches a crawl. Times are of the wall clock. */
import type { HostName } from '../domain/host.js';
import type { PriorityClass } from '../domain/record.js';

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
  readonly slotsFree: number;
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
