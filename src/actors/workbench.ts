/**
 * The workbench: the gates of all live hosts, and the hosts that have work ordered by when they may be asked.
 *
 * A host asks for a tier; its ask waits until the host's gate and the address's clock are open, then stands in that
 * tier's line of its class; when a slot of the tier is free and nothing holds the permits, a class is drawn and the host
 * that has been due longest gets the permit. From then on the gate is the interlock, whatever becomes of the host's
 * actor. Each tier has lines and slots of its own, so that whoever waits for a browser holds up nobody else.
 *
 * Invariants: P1 and P2 for hosts and for addresses; no permit without a free fetcher; visits open at once and their
 * bytes are bounded; permits stop while anything holds them (store, recorder, pressure, drain); B5: while hardly any host
 * can be reached, all but one probe at a time (`workbench-egress`); B1, B2: while the browser service rests nobody waits
 * for it (`workbench-backend`). B4: a crash after a
 * message was carried out loses none of its effects (the next incarnation performs them) and doubles none (the message
 * comes again, and is let pass).
 */
import type { HostName } from '../domain/host.js';
import type { Tier } from '../domain/tier.js';
import { createClassQueues, joinLine, leaveLine, nonEmptyLines, takeFront } from '../domain/class-queues.js';
import { createDueHeap, peekDue, popDue, pushDue, type DueHeap } from '../domain/due-heap.js';
import type { CrawlRules } from '../policy/admission.js';
import type { BackendTerms, BackendWord } from '../policy/backend-breaker.js';
import { drawClass } from '../policy/draw.js';
import * as gates from '../policy/gate.js';
import type { EgressTerms } from '../policy/egress.js';
import type { RetryBudgetTerms } from '../policy/retry-budget.js';
import type { Behaviour, Handlers, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { log, send, watch, type Effect, type Log } from '../protocols/effects.js';
import {
  type Ask,
  CONSUMER,
  type DeliveryKind,
  EGRESS,
  type Message,
  type NetworkWord,
  PAUSED,
  type Permit,
  type PermitNumber,
} from '../protocols/workbench.js';
import * as backend from './workbench-backend.js';
import * as retries from './workbench-retries.js';
import * as egress from './workbench-egress.js';
import {
  type AddressClock,
  createAddressClock,
  isIdle,
  isOpen,
  sendForward,
  stand,
  stepAside,
  thoseForward,
  TIERS,
} from './workbench-clocks.js';
import { describe, type TierLine } from './workbench-facts.js';

export interface Props {
  /** Requests at once, and how long one may take: a tier each that the crawl has. */
  readonly tiers: { readonly 1: TierTerms } & { readonly [tier in 2 | 3]?: TierTerms };
  readonly openVisitsMax: number;
  readonly openBytesMax: number;
  /** Between the ends and starts of requests to one address; 0 switches the address clock off. */
  readonly addressDelayMs: number;
  /** Requests of an earlier life may have ended just now: a host's first request waits for its delay. */
  readonly resumed: boolean;
  /** What the crawl may enter, until the frontier says otherwise. */
  readonly rules: CrawlRules;
  /** When so many hosts can not be reached that the fault is ours; null: never. */
  readonly egress: EgressTerms | null;
  /** When the browser service is given a rest; null: never. */
  readonly backend: BackendTerms | null;
  /** How many retries all hosts together may make; null: as many as they like. */
  readonly retryBudget: RetryBudgetTerms | null;
}

export interface TierTerms {
  readonly slots: number;
  /** The longest that a request may take once it has begun. */
  readonly requestMsMax: number;
}

/** A permit is good for so long. */
export const PERMIT_LIFE_MS = 5_000;

/** A visit that is open for longer than its request may take and this was lost on its way through the engine. */
export const VISIT_LOST_MS = 120_000;

const SWEEP_MS = 5_000;

interface OpenVisit {
  readonly host: HostName;
  readonly tier: Tier;
  readonly sinceMs: number;
  /** Null once its request has ended. */
  slot: number | null;
  readonly addressClock: string | null;
  readonly delivery: DeliveryKind | null;
  bytes: number;
}

interface State {
  readonly props: Props;
  readonly startedAtMs: number;
  readonly gates: Map<HostName, gates.Gate>;
  readonly clocks: Map<string, AddressClock>;
  readonly asks: Map<HostName, Ask>;
  /** Slots and lines, a tier each. */
  readonly lines: ReadonlyMap<Tier, TierLine>;
  /** Gates and address clocks by when they open: `host:` or `address:` and the name. */
  readonly opening: DueHeap;
  readonly open: Map<PermitNumber, OpenVisit>;
  openBytes: number;
  /** Of visits that the message in hand has closed: not yet released. */
  readonly closedBytes: Map<Tier, number>;
  lastPermit: PermitNumber;
  readonly holds: Set<string>;
  readonly egress: egress.EgressBooks;
  egressTimerAtMs: number | null;
  readonly backend: backend.BackendBooks;
  readonly retries: retries.RetryBooks;
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
      lines: linesOf(props),
      opening: createDueHeap(),
      open: new Map(),
      openBytes: 0,
      closedBytes: new Map(),
      lastPermit: 0,
      holds: new Set(),
      egress: egress.createEgressBooks(props.egress),
      egressTimerAtMs: null,
      backend: backend.createBackendBooks(props.backend),
      retries: retries.createRetryBooks(props.retryBudget, now),
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
    held.owed = [...before, ...(lost === null ? [] : held.owed), watch(addresses.recorder), watch(addresses.frontier)];
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
      if (ask !== null) hearAsk(state, ask, now);
      grantAll(state, now);
    }),

    returned: carryOut((state, { permit, host }, now) => {
      egress.permitOver(state.egress, permit, now);
      const visit = state.open.get(permit);
      if (visit !== undefined && visit.slot !== null) {
        giveBackSlot(state, visit, permit, null);
        state.open.delete(permit);
        if (visit.delivery === 'retry') retries.giveBackRetry(state.retries);
        hearOfBackend(state, visit.tier, permit, null, now);
        setGate(state, host, gates.giveBack(gateOf(state, host), permit));
        file(state, host, now);
      }
      grantAll(state, now);
    }),

    ended: carryOut((state, { permit, host, tier, bytes, backend: word }, now) => {
      const visit = state.open.get(permit);
      if (visit === undefined) {
        // The visit was given up meanwhile; the request itself ends only now.
        releaseBytes(state, tier, bytes);
      } else if (visit.slot !== null) {
        visit.bytes = bytes;
        if (visit.delivery === 'first') retries.noteFirst(state.retries, now);
        state.openBytes += bytes;
        giveBackSlot(state, visit, permit, now);
      }
      hearOfBackend(state, tier, permit, word, now);
      setGate(state, host, gates.end(gateOf(state, host), permit, now.monotonicMs));
      file(state, host, now);
      grantAll(state, now);
    }),

    closed: carryOut((state, { visits }, now) => {
      for (const permit of visits) {
        close(state, permit);
        egress.permitOver(state.egress, permit, now);
      }
      releaseClosed(state);
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

function linesOf({ tiers }: Props): Map<Tier, TierLine> {
  const lines = new Map<Tier, TierLine>();
  for (const tier of TIERS) {
    const terms = tiers[tier];
    if (terms === undefined) continue;
    const { slots } = terms;
    const free = Array.from({ length: slots }, (_, slot) => slots - 1 - slot);
    lines.set(tier, { ...terms, free, due: createClassQueues() });
  }
  return lines;
}

function lineOf({ lines }: State, tier: Tier): TierLine {
  const line = lines.get(tier);
  if (line === undefined) throw new Error(`the crawl has no tier ${tier}`);
  return line;
}

/** Moves what has opened into the lines, grants what may be granted, and sets the one timer for what opens next. */
function grantAll(state: State, now: Instant): void {
  openWhatIsDue(state, now);
  for (let tier = tierToGrant(state, now); tier !== null; tier = tierToGrant(state, now)) {
    const host = frontOf(state, tier, now);
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
function frontOf(state: State, tier: Tier, now: Instant): HostName | undefined {
  const { due } = lineOf(state, tier);
  const priority = drawClass(nonEmptyLines(due), now.draw());
  return priority === null ? undefined : takeFront(due, priority);
}

/** The dearest first: it has the fewest slots, and would else find all open visits taken. */
const DEAREST_FIRST: readonly Tier[] = [3, 2, 1];

/** A tier of which a permit may be granted to somebody in line; null: none. */
function tierToGrant(state: State, now: Instant): Tier | null {
  if (state.holds.size > 0) return null;
  for (const tier of DEAREST_FIRST) {
    const line = state.lines.get(tier);
    if (line === undefined || line.due.lineOf.size === 0 || permitsLeft(state, line) === 0) continue;
    if (tier !== 3 || backend.mayCall(state.backend, now)) return tier;
  }
  return null;
}

/** Whatever holds them. */
function permitsLeft({ props, stage, open, openBytes }: State, { free }: TierLine): number {
  if (stage !== 'granting' || openBytes > props.openBytesMax / 2) return 0;
  return Math.max(0, Math.min(free.length, props.openVisitsMax - open.size));
}

/** Plain permits that could be granted, were there hosts that may be asked. */
function spareSlots(state: State): number {
  const plain = lineOf(state, 1);
  return state.holds.size > 0 || plain.due.lineOf.size > 0 ? 0 : permitsLeft(state, plain);
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
  const { tier, address } = ask;
  const { free, requestMsMax } = lineOf(state, tier);
  const number = ++state.lastPermit;
  const fetcher = free.pop() as number;
  const deadlineMs = now.monotonicMs + PERMIT_LIFE_MS + requestMsMax;
  state.gates.set(host, gates.grant(gate, number, deadlineMs));
  if (clock !== null) takeAddress(state, clock, ask, number, now);
  const { addressClock, delivery } = ask;
  state.open.set(number, { host, tier, sinceMs: now.monotonicMs, slot: fetcher, addressClock, delivery, bytes: 0 });
  state.asks.delete(host);
  if (tier === 3 && backend.called(state.backend, number).isProbe) noteProbe(state, host, now);
  const expiresAtMs = now.monotonicMs + PERMIT_LIFE_MS;
  return { number, host, address, tier, fetcher, expiresAtMs, deadlineMs, delivery, rules: state.rules };
}

/** Whoever else stood in line for the address waits behind it again. */
function takeAddress(state: State, clock: AddressClock, ask: Ask, permit: PermitNumber, now: Instant): void {
  stepAside(clock, ask);
  clock.inFlight = permit;
  for (const forward of thoseForward(clock)) {
    leavePlace(state, forward);
    file(state, forward, now);
  }
}

/** The host's actor is gone with all that it had open. A request that has not ended keeps its slot, gate and address. */
function forget(state: State, host: HostName, now: Instant): void {
  unfile(state, host);
  egress.forget(state.egress, host, now);
  for (const [permit, visit] of state.open) {
    if (visit.host === host && visit.slot === null) close(state, permit);
  }
  releaseClosed(state);
  grantAll(state, now);
}

// -- our way to all hosts (B5) ----------------------------------------------------------------------------------

function heed(state: State, host: HostName, network: NetworkWord, now: Instant): void {
  const { egress: books, lastPermit } = state;
  const before = books.guard.phase;
  state.owed.push(...egress.hear(books, { host, network, endedAtMs: endOf(state, host, now), lastPermit }, now));
  if (state.stage !== 'granting') state.owed.push(...egress.closeVisits(books));
  if (books.guard.phase === before) return;
  if (books.guard.phase === 'guarding') {
    hold(state, EGRESS);
    declineBrowsers(state, now);
  }
  if (books.guard.phase === 'clear') unhold(state, EGRESS, now);
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
  while (mayProbe && permitsLeft(state, lineOf(state, 1)) > 0) mayProbe = probes(state, now);
  const nextMs = egress.nextDueMs(books, now);
  if (nextMs === null || nextMs <= now.monotonicMs) return;
  if (state.egressTimerAtMs !== null && state.egressTimerAtMs <= nextMs) return;
  state.egressTimerAtMs = nextMs;
  state.owed.push({ do: 'schedule', key: 'egress', atMonotonicMs: nextMs, message: { type: 'egressDue' } });
}

/** Whether another try at it makes sense: the host that was chosen turned out not to be due. */
function probes(state: State, now: Instant): boolean {
  const { asks, gates } = state;
  const tier = TIERS.find((one) => (state.lines.get(one)?.due.lineOf.size ?? 0) > 0);
  const isInLine = (host: HostName) => isDue(state, host);
  const choice = egress.chooseProbe(state.egress, { isInLine, isAnyInLine: tier !== undefined, asks, gates }, now);
  if (choice.choose === 'nobody') return false;
  if (choice.choose === 'bidden') {
    state.owed.push(choice.effect);
    return false;
  }
  const host = choice.choose === 'host' ? choice.host : frontOf(state, tier ?? 1, now);
  if (host === undefined) return false;
  const wish = state.asks.get(host);
  if (wish !== undefined) leaveLine(lineOf(state, wish.tier).due, host);
  const permit = grantTo(state, host, now);
  if (permit === null) return true;
  egress.granted(state.egress, host, permit.number);
  state.owed.push(send(addresses.host(host), { type: 'granted', permit }), log('debug', 'egress_probe', { host }));
  return false;
}

// -- the browser service (B1, B2) -------------------------------------------------------------------------------

/** An ask for what can't be had now is answered at once. */
function hearAsk(state: State, ask: Ask, now: Instant): void {
  const { host, tier } = ask;
  // An ask that was not yet heard gives way: its address may have been another one.
  unfile(state, host);
  const restsUntilMs = tier === 3 ? browsersRestUntilMs(state, now) : null;
  if (restsUntilMs !== null) {
    state.owed.push(send(addresses.host(host), { type: 'declined', tier, untilMs: restsUntilMs }));
    return;
  }
  const heldUntilMs = ask.delivery === 'retry' ? retries.takeRetry(state.retries, now) : null;
  if (heldUntilMs !== null) {
    state.owed.push(send(addresses.host(host), { type: 'retriesHeld', untilMs: heldUntilMs }));
    return;
  }
  state.asks.set(host, ask);
  if (!state.gates.has(host)) setGate(state, host, gates.freshGate(firstOpening(state, ask, now)));
  file(state, host, now);
}

/** A host that waits for a browser while our own way to all hosts is cut off would be no probe of it: it asks later. */
const CUT_OFF_MS = 30_000;

function browsersRestUntilMs(state: State, now: Instant): number | null {
  if (state.egress.guard.phase === 'guarding') return now.monotonicMs + CUT_OFF_MS;
  return backend.restsUntilMs(state.backend, PERMIT_LIFE_MS + lineOf(state, 3).requestMsMax, now);
}

function hearOfBackend(state: State, tier: Tier, permit: PermitNumber, word: BackendWord | null, now: Instant): void {
  if (tier !== 3) return;
  const effects = backend.hear(state.backend, permit, word, now);
  state.owed.push(...effects);
  if (effects.length > 0) declineBrowsers(state, now);
}

function noteProbe(state: State, host: HostName, now: Instant): void {
  state.owed.push(log('info', 'browser_service_probed', { host }));
  declineBrowsers(state, now);
}

/** B2: nobody stands in line for what can't be had. */
function declineBrowsers(state: State, now: Instant): void {
  const untilMs = state.lines.has(3) ? browsersRestUntilMs(state, now) : null;
  if (untilMs === null) return;
  for (const [host, { tier }] of state.asks) {
    if (tier !== 3) continue;
    unfile(state, host);
    state.owed.push(send(addresses.host(host), { type: 'declined', tier, untilMs }));
  }
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
  const { due } = lineOf(state, ask.tier);
  if (clock === null) return joinLine(due, host, ask.priority);
  stand(clock, ask, due, now);
}

function isDue(state: State, host: HostName): boolean {
  const ask = state.asks.get(host);
  return ask !== undefined && lineOf(state, ask.tier).due.lineOf.has(host);
}

/** Its ask is taken back, with the retry that it was for. */
function unfile(state: State, host: HostName): void {
  leavePlace(state, host);
  if (state.asks.get(host)?.delivery === 'retry') retries.giveBackRetry(state.retries);
  state.asks.delete(host);
}

/** Out of its line, or from behind its address. If it stood forward, the address opens for the next one. */
function leavePlace(state: State, host: HostName): void {
  const ask = state.asks.get(host);
  if (ask === undefined) return;
  leaveLine(lineOf(state, ask.tier).due, host);
  const { addressClock: name } = ask;
  const clock = name === null ? undefined : state.clocks.get(name);
  if (clock === undefined || !stepAside(clock, ask)) return;
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

function openAddress({ clocks, lines }: State, name: string, now: Instant): void {
  const clock = clocks.get(name);
  if (clock === undefined) return;
  for (const [tier, { due }] of lines) sendForward(clock, tier, due, now);
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
  lineOf(state, visit.tier).free.push(visit.slot);
  visit.slot = null;
  const clock = clockOf(state, visit.addressClock);
  if (clock === null || clock.inFlight !== permit) return;
  clock.inFlight = null;
  if (endedAt !== null) clock.opensAtMs = endedAt.monotonicMs + state.props.addressDelayMs;
  pushDue(state.opening, { atMs: clock.opensAtMs, name: `address:${visit.addressClock}` });
}

/** What its body held is to be released. A request that is still under way keeps its place until it ends. */
function close(state: State, permit: PermitNumber): void {
  const visit = state.open.get(permit);
  if (visit === undefined || visit.slot !== null) return;
  state.open.delete(permit);
  state.openBytes -= visit.bytes;
  if (visit.bytes > 0) state.closedBytes.set(visit.tier, (state.closedBytes.get(visit.tier) ?? 0) + visit.bytes);
}

/** Of all visits that were closed by the message in hand at once. */
function releaseClosed(state: State): void {
  for (const [tier, bytes] of state.closedBytes) releaseBytes(state, tier, bytes);
  state.closedBytes.clear();
}

function releaseBytes(state: State, tier: Tier, bytes: number): void {
  if (bytes > 0) state.owed.push({ do: 'release', tier, bytes });
}

// -- sweeping ---------------------------------------------------------------------------------------------------

/** What no message will ever tell: requests without an end, visits that got lost, gates that nobody needs. */
function sweep(state: State, now: Instant): void {
  for (const [permit, visit] of state.open) {
    const ageMs = now.monotonicMs - visit.sinceMs;
    const endless = visit.slot !== null && ageMs > PERMIT_LIFE_MS + lineOf(state, visit.tier).requestMsMax;
    if (!endless && ageMs <= VISIT_LOST_MS) continue;
    giveBackSlot(state, visit, permit, now);
    close(state, permit);
    hearOfBackend(state, visit.tier, permit, null, now);
    egress.permitOver(state.egress, permit, now);
    state.owed.push(
      log('warn', endless ? 'request_without_end' : 'visit_lost', { host: visit.host, permit }),
      send(addresses.host(visit.host), { type: 'visitLost', permit }),
    );
  }
  releaseClosed(state);
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
