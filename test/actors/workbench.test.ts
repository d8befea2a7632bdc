import { ANY_RULES } from './support/records.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERMIT_LIFE_MS, type Props, VISIT_LOST_MS, workbench } from '../../src/actors/workbench.js';
import type { PriorityClass } from '../../src/domain/record.js';
import { VERDICT_MISSING_CLOSED_MS, VERDICT_WAIT_MS } from '../../src/policy/gate.js';
import type { Effect } from '../../src/protocols/effects.js';
import type { Message, Permit, Settle } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { of, Stage, told } from './support/stage.js';

const PROPS: Props = {
  tiers: { 1: { slots: 2, requestMsMax: 20_000 } },
  openVisitsMax: 4,
  openBytesMax: 1_000,
  addressDelayMs: 0,
  resumed: false,
  rules: ANY_RULES,
  egress: null,
  backend: null,
  retryBudget: null,
};

const plain = (slots: number) => ({ 1: { slots, requestMsMax: 20_000 } });
const staged = (props: Partial<Props> = {}, nowMs = 0) =>
  new Stage(workbench, { ...PROPS, ...props }, nowMs, drawsFrom(1));
type Bench = ReturnType<typeof staged>;

const ask = (host: string, changes: Partial<NonNullable<Settle['ask']>> = {}): Message => ({
  type: 'settle',
  host,
  verdict: null,
  network: null,
  ask: {
    host,
    address: { address: '192.0.2.1', family: 4 },
    addressClock: null,
    delivery: 'first',
    tier: 1,
    priority: 2,
    delayMs: 1_000,
    ...changes,
  },
});
const verdict = (host: string, permit: number, closedForMs: number): Message => ({
  type: 'settle',
  host,
  verdict: { permit, closedForMs },
  network: null,
  ask: null,
});
const ended = (permit: Permit, bytes = 0): Message => ({
  type: 'ended',
  permit: permit.number,
  host: permit.host,
  slot: permit.fetcher,
  bytes,
  tier: 1,
  backend: null,
});

function granted(effects: readonly Effect[]): Permit[] {
  return told(effects).flatMap(({ message }) => (message.type === 'granted' ? [message['permit'] as Permit] : []));
}
const hostsGranted = (stage: Bench) => granted(stage.take()).map(({ host }) => host);
function onlyGrant(stage: Bench): Permit {
  const permits = granted(stage.take());
  expect(permits).toHaveLength(1);
  return permits[0] as Permit;
}
const events = (effects: readonly Effect[]) => of(effects, 'announce').map(({ event }) => event.event);

