/**
 * A host and the ladder: by which tier each of its pages is asked for, what is remembered of it, and what waits for the
 * browser service (R2, B2).
 *
 * The policy decides; here is where it stands in the host's state. What is learned is part of the snapshot, and so of the
 * same commit as the visit that it was learned by.
 */
import type { Rendered } from '../domain/fetching.js';
import type { QueueEntry, UrlRecord } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import { usedUpUntilMs, withUse } from '../policy/browser-time.js';
import { type Clearance, clearanceCookies, clearanceFrom, isValid } from '../policy/clearance.js';
import { climbedBy, refused, type Start, satisfied, startOf } from '../policy/ladder.js';
import { askAgainAtMs, isParkedForBackend } from '../policy/parking.js';
import type { Instant } from '../protocols/actor.js';
import type { Live, Target } from './host-state.js';

export function startFor(state: Live, record: UrlRecord, now: Instant): Start {
  return startOf(record, state.snapshot.ladder, state.props.ladder, isTrialOut(state), now.wallMs);
}

function isTrialOut({ open }: Live): boolean {
  for (const visit of open.values()) if (visit.what === 'page' && visit.start.by === 'trial') return true;
  return false;
}

/** A robots.txt is always asked for as what we are. */
export function tierOf(target: Target): Tier {
  return target.what === 'page' ? target.start.tier : 1;
}

/** What is shown of what a browser was let in with; null where there is nothing to show. */
export function clearanceFor({ snapshot }: Live, target: Target, now: Instant): Clearance | null {
  const { clearance } = snapshot.ladder;
  if (target.what !== 'page' || target.start.tier === 1 || !isValid(clearance, now.wallMs)) return null;
  return clearanceCookies(clearance, target.entry.record.url) === null ? null : clearance;
}

// -- what is learned --------------------------------------------------------------------------------------------

type PageTarget = Extract<Target, { what: 'page' }>;

/** A signal that leads up came, whether or not it led anywhere. */
export function noteRefused(state: Live, { start }: PageTarget, sent: Clearance | null, now: Instant): void {
  const { snapshot } = state;
  state.snapshot = { ...snapshot, ladder: refused(snapshot.ladder, start, sent, now.wallMs) };
}

/** Content came. */
export function noteContent(
  state: Live,
  { start, entry: { record } }: PageTarget,
  rendered: Rendered | undefined,
  now: Instant,
): void {
  const { props, snapshot } = state;
  const climbed = climbedBy(record.attempts);
  const ladder = satisfied(snapshot.ladder, start, climbed, props.ladder, now.wallMs);
  const cause = climbed ?? ladder.need?.cause ?? null;
  const isEarned = rendered !== undefined && cause !== null && cause !== 'script_shell';
  const { memoryMs } = props.ladder;
  const earned = isEarned ? clearanceFrom(rendered, record.url, props.name, memoryMs, now.wallMs) : null;
  if (earned === null && ladder === snapshot.ladder) return;
  state.snapshot = { ...snapshot, ladder: { ...ladder, clearance: earned ?? ladder.clearance } };
}

export function noteBrowserTime(state: Live, durationMs: number, now: Instant): void {
  const { snapshot } = state;
  state.snapshot = { ...snapshot, browserTime: withUse(snapshot.browserTime, durationMs, now.wallMs) };
}

// -- what waits for the browser service -------------------------------------------------------------------------

export function isBackendDown({ backend }: Live, now: Instant): boolean {
  return backend.phase === 'down' && backend.untilMs > now.monotonicMs;
}

/** Until when the host has used up what it is granted of the browser's time; wall clock. */
export function rationedUntilMs({ props, snapshot }: Live, now: Instant): number | null {
  return usedUpUntilMs(snapshot.browserTime, props.browserMsPerDay, now.wallMs);
}

/** B2: the service is well, or something less will do by now. */
export function isFreed(state: Live, { record }: QueueEntry, now: Instant): boolean {
  if (state.backend.phase === 'well') return true;
  return startOf(record, state.snapshot.ladder, state.props.ladder, true, now.wallMs).tier !== 3;
}

/**
 * The parked row that is asked for next, one at a time, though none has moved: it was longest ago that it was tried.
 * Null while there is no use in asking.
 */
export function parkedInTurn(state: Live, now: Instant): QueueEntry | null {
  if (isBackendDown(state, now)) return null;
  let first: QueueEntry | null = null;
  for (const entry of state.queue.parked) {
    if (!isParkedForBackend(entry.record) || askAgainAtMs(entry.record) > now.wallMs) continue;
    if (first === null || lastTriedMs(entry) < lastTriedMs(first)) first = entry;
  }
  return first;
}

function lastTriedMs({ record }: QueueEntry): number {
  return record.attempts.at(-1)?.atMs ?? 0;
}

/** When a row that is parked for the service may be asked for; wall clock. */
export function backendTurnMs({ backend }: Live, record: UrlRecord, now: Instant): number {
  const downUntilMs = backend.phase === 'down' ? Math.ceil(now.wallMs + backend.untilMs - now.monotonicMs) : 0;
  return Math.max(askAgainAtMs(record), downUntilMs);
}
