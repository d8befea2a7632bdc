/**
 * What a host does next. One question, asked after everything that happens to it; the answer is a step.
 *
 * The order is the algorithm:
 * 1. rows that were parked for what is there now (robots.txt, the browser service) go back to ready, and so do rows that
 *    new rules allow;
 * 2. one row that is parked for the browser service may be asked for, to see whether it is well; else the window is walked
 *    in the order of visiting; rows that the last look stops are settled without a request, the
 *    first that may go is the target (or the robots.txt that must be read before it);
 * 3. the host must be willing: breaker, silence that it asked for;
 * 4. its name must have an address; then the workbench is asked.
 * What can't go on now rests, and says until when.
 */
import type { Resolution } from '../domain/fetching.js';
import type { Origin } from '../domain/host.js';
import type { PriorityClass, QueueEntry, RobotsEvidence } from '../domain/record.js';
import { type AdmissionRefusal, type CrawlRules, refusalOf } from '../policy/admission.js';
import * as queues from '../policy/back-queue.js';
import * as breakers from '../policy/breaker.js';
import { DELAY_CAP_MS } from '../policy/delay.js';
import { lookAt } from '../policy/last-look.js';
import { isToBePutOff } from '../policy/history.js';
import { isParkedForBackend } from '../policy/parking.js';
import { isPoison } from '../policy/retry.js';
import { due, lastGoodOf, pages, recheckAtMs, ROBOTS_REDIRECTS_MAX } from '../policy/robots/freshness.js';
import type { Instant } from '../protocols/actor.js';
import type { Permit } from '../protocols/workbench.js';
import {
  backendTurnMs,
  isBackendDown,
  isFreed,
  parkedInTurn,
  rationedUntilMs,
  startFor,
  tierOf,
} from './host-ladder.js';
import { deliveryOf, isRetry, nextWaitingMs, retriesHeldUntilMs } from './host-retries.js';
import { type Live, matcherOf, originOf, robotsOf, robotsUrlOf, type RobotsHunt, type Target } from './host-state.js';

export type Step =
  | { readonly step: 'unpark'; readonly entries: readonly QueueEntry[] }
  | { readonly step: 'settle'; readonly stopped: readonly Stopped[] }
  /** Errands that can't be run, as the name has no address. */
  | { readonly step: 'decline'; readonly resolution: NoAddress }
  | { readonly step: 'resolve' }
  | { readonly step: 'ask'; readonly target: Target; readonly priority: PriorityClass }
  | { readonly step: 'read' }
  /** Rows that earlier rules disallowed are looked at by those that have come. */
  | { readonly step: 'recheck'; readonly from: number }
  | { readonly step: 'rest'; readonly left: PriorityClass | null; readonly wakeAtMs: number | null }
  /** Something is under way that will bring the next step. */
  | { readonly step: 'wait' };

/** It rests where its gate is closed for longer than any delay that the web can ask for, so that others have its place meanwhile. */
const GATE_WAIT_MS_MAX = DELAY_CAP_MS;

type NoAddress = Exclude<Resolution, { kind: 'addresses' }>;

/** A row that the last look stopped, and why. */
export type Stopped =
  | { readonly why: 'blocked'; readonly entry: QueueEntry; readonly robots: RobotsEvidence }
  | { readonly why: 'parked'; readonly entry: QueueEntry }
  /** B2: it needs the browser service, which is given a rest. */
  | { readonly why: 'backend_down'; readonly entry: QueueEntry }
  /** It needs more of the browser's time than its host is granted. */
  | { readonly why: 'rationed'; readonly entry: QueueEntry; readonly untilMs: number }
  /** The rules of the crawl have changed since it was queued. */
  | { readonly why: 'unwanted'; readonly entry: QueueEntry; readonly refusal: AdmissionRefusal }
  /** The process has died with it in hand too often. */
  | { readonly why: 'poison'; readonly entry: QueueEntry }
  /** The process has died with it in hand; in this life it was not put off yet. */
  | { readonly why: 'suspect'; readonly entry: QueueEntry }
  | { readonly why: 'no_address'; readonly entry: QueueEntry; readonly resolution: NoAddress };

