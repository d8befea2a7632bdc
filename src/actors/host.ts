/**
 * A host: the owner of one host's back queue, delay policy, robots rules and breaker.
 *
 *     (fencing ──▶) loading ──▶ live: nothing ⇄ resolving · reading · asking · fetching · suspecting · resting
 *
 * It asks the workbench for a permit when it has something to ask for, looks a last time when it gets one, judges
 * what came, and wishes it to be recorded. Its queue is the store's; it holds a window of it. After a crash it first
 * waits until all that its predecessor wished is recorded (the fence), so that nothing is visited twice.
 *
 * This file says what each message leads to. How it is done stands beside it: what to do next (`host-steps`), doing it
 * (`host-proceed`), requests (`host-requests`), robots.txt (`host-robots`), what is read of the store (`host-reading`)
 * and recorded in it (`host-parts`), by which tier (`host-ladder`), how many retries (`host-retries`), whose fault a failure is (`host-suspense`), the time after
 * a crash (`host-recovery`); `host-state` is what they share.
 *
 * Invariants: P1, P2 and P3 are told to the workbench's gate with every verdict; P4 and P5 by the last look; R1 and B3
 * by the policies; B5: a host that was not reached is charged with nothing before the workbench has said whose fault it
 * was; a row leaves the queue only in a commit.
 */
import * as queues from '../policy/back-queue.js';
import { reachOfName } from '../policy/egress.js';
import type { Behaviour } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { send } from '../protocols/effects.js';
import type { Message } from '../protocols/host.js';
import { emitUnrecorded } from './host-parts.js';
import { awake, goOn, idleLater, proceed } from './host-proceed.js';
import {
  acknowledge,
  begin,
  heard,
  isLoading,
  isReading,
  isRechecking,
  load,
  notesOf,
  readAnew,
  readLater,
} from './host-reading.js';
import { errandsOf, legacyOf, orphanJudged, orphanOf, owedToTheGate } from './host-recovery.js';
import { abandon, closed, countFailure, giveBack, read, spend, transported } from './host-requests.js';
import { hunted, recheck } from './host-robots.js';
import type { Props, State } from './host-state.js';
import { blamed, overdue, suspectName } from './host-suspense.js';

