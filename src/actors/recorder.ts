/**
 * The recorder: the only writer of the store.
 *
 * Parts come from the frontier, in the order in which their sequences were given. They are grouped: a batch is
 * written when enough has come or the oldest part has waited its time, one batch at a time. Once a second a batch is
 * synced to the disk. After a failed write nothing is written until the store was closed and opened again; then the
 * same batch is written once more, under the same number, so that one that was in doubt is never applied twice.
 *
 * Invariants: D1 and D2 rest on it; parts are acknowledged only from a commit; nothing that was not acknowledged is
 * ever forgotten, whatever crashes. The state is a value that is never mutated, so that a message changes all or nothing.
 */
import type { HostName } from '../domain/host.js';
import type { Behaviour, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { CommitReceipt, Part } from '../protocols/commit.js';
import { type Effect, log, send } from '../protocols/effects.js';
import type { Message } from '../protocols/recorder.js';

export interface Props {
  /** The newest batch that the store holds. */
  readonly batch: number;
  readonly groupMs: number;
  readonly groupPartsMax: number;
  readonly syncEveryMs: number;
}

interface Fence {
  readonly host: HostName;
  readonly epoch: number;
}

/** What waits to be written: parts, and fences in their places between them. */
type Wish = { readonly part: Part } | { readonly fence: Fence };

interface Batch {
  readonly number: number;
  readonly wishes: readonly Wish[];
  readonly parts: readonly Part[];
  readonly sync: boolean;
}

/** Writes and openings in a row that failed, and what the last one said: the reason for which permits are held. */
interface Trouble {
  readonly attempts: number;
  readonly why: string;
  /** How many of them, the latest ones in a row, found the files damaged. */
  readonly damaged: number;
}

type Writing =
  | { readonly phase: 'idle' }
  | { readonly phase: 'committing'; readonly batch: Batch; readonly trouble: Trouble | null }
  /** Until the store may be opened again. */
  | { readonly phase: 'pausing'; readonly batch: Batch; readonly trouble: Trouble }
  | { readonly phase: 'reopening'; readonly batch: Batch; readonly trouble: Trouble };

interface State {
  readonly props: Props;
  readonly waiting: readonly Wish[];
  /** When the oldest of them has waited its time; null when none waits. */
  readonly flushAtMs: number | null;
  readonly writing: Writing;
  /** The newest batch number that was used. */
  readonly batch: number;
  /** Something was committed since the last sync. */
  readonly unsynced: boolean;
  readonly syncIsDue: boolean;
  readonly draining: boolean;
}

const REOPEN_AFTER_MS = 500;
const REOPEN_AFTER_MS_MAX = 10_000;

/** Room is made and disks come back; damage stays. When writes and openings found it so often in a row, the crawl ends. */
export const DAMAGED_MAX = 6;

export const recorder: Behaviour<Props, State, Message> = {
  start: (props) => [
    {
      props,
      waiting: [],
      flushAtMs: null,
      writing: { phase: 'idle' },
      batch: props.batch,
      unsynced: false,
      syncIsDue: false,
      draining: false,
    },
    [],
  ],

  // Wishes and the batch under way outlive an incarnation; only timers have to be set anew. A message that was set aside
  // is taken up here all the same: without a wish, or the word on a batch, all would wait for ever. What crashes even so
  // uses up the restarts, and ends the crawl with its reason.
  restart: (props, held, { lost }, now) => {
    const again: Effect[] = held.unsynced ? [syncLater(props, now)] : [];
    const [state, effects] = lost === null ? [held, []] : takeUp(held, lost, now);
    if (lost !== null) again.push(log('warn', 'taken_up', { actor: 'recorder', message: lost.type }));
    if (state.writing.phase === 'pausing') again.push(reopenLater(state.writing.trouble, now));
    return write(state, now, [...again, ...effects], true);
  },

  on: {
    record: (state, { parts }, now) => write(wait(state, parts.map(wishFor), now), now, [], false),

    fence: (state, { host, epoch }, now) => write(wait(state, [{ fence: { host, epoch } }], now), now, [], false),

    flushDue: (state, _message, now) => write(state, now, [], true),

    syncDue: (state, _message, now) => write({ ...state, syncIsDue: state.unsynced }, now, [], true),

    committed: (state, { batch, receipt }, now) => {
      if (state.writing.phase !== 'committing' || state.writing.batch.number !== batch) return [state, []];
      const { batch: written, trouble } = state.writing;
      const next: State = {
        ...state,
        writing: { phase: 'idle' },
        unsynced: !written.sync && (state.unsynced || written.parts.length > 0),
        syncIsDue: state.syncIsDue && !written.sync,
      };
      const effects = acknowledge(written, receipt);
      if (trouble !== null) effects.push(send(addresses.workbench, { type: 'release', why: trouble.why }));
      if (next.unsynced && !state.unsynced) effects.push(syncLater(state.props, now));
      return write(next, now, effects, false);
    },

    commitFailed: (state, { batch, code, detail }, now) => {
      if (state.writing.phase !== 'committing' || state.writing.batch.number !== batch) return [state, []];
      const { batch: doubtful, trouble: before } = state.writing;
      const trouble: Trouble = {
        attempts: (before?.attempts ?? 0) + 1,
        why: `${code}: ${detail}`,
        damaged: damagedOnceMore(before, code, detail),
      };
      const effects: Effect[] = [log('error', 'commit_failed', { batch, code, detail, attempts: trouble.attempts })];
      if (before?.why !== trouble.why) {
        effects.push(send(addresses.workbench, { type: 'hold', why: trouble.why }));
        if (before !== null) effects.push(send(addresses.workbench, { type: 'release', why: before.why }));
      }
      effects.push(reopenLater(trouble, now));
      return [{ ...state, writing: { phase: 'pausing', batch: doubtful, trouble } }, effects];
    },

    reopenDue: (state) =>
      state.writing.phase === 'pausing'
        ? [{ ...state, writing: { ...state.writing, phase: 'reopening' } }, [{ do: 'reopen', outlives: true }]]
        : [state, []],

    reopenFailed: (state, { code, detail }, now) => {
      if (state.writing.phase !== 'reopening') return [state, []];
      const { batch, trouble: before } = state.writing;
      const trouble: Trouble = {
        ...before,
        attempts: before.attempts + 1,
        damaged: damagedOnceMore(before, code, detail),
      };
      return [
        { ...state, writing: { phase: 'pausing', batch, trouble } },
        [log('error', 'reopen_failed', { code, detail, attempts: trouble.attempts }), reopenLater(trouble, now)],
      ];
    },

    // The batch in doubt is written under its old number: a store that holds it already only answers. Permits stay
    // held until it is written: a store that can be opened is not yet one that takes a write (D3). What the opening had
    // to queue again is news to the frontier.
    reopened: (state, { batch, nextSequence }) => {
      if (state.writing.phase !== 'reopening') return [state, []];
      const { batch: doubtful, trouble } = state.writing;
      return [
        { ...state, writing: { phase: 'committing', batch: doubtful, trouble } },
        [
          log('info', 'store_reopened', { batch, doubtful: doubtful.number }),
          commit(doubtful),
          send(addresses.frontier, { type: 'storeReopened', nextSequence }),
        ],
      ];
    },
  },

  // What was committed since the last sync is synced too, even if nothing more is to be written (D7).
  drain: (state, now) => write({ ...state, draining: true, syncIsDue: state.unsynced }, now, [], true),
};

function takeUp(state: State, lost: Message, now: Instant): Turn<State> {
  const handle = recorder.on[lost.type] as (state: State, message: Message, now: Instant) => Turn<State>;
  return handle(state, lost, now);
}

// -- writing ----------------------------------------------------------------------------------------------------

function wishFor(part: Part): Wish {
  return { part };
}

function wait(state: State, wishes: readonly Wish[], now: Instant): State {
  const flushAtMs = state.flushAtMs ?? now.monotonicMs + state.props.groupMs;
  return { ...state, waiting: [...state.waiting, ...wishes], flushAtMs };
}

/** Begins the next batch if none is under way and it is time; otherwise sees to it that the time will come. */
function write(state: State, now: Instant, effects: Effect[], atOnce: boolean): Turn<State> {
  if (state.writing.phase !== 'idle') return [state, effects];
  const { props, waiting, draining } = state;
  // The last batch before a stop may have come without a sync (D7).
  const syncIsDue = state.syncIsDue || (draining && state.unsynced);
  const wanted = waiting.length > 0 || syncIsDue;
  if (!wanted) {
    if (draining) effects.push({ do: 'finish' });
    return [state, effects];
  }
  const flushIsDue = state.flushAtMs !== null && state.flushAtMs <= now.monotonicMs;
  if (!atOnce && !syncIsDue && !draining && !flushIsDue && waiting.length < props.groupPartsMax) {
    const atMonotonicMs = state.flushAtMs ?? now.monotonicMs;
    effects.push({ do: 'schedule', key: 'flush', atMonotonicMs, message: { type: 'flushDue' } });
    return [state, effects];
  }
  const parts = waiting.flatMap((wish) => ('part' in wish ? [wish.part] : []));
  const batch: Batch = { number: state.batch + 1, wishes: waiting, parts, sync: syncIsDue || draining };
  effects.push(commit(batch));
  return [
    {
      ...state,
      waiting: [],
      flushAtMs: null,
      batch: batch.number,
      writing: { phase: 'committing', batch, trouble: null },
    },
    effects,
  ];
}

function commit(batch: Batch): Effect {
  return { do: 'commit', outlives: true, batch: batch.number, parts: batch.parts, sync: batch.sync };
}

/** One message to the frontier, one to the workbench, one to each host, whatever the size of the batch. */
function acknowledge(batch: Batch, receipt: CommitReceipt): Effect[] {
  const effects: Effect[] = [];
  const visits: number[] = [];
  const ticketsOf = new Map<HostName, number[]>();
  const fences: Fence[] = [];
  for (const wish of batch.wishes) {
    if ('fence' in wish) {
      fences.push(wish.fence);
    } else if (wish.part.kind === 'host') {
      const { host, ticket, permit } = wish.part;
      if (permit !== null) visits.push(permit);
      const tickets = ticketsOf.get(host);
      if (tickets === undefined) ticketsOf.set(host, [ticket]);
      else tickets.push(ticket);
    }
  }
  if (batch.parts.length > 0) {
    effects.push(send(addresses.frontier, { type: 'recorded', parts: batch.parts, receipt }));
  }
  const countsOf = new Map(receipt.queues.map((queue) => [queue.host, queue]));
  for (const [host, tickets] of ticketsOf) {
    const counts = countsOf.get(host);
    const ready = counts?.ready.reduce((sum, count) => sum + count, 0) ?? 0;
    effects.push(send(addresses.host(host), { type: 'recorded', tickets, ready, blocked: counts?.blocked ?? 0 }));
  }
  if (visits.length > 0) effects.push(send(addresses.workbench, { type: 'closed', visits }));
  for (const { host, epoch } of fences) effects.push(send(addresses.host(host), { type: 'fenced', epoch }));
  return effects;
}

/** A crash that comes again when the message is taken up: it uses up the restarts, and the crawl ends with its reason. */
function damagedOnceMore(before: Trouble | null, code: string, detail: string): number {
  const damaged = code === 'store_corrupt' ? (before?.damaged ?? 0) + 1 : 0;
  if (damaged >= DAMAGED_MAX) throw new Error(`${code}: ${detail}`);
  return damaged;
}

// -- times ------------------------------------------------------------------------------------------------------

function syncLater(props: Props, now: Instant): Effect {
  return {
    do: 'schedule',
    key: 'sync',
    atMonotonicMs: now.monotonicMs + props.syncEveryMs,
    message: { type: 'syncDue' },
  };
}

function reopenLater({ attempts }: Trouble, now: Instant): Effect {
  const waitMs = Math.min(REOPEN_AFTER_MS * 2 ** (attempts - 1), REOPEN_AFTER_MS_MAX);
  return { do: 'schedule', key: 'reopen', atMonotonicMs: now.monotonicMs + waitMs, message: { type: 'reopenDue' } };
}