/** What the walk through the window found. */
export interface Choice {
  readonly stopped: readonly Stopped[];
  readonly target: Target | null;
}

export function nextStep(state: Live, now: Instant): Step {
  const freed = state.queue.parked.filter((entry) =>
    isParkedForBackend(entry.record) ? isFreed(state, entry, now) : isReadable(state, entry, now),
  );
  if (freed.length > 0) return { step: 'unpark', entries: freed };
  const { recheckFrom } = state.snapshot;
  if (recheckFrom !== null && isRecorded(state, state.recheckTicket)) return { step: 'recheck', from: recheckFrom };

  const noAddress = noAddressOf(state, now);
  if (noAddress !== null && state.errands.length > 0) return { step: 'decline', resolution: noAddress };

  const { stopped, target } = choose(state, now, null);
  if (stopped.length > 0) return { step: 'settle', stopped };
  if (target === null) return withoutTarget(state, now);

  const silentUntilMs = silence(state, now);
  if (silentUntilMs !== null) return restIfStill(state, null, silentUntilMs);
  const priority = target.what === 'page' ? target.entry.record.priority : 0;
  const closedMs = state.gateClosedUntilMs - now.monotonicMs;
  if (closedMs > GATE_WAIT_MS_MAX) return restIfStill(state, priority, Math.ceil(now.wallMs + closedMs));
  const { openMax, quota } = state.props;
  if (state.open.size >= openMax) return { step: 'wait' };
  if (state.activity.visits >= quota) return restIfStill(state, priority, null);
  if (addressOf(state, now) === null) return { step: 'resolve' };
  return { step: 'ask', target, priority };
}

function isReadable(state: Live, { record }: QueueEntry, now: Instant): boolean {
  return pages(robotsOf(state, originOf(record.url)), now.wallMs).may === 'ask';
}

/** Whether the store holds all that was wished up to this. */
function isRecorded({ parts }: Live, ticket: number): boolean {
  for (const pending of parts.keys()) return pending > ticket;
  return true;
}

/**
 * Walks the window without changing anything, for what the permit in hand can be spent on: by the rules of the crawl that
 * come with it, and its tier. Without one, null, no row is held against the rules: what an earlier permit said may have
 * been taken back since.
 */
export function choose(state: Live, now: Instant, permit: Pick<Permit, 'rules' | 'tier' | 'delivery'> | null): Choice {
  const rules = permit?.rules ?? null;
  const isFit = (target: Target) => permit === null || (tierOf(target) === permit.tier && isPaidBy(target, permit));
  const noAddress = noAddressOf(state, now);
  if (noAddress !== null) return { stopped: stoppedByName(state, noAddress, now), target: null };
  const errand = state.errands[0];
  if (errand !== undefined && (permit === null || permit.tier === 1))
    return { stopped: [], target: { what: 'errand', errand } };
  const stopped: Stopped[] = [];
  const parked = parkedInTurn(state, now);
  for (const entry of withFirst(parked, inOrder(state, now))) {
    const found = look(state, entry, now, rules);
    if (found === null) continue;
    if (!('what' in found)) stopped.push(found);
    else if (isFit(found)) return { stopped, target: found };
  }
  stopped.push(...state.queue.parked.flatMap((entry) => (entry === parked ? null : unwanted(entry, rules)) ?? []));
  const hunt = huntForParked(state, now) ?? huntForBlocked(state, now);
  return { stopped, target: hunt !== null && isFit(hunt) ? hunt : null };
}

/** A name that must not be asked stops all rows; one that can't be resolved now costs one row its delivery. */
function stoppedByName(state: Live, resolution: NoAddress, now: Instant): Stopped[] {
  const all = [...inOrder(state, now), ...(resolution.kind === 'refused' ? state.queue.parked : [])];
  const charged = resolution.kind === 'refused' ? all : state.names.known?.charged === true ? [] : all.slice(0, 1);
  return charged.map((entry) => ({ why: 'no_address', entry, resolution }));
}

