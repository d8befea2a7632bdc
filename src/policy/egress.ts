/**
 * The egress guard (B5): when hardly any host can be reached, the fault is most likely ours.
 *
 *     clear ──most of the latest hosts are unreached──▶ guarding ──any host is reached──▶ clear
 *
 * A host that fails says something of itself; many that fail at once say something of the one thing that they share,
 * which is our way to them. While the guard is on no host is asked but one probe at a time. Until a probe has failed
 * too it may be a false alarm (a web of mostly dead hosts): if the first one reaches its host, the others are to blame
 * for themselves.
 *
 * Those that failed before the guard saw the pattern must not pay for it either. So a failure is a suspicion first, and
 * is judged when enough others were reached after it, or after a short while in which no pattern showed.
 *
 * Invariants: one result a host, the newest; what is older than the window counts for nothing; a host that is reached
 * ends the guard. All times are monotonic.
 */
import type { FetchResult, Resolution } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';

/** Whether a request got as far as its host: any answer of it counts, an error or a broken body too. */
export type Reach = 'reached' | 'unreached';

/** Whose fault it is that a host was not reached. */
export type Fault = 'theirs' | 'ours';

export interface EgressTerms {
  /** Hosts that must be unreached at least before it can be our fault; as many that are reached say that it is not. */
  readonly hostsMin: number;
  /** The latest hosts that are looked at, each by its newest result. */
  readonly hostsMax: number;
  /** The share of these that must be unreached. */
  readonly shareMin: number;
  /** Results that are older count for nothing. */
  readonly windowMs: number;
  /** So long a failure is a suspicion at most, while the guard is off. */
  readonly suspenseMs: number;
}

export interface Sighting {
  readonly host: HostName;
  readonly reach: Reach;
  /** When the request ended. */
  readonly atMs: number;
}

export type Guard =
  /** The oldest result first. */
  | { readonly phase: 'clear'; readonly recent: readonly Sighting[] }
  | { readonly phase: 'guarding'; readonly sinceMs: number; readonly probesFailed: number; readonly probeAtMs: number };

export type Guarding = Extract<Guard, { phase: 'guarding' }>;

export const CLEAR: Guard = { phase: 'clear', recent: [] };

/** After each probe that fails: quickly at first, since most outages are short, then at a pace that troubles nobody. */
export const PROBE_GAPS_MS: readonly number[] = [2_000, 5_000, 10_000, 20_000, 30_000];

/** What a request says of our way to its host; null where it says nothing: refused by us, or stopped half-way. */
export function reachOf(result: FetchResult): Reach | null {
  if (result.kind === 'backend_failure') return null;
  if (result.kind === 'response' || result.status !== null) return 'reached';
  switch (result.code) {
    case 'connect_failed':
    case 'connection_reset':
      // A connection that was kept open may be closed by anybody at any time: it is tried again on a fresh one.
      return result.reusedConnection ? null : 'unreached';
    case 'timeout':
      return 'unreached';
    case 'truncated':
    case 'undecodable':
    case 'bomb':
    case 'too_slow':
    case 'too_large':
    case 'header_overflow':
    case 'not_strict_http':
      return 'reached';
    case 'tls_failed':
    case 'protocol_error':
    case 'guard_refused':
    case 'unsupported_scheme':
    case 'worker_crashed':
    case 'interrupted':
      return null;
  }
}

/** Name servers that give no answer are as far away as the host; what they say of a name is no word of the host. */
export function reachOfName(resolution: Resolution): Reach | null {
  return resolution.kind === 'failed' && resolution.code === 'dns_failed' ? 'unreached' : null;
}

/** One more result. While guarding only a host that was reached since then counts. */
export function saw(guard: Guard, sighting: Sighting, terms: EgressTerms): Guard {
  const { host, reach, atMs } = sighting;
  if (guard.phase === 'guarding') return reach === 'reached' && atMs > guard.sinceMs ? CLEAR : guard;
  const others = guard.recent.filter((one) => one.host !== host && one.atMs > atMs - terms.windowMs);
  const recent = [...others, sighting].slice(-terms.hostsMax);
  const unreached = recent.filter((one) => one.reach === 'unreached').length;
  const isOurs = reach === 'unreached' && unreached >= terms.hostsMin && unreached >= terms.shareMin * recent.length;
  return isOurs ? { phase: 'guarding', sinceMs: atMs, probesFailed: 0, probeAtMs: atMs } : { phase: 'clear', recent };
}

/** The probe has not reached its host either: it is an outage, and the next one waits longer. */
export function probeFailed(guard: Guarding, nowMs: number): Guarding {
  const probesFailed = guard.probesFailed + 1;
  return { ...guard, probesFailed, probeAtMs: nowMs + gapMs(probesFailed) };
}

/** The probe was not begun, or ended in a way that says nothing. */
export function probeLost(guard: Guarding, nowMs: number): Guarding {
  return { ...guard, probeAtMs: nowMs + gapMs(guard.probesFailed) };
}

function gapMs(probesFailed: number): number {
  const last = PROBE_GAPS_MS.length - 1;
  return PROBE_GAPS_MS[Math.min(last, Math.max(0, probesFailed - 1))] as number;
}

/** Whose fault it was, when the guard ends. */
export function faultOf({ probesFailed }: Guarding): Fault {
  return probesFailed > 0 ? 'ours' : 'theirs';
}

/** Whoever failed before this moment has seen enough others reached after it; null: nobody has. */
export function acquittedBeforeMs({ recent }: Extract<Guard, { phase: 'clear' }>, terms: EgressTerms): number | null {
  const reached = recent.filter((one) => one.reach === 'reached').map(({ atMs }) => atMs);
  return reached.length < terms.hostsMin ? null : (reached.sort((a, b) => b - a)[terms.hostsMin - 1] as number);
}
