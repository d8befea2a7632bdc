/**
 * The vocabulary of the supervision tree: what may stand in it, as data.
 *
 * A tree is written once, top-down, and read like a picture. The order of a group's children is dependency: a child
 * may lean on those above it. Children start first to last and stop last to first. Every child says why it stands
 * there and how long it may take to stop; every group says what a crash takes with it, and how many crashes are too
 * many. Nothing here runs; `kernel.ts` gives it life and `picture.ts` draws it.
 *
 * Invariants: 1. names are unique within a group and hold no slash; 2. every bound and deadline is a positive number;
 * both are asserted when the tree is built, so that a wrong tree never starts.
 */
import type { Behaviour, Crash, Instant, Ref, Tagged, Turn } from '../protocols/actor.js';
import type { Pressure, SetAside } from '../protocols/effects.js';

/** What a crash of one child takes with it: itself; all of the group; itself and those declared after it. */
export type Strategy = 'one-for-one' | 'one-for-all' | 'rest-for-one';

/** So many restarts within so long are borne; one more is a failure of the group. */
export interface RestartBudget {
  readonly restarts: number;
  readonly withinMs: number;
}

/** The k-th restart within the budget's window waits `firstMs` × 2^(k-1), at most `maxMs`. */
export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How many messages may wait, and what gives way beyond that. `refuse`: the new one becomes a dead letter.
 * `drop-oldest`: the oldest does. `give-way`: none does; whoever sends too much is told `pressed`, and `relieved` when
 * less than half of the bound is left. Answers, timers and notices are never refused or dropped.
 */
export type InboxRule =
  | { readonly bound: number; readonly overflow: 'refuse' | 'drop-oldest' }
  | { readonly bound: number; readonly overflow: 'give-way'; readonly tell: Ref<Pressure> };

/** What becomes of the message in whose handling an actor crashed. `deliver-again`: once more, in front of the rest. */
export type InHandRule = 'deliver-again' | 'drop';

/** A behaviour whose types are forgotten: only the tree's constructors make one, from a typed behaviour and its props. */
export interface ErasedBehaviour {
  readonly start: (props: unknown, now: Instant) => Turn<unknown>;
  readonly restart?: (props: unknown, held: unknown, crash: Crash, now: Instant) => Turn<unknown>;
  readonly on: Readonly<Record<string, ((state: unknown, message: Tagged, now: Instant) => Turn<unknown>) | undefined>>;
  readonly drain?: (state: unknown, now: Instant) => Turn<unknown>;
}

export interface ActorSpec {
  readonly kind: 'actor';
  readonly name: string;
  readonly why: string;
  readonly behaviour: ErasedBehaviour;
  readonly props: unknown;
  readonly inbox: InboxRule;
  readonly inHand: InHandRule;
  readonly stopWithinMs: number;
}

export interface GroupSpec {
  readonly kind: 'group';
  readonly name: string;
  readonly why: string;
  readonly strategy: Strategy;
  readonly budget: RestartBudget;
  readonly backoff: BackOff;
  /** For all of the group; children that have not stopped by then are ended. */
  readonly stopWithinMs: number;
  /** `reverse`: one by one, last child first. `together`: all at once, for children that are equals. */
  readonly stopOrder: 'reverse' | 'together';
  readonly children: readonly NodeSpec[];
}

export interface OnDemandSpec {
  readonly kind: 'onDemand';
  readonly name: string;
  readonly why: string;
  readonly shards: number;
  /** Beyond so many live children those that have rested longest are asked to go before their time. */
  readonly liveMax: number;
  /** From 0 to `shards` - 1. The same name always has the same shard: else one name could have two actors. */
  readonly shardOf: (childName: string) => number;
  readonly behaviour: ErasedBehaviour;
  readonly props: (childName: string) => unknown;
  readonly inbox: InboxRule;
  readonly inHand: InHandRule;
  /** Of each child by itself. */
  readonly budget: RestartBudget;
  readonly backoff: BackOff;
  /** A child over its budget is stopped, what waits for it becomes dead letters, and its address refuses for `coolingMs`. */
  readonly overBudget: 'set-aside';
  /** Who is told of it. */
  readonly tell: readonly Ref<SetAside>[];
  readonly coolingMs: number;
  readonly stopWithinMs: number;
}

export type NodeSpec = ActorSpec | GroupSpec | OnDemandSpec;

// -- constructors -----------------------------------------------------------------------------------------------

type TypedActor<Props, State, Message extends Tagged> = Omit<ActorSpec, 'kind' | 'name' | 'behaviour' | 'props'> & {
  readonly behaviour: Behaviour<Props, State, Message>;
  readonly props: NoInfer<Props>;
};

