/**
 * The workbench against a model that sees only what is told to it and what it tells: hosts and fetchers that say
 * anything in any order (twice, late, for permits of long ago), crash, and fall silent. Whatever they say, a host has
 * one request at most (P1), none before the end of the last + its delay (P2), and no slot is given twice or lost.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERMIT_LIFE_MS, type Props, VISIT_LOST_MS, workbench } from '../../src/actors/workbench.js';
import type { PriorityClass } from '../../src/domain/record.js';
import { VERDICT_MISSING_CLOSED_MS } from '../../src/policy/gate.js';
import type { Message, Permit } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { Stage, told } from './support/stage.js';

const HOSTS = ['a', 'b', 'c', 'd', 'e'];
const REQUEST_MS_MAX = 20_000;
/** A request of which nothing more is heard counts as over by then. */
const IN_FLIGHT_MS_MAX = PERMIT_LIFE_MS + REQUEST_MS_MAX;

const PROPS: Props = {
  tiers: { 1: { slots: 3, requestMsMax: REQUEST_MS_MAX } },
  openVisitsMax: 4,
  openBytesMax: 1_000_000,
  addressDelayMs: 0,
  egress: null,
  backend: null,
  retryBudget: null,
  resumed: false,
  rules: ANY_RULES,
};

interface Given {
  readonly permit: Permit;
  readonly atMs: number;
  /** Null while the fetcher has it. */
  over: 'ended' | 'returned' | null;
  /** Its visit is neither recorded nor given up. */
  isOpen: boolean;
}

interface HostModel {
  /** The newest of its permits that was not returned. */
  last: Given | null;
  /** Until when it must be left alone, by what was said of that. */
  closedUntilMs: number;
  /** What was said of it before it had ended; NaN: it has ended, and nothing was said. */
  saidMs: number | null;
}

class Model {
  readonly given = new Map<number, Given>();
  readonly hosts = new Map<string, HostModel>();
  readonly asking = new Set<string>();

  hostOf(host: string): HostModel {
    const known = this.hosts.get(host) ?? { last: null, closedUntilMs: 0, saidMs: null };
    this.hosts.set(host, known);
    return known;
  }
}

class Real {
  readonly stage = new Stage(workbench, PROPS, 0, drawsFrom(11));

  tell(model: Model, message: Message, crashes: boolean): void {
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
    this.look(model);
  }

  /** What went out since the last look. */
  look(model: Model): void {
    for (const { to, message } of told(this.stage.take())) {
      if (message.type === 'visitLost') lose(model, message['permit'] as number, this.stage.nowMs);
      if (message.type !== 'granted') continue;
      const permit = message['permit'] as Permit;
      expect(to.endsWith(`/${permit.host}`)).toBe(true);
      grant(model, permit, this.stage.nowMs);
    }
  }
}

function grant(model: Model, permit: Permit, nowMs: number): void {
  expect(model.asking.delete(permit.host), `${permit.host} had not asked`).toBe(true);
  expect(model.given.has(permit.number), 'a number comes once').toBe(false);
  expect(permit.fetcher).toBeGreaterThanOrEqual(0);
  expect(permit.fetcher).toBeLessThan(PROPS.tiers[1].slots);
  const out = [...model.given.values()].filter(({ over }) => over === null);
  // P1: who fell silent is in flight until its deadline. It has its slot until it is told to be lost.
  for (const other of out) {
    expect(other.permit.fetcher, 'a slot is given twice').not.toBe(permit.fetcher);
    if (nowMs < other.permit.deadlineMs) expect(other.permit.host, 'two requests of one host').not.toBe(permit.host);
  }
  expect([...model.given.values()].filter(({ isOpen }) => isOpen).length).toBeLessThan(PROPS.openVisitsMax);
  const host = model.hostOf(permit.host);
  expect(nowMs, `${permit.host} is asked too early`).toBeGreaterThanOrEqual(host.closedUntilMs);
  host.last = { permit, atMs: nowMs, over: null, isOpen: true };
  host.saidMs = null;
  model.given.set(permit.number, host.last);
}

/** A request that is over after its deadline counts as over since then. */
function end(model: Model, given: Given, nowMs: number): void {
  if (given.over !== null) return;
  given.over = 'ended';
  const host = model.hostOf(given.permit.host);
  if (host.last !== given) return;
  const endedAtMs = Math.min(nowMs, given.permit.deadlineMs);
  host.closedUntilMs = endedAtMs + (host.saidMs ?? VERDICT_MISSING_CLOSED_MS);
  host.saidMs ??= Number.NaN;
}

