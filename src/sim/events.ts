/**
 * Simulated time: everything that is going to happen, in one heap, in an order that a seed decides.
 *
 * Intuition: a process is the closure of its pending events. If every timer, immediate and completion of I/O is an
 * event with an *owner* (0 is the world, n is the n-th incarnation of the process), then `kill(n)` that removes the
 * owner's events *is* kill -9: nothing of it ever runs again, and what it did to the world stays.
 *
 * 1. While `run` lasts, the global timers, immediates, Date, performance.now, process.hrtime and Math.random are
 *    simulated; afterwards they are the real ones again. `node:timers`, `timers/promises`, AbortSignal.timeout and
 *    MessageChannel can not be held and are banned where this is to work.
 * 2. One simulated event a *real* macrotask, so that every chain of promises has settled before the next is chosen.
 * 3. An event belongs to the owner of the event that scheduled it, unless it says otherwise. An incarnation therefore
 *    starts as an event of its own (`as`), else what it does after its first await would belong to the world.
 * 4. Events of one instant come in an order drawn from the seed. Timers come late, and sometimes up to a millisecond
 *    early, as real ones do. A delay beyond 2^31 - 1 ms fires after 1 ms, as Node's rule is.
 * 5. Each event is a line of the trace; equal seeds give equal hashes of the trace, in whatever process.
 * 6. Each incarnation has its own origin of monotonic time. Whoever stores monotonic time will be found out.
 */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { createRandom, type Random } from './random.js';

/** Who an event belongs to: 0 is the world, n the n-th incarnation of the process. */
export type Owner = number;
export const WORLD: Owner = 0;

/** Node's rule: a longer delay fires after 1 ms. */
export const TIMER_DELAY_MS_MAX = 2 ** 31 - 1;

export interface SimulationOptions {
  readonly seed: number;
  readonly wallStartMs?: number;
  /** More events than this are a livelock, or a timer that overflowed. */
  readonly eventsMax?: number;
  /** Simulated milliseconds after which the run is given up. */
  readonly simulatedMsMax?: number;
  /** Share of timers that fire late, by up to `timerLateMsMax`. */
  readonly timerLateShare?: number;
  readonly timerLateMsMax?: number;
  /** Share of timers that fire up to a millisecond before their time. */
  readonly timerEarlyShare?: number;
  /** Keep the newest lines of the trace, for a story. */
  readonly traceLinesKept?: number;
}

export interface Scheduling {
  readonly owner?: Owner;
  readonly label?: string;
}

/** A pending event. Cancelling twice, or after it has happened, does nothing. */
export interface Pending {
  cancel(): void;
}

export type SimulationErrorCode = 'simulation_idle' | 'simulation_time' | 'simulation_events' | 'simulation_uncaught';

export class SimulationError extends Error {
  constructor(
    readonly code: SimulationErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SimulationError';
  }
}

export interface Simulation {
  readonly random: Random;
  /** Milliseconds of simulated time since the beginning: the world's clock. */
  readonly nowMs: number;
  /** What performance.now() says to the owner of the running event. */
  readonly monotonicMs: number;
  /** What Date.now() says, but not truncated to a whole number. */
  readonly wallMs: number;
  /** Whose event is running. */
  readonly owner: Owner;
  /** How many events have happened. */
  readonly events: number;
  /** Runs `main` as an event of the world, and events until it settles. Rejects with what it rejects with, or with SimulationError. */
  run<T>(main: () => Promise<T> | T): Promise<T>;
  /** Schedules the first event of an incarnation, at this instant. */
  as(owner: Owner, start: () => unknown, label?: string): Pending;
  /** At exactly this distance: for the world, which has no timers that are late. */
  after(delayMs: number, happen: () => unknown, scheduling?: Scheduling): Pending;
  sleep(delayMs: number, scheduling?: Scheduling): Promise<void>;
  /** Real I/O: time stands still until all of it is done; results come as events in the order in which it was begun. */
  outside<T>(work: () => Promise<T>, label?: string): Promise<T>;
  /** kill -9: its pending events never happen, and it can not schedule any more. */
  kill(owner: Owner): void;
  isAlive(owner: Owner): boolean;
  /** SIGSTOP and SIGCONT: the owner's events wait at least this long. */
  freeze(owner: Owner, forMs: number): void;
  /** The wall clock jumps, forward or back; the monotonic one does not. */
  shiftWall(byMs: number): void;
  /** A line of the trace that is no event: the order of what happens inside one. */
  note(kind: string, label: string): void;
  /** An error that nobody caught, in an event of an incarnation: true takes it; else it ends the run. */
  onUncaught: (owner: Owner, error: unknown) => boolean;
  /** 16 hex digits of the SHA-256 of the trace up to now. */
  traceHash(): string;
  /** The newest lines of the trace. */
  recentTrace(): readonly string[];
}

