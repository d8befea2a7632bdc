/** What cells, groups and the performer see of the kernel and of each other: the seams inside supervision. */
import type { Instant, Tagged } from '../protocols/actor.js';
import type { Log, Notice } from '../protocols/effects.js';
import type { Ports } from '../protocols/ports.js';
import type { DeathOfLetter } from './counts.js';
import type { Faults } from './faults.js';
import type { Letter } from './inbox.js';
import type { Place } from './nact.js';
import type { Timers } from './timers.js';

/** What an ended actor's cell becomes: gone for good, or kept with its queue until its group is started again. */
export type Fate = 'end' | 'sleep';

/** A child of a group, whatever it is. */
export interface Node {
  readonly path: string;
  /** A restart is on its way. */
  expect(): void;
  /** Starts a new incarnation, or one of each child in order. Only a node that is down does anything. */
  begin(): void;
  /** Ends the incarnation at once because a sibling crashed; queues and state are kept for `begin`. */
  halt(): void;
  /** Drains and stops, within the deadline. */
  stop(fate: Fate): Promise<void>;
  /** Stops now, without draining. */
  cut(fate: Fate): void;
}

/** Who answers for an actor's crashes. */
export interface Supervisor<Child> {
  childCrashed(child: Child, reason: string): void;
  /** Whether the child does nothing but rest: it may be disturbed for the sake of others, by `disturb`. */
  childRests(child: Child, rests: boolean): void;
  /** The cell has left its address. */
  childEnded(child: Child): void;
  /** Under which place an incarnation of the child is spawned. */
  placeFor(child: Child): Place;
}

export interface Runtime {
  readonly ports: Ports;
  readonly timers: Timers;
  readonly faults: Faults;
  instant(): Instant;
  /** To an address; one that has no actor makes a dead letter of it. Overflow rules apply. */
  post(path: string, message: Tagged): void;
  /** As `post`, but nothing may refuse it. */
  postSealed(path: string, letter: Letter): void;
  /** A message that will not be handled: a dead letter. What it holds is given back. */
  bury(path: string, message: Tagged, reason: DeathOfLetter): void;
  /** An answer to an incarnation that is gone. */
  forget(message: Tagged): void;
  trace(path: string, incarnation: number, messageType: string): void;
  note(level: Log['level'], event: string, fields: Log['fields']): void;
  /** An error that nobody is there for: caught, counted, logged. */
  stray(where: string, error: unknown): void;
  /** To be told what becomes of a path. */
  watch(path: string, watcher: Watcher): void;
  unwatch(path: string, watcher: Watcher): void;
  announceFate(notice: Notice): void;
  /** An actor did not stop by its deadline. */
  overdue(path: string): void;
  /** The root went over its restart budget. */
  fail(failure: KernelFailure): void;
}

/** Why a kernel took itself down. */
export interface KernelFailure {
  /** The child of the root that crashed once too often. */
  readonly actor: string;
  readonly reason: string;
  readonly restarts: number;
  readonly withinMs: number;
}

export interface Watcher {
  notice(notice: Notice): void;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export interface Promised {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** A promise and the word that resolves it. */
export function promised(): Promised {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settled) => (resolve = settled));
  return { promise, resolve };
}
