/**
 * A host: the owner of one host's back queue, delay policy, robots rules and breaker.
 *
 *     (fencing ──▶) loading ──▶ live: nothing ⇄ resolving · reading · asking · fetching · resting
 *
 * It asks the workbench for a permit when it has something to ask for, looks a last time when it gets one, judges
 * what came, and wishes it to be recorded. Its queue is the store's; it holds a window of it. After a crash it first
 * waits until all that its predecessor wished is recorded (the fence), so that nothing is visited twice.
 *
 * Invariants: P1, P2 and P3 are told to the workbench's gate with every verdict; P4 and P5 by the last look; R1 and B3
 * by the policies; a row leaves the queue only in a commit.
 */
import type { FetchRequest, FetchResult } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import { addressClockKey } from '../policy/addresses.js';
import * as queues from '../policy/back-queue.js';
import * as breakers from '../policy/breaker.js';
import { delayAfter } from '../policy/delay.js';
import { judgeTransport, type TransportJudgement } from '../policy/judgement.js';
import { robotsAnswered } from '../policy/robots/freshness.js';
import { readRobots } from '../policy/robots/read.js';
import { ALLOW_ALL, ROBOTS_BYTES_MAX } from '../policy/robots/rules.js';
import { eased, throttled, UNTHROTTLED } from '../policy/throttle.js';
import type { Behaviour, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, type HostLoaded, log, schedule, send } from '../protocols/effects.js';
import type { Errand, Message, Recorded, RobotsFound } from '../protocols/host.js';
import { UNTOUCHED } from '../protocols/host-snapshot.js';
import type { Ask, Permit, PermitNumber, Verdict } from '../protocols/workbench.js';
import { archiveEntry, emit, emitContent, emitTransport, emitUnrecorded, settleStopped, unpark } from './host-parts.js';
import {
  type Beginning,
  delayMsOf,
  type Live,
  type Orphan,
  type OpenVisit,
  type Props,
  robotsOf,
  robotsUrlOf,
  type RobotsHunt,
  type State,
  type Target,
} from './host-state.js';
import { addressOf, choose, nextStep, onward, silence, type Step } from './host-steps.js';

/** Another host's answer to an errand is waited for so long. */
const ERRAND_MS_MAX = 90_000;

/** The store could not be read: it is asked again so much later. */
const READ_AGAIN_MS = 1_000;

/** A robots.txt may be compressed: what lies beyond the bound that is read of it is dropped by its reader. */
const ROBOTS_DECODED_BYTES_MAX = 8 * ROBOTS_BYTES_MAX;

