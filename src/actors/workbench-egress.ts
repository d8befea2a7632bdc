/**
 * The workbench's watch over our way to all hosts (B5): who is under suspicion, whose fault it was, who is probed.
 *
 * A host that was not reached waits for a word. While the guard is clear it is theirs when enough others were reached
 * after it, or when the time is up. While the guard is on it is said by the first probe: one that reaches its host ends
 * a false alarm, one that fails shows an outage, and then all is ours. A name that could not be resolved waits until the
 * guard is off, as there would be no use in asking for it again.
 *
 * A probe is a request as any other, of a host that wishes to ask; best of one that was reached in this life. Where
 * none of those has anything to ask for, one is bidden to fetch its robots.txt; where nobody at all has, one of the
 * suspects is excused, and asks again.
 *
 * Who calls these carries what is returned to those whom it concerns. Nothing here knows gates or permits but by number.
 */
import type { HostName, Origin } from '../domain/host.js';
import * as policy from '../policy/egress.js';
import type { Gate } from '../policy/gate.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { ProbeFacts } from '../protocols/bench.js';
import { type Effect, send } from '../protocols/effects.js';
import type { Ask, Doubt, NetworkWord, PermitNumber } from '../protocols/workbench.js';

/** Hosts that were reached and may be probed: some are enough, since one that answers ends an outage. */
const KNOWN_MAX = 32;

/** Who has something to ask for asks within this, once its last answer was read: until then nobody is bidden to. */
export const PATIENCE_MS = 1_000;

/** A host that was bidden to ask, and does not, makes way for another one. */
export const SUMMONS_MS = 10_000;

interface Suspect {
  readonly about: Doubt;
  readonly sinceMs: number;
}

type Probe =
  /** It should ask soon; its next permit is the probe. */
  | { readonly phase: 'summoned'; readonly host: HostName; readonly untilMs: number }
  | { readonly phase: 'granted'; readonly host: HostName; readonly permit: PermitNumber };

export interface EgressBooks {
  /** Null: the guard is switched off. */
  readonly terms: policy.EgressTerms | null;
  guard: policy.Guard;
  /** In the order in which they failed. */
  readonly suspects: Map<HostName, Suspect>;
  /** Hosts that were reached in this life, the latest last. */
  readonly known: Map<HostName, Origin>;
  /** Those of them that were probed in this round. */
  readonly tried: Set<HostName>;
  probe: Probe | null;
  /** The last permit before the last outage ended: what was begun by then is not to be blamed. */
  excusedUpTo: PermitNumber | null;
  /** When permits were held by the guard last. */
  heldUntilMs: number | null;
}

export function createEgressBooks(terms: policy.EgressTerms | null): EgressBooks {
  return {
    terms,
    guard: policy.CLEAR,
    suspects: new Map(),
    known: new Map(),
    tried: new Set(),
    probe: null,
    excusedUpTo: null,
    heldUntilMs: null,
  };
}

// -- what hosts tell --------------------------------------------------------------------------------------------

export interface Heard {
  readonly host: HostName;
  readonly network: NetworkWord;
  /** When its last request ended. */
  readonly endedAtMs: number;
  /** The newest permit that was granted. */
  readonly lastPermit: PermitNumber;
}

export function hear(books: EgressBooks, heard: Heard, now: Instant): Effect[] {
  const { terms } = books;
  const { host, network } = heard;
  if (network.reach === 'reached') return reached(books, heard, network.origin, now);
  if (terms === null) return [blame(host, network.about, 'theirs')];
  return unreached(books, terms, host, network.about, now);
}

function reached(books: EgressBooks, heard: Heard, origin: Origin, now: Instant): Effect[] {
  const { terms, guard: before } = books;
  const { host, endedAtMs } = heard;
  if (terms === null) return [];
  remember(books, host, origin);
  const guard = policy.saw(before, { host, reach: 'reached', atMs: endedAtMs }, terms);
  books.guard = guard;
  if (guard.phase === 'guarding') return [];
  if (before.phase === 'guarding') return goOff(books, before, heard.lastPermit, now);
  if (books.suspects.size === 0) return [];
  const beforeMs = policy.acquittedBeforeMs(guard, terms);
  return beforeMs === null ? [] : blameThose(books, 'theirs', ({ sinceMs }) => sinceMs < beforeMs);
}

function remember({ known }: EgressBooks, host: HostName, origin: Origin): void {
  known.delete(host);
  known.set(host, origin);
  if (known.size <= KNOWN_MAX) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}

