/**
 * Actors on demand: born of the first message to them, spread over shards, gone when they passivate.
 *
 * The table of cells is the directory: who is in it is alive or will be again, who is not is made anew by the next
 * message. A shard is only a place in nact's tree, made when its first child comes. Each child crashes for itself,
 * within a budget of its own; one that is over it is set aside, its address cools down and then starts afresh, so that
 * one poisonous child never takes the others with it.
 *
 * Only so many are to be live at once. A child that does nothing but rest says so by its alarm for the end of the rest;
 * when others need the room, the alarms of those that have rested longest ring early. Nobody else is disturbed: while all
 * have work, more are live than there is room for.
 *
 * Invariants: 1. a name has one shard, and a path that names another is refused; 2. a cell leaves the directory in the
 * turn in which it ends, so that a message sent next finds its successor; 3. while the group stops, nobody new is born.
 */
import { Budget, backOffMs } from './budget.js';
import { Cell, type Tally } from './cell.js';
import type { SetAside } from '../protocols/effects.js';
import type { DeathOfLetter } from './counts.js';
import { Sealed } from './inbox.js';
import { endPlace, type Place, spawnPlace } from './nact.js';
import type { Fate, Node, Runtime, Supervisor } from './runtime.js';
import { type OnDemandSpec, shardName } from './specification.js';
import { type Position, Standby } from './standby.js';

export class OnDemand implements Node, Supervisor<Cell> {
  readonly tally: Tally = { turns: 0, messages: 0, restarts: 0 };
  private readonly cells = new Set<Cell>();
  private readonly shards: (Place | undefined)[];
  private readonly resting = new Standby<Cell>();
  private readonly restingAt = new Map<Cell, Position<Cell>>();
  /** Those whose rest was ended for the sake of others, and who have not yet been asked what they do now. */
  private readonly disturbed = new Set<Cell>();
  /** Of those that have crashed. */
  private readonly budgets = new Map<Cell, Budget>();
  /** Paths that are cooling down. */
  private readonly cooling = new Set<string>();
  private phase: 'down' | 'running' | 'stopping' | 'ended' = 'down';

  constructor(
    readonly path: string,
    readonly spec: OnDemandSpec,
    private readonly place: Place,
    /** The kernel's table of cells by path. */
    private readonly table: Map<string, Cell>,
    private readonly runtime: Runtime,
  ) {
    this.shards = new Array<Place | undefined>(spec.shards).fill(undefined);
  }

  get live(): number {
    return this.cells.size;
  }

  get waiting(): number {
    let sum = 0;
    for (const cell of this.cells) sum += cell.inbox.length;
    return sum;
  }

  /** The cell that a message to an unknown path makes, or why none is made. `below` is the path without the group's. */
  activate(path: string, below: string): Cell | DeathOfLetter {
    if (this.phase === 'stopping' || this.phase === 'ended') return 'stopping';
    if (this.cooling.has(path)) return 'cooling';
    const slash = below.indexOf('/');
    const name = below.slice(slash + 1);
    if (slash < 0 || name === '' || name.includes('/')) return 'no_such_actor';
    if (below.slice(0, slash) !== shardName(this.spec.shardOf(name))) return 'wrong_shard';
    const cell = new Cell(path, name, this.spec, this.spec.props(name), this, this.tally, this.runtime);
    this.cells.add(cell);
    this.table.set(path, cell);
    this.makeRoom();
    if (this.phase === 'running') cell.begin();
    return cell;
  }

  /** Whoever rests longest goes first. */
  private makeRoom(): void {
    while (this.cells.size - this.disturbed.size > this.spec.liveMax) {
      const cell = this.resting.first();
      if (cell === null) return;
      this.standUp(cell);
      this.disturbed.add(cell);
      cell.disturb();
    }
  }

  private standUp(cell: Cell): void {
    const position = this.restingAt.get(cell);
    if (position === undefined) return;
    this.restingAt.delete(cell);
    this.resting.leave(position);
  }

  childRests(child: Cell, rests: boolean): void {
    this.disturbed.delete(child);
    this.standUp(child);
    if (rests) this.restingAt.set(child, this.resting.join(child));
  }

  placeFor(child: Cell): Place {
    const shard = this.spec.shardOf(child.name);
    const place = this.shards[shard] ?? spawnPlace(this.place, shardName(shard));
    this.shards[shard] = place;
    return place;
  }

  childEnded(child: Cell): void {
    this.cells.delete(child);
    this.budgets.delete(child);
    if (this.table.get(child.path) === child) this.table.delete(child.path);
  }

  childCrashed(child: Cell, reason: string): void {
    const budget = this.budgets.get(child) ?? new Budget(this.spec.budget);
    this.budgets.set(child, budget);
    const nth = budget.spend(this.runtime.ports.clock.monotonicMs());
    if (nth === null) return this.setAside(child, reason);
    child.expect();
    this.runtime.timers.after(backOffMs(this.spec.backoff, nth), () => {
      if (this.phase === 'running' || this.phase === 'stopping') child.begin();
    });
  }

  private setAside(child: Cell, reason: string): void {
    const { coolingMs, budget } = this.spec;
    const { path: actor } = child;
    this.runtime.note('error', 'actor_set_aside', { actor, reason, coolingMs, ...budget });
    this.cooling.add(actor);
    this.runtime.timers.after(coolingMs, () => this.cooling.delete(actor));
    child.end('set_aside');
    const notice: SetAside = { type: 'setAside', name: child.name, coolingMs };
    for (const { path } of this.spec.tell) this.runtime.postSealed(path, new Sealed(notice, null));
  }

  // -- as a child of its group ------------------------------------------------------------------------------------

  expect(): void {
    // Its children wait for `begin`.
  }

  begin(): void {
    if (this.phase !== 'down') return;
    this.phase = 'running';
    for (const cell of this.cells) cell.begin();
  }

  halt(): void {
    if (this.phase !== 'running' && this.phase !== 'stopping') return;
    this.phase = 'down';
    for (const cell of this.cells) cell.halt();
  }

  /** All at once: they are equals, and one deadline is for all. */
  async stop(fate: Fate): Promise<void> {
    if (this.phase === 'ended') return;
    this.phase = 'stopping';
    await Promise.all([...this.cells].map((cell) => cell.stop(fate)));
    if (this.phase === 'stopping') this.become(fate);
  }

  cut(fate: Fate): void {
    if (this.phase === 'ended') return;
    for (const cell of [...this.cells]) cell.cut(fate);
    this.become(fate);
  }

  /** As if the process had died. */
  vanish(): void {
    this.phase = 'ended';
  }

  private become(fate: Fate): void {
    this.phase = fate === 'end' ? 'ended' : 'down';
    if (fate === 'sleep') return;
    for (const shard of this.shards) if (shard !== undefined) endPlace(shard);
    this.shards.fill(undefined);
    endPlace(this.place);
  }
}
