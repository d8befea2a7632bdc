/**
 * An actor's cell: its address, its queue and its state, through all incarnations.
 *
 * An incarnation is what crashes; the cell stays. It holds the messages that wait, decides whose turn it is not, and
 * calls the behaviour: up to `TURN_MESSAGES_MAX` messages or `TURN_MS_MAX` a turn, whose effects are then performed
 * together, in order, before anything else is said of the turn.
 *
 * Invariants: 1. at most one turn of a cell runs at a time, and at most one token is under way; 2. a message that
 * crashes has no effects, those before it in the turn have all of theirs; 3. when an incarnation ends its signal is
 * aborted and its timers are gone before anyone is told; 4. every letter that enters is handled, or buried with a
 * reason, or (bound to an incarnation that is gone) forgotten; 5. the state is dropped only by passivation or end.
 */
import type { Crash, Instant, Tagged } from '../protocols/actor.js';
import type { Effect, Notice, Schedule } from '../protocols/effects.js';
import { Inbox, type Letter, messageIn, Sealed } from './inbox.js';
import { endPlace, type Place, spawnIncarnation, type Wakeable, wake } from './nact.js';
import { type Asker, perform } from './perform.js';
import {
  type Fate,
  type Node,
  type Promised,
  promised,
  type Runtime,
  reasonOf,
  type Supervisor,
  type Watcher,
} from './runtime.js';
import type { ErasedBehaviour, InboxRule, InHandRule } from './specification.js';
import type { Timer } from './timers.js';

export const TURN_MESSAGES_MAX = 512;
export const TURN_MS_MAX = 4;

/** What a cell is made of; children of a pool or of an on-demand group share most of it. */
export interface CellMake {
  readonly behaviour: ErasedBehaviour;
  readonly inbox: InboxRule;
  readonly inHand: InHandRule;
  readonly stopWithinMs: number;
}

/** Counted for one actor, or for all of an on-demand group. */
export interface Tally {
  turns: number;
  messages: number;
  restarts: number;
}

/**
 * `down`: no incarnation, and none is coming by itself. `due`: none, but a restart is on its way. `born`: spawned, its
 * start has not run yet. `live`: its start has run. `ended`: for good.
 */
export type CellPhase = 'down' | 'due' | 'born' | 'live' | 'ended';

interface Stopping {
  fate: Fate;
  /** Whether the drain still waits in the inbox. */
  drain: 'queued' | 'taken';
  readonly deadline: Timer;
  readonly stopped: Promised;
}

/** A message to oneself that is due later. Registered in the cell until it is taken from the inbox. */
class Alarm extends Sealed {
  timer: Timer | null = null;

  constructor(
    readonly key: string,
    message: Tagged,
    incarnation: number,
  ) {
    super(message, incarnation);
  }
}

type Decide = NonNullable<ErasedBehaviour['on'][string]>;

const UNBORN = Symbol('no incarnation has started yet');
const DRAIN = new Sealed({ type: 'drain' }, null);
const SIBLING: Crash = { reason: 'sibling', inHand: null, lost: null };
const NOTHING: readonly Effect[] = [];
const NOTICES = ['crashed', 'restarted', 'stopped'] as const;

export class Cell implements Node, Asker, Wakeable, Watcher {
  phase: CellPhase = 'down';
  incarnation = 0;
  readonly inbox = new Inbox();

  private place: Place | null = null;
  private state: unknown = UNBORN;
  private tokenIsOut = false;
  /** What the next incarnation is told; null when it is the first. */
  private crashBefore: Crash | null = null;
  /** The letter that has crashed an incarnation once and is tried again. */
  private suspect: Letter | null = null;
  private leaving: 'passivate' | 'finish' | null = null;
  private pressing = false;
  private stopping: Stopping | null = null;
  private controller: AbortController | null = null;
  private alarms: Map<string, Alarm> | null = null;
  /** The one of them that may ring early for the sake of others. */
  private rest: Alarm | null = null;
  private watched: Set<string> | null = null;