function goOff(books: EgressBooks, before: policy.Guarding, lastPermit: PermitNumber, now: Instant): Effect[] {
  const fault = policy.faultOf(before);
  if (fault === 'ours') books.excusedUpTo = lastPermit;
  books.heldUntilMs = now.monotonicMs;
  books.probe = null;
  books.tried.clear();
  return blameThose(books, fault, () => true);
}

function unreached(
  books: EgressBooks,
  terms: policy.EgressTerms,
  host: HostName,
  about: Doubt,
  now: Instant,
): Effect[] {
  if (isExcused(books, about)) return [blame(host, about, 'ours')];
  // Whoever fails again comes last.
  books.suspects.delete(host);
  books.suspects.set(host, { about, sinceMs: now.monotonicMs });
  const { guard } = books;
  books.guard = policy.saw(guard, { host, reach: 'unreached', atMs: now.monotonicMs }, terms);
  if (guard.phase !== 'guarding') return [];
  if (isProbe(books, host, about)) {
    books.guard = policy.probeFailed(guard, now.monotonicMs);
    books.probe = null;
  }
  return judgeThoseInAnOutage(books);
}

/** Its request was under way when the last outage ended. */
function isExcused({ excusedUpTo, guard }: EgressBooks, about: Doubt): boolean {
  return guard.phase === 'clear' && excusedUpTo !== null && about.what === 'visit' && about.permit <= excusedUpTo;
}

/** A request that was begun before the guard was on is none. */
function isProbe({ probe }: EgressBooks, host: HostName, about: Doubt): boolean {
  if (probe === null || probe.host !== host) return false;
  return probe.phase === 'summoned' ? about.what === 'name' : about.what === 'visit' && about.permit === probe.permit;
}

function judgeThoseInAnOutage(books: EgressBooks): Effect[] {
  const { guard } = books;
  if (guard.phase !== 'guarding' || guard.probesFailed === 0) return [];
  return blameThose(books, 'ours', ({ about }) => about.what !== 'name');
}

/** The crawl ends, and no probe will come: what holds a visit open is judged by what is known now. */
export function closeVisits(books: EgressBooks): Effect[] {
  const fault = books.guard.phase === 'guarding' ? 'ours' : 'theirs';
  return blameThose(books, fault, ({ about }) => about.what !== 'name');
}

/** Suspicions whose time is up. */
export function acquit(books: EgressBooks, now: Instant): Effect[] {
  const { terms, guard } = books;
  if (terms === null || guard.phase !== 'clear' || books.suspects.size === 0) return [];
  return blameThose(books, 'theirs', ({ sinceMs }) => sinceMs + terms.suspenseMs <= now.monotonicMs);
}

function blameThose(books: EgressBooks, fault: policy.Fault, which: (suspect: Suspect) => boolean): Effect[] {
  const effects: Effect[] = [];
  for (const [host, suspect] of books.suspects) {
    if (!which(suspect)) continue;
    books.suspects.delete(host);
    effects.push(blame(host, suspect.about, fault));
  }
  return effects;
}

function blame(host: HostName, about: Doubt, fault: policy.Fault): Effect {
  return send(addresses.host(host), { type: 'blamed', about, fault });
}

/** Whose fault it is that an errand was not answered since then: ours, if permits were held meanwhile. */
export function judgeOverdue(books: EgressBooks, host: HostName, origin: Origin, sinceMs: number): Effect {
  const { guard, heldUntilMs } = books;
  const wasHeld = guard.phase === 'guarding' || (heldUntilMs !== null && heldUntilMs >= sinceMs);
  return blame(host, { what: 'errand', origin }, wasHeld ? 'ours' : 'theirs');
}

// -- what becomes of probes -------------------------------------------------------------------------------------

/** A permit was settled, given back or closed. If it was the probe's, and its end has told nothing, another one comes. */
export function permitOver(books: EgressBooks, permit: PermitNumber, now: Instant): void {
  const { guard, probe } = books;
  if (guard.phase !== 'guarding' || probe?.phase !== 'granted' || probe.permit !== permit) return;
  books.probe = null;
  books.guard = policy.probeLost(guard, now.monotonicMs);
}

/** The host's actor has lost all that it was about. */
export function forget(books: EgressBooks, host: HostName, now: Instant): void {
  books.suspects.delete(host);
  const { guard, probe } = books;
  if (guard.phase !== 'guarding' || probe?.host !== host) return;
  books.probe = null;
  books.guard = policy.probeLost(guard, now.monotonicMs);
}

