/**
 * A host after a crash: what its last incarnation leaves to the next one.
 *
 * The gate must hear of the request that was under way, whoever judges it (P1, P2), and other hosts wait for their
 * errands. How patient the host wishes us to be was perhaps known to nobody else: it is handed on, and stored at once.
 * All else is the store's, and is read again after the fence (B4).
 */
import type { FetchResult } from '../domain/fetching.js';
import { delayAfter } from '../policy/delay.js';
import { judgeTransport } from '../policy/judgement.js';
import { throttled, UNTHROTTLED } from '../policy/throttle.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, send } from '../protocols/effects.js';
import type { Errand, Message } from '../protocols/host.js';
import type { HostSnapshot } from '../protocols/host-snapshot.js';
import type { PermitNumber, Verdict } from '../protocols/workbench.js';
import { emit } from './host-parts.js';
import { giveBack, learn } from './host-requests.js';
import { delayMsOf, type Legacy, type Orphan, type State } from './host-state.js';

/** Other hosts wait for theirs: those that wait, and those that were under way. */
export function errandsOf(held: State, lost: Message | null): Errand[] {
  const errands = [...held.errands];
  if (held.phase === 'live')
    for (const visit of held.open.values()) if (visit.what === 'errand') errands.push(visit.errand);
  if (lost?.type === 'errand' && !errands.includes(lost)) errands.push(lost);
  return errands;
}

/**
 * What the message in hand would have told the workbench's gate: a permit that was not spent is given back, the end of
 * a page's request is judged. A robots.txt that was not read may hold any delay: its gate waits for the longest.
 */
export function owedToTheGate(held: State, lost: Message | null, now: Instant): Effect[] {
  if (lost?.type === 'granted') return [giveBack(lost.permit)];
  if (lost?.type !== 'fetched' || held.phase !== 'live') return [];
  const { permit, result } = lost;
  const transport = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const mayHoldRules = held.open.get(permit)?.what !== 'page' && transport.next === 'parse';
  if (mayHoldRules) {
    held.snapshot = { ...held.snapshot, lastDurationMs: Math.ceil(result.durationMs) };
    return [];
  }
  const verdict: Verdict = { permit, closedForMs: learn(held, transport, result.durationMs, now) };
  return [send(addresses.workbench, { type: 'settle', host: held.props.name, verdict, network: null, ask: null })];
}

/** After what is owed to the gate: it is learned from the message in hand, too. */
export function legacyOf(held: State): Legacy | null {
  if (held.phase !== 'live') return held.legacy;
  const { silentUntilMs, snapshot } = held;
  return { silentUntilMs, throttle: snapshot.throttle, lastDurationMs: snapshot.lastDurationMs };
}

/**
 * What is loaded, with what the last incarnation knew beside it: of two rests the longer one (P3), of two durations the
 * later one (P2).
 *
 * @returns null where the store knows all of it
 */
export function inherited(snapshot: HostSnapshot, legacy: Legacy | null, now: Instant): HostSnapshot | null {
  if (legacy === null) return null;
  const { silentUntilMs, throttle, lastDurationMs } = legacy;
  const asked = silentUntilMs === null || silentUntilMs <= now.monotonicMs ? null : wallOf(silentUntilMs, now);
  const closedUntilMs = asked === null ? snapshot.closedUntilMs : Math.max(asked, snapshot.closedUntilMs ?? asked);
  const known: HostSnapshot = {
    ...snapshot,
    closedUntilMs,
    throttle: throttle.consecutive > snapshot.throttle.consecutive ? throttle : snapshot.throttle,
    lastDurationMs: lastDurationMs ?? snapshot.lastDurationMs,
  };
  const isInStore =
    known.closedUntilMs === snapshot.closedUntilMs &&
    known.throttle === snapshot.throttle &&
    known.lastDurationMs === snapshot.lastDurationMs;
  return isInStore ? null : known;
}

function wallOf(monotonicMs: number, now: Instant): number {
  return Math.ceil(now.wallMs + monotonicMs - now.monotonicMs);
}

export function orphanOf(held: State): Orphan | null {
  if (held.phase !== 'live') return held.orphan;
  for (const [permit, visit] of held.open) {
    if (visit.phase === 'fetching' && visit.what === 'page') return { permit, delayMs: delayMsOf(held) };
  }
  return held.orphan;
}

/** Its end is told to the gate, and what it says of the host's patience to the store. */
export function orphanJudged(state: State, permit: PermitNumber, result: FetchResult, now: Instant): Effect[] {
  const { props, orphan } = state;
  if (orphan?.permit !== permit) return [];
  const { throttle, pace } = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const pause = throttle === null ? null : throttled(UNTHROTTLED, throttle.retryAfterMs, now.draw());
  const { adaptiveFactor } = props;
  const terms = { configuredMs: orphan.delayMs, crawlDelaySeconds: null, adaptiveFactor };
  const delayMs = delayAfter({ ...terms, lastDurationMs: result.durationMs });
  const closedForMs = Math.max(pause?.closedForMs ?? 0, pace === 'slower' ? 2 * delayMs : delayMs);
  const heard: Legacy = {
    silentUntilMs: pause === null ? null : now.monotonicMs + pause.closedForMs,
    throttle: pause?.state ?? UNTHROTTLED,
    lastDurationMs: Math.ceil(result.durationMs),
  };
  const verdict: Verdict = { permit, closedForMs };
  return [
    send(addresses.workbench, { type: 'settle', host: props.name, verdict, network: null, ask: null }),
    ...remember(state, heard, now),
  ];
}

/** Before the store was read it is kept for then. */
function remember(state: State, heard: Legacy, now: Instant): Effect[] {
  if (state.phase !== 'live') {
    state.legacy = { ...heard, silentUntilMs: later(state.legacy?.silentUntilMs ?? null, heard.silentUntilMs) };
    return [];
  }
  const snapshot = inherited(state.snapshot, heard, now);
  if (snapshot === null) return [];
  state.snapshot = snapshot;
  state.silentUntilMs = later(state.silentUntilMs, heard.silentUntilMs);
  return [emit(state, {}, now)];
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