interface SimulatedEvent {
  coin: number;
  readonly order: number;
  readonly owner: Owner;
  readonly kind: string;
  readonly label: string;
  atMs: number;
  /** Null once it was cancelled or has happened. */
  happen: (() => unknown) | null;
}

/** Real work that simulated time waits for. */
interface OutsideWork {
  settled: (() => void) | null;
  readonly owner: Owner;
  readonly label: string;
}

/** What the wall clock says at first, unless it is told otherwise. */
export const WALL_START_MS: number = Date.UTC(2026, 0, 5);

/** Only one simulation can hold the globals. */
let running: Simulation | null = null;

export function createSimulation(options: SimulationOptions): Simulation {
  return new SeededSimulation(options);
}

class SeededSimulation implements Simulation {
  readonly random: Random;
  owner: Owner = WORLD;
  nowMs = 0;
  events = 0;
  onUncaught: (owner: Owner, error: unknown) => boolean = () => false;

  readonly #heap = new EventHeap();
  readonly #coins: Random;
  readonly #jitter: Random;
  readonly #trace: Trace;
  readonly #dead = new Set<Owner>();
  readonly #frozenUntilMs = new Map<Owner, number>();
  readonly #monotonicOriginMs = new Map<Owner, number>();
  readonly #outside: OutsideWork[] = [];
  readonly #options: Required<SimulationOptions>;
  #order = 0;
  /** Events that a freeze has held up. */
  #thawed = 0;
  #wallOriginMs: number;
  /** Posts the message that begins the next event; does nothing when one is posted already, or none is wanted. */
  #wake: () => void = () => {};