  constructor(
    readonly path: string,
    readonly name: string,
    private readonly make: CellMake,
    private readonly props: unknown,
    private readonly supervisor: Supervisor<Cell>,
    readonly tally: Tally,
    private readonly runtime: Runtime,
  ) {}

  // -- being written to -----------------------------------------------------------------------------------------

  /** A plain message: the overflow rule of the inbox applies. */
  accept(message: Tagged): void {
    if (this.phase === 'ended') return this.runtime.bury(this.path, message, 'stopped');
    if (this.inbox.length >= this.make.inbox.bound && !this.hasRoom(message)) return;
    this.inbox.push(message);
    this.rouse();
  }

  /** A letter that no overflow rule touches. */
  acceptSealed(letter: Letter): void {
    if (this.phase === 'ended') return this.runtime.bury(this.path, messageIn(letter), 'stopped');
    this.inbox.push(letter);
    this.rouse();
  }

  answer(incarnation: number, message: Tagged): void {
    if (incarnation !== this.incarnation || !this.isUp()) return this.runtime.forget(message);
    this.acceptSealed(new Sealed(message, incarnation));
  }

  notice(notice: Notice): void {
    if (this.make.behaviour.on[notice.type] !== undefined) this.acceptSealed(new Sealed(notice, null));
  }

  /** The inbox is at its bound: makes room, or buries the message, or lets it in and asks its senders to hold back. */
  private hasRoom(message: Tagged): boolean {
    const rule = this.make.inbox;
    switch (rule.overflow) {
      case 'refuse':
        this.runtime.bury(this.path, message, 'inbox_full');
        return false;
      case 'drop-oldest': {
        const oldest = this.inbox.takeOldestPlain();
        if (oldest !== undefined && oldest === this.suspect) this.suspect = null;
        this.runtime.bury(this.path, oldest ?? message, 'oldest_dropped');
        return oldest !== undefined;
      }
      case 'give-way':
        if (!this.pressing) {
          this.pressing = true;
          this.runtime.postSealed(rule.tell.path, new Sealed({ type: 'pressed', who: this.path } as Tagged, null));
        }
        return true;
    }
  }

  private relieve(): void {
    const rule = this.make.inbox;
    if (!this.pressing || rule.overflow !== 'give-way' || this.inbox.length * 2 >= rule.bound) return;
    this.pressing = false;
    this.runtime.postSealed(rule.tell.path, new Sealed({ type: 'relieved', who: this.path } as Tagged, null));
  }

  private rouse(): void {
    if (this.tokenIsOut || this.place === null) return;
    this.tokenIsOut = true;
    wake(this.place, this);
  }

  private isUp(): boolean {
    return this.phase === 'live' || this.phase === 'born';
  }

  // -- a turn ---------------------------------------------------------------------------------------------------

  turn(): void {
    if (!this.isUp()) return;
    const now = this.runtime.instant();
    const batches: (readonly Effect[])[] = [];
    let inHand: Letter | null = null;
    let crash: { readonly error: unknown } | null = null;
    let last = NOTHING;
    try {
      if (this.phase === 'born') {
        last = this.comeAlive(now);
        batches.push(last);
      }
      for (let taken = 1; this.inbox.length > 0; taken++) {
        const letter = this.inbox.shift() as Letter;
        if (this.isHandled(letter)) {
          inHand = letter;
          this.leaving = null;
          last = letter === DRAIN ? this.drain(now) : this.handle(messageIn(letter), now);
          if (last.length > 0) batches.push(last);
          inHand = null;
        }
        if (letter === this.suspect) this.suspect = null;
        if (taken === TURN_MESSAGES_MAX || this.isTooLong(now)) break;
      }
    } catch (error) {
      crash = { error };
    }
    this.tally.turns += 1;
    this.performAll(batches, crash === null ? last : NOTHING, now);
    if (crash === null) this.settle();
    else this.crash(crash.error, inHand);
  }