// -- who is probed ----------------------------------------------------------------------------------------------

/** What the choice is made by. */
export interface Bench {
  /** Of those that wish to ask, those whose gate and address are open. */
  readonly isInLine: (host: HostName) => boolean;
  readonly isAnyInLine: boolean;
  readonly asks: ReadonlyMap<HostName, Ask>;
  readonly gates: ReadonlyMap<HostName, Gate>;
}

export type Choice =
  /** It is in line. */
  | { readonly choose: 'host'; readonly host: HostName }
  | { readonly choose: 'anybody in line' }
  /** It has nothing to ask for, and is bidden to. */
  | { readonly choose: 'bidden'; readonly effect: Effect }
  | { readonly choose: 'nobody' };

const NOBODY: Choice = { choose: 'nobody' };

/** Who is probed now. Nobody, while a probe is out, or before its time, or where those who wish to ask may not yet. */
export function chooseProbe(books: EgressBooks, bench: Bench, now: Instant): Choice {
  const { isInLine, asks, gates } = bench;
  const { guard, probe, known, tried } = books;
  if (guard.phase !== 'guarding' || probe?.phase === 'granted') return NOBODY;
  if (probe !== null) {
    if (isInLine(probe.host)) return { choose: 'host', host: probe.host };
    if (probe.untilMs > now.monotonicMs) return NOBODY;
    books.probe = null;
  }
  if (guard.probeAtMs > now.monotonicMs) return NOBODY;
  if ([...known.keys()].every((host) => tried.has(host))) tried.clear();
  const untried = [...known.keys()].filter((host) => !tried.has(host)).reverse();
  const host = untried.find(isInLine);
  if (host !== undefined) return { choose: 'host', host };
  const mayBid = guard.probeAtMs + PATIENCE_MS <= now.monotonicMs;
  const idle = untried.find((one) => !books.suspects.has(one) && gates.get(one)?.phase !== 'granted');
  const isAnyAsking = untried.some((one) => asks.has(one));
  if (idle !== undefined && !isAnyAsking && mayBid)
    return bid(books, idle, errandTo(idle, known.get(idle) as Origin), now);
  if (bench.isAnyInLine) return { choose: 'anybody in line' };
  return asks.size > 0 || !mayBid ? NOBODY : excuse(books, now);
}

export function granted(books: EgressBooks, host: HostName, permit: PermitNumber): void {
  books.probe = { phase: 'granted', host, permit };
  if (books.known.has(host)) books.tried.add(host);
}

function bid(books: EgressBooks, host: HostName, effect: Effect, now: Instant): Choice {
  books.probe = { phase: 'summoned', host, untilMs: now.monotonicMs + SUMMONS_MS };
  books.tried.add(host);
  return { choose: 'bidden', effect };
}

function errandTo(host: HostName, origin: Origin): Effect {
  const url = `${origin}/robots.txt`;
  return send(addresses.host(host), { type: 'errand', for: null, origin, url, validators: null });
}

/** Of those who wait for a word the one that has waited longest: it costs nobody anything to let it try again. */
function excuse(books: EgressBooks, now: Instant): Choice {
  for (const [host, { about }] of books.suspects) {
    books.suspects.delete(host);
    return bid(books, host, blame(host, about, 'ours'), now);
  }
  return NOBODY;
}

/** When something is due here though no message comes; null: nothing is. */
export function nextDueMs(books: EgressBooks, now: Instant): number | null {
  const { terms, guard, probe } = books;
  if (terms === null) return null;
  if (guard.phase === 'guarding') {
    if (probe === null) return guard.probeAtMs + (guard.probeAtMs > now.monotonicMs ? 0 : PATIENCE_MS);
    return probe.phase === 'summoned' ? probe.untilMs : null;
  }
  for (const { sinceMs } of books.suspects.values()) return sinceMs + terms.suspenseMs;
  return null;
}

/** For whoever watches: who is probed now, or when somebody is. Null while the guard is off. */
export function describe({ guard, probe }: EgressBooks, now: Instant): ProbeFacts | null {
  if (guard.phase !== 'guarding') return null;
  const nextAtMs = probe === null ? now.wallMs + Math.max(0, guard.probeAtMs - now.monotonicMs) : null;
  return { host: probe?.host ?? null, nextAtMs, failed: guard.probesFailed };
}
