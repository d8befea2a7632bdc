/**
 * The only file that knows nact: five verbs of it, and the fence that makes it safe.
 *
 * nact gives each actor its place in a tree and its turn: one message an actor and a turn of the event loop, round
 * robin. Here its messages are mere wake-up tokens; the mailbox that counts is ours (`inbox.ts`). What of nact is left
 * out is left out with reason: `reset` and `escalate` can run two handlers of one actor at once, its stop does not
 * reach children, its timers overflow, and an error in `onCrash` or `afterStop` ends the process.
 *
 * Invariants: 1. a handler never throws, and should it, only `resume` reaches nact; 2. a parent of many children gets
 * no messages (each would copy the table of children); 3. a name carries the incarnation, so that an end and a spawn
 * in one breath never clash.
 */
import { dispatch, type Ref, spawn, start, stop } from 'nact';

/** Something with turns: the token that is sent is the thing itself, so that nothing is allocated to wake it. */
export interface Wakeable {
  turn(): void;
  /** A turn threw, which it must never do. */
  fenced(error: unknown): void;
}

/** A node in nact's tree. Opaque outside of this file. */
export type Place = Ref<Wakeable>;

interface CrashContext {
  readonly parent: unknown;
  readonly resume: symbol;
}

/** A constant sender, hidden third argument of dispatch: without it four objects are allocated for each message. */
const NOBODY = Object.freeze({ type: 'nobody', system: { name: undefined }, path: { parts: [] } });
const wakeWithSender = dispatch as unknown as (place: Place, token: Wakeable, sender: typeof NOBODY) => void;

/** Shared by all actors: no closure for each. */
const takeTurn = (_state: unknown, token: Wakeable): void => token.turn();
const FENCED = { onCrash: fence as never };

/** Starts a system of actors. Systems of one process must have different names. */
export function startSystem(name: string): Place {
  return start({ name } as never) as unknown as Place;
}

/** A place that only holds others. */
export function spawnPlace(parent: Place, name: string): Place {
  return spawn(parent as never, takeTurn as never, nactName(name), FENCED) as unknown as Place;
}

/** A place that takes turns. */
export function spawnIncarnation(parent: Place, name: string, incarnation: number): Place {
  return spawn(parent as never, takeTurn as never, `${nactName(name)}!${incarnation}`, FENCED) as unknown as Place;
}

/** Gives the token one turn, in a later turn of the event loop. A place that has ended stays silent. */
export function wake(place: Place, token: Wakeable): void {
  wakeWithSender(place, token, NOBODY);
}

/** Ends one place. Those below it must have been ended before: nact would leave them running. */
export function endPlace(place: Place): void {
  stop(place as never);
}

/**
 * A name that nact accepts. Letters and digits and `-$_.+*'()` stand for themselves, every other UTF-16 unit becomes a
 * comma and four hex digits; `!` and the comma are among those, so that no two names meet.
 */
export function nactName(name: string): string {
  return name.replace(/[^a-zA-Z0-9\-$_.+*'()]/g, (unit) => `,${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Last line: a throw here, or any answer but `resume`, can end the process or stop the actor for ever. */
function fence(token: Wakeable | undefined, error: unknown, context: CrashContext): symbol {
  if (!context.parent) return context.resume;
  try {
    token?.fenced(error);
  } catch {
    // Reporting failed too. Nothing is left that could be told of it, and the actor must go on.
  }
  return context.resume;
}