function lose(model: Model, permit: number, nowMs: number): void {
  const given = model.given.get(permit) as Given;
  expect(given.isOpen, 'lost twice').toBe(true);
  expect(nowMs - given.atMs).toBeGreaterThan(given.over === null ? IN_FLIGHT_MS_MAX : VISIT_LOST_MS);
  given.isOpen = false;
  end(model, given, nowMs);
}

type Command = fc.Command<Model, Real>;

class Asks implements Command {
  constructor(
    readonly host: string,
    readonly priority: PriorityClass,
    readonly crashes: boolean,
  ) {}
  check = () => true;
  run(model: Model, real: Real) {
    model.asking.add(this.host);
    const address = { address: '192.0.2.1', family: 4 } as const;
    const ask = {
      host: this.host,
      address,
      addressClock: null,
      delivery: 'first' as const,
      tier: 1 as const,
      priority: this.priority,
      delayMs: 1_000,
    };
    real.tell(model, { type: 'settle', network: null, host: this.host, verdict: null, ask }, this.crashes);
  }
  toString = () => `${this.host} asks${this.crashes ? ', crash' : ''}`;
}

/** Of the newest permits, so many back: most are out, some are long over. */
class OfPermit {
  constructor(
    readonly back: number,
    readonly crashes: boolean,
  ) {}
  check = (model: Readonly<Model>) => model.given.size > this.back;
  of(model: Model): Given {
    return [...model.given.values()][model.given.size - 1 - this.back] as Given;
  }
}

class Ends extends OfPermit implements Command {
  run(model: Model, real: Real) {
    const given = this.of(model);
    if (given.over === 'returned') return;
    end(model, given, real.stage.nowMs);
    const { number: permit, host, fetcher: slot } = given.permit;
    real.tell(model, { type: 'ended', permit, host, tier: 1, slot, bytes: 0, backend: null }, this.crashes);
  }
  override toString = () => `ends(-${this.back})${this.crashes ? ', crash' : ''}`;
}

class Returns extends OfPermit implements Command {
  run(model: Model, real: Real) {
    const given = this.of(model);
    const { number: permit, host } = given.permit;
    // What was begun can't be given back any more: then it says nothing.
    if (given.over === null) Object.assign(given, { over: 'returned', isOpen: false });
    real.tell(model, { type: 'returned', permit, host }, this.crashes);
  }
  override toString = () => `returns(-${this.back})${this.crashes ? ', crash' : ''}`;
}

class Judges extends OfPermit implements Command {
  constructor(
    back: number,
    crashes: boolean,
    readonly closedForMs: number,
  ) {
    super(back, crashes);
  }
  run(model: Model, real: Real) {
    const given = this.of(model);
    this.hear(model, given, real.stage.nowMs);
    const verdict = { permit: given.permit.number, closedForMs: this.closedForMs };
    real.tell(model, { type: 'settle', network: null, host: given.permit.host, verdict, ask: null }, this.crashes);
  }
  private hear(model: Model, given: Given, nowMs: number): void {
    const host = model.hostOf(given.permit.host);
    if (host.last !== given) return;
    if (given.over === null) host.saidMs = Math.max(host.saidMs ?? 0, this.closedForMs);
    if (given.over !== 'ended') return;
    const endedAtMs = host.closedUntilMs - (Number.isNaN(host.saidMs) ? VERDICT_MISSING_CLOSED_MS : 0);
    // The first word says it, if it comes in time; later ones only raise, while it is closed.
    if (Number.isNaN(host.saidMs)) Object.assign(host, { closedUntilMs: endedAtMs + this.closedForMs, saidMs: 0 });
    else if (nowMs < host.closedUntilMs) host.saidMs = 0;
  }
  override toString = () => `judges(-${this.back}, ${this.closedForMs})${this.crashes ? ', crash' : ''}`;
}

class Closes extends OfPermit implements Command {
  run(model: Model, real: Real) {
    const given = this.of(model);
    // A request that is under way keeps its place.
    if (given.over === 'ended') given.isOpen = false;
    real.tell(model, { type: 'closed', visits: [given.permit.number] }, this.crashes);
  }
  override toString = () => `closes(-${this.back})${this.crashes ? ', crash' : ''}`;
}