describe('P1, P2 permits', () => {
  it('names the host, the address, a free fetcher, and how long it is good', () => {
    const stage = staged({}, 50);
    stage.tell(ask('a'));
    expect(onlyGrant(stage)).toEqual({
      number: 1,
      host: 'a',
      address: { address: '192.0.2.1', family: 4 },
      tier: 1,
      fetcher: 0,
      expiresAtMs: 50 + PERMIT_LIFE_MS,
      delivery: 'first',
      rules: ANY_RULES,
      deadlineMs: 50 + PERMIT_LIFE_MS + 20_000,
    });
  });

  it('P1, P2: the next one comes at the end + the delay, not a millisecond before', () => {
    const stage = staged();
    stage.tell(ask('a'));
    const permit = onlyGrant(stage);
    stage.tell(ask('a'));
    stage.pass(300);
    stage.tell(ended(permit));
    stage.tell(verdict('a', 1, 500));
    stage.pass(499);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(1);
    expect(hostsGranted(stage)).toEqual(['a']);
  });

  it('no permit without a free fetcher; the host that has been due longest is next', () => {
    const stage = staged();
    for (const host of ['a', 'b', 'c', 'd']) stage.tell(ask(host));
    const [first, second] = granted(stage.take()) as [Permit, Permit];
    expect([first.host, second.host]).toEqual(['a', 'b']);
    stage.tell(ended(second));
    expect(hostsGranted(stage)).toEqual(['c']);
  });

  it('a permit that was given back opens the gate at once, and frees its fetcher', () => {
    const stage = staged({ tiers: plain(1) });
    stage.tell(ask('a'));
    const permit = onlyGrant(stage);
    stage.tell(ask('b'));
    stage.tell({ type: 'returned', permit: permit.number, host: 'a' });
    expect(hostsGranted(stage)).toEqual(['b']);
    stage.tell({ type: 'returned', permit: permit.number, host: 'a' });
    stage.tell(ask('c'));
    expect(hostsGranted(stage)).toEqual([]);
  });

  it('open visits are bounded: at four, none more', () => {
    const stage = staged({ tiers: plain(10) });
    for (const host of ['a', 'b', 'c', 'd', 'e']) stage.tell(ask(host));
    const permits = granted(stage.take());
    expect(permits).toHaveLength(4);
    for (const permit of permits) stage.tell(ended(permit));
    expect(hostsGranted(stage)).toEqual([]);
    stage.tell({ type: 'closed', visits: [1] });
    expect(hostsGranted(stage)).toEqual(['e']);
  });

  it('above half of the bytes no permit is granted: at 500 of 1000 one is, at 501 none; closing releases them', () => {
    for (const [bytes, expected] of [
      [500, ['b']],
      [501, []],
    ] as const) {
      const stage = staged();
      stage.tell(ask('a'));
      stage.tell(ended(onlyGrant(stage), bytes));
      stage.tell(ask('b'));
      expect(hostsGranted(stage)).toEqual(expected);
      stage.tell({ type: 'closed', visits: [1, 99] });
      const effects = stage.take();
      expect(of(effects, 'release')).toEqual([{ do: 'release', tier: 1, bytes }]);
      expect(granted(effects)).toHaveLength(1 - expected.length);
    }
  });

  it('P7: among classes the higher is likelier, and the lowest is not starved', () => {
    const stage = staged({ tiers: plain(1), openVisitsMax: 10_000 });
    stage.tell(ask('first'));
    let permit = onlyGrant(stage);
    for (let n = 0; n < 400; n++) stage.tell(ask(`high${n}`, { priority: 0 }));
    stage.tell(ask('low', { priority: 7 }));
    let drawn = 0;
    for (; permit.host !== 'low'; drawn++) {
      stage.tell(ended(permit));
      permit = onlyGrant(stage);
    }
    expect(drawn).toBeGreaterThan(5);
    expect(drawn).toBeLessThan(400);
  });
});

