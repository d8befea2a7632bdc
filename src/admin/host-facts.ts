/** What is known of one host: what its store holds, and, while the crawl runs, its gate. Pure, but for one read. */
import { type HostName, partitionOf, siteOf } from '../domain/host.js';
import type { QueueEntry, QueueSummary } from '../domain/record.js';
import { delayAfter } from '../policy/delay.js';
import { isParkedForBackend } from '../policy/parking.js';
import { refilled, type RetryBudgetTerms, retryWaitsUntilMs, unusedBudget } from '../policy/retry-budget.js';
import { pages } from '../policy/robots/freshness.js';
import type { BenchFacts, GateFacts } from '../protocols/bench.js';
import { type HostSnapshot, type RobotsEntry, UNTOUCHED } from '../protocols/host-snapshot.js';
import type { StorePort } from '../protocols/ports.js';
import { type HostReport, type HostRow, type OriginReport, timeOf, type WaitCause } from './control.js';

export interface HostFacts {
  readonly name: HostName;
  readonly summary: QueueSummary;
  readonly snapshot: HostSnapshot;
  readonly robots: readonly RobotsEntry[];
  /** The first rows of its queue: due retries, ready rows, later retries, parked ones. */
  readonly head: readonly QueueEntry[];
  readonly firstDueAtMs: number | null;
}

/** What the configuration says of delays. */
export interface DelayTerms {
  readonly delayMsOf: (host: HostName) => number;
  readonly adaptiveFactor: number;
  /** What each host may make of retries; absent where it is not known. */
  readonly retryBudget?: RetryBudgetTerms;
}

/** Where the crawl stands, as far as it concerns each host. */
export interface Standing {
  readonly bench: (Pick<BenchFacts, 'holds'> & Partial<Pick<BenchFacts, 'retries'>>) | null;
  readonly phase: 'running' | 'paused' | 'stopped';
  readonly nowMs: number;
  /** As in the terms. */
  readonly retryBudget?: RetryBudgetTerms | undefined;
}

/** Null: never queued for. */
export async function readHost(store: StorePort, name: HostName, rows: number): Promise<HostFacts | null> {
  const { summary, snapshot, robots, head } = await store.loadHost(name, rows);
  if (summary === null) return null;
  const [first] = head.waiting;
  return {
    name,
    summary,
    snapshot: snapshot ?? UNTOUCHED,
    robots,
    head: [...head.ready, ...head.waiting, ...head.parked],
    firstDueAtMs: first?.at.queue === 'waiting' ? first.at.dueAtMs : null,
  };
}

export function hostRow(facts: HostFacts, gate: GateFacts | null, terms: DelayTerms, standing: Standing): HostRow {
  const { name, summary, snapshot, robots } = facts;
  const wait = waitOf(facts, gate, standing);
  return {
    name,
    queued: { ready: sum(summary.ready), waiting: summary.waiting, parked: summary.parked },
    nextAllowedAt: timeOf(nextAllowedMs(facts, gate, standing.nowMs)),
    delayMs: delayMsOf(facts, terms, standing.nowMs),
    breaker: snapshot.breaker.phase,
    robots: robotsPhase(robots),
    waits: wait === null ? null : { why: wait.why, until: timeOf(wait.untilMs) },
  };
}

export function hostReport(
  facts: HostFacts,
  gate: GateFacts | null,
  terms: DelayTerms,
  standing: Standing,
): HostReport {
  const { name, summary, snapshot } = facts;
  const { lastDurationMs } = snapshot;
  return {
    ...hostRow(facts, gate, terms, standing),
    site: siteOf(name),
    partition: partitionOf(name),
    readyByClass: summary.ready,
    delay: {
      configuredMs: terms.delayMsOf(name),
      crawlDelaySeconds: crawlDelayOf(facts, standing.nowMs),
      adaptiveMs: lastDurationMs === null ? null : Math.round(terms.adaptiveFactor * lastDurationMs),
    },
    gate: gate === null ? null : gateReport(gate),
    breakerState: breakerReport(snapshot),
    throttle: { consecutive: snapshot.throttle.consecutive, closedUntil: timeOf(snapshot.closedUntilMs) },
    retries: retriesReport(snapshot, terms, standing.nowMs),
    requests: snapshot.requests,
    lastDurationMs: lastDurationMs === null ? null : Math.round(lastDurationMs),
    wakesAt: timeOf(summary.wakeAtMs),
    ladder: ladderReport(snapshot),
    origins: facts.robots.map((entry) => originReport(entry, standing.nowMs)),
    next: facts.head.map(nextRow),
  };
}