  /** Asks the clock only where somebody waits. */
  private isTooLong(now: Instant): boolean {
    return this.inbox.length > 0 && this.runtime.ports.clock.monotonicMs() - now.monotonicMs >= TURN_MS_MAX;
  }

  /** The start of an incarnation, and the news of it. */
  private comeAlive(now: Instant): readonly Effect[] {
    const { behaviour } = this.make;
    const crash = this.crashBefore;
    const [state, effects] =
      crash !== null && this.state !== UNBORN && behaviour.restart !== undefined
        ? behaviour.restart(this.props, this.state, crash, now)
        : behaviour.start(this.props, now);
    this.state = state;
    this.phase = 'live';
    this.crashBefore = null;
    if (crash !== null) this.sayRestarted(crash);
    return effects;
  }

  private sayRestarted({ reason, lost }: Crash): void {
    const { path: actor, incarnation } = this;
    this.runtime.note('warn', 'actor_restarted', { actor, incarnation, reason, lost: lost?.type ?? null });
    this.runtime.announceFate({ type: 'restarted', who: this.path });
  }

  /** Whether there is anything to handle in it: a stale letter or one that is not understood leaves no trace in the state. */
  private isHandled(letter: Letter): boolean {
    if (letter === DRAIN) return this.stopping !== null;
    const message = messageIn(letter);
    if (letter instanceof Sealed && this.isStale(letter)) {
      if (!(letter instanceof Alarm)) this.runtime.forget(message);
      return false;
    }
    if (this.make.behaviour.on[message.type] !== undefined) return true;
    this.runtime.bury(this.path, message, 'not_understood');
    return false;
  }

  private handle(message: Tagged, now: Instant): readonly Effect[] {
    const decide = this.make.behaviour.on[message.type] as Decide;
    this.runtime.trace(this.path, this.incarnation, message.type);
    const [state, effects] = decide(this.state, message, now);
    this.runtime.faults.strike(this.path, message.type);
    this.state = state;
    this.tally.messages += 1;
    return effects;
  }

  private isStale(letter: Sealed): boolean {
    if (letter instanceof Alarm) {
      if (this.alarms?.get(letter.key) !== letter) return true;
      this.alarms.delete(letter.key);
      this.restIsOver(letter);
    }
    return letter.incarnation !== null && letter.incarnation !== this.incarnation;
  }

  private drain(now: Instant): readonly Effect[] {
    (this.stopping as Stopping).drain = 'taken';
    const [state, effects] = (this.make.behaviour.drain as NonNullable<ErasedBehaviour['drain']>)(this.state, now);
    this.state = state;
    return effects;
  }

  /** In order. Passivation counts only where nothing was handled after it: else it would forget what came of that. */
  private performAll(batches: readonly (readonly Effect[])[], last: readonly Effect[], now: Instant): void {
    this.tokenIsOut = true; // what is sent to oneself meanwhile needs no token: `settle` looks
    for (const batch of batches) {
      for (const effect of batch) {
        if (effect.do === 'passivate' && batch !== last) continue;
        try {
          perform(effect, this, this.runtime, now);
        } catch (error) {
          this.runtime.stray(`effect:${effect.do}`, error);
        }
      }
    }
    this.tokenIsOut = false;
    this.relieve();
  }

  /** After a turn without a crash: leave, go on, or wait. */
  private settle(): void {
    if (this.leaving === 'finish') return this.finish();
    if (this.inbox.length > 0) return this.rouse(); // a wish to passivate waits: what is left may be stale
    if (this.leaving === 'passivate') this.end();
  }

  private finish(): void {
    this.leaving = null;
    if (this.stopping !== null) return this.conclude();
    this.runtime.note('warn', 'finished_unasked', { actor: this.path });
    if (this.inbox.length > 0) this.rouse();
  }