function* withFirst(first: QueueEntry | null, others: Iterable<QueueEntry>): Iterable<QueueEntry> {
  if (first !== null) yield first;
  yield* others;
}

/** A retry that was not asked for as one would be on nobody's budget. */
function isPaidBy(target: Target, permit: Pick<Permit, 'delivery'>): boolean {
  return deliveryOf(target) !== 'retry' || permit.delivery === 'retry';
}

/** Due retries, as far as there is a budget for them, then ready rows. */
function* inOrder(state: Live, now: Instant): Iterable<QueueEntry> {
  const areHeld = state.queue.waiting.length > 0 && retriesHeldUntilMs(state, now) !== null;
  for (const entry of state.queue.waiting) {
    if (entry.at.queue !== 'waiting' || entry.at.dueAtMs > now.wallMs) break;
    if (!areHeld || !isRetry(entry)) yield entry;
  }
  yield* state.queue.ready;
}

/** Null: nothing can be said of it until its robots.txt, which is being asked for, is there. */
function look(state: Live, entry: QueueEntry, now: Instant, rules: CrawlRules | null): Target | Stopped | null {
  if (isPoison(entry.record)) return { why: 'poison', entry };
  if (isToBePutOff(entry.record, state.props.startedAtMs)) return { why: 'suspect', entry };
  const stopped = unwanted(entry, rules);
  if (stopped !== null) return stopped;
  const origin = originOf(entry.record.url);
  const hunt = state.asking.get(origin);
  if (hunt !== undefined) return hunt.by === 'nobody' ? { what: 'robots', hunt } : null;
  const found = lookAt(entry.record.url, robotsOf(state, origin), (copy) => matcherOf(state, origin, copy), now.wallMs);
  switch (found.look) {
    case 'go':
      return byItsTier(state, entry, found.robots, now);
    case 'robots_first':
      return { what: 'robots', hunt: newHunt(state, origin) };
    case 'blocked':
      return { why: 'blocked', entry, robots: found.robots };
    case 'parked':
      return { why: 'parked', entry };
  }
}

function byItsTier(state: Live, entry: QueueEntry, robots: RobotsEvidence, now: Instant): Target | Stopped {
  const start = startFor(state, entry.record, now);
  if (start.tier === 3) {
    if (isBackendDown(state, now)) return { why: 'backend_down', entry };
    const untilMs = rationedUntilMs(state, now);
    if (untilMs !== null) return { why: 'rationed', entry, untilMs };
  }
  return { what: 'page', entry, robots, start };
}

function unwanted(entry: QueueEntry, rules: CrawlRules | null): Stopped | null {
  const refusal = rules === null ? null : refusalOf(rules, entry.record);
  return refusal === null ? null : { why: 'unwanted', entry, refusal };
}

/** Most parked rows wait for a robots.txt: when its time has come it is asked for, though no other row needs it. */
function huntForParked(state: Live, now: Instant): Target | null {
  for (const entry of state.queue.parked) {
    if (isParkedForBackend(entry.record)) continue;
    const origin = originOf(entry.record.url);
    const hunt = state.asking.get(origin);
    if (hunt !== undefined && hunt.by !== 'nobody') continue;
    if (hunt !== undefined) return { what: 'robots', hunt };
    if (pages(robotsOf(state, origin), now.wallMs).may === 'wait_for_robots')
      return { what: 'robots', hunt: newHunt(state, origin) };
  }
  return null;
}

/** When rules that disallow something run out they are asked for again, for the sake of what they may allow by then. */
function huntForBlocked(state: Live, now: Instant): Target | null {
  for (const origin of originsThatBlock(state)) {
    const hunt = state.asking.get(origin);
    if (hunt !== undefined && hunt.by !== 'nobody') continue;
    if (hunt !== undefined) return { what: 'robots', hunt };
    if (due(robotsOf(state, origin), now.wallMs)) return { what: 'robots', hunt: newHunt(state, origin) };
  }
  return null;
}

/** None where no row is blocked. */
function* originsThatBlock(state: Live): Iterable<Origin> {
  if (state.blocked === 0) return;
  for (const [origin, robots] of state.robots) {
    if (lastGoodOf(robots)?.rules.rules.some(({ allow }) => !allow)) yield origin;
  }
}