/** One actor that lives as long as its group. */
export function actor<Props, State, Message extends Tagged>(
  name: string,
  options: TypedActor<Props, State, Message>,
): ActorSpec {
  return sound({ kind: 'actor', name, ...options, behaviour: erase(options.behaviour) });
}

type GroupOptions = Omit<GroupSpec, 'kind' | 'name' | 'children' | 'stopOrder'>;

export function group(name: string, options: GroupOptions, children: readonly NodeSpec[]): GroupSpec {
  return sound({ kind: 'group', name, stopOrder: 'reverse', ...options, children });
}

type PoolOptions<Props, State, Message extends Tagged> = Omit<TypedActor<Props, State, Message>, 'props'> &
  Pick<GroupSpec, 'budget' | 'backoff'> & {
    readonly props: (index: number) => NoInfer<Props>;
    /** What one of them is called. Default: as the pool. */
    readonly each?: string;
  };

/** A group of equals, `NAME/EACH-0` and so on, that share a specification and crash each for itself. */
export function pool<Props, State, Message extends Tagged>(
  name: string,
  count: number,
  options: PoolOptions<Props, State, Message>,
): GroupSpec {
  const { budget, backoff, why, props, each = name, ...shared } = options;
  const children = Array.from({ length: count }, (_, index) =>
    actor(`${each}-${index}`, { ...shared, why: `number ${index} of ${count}`, props: props(index) }),
  );
  const { stopWithinMs } = options;
  return sound({
    kind: 'group',
    name,
    why,
    strategy: 'one-for-one',
    budget,
    backoff,
    stopWithinMs,
    stopOrder: 'together',
    children,
  });
}

type TypedOnDemand<Props, State, Message extends Tagged> = Omit<
  OnDemandSpec,
  'kind' | 'name' | 'behaviour' | 'props' | 'coolingMs' | 'tell'
> & {
  readonly behaviour: Behaviour<Props, State, Message>;
  readonly props: (childName: string) => NoInfer<Props>;
  /** Default 60 s. */
  readonly coolingMs?: number;
  /** Default: nobody. */
  readonly tell?: OnDemandSpec['tell'];
};

/** Actors that the first message to them brings to life, at `NAME/pSSS/CHILD`, and that may passivate. */
export function onDemand<Props, State, Message extends Tagged>(
  name: string,
  options: TypedOnDemand<Props, State, Message>,
): OnDemandSpec {
  return sound({
    kind: 'onDemand',
    name,
    coolingMs: 60_000,
    tell: [],
    ...options,
    behaviour: erase(options.behaviour),
  });
}

/** The name of a shard of an on-demand group: `p` and at least three digits. */
export function shardName(shard: number): string {
  return `p${String(shard).padStart(3, '0')}`;
}

/** Paths are names joined by slashes; the root group (path '') is not named. */
export function childPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}

function erase<Props, State, Message extends Tagged>(behaviour: Behaviour<Props, State, Message>): ErasedBehaviour {
  // The one place where types are forgotten; the constructors above have checked that props and behaviour agree.
  return behaviour as unknown as ErasedBehaviour;
}

// -- what makes a specification sound ---------------------------------------------------------------------------

function sound<Spec extends NodeSpec>(spec: Spec): Spec {
  demand(spec.name !== '' && !spec.name.includes('/'), spec, 'a name is not empty and holds no slash');
  demand(spec.why.trim() !== '', spec, 'says why it is there');
  demand(spec.stopWithinMs > 0, spec, 'has a stop deadline');
  if (spec.kind !== 'group') demand(spec.inbox.bound >= 1, spec, 'has an inbox for at least one message');
  if (spec.kind !== 'actor') soundBudget(spec);
  if (spec.kind === 'onDemand') {
    demand(Number.isInteger(spec.shards) && spec.shards >= 1, spec, 'has at least one shard');
    demand(spec.liveMax >= 1, spec, 'has room for at least one child');
  }
  if (spec.kind === 'group') {
    const names = new Set(spec.children.map((child) => child.name));
    demand(names.size === spec.children.length, spec, 'has children of different names');
  }
  return spec;
}

function soundBudget(spec: GroupSpec | OnDemandSpec): void {
  demand(spec.budget.restarts >= 0 && spec.budget.withinMs > 0, spec, 'has a restart budget');
  demand(spec.backoff.firstMs >= 0 && spec.backoff.maxMs >= spec.backoff.firstMs, spec, 'has a back-off that grows');
}

function demand(holds: boolean, spec: NodeSpec, what: string): asserts holds {
  if (!holds) throw new TypeError(`supervision tree: ${spec.kind} '${spec.name}' must be one that ${what}`);
}