  fenced(error: unknown): void {
    this.runtime.stray('turn', error);
    this.tokenIsOut = false;
    if (this.isUp() && this.inbox.length > 0) this.rouse();
  }

  // -- effects on oneself ---------------------------------------------------------------------------------------

  signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  schedule({ key, atMonotonicMs: atMs, message, earlyForRoom }: Schedule, nowMs: number): void {
    this.cancel(key);
    const alarm = new Alarm(key, message, this.incarnation);
    this.alarms ??= new Map();
    this.alarms.set(key, alarm);
    if (atMs <= nowMs) return this.acceptSealed(alarm);
    alarm.timer = this.runtime.timers.at(atMs, () => this.ring(alarm));
    if (earlyForRoom !== true) return;
    this.rest = alarm;
    this.supervisor.childRests(this, true);
  }

  private ring(alarm: Alarm): void {
    alarm.timer = null;
    this.acceptSealed(alarm);
  }

  /** Its rest ends now, where it still rests. */
  disturb(): void {
    const { rest } = this;
    if (rest === null || rest.timer === null) return;
    this.runtime.timers.cancel(rest.timer);
    this.ring(rest);
  }

  private restIsOver(alarm: Alarm): void {
    if (alarm !== this.rest) return;
    this.rest = null;
    this.supervisor.childRests(this, false);
  }

  cancel(key: string): void {
    const alarm = this.alarms?.get(key);
    if (alarm === undefined) return;
    this.alarms?.delete(key); // one that rang already is stale by this
    if (alarm.timer !== null) this.runtime.timers.cancel(alarm.timer);
    this.restIsOver(alarm);
  }

  watch(path: string): void {
    if (!NOTICES.some((type) => this.make.behaviour.on[type] !== undefined)) {
      return this.runtime.note('warn', 'watch_unheard', { actor: this.path, whom: path });
    }
    this.watched ??= new Set();
    this.watched.add(path);
    this.runtime.watch(path, this);
  }

  leave(how: 'passivate' | 'finish'): void {
    this.leaving = how;
  }

  // -- incarnations ---------------------------------------------------------------------------------------------

  begin(): void {
    if (this.phase !== 'down' && this.phase !== 'due') return;
    this.incarnation += 1;
    if (this.crashBefore !== null) this.tally.restarts += 1;
    this.phase = 'born';
    this.place = spawnIncarnation(this.supervisor.placeFor(this), this.name, this.incarnation);
    this.rouse();
  }

  /** A restart is on its way. */
  expect(): void {
    if (this.phase === 'down') this.phase = 'due';
  }

  halt(): void {
    if (this.isUp()) {
      this.crashBefore ??= SIBLING;
      this.endIncarnation('down');
      this.runtime.announceFate({ type: 'crashed', who: this.path, reason: SIBLING.reason });
    }
    if (this.stopping?.fate === 'sleep') this.conclude();
  }

  private crash(error: unknown, inHand: Letter | null): void {
    const reason = reasonOf(error);
    const type = inHand === null || inHand === DRAIN ? null : messageIn(inHand).type;
    const { path: actor, incarnation } = this;
    const stack = error instanceof Error ? (error.stack ?? null) : null;
    this.runtime.note('error', 'actor_crashed', { actor, incarnation, message: type, reason, stack });
    const untold = this.crashBefore?.lost ?? null; // the restart that was to be told of it crashed itself
    this.endIncarnation('down');
    const lost = inHand === null || inHand === DRAIN ? untold : this.judgeInHand(inHand);
    this.crashBefore = { reason, inHand: type, lost };
    if (inHand === DRAIN || this.stopping?.drain === 'taken') this.askToDrain();
    this.runtime.announceFate({ type: 'crashed', who: this.path, reason });
    this.supervisor.childCrashed(this, reason);
  }

