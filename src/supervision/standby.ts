/**
 * Who stands by: a line from whose middle anyone may step out, at no more cost than from its front.
 *
 * A plain set would do but for its front: taking the oldest of many again and again walks over all that have left.
 */
export interface Position<T> {
  readonly who: T;
  before: Position<T> | null;
  after: Position<T> | null;
}

export class Standby<T> {
  private oldest: Position<T> | null = null;
  private newest: Position<T> | null = null;
  size = 0;

  /** Stands behind all others. */
  join(who: T): Position<T> {
    const position: Position<T> = { who, before: this.newest, after: null };
    if (this.newest === null) this.oldest = position;
    else this.newest.after = position;
    this.newest = position;
    this.size += 1;
    return position;
  }

  /** A position is left once. */
  leave({ before, after }: Position<T>): void {
    if (before === null) this.oldest = after;
    else before.after = after;
    if (after === null) this.newest = before;
    else after.before = before;
    this.size -= 1;
  }

  /** Whoever has stood longest. */
  first(): T | null {
    return this.oldest?.who ?? null;
  }
}
