/** What the workbench says of itself when it is asked: a reading of its books that changes none of them. */
import type { ClassQueues } from '../domain/class-queues.js';
import type { Tier } from '../domain/tier.js';
import type { HostName } from '../domain/host.js';
import type { Gate } from '../policy/gate.js';
import type { Instant } from '../protocols/actor.js';
import type { BenchFacts, GateFacts } from '../protocols/bench.js';
import type { Ask, PermitNumber } from '../protocols/workbench.js';
import * as backend from './workbench-backend.js';
import * as egress from './workbench-egress.js';
import * as retries from './workbench-retries.js';

/** The part of the workbench's state that is told. */
export interface Books {
  readonly gates: ReadonlyMap<HostName, Gate>;
  readonly clocks: ReadonlyMap<string, { readonly inFlight: PermitNumber | null; readonly opensAtMs: number }>;
  readonly asks: ReadonlyMap<HostName, Ask>;
  readonly lines: ReadonlyMap<Tier, TierLine>;
  readonly backend: backend.BackendBooks;
  readonly egress: egress.EgressBooks;
  readonly retries: retries.RetryBooks;
  readonly open: ReadonlyMap<
    PermitNumber,
    { readonly sinceMs: number; readonly slot: number | null; readonly addressClock: string | null }
  >;
  readonly openBytes: number;
  readonly holds: ReadonlySet<string>;
  readonly stage: BenchFacts['stage'];
}

/** The slots of one tier, and who waits for one. */
export interface TierLine {
  readonly slots: number;
  readonly requestMsMax: number;
  readonly free: number[];
  /** Hosts whose gate and address are open, by class. */
  readonly due: ClassQueues;
}

export function describe(books: Books, hosts: readonly HostName[], now: Instant): BenchFacts {
  const gates: GateFacts[] = [];
  for (const host of hosts) {
    const gate = books.gates.get(host);
    if (gate !== undefined) gates.push(gateFacts(books, host, gate, now));
  }
  return {
    gates,
    hosts: countHosts(books, now),
    holds: [...books.holds],
    stage: books.stage,
    openVisits: books.open.size,
    openBytes: books.openBytes,
    slotsFree: books.lines.get(1)?.free.length ?? 0,
    tiers: [...books.lines].map(([tier, { slots, free, due }]) => ({
      tier,
      slots,
      free: free.length,
      inLine: due.lineOf.size,
    })),
    backend: books.lines.has(3) ? backend.describe(books.backend, now) : null,
    retries: retries.describe(books.retries, now),
    probing: egress.describe(books.egress, now),
  };
}

function gateFacts(books: Books, host: HostName, gate: Gate, now: Instant): GateFacts {
  const ask = books.asks.get(host);
  const visit = gate.phase === 'granted' ? books.open.get(gate.permit) : undefined;
  const name = ask?.addressClock ?? visit?.addressClock ?? null;
  const clock = name === null ? undefined : books.clocks.get(name);
  const address =
    name === null || clock === undefined
      ? null
      : { name, inFlight: clock.inFlight !== null, opensAtMs: wallOf(clock.opensAtMs, now) };
  return {
    host,
    phase: phaseOf(gate, ask !== undefined && !isInLine(books, ask), now),
    nextAllowedAtMs: gate.phase === 'open' ? wallOf(gate.opensAtMs, now) : null,
    inFlightSinceMs: visit === undefined ? null : wallOf(visit.sinceMs, now),
    address,
    wish: ask?.priority ?? null,
  };
}

function phaseOf(gate: Gate, isKept: boolean, now: Instant): GateFacts['phase'] {
  if (gate.phase === 'granted') return 'in_flight';
  if (gate.phase === 'ended') return 'judging';
  if (gate.opensAtMs > now.monotonicMs) return 'closed';
  return isKept ? 'behind_address' : 'open';
}

function isInLine({ lines }: Books, { host, tier }: Ask): boolean {
  return lines.get(tier)?.due.lineOf.has(host) === true;
}

function countHosts(books: Books, now: Instant): BenchFacts['hosts'] {
  let closed = 0;
  let behindAddress = 0;
  let inLine = 0;
  for (const [host, ask] of books.asks) {
    if (isInLine(books, ask)) {
      inLine += 1;
      continue;
    }
    const gate = books.gates.get(host);
    if (gate === undefined || gate.phase !== 'open' || gate.opensAtMs > now.monotonicMs) closed += 1;
    else behindAddress += 1;
  }
  let inFlight = 0;
  for (const { slot } of books.open.values()) if (slot !== null) inFlight += 1;
  return { inFlight, closed, behindAddress, inLine };
}

function wallOf(monotonicMs: number, now: Instant): number {
  return now.wallMs + monotonicMs - now.monotonicMs;
}