export const host: Behaviour<Props, State, Message> = {
  start: (props) => load({ phase: 'activated', props, epoch: 0, wake: 0, errands: [], orphan: null }),

  restart: (props, held, { lost }, now) => {
    const epoch = held.epoch + 1;
    const state: State = {
      phase: 'fencing',
      props,
      epoch,
      wake: held.wake,
      errands: errandsOf(held, lost),
      orphan: orphanOf(held, now),
    };
    return [
      state,
      [
        ...owedToTheGate(held, lost, now),
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

    readDue: (state, _message, now) =>
      state.phase === 'live'
        ? isReading(state)
          ? goOn(state, now, [])
          : [state, []]
        : isLoading(state)
          ? load({ ...state, phase: 'loading' })
          : [state, []],

    resolved: (state, { resolution }, now) => {
      if (state.phase !== 'live' || state.activity.doing !== 'resolving') return [state, []];
      state.names.known = { resolution, untilMs: now.monotonicMs + resolution.expiresInMs, charged: false };
      if (resolution.kind === 'failed') {
        state.snapshot = {
          ...state.snapshot,
          breaker: breakers.failed(state.snapshot.breaker, now.wallMs, now.draw(), state.props.breaker),
        };
      }
      return goOn(state, now, []);
    },

    granted: (state, { permit }, now) => {
      if (state.phase !== 'live' || state.activity.doing !== 'asking') return [heard(state), [giveBack(permit)]];
      return spend(state, permit, now);
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
      if (visit === undefined || visit.phase !== 'reading') return [state, []];
      if (visit.what !== 'page' && result.kind === 'unparsed' && result.code === 'interrupted') {
        // It may hold a delay that is not known now: no verdict, so that the gate waits for the longest.
        abandon(state, permit, visit, now);
        return proceed(state, now, [closed(permit)], null);
      }
      state.open.delete(permit);
      if (visit.what === 'page') return proceed(state, now, [emitContent(state, permit, visit, result, now)], null);
      const url = visit.what === 'robots' ? visit.hunt.url : visit.errand.url;
      const found: RobotsFound =
        result.kind === 'parsed'
          ? {
              kind: 'answer',
              status: visit.transport.status ?? 0,
              bytes: result.decoded,
              cut: visit.cut,
              redirect: result.redirect,
              retryAfterMs: null,
            }
          : { kind: 'failure', code: result.code };
      const part = emit(state, { permit, archive: archiveEntry(visit, url, result) }, now);
      const effects = [part, ...foundOut(state, visit, found, now)];
      const { closedForMs } = visit;
      const verdict =
        closedForMs === null ? null : { permit, closedForMs: Math.max(closedForMs, delayMsOf(state, now.wallMs)) };
      return proceed(state, now, effects, verdict);
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
      return visit.phase === 'fetching' ? goOn(state, now, []) : proceed(state, now, [], null);
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
      if (state.phase !== 'live' || hunt?.by !== 'errand') return [heard(state), []];
      return proceed(state, now, hunted(state, hunt, { kind: 'failure', code: 'timeout' }, now), null);
    },

    // With another timer: if a message forbids it now, and changes nothing, it is tried again.
    idleDue: (state, _message, now) =>
      state.phase === 'live' && state.activity.doing === 'resting'
        ? [state, [idleLater(state, now), { do: 'passivate' }]]
        : [state, []],
  },
};

// -- after a crash ----------------------------------------------------------------------------------------------

/** Other hosts wait for theirs: those that wait, and those that were under way. */
function errandsOf(held: State, lost: Message | null): Errand[] {
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
function owedToTheGate(held: State, lost: Message | null, now: Instant): Effect[] {
  if (lost?.type === 'granted') return [giveBack(lost.permit)];
  if (lost?.type !== 'fetched' || held.phase !== 'live') return [];
  const { permit, result } = lost;
  const transport = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const mayHoldRules = held.open.get(permit)?.what !== 'page' && transport.next === 'parse';
  if (mayHoldRules) return [];
  const verdict: Verdict = { permit, closedForMs: learn(held, transport, result.durationMs, now) };
  return [send(addresses.workbench, { type: 'settle', host: held.props.name, verdict, ask: null })];
}

function orphanOf(held: State, now: Instant): Orphan | null {
  if (held.phase !== 'live') return held.orphan;
  for (const [permit, visit] of held.open) {
    if (visit.phase === 'fetching' && visit.what === 'page') return { permit, delayMs: delayMsOf(held, now.wallMs) };
  }
  return held.orphan;
}

function orphanJudged({ props, orphan }: State, permit: PermitNumber, result: FetchResult, now: Instant): Effect[] {
  if (orphan?.permit !== permit) return [];
  const { throttle, pace } = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const pauseMs = throttle === null ? 0 : throttled(UNTHROTTLED, throttle.retryAfterMs, now.draw()).closedForMs;
  const { adaptiveFactor } = props;
  const terms = { configuredMs: orphan.delayMs, crawlDelaySeconds: null, adaptiveFactor };
  const delayMs = delayAfter({ ...terms, lastDurationMs: result.durationMs });
  const closedForMs = Math.max(pauseMs, pace === 'slower' ? 2 * delayMs : delayMs);
  return [send(addresses.workbench, { type: 'settle', host: props.name, verdict: { permit, closedForMs }, ask: null })];
}

// -- beginning ------------------------------------------------------------------------------------------------------

function load(state: Beginning): Turn<State> {
  return [state, [{ do: 'loadHost', host: state.props.name, limit: state.props.window }]];
}

function isLoading(state: State): state is Beginning {
  return state.phase === 'activated' || state.phase === 'loading' || state.phase === 'loading_again';
}

/** Of a state after any message: what brought the actor to life was this or an earlier one. */
function heard(state: State): State {
  return state.phase === 'activated' ? { ...state, phase: 'loading' } : state;
}

function begin(beginning: Beginning, loaded: HostLoaded, now: Instant): Turn<State> {
  const { props, epoch, wake, errands, orphan } = beginning;
  if (loaded.head.failure !== null) {
    return [
      beginning,
      [
        log('warn', 'host_not_loaded', { host: props.name, reason: loaded.head.failure }),
        schedule('read', now.monotonicMs + READ_AGAIN_MS, { type: 'readDue' }),
      ],
    ];
  }
  const snapshot = loaded.snapshot ?? UNTOUCHED;
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
    // A probe that was out when the last incarnation ended will never be told.
    snapshot: { ...snapshot, breaker: breakers.lost(snapshot.breaker, now.wallMs, now.draw(), props.breaker) },
    robots: new Map(loaded.robots.map(({ origin, state }) => [origin, state])),
    matchers: new Map(),
    queue,
    names: { known: null },
    open: new Map(),
    parts: new Map(),
    nextTicket: 1,
    asking: new Map(),
    errands,
    orphan,
  };
  return proceed(live, now, notesOf(props.name, loaded.head.notes), null);
}

function notesOf(host: HostName, notes: readonly string[]): Effect[] {
  return notes.map((note) => log('error', 'row_set_aside', { host, note }));
}

/** Its rows are let go, and stand where their part has put them. */
function acknowledge(state: Live, { tickets, ready }: Recorded): void {
  for (const ticket of tickets) {
    for (const { sequence, next } of state.parts.get(ticket) ?? []) {
      queues.letGo(state.queue, sequence);
      if (next !== null) queues.place(state.queue, next);
    }
    state.parts.delete(ticket);
  }
  queues.compare(state.queue, ready);
}

function isReading({ activity }: Live): boolean {
  return activity.doing === 'reading' || activity.doing === 'reading_again';
}

/** A read that is under way may show the queue as it was before what has just been heard: it counts for nothing. */
function readAnew({ activity }: Live): void {
  if (activity.doing === 'reading') activity.doing = 'reading_again';
}

function readLater(state: Live, reason: string, now: Instant): Turn<State> {
  return [
    state,
    [
      log('warn', 'queue_not_read', { host: state.props.name, reason }),
      schedule('read', now.monotonicMs + READ_AGAIN_MS, { type: 'readDue' }),
    ],
  ];
}

// -- going on ---------------------------------------------------------------------------------------------------

function awake(state: Live, now: Instant): Turn<State> {
  if (state.activity.doing !== 'resting') return proceed(state, now, [], null);
  state.activity.visits = 0;
  return goOn(state, now, [{ do: 'cancel', key: 'idle' }]);
}

/** What was waited for has come. */
function goOn(state: Live, now: Instant, effects: Effect[], verdict: Verdict | null = null): Turn<State> {
  state.activity.doing = 'nothing';
  return proceed(state, now, effects, verdict);
}

/** Takes steps until one has to be waited for. A verdict goes out with the next wish to ask, or alone. */
function proceed(state: Live, now: Instant, effects: Effect[], verdict: Verdict | null): Turn<State> {
  let ask: Ask | null = null;
  while (state.activity.doing === 'nothing') {
    const step = nextStep(state, now);
    if (step.step === 'wait') break;
    if (step.step === 'ask') ask = askFor(state, step, now);
    else effects.push(...perform(state, step, now));
  }
  if (verdict !== null || ask !== null) {
    effects.push(send(addresses.workbench, { type: 'settle', host: state.props.name, verdict, ask }));
  }
  return [state, effects];
}

function perform(state: Live, step: Exclude<Step, { step: 'wait' | 'ask' }>, now: Instant): Effect[] {
  const { activity, props, queue } = state;
  switch (step.step) {
    case 'unpark':
      for (const entry of step.entries) queues.take(queue, entry);
      return [emit(state, { moves: unpark(step.entries) }, now)];
    case 'settle':
      for (const { entry } of step.stopped) queues.take(queue, entry);
      if (state.names.known !== null) state.names.known = { ...state.names.known, charged: true };
      return [emit(state, { settlements: step.stopped.map((stopped) => settleStopped(state, stopped, now)) }, now)];
    case 'decline':
      return state.errands.splice(0).map(({ for: asker, origin }) => {
        const code = step.resolution.kind === 'refused' ? 'guard_refused' : step.resolution.code;
        return send(addresses.host(asker), { type: 'errandDone', origin, found: { kind: 'failure', code } });
      });
    case 'resolve':
      activity.doing = 'resolving';
      return [{ do: 'resolve', host: props.name }];
    case 'read':
      activity.doing = 'reading';
      return [
        {
          do: 'readQueue',
          host: props.name,
          from: queues.headsOf(queue, new Set()),
          limit: props.window + queue.taken.size,
        },
      ];
    case 'rest':
      activity.doing = 'resting';
      return [
        send(addresses.frontier, {
          type: 'rested',
          host: props.name,
          wake: state.wake,
          left: step.left,
          wakeAtMs: step.wakeAtMs,
        }),
        idleLater(state, now),
      ];
  }
}

function idleLater({ props }: Live, now: Instant): Effect {
  return schedule('idle', now.monotonicMs + props.idleMs, { type: 'idleDue' });
}

function askFor(state: Live, { priority }: Extract<Step, { step: 'ask' }>, now: Instant): Ask {
  const address = addressOf(state, now);
  if (address === null) throw new Error('asking without an address');
  state.activity.doing = 'asking';
  const addressClock = addressClockKey(address.address, state.props.addressExempt);
  return { host: state.props.name, address, addressClock, priority, delayMs: delayMsOf(state, now.wallMs) };
}

// -- requests ---------------------------------------------------------------------------------------------------

/** The last look: what the permit is spent on is chosen now, by the rules in force now. */
function spend(state: Live, permit: Permit, now: Instant): Turn<State> {
  const { target, stopped } = choose(state, now);
  if (target === null || stopped.length > 0 || silence(state, now) !== null)
    return goOn(state, now, [giveBack(permit)]);
  const asked = breakers.ask(state.snapshot.breaker, now.wallMs);
  state.snapshot = { ...state.snapshot, breaker: asked.state };
  state.activity.doing = 'fetching';
  state.activity.visits += 1;
  if (target.what === 'page') queues.take(state.queue, target.entry);
  if (target.what === 'robots') state.asking.set(target.hunt.origin, { ...target.hunt, by: 'us' });
  if (target.what === 'errand') state.errands.shift();
  const request = requestFor(state.props, target, permit);
  const { headers: requestHeaders, address } = request;
  state.open.set(permit.number, { ...target, phase: 'fetching', sinceWallMs: now.wallMs, address, requestHeaders });
  return [state, [send(addresses.fetcher(permit.fetcher), { type: 'start', permit, request })]];
}

function requestFor(props: Props, target: Target, permit: Permit): FetchRequest {
  const isPage = target.what === 'page';
  const url = isPage ? target.entry.record.url : target.what === 'robots' ? target.hunt.url : target.errand.url;
  return {
    url,
    origin: new URL(url).origin,
    address: permit.address,
    headers: [
      ['user-agent', props.userAgent],
      ['accept', isPage ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : 'text/plain,*/*;q=0.5'],
      ['accept-encoding', 'gzip, deflate, br'],
    ],
    deadlineMs: isPage ? props.requestMsMax : props.robotsMsMax,
    bodyBytesMax: isPage ? props.bodyBytesMax : ROBOTS_BYTES_MAX,
    headerBytesMax: props.headerBytesMax,
    cutAtBound: !isPage,
  };
}

function closed(permit: PermitNumber): Effect {
  return send(addresses.workbench, { type: 'closed', visits: [permit] });
}

function giveBack(permit: Permit): Effect {
  return send(addresses.workbench, { type: 'returned', permit: permit.number, host: permit.host });
}

/** The transport's judgement: what the host learns, at once. */
function transported(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  result: FetchResult,
  now: Instant,
): Turn<State> {
  if (result.kind === 'failure' && result.code === 'interrupted') {
    abandon(state, permit, visit, now);
    return goOn(state, now, [closed(permit)]);
  }
  const transport = judgeTransport(result, { hadValidators: false, nowWallMs: now.wallMs });
  const verdict: Verdict = { permit, closedForMs: learn(state, transport, result.durationMs, now) };
  const bodyIsRead =
    result.kind === 'response' && (transport.next === 'parse' || (transport.next === 'settled' && state.props.archive));
  if (bodyIsRead) {
    const isRobots = visit.what === 'robots';
    const read = giveToParser(state, permit, visit, result, transport, isRobots ? verdict.closedForMs : null);
    return goOn(state, now, [read], isRobots ? null : verdict);
  }
  state.open.delete(permit);
  if (visit.what === 'page') {
    return goOn(state, now, [emitTransport(state, permit, visit, transport, result.durationMs, now)], verdict);
  }
  if (transport.next === 'retry_fresh') {
    abandon(state, permit, visit, now);
    return goOn(state, now, [emit(state, { permit }, now)], verdict);
  }
  const found: RobotsFound =
    result.kind === 'response'
      ? {
          kind: 'answer',
          status: result.status,
          bytes: null,
          cut: false,
          redirect: null,
          retryAfterMs: transport.throttle?.retryAfterMs ?? null,
        }
      : { kind: 'failure', code: result.code };
  return goOn(state, now, [emit(state, { permit }, now), ...foundOut(state, visit, found, now)], verdict);
}

/** What the answer says about the host: how long it is left alone from the end of this request on. */
function learn(state: Live, transport: TransportJudgement, durationMs: number, now: Instant): number {
  const { snapshot } = state;
  const breaker =
    transport.breaker === 'success'
      ? breakers.succeeded(snapshot.breaker)
      : transport.breaker === 'failure'
        ? breakers.failed(snapshot.breaker, now.wallMs, now.draw(), state.props.breaker)
        : breakers.lost(snapshot.breaker, now.wallMs, now.draw(), state.props.breaker);
  let { throttle, closedUntilMs } = snapshot;
  let closedForMs = 0;
  if (transport.throttle !== null) {
    const pause = throttled(throttle, transport.throttle.retryAfterMs, now.draw());
    throttle = pause.state;
    closedForMs = pause.closedForMs;
    closedUntilMs = Math.ceil(now.wallMs + closedForMs);
  } else if (transport.breaker === 'success') {
    throttle = eased(throttle);
    closedUntilMs = null;
  }
  state.snapshot = {
    breaker,
    throttle,
    closedUntilMs,
    lastDurationMs: Math.round(durationMs),
    requests: snapshot.requests + 1,
  };
  const delayMs = delayMsOf(state, now.wallMs);
  // A refusal that names no time asks for patience all the same.
  return Math.max(closedForMs, transport.pace === 'slower' ? 2 * delayMs : delayMs);
}

function giveToParser(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  result: Extract<FetchResult, { kind: 'response' }>,
  transport: TransportJudgement,
  closedForMs: number | null,
): Effect {
  const { props } = state;
  const url =
    visit.what === 'page' ? visit.entry.record.url : visit.what === 'robots' ? visit.hunt.url : visit.errand.url;
  const bytes = result.body.byteLength;
  const headerOf = (name: string) => result.headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1] ?? null;
  const validators = { etag: headerOf('etag'), lastModified: headerOf('last-modified') };
  state.open.set(permit, {
    ...visit,
    phase: 'reading',
    transport,
    durationMs: result.durationMs,
    bytes,
    cut: result.cut,
    closedForMs,
    validators,
  });
  const { status, statusText, httpVersion, headers, remoteAddress, body, cut } = result;
  return send(addresses.parser(permit % props.parserThreads), {
    type: 'read',
    host: props.name,
    permit,
    task: {
      url,
      want: visit.what === 'page' ? 'page' : 'robots',
      status,
      statusText,
      httpVersion,
      headers,
      requestHeaders: visit.requestHeaders,
      remoteAddress,
      body,
      cut,
      fetchedAtMs: visit.sinceWallMs,
      decodedBytesMax: visit.what === 'page' ? props.decodedBytesMax : ROBOTS_DECODED_BYTES_MAX,
      linksMax: props.linksMax,
      archive: props.archive,
    },
  });
}

/** Nothing came of it: as if it had not been begun. */
function abandon(state: Live, permit: PermitNumber, visit: OpenVisit, now: Instant): void {
  state.open.delete(permit);
  state.snapshot = {
    ...state.snapshot,
    breaker: breakers.lost(state.snapshot.breaker, now.wallMs, now.draw(), state.props.breaker),
  };
  if (visit.what === 'page') {
    queues.letGo(state.queue, visit.entry.at.sequence);
    queues.place(state.queue, visit.entry);
  }
  if (visit.what === 'robots') state.asking.delete(visit.hunt.origin);
  if (visit.what === 'errand') state.errands.unshift(visit.errand);
}

// -- robots.txt -------------------------------------------------------------------------------------------------

function foundOut(
  state: Live,
  visit: Exclude<OpenVisit, { what: 'page' }>,
  found: RobotsFound,
  now: Instant,
): Effect[] {
  if (visit.what === 'robots') return hunted(state, visit.hunt, found, now);
  const { for: asker, origin } = visit.errand;
  return [send(addresses.host(asker), { type: 'errandDone', origin, found })];
}

/** A redirect leads on, on the permit of whose host it is (P6); anything else is the answer. */
function hunted(state: Live, hunt: RobotsHunt, found: RobotsFound, now: Instant): Effect[] {
  const { origin } = hunt;
  if (found.kind === 'answer' && found.redirect !== null) {
    const { host: target, url } = found.redirect;
    const isOurs = target === state.props.name;
    const next = onward(hunt, url, isOurs ? 'nobody' : 'errand');
    if (next !== null) {
      state.asking.set(origin, next);
      return isOurs ? [] : errandTo(state, target, next, now);
    }
  }
  state.asking.delete(origin);
  state.robots.set(origin, robotsAnswered(robotsOf(state, origin), answerOf(state, hunt, found), now.wallMs));
  const known = robotsOf(state, origin);
  const status = found.kind === 'answer' ? found.status : null;
  return [
    log(known.phase === 'fresh' ? 'debug' : 'warn', 'robots_known', { origin, phase: known.phase, status }),
    emit(state, { robots: [origin] }, now),
  ];
}

function answerOf(state: Live, hunt: RobotsHunt, found: RobotsFound): Parameters<typeof robotsAnswered>[1] {
  if (found.kind === 'failure') return found;
  const { status, bytes, cut, retryAfterMs } = found;
  const isFile = status >= 200 && status < 300 && bytes !== null;
  const rules = isFile
    ? readRobots(bytes, state.props.productToken, robotsUrlOf(hunt.origin), cut ? 'cut' : 'whole')
    : ALLOW_ALL;
  return { kind: 'status', status, rules, retryAfterMs };
}

function errandTo(state: Live, target: HostName, hunt: RobotsHunt, now: Instant): Effect[] {
  const { origin, url } = hunt;
  return [
    send(addresses.host(target), { type: 'errand', for: state.props.name, origin, url }),
    schedule(`errand ${origin}`, now.monotonicMs + ERRAND_MS_MAX, { type: 'errandDue', origin }),
  ];
}