  /** The message that was being handled: once more, or never, and then it is lost. An answer to the incarnation that is gone: never. */
  private judgeInHand(letter: Letter): Tagged | null {
    const message = messageIn(letter);
    const isBound = letter instanceof Sealed && letter.incarnation !== null;
    const fields = { actor: this.path, message: message.type };
    if (this.make.inHand === 'drop' || isBound) {
      this.runtime.note('warn', 'in_hand_dropped', fields);
      this.runtime.bury(this.path, message, 'in_hand_dropped');
    } else if (letter === this.suspect) {
      this.runtime.note('error', 'set_aside', fields);
      this.runtime.bury(this.path, message, 'set_aside');
    } else {
      this.suspect = letter;
      this.inbox.unshift(letter);
      return null;
    }
    this.suspect = null;
    return letter instanceof Alarm ? null : message;
  }

  private endIncarnation(phase: 'down' | 'ended'): void {
    this.phase = phase;
    this.leaving = null;
    this.controller?.abort();
    this.controller = null;
    for (const alarm of this.alarms?.values() ?? []) {
      if (alarm.timer !== null) this.runtime.timers.cancel(alarm.timer);
    }
    this.alarms = null;
    if (this.rest !== null) this.restIsOver(this.rest);
    if (this.place !== null) endPlace(this.place);
    this.place = null;
    this.tokenIsOut = false;
  }

  // -- stopping -------------------------------------------------------------------------------------------------

  stop(fate: Fate): Promise<void> {
    if (this.phase === 'ended') return Promise.resolve();
    if (this.stopping !== null) {
      if (fate === 'end') this.stopping.fate = fate;
      return this.stopping.stopped.promise;
    }
    if (this.phase === 'down' || this.make.behaviour.drain === undefined) {
      this.cut(fate);
      return Promise.resolve();
    }
    const stopped = promised();
    const deadline = this.runtime.timers.after(this.make.stopWithinMs, () => this.overrun());
    this.stopping = { fate, drain: 'queued', deadline, stopped };
    this.acceptSealed(DRAIN);
    return stopped.promise;
  }

  cut(fate: Fate): void {
    if (this.phase === 'ended') return;
    if (this.stopping !== null) return this.conclude();
    if (fate === 'end') return this.end();
    if (this.isUp()) this.crashBefore ??= SIBLING;
    this.endIncarnation('down');
  }

  /** As if the process had died: no word to anyone. */
  vanish(): void {
    if (this.phase !== 'ended') this.endIncarnation('ended');
  }

  private askToDrain(): void {
    if (this.stopping === null) return;
    this.stopping.drain = 'queued';
    this.inbox.push(DRAIN);
  }

  private overrun(): void {
    this.runtime.note('warn', 'stop_overdue', { actor: this.path, withinMs: this.make.stopWithinMs });
    this.runtime.overdue(this.path);
    this.conclude();
  }

  /** The stop is over, in time or not. */
  private conclude(): void {
    const stopping = this.stopping as Stopping;
    this.stopping = null;
    this.runtime.timers.cancel(stopping.deadline);
    this.cut(stopping.fate);
    stopping.stopped.resolve();
  }

  /** Leaves the address for good; what waits becomes dead letters. A passivated actor ends with nothing waiting. */
  end(reason: 'stopped' | 'set_aside' = 'stopped'): void {
    this.endIncarnation('ended');
    this.state = UNBORN;
    this.supervisor.childEnded(this);
    for (let letter = this.inbox.shift(); letter !== undefined; letter = this.inbox.shift()) {
      if (letter !== DRAIN) this.runtime.bury(this.path, messageIn(letter), reason);
    }
    this.relieve();
    for (const path of this.watched ?? []) this.runtime.unwatch(path, this);
    this.watched = null;
    this.runtime.announceFate({ type: 'stopped', who: this.path });
    if (this.stopping !== null) this.conclude();
  }
}
