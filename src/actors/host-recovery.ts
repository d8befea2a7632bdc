/**
 * A host after a crash: what its last incarnation leaves to the next one.
 *
 * The gate must hear of the request that was under way, whoever judges it (P1, P2), and other hosts wait for their
 * errands. All else is the store's, and is read again after the fence (B4).
 */
import type { FetchResult } from '../domain/fetching.js';
import { delayAfter } from '../policy/delay.js';
import { judgeTransport } from '../policy/judgement.js';
import { throttled, UNTHROTTLED } from '../policy/throttle.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, send } from '../protocols/effects.js';
import type { Errand, Message } from '../protocols/host.js';
import type { PermitNumber, Verdict } from '../protocols/workbench.js';
import { giveBack, learn } from './host-requests.js';
import { delayMsOf, type Orphan, type State } from './host-state.js';

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
  if (mayHoldRules) return [];
  const verdict: Verdict = { permit, closedForMs: learn(held, transport, result.durationMs, now) };
  return [send(addresses.workbench, { type: 'settle', host: held.props.name, verdict, network: null, ask: null })];
}

export function orphanOf(held: State): Orphan | null {
  if (held.phase !== 'live') return held.orphan;
  for (const [permit, visit] of held.open) {
    if (visit.phase === 'fetching' && visit.what === 'page') return { permit, delayMs: delayMsOf(held) };
  }
  return held.orphan;
}

export function orphanJudged(
  { props, orphan }: State,
  permit: PermitNumber,
  result: FetchResult,
  now: Instant,
): Effect[] {
  if (orphan?.permit !== permit) return [];
  const { throttle, pace } = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const pauseMs = throttle === null ? 0 : throttled(UNTHROTTLED, throttle.retryAfterMs, now.draw()).closedForMs;
  const { adaptiveFactor } = props;
  const terms = { configuredMs: orphan.delayMs, crawlDelaySeconds: null, adaptiveFactor };
  const delayMs = delayAfter({ ...terms, lastDurationMs: result.durationMs });
  const closedForMs = Math.max(pauseMs, pace === 'slower' ? 2 * delayMs : delayMs);
  const verdict: Verdict = { permit, closedForMs };
  return [send(addresses.workbench, { type: 'settle', host: props.name, verdict, network: null, ask: null })];
}
