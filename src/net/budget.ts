/**
 * One budget of bytes for all bodies that are held: those still coming, and those that came and wait to be released.
 *
 * Over the budget, bodies are paused at their sockets until releases make room. Memory is bounded; nothing is lost.
 *
 * 1. Held bytes are exactly: received by unfinished bodies + received by finished ones and not yet released.
 * 2. Something always moves: where no finished body waits for its release, one unfinished body flows on even over the
 *    budget. Without that, many half-read bodies could fill the budget and wait for each other for ever.
 * 3. So held bytes exceed the budget by one body and one read per open socket at most.
 */
export interface Flow {
  pause(): void;
  resume(): void;
}

export class BodyBudget {
  readonly #bytesMax: number;
  /** Unfinished bodies that hold bytes, with how many; oldest first. */
  readonly #flowing = new Map<Flow, number>();
  readonly #paused = new Map<Flow, number>();
  #bytesFlowing = 0;
  #bytesFinished = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytesHeld(): number {
    return this.#bytesFlowing + this.#bytesFinished;
  }

  /** Counts what came for an unfinished body, and pauses it where that is too much. */
  take(flow: Flow, bytes: number): void {
    this.#bytesFlowing += bytes;
    const held = (this.#flowing.get(flow) ?? 0) + bytes;
    this.#flowing.set(flow, held);
    if (this.bytesHeld <= this.#bytesMax || this.#isLastToMove()) return;
    this.#flowing.delete(flow);
    this.#paused.set(flow, held);
    flow.pause();
  }

  /** The body is whole: its bytes stay counted until they are released. */
  finish(flow: Flow): void {
    this.#bytesFinished += this.#remove(flow);
    this.#resumeWhereRoom();
  }

  /** The body failed and its bytes are gone. */
  drop(flow: Flow): void {
    this.#remove(flow);
    this.#resumeWhereRoom();
  }

  release(bytes: number): void {
    this.#bytesFinished = Math.max(0, this.#bytesFinished - bytes);
    this.#resumeWhereRoom();
  }

  #isLastToMove(): boolean {
    return this.#bytesFinished === 0 && this.#flowing.size === 1;
  }

  #resumeWhereRoom(): void {
    for (const [flow, held] of this.#paused) {
      const stuck = this.#bytesFinished === 0 && this.#flowing.size === 0;
      if (this.bytesHeld > this.#bytesMax && !stuck) return;
      this.#paused.delete(flow);
      this.#flowing.set(flow, held);
      flow.resume();
    }
  }

  #remove(flow: Flow): number {
    const bytes = this.#flowing.get(flow) ?? this.#paused.get(flow) ?? 0;
    this.#flowing.delete(flow);
    this.#paused.delete(flow);
    this.#bytesFlowing -= bytes;
    return bytes;
  }
}