function newHunt(state: Live, origin: Origin): RobotsHunt {
  const { validators = null } = lastGoodOf(robotsOf(state, origin)) ?? {};
  return { origin, url: robotsUrlOf(origin), hops: 0, by: 'nobody', validators };
}

/** The hunt goes on at a redirect's target; null when it has led too far (RFC 9309 §2.3.1.2: five hops). */
export function onward(hunt: RobotsHunt, url: string, by: RobotsHunt['by']): RobotsHunt | null {
  return hunt.hops >= ROBOTS_REDIRECTS_MAX ? null : { ...hunt, url, hops: hunt.hops + 1, by };
}

function withoutTarget(state: Live, now: Instant): Step {
  if (queues.mayHoldMore(state.queue)) return { step: 'read' };
  return restIfStill(state, null, wakeAtMsOf(state, now));
}

/** Rest is only for a host of which nothing is under way. A hunt that nobody is out for can wait as well as a page. */
function restIfStill(state: Live, left: PriorityClass | null, wakeAtMs: number | null): Step {
  if (state.open.size > 0 || state.parts.size > 0) return { step: 'wait' };
  for (const { by } of state.asking.values()) if (by !== 'nobody') return { step: 'wait' };
  return { step: 'rest', left, wakeAtMs };
}

/** When the host should be looked at again though nothing new comes. */
export function wakeAtMsOf(state: Live, now: Instant): number | null {
  const times: number[] = [];
  const due = nextWaitingMs(state, now);
  if (due !== null) times.push(due);
  for (const entry of state.queue.parked) {
    if (isParkedForBackend(entry.record)) {
      times.push(backendTurnMs(state, entry.record, now));
      continue;
    }
    const answer = pages(robotsOf(state, originOf(entry.record.url)), now.wallMs);
    times.push(typeof answer.may === 'string' ? now.wallMs : answer.may.parkedUntil);
  }
  for (const origin of originsThatBlock(state)) times.push(recheckAtMs(robotsOf(state, origin), now.wallMs));
  if (state.snapshot.recheckFrom !== null) times.push(now.wallMs);
  const silent = silence(state, now);
  if (state.queue.ready.length > 0 && silent !== null) return silent;
  if (times.length === 0) return null;
  return Math.max(Math.min(...times), silent ?? 0);
}

/** Until when the host must not be asked; null when it may be. */
export function silence(state: Live, now: Instant): number | null {
  const { breaker } = state.snapshot;
  const { known } = state.names;
  const isKnown = known !== null && known.resolution.kind !== 'addresses';
  const unresolved = isKnown ? now.wallMs + known.untilMs - now.monotonicMs : 0;
  const silent = state.silentUntilMs === null ? 0 : Math.ceil(now.wallMs + state.silentUntilMs - now.monotonicMs);
  const closedMs = Math.max(silent, unresolved);
  const closed = closedMs > now.wallMs ? closedMs : null;
  const answer = breakers.ask(breaker, now.wallMs);
  if (typeof answer.may === 'string') return closed;
  // A probe is out: its outcome will bring the next step; an hour is the longest that one can take to be missed.
  const quarantined = answer.may.until ?? now.wallMs + 3_600_000;
  return Math.max(quarantined, closed ?? 0);
}

/** Why the name has no address that may be asked; null when it has one, or has to be resolved. */
function noAddressOf(state: Live, now: Instant): NoAddress | null {
  const known = state.names.known;
  if (known === null || known.untilMs <= now.monotonicMs || known.resolution.kind === 'addresses') return null;
  return known.resolution;
}

/** The address that the host's next request goes to; null when it has to be resolved first. */
export function addressOf(
  state: Live,
  now: Instant,
): Extract<Resolution, { kind: 'addresses' }>['addresses'][number] | null {
  const known = state.names.known;
  if (known === null || known.untilMs <= now.monotonicMs) return null;
  return known.resolution.kind === 'addresses' ? (known.resolution.addresses[0] ?? null) : null;
}