  constructor(options: SimulationOptions) {
    this.#options = {
      wallStartMs: WALL_START_MS,
      eventsMax: 50_000_000,
      simulatedMsMax: 366 * 86_400_000,
      timerLateShare: 0.1,
      timerLateMsMax: 3,
      timerEarlyShare: 0.02,
      traceLinesKept: 0,
      ...options,
    };
    this.random = createRandom(options.seed);
    this.#coins = this.random.fork('ties');
    this.#jitter = this.random.fork('timers');
    this.#trace = new Trace(this.#options.traceLinesKept);
    this.#wallOriginMs = this.#options.wallStartMs;
  }

  get monotonicMs(): number {
    return this.nowMs - (this.#monotonicOriginMs.get(this.owner) ?? 0);
  }

  get wallMs(): number {
    return this.#wallOriginMs + this.nowMs;
  }

  as(owner: Owner, start: () => unknown, label = 'start'): Pending {
    if (!this.#monotonicOriginMs.has(owner)) {
      this.#monotonicOriginMs.set(owner, this.nowMs - this.random.fork(`origin ${owner}`).span(20, 900));
    }
    return this.#push('start', this.nowMs, start, owner, label);
  }

  after(delayMs: number, happen: () => unknown, scheduling: Scheduling = {}): Pending {
    const atMs = this.nowMs + Math.max(0, delayMs);
    return this.#push('after', atMs, happen, scheduling.owner ?? this.owner, scheduling.label ?? '');
  }

  sleep(delayMs: number, scheduling: Scheduling = {}): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve, scheduling));
  }

  outside<T>(work: () => Promise<T>, label = 'outside'): Promise<T> {
    const entry: OutsideWork = { settled: null, owner: this.owner, label };
    this.#outside.push(entry);
    return new Promise<T>((resolve, reject) => {
      const settle = (result: () => void): void => {
        entry.settled = result;
        if (this.#outside.every((other) => other.settled !== null)) this.#takeOutside();
      };
      work().then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }

  kill(owner: Owner): void {
    if (owner === WORLD) throw new RangeError('the world can not be killed');
    this.#dead.add(owner);
    this.#heap.removeOwner(owner);
    this.#trace.line(this.nowMs, owner, 'kill', '');
  }

  isAlive(owner: Owner): boolean {
    return !this.#dead.has(owner);
  }

  freeze(owner: Owner, forMs: number): void {
    // Who is frozen already does not thaw the sooner, or what waits would come in another order.
    this.#frozenUntilMs.set(owner, Math.max(this.#frozenUntilMs.get(owner) ?? 0, this.nowMs + forMs));
  }

  shiftWall(byMs: number): void {
    this.#wallOriginMs += byMs;
  }

  note(kind: string, label: string): void {
    this.#trace.line(this.nowMs, this.owner, kind, label);
  }

  traceHash(): string {
    return this.#trace.hash();
  }

  recentTrace(): readonly string[] {
    return this.#trace.recent();
  }

  async run<T>(main: () => Promise<T> | T): Promise<T> {
    if (running !== null) throw new Error('a simulation is running already');
    running = this;
    const restore = this.#holdGlobals();
    try {
      return await this.#pump(main);
    } finally {
      restore();
      running = null;
    }
  }

  #pump<T>(main: () => Promise<T> | T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const channel = new MessageChannel();
      let posted = false;
      let finished = false;
      const finish = (settle: () => void): void => {
        if (finished) return;
        finished = true;
        this.#wake = () => {};
        process.off('unhandledRejection', uncaught);
        channel.port1.close();
        settle();
      };
      const uncaught = (error: unknown): void => {
        if (this.owner !== WORLD && this.onUncaught(this.owner, error)) return;
        const message = `uncaught in an event of owner ${this.owner} at ${this.nowMs} ms: ${String(error)}`;
        finish(() => reject(new SimulationError('simulation_uncaught', message, { cause: error })));
      };
      this.#wake = () => {
        if (posted) return;
        posted = true;
        channel.port2.postMessage(null);
      };
      channel.port1.on('message', () => {
        posted = false;
        if (finished || this.#outside.length > 0) return;
        const refusal = this.#step(uncaught);
        if (refusal !== null) finish(() => reject(refusal));
        else if (!finished) this.#wake();
      });
      process.on('unhandledRejection', uncaught);
      const begin = async (): Promise<void> => {
        try {
          const value = await main();
          finish(() => resolve(value));
        } catch (error) {
          finish(() => reject(error));
        }
      };
      this.#push('start', this.nowMs, begin, WORLD, 'main');
      this.#wake();
    });
  }

  /** One event. Answers why there can be no next one, or null. */
  #step(uncaught: (error: unknown) => void): SimulationError | null {
    const event = this.#nextEvent();
    if (event === null) {
      return new SimulationError(
        'simulation_idle',
        `nothing is left to happen at ${this.nowMs} ms, and the run has not ended`,
      );
    }
    if (event.atMs > this.#options.simulatedMsMax) {
      return new SimulationError('simulation_time', `not ended after ${this.#options.simulatedMsMax} simulated ms`);
    }
    if (this.events >= this.#options.eventsMax) {
      return new SimulationError('simulation_events', `not ended after ${this.events} events, at ${this.nowMs} ms`);
    }
    this.events += 1;
    this.nowMs = Math.max(this.nowMs, event.atMs);
    this.owner = event.owner;
    this.#trace.line(this.nowMs, event.owner, event.kind, event.label);
    const happen = event.happen as () => unknown;
    event.happen = null;
    try {
      happen();
    } catch (error) {
      uncaught(error);
    }
    return null;
  }

  #nextEvent(): SimulatedEvent | null {
    for (;;) {
      const event = this.#heap.pop();
      if (event === null) return null;
      if (event.happen === null) continue;
      const thawMs = this.#frozenUntilMs.get(event.owner);
      if (thawMs === undefined || thawMs <= event.atMs) return event;
      // In the order in which they would have come: what was asked for first is still heard first.
      event.atMs = thawMs;
      event.coin = this.#thawed++;
      this.#heap.push(event);
    }
  }

  #push(kind: string, atMs: number, happen: () => unknown, owner: Owner, label: string): SimulatedEvent & Pending {
    const event = new HeapEvent(atMs, this.#coins.bits(), this.#order++, owner, kind, label, happen);
    if (this.#dead.has(owner)) event.happen = null;
    else this.#heap.push(event);
    return event;
  }

  #takeOutside(): void {
    for (const { settled, owner, label } of this.#outside.splice(0)) {
      this.#push('outside', this.nowMs, settled as () => void, owner, label);
    }
    this.#wake();
  }

  // -- the globals ------------------------------------------------------------------------------------------------

  #holdGlobals(): () => void {
    const chance = this.random.fork('Math.random');
    const restores = [
      replace(globalThis, 'setTimeout', this.#makeSetTimeout()),
      replace(globalThis, 'setInterval', this.#makeSetInterval()),
      replace(globalThis, 'setImmediate', this.#makeSetImmediate()),
      replace(globalThis, 'clearTimeout', clearSimulated),
      replace(globalThis, 'clearInterval', clearSimulated),
      replace(globalThis, 'clearImmediate', clearSimulated),
      replace(
        globalThis,
        'Date',
        simulatedDate(() => Math.floor(this.wallMs)),
      ),
      replace(performance, 'now', () => this.monotonicMs),
      replace(
        process,
        'hrtime',
        simulatedHrtime(() => this.monotonicMs),
      ),
      replace(Math, 'random', () => chance.next()),
    ];
    return () => {
      for (const restore of restores.reverse()) restore();
    };
  }

  #makeSetTimeout(): unknown {
    const schedule = (callback: Callback, delay?: number, ...rest: unknown[]): SimulatedTimer => {
      const delayMs = nodeDelayMs(delay);
      const timer = new SimulatedTimer((happen) => this.#push('timeout', this.#dueMs(delayMs), happen, this.owner, ''));
      timer.arm(() => callback(...rest));
      return timer;
    };
    return withPromisified(schedule, (delay?: number, value?: unknown) => {
      return new Promise((resolve) => void schedule(resolve as Callback, delay, value));
    });
  }

  #makeSetInterval(): unknown {
    return (callback: Callback, delay?: number, ...rest: unknown[]): SimulatedTimer => {
      const delayMs = nodeDelayMs(delay);
      const timer = new SimulatedTimer((happen) =>
        this.#push('interval', this.#dueMs(delayMs), happen, this.owner, ''),
      );
      const tick = (): void => {
        timer.arm(tick);
        callback(...rest);
      };
      timer.arm(tick);
      return timer;
    };
  }

  #makeSetImmediate(): unknown {
    const schedule = (callback: Callback, ...rest: unknown[]): SimulatedTimer => {
      const timer = new SimulatedTimer((happen) => this.#push('immediate', this.nowMs, happen, this.owner, ''));
      timer.arm(() => callback(...rest));
      return timer;
    };
    return withPromisified(
      schedule,
      (value?: unknown) => new Promise((resolve) => void schedule(resolve as Callback, value)),
    );
  }

  #dueMs(delayMs: number): number {
    const draw = this.#jitter.next();
    const { timerLateShare, timerEarlyShare, timerLateMsMax } = this.#options;
    if (draw < timerLateShare) return this.nowMs + delayMs + (draw / timerLateShare) * timerLateMsMax;
    if (draw > 1 - timerEarlyShare) return this.nowMs + delayMs - (1 - draw) / timerEarlyShare;
    return this.nowMs + delayMs;
  }
}

