/**
 * What a host has of the store: it is loaded from there when it comes to life, and holds a window of its queue.
 *
 * A read may be overtaken by news: a wake, or a commit of its own. Then it shows the queue as it was and counts for
 * nothing, or its window counts as outdated. Rows leave the window when the commit that moves them is acknowledged.
 */
import type { HostName } from '../domain/host.js';
import * as queues from '../policy/back-queue.js';
import * as breakers from '../policy/breaker.js';
import { stepSince } from '../policy/elapsed.js';
import { RETRY_AFTER_MS_MAX } from '../policy/throttle.js';
import type { Instant, Turn } from '../protocols/actor.js';
import { type Effect, type HostLoaded, log, schedule } from '../protocols/effects.js';
import type { Recorded } from '../protocols/host.js';
import { type HostSnapshot, UNTOUCHED } from '../protocols/host-snapshot.js';
import { emit } from './host-parts.js';
import { proceed } from './host-proceed.js';
import { inherited } from './host-recovery.js';
import { type Beginning, type Live, type Props, type State, windowOf } from './host-state.js';

/** The store could not be read: it is asked again so much later. */
const READ_AGAIN_MS = 1_000;

export function load(state: Beginning): Turn<State> {
  return [state, [{ do: 'loadHost', host: state.props.name, limit: state.props.window }]];
}

export function isLoading(state: State): state is Beginning {
  return state.phase === 'activated' || state.phase === 'loading' || state.phase === 'loading_again';
}

/** Of a state after any message: what brought the actor to life was this or an earlier one. */
export function heard(state: State): State {
  return state.phase === 'activated' ? { ...state, phase: 'loading' } : state;
}

export function begin(beginning: Beginning, loaded: HostLoaded, now: Instant): Turn<State> {
  const { props, epoch, wake, errands, orphan, legacy } = beginning;
  if (loaded.head.failure !== null) {
    return [
      beginning,
      [
        log('warn', 'host_not_loaded', { host: props.name, reason: loaded.head.failure }),
        schedule('read', now.monotonicMs + READ_AGAIN_MS, { type: 'readDue' }),
      ],
    ];
  }
  const stored = broughtHere(loaded.snapshot ?? UNTOUCHED, props, now);
  const known = inherited(stored, legacy, now) ?? stored;
  // A probe that was out when the last incarnation ended will never be told.
  const breaker = breakers.lost(known.breaker, now.wallMs, now.draw(), props.breaker);
  const snapshot = breaker === known.breaker ? known : { ...known, breaker };
  const queue = queues.emptyQueue();
  for (const [priority, head] of (loaded.summary?.heads ?? []).entries()) queue.floors[priority] = head;
  queues.refill(queue, loaded.head);
  if (beginning.phase === 'loading_again') queues.outdate(queue);
  const live: Live = {
    phase: 'live',
    props,
    epoch,
    wake,
    activity: { doing: 'nothing', visits: 0 },
    snapshot,
    silentUntilMs: silentUntilMsOf(snapshot, now),
    retriesHeldUntilMs: null,
    robots: new Map(loaded.robots.map(({ origin, state }) => [origin, state])),
    matchers: new Map(),
    queue,
    blocked: loaded.summary?.blocked ?? 0,
    recheckTicket: 0,
    names: { known: null },
    backend: { phase: 'unknown' },
    gateClosedUntilMs: 0,
    open: new Map(),
    parts: new Map(),
    nextTicket: 1,
    asking: new Map(),
    errands,
    orphan,
  };
  queues.trim(queue, windowOf(live));
  // What only this incarnation knows is stored at once: the next one would begin where this one did, and wait anew.
  const kept = snapshot === stored ? [] : [emit(live, {}, now)];
  return proceed(live, now, [...notesOf(props.name, loaded.head.notes), ...kept], null);
}

/** Its times by this life's wall clock: the step that the clock has made since they were written is taken out of them. */
function broughtHere(snapshot: HostSnapshot, { machine }: Props, now: Instant): HostSnapshot {
  const stepMs = stepSince(snapshot.stamp, machine, now);
  const { closedUntilMs, breaker } = snapshot;
  return {
    ...snapshot,
    closedUntilMs: closedUntilMs === null ? null : closedUntilMs + stepMs,
    breaker: breaker.phase === 'open' ? { ...breaker, untilMs: breaker.untilMs + stepMs } : breaker,
    stamp: null,
  };
}

/** A clock that was put back while the machine was off makes no silence longer than the longest that is granted. */
function silentUntilMsOf({ closedUntilMs }: HostSnapshot, now: Instant): number | null {
  if (closedUntilMs === null || closedUntilMs <= now.wallMs) return null;
  return now.monotonicMs + Math.min(RETRY_AFTER_MS_MAX, closedUntilMs - now.wallMs);
}

export function notesOf(host: HostName, notes: readonly string[]): Effect[] {
  return notes.map((note) => log('error', 'row_set_aside', { host, note }));
}

/** Its rows are let go, and stand where their part has put them. */
export function acknowledge(state: Live, { tickets, ready, blocked }: Recorded): void {
  for (const ticket of tickets) {
    for (const { sequence, next } of state.parts.get(ticket) ?? []) {
      queues.letGo(state.queue, sequence);
      if (next !== null) queues.place(state.queue, next);
    }
    state.parts.delete(ticket);
  }
  queues.compare(state.queue, ready);
  state.blocked = blocked;
}

export function isReading({ activity }: Live): boolean {
  return activity.doing === 'reading' || activity.doing === 'reading_again';
}

export function isRechecking({ activity }: Live): boolean {
  return activity.doing === 'rechecking' || activity.doing === 'rechecking_again';
}

/** A read that is under way may show the queue as it was before what has just been heard: it counts for nothing. */
export function readAnew({ activity }: Live): void {
  if (activity.doing === 'reading') activity.doing = 'reading_again';
}

export function readLater(state: Live, reason: string, now: Instant): Turn<State> {
  return [
    state,
    [
      log('warn', 'queue_not_read', { host: state.props.name, reason }),
      schedule('read', now.monotonicMs + READ_AGAIN_MS, { type: 'readDue' }),
    ],
  ];
}
