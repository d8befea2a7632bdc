/**
 * The frontier's hosts: who hears what a commit brought, which hosts are at work, and when the crawl is over.
 *
 * A bounded set of hosts is at work. One that rests makes room for the next in line, drawn by class; one that rests until
 * a time stands in a heap. The set grows while slots are idle and hosts stand in line (P7: no host widens it for itself).
 * Only hosts with news are told of them.
 */
import { joinLine, nonEmptyLines, takeFront } from '../domain/class-queues.js';
import { peekDue, popDue, pushDue } from '../domain/due-heap.js';
import type { HostName } from '../domain/host.js';
import type { Attempt } from '../domain/outcome.js';
import type { PriorityClass, UrlRecord } from '../domain/record.js';
import type { UrlKey } from '../domain/url.js';
import { drawClass } from '../policy/draw.js';
import type { Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { CommitReceipt, Part, Totals } from '../protocols/commit.js';
import { type Effect, type HostsListed, log, schedule, send } from '../protocols/effects.js';
import type { EndReason } from '../protocols/events.js';
import { isRedriving, nextRedriveMs } from './frontier-redrive.js';
import type { State } from './frontier-state.js';

export const LISTED_AT_ONCE = 1_000;
const WAITING_TOLD_MAX = 20;
/** Hosts that are new at work need about so long to load, to resolve their name and to ask for the first time. */
const WIDEN_EVERY_MS = 1_000;
const SHRUNK_TO = 15 / 16;
/** Woken too early, a host that cools down would not hear it. */
export const SET_ASIDE_MARGIN_MS = 1_000;

// -- what a commit brought --------------------------------------------------------------------------------------

export function tell(state: State, part: Part, known: ReadonlySet<UrlKey>): Effect[] {
  if (part.kind === 'seed') {
    const entered = new Set(
      part.admitted.filter(({ record }) => !known.has(record.key)).map(({ record }) => record.key),
    );
    const queued = part.seeds.filter(({ key }) => entered.has(key)).map(({ url }) => url);
    const rest = part.seeds.filter(({ key }) => !entered.has(key)).map(({ url }) => url);
    const { command, refused } = part;
    return [{ do: 'announce', event: { event: 'seeded', command, queued, known: rest, refused } }];
  }
  if (part.kind === 'settings') {
    return [{ do: 'announce', event: { event: 'changed', command: part.command, settings: part.result } }];
  }
  // Its own room tells of it: it goes on from here.
  if (part.kind === 'redrive') return [];
  const effects: Effect[] = [];
  for (const { record, attempt, bytes } of part.visits) {
    if (attempt.status !== null) state.visits += 1;
    effects.push(tellVisit(record, attempt, bytes));
  }
  for (const { record } of part.admitted) {
    const [attempt] = record.attempts;
    if (attempt !== undefined && !known.has(record.key)) effects.push(tellVisit(record, attempt, 0));
  }
  return effects;
}

function tellVisit({ url, host }: Pick<UrlRecord, 'url' | 'host'>, attempt: Attempt, bytes: number): Effect {
  const { outcome, code, status, tier, durationMs } = attempt;
  return {
    do: 'announce',
    event: { event: 'visit', url, host, outcome, code, status, tier, bytes, durationMs },
  };
}

/** Only hosts with news: their ready queue was empty, or has a better class than before. */
export function hear(state: State, queue: CommitReceipt['queues'][number], effects: Effect[]): void {
  const { host, news, wakeAtMs } = queue;
  const hasWork = queue.waiting + queue.parked > 0 || queue.ready.some((count) => count > 0);
  if (hasWork || queue.blocked === 0) state.watching.delete(host);
  else state.watching.add(host);
  if (news === null) {
    const isExpected = state.active.has(host) || state.front.lineOf.has(host) || state.delayed.has(host);
    if (wakeAtMs !== null && !isExpected) restUntil(state, host, wakeAtMs, null);
  } else if (state.active.has(host)) {
    effects.push(wake(state, host));
  } else joinLineIfBetter(state, host, news);
}

function joinLineIfBetter(state: State, host: HostName, best: PriorityClass): void {
  if ((state.front.lineOf.get(host) ?? Number.MAX_SAFE_INTEGER) > best) joinLine(state.front, host, best);
}

// -- which hosts are at work ------------------------------------------------------------------------------------

/** After every change: hosts whose time has come join a line, free places are filled, the end is noticed. */
export function settleDown(state: State, now: Instant, effects: Effect[]): Turn<State> {
  if (state.life.phase === 'ended') return [state, effects];
  if (state.props.pagesMax !== null && state.visits >= state.props.pagesMax) return end(state, 'max-pages', effects);
  wakeWhatIsDue(state, now);
  while (state.active.size < state.activeLimit) {
    const priority = drawClass(nonEmptyLines(state.front), now.draw());
    if (priority === null) break;
    const host = takeFront(state.front, priority);
    if (host === undefined) break;
    effects.push(wake(state, host));
  }
  if (isOver(state, now)) {
    return end(state, reasonOf(state, now), effects);
  }
  if (isCrowded(state) && !state.widening) {
    state.widening = true;
    effects.push(schedule('widen', now.monotonicMs + WIDEN_EVERY_MS, { type: 'widenDue' }));
  }
  const next = peekDue(state.dues);
  if (next !== undefined && (state.wakeTimerAtMs === null || next.atMs < state.wakeTimerAtMs)) {
    state.wakeTimerAtMs = next.atMs;
    const atMonotonicMs = now.monotonicMs + Math.max(0, next.atMs - now.wallMs);
    effects.push({ do: 'schedule', key: 'wake', atMonotonicMs, message: { type: 'wakeDue' } });
  }
  return [state, effects];
}

/** Others could be at work, if there were room for them; of one host alone there are never more than one. */
function isCrowded({ props, active, activeLimit, front }: State): boolean {
  return props.activeMin < props.activeMax && active.size >= activeLimit && front.lineOf.size > 0;
}

/**
 * Room for as many more as slots are idle: hosts wait for their delays most of the time, so that it takes as many as the
 * rate of all slots times latency and delay to keep the slots busy. While none is idle the room shrinks again, slowly.
 */
export function widen(state: State, idleSlots: number): void {
  const { activeMin, activeMax } = state.props;
  state.widening = false;
  if (idleSlots > 0 && isCrowded(state)) state.activeLimit = Math.min(activeMax, state.activeLimit + idleSlots);
  else if (idleSlots === 0) state.activeLimit = Math.max(activeMin, Math.floor(state.activeLimit * SHRUNK_TO));
}

export function wake(state: State, host: HostName): Effect {
  const number = ++state.lastWake;
  state.active.set(host, number);
  state.wakeAt.delete(host);
  state.delayed.delete(host);
  state.journal.woken.push(host);
  return send(addresses.host(host), { type: 'wake', wake: number });
}

/** @param left the class in which it goes on then, where it is only its delay that it waits for; else null */
export function restUntil(state: State, host: HostName, wakeAtMs: number, left: PriorityClass | null): void {
  if (left === null) state.delayed.delete(host);
  else state.delayed.set(host, left);
  if (state.wakeAt.get(host) === wakeAtMs) return;
  state.wakeAt.set(host, wakeAtMs);
  pushDue(state.dues, { atMs: wakeAtMs, name: host });
}

/** A host whose time has come is as good as one that has waited in the first line; a delay moves it to no other. */
function wakeWhatIsDue(state: State, now: Instant): void {
  for (let next = peekDue(state.dues); next !== undefined; next = peekDue(state.dues)) {
    const stands = state.wakeAt.get(next.name) === next.atMs;
    if (stands && next.atMs > now.wallMs) return;
    popDue(state.dues);
    if (!stands) continue;
    state.wakeAt.delete(next.name);
    const priority = state.delayed.get(next.name) ?? 0;
    state.delayed.delete(next.name);
    if (!state.active.has(next.name)) joinLineIfBetter(state, next.name, priority);
  }
}

// -- the start and the end --------------------------------------------------------------------------------------

export function list(state: State, listed: HostsListed, now: Instant): Turn<State> {
  const effects: Effect[] = listed.notes.map((note) => log('error', 'row_set_aside', { note }));
  for (const { host, best, wakeAtMs } of listed.hosts) {
    if (state.active.has(host)) effects.push(...(best === null ? [] : [wake(state, host)]));
    else if (best !== null) joinLineIfBetter(state, host, best);
    else if (!state.front.lineOf.has(host)) restUntil(state, host, wakeAtMs ?? now.wallMs, null);
  }
  if (listed.complete) {
    state.life = { phase: 'crawling' };
    return settleDown(state, now, effects);
  }
  const last = listed.hosts[listed.hosts.length - 1];
  return settleDown(state, now, [...effects, { do: 'listHosts', after: last?.host ?? null, limit: LISTED_AT_ONCE }]);
}

export function listAgain(listed: HostsListed, now: Instant): Effect[] {
  return [
    log('warn', 'hosts_not_listed', { reason: listed.failure }),
    { do: 'schedule', key: 'list', atMonotonicMs: now.monotonicMs + 1_000, message: { type: 'listDue' } },
  ];
}

export function egressLater(atMonotonicMs: number): Effect {
  return { do: 'schedule', key: 'egress', atMonotonicMs, message: { type: 'egressDue' } };
}

function isOver(state: State, now: Instant): boolean {
  if (state.props.waitMs === null || state.life.phase !== 'crawling' || state.unacknowledged > 0) return false;
  if (isOutOfReach(state, now)) return true;
  if (state.active.size > 0 || state.front.lineOf.size > 0 || state.delayed.size > 0) return false;
  // Hosts may rest until their robots.txt is due for what it disallows: that is no work, and nobody waits for it.
  if (isWithoutWork(state.totals) && state.redrives.size === 0) return true;
  if (isRedriving(state)) return false;
  // What is not due for a while is not due because of an outage: it is waited for as on a full disk.
  if (state.way.is === 'cut_off') return false;
  const redriveMs = nextRedriveMs(state);
  if (redriveMs !== null && redriveMs <= now.monotonicMs + state.props.waitMs) return false;
  const next = peekDue(state.dues);
  return next === undefined || next.atMs > now.wallMs + state.props.waitMs;
}

/** Nothing says that hosts can be reached from here at all: those that wish to ask are not waited for. */
function isOutOfReach({ way }: State, now: Instant): boolean {
  return way.is === 'never_open' && way.untilMs <= now.monotonicMs;
}

function reasonOf(state: State, now: Instant): EndReason {
  if (isWithoutWork(state.totals) && state.redrives.size === 0) return 'done';
  return isOutOfReach(state, now) ? 'unreachable' : 'only-waiting';
}

function isWithoutWork({ ready, waiting, parked }: Totals): boolean {
  return ready + waiting + parked === 0;
}

function end(state: State, reason: EndReason, effects: Effect[]): Turn<State> {
  state.life = { phase: 'ended', reason };
  const waiting = [...state.wakeAt]
    .filter(([host]) => !state.watching.has(host))
    .slice(0, WAITING_TOLD_MAX)
    .map(([host, wakeAtMs]) => ({ host, wakeAtMs }));
  effects.push({ do: 'announce', event: { event: 'ended', reason, waiting } });
  return [state, effects];
}