/** The delay that holds between two requests (P2). */
export function delayMsOf(facts: HostFacts, terms: DelayTerms, nowMs: number): number {
  return Math.round(
    delayAfter({
      configuredMs: terms.delayMsOf(facts.name),
      crawlDelaySeconds: crawlDelayOf(facts, nowMs),
      adaptiveFactor: terms.adaptiveFactor,
      lastDurationMs: facts.snapshot.lastDurationMs,
    }),
  );
}

interface Wait {
  readonly why: WaitCause;
  readonly untilMs: number | null;
}

/**
 * Why it is not being asked. A rest that the host itself has brought about comes first: it holds whether a crawl runs or
 * not. Then what keeps all hosts, then its queue, its gate, and its turn. Null: nothing is left to ask.
 */
export function waitOf(facts: HostFacts, gate: GateFacts | null, standing: Standing): Wait | null {
  const { bench, phase, nowMs } = standing;
  const { summary, snapshot, firstDueAtMs } = facts;
  const ready = sum(summary.ready);
  if (ready + summary.waiting + summary.parked === 0) return null;
  if (gate?.phase === 'in_flight' || gate?.phase === 'judging') return { why: 'in_flight', untilMs: null };
  const { breaker, closedUntilMs } = snapshot;
  if (breaker.phase === 'open' && breaker.untilMs > nowMs) return { why: 'breaker', untilMs: breaker.untilMs };
  if (closedUntilMs !== null && closedUntilMs > nowMs) return { why: 'retry_after', untilMs: closedUntilMs };
  if (phase !== 'running') return { why: phase, untilMs: null };
  const isDue = ready > 0 || (firstDueAtMs !== null && firstDueAtMs <= nowMs);
  if (!isDue && firstDueAtMs !== null) return { why: 'retry', untilMs: firstDueAtMs };
  const heldMs = retriesHeldMs(facts, standing);
  if (ready === 0 && heldMs !== null && gate?.wish == null) return { why: 'retry_budget', untilMs: heldMs };
  const isForBrowser = facts.head.some(({ at, record }) => at.queue === 'parked' && isParkedForBackend(record));
  if (!isDue && gate?.wish == null && isForBrowser) return { why: 'browser', untilMs: summary.wakeAtMs };
  if (!isDue && gate?.wish == null) return { why: 'robots', untilMs: robotsRetryMs(facts.robots) };
  return waitAtBench(gate, bench, nowMs);
}

/** Until when its first waiting row, a retry that is due, has to wait for a budget; null where that is not so. */
function retriesHeldMs({ head, snapshot }: HostFacts, { bench, nowMs, retryBudget }: Standing): number | null {
  const first = head.find(({ at }) => at.queue === 'waiting');
  if (first === undefined || first.record.deliveries === 0) return null;
  const budget = snapshot.retryBudget;
  const own = budget === null || retryBudget === undefined ? null : retryWaitsUntilMs(budget, retryBudget, nowMs);
  const all = bench?.retries?.waitsUntilMs ?? null;
  return own === null && all === null ? null : Math.max(own ?? 0, all ?? 0);
}

function retriesReport({ retryBudget }: HostSnapshot, terms: DelayTerms, nowMs: number): HostReport['retries'] {
  if (terms.retryBudget === undefined) return null;
  const budget = retryBudget ?? unusedBudget(terms.retryBudget, nowMs);
  const { left } = refilled(budget, terms.retryBudget, nowMs);
  const nextAt = timeOf(retryWaitsUntilMs(budget, terms.retryBudget, nowMs));
  return { left: Math.max(0, Math.floor(left)), nextAt };
}

function waitAtBench(gate: GateFacts | null, bench: Standing['bench'], nowMs: number): Wait {
  if (bench !== null && bench.holds.length > 0) return { why: 'held', untilMs: null };
  if (gate === null || gate.wish === null) return { why: 'turn', untilMs: null };
  if (gate.phase === 'closed') return { why: 'delay', untilMs: gate.nextAllowedAtMs };
  if (gate.phase !== 'behind_address') return { why: 'permit', untilMs: null };
  const opensAtMs = gate.address?.inFlight === false ? gate.address.opensAtMs : null;
  return { why: 'address', untilMs: opensAtMs !== null && opensAtMs > nowMs ? opensAtMs : null };
}

