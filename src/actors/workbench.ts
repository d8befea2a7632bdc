/**
 * The workbench: the gates of all live hosts, and the hosts that have work ordered by when they may be asked.
 *
 * A host asks; its ask waits until the host's gate and the address's clock are open, then stands in the line of its
 * class; when a fetch slot is free and nothing holds the permits, a class is drawn and the host that has been due
 * longest gets the permit. From then on the gate is the interlock, whatever becomes of the host's actor.
 *
 * Invariants: P1 and P2 for hosts and for addresses; no permit without a free fetcher; visits open at once and their
 * bytes are bounded; permits stop while anything holds them (store, recorder, pressure, drain); B5: while hardly any host
 * can be reached, all but one probe at a time (`workbench-egress`). B4: a crash after a
 * message was carried out loses none of its effects (the next incarnation performs them) and doubles none (the message
 * comes again, and is let pass).
 */
import type { VettedAddress } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import {
  createClassQueues,
  joinLine,
  leaveLine,
  nonEmptyLines,
  takeFront,
  type ClassQueues,
} from '../domain/class-queues.js';
import { createDueHeap, peekDue, popDue, pushDue, type DueHeap } from '../domain/due-heap.js';
import type { CrawlRules } from '../policy/admission.js';
import { drawClass } from '../policy/draw.js';
import * as gates from '../policy/gate.js';
import type { EgressTerms } from '../policy/egress.js';
import type { Behaviour, Handlers, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { log, send, watch, type Effect, type Log } from '../protocols/effects.js';
import {
  type Ask,
  CONSUMER,
  EGRESS,
  type Message,
  type NetworkWord,
  PAUSED,
  type Permit,
  type PermitNumber,
} from '../protocols/workbench.js';
import * as egress from './workbench-egress.js';
import {
  type AddressClock,
  createAddressClock,
  isIdle,
  isOpen,
  sendForward,
  stand,
  stepAside,
} from './workbench-clocks.js';
import { describe } from './workbench-facts.js';

export interface Props {
  readonly slots: number;
  readonly openVisitsMax: number;
  readonly openBytesMax: number;
  /** Between the ends and starts of requests to one address; 0 switches the address clock off. */
  readonly addressDelayMs: number;
  /** The longest that a request may take once it has begun. */
  readonly requestMsMax: number;
  /** Requests of an earlier life may have ended just now: a host's first request waits for its delay. */
  readonly resumed: boolean;
  /** What the crawl may enter, until the frontier says otherwise. */
  readonly rules: CrawlRules;
  /** When so many hosts can not be reached that the fault is ours; null: never. */
  readonly egress: EgressTerms | null;
}

/** A permit is good for so long. */
export const PERMIT_LIFE_MS = 5_000;

/** A visit that is open for longer than its request may take and this was lost on its way through the engine. */
export const VISIT_LOST_MS = 120_000;

const SWEEP_MS = 5_000;

interface OpenVisit {
  readonly host: HostName;
  readonly sinceMs: number;
  /** Null once its request has ended. */
  slot: number | null;
  readonly addressClock: string | null;
  bytes: number;
}

interface State {
  readonly props: Props;
  readonly startedAtMs: number;
  readonly gates: Map<HostName, gates.Gate>;
  readonly clocks: Map<string, AddressClock>;
  readonly asks: Map<HostName, Ask>;
  /** Hosts whose gate and address are open, by class. */
  readonly due: ClassQueues;
  /** Gates and address clocks by when they open: `host:` or `address:` and the name. */
  readonly opening: DueHeap;
  readonly free: number[];
  readonly open: Map<PermitNumber, OpenVisit>;
  openBytes: number;
  lastPermit: PermitNumber;
  readonly holds: Set<string>;
  readonly egress: egress.EgressBooks;
  egressTimerAtMs: number | null;
  rules: CrawlRules;
  stage: 'granting' | 'draining' | 'drained';
  /** Effects of the message in hand. */
  owed: Effect[];
  /** The message in hand, once it was carried out; null before. */
  done: Message | null;
  /** It was carried out by an incarnation that crashed before its effects were performed: it will come again. */
  repeated: Message | null;
  timerAtMs: number | null;
  /** The timer of the next sweep is set: only while there is anything that may need one. */
  isSweeping: boolean;
}

export const workbench: Behaviour<Props, State, Message> = {
  start: (props, now) => {
    const state: State = {
      props,
      startedAtMs: now.monotonicMs,
      gates: new Map(),
      clocks: new Map(),
      asks: new Map(),
      due: createClassQueues(),
      opening: createDueHeap(),
      free: Array.from({ length: props.slots }, (_, slot) => props.slots - 1 - slot),
      open: new Map(),
      openBytes: 0,
      lastPermit: 0,
      holds: new Set(),
      egress: egress.createEgressBooks(props.egress),
      egressTimerAtMs: null,
      rules: props.rules,
      stage: 'granting',
      owed: [watch(addresses.recorder), watch(addresses.frontier)],
      done: null,
      repeated: null,
      timerAtMs: null,
      isSweeping: false,
    };
    return [state, state.owed];
  },

  // Gates, asks and open visits outlive an incarnation: they are what keeps the promise to the hosts of the web. A
  // message that was set aside is taken up here all the same: a gate without its word would stay as it is. What crashes
  // even so uses up the restarts, and ends the crawl with its reason.
  restart: (_props, held, { lost }, now) => {
    held.repeated = held.done ?? held.repeated;
    held.timerAtMs = null;
    held.egressTimerAtMs = null;
    const before = held.owed;
    if (lost !== null) takeUp(held, lost, now);
    held.owed = [
      ...before,
      ...(lost === null ? [] : held.owed),
      watch(addresses.recorder),
      watch(addresses.frontier),
    ];
    held.isSweeping = false;
    grantAll(held, now);
    sweepWhereNeeded(held, now);
    return [held, held.owed];
  },

  on: {
    settle: carryOut((state, { host, verdict, network, ask }, now) => {
      if (verdict !== null) {
        setGate(state, host, gates.judged(gateOf(state, host), verdict.permit, verdict.closedForMs));
      }
      if (network !== null) heed(state, host, network, now);
      if (verdict !== null) egress.permitOver(state.egress, verdict.permit, now);
      if (ask !== null) {
        // An ask that was not yet heard gives way: its address may have been another one.
        unfile(state, host);
        state.asks.set(host, ask);
        if (!state.gates.has(host)) setGate(state, host, gates.freshGate(firstOpening(state, ask, now)));
        file(state, host, now);
      }
      grantAll(state, now);
    }),

    returned: carryOut((state, { permit, host }, now) => {
      egress.permitOver(state.egress, permit, now);
      const visit = state.open.get(permit);
      if (visit !== undefined && visit.slot !== null) {
        giveBackSlot(state, visit, permit, null);
        state.open.delete(permit);
        setGate(state, host, gates.giveBack(gateOf(state, host), permit));
        file(state, host, now);
      }
      grantAll(state, now);
    }),

    ended: carryOut((state, { permit, host, bytes }, now) => {
      const visit = state.open.get(permit);
      if (visit === undefined) {
        // The visit was given up meanwhile; the request itself ends only now.
        releaseBytes(state, bytes);
      } else if (visit.slot !== null) {
        visit.bytes = bytes;
        state.openBytes += bytes;
        giveBackSlot(state, visit, permit, now);
      }
      setGate(state, host, gates.end(gateOf(state, host), permit, now.monotonicMs));
      file(state, host, now);
      grantAll(state, now);
    }),

    closed: carryOut((state, { visits }, now) => {
      let bytes = 0;
      for (const permit of visits) {
        bytes += close(state, permit);
        egress.permitOver(state.egress, permit, now);
      }
      releaseBytes(state, bytes);
      grantAll(state, now);
    }),

    hostRestarted: carryOut((state, { host }, now) => forget(state, host, now)),
    setAside: carryOut((state, { name }, now) => forget(state, name, now)),

    gateDue: carryOut((state, _message, now) => {
      state.timerAtMs = null;
      grantAll(state, now);
    }),

    overdue: carryOut((state, { host, origin, sinceMs }) => {
      state.owed.push(egress.judgeOverdue(state.egress, host, origin, sinceMs));
    }),

    egressDue: carryOut((state, _message, now) => {
      state.egressTimerAtMs = null;
      grantAll(state, now);
    }),

    sweepDue: carryOut((state, _message, now) => {
      state.isSweeping = false;
      sweep(state, now);
      grantAll(state, now);
    }),

    hold: carryOut((state, { why }) => hold(state, why)),
    release: carryOut((state, { why }, now) => unhold(state, why, now)),
    rules: carryOut((state, { rules }) => {
      state.rules = rules;
    }),
    pressed: carryOut((state, { who }) => hold(state, `${who} has more than it can take`)),
    relieved: carryOut((state, { who }, now) => unhold(state, `${who} has more than it can take`, now)),
    crashed: carryOut((state, { who }) => hold(state, `${who} is down`)),
    restarted: carryOut((state, { who }, now) => unhold(state, `${who} is down`, now)),
    stopped: carryOut((state, { who }) => hold(state, `${who} is down`)),

    describe: carryOut((state, { query, hosts }, now) => {
      state.owed.push({ do: 'announce', event: { event: 'described', query, bench: describe(state, hosts, now) } });
    }),

    countSpare: carryOut((state) => {
      state.owed.push(send(addresses.frontier, { type: 'spareCounted', slots: spareSlots(state) }));
    }),

    drain: carryOut((state) => {
      if (state.stage === 'granting') state.stage = 'draining';
      state.owed.push(...egress.closeVisits(state.egress));
      noticeDrained(state);
    }),
  } satisfies Handlers<State, Message>,
};

function takeUp(state: State, lost: Message, now: Instant): void {
  const handle = workbench.on[lost.type] as (state: State, message: Message, now: Instant) => Turn<State>;
  handle(state, lost, now);
  state.owed.push(log('warn', 'taken_up', { actor: 'workbench', message: lost.type }));
}

/** A handler of what one message changes and owes. What the last incarnation carried out is not carried out again. */
function carryOut<M extends Message>(
  change: (state: State, message: M, now: Instant) => void,
): (state: State, message: M, now: Instant) => Turn<State> {
  return (state, message, now) => {
    const isRepeated = state.repeated === message;
    state.owed = [];
    state.repeated = null;
    if (isRepeated) return [state, []];
    state.done = null;
    change(state, message, now);
    sweepWhereNeeded(state, now);
    state.done = message;
    return [state, state.owed];
  };
}

// -- granting ---------------------------------------------------------------------------------------------------

/** Moves what has opened into the lines, grants what may be granted, and sets the one timer for what opens next. */
function grantAll(state: State, now: Instant): void {
  openWhatIsDue(state, now);
  while (mayGrantAny(state)) {
    const host = frontOf(state, now);
    if (host === undefined) break;
    const permit = grantTo(state, host, now);
    if (permit !== null) state.owed.push(send(addresses.host(host), { type: 'granted', permit }));
  }
  watchEgress(state, now);
  const next = peekDue(state.opening);
  if (next !== undefined && (state.timerAtMs === null || next.atMs < state.timerAtMs)) {
    state.timerAtMs = next.atMs;
    state.owed.push({ do: 'schedule', key: 'gate', atMonotonicMs: next.atMs, message: { type: 'gateDue' } });
  }
  noticeDrained(state);
}

/** A class is drawn; of those in its line the host that has been due longest. */
function frontOf(state: State, now: Instant): HostName | undefined {
  const priority = drawClass(nonEmptyLines(state.due), now.draw());
  return priority === null ? undefined : takeFront(state.due, priority);
}

function mayGrantAny(state: State): boolean {
  return state.holds.size === 0 && permitsLeft(state) > 0 && state.due.lineOf.size > 0;
}

/** Whatever holds them. */
function permitsLeft({ props, stage, free, open, openBytes }: State): number {
  if (stage !== 'granting' || openBytes > props.openBytesMax / 2) return 0;
  return Math.max(0, Math.min(free.length, props.openVisitsMax - open.size));
}

/** Permits that could be granted, were there hosts that may be asked. */
function spareSlots(state: State): number {
  return state.holds.size > 0 || state.due.lineOf.size > 0 ? 0 : permitsLeft(state);
}

/** Null when the host turned out not to be due: it was filed again where it belongs. */
function grantTo(state: State, host: HostName, now: Instant): Permit | null {
  const ask = state.asks.get(host);
  const gate = gateOf(state, host);
  if (ask === undefined) return null;
  const clock = clockOf(state, ask.addressClock);
  if (!gates.mayGrant(gate, now.monotonicMs) || (clock !== null && !isOpen(clock, now))) {
    leavePlace(state, host);
    file(state, host, now);
    return null;
  }
  const number = ++state.lastPermit;
  const fetcher = state.free.pop() as number;
  const deadlineMs = now.monotonicMs + PERMIT_LIFE_MS + state.props.requestMsMax;
  state.gates.set(host, gates.grant(gate, number, deadlineMs));
  if (clock !== null) takeAddress(state, clock, host, number, now);
  state.open.set(number, { host, sinceMs: now.monotonicMs, slot: fetcher, addressClock: ask.addressClock, bytes: 0 });
  state.asks.delete(host);
  const address: VettedAddress = ask.address;
  const expiresAtMs = now.monotonicMs + PERMIT_LIFE_MS;
  return { number, host, address, fetcher, expiresAtMs, deadlineMs, rules: state.rules };
}

/** Whoever stood in line for the address, if that is another, waits behind it again. */
function takeAddress(state: State, clock: AddressClock, host: HostName, permit: PermitNumber, now: Instant): void {
  const { forward } = clock;
  stepAside(clock, host);
  clock.inFlight = permit;
  if (forward === null || forward === host) return;
  leavePlace(state, forward);
  file(state, forward, now);
}

/** The host's actor is gone with all that it had open. A request that has not ended keeps its slot, gate and address. */
function forget(state: State, host: HostName, now: Instant): void {
  unfile(state, host);
  egress.forget(state.egress, host, now);
  let bytes = 0;
  for (const [permit, visit] of state.open) {
    if (visit.host === host && visit.slot === null) bytes += close(state, permit);
  }
  releaseBytes(state, bytes);
  grantAll(state, now);
}

// -- our way to all hosts (B5) ----------------------------------------------------------------------------------

function heed(state: State, host: HostName, network: NetworkWord, now: Instant): void {
  const { egress: books, lastPermit } = state;
  const before = books.guard.phase;
  state.owed.push(...egress.hear(books, { host, network, endedAtMs: endOf(state, host, now), lastPermit }, now));
  if (state.stage !== 'granting') state.owed.push(...egress.closeVisits(books));
  if (books.guard.phase === before) return;
  if (books.guard.phase === 'guarding') hold(state, EGRESS);
  else unhold(state, EGRESS, now);
  const way = books.guard.phase === 'clear' ? 'open' : books.known.size > 0 ? 'cut_off' : 'never_open';
  state.owed.push(send(addresses.frontier, { type: 'egress', way }));
}

/** Of its last request; the moment, where that is not known to have ended. */
function endOf(state: State, host: HostName, now: Instant): number {
  const gate = gateOf(state, host);
  return gate.phase === 'granted' ? now.monotonicMs : (gate.endedAtMs ?? now.monotonicMs);
}

/** Suspicions whose time is up, the next probe, and the timer for both. */
function watchEgress(state: State, now: Instant): void {
  const { egress: books } = state;
  state.owed.push(...egress.acquit(books, now));
  // What else holds the permits holds the probes too.
  let mayProbe = books.guard.phase === 'guarding' && state.holds.size === 1;
  while (mayProbe && permitsLeft(state) > 0) mayProbe = probes(state, now);
  const nextMs = egress.nextDueMs(books, now);
  if (nextMs === null || nextMs <= now.monotonicMs) return;
  if (state.egressTimerAtMs !== null && state.egressTimerAtMs <= nextMs) return;
  state.egressTimerAtMs = nextMs;
  state.owed.push({ do: 'schedule', key: 'egress', atMonotonicMs: nextMs, message: { type: 'egressDue' } });
}

/** Whether another try at it makes sense: the host that was chosen turned out not to be due. */
function probes(state: State, now: Instant): boolean {
  const choice = egress.chooseProbe(state.egress, state, now);
  if (choice.choose === 'nobody') return false;
  if (choice.choose === 'bidden') {
    state.owed.push(choice.effect);
    return false;
  }
  const host = choice.choose === 'host' ? choice.host : frontOf(state, now);
  if (host === undefined) return false;
  leaveLine(state.due, host);
  const permit = grantTo(state, host, now);
  if (permit === null) return true;
  egress.granted(state.egress, host, permit.number);
  state.owed.push(send(addresses.host(host), { type: 'granted', permit }), log('debug', 'egress_probe', { host }));
  return false;
}

// -- who is due -------------------------------------------------------------------------------------------------

/** Puts an asking host where it belongs: in a line, behind its address, or on the heap until its gate opens. */
function file(state: State, host: HostName, now: Instant): void {
  const ask = state.asks.get(host);
  const gate = gateOf(state, host);
  if (ask === undefined || gate.phase !== 'open') return;
  if (gate.opensAtMs > now.monotonicMs) {
    leavePlace(state, host);
    pushDue(state.opening, { atMs: gate.opensAtMs, name: `host:${host}` });
    return;
  }
  const clock = clockOf(state, ask.addressClock);
  if (clock === null) return joinLine(state.due, host, ask.priority);
  stand(clock, host, ask.priority, state.due, now);
}

function unfile(state: State, host: HostName): void {
  leavePlace(state, host);
  state.asks.delete(host);
}

/** Out of its line, or from behind its address. If it stood forward, the address opens for the next one. */
function leavePlace(state: State, host: HostName): void {
  leaveLine(state.due, host);
  const name = state.asks.get(host)?.addressClock ?? null;
  const clock = name === null ? undefined : state.clocks.get(name);
  if (clock === undefined || !stepAside(clock, host)) return;
  pushDue(state.opening, { atMs: clock.opensAtMs, name: `address:${name}` });
}

function openWhatIsDue(state: State, now: Instant): void {
  for (let next = peekDue(state.opening); next !== undefined; next = peekDue(state.opening)) {
    if (next.atMs > now.monotonicMs) return;
    popDue(state.opening);
    const colon = next.name.indexOf(':');
    const name = next.name.slice(colon + 1);
    if (next.name.startsWith('host:')) file(state, name, now);
    else openAddress(state, name, now);
  }
}

function openAddress({ clocks, due }: State, name: string, now: Instant): void {
  const clock = clocks.get(name);
  if (clock !== undefined) sendForward(clock, due, now);
}

// -- gates and clocks -------------------------------------------------------------------------------------------

function gateOf(state: State, host: HostName): gates.Gate {
  return state.gates.get(host) ?? gates.freshGate(0);
}

function setGate(state: State, host: HostName, gate: gates.Gate): void {
  state.gates.set(host, gate);
  if (gate.phase === 'open' && state.asks.has(host)) {
    leavePlace(state, host);
    pushDue(state.opening, { atMs: gate.opensAtMs, name: `host:${host}` });
  }
}

/** P9: what an earlier life asked of this host in its last moments is not known; its delay is waited for. */
function firstOpening(state: State, ask: Ask, now: Instant): number {
  return state.props.resumed ? Math.max(now.monotonicMs, state.startedAtMs + ask.delayMs) : now.monotonicMs;
}

function clockOf(state: State, name: string | null): AddressClock | null {
  if (name === null || state.props.addressDelayMs === 0) return null;
  let clock = state.clocks.get(name);
  if (clock === undefined) {
    const opensAtMs = state.props.resumed ? state.startedAtMs + state.props.addressDelayMs : 0;
    clock = createAddressClock(opensAtMs);
    state.clocks.set(name, clock);
    if (opensAtMs > 0) pushDue(state.opening, { atMs: opensAtMs, name: `address:${name}` });
  }
  return clock;
}

/** Frees the fetcher and the address. `endedAt` is null when nothing was sent. */
function giveBackSlot(state: State, visit: OpenVisit, permit: PermitNumber, endedAt: Instant | null): void {
  if (visit.slot === null) return;
  state.free.push(visit.slot);
  visit.slot = null;
  const clock = clockOf(state, visit.addressClock);
  if (clock === null || clock.inFlight !== permit) return;
  clock.inFlight = null;
  if (endedAt !== null) clock.opensAtMs = endedAt.monotonicMs + state.props.addressDelayMs;
  pushDue(state.opening, { atMs: clock.opensAtMs, name: `address:${visit.addressClock}` });
}

/** The bytes that its body held. A request that is still under way keeps its place until it ends. */
function close(state: State, permit: PermitNumber): number {
  const visit = state.open.get(permit);
  if (visit === undefined || visit.slot !== null) return 0;
  state.open.delete(permit);
  state.openBytes -= visit.bytes;
  return visit.bytes;
}

function releaseBytes(state: State, bytes: number): void {
  if (bytes > 0) state.owed.push({ do: 'release', bytes });
}

// -- sweeping ---------------------------------------------------------------------------------------------------

/** What no message will ever tell: requests without an end, visits that got lost, gates that nobody needs. */
function sweep(state: State, now: Instant): void {
  let bytes = 0;
  for (const [permit, visit] of state.open) {
    const ageMs = now.monotonicMs - visit.sinceMs;
    const endless = visit.slot !== null && ageMs > PERMIT_LIFE_MS + state.props.requestMsMax;
    if (!endless && ageMs <= VISIT_LOST_MS) continue;
    giveBackSlot(state, visit, permit, now);
    bytes += close(state, permit);
    egress.permitOver(state.egress, permit, now);
    state.owed.push(
      log('warn', endless ? 'request_without_end' : 'visit_lost', { host: visit.host, permit }),
      send(addresses.host(visit.host), { type: 'visitLost', permit }),
    );
  }
  releaseBytes(state, bytes);
  sweepGates(state, now);
}

function sweepGates(state: State, now: Instant): void {
  for (const [host, gate] of state.gates) {
    const next = gates.overdue(gate, now.monotonicMs);
    if (next !== null) setGate(state, host, next);
    else if (gate.phase === 'open' && gate.opensAtMs <= now.monotonicMs && !state.asks.has(host))
      state.gates.delete(host);
  }
  for (const [name, clock] of state.clocks) {
    if (isIdle(clock, now)) state.clocks.delete(name);
  }
}

/** A crawl that has nothing to do for weeks wakes for nothing. */
function sweepWhereNeeded(state: State, now: Instant): void {
  if (state.isSweeping || state.open.size + state.gates.size + state.clocks.size === 0) return;
  state.isSweeping = true;
  const atMonotonicMs = now.monotonicMs + SWEEP_MS;
  state.owed.push({ do: 'schedule', key: 'sweep', atMonotonicMs, message: { type: 'sweepDue' } });
}

// -- holding and draining ---------------------------------------------------------------------------------------

function hold(state: State, why: string): void {
  if (state.holds.has(why)) return;
  state.holds.add(why);
  state.owed.push(log(levelOf(why), 'permits_held', { why }), { do: 'announce', event: { event: 'held', why } });
}

function unhold(state: State, why: string, now: Instant): void {
  if (!state.holds.delete(why)) return;
  state.owed.push(log(why === CONSUMER ? 'debug' : 'info', 'permits_resumed', { why }));
  if (state.holds.size === 0) state.owed.push({ do: 'announce', event: { event: 'resumed' } });
  grantAll(state, now);
}

/** What was wished for, or comes and goes with a slow consumer, is no warning. */
function levelOf(why: string): Log['level'] {
  if (why === CONSUMER) return 'debug';
  return why === PAUSED ? 'info' : 'warn';
}

function noticeDrained(state: State): void {
  if (state.stage !== 'draining' || state.open.size > 0) return;
  state.stage = 'drained';
  state.owed.push({ do: 'announce', event: { event: 'drained' } });
}
