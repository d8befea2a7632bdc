/**
 * A group at work: starts its children in order, stops them in reverse, and answers for their crashes.
 *
 * A crash costs one restart of the group's budget. Within it, the strategy says who else goes down; they all come back
 * together, in order, after the back-off (a *wave*). Over it, the group stops in order and its failure is a crash of
 * the group to its own parent; the root's failure takes the kernel down.
 *
 * Invariants: 1. whoever is down in a running group is in exactly one wave, or is being taken down by it; 2. queues
 * and states of the children outlive the group's restart; 3. while it stops, a child that crashes is restarted for its
 * own sake only, so that it can drain, and takes nobody with it.
 */
import { Budget, backOffMs } from './budget.js';
import { endPlace, type Place } from './nact.js';
import { type Fate, type Node, promised, type Runtime, type Supervisor } from './runtime.js';
import type { GroupSpec } from './specification.js';
import { affected } from './strategy.js';
import type { Timer } from './timers.js';

/** Children that come back together. */
interface Wave {
  readonly children: ReadonlySet<Node>;
  readonly timer: Timer;
}

interface Stopping {
  readonly phase: 'stopping';
  readonly fate: Fate;
  readonly stopped: Promise<void>;
}

/** `down`: halted or stopped, but may begin again. */
type GroupPhase = { readonly phase: 'down' | 'running' | 'ended' } | Stopping;

export class Group implements Node, Supervisor<Node> {
  readonly children: Node[] = [];
  /** Waits of crashed children, in order of their crashes. */
  private readonly waves = new Set<Wave>();
  private budget: Budget;
  private now: GroupPhase = { phase: 'down' };
  restarts = 0;

  constructor(
    readonly path: string,
    readonly spec: GroupSpec,
    private readonly place: Place,
    /** Null: the root. */
    private readonly parent: Group | null,
    private readonly runtime: Runtime,
  ) {
    this.budget = new Budget(spec.budget);
  }

  get phase(): GroupPhase['phase'] {
    return this.now.phase;
  }

  placeFor(): Place {
    return this.place;
  }

  childRests(): void {
    // Its children have room of their own.
  }

  childEnded(): void {
    // A child of a group ends only because the group stops it, and its place among the children stays.
  }

  expect(): void {
    // The group as a whole is in its parent's wave; its children wait for `begin`.
  }

  begin(): void {
    if (this.phase !== 'down') return;
    this.now = { phase: 'running' };
    this.budget = new Budget(this.spec.budget);
    for (const child of this.children) child.begin();
  }

  halt(): void {
    if (this.phase !== 'running' && this.phase !== 'stopping') return;
    this.now = { phase: 'down' };
    this.forgetWaves();
    for (const child of this.children.toReversed()) child.halt();
  }

  // -- crashes --------------------------------------------------------------------------------------------------

  childCrashed(child: Node, reason: string): void {
    switch (this.now.phase) {
      case 'running':
        return this.answerFor(child, reason);
      case 'stopping':
        return this.helpToDrain(child, this.now.fate);
      case 'down':
      case 'ended':
        return;
    }
  }

  private answerFor(child: Node, reason: string): void {
    const nth = this.spend();
    if (nth === null) return this.giveUp(child, reason);
    const down = affected(this.spec.strategy, this.children, child);
    for (const sibling of down.toReversed()) if (sibling !== child) sibling.halt();
    this.raise(down, backOffMs(this.spec.backoff, nth));
  }

  private helpToDrain(child: Node, fate: Fate): void {
    const nth = this.spend();
    if (nth === null) return child.cut(fate);
    this.raise([child], backOffMs(this.spec.backoff, nth));
  }

  private spend(): number | null {
    const nth = this.budget.spend(this.runtime.ports.clock.monotonicMs());
    if (nth !== null) this.restarts += 1;
    return nth;
  }

  /** Sets the wave that brings them back; a group whose children lean on each other has one wave for all that are down. */
  private raise(down: readonly Node[], delayMs: number): void {
    const children = new Set(down);
    if (this.spec.strategy !== 'one-for-one') {
      for (const wave of this.waves) for (const child of wave.children) children.add(child);
      this.forgetWaves();
    }
    for (const child of children) child.expect();
    const timer = this.runtime.timers.after(delayMs, () => {
      this.waves.delete(wave);
      for (const child of this.children) if (children.has(child)) child.begin();
    });
    const wave: Wave = { children, timer };
    this.waves.add(wave);
  }

  private forgetWaves(): void {
    for (const wave of this.waves) this.runtime.timers.cancel(wave.timer);
    this.waves.clear();
  }

  /** Over budget: stop in order, then it is the parent's turn. */
  private giveUp(child: Node, reason: string): void {
    const { restarts, withinMs } = this.spec.budget;
    const failure = { actor: child.path, reason, restarts, withinMs };
    this.runtime.note('error', 'over_restart_budget', { group: this.path, ...failure });
    const { parent } = this;
    if (parent === null) return this.runtime.fail(failure);
    this.stop('sleep')
      .then(() => this.reportTo(parent, reason))
      .catch((error: unknown) => this.runtime.stray('giveUp', error));
  }

  /** Unless the parent has halted or stopped the group meanwhile. */
  private reportTo(parent: Group, reason: string): void {
    if (this.phase === 'down' && parent.phase === 'running' && !parent.isInWave(this))
      parent.childCrashed(this, reason);
  }

  private isInWave(child: Node): boolean {
    for (const wave of this.waves) if (wave.children.has(child)) return true;
    return false;
  }

  // -- stopping -------------------------------------------------------------------------------------------------

  async stop(fate: Fate): Promise<void> {
    // Asked a second time, with another fate perhaps: the first stop is waited for, then what sleeps is ended.
    if (this.now.phase === 'stopping') await this.now.stopped;
    if (this.phase === 'ended') return;
    const { promise: stopped, resolve } = promised();
    const stopping: Stopping = { phase: 'stopping', fate, stopped };
    this.now = stopping;
    await this.stopChildren(stopping);
    if (this.now === stopping) this.become(fate);
    resolve();
  }

  /** Until all have stopped, or the parent has halted the group: then the parent's wave decides. */
  private async stopChildren(stopping: Stopping): Promise<void> {
    const { fate } = stopping;
    const deadline = this.runtime.timers.after(this.spec.stopWithinMs, () => this.cutAll(fate));
    if (this.spec.stopOrder === 'together') await Promise.all(this.children.map((child) => child.stop(fate)));
    else
      for (const child of this.children.toReversed()) {
        if (this.now !== stopping) break;
        await child.stop(fate);
      }
    this.runtime.timers.cancel(deadline);
  }

  private become(fate: Fate): void {
    this.forgetWaves();
    this.now = { phase: fate === 'end' ? 'ended' : 'down' };
    if (fate === 'end') endPlace(this.place);
  }

  private cutAll(fate: Fate): void {
    this.runtime.note('warn', 'stop_overdue', { actor: this.path, withinMs: this.spec.stopWithinMs });
    this.runtime.overdue(this.path);
    for (const child of this.children.toReversed()) child.cut(fate);
  }

  cut(fate: Fate): void {
    if (this.phase === 'ended') return;
    this.forgetWaves();
    for (const child of this.children.toReversed()) child.cut(fate);
    // A stop that is under way says so itself, now that its children have stopped.
    if (this.phase !== 'stopping') this.become(fate);
  }
}