// -- timers as Node hands them out ----------------------------------------------------------------------------------

type Callback = (...rest: unknown[]) => unknown;

class SimulatedTimer {
  readonly #schedule: (happen: () => unknown) => Pending;
  #pending: Pending | null = null;
  #happen: () => unknown = () => {};

  constructor(schedule: (happen: () => unknown) => Pending) {
    this.#schedule = schedule;
  }

  arm(happen: () => unknown): void {
    this.#happen = happen;
    this.#pending = this.#schedule(happen);
  }

  refresh(): this {
    this.#pending?.cancel();
    this.arm(this.#happen);
    return this;
  }

  close(): this {
    this.#pending?.cancel();
    return this;
  }

  // Simulated time has no loop to be kept alive: these only keep the shape.
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function clearSimulated(timer: unknown): void {
  if (timer instanceof SimulatedTimer) timer.close();
}

function nodeDelayMs(delay: number | undefined): number {
  const delayMs = Number(delay);
  return delayMs >= 1 && delayMs <= TIMER_DELAY_MS_MAX ? Math.trunc(delayMs) : 1;
}

function withPromisified<F extends object>(schedule: F, promised: unknown): F {
  Object.defineProperty(schedule, promisify.custom, { value: promised });
  return schedule;
}

/** Shares its prototype with the real Date, so that `instanceof` holds across the border of a run. */
function simulatedDate(wallMs: () => number): DateConstructor {
  const RealDate = Date;
  function SimulatedDate(...parts: unknown[]): unknown {
    if (new.target === undefined) return new RealDate(wallMs()).toString();
    return Reflect.construct(RealDate, parts.length === 0 ? [wallMs()] : parts, new.target);
  }
  const statics = { now: wallMs, parse: RealDate.parse, UTC: RealDate.UTC, prototype: RealDate.prototype };
  return Object.assign(SimulatedDate, statics) as unknown as DateConstructor;
}

function simulatedHrtime(monotonicMs: () => number): typeof process.hrtime {
  const bigint = (): bigint => BigInt(Math.floor(monotonicMs() * 1e6));
  const hrtime = (since?: [number, number]): [number, number] => {
    const nanos = bigint() - (since === undefined ? 0n : BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]));
    return [Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n)];
  };
  return Object.assign(hrtime, { bigint });
}

