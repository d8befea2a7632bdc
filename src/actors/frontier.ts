/**
 * The frontier, the priority actor: what enters, in which order, and which hosts are at work.
 *
 * Admission gives each candidate a verdict: out of scope, too deep, seen, or new. What is new gets a record and a
 * place in its host's queue (one global sequence) in the same part as the visit that found it. Until the commit of
 * that part is acknowledged its key is in the pending set; only then it is in the Bloom filter and its host is told.
 *
 * The front queues hold the hosts that have work and are not at work. A bounded set of hosts is active at once; one
 * that rests makes room for the next, drawn by class. Hosts that rest until a time stand in a heap.
 *
 * Invariants: no key is in the queue twice; nothing is dropped here (permits give way); D1: seeds of one command are
 * one part. The crawl ends when nothing is unacknowledged, no host is active or in line, and nothing falls due soon.
 *
 * This file says what each message leads to. How it is done stands beside it: who enters (`frontier-admission`), what may
 * be entered (`frontier-rules`), which hosts are at work and when it is over (`frontier-hosts`), what comes back from the dead
 * letters (`frontier-redrive`); `frontier-state` is what they share.
 */
import { createClassQueues, joinLine, leaveLine } from '../domain/class-queues.js';
import { createDueHeap } from '../domain/due-heap.js';
import type { Candidate } from '../domain/url.js';
import { judgeSeeds, rulesOf } from '../policy/admission.js';
import type { Behaviour, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { HostPart, Part } from '../protocols/commit.js';
import { type Effect, log, send } from '../protocols/effects.js';
import type { Message } from '../protocols/frontier.js';
import { fence } from '../protocols/recorder.js';
import { PAUSED } from '../protocols/workbench.js';
import {
  beginRedrive,
  cancelRedrive,
  goOnRedriving,
  redriveAgain,
  redriveRead,
  redriveRecorded,
  redrivesLeft,
} from './frontier-redrive.js';
import { begin, toRecorder, type Props, type State } from './frontier-state.js';
import { SEEDED, admitFound, filteredBy, admit } from './frontier-admission.js';
import { follow, enter, settingsChange, adopt, holdFor, releaseFor, upheld } from './frontier-rules.js';
import {
  LISTED_AT_ONCE,
  SET_ASIDE_MARGIN_MS,
  tell,
  hear,
  settleDown,
  egressLater,
  wake,
  restUntil,
  widen,
  list,
  listAgain,
} from './frontier-hosts.js';

export type { Props } from './frontier-state.js';

export const frontier: Behaviour<Props, State, Message> = {
  start: (props, now) => {
    const { settings } = props;
    const rules = rulesOf(props.configured, settings);
    const redrives = redrivesLeft(props.redrives, now);
    const state: State = {
      props,
      settings,
      rules,
      notAdmitted: new Map(),
      filterFailures: 0,
      life: { phase: 'listing' },
      pending: new Set(),
      sequence: props.nextSequence,
      unacknowledged: 0,
      visits: 0,
      totals: props.totals,
      front: createClassQueues(),
      active: new Map(),
      activeLimit: props.activeMin,
      widening: false,
      lastWake: 0,
      wakeAt: new Map(),
      delayed: new Map(),
      dues: createDueHeap(),
      watching: new Set(),
      wakeTimerAtMs: null,
      way: { is: 'open' },
      redrives,
      lastRedrive: props.lastRedrive,
      journal: {
        keys: [],
        woken: [],
        unacknowledged: 0,
        visits: 0,
        life: { phase: 'listing' },
        settings,
        rules,
        redrives,
      },
    };
    const effects: Effect[] = [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }];
    if (state.settings.paused) effects.unshift(holdFor(PAUSED));
    effects.push(...redriveAgain(state, now));
    return [state, effects];
  },

  // All of it outlives an incarnation, but for what the message in hand had begun: that is undone, as it comes again.
  restart: (_props, held, { lost }, now) => {
    const { journal } = held;
    for (const key of journal.keys) held.pending.delete(key);
    held.unacknowledged = journal.unacknowledged;
    held.visits = journal.visits;
    // An end that was never announced is none.
    held.life = journal.life;
    held.settings = journal.settings;
    held.rules = journal.rules;
    held.redrives = journal.redrives;
    held.wakeTimerAtMs = null;
    held.widening = false;
    const effects: Effect[] = journal.woken.map((host) => wake(held, host));
    effects.push(...redriveAgain(held, now));
    if (held.way.is === 'never_open') effects.push(egressLater(held.way.untilMs));
    if (held.life.phase === 'listing') effects.push({ do: 'listHosts', after: null, limit: LISTED_AT_ONCE });
    if (lost !== null && lost.type !== 'hostsListed') effects.push(...makeGood(held, lost, now));
    return settleDown(held, now, effects);
  },

  on: {
    seed: (state, { command, again, candidates, refused }, now) => {
      begin(state);
      const failures: Effect[] = [];
      const filter = (seed: Candidate) => filteredBy(state, seed, SEEDED.via, SEEDED.depth, failures);
      const judged = judgeSeeds(state.rules, state.settings, candidates, filter);
      const { admitted: seeds, refused: left, scopeHosts } = judged;
      const effects = [...failures, ...enter(state, scopeHosts)];
      const admitted = seeds.flatMap((candidate) => admit(state, candidate, SEEDED, now, null) ?? []);
      const part: Part = {
        kind: 'seed',
        command,
        again,
        seeds: seeds.map(({ url, key }) => ({ url, key })),
        refused: [...refused, ...left],
        admitted,
        settings: scopeHosts.length === 0 ? null : { scopeHosts },
      };
      return settleDown(state, now, [...effects, toRecorder(state, part)]);
    },

    change: (state, { command, change }, now) => {
      begin(state);
      const settings = settingsChange(state.settings, change);
      const wasPaused = state.settings.paused;
      const effects = adopt(state, settings);
      if (state.settings.paused !== wasPaused) effects.push(wasPaused ? releaseFor(PAUSED) : holdFor(PAUSED));
      const part: Part = { kind: 'settings', command, settings, result: state.settings, admitted: [] };
      return settleDown(state, now, [...effects, toRecorder(state, part)]);
    },

    redriveDead: (state, { command, wish }, now) => {
      begin(state);
      return settleDown(state, now, beginRedrive(state, command, wish, now));
    },

    cancelRedrive: (state, { command, redrive }, now) => {
      begin(state);
      return settleDown(state, now, cancelRedrive(state, command, redrive, now));
    },

    redriveDue: (state, { redrive }, now) => {
      begin(state);
      return [state, goOnRedriving(state, redrive, now)];
    },

    redrivableRead: (state, read, now) => {
      begin(state);
      return settleDown(state, now, redriveRead(state, read, now));
    },

    visited: (state, { part: wished, found }, now) => {
      begin(state);
      const effects: Effect[] = [];
      const part = upheld(state, wished);
      if (found === null) return [state, [toRecorder(state, part)]];
      const settings = found.seedRedirect ? follow(state, part.host, found, effects) : null;
      const admitted = admitFound(state, found, now, effects);
      const whole: HostPart = admitted.length === 0 && settings === null ? part : { ...part, admitted, settings };
      effects.push(toRecorder(state, whole));
      return [state, effects];
    },

    fenceFor: (state, { host, epoch }) => {
      begin(state);
      return [state, [send(addresses.recorder, fence(host, epoch))]];
    },

    recorded: (state, { parts, receipt }, now) => {
      begin(state);
      const effects: Effect[] = [];
      const known = new Set(receipt.known);
      for (const part of parts) {
        state.unacknowledged -= 1;
        for (const { record } of part.admitted) {
          state.pending.delete(record.key);
          state.props.seen.add(record.key);
        }
        effects.push(...tell(state, part, known));
        if (part.kind === 'redrive') effects.push(...redriveRecorded(state, part, receipt, now));
        if (part.kind === 'host' && part.delivery !== undefined && part.page !== null) {
          const place = receipt.places?.get(part) ?? null;
          effects.push({ do: 'announce', event: { event: 'page', line: part.page, delivery: part.delivery, place } });
        }
      }
      state.totals = receipt.totals;
      effects.push({
        do: 'announce',
        event: {
          event: 'totals',
          totals: receipt.totals,
          hostsActive: state.active.size,
          notAdmitted: Object.fromEntries(state.notAdmitted),
        },
      });
      for (const queue of receipt.queues) hear(state, queue, effects);
      return settleDown(state, now, effects);
    },

    rested: (state, { host, wake, left, wakeAtMs }, now) => {
      begin(state);
      if (state.active.get(host) !== wake) return [state, []];
      state.active.delete(host);
      if (wakeAtMs !== null) restUntil(state, host, wakeAtMs, left);
      else if (left !== null) joinLine(state.front, host, left);
      return settleDown(state, now, []);
    },

    hostsListed: (state, listed, now) => {
      begin(state);
      if (state.life.phase === 'ended') return [state, []];
      return listed.failure === null ? list(state, listed, now) : [state, listAgain(listed, now)];
    },

    listDue: (state) => {
      begin(state);
      return [state, [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }]];
    },

    storeReopened: (state, { nextSequence }) => {
      begin(state);
      // A host that has seen a row believes that none with a smaller number comes after it.
      state.sequence = Math.max(state.sequence, nextSequence);
      if (state.life.phase === 'ended') return [state, []];
      state.life = { phase: 'listing' };
      return [state, [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }]];
    },

    // One poisonous host: its rows stay in the store, and it is tried again when it has cooled down.
    setAside: (state, { name, coolingMs }, now) => {
      begin(state);
      state.active.delete(name);
      leaveLine(state.front, name);
      restUntil(state, name, now.wallMs + coolingMs + SET_ASIDE_MARGIN_MS, null);
      return settleDown(state, now, []);
    },

    widenDue: (state) => {
      begin(state);
      return [state, [send(addresses.workbench, { type: 'countSpare' })]];
    },

    spareCounted: (state, { slots }, now) => {
      begin(state);
      widen(state, slots);
      return settleDown(state, now, []);
    },

    egress: (state, { way }, now) => {
      begin(state);
      if (way !== 'never_open') {
        state.way = { is: way };
        return settleDown(state, now, []);
      }
      const untilMs = now.monotonicMs + (state.props.waitMs ?? 0);
      state.way = { is: way, untilMs };
      return settleDown(state, now, state.props.waitMs === null ? [] : [egressLater(untilMs)]);
    },

    egressDue: (state, _message, now) => {
      begin(state);
      return settleDown(state, now, []);
    },

    wakeDue: (state, _message, now) => {
      begin(state);
      state.wakeTimerAtMs = null;
      return settleDown(state, now, []);
    },
  },
};

/**
 * A message was set aside. A visit whose links crash us must not do so for ever: its host hears that it is not recorded
 * and counts it against the URL. All else is taken up here, as the crawl would wait for it without end; what crashes
 * even so uses up the restarts, and ends the crawl with its reason.
 */
function makeGood(state: State, lost: Message, now: Instant): readonly Effect[] {
  if (lost.type === 'visited' && lost.found !== null) {
    const { host, ticket, permit } = lost.part;
    return [
      log('error', 'visit_not_recorded', { host, url: lost.found.via }),
      send(addresses.host(host), { type: 'unrecorded', ticket, permit }),
    ];
  }
  const handle = frontier.on[lost.type] as (state: State, message: Message, now: Instant) => Turn<State>;
  const [, effects] = handle(state, lost, now);
  return [log('warn', 'taken_up', { actor: 'frontier', message: lost.type }), ...effects];
}
