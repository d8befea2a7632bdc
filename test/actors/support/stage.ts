/**
 * A stage for one actor: its state, its alarms and its crashes, as runtime semantics have them, in scripted time.
 *
 * What it does to others and to the outside is kept in `out` until a test takes it. A crash comes at the worst moment:
 * after the handler decided (what it mutated is mutated), before any of its effects.
 */
import type { Behaviour, Instant, Tagged } from '../../../src/protocols/actor.js';
import type { Effect, Send } from '../../../src/protocols/effects.js';
import { WALL_AHEAD_MS } from './instants.js';

interface Alarm {
  readonly atMs: number;
  readonly message: Tagged;
}

export interface Told {
  readonly to: string;
  readonly message: Tagged & Readonly<Record<string, unknown>>;
}

export class Stage<Props, State, Message extends Tagged> {
  readonly alarms = new Map<string, Alarm>();
  out: Effect[] = [];
  incarnation = 1;
  /** The most effects that one message had. */
  effectsMost = 0;
  state: State;

  constructor(
    readonly behaviour: Behaviour<Props, State, Message>,
    readonly props: Props,
    public nowMs = 0,
    readonly draw: () => number = () => 0.5,
  ) {
    const [state, effects] = behaviour.start(props, this.instant());
    this.state = state;
    this.perform(effects);
  }

  instant(): Instant {
    return { monotonicMs: this.nowMs, wallMs: WALL_AHEAD_MS + this.nowMs, draw: this.draw };
  }

  tell(message: Message): void {
    const [state, effects] = this.decide(message);
    this.state = state;
    this.perform(effects);
  }

  /** Crashes with the message in hand, restarts, and gets it once more if it is one that is delivered again. */
  crashOn(message: Message, inHand: 'again' | 'drop'): void {
    this.decide(message);
    this.restart('an injected fault', message.type, inHand === 'drop' ? message : null);
    if (inHand === 'again') this.tell(message);
  }

  /** A crash in the restart after a crash: nothing of the first restart is performed. */
  crashTwiceOn(message: Message): void {
    this.decide(message);
    this.behaviour.restart?.(
      this.props,
      this.state,
      { reason: 'a fault', inHand: message.type, lost: null },
      this.instant(),
    );
    this.restart('a fault in restart', null, null);
    this.tell(message);
  }

  private restart(reason: string, inHand: string | null, lost: Message | null): void {
    this.alarms.clear();
    this.incarnation += 1;
    const { behaviour, props } = this;
    const [state, effects] =
      behaviour.restart === undefined
        ? behaviour.start(props, this.instant())
        : behaviour.restart(props, this.state, { reason, inHand, lost }, this.instant());
    this.state = state;
    this.perform(effects);
  }

  drain(): void {
    const turn = this.behaviour.drain?.(this.state, this.instant());
    if (turn === undefined) throw new Error('it does not drain');
    this.state = turn[0];
    this.perform(turn[1]);
  }

  /** Time passes; alarms ring in their order, each at its time. */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (let next = this.next(untilMs); next !== null; next = this.next(untilMs)) {
      const [key, { atMs, message }] = next;
      this.alarms.delete(key);
      this.nowMs = Math.max(this.nowMs, atMs);
      this.tell(message as Message);
    }
    this.nowMs = untilMs;
  }

  /** When the next alarm rings; null when none is set. */
  nextAlarmMs(): number | null {
    const times = [...this.alarms.values()].map(({ atMs }) => atMs);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** All that went out since it was last asked. */
  take(): Effect[] {
    const { out } = this;
    this.out = [];
    return out;
  }

  private next(untilMs: number): [string, Alarm] | null {
    let first: [string, Alarm] | null = null;
    for (const entry of this.alarms) {
      if (entry[1].atMs <= untilMs && (first === null || entry[1].atMs < first[1].atMs)) first = entry;
    }
    return first;
  }

  private decide(message: Message): readonly [State, readonly Effect[]] {
    const handle = this.behaviour.on[message.type as Message['type']] as unknown as (
      state: State,
      message: Message,
      now: Instant,
    ) => readonly [State, readonly Effect[]];
    return handle(this.state, message, this.instant());
  }

  private perform(effects: readonly Effect[]): void {
    this.effectsMost = Math.max(this.effectsMost, effects.length);
    for (const effect of effects) {
      if (effect.do === 'schedule')
        this.alarms.set(effect.key, { atMs: effect.atMonotonicMs, message: effect.message });
      else if (effect.do === 'cancel') this.alarms.delete(effect.key);
      else this.out.push(effect);
    }
  }
}

/** What was sent, with where to. */
export function told(effects: readonly Effect[]): Told[] {
  return effects
    .filter((effect): effect is Send => effect.do === 'send')
    .map(({ to, message }) => ({ to: to.path, message: message as Told['message'] }));
}

/** The effects of one kind. */
export function of<K extends Effect['do']>(effects: readonly Effect[], kind: K): Extract<Effect, { do: K }>[] {
  return effects.filter((effect): effect is Extract<Effect, { do: K }> => effect.do === kind);
}
