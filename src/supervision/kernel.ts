/**
 * The kernel: gives a declared tree its life, and is the only thing that the rest of the program holds of it.
 *
 * It owns what all actors share: the table of addresses, the timers, the dead letters, the faults that a test plans,
 * the trace. It performs nothing of its own. Everything that calls out of it (log, trace, announce, a port) is fenced:
 * what those throw is counted and said, and stops nobody.
 *
 * Invariants: 1. a path names at most one cell; 2. nothing is sent within the call that asks for it: every message is
 * handled in a turn of its own; 3. `stop` resolves, whatever the actors do, when the deadlines have passed.
 */
import type { Tier } from '../domain/tier.js';
import type { Instant, Ref, Tagged } from '../protocols/actor.js';
import type { FetchEnded, Log, Notice } from '../protocols/effects.js';
import type { Ports } from '../protocols/ports.js';
import { Cell, type Tally } from './cell.js';
import type { ActorCounts, DeathOfLetter, KernelCounts } from './counts.js';
import { DeadLetters } from './dead-letters.js';
import { OnDemand } from './directory.js';
import { type FaultPlan, Faults } from './faults.js';
import { Group } from './group.js';
import { type Letter, messageIn } from './inbox.js';
import { endPlace, type Place, spawnPlace, startSystem } from './nact.js';
import { type KernelFailure, type Node, type Runtime, reasonOf, type Watcher } from './runtime.js';
import { childPath, type GroupSpec, type NodeSpec } from './specification.js';
import { Timers } from './timers.js';

export interface KernelOptions {
  /** Called for each message just before it is handled. */
  readonly trace?: (path: string, incarnation: number, messageType: string) => void;
  readonly faults?: FaultPlan;
  /** Bytes of bodies that a message holds, given back to the client when the message is discarded. Default: those of `fetchEnded`. */
  readonly bytesIn?: (message: Tagged) => BodyBytes | null;
}

/** Whose budget they are of. */
export interface BodyBytes {
  readonly tier: Tier;
  readonly bytes: number;
}

export interface StopReport {
  readonly durationMs: number;
  /** Actors and groups that did not stop by their deadline. */
  readonly overdue: readonly string[];
  /** Messages that became dead letters while it stopped. */
  readonly deadLetters: number;
}

export interface Kernel {
  start(): void;
  /** Stops everything, last child first; the same promise however often it is asked. */
  stop(): Promise<StopReport>;
  /** Gone at once, as the process would be by a kill: nothing is drained, told or written. For tests and simulations. */
  abandon(): void;
  tell<M extends Tagged>(to: Ref<M>, message: NoInfer<M>): void;
  counts(): KernelCounts;
  /** Resolves when the root went over its restart budget, after all was stopped in order. */
  readonly failed: Promise<KernelFailure>;
}

export function createKernel(tree: GroupSpec, ports: Ports, options: KernelOptions = {}): Kernel {
  return new TreeKernel(tree, ports, options);
}

/** Systems of one process need different names. */
let systems = 0;

class TreeKernel implements Kernel, Runtime {
  readonly timers: Timers;
  readonly faults: Faults;
  readonly failed: Promise<KernelFailure>;
  private readonly deadLetters: DeadLetters;
  private readonly table = new Map<string, Cell>();
  private readonly onDemand = new Map<string, OnDemand>();
  private readonly actors: Cell[] = [];
  private readonly watchers = new Map<string, Set<Watcher>>();
  private readonly overdues: string[] = [];
  private readonly system: Place;
  private readonly root: Group;
  private readonly tracer: KernelOptions['trace'];
  private readonly bytesIn: (message: Tagged) => BodyBytes | null;
  private readonly resolveFailed: (failure: KernelFailure) => void;
  private stopped: Promise<StopReport> | null = null;
  private staleAnswers = 0;
  private strays = 0;

  constructor(
    tree: GroupSpec,
    readonly ports: Ports,
    options: KernelOptions,
  ) {
    const note = this.note.bind(this);
    this.timers = new Timers(ports.clock, (error) => this.stray('timer', error));
    this.deadLetters = new DeadLetters(note);
    this.faults = new Faults(options.faults ?? [], note);
    this.tracer = options.trace;
    this.bytesIn = options.bytesIn ?? bytesOfFetch;
    let resolveFailed = (_failure: KernelFailure): void => undefined;
    this.failed = new Promise((resolve) => (resolveFailed = resolve));
    this.resolveFailed = resolveFailed;
    this.system = startSystem(`${tree.name}-${++systems}`);
    this.root = this.build(tree, '', this.system, null) as Group;
  }

  private build(spec: NodeSpec, path: string, parentPlace: Place, parent: Group | null): Node {
    if (spec.kind === 'actor') {
      const tally: Tally = { turns: 0, messages: 0, restarts: 0 };
      const cell = new Cell(path, spec.name, spec, spec.props, parent as Group, tally, this);
      this.table.set(path, cell);
      this.actors.push(cell);
      return cell;
    }
    const place = spawnPlace(parentPlace, spec.name);
    if (spec.kind === 'onDemand') {
      const directory = new OnDemand(path, spec, place, this.table, this);
      this.onDemand.set(path, directory);
      return directory;
    }
    const group = new Group(path, spec, place, parent, this);
    for (const child of spec.children)
      group.children.push(this.build(child, childPath(path, child.name), place, group));
    return group;
  }