/** The latest of what its gate, its breaker and its own wish for silence say; null where that has passed. */
function nextAllowedMs({ snapshot }: HostFacts, gate: GateFacts | null, nowMs: number): number | null {
  const { breaker, closedUntilMs } = snapshot;
  const latest = Math.max(
    gate?.nextAllowedAtMs ?? 0,
    closedUntilMs ?? 0,
    breaker.phase === 'open' ? breaker.untilMs : 0,
  );
  return latest > nowMs ? latest : null;
}

/** For how long from now it is left alone altogether. */
export function restMs({ snapshot }: HostFacts, nowMs: number): number {
  const { breaker, closedUntilMs } = snapshot;
  return Math.max(0, (closedUntilMs ?? 0) - nowMs, breaker.phase === 'open' ? breaker.untilMs - nowMs : 0);
}

/** One clock for all its origins: the slowest of their rules. */
function crawlDelayOf({ robots }: HostFacts, nowMs: number): number | null {
  let slowest: number | null = null;
  for (const { state } of robots) {
    const answer = pages(state, nowMs);
    const asked = answer.may === 'ask' ? answer.copy.rules.crawlDelaySeconds : null;
    if (asked !== null && asked > (slowest ?? 0)) slowest = asked;
  }
  return slowest;
}

function robotsPhase(robots: readonly RobotsEntry[]): HostRow['robots'] {
  if (robots.some(({ state }) => state.phase === 'unreachable')) return 'unreachable';
  return robots.some(({ state }) => state.phase === 'fresh') ? 'fresh' : 'unknown';
}

function robotsRetryMs(robots: readonly RobotsEntry[]): number | null {
  const times = robots.flatMap(({ state }) => (state.phase === 'unreachable' ? [state.retryAtMs] : []));
  return times.length === 0 ? null : Math.min(...times);
}

function originReport({ origin, state }: RobotsEntry, nowMs: number): OriginReport {
  const copy = state.phase === 'fresh' ? state : state.phase === 'unreachable' ? state.lastGood : null;
  return {
    origin,
    state: state.phase,
    fetchedAt: timeOf(copy?.fetchedAtMs ?? null),
    ageSeconds: copy === null ? null : Math.max(0, Math.round((nowMs - copy.fetchedAtMs) / 1_000)),
    status: copy?.status ?? null,
    rules: copy?.rules.rules.length ?? null,
    crawlDelaySeconds: copy?.rules.crawlDelaySeconds ?? null,
    sitemaps: copy?.rules.sitemaps.length ?? null,
    remark: copy?.rules.remark ?? null,
    retryAt: state.phase === 'unreachable' ? timeOf(state.retryAtMs) : null,
    attempts: state.phase === 'unreachable' ? state.attempts : 0,
    cause: state.phase === 'unreachable' ? (state.cause ?? null) : null,
  };
}

function gateReport({ phase, inFlightSinceMs, address, wish }: GateFacts): NonNullable<HostReport['gate']> {
  return {
    phase,
    inFlightSince: timeOf(inFlightSinceMs),
    address:
      address === null
        ? null
        : {
            name: address.name,
            inFlight: address.inFlight,
            opensAt: address.inFlight ? null : timeOf(address.opensAtMs),
          },
    wish,
  };
}

function ladderReport({ ladder: { need, clearance }, browserTime }: HostSnapshot): HostReport['ladder'] {
  return {
    needs: need === null ? null : { tier: need.tier, cause: need.cause, believedUntil: timeOf(need.believedUntilMs) },
    clearanceUntil: timeOf(clearance?.expiresAtMs ?? null),
    browserSeconds: Math.round(browserTime.usedMs / 1_000),
  };
}

function breakerReport({ breaker }: HostSnapshot): HostReport['breakerState'] {
  if (breaker.phase !== 'open') return breaker;
  return { phase: 'open', until: timeOf(breaker.untilMs), openings: breaker.openings };
}

function nextRow({ at, record }: QueueEntry): HostReport['next'][number] {
  return {
    url: record.url,
    queue: at.queue,
    priority: at.queue === 'ready' ? at.priority : null,
    dueAt: at.queue === 'waiting' ? timeOf(at.dueAtMs) : null,
    deliveries: record.deliveries,
    lastCode: record.attempts.at(-1)?.code ?? null,
  };
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, one) => total + one, 0);
}