export const host: Behaviour<Props, State, Message> = {
  start: (props) => load({ phase: 'activated', props, epoch: 0, wake: 0, errands: [], orphan: null, legacy: null }),

  restart: (props, held, { lost }, now) => {
    const epoch = held.epoch + 1;
    const owed = owedToTheGate(held, lost, now);
    const state: State = {
      phase: 'fencing',
      props,
      epoch,
      wake: held.wake,
      errands: errandsOf(held, lost),
      orphan: orphanOf(held),
      legacy: legacyOf(held),
    };
    return [
      state,
      [
        ...owed,
        send(addresses.workbench, { type: 'hostRestarted', host: props.name }),
        send(addresses.frontier, { type: 'fenceFor', host: props.name, epoch }),
      ],
    ];
  },

  on: {
    wake: (state, { wake }, now) => {
      state.wake = wake;
      // What is being loaded is read after the wake that brought this actor to life, but perhaps before a later one.
      if (state.phase === 'loading') return [{ ...state, phase: 'loading_again' }, []];
      if (state.phase !== 'live') return [heard(state), []];
      queues.outdate(state.queue);
      readAnew(state);
      return awake(state, now);
    },

    fenced: (state, { epoch }) =>
      state.phase === 'fencing' && state.epoch === epoch ? load({ ...state, phase: 'loading' }) : [state, []],

    hostLoaded: (state, loaded, now) => (isLoading(state) ? begin(state, loaded, now) : [state, []]),

    queueRead: (state, { head }, now) => {
      if (state.phase !== 'live' || !isReading(state)) return [state, []];
      if (head.failure !== null) return readLater(state, head.failure, now);
      if (state.activity.doing === 'reading') queues.refill(state.queue, head);
      return goOn(state, now, notesOf(state.props.name, head.notes));
    },

    blockedRead: (state, { rows }, now) => {
      if (state.phase !== 'live' || !isRechecking(state)) return [state, []];
      if (rows.failure !== null) return readLater(state, rows.failure, now);
      // The rules have changed once more meanwhile: what was read may be older than what was decided by the last ones.
      if (state.activity.doing === 'rechecking_again') return goOn(state, now, []);
      return goOn(state, now, [...notesOf(state.props.name, rows.notes), recheck(state, rows, now)]);
    },

    readDue: (state, _message, now) =>
      state.phase === 'live'
        ? isReading(state) || isRechecking(state)
          ? goOn(state, now, [])
          : [state, []]
        : isLoading(state)
          ? load({ ...state, phase: 'loading' })
          : [state, []],

    resolved: (state, { resolution }, now) => {
      if (state.phase !== 'live' || state.activity.doing !== 'resolving') return [state, []];
      state.names.known = { resolution, untilMs: now.monotonicMs + resolution.expiresInMs, charged: false };
      if (reachOfName(resolution) === 'unreached') return suspectName(state, now);
      if (resolution.kind === 'failed') countFailure(state, now);
      return goOn(state, now, []);
    },

    granted: (state, { permit }, now) => {
      if (state.phase !== 'live' || state.activity.doing !== 'asking') return [heard(state), [giveBack(permit)]];
      return spend(state, permit, now);
    },

    declined: (state, { untilMs }, now) => {
      if (state.phase !== 'live') return [heard(state), []];
      state.backend = { phase: 'down', untilMs };
      return state.activity.doing === 'asking' ? goOn(state, now, []) : [state, []];
    },

    retriesHeld: (state, { untilMs }, now) => {
      if (state.phase !== 'live') return [heard(state), []];
      state.retriesHeldUntilMs = untilMs;
      return state.activity.doing === 'asking' ? goOn(state, now, []) : [state, []];
    },

    fetched: (state, { permit, result }, now) => {
      const visit = state.phase === 'live' ? state.open.get(permit) : undefined;
      if (state.phase !== 'live' || visit === undefined || visit.phase !== 'fetching') {
        return [heard(state), [...orphanJudged(state, permit, result, now), closed(permit)]];
      }
      return transported(state, permit, visit, result, now);
    },

    parsed: (state, { permit, result }, now) => {
      if (state.phase !== 'live') return [heard(state), []];
      const visit = state.open.get(permit);
      return visit?.phase === 'reading' ? read(state, permit, visit, result, now) : [state, []];
    },

    recorded: (state, recorded, now) => {
      if (state.phase !== 'live') return [heard(state), []];
      acknowledge(state, recorded);
      readAnew(state);
      return state.activity.doing === 'resting' ? [state, []] : proceed(state, now, [], null);
    },

    unrecorded: (state, { ticket, permit }, now) => {
      if (state.phase !== 'live') return [heard(state), permit === null ? [] : [closed(permit)]];
      const rows = state.parts.get(ticket) ?? [];
      state.parts.delete(ticket);
      const entries = rows.flatMap(({ sequence }) => state.queue.taken.get(sequence) ?? []);
      return proceed(state, now, [emitUnrecorded(state, permit, entries, now)], null);
    },

    visitLost: (state, { permit }, now) => {
      if (state.phase !== 'live') return [heard(state), []];
      const visit = state.open.get(permit);
      if (visit === undefined) return state.activity.doing === 'asking' ? goOn(state, now, []) : [state, []];
      abandon(state, permit, visit, now);
      return visit.phase === 'reading' ? proceed(state, now, [], null) : goOn(state, now, []);
    },

    errand: (state, errand, now) => {
      state.errands.push(errand);
      return state.phase === 'live' ? awake(state, now) : [heard(state), []];
    },

    errandDone: (state, { origin, found }, now) => {
      const hunt = state.phase === 'live' ? state.asking.get(origin) : undefined;
      if (state.phase !== 'live' || hunt?.by !== 'errand') return [heard(state), []];
      return proceed(state, now, [{ do: 'cancel', key: `errand ${origin}` }, ...hunted(state, hunt, found, now)], null);
    },

    errandDue: (state, { origin }, now) => {
      const hunt = state.phase === 'live' ? state.asking.get(origin) : undefined;
      return hunt?.by === 'errand' ? [state, [overdue(state.props.name, origin, now)]] : [heard(state), []];
    },

    blamed: (state, word, now) => (state.phase === 'live' ? blamed(state, word, now) : [heard(state), []]),

    // With another timer: if a message forbids it now, and changes nothing, it is tried again.
    idleDue: (state, _message, now) =>
      state.phase === 'live' && state.activity.doing === 'resting'
        ? [state, [idleLater(state, now), { do: 'passivate' }]]
        : [state, []],
  },
};