describe('P2 address clocks', () => {
  const shared = { addressClock: '192.0.2.1' };

  it('one request in flight to an address, the next at its end + the delay', () => {
    const stage = staged({ addressDelayMs: 100 });
    stage.tell(ask('a', shared));
    stage.tell(ask('b', shared));
    const permit = onlyGrant(stage);
    stage.pass(50);
    stage.tell(ended(permit));
    stage.pass(99);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(1);
    expect(hostsGranted(stage)).toEqual(['b']);
  });

  it('a permit that was given back leaves the address as it was', () => {
    const stage = staged({ addressDelayMs: 100 });
    stage.tell(ask('a', shared));
    stage.tell(ask('b', shared));
    stage.tell({ type: 'returned', permit: onlyGrant(stage).number, host: 'a' });
    expect(hostsGranted(stage)).toEqual(['b']);
  });

  it('exempt addresses, and a delay of zero, know no such clock', () => {
    const exempt = staged({ addressDelayMs: 100 });
    const off = staged();
    for (const host of ['a', 'b']) {
      exempt.tell(ask(host));
      off.tell(ask(host, shared));
    }
    expect([hostsGranted(exempt), hostsGranted(off)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('P9: after an unclean start hosts wait for their delay and addresses for theirs', () => {
    const stage = staged({ resumed: true, addressDelayMs: 100 }, 10);
    stage.tell(ask('a', { delayMs: 1_000 }));
    stage.tell(ask('b', { ...shared, delayMs: 0 }));
    stage.pass(99);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(1);
    expect(hostsGranted(stage)).toEqual(['b']);
    stage.pass(899);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(1);
    expect(hostsGranted(stage)).toEqual(['a']);
  });
});

describe('what no message tells', () => {
  it('P1: a request without an end is in flight until its deadline; then its host is told, and the capped delay holds', () => {
    const stage = staged({ tiers: plain(1) });
    stage.tell(ask('a'));
    onlyGrant(stage);
    stage.tell(ask('a'));
    stage.tell(ask('b'));
    stage.pass(25_000);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(5_000);
    const effects = stage.take();
    expect(told(effects).map(({ message }) => message.type)).toEqual(['visitLost', 'granted']);
    expect(of(effects, 'log')).toMatchObject([{ event: 'request_without_end' }]);
    expect(granted(effects)).toMatchObject([{ host: 'b' }]);
    stage.tell({ type: 'ended', permit: 1, host: 'a', tier: 1, slot: 0, bytes: 7, backend: null });
    expect(of(stage.take(), 'release')).toEqual([{ do: 'release', tier: 1, bytes: 7 }]);
  });

  it('P2: without a verdict the gate opens after the capped delay', () => {
    const stage = staged();
    stage.tell(ask('a'));
    stage.tell(ended(onlyGrant(stage)));
    stage.tell(ask('a'));
    stage.pass(VERDICT_MISSING_CLOSED_MS - 1);
    expect(hostsGranted(stage)).toEqual([]);
    stage.pass(1);
    expect(hostsGranted(stage)).toEqual(['a']);
    expect(VERDICT_WAIT_MS).toBeLessThan(VERDICT_MISSING_CLOSED_MS);
  });

  it('B4: a visit that is lost between its end and the store is told, and its bytes are released', () => {
    const stage = staged();
    stage.tell(ask('a'));
    stage.tell(ended(onlyGrant(stage), 7));
    stage.pass(VISIT_LOST_MS);
    expect(told(stage.take())).toEqual([]);
    stage.pass(5_000);
    const effects = stage.take();
    expect(told(effects).map(({ message }) => message)).toEqual([{ type: 'visitLost', permit: 1 }]);
    expect(of(effects, 'release')).toEqual([{ do: 'release', tier: 1, bytes: 7 }]);
  });

  it('B4: of a host that crashed, or was set aside, what had ended is closed; what is in flight keeps its gate', () => {
    const notices: Message[] = [
      { type: 'hostRestarted', host: 'a' },
      { type: 'setAside', name: 'a', coolingMs: 1 },
    ];
    for (const notice of notices) {
      const stage = staged();
      stage.tell(ask('a'));
      const first = onlyGrant(stage);
      stage.tell(ended(first, 7));
      stage.tell(verdict('a', first.number, 0));
      stage.tell(ask('a'));
      const second = onlyGrant(stage);
      stage.tell(ask('a'));
      stage.tell(notice);
      expect(of(stage.take(), 'release')).toEqual([{ do: 'release', tier: 1, bytes: 7 }]);
      stage.tell(ended(second, 8));
      stage.tell(verdict('a', second.number, 0));
      expect(hostsGranted(stage)).toEqual([]);
      stage.tell({ type: 'closed', visits: [second.number] });
      expect(of(stage.take(), 'release')).toEqual([{ do: 'release', tier: 1, bytes: 8 }]);
    }
  });

  it('P7: forgets gates and clocks that nobody needs any more', () => {
    const stage = staged({ addressDelayMs: 100 });
    stage.tell(ask('a', { addressClock: 'x' }));
    const permit = onlyGrant(stage);
    stage.tell(ended(permit));
    stage.tell(verdict('a', permit.number, 6_000));
    stage.tell({ type: 'closed', visits: [permit.number] });
    stage.pass(5_000);
    expect([stage.state.gates.size, stage.state.clocks.size]).toEqual([1, 0]);
    stage.pass(5_000);
    expect(stage.state.gates.size).toBe(0);
  });
});

describe('P7 idle slots are counted when it is asked', () => {
  const counted = (stage: Bench) => {
    stage.take();
    stage.tell({ type: 'countSpare' });
    return told(stage.take()).map(({ to, message }) => [to, message['slots']]);
  };

  it('by the free fetchers and the visits that may be open; none while somebody is due, or permits are held', () => {
    const stage = staged({ tiers: plain(3), openVisitsMax: 4 });
    expect(counted(stage)).toEqual([['frontier', 3]]);
    stage.tell(ask('a'));
    const permit = onlyGrant(stage);
    expect(counted(stage)).toEqual([['frontier', 2]]);
    stage.tell(ended(permit));
    stage.tell(ask('b'));
    stage.tell(ask('c'));
    for (const one of granted(stage.take())) stage.tell(ended(one));
    // Four may be open, three are, though all fetchers are free.
    expect(counted(stage)).toEqual([['frontier', 1]]);
    stage.tell({ type: 'hold', why: 'a test' });
    expect(counted(stage)).toEqual([['frontier', 0]]);
    stage.tell(ask('d'));
    stage.tell({ type: 'release', why: 'a test' });
    stage.tell(ask('e'));
    expect(counted(stage)).toEqual([['frontier', 0]]);
  });
});

describe('D3 holds', () => {
  it('stop permits until the last of them is gone', () => {
    const stage = staged();
    const why = 'store_full: x';
    stage.tell({ type: 'hold', why });
    stage.tell({ type: 'hold', why });
    stage.tell({ type: 'crashed', who: 'recorder', reason: 'y' });
    expect(events(stage.take())).toEqual(['held', 'held']);
    stage.tell(ask('a'));
    stage.tell({ type: 'release', why });
    expect([...events(stage.take()), ...hostsGranted(stage)]).toEqual([]);
    stage.tell({ type: 'restarted', who: 'recorder' });
    const effects = stage.take();
    expect([events(effects), granted(effects).length]).toEqual([['resumed'], 1]);
    stage.tell({ type: 'release', why });
    expect(stage.take()).toEqual([]);
  });

  it('pressure holds until it is relieved; an actor that stopped holds for ever', () => {
    const stage = staged();
    stage.tell({ type: 'pressed', who: 'frontier' });
    stage.tell({ type: 'stopped', who: 'frontier' });
    stage.tell(ask('a'));
    stage.tell({ type: 'relieved', who: 'frontier' });
    expect(hostsGranted(stage)).toEqual([]);
    expect([...stage.state.holds]).toEqual(['frontier is down']);
  });

  it('drained is said once, when the last open visit is closed or given back', () => {
    const stage = staged();
    stage.tell(ask('a'));
    stage.tell(ask('b'));
    const [first, second] = granted(stage.take()) as [Permit, Permit];
    stage.tell({ type: 'drain' });
    stage.tell(ask('c'));
    stage.tell({ type: 'returned', permit: first.number, host: 'a' });
    stage.tell(ended(second));
    expect(events(stage.take())).toEqual([]);
    stage.tell({ type: 'closed', visits: [second.number] });
    stage.tell({ type: 'drain' });
    stage.pass(60_000);
    const effects = stage.take();
    expect([events(effects), granted(effects)]).toEqual([['drained'], []]);
  });
});

describe('B4 a crash after a message was carried out', () => {
  it('the permits that it granted are sent all the same, once', () => {
    const stage = staged({ tiers: plain(1) });
    stage.tell(ask('a'));
    const permit = onlyGrant(stage);
    stage.tell(ask('b'));
    stage.crashOn(ended(permit), 'again');
    expect(hostsGranted(stage)).toEqual(['b']);
  });

  it('its bytes are counted once, and released once', () => {
    const stage = staged();
    stage.tell(ask('a'));
    stage.crashOn(ended(onlyGrant(stage), 400), 'again');
    expect(stage.state.openBytes).toBe(400);
    stage.take();
    stage.crashOn({ type: 'closed', visits: [1] }, 'again');
    expect([stage.state.openBytes, of(stage.take(), 'release')]).toEqual([0, [{ do: 'release', tier: 1, bytes: 400 }]]);
    stage.crashTwiceOn(ended({ number: 1, host: 'a', fetcher: 0 } as Permit, 9));
    expect(of(stage.take(), 'release')).toEqual([{ do: 'release', tier: 1, bytes: 9 }]);
  });

  it('drained, held and resumed are still said, once', () => {
    const stage = staged();
    stage.crashOn({ type: 'hold', why: 'x' }, 'again');
    stage.crashOn({ type: 'release', why: 'x' }, 'again');
    stage.crashOn({ type: 'drain' }, 'again');
    expect(events(stage.take())).toEqual(['held', 'resumed', 'drained']);
  });

  it('a message that comes again is let pass only once', () => {
    const stage = staged();
    const again = ask('a');
    stage.crashOn(again, 'again');
    stage.tell({ type: 'returned', permit: onlyGrant(stage).number, host: 'a' });
    stage.tell(again);
    expect(hostsGranted(stage)).toEqual(['a']);
  });
});

// -- against a model --------------------------------------------------------------------------------------------------

interface Out {
  readonly permit: Permit;
  readonly clock: string | null;
  phase: 'flying' | 'ended';
  bytes: number;
}

/** Watches from outside, by what is told to the workbench and what it tells. */
class Watch {
  readonly stage: Bench;
  readonly out = new Map<number, Out>();
  readonly asking = new Map<string, string | null>();
  /** Until when a host or an address must be left alone; null while nobody has said. */
  private readonly closedUntilMs = new Map<string, number>();
  private readonly endOf = new Map<number, { host: string; atMs: number }>();
  private readonly holds = new Set<string>();
  private released = 0;
  private held = 0;

  constructor(addressDelayMs: number) {
    this.stage = new Stage(workbench, { ...PROPS, tiers: plain(3), openVisitsMax: 5, addressDelayMs }, 0, drawsFrom(7));
  }

  tell(message: Message, crashes: boolean): void {
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
    this.look();
  }

  ask(host: string, clock: string | null, priority: PriorityClass, crashes: boolean): void {
    // A host has one thing in hand at a time: it does not ask while its request flies.
    if (this.flying().some(({ permit }) => permit.host === host)) return;
    this.asking.set(host, clock);
    this.tell(ask(host, { addressClock: clock, tier: 1, priority }), crashes);
  }

  flying(): Out[] {
    return [...this.out.values()].filter(({ phase }) => phase === 'flying');
  }

  end(which: number, bytes: number, crashes: boolean): void {
    const flying = this.flying();
    const one = flying[which % Math.max(1, flying.length)];
    if (one === undefined) return;
    one.phase = 'ended';
    one.bytes = bytes;
    this.held += bytes;
    const { number, host } = one.permit;
    this.endOf.set(number, { host, atMs: this.stage.nowMs });
    this.closedUntilMs.set(host, this.stage.nowMs + VERDICT_MISSING_CLOSED_MS);
    if (one.clock !== null) this.closedUntilMs.set(one.clock, this.stage.nowMs + this.stage.props.addressDelayMs);
    this.tell(ended(one.permit, bytes), crashes);
  }

  judge(which: number, closedForMs: number, crashes: boolean): void {
    const owed = [...this.endOf.keys()];
    const number = owed[which % Math.max(1, owed.length)];
    if (number === undefined) return;
    const { host, atMs } = this.endOf.get(number) as { host: string; atMs: number };
    this.endOf.delete(number);
    // A verdict that comes in time says it; a late one only raises.
    const saidMs = atMs + closedForMs;
    const isLate = this.stage.nowMs >= atMs + VERDICT_WAIT_MS;
    this.closedUntilMs.set(host, isLate ? Math.max(this.closedUntilMs.get(host) ?? 0, saidMs) : saidMs);
    this.tell(verdict(host, number, closedForMs), crashes);
  }

  giveBack(which: number, crashes: boolean): void {
    const flying = this.flying();
    const one = flying[which % Math.max(1, flying.length)];
    if (one === undefined) return;
    this.out.delete(one.permit.number);
    this.tell({ type: 'returned', permit: one.permit.number, host: one.permit.host }, crashes);
  }

  close(which: number, crashes: boolean): void {
    const over = [...this.out.values()].filter(({ phase }) => phase === 'ended');
    const one = over[which % Math.max(1, over.length)];
    if (one === undefined) return;
    this.out.delete(one.permit.number);
    this.tell({ type: 'closed', visits: [one.permit.number] }, crashes);
  }

  hold(why: string, crashes: boolean): void {
    this.holds.add(why);
    this.tell({ type: 'hold', why }, crashes);
  }

  unhold(why: string, crashes: boolean): void {
    this.holds.delete(why);
    this.tell({ type: 'release', why }, crashes);
  }

  restartHost(host: string, crashes: boolean): void {
    this.asking.delete(host);
    for (const [number, one] of this.out)
      if (one.permit.host === host && one.phase === 'ended') this.out.delete(number);
    this.tell({ type: 'hostRestarted', host }, crashes);
  }

  /** Alarm by alarm, so that each grant is seen at its time. */
  pass(ms: number): void {
    const untilMs = this.stage.nowMs + ms;
    for (let next = this.stage.nextAlarmMs(); next !== null && next <= untilMs; next = this.stage.nextAlarmMs()) {
      this.stage.pass(Math.max(0, next - this.stage.nowMs));
      this.look();
    }
    this.stage.pass(untilMs - this.stage.nowMs);
  }

  look(): void {
    const effects = this.stage.take();
    for (const { bytes } of of(effects, 'release')) this.released += bytes;
    for (const permit of granted(effects)) this.seeGrant(permit);
    const { state, props } = this.stage;
    const free = state.lines.get(1)?.free ?? [];
    expect(free.length).toBe(props.tiers[1].slots - this.flying().length);
    expect(new Set(free).size).toBe(free.length);
    expect(state.openBytes).toBe([...this.out.values()].reduce((sum, { bytes }) => sum + bytes, 0));
    expect(state.open.size).toBe(this.out.size);
    expect(this.held - this.released).toBe(state.openBytes);
  }

  private seeGrant(permit: Permit): void {
    const { host } = permit;
    const clock = this.asking.get(host);
    expect(clock, `${host} did not ask`).toBeDefined();
    this.asking.delete(host);
    expect(this.holds.size).toBe(0);
    const flying = this.flying();
    expect(flying.map((one) => one.permit.host)).not.toContain(host);
    expect(flying.map((one) => one.permit.fetcher)).not.toContain(permit.fetcher);
    if (clock != null) expect(flying.map((one) => one.clock)).not.toContain(clock);
    for (const name of [host, ...(clock == null ? [] : [clock])])
      expect(this.stage.nowMs).toBeGreaterThanOrEqual(this.closedUntilMs.get(name) ?? 0);
    this.out.set(permit.number, { permit, clock: clock ?? null, phase: 'flying', bytes: 0 });
    expect(this.out.size).toBeLessThanOrEqual(this.stage.props.openVisitsMax);
  }

  /** Everybody behaves from now on: nobody who asks is left without. */
  finish(): void {
    for (const why of [...this.holds]) this.unhold(why, false);
    for (let round = 0; round < 60 && (this.asking.size > 0 || this.out.size > 0); round++) {
      while (this.flying().length > 0) this.end(0, 0, false);
      while (this.endOf.size > 0) this.judge(0, 10, false);
      while (this.out.size > 0 && this.flying().length < this.out.size) this.close(0, false);
      this.pass(10_000);
    }
    expect([...this.asking.keys()]).toEqual([]);
    expect([this.stage.state.openBytes, this.held - this.released]).toEqual([0, 0]);
  }
}

type Step = { crashes: boolean; which: number } & (
  | { do: 'ask'; host: string; clock: string | null; priority: PriorityClass }
  | { do: 'end'; bytes: number }
  | { do: 'judge'; closedForMs: number }
  | { do: 'return' | 'close' | 'hold' | 'unhold' | 'restartHost' }
  | { do: 'pass'; ms: number }
);

function step(watch: Watch, one: Step): void {
  const { crashes, which } = one;
  switch (one.do) {
    case 'ask':
      return watch.ask(one.host, one.clock, one.priority, crashes);
    case 'end':
      return watch.end(which, one.bytes, crashes);
    case 'judge':
      return watch.judge(which, one.closedForMs, crashes);
    case 'return':
      return watch.giveBack(which, crashes);
    case 'close':
      return watch.close(which, crashes);
    case 'hold':
      return watch.hold(`why ${which % 2}`, crashes);
    case 'unhold':
      return watch.unhold(`why ${which % 2}`, crashes);
    case 'restartHost':
      return watch.restartHost(`h${which}`, crashes);
    case 'pass':
      return watch.pass(one.ms);
  }
}

describe('P1, P2, P7, D3, B4 workbench against a model', () => {
  it.each([0, 100])('grants rightly, counts rightly, starves nobody (address delay %i ms)', (addressDelayMs) => {
    const common = {
      crashes: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
      which: fc.integer({ min: 0, max: 5 }),
    };
    const host = fc.integer({ min: 0, max: 5 }).map((n) => `h${n}`);
    // What clock an address has follows from the host, but now and then it moves.
    const clock = addressDelayMs === 0 ? fc.constant(null) : fc.constantFrom(null, 'x', 'x', 'y');
    const priority = fc.integer({ min: 0, max: 7 }) as fc.Arbitrary<PriorityClass>;
    const steps: fc.Arbitrary<Step> = fc.oneof(
      { weight: 8, arbitrary: fc.record({ ...common, do: fc.constant('ask' as const), host, clock, priority }) },
      {
        weight: 6,
        arbitrary: fc.record({ ...common, do: fc.constant('end' as const), bytes: fc.constantFrom(0, 40, 300) }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          ...common,
          do: fc.constant('judge' as const),
          closedForMs: fc.constantFrom(0, 50, 700, 9_000),
        }),
      },
      { weight: 5, arbitrary: fc.record({ ...common, do: fc.constant('close' as const) }) },
      {
        weight: 4,
        arbitrary: fc.record({ ...common, do: fc.constantFrom('return', 'hold', 'unhold', 'unhold', 'restartHost') }),
      },
      {
        weight: 5,
        arbitrary: fc.record({ ...common, do: fc.constant('pass' as const), ms: fc.constantFrom(1, 50, 100, 700) }),
      },
    );
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 100 }), (all) => {
        const watch = new Watch(addressDelayMs);
        watch.look();
        for (const one of all) step(watch, one);
        watch.finish();
      }),
      { numRuns: 300 },
    );
  });
});