class HostEnds implements Command {
  constructor(
    readonly host: string,
    readonly how: 'hostRestarted' | 'setAside',
  ) {}
  check = () => true;
  run(model: Model, real: Real) {
    const { host } = this;
    model.asking.delete(host);
    for (const given of model.given.values())
      if (given.permit.host === host && given.over === 'ended') given.isOpen = false;
    const message: Message =
      this.how === 'setAside' ? { type: 'setAside', name: host, coolingMs: 60_000 } : { type: 'hostRestarted', host };
    real.tell(model, message, false);
  }
  toString = () => `${this.host} ${this.how}`;
}

class Holds implements Command {
  constructor(readonly forMs: number) {}
  check = () => true;
  run(model: Model, real: Real) {
    real.tell(model, { type: 'hold', why: 'a test' }, false);
    const before = model.given.size;
    new Passes(this.forMs).run(model, real);
    expect(model.given.size, 'granted while held').toBe(before);
    real.tell(model, { type: 'release', why: 'a test' }, false);
  }
  toString = () => `holds for ${this.forMs}`;
}

class Passes implements Command {
  constructor(readonly ms: number) {}
  check = () => true;
  run(model: Model, real: Real) {
    // In steps no longer than to the next alarm: what it brings is judged at its time.
    const untilMs = real.stage.nowMs + this.ms;
    while (real.stage.nowMs < untilMs) {
      const nextMs = Math.min(untilMs, Math.max(real.stage.nowMs + 1, real.stage.nextAlarmMs() ?? untilMs));
      real.stage.pass(nextMs - real.stage.nowMs);
      real.look(model);
    }
  }
  toString = () => `passes(${this.ms})`;
}

/** Everybody says what is owed; then whoever asks is granted, and all slots are there at once. */
function finish(model: Model, real: Real): void {
  const settleAll = () => {
    for (const index of model.given.size === 0 ? [] : Array.from(model.given.keys(), (_, at) => at)) {
      new Ends(index, false).run(model, real);
      new Closes(index, false).run(model, real);
    }
  };
  for (let round = 0; round < 4; round++) {
    settleAll();
    new Passes(70_000).run(model, real);
  }
  for (const host of HOSTS) new Asks(host, 2, false).run(model, real);
  const out = [...model.given.values()].filter(({ over }) => over === null);
  expect(new Set(out.map(({ permit }) => permit.fetcher)).size, 'slots that are there').toBe(PROPS.tiers[1].slots);
  for (let round = 0; round < 4; round++) {
    settleAll();
    new Passes(70_000).run(model, real);
  }
  expect([...model.asking], 'never granted').toEqual([]);
}

describe('P1, P2 the workbench, whatever it is told', () => {
  it('gives a host one permit at a time, at its time; no slot twice, none lost', () => {
    const host = fc.constantFrom(...HOSTS);
    // The newest one most often.
    const back = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) });
    const crashes = fc.nat(5).map((n) => n === 0);
    const commands = fc.commands<Model, Real>(
      [
        fc.tuple(host, fc.nat(7), crashes).map(([name, it, crash]) => new Asks(name, it as PriorityClass, crash)),
        fc.tuple(host, fc.nat(7), crashes).map(([name, it, crash]) => new Asks(name, it as PriorityClass, crash)),
        fc.tuple(back, crashes).map(([it, crash]) => new Ends(it, crash)),
        fc.tuple(back, crashes).map(([it, crash]) => new Returns(it, crash)),
        fc.tuple(back, crashes, fc.constantFrom(0, 4_000, 30_000)).map(([it, crash, ms]) => new Judges(it, crash, ms)),
        fc.tuple(back, crashes).map(([it, crash]) => new Closes(it, crash)),
        fc
          .tuple(host, fc.constantFrom('hostRestarted' as const, 'setAside' as const))
          .map(([name, how]) => new HostEnds(name, how)),
        fc.constantFrom(1, 6_000).map((ms) => new Holds(ms)),
        fc.oneof(fc.nat(3_000), fc.constantFrom(999, 1_000, 5_000, 61_000)).map((ms) => new Passes(ms)),
      ],
      { maxCommands: 80, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (steps) => {
        const [model, real] = [new Model(), new Real()];
        fc.modelRun(() => ({ model, real }), steps);
        finish(model, real);
      }),
      { numRuns: 500 },
    );
  });
});