  // -- what the program asks --------------------------------------------------------------------------------------

  start(): void {
    this.root.begin();
  }

  stop(): Promise<StopReport> {
    this.stopped ??= this.stopAll();
    return this.stopped;
  }

  private async stopAll(): Promise<StopReport> {
    // Perhaps asked from within a turn: that turn ends first.
    await null;
    const beganAtMs = this.ports.clock.monotonicMs();
    const deadBefore = this.deadLetters.total;
    await this.root.stop('end');
    this.abandon();
    const durationMs = this.ports.clock.monotonicMs() - beganAtMs;
    return { durationMs, overdue: this.overdues, deadLetters: this.deadLetters.total - deadBefore };
  }

  abandon(): void {
    this.timers.clear();
    for (const directory of this.onDemand.values()) directory.vanish();
    for (const cell of this.table.values()) cell.vanish();
    endPlace(this.system);
  }

  tell<M extends Tagged>(to: Ref<M>, message: NoInfer<M>): void {
    this.post(to.path, message);
  }

  counts(): KernelCounts {
    const actors = this.actors.map((cell): ActorCounts => {
      const live = cell.phase === 'ended' ? 0 : 1;
      return { path: cell.path, kind: 'actor', ...cell.tally, inbox: cell.inbox.length, live };
    });
    for (const { path, tally, waiting, live } of this.onDemand.values()) {
      actors.push({ path, kind: 'onDemand', ...tally, inbox: waiting, live });
    }
    const { staleAnswers, strays } = this;
    const deadLetters = this.deadLetters.counts();
    return {
      actors,
      deadLetters,
      staleAnswers,
      strays,
      faultsInjected: this.faults.injected,
      timers: this.timers.size,
    };
  }

  // -- what its parts ask -----------------------------------------------------------------------------------------

  instant(): Instant {
    const { clock, chance } = this.ports;
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs(), draw: chance };
  }

  post(path: string, message: Tagged): void {
    const cell = this.table.get(path) ?? this.activate(path);
    if (cell instanceof Cell) cell.accept(message);
    else this.bury(path, message, cell);
  }

  postSealed(path: string, letter: Letter): void {
    const cell = this.table.get(path) ?? this.activate(path);
    if (cell instanceof Cell) cell.acceptSealed(letter);
    else this.bury(path, messageIn(letter), cell);
  }

  private activate(path: string): Cell | DeathOfLetter {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
      const directory = this.onDemand.get(path.slice(0, slash));
      if (directory !== undefined) return directory.activate(path, path.slice(slash + 1));
    }
    return 'no_such_actor';
  }

  bury(path: string, message: Tagged, reason: DeathOfLetter): void {
    this.deadLetters.add(path, message.type, reason);
    this.giveBack(message);
  }

  forget(message: Tagged): void {
    this.staleAnswers += 1;
    this.giveBack(message);
  }

  private giveBack(message: Tagged): void {
    try {
      const body = this.bytesIn(message);
      if (body !== null && body.bytes > 0) this.ports.tiers[body.tier]?.release(body.bytes);
    } catch (error) {
      this.stray('giveBack', error);
    }
  }

  trace(path: string, incarnation: number, messageType: string): void {
    if (this.tracer === undefined) return;
    try {
      this.tracer(path, incarnation, messageType);
    } catch (error) {
      this.stray('trace', error);
    }
  }

  note(level: Log['level'], event: string, fields: Log['fields']): void {
    try {
      this.ports.logs.log(level, event, fields);
    } catch {
      this.strays += 1; // the log itself is what fails: it can only be counted
    }
  }

  stray(where: string, error: unknown): void {
    this.strays += 1;
    this.note('error', 'stray_error', { where, reason: reasonOf(error) });
  }

  watch(path: string, watcher: Watcher): void {
    const watchers = this.watchers.get(path) ?? new Set();
    this.watchers.set(path, watchers.add(watcher));
  }

  unwatch(path: string, watcher: Watcher): void {
    const watchers = this.watchers.get(path);
    watchers?.delete(watcher);
    if (watchers?.size === 0) this.watchers.delete(path);
  }

  announceFate(notice: Notice): void {
    for (const watcher of this.watchers.get(notice.who) ?? []) watcher.notice(notice);
  }

  overdue(path: string): void {
    this.overdues.push(path);
  }

  fail(failure: KernelFailure): void {
    this.stop()
      .then(() => this.resolveFailed(failure))
      .catch((error: unknown) => this.stray('fail', error));
  }
}

function bytesOfFetch(message: Tagged): BodyBytes | null {
  if (message.type !== 'fetchEnded') return null;
  const { tier, result } = message as FetchEnded;
  return { tier, bytes: result.kind === 'response' ? result.body.byteLength : 0 };
}
