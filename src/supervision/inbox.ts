/**
 * What waits for an actor: a ring of letters that grows, and shrinks to nothing when it is empty.
 *
 * A letter is a plain message, or a sealed one: an answer, a timer or a notice from the kernel. Sealed letters may be
 * bound to one incarnation, and are never touched by overflow rules, for each is awaited by the actor it goes to.
 *
 * Invariants: 1. letters leave in the order in which they came, but for `unshift`; 2. `slots.length` is a power of two
 * or zero; 3. a slot without a letter holds `undefined`, so that nothing is retained.
 */
import type { Tagged } from '../protocols/actor.js';

export class Sealed {
  constructor(
    readonly message: Tagged,
    /** Null: for whatever incarnation takes it. */
    readonly incarnation: number | null,
  ) {}
}

export type Letter = Tagged | Sealed;

export function messageIn(letter: Letter): Tagged {
  return letter instanceof Sealed ? letter.message : letter;
}

const SLOTS_FIRST = 4;
/** An empty ring of more slots than this is given back. */
const SLOTS_KEPT_MAX = 64;

export class Inbox {
  private slots: (Letter | undefined)[] = [];
  private head = 0;
  length = 0;

  push(letter: Letter): void {
    if (this.length === this.slots.length) this.grow();
    this.slots[(this.head + this.length) & (this.slots.length - 1)] = letter;
    this.length += 1;
  }

  unshift(letter: Letter): void {
    if (this.length === this.slots.length) this.grow();
    this.head = (this.head - 1) & (this.slots.length - 1);
    this.slots[this.head] = letter;
    this.length += 1;
  }

  shift(): Letter | undefined {
    if (this.length === 0) return undefined;
    const letter = this.slots[this.head];
    this.slots[this.head] = undefined;
    this.head = (this.head + 1) & (this.slots.length - 1);
    this.length -= 1;
    if (this.length === 0 && this.slots.length > SLOTS_KEPT_MAX) this.clear();
    return letter;
  }

  /** Takes out the oldest plain message; undefined where only sealed letters wait. */
  takeOldestPlain(): Tagged | undefined {
    const mask = this.slots.length - 1;
    for (let i = 0; i < this.length; i++) {
      const letter = this.slots[(this.head + i) & mask] as Letter;
      if (letter instanceof Sealed) continue;
      // Those before it move up by one, the head with them: order is kept.
      for (let j = i; j > 0; j--) this.slots[(this.head + j) & mask] = this.slots[(this.head + j - 1) & mask];
      this.shift();
      return letter;
    }
    return undefined;
  }

  private grow(): void {
    const { slots, head, length } = this;
    const grown: (Letter | undefined)[] = new Array(Math.max(SLOTS_FIRST, slots.length * 2)).fill(undefined);
    for (let i = 0; i < length; i++) grown[i] = slots[(head + i) & (slots.length - 1)];
    this.slots = grown;
    this.head = 0;
  }

  private clear(): void {
    this.slots = [];
    this.head = 0;
  }
}
