/**
 * The words in which every actor is written: addresses, turns, handlers, behaviours.
 *
 * A behaviour decides and performs nothing. It gets its state, one message and the instant, and answers with its next
 * state and a list of effects; one file (`supervision/perform.ts`) performs them. It may mutate the state that it
 * owns, and must check whatever can throw before its first mutation. Time and chance come only from the instant.
 */
import type { Tagged } from './address.js';
import type { Effect } from './effects.js';

export { address, type Ref, type Tagged } from './address.js';

/** The instant of a turn. `monotonicMs` never runs backwards while the process lives; `wallMs` is for what is stored. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
  /** A fresh number in [0, 1). */
  readonly draw: () => number;
}

export type Turn<State> = readonly [State, readonly Effect[]];

/** One handler a message, none left out: a new message does not compile until it is handled. */
export type Handlers<State, Message extends Tagged> = {
  readonly [T in Message['type']]: (
    state: State,
    message: Extract<Message, { readonly type: T }>,
    now: Instant,
  ) => Turn<State>;
};

/** What a restart is told about the crash before it. */
export interface Crash<Message extends Tagged = Tagged> {
  readonly reason: string;
  /** The type of the message in hand; null when the crash was not in a handler. */
  readonly inHand: string | null;
  /**
   * The message in hand where it will not be handled any more: dropped, set aside, or an answer to the incarnation that
   * crashed; null for a timer of its own, which a restart sets anew. Who waits for what it would have brought has to be told by the restart, as nobody else knows of it.
   */
  readonly lost: Message | null;
}

export interface Behaviour<Props, State, Message extends Tagged> {
  /** The first incarnation, or one after a passivation. */
  readonly start: (props: Props, now: Instant) => Turn<State>;
  /**
   * An incarnation after a crash. `held` is the state as the crashed one left it, perhaps in the middle of a change:
   * take from it only what must outlive an incarnation. Without it, `start` is called and all of it is forgotten.
   */
  readonly restart?: (props: Props, held: State, crash: Crash<Message>, now: Instant) => Turn<State>;
  readonly on: Handlers<State, Message>;
  /** Asked to stop: the turn that begins to drain. The actor goes on until it performs `finish` or its deadline passes. Without it the actor ends at once. */
  readonly drain?: (state: State, now: Instant) => Turn<State>;
}