function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}

// -- the heap -------------------------------------------------------------------------------------------------------

class HeapEvent implements SimulatedEvent, Pending {
  constructor(
    public atMs: number,
    public coin: number,
    readonly order: number,
    readonly owner: Owner,
    readonly kind: string,
    readonly label: string,
    public happen: (() => unknown) | null,
  ) {}

  /** Stays in the heap until its time comes, without what it held. */
  cancel(): void {
    this.happen = null;
  }
}

function isBefore(a: SimulatedEvent, b: SimulatedEvent): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  if (a.coin !== b.coin) return a.coin < b.coin;
  return a.order < b.order;
}

/** A binary heap of events: by time, then by coin. */
class EventHeap {
  #items: SimulatedEvent[] = [];

  push(event: SimulatedEvent): void {
    const items = this.#items;
    let index = items.length;
    items.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent] as SimulatedEvent;
      if (!isBefore(event, above)) break;
      items[index] = above;
      index = parent;
    }
    items[index] = event;
  }

  pop(): SimulatedEvent | null {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return null;
    if (items.length > 0) this.#sink(last);
    return top;
  }

  removeOwner(owner: Owner): void {
    const kept = this.#items.filter((event) => event.owner !== owner && event.happen !== null);
    this.#items = [];
    for (const event of kept) this.push(event);
  }

  #sink(event: SimulatedEvent): void {
    const items = this.#items;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1] as SimulatedEvent, items[child] as SimulatedEvent))
        child += 1;
      const below = items[child] as SimulatedEvent;
      if (!isBefore(below, event)) break;
      items[index] = below;
      index = child;
    }
    items[index] = event;
  }
}

// -- the trace ------------------------------------------------------------------------------------------------------

/** Lines go into the hash in larger pieces: hashing each by itself would cost more than the event. */
const TRACE_CHARACTERS_BUFFERED = 1 << 16;

class Trace {
  readonly #hash = createHash('sha256');
  readonly #recent: string[] = [];
  readonly #kept: number;
  #buffer = '';

  constructor(kept: number) {
    this.#kept = kept;
  }

  line(atMs: number, owner: Owner, kind: string, label: string): void {
    const line = `${atMs} ${owner} ${kind} ${label}\n`;
    this.#buffer += line;
    if (this.#buffer.length > TRACE_CHARACTERS_BUFFERED) this.#flush();
    if (this.#kept === 0) return;
    this.#recent.push(line.trimEnd());
    if (this.#recent.length > 2 * this.#kept) this.#recent.splice(0, this.#kept);
  }

  hash(): string {
    this.#flush();
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  recent(): readonly string[] {
    return this.#recent.slice(-this.#kept);
  }

  #flush(): void {
    this.#hash.update(this.#buffer);
    this.#buffer = '';
  }
}
