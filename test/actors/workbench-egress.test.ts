import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Props, workbench } from '../../src/actors/workbench.js';
import { describe as describeProbing, PATIENCE_MS, SUMMONS_MS } from '../../src/actors/workbench-egress.js';
import type { EgressTerms, Fault } from '../../src/policy/egress.js';
import type { Effect } from '../../src/protocols/effects.js';
import { type Doubt, EGRESS, type Message, PAUSED, type Permit } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

const TERMS: EgressTerms = { hostsMin: 5, hostsMax: 16, shareMin: 0.8, windowMs: 30_000, suspenseMs: 5_000 };
const PROPS: Props = {
  tiers: { 1: { slots: 40, requestMsMax: 20_000 } },
  openVisitsMax: 80,
  openBytesMax: 1_000,
  addressDelayMs: 0,
  resumed: false,
  rules: ANY_RULES,
  egress: TERMS,
  backend: null,
  retryBudget: null,
};
const DELAY_MS = 100;
const NAME: Doubt = { what: 'name' };

/** Workbench and hosts: each message of the workbench is kept by the host that it is for. */
class Bench {
  readonly stage: Stage<Props, Parameters<typeof workbench.on.drain>[0], Message>;
  readonly permits = new Map<string, Permit>();
  readonly blamed: [host: string, fault: Fault][] = [];
  readonly errands: [host: string, url: string][] = [];
  readonly ways: string[] = [];
  readonly events: string[] = [];
  probes = 0;

  constructor(props: Partial<Props> = {}) {
    this.stage = new Stage(workbench, { ...PROPS, ...props }, 1_000, drawsFrom(3));
  }

  tell(message: Message, crashes = false): void {
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
    this.look();
  }

  pass(ms: number): void {
    const untilMs = this.stage.nowMs + ms;
    for (let next = this.stage.nextAlarmMs(); next !== null && next <= untilMs; next = this.stage.nextAlarmMs()) {
      this.stage.pass(Math.max(0, next - this.stage.nowMs));
      this.look();
    }
    this.stage.pass(untilMs - this.stage.nowMs);
  }

  private look(): void {
    const effects: Effect[] = this.stage.take();
    for (const { to, message } of told(effects)) {
      const host = to.slice(to.lastIndexOf('/') + 1);
      if (message.type === 'granted') this.permits.set(host, message['permit'] as Permit);
      if (message.type === 'blamed') this.blamed.push([host, message['fault'] as Fault]);
      if (message.type === 'errand') this.errands.push([host, message['url'] as string]);
      if (message.type === 'egress') this.ways.push(message['way'] as string);
    }
    this.events.push(...of(effects, 'announce').map(({ event }) => event.event));
    this.probes += of(effects, 'log').filter(({ event }) => event === 'egress_probe').length;
  }

  ask(host: string): void {
    const address = { address: '192.0.2.1', family: 4 } as const;
    const ask = {
      host,
      address,
      addressClock: null,
      tier: 1,
      priority: 2,
      delivery: 'first',
      delayMs: DELAY_MS,
    } as const;
    this.tell({ type: 'settle', host, verdict: null, network: null, ask });
  }

  /** Asks, and is granted at once. */
  begin(...hosts: string[]): void {
    for (const host of hosts) {
      this.ask(host);
      expect(this.permits.has(host), `${host} was not granted`).toBe(true);
    }
  }

  end(host: string, how: 'reached' | 'unreached' | 'neither', crashes = false): void {
    const permit = this.permits.get(host);
    if (permit === undefined) throw new Error(`${host} has no permit`);
    this.permits.delete(host);
    const { number, fetcher: slot } = permit;
    this.tell({ type: 'ended', permit: number, host, tier: 1, slot, bytes: 0, backend: null });
    const verdict = { permit: number, closedForMs: DELAY_MS };
    const origin = `http://${host}`;
    const network =
      how === 'reached'
        ? ({ reach: 'reached', origin } as const)
        : ({ reach: 'unreached', about: { what: 'visit', permit: number } } as const);
    this.tell({ type: 'settle', host, verdict, network: how === 'neither' ? null : network, ask: null }, crashes);
    if (how === 'reached') this.tell({ type: 'closed', visits: [number] });
  }

  nameFails(host: string): void {
    this.tell({ type: 'settle', host, verdict: null, network: { reach: 'unreached', about: NAME }, ask: null });
  }

  /** A millisecond later a request of each has ended so. */
  endAll(hosts: readonly string[], how: 'reached' | 'unreached'): void {
    this.pass(1);
    for (const host of hosts) this.end(host, how);
  }

  takeBlamed(): [string, Fault][] {
    return this.blamed.splice(0);
  }
}

const FIVE = ['a', 'b', 'c', 'd', 'e'];
const all = (hosts: readonly string[], fault: Fault) => hosts.map((host) => [host, fault]);

/** Five hosts were not reached: the guard is on, they wait for a word, and `f` is the first probe. */
function cutOff(others: readonly string[] = []): Bench {
  const bench = new Bench();
  bench.begin(...FIVE, ...others);
  bench.tell({ type: 'hold', why: PAUSED });
  bench.ask('f');
  bench.endAll(FIVE, 'unreached');
  bench.tell({ type: 'release', why: PAUSED });
  expect(bench.events).toEqual(['held', 'held']);
  expect(bench.permits.has('f')).toBe(true);
  bench.events.length = 0;
  return bench;
}

describe('B5 a host that was not reached', () => {
  it('waits for a word for five seconds, in which nothing shows: then it is their fault', () => {
    const bench = new Bench();
    bench.begin('a');
    bench.endAll(['a'], 'unreached');
    bench.pass(4_999);
    expect(bench.takeBlamed()).toEqual([]);
    bench.pass(1);
    expect(bench.takeBlamed()).toEqual([['a', 'theirs']]);
    bench.pass(60_000);
    expect(bench.takeBlamed()).toEqual([]);
  });

  it('hears it at once when five others were reached after it, not when four were', () => {
    const bench = new Bench();
    bench.begin('x', 'before', ...FIVE);
    bench.endAll(['before'], 'reached');
    bench.endAll(['x'], 'unreached');
    bench.endAll(FIVE.slice(0, 4), 'reached');
    expect(bench.takeBlamed()).toEqual([]);
    bench.endAll(FIVE.slice(4), 'reached');
    expect(bench.takeBlamed()).toEqual([['x', 'theirs']]);
  });

  it('waits for its own time, behind others', () => {
    const bench = new Bench();
    bench.begin('a', 'b');
    bench.endAll(['a'], 'unreached');
    bench.pass(2_000);
    bench.endAll(['b'], 'unreached');
    bench.pass(2_999);
    expect(bench.takeBlamed()).toEqual([['a', 'theirs']]);
    bench.pass(2_001);
    expect(bench.takeBlamed()).toEqual([['b', 'theirs']]);
  });

  it('is their fault at once where the guard is switched off, however many they are', () => {
    const bench = new Bench({ egress: null });
    bench.begin(...FIVE);
    bench.endAll(FIVE, 'unreached');
    expect(bench.takeBlamed()).toEqual(all(FIVE, 'theirs'));
    expect(bench.events).toEqual([]);
  });

  it('B4: a crash of the workbench keeps the suspicion, and its time', () => {
    const bench = new Bench();
    bench.begin('a');
    bench.end('a', 'unreached', true);
    bench.tell({ type: 'egressDue' }, true);
    bench.pass(4_999);
    expect(bench.takeBlamed()).toEqual([]);
    bench.pass(1);
    expect(bench.takeBlamed()).toEqual([['a', 'theirs']]);
  });

  it('B4: a host that crashed waits for nothing any more', () => {
    const bench = new Bench();
    bench.begin('a');
    bench.endAll(['a'], 'unreached');
    bench.tell({ type: 'hostRestarted', host: 'a' });
    bench.pass(60_000);
    expect(bench.takeBlamed()).toEqual([]);
  });
});

describe('B5 most hosts are not reached', () => {
  it('who watches is told who is probed, and when the next one is', () => {
    const described = ({ stage: { state, nowMs } }: Bench) =>
      describeProbing(state.egress, { monotonicMs: nowMs, wallMs: 1_000_000, draw: () => 0 });
    const bench = cutOff();
    expect(described(bench)).toEqual({ host: 'f', nextAtMs: null, failed: 0 });
    bench.endAll(['f'], 'unreached');
    expect(described(bench)).toEqual({ host: null, nextAtMs: 1_002_000, failed: 1 });
    bench.pass(500);
    expect(described(bench)).toEqual({ host: null, nextAtMs: 1_001_500, failed: 1 });
    bench.pass(1_500);
    bench.ask('g');
    expect(described(bench)).toEqual({ host: 'g', nextAtMs: null, failed: 1 });
    bench.end('g', 'reached');
    expect(described(bench)).toBeNull();
  });

  it('permits stop, for a reason that is told; the fifth host is enough', () => {
    const bench = new Bench();
    bench.begin(...FIVE);
    bench.endAll(FIVE.slice(0, 4), 'unreached');
    expect(bench.events).toEqual([]);
    bench.end('e', 'unreached');
    expect(bench.events).toEqual(['held']);
    expect([...bench.stage.state.holds]).toEqual([EGRESS]);
    expect(bench.ways).toEqual(['never_open']);
  });

  it('one who wishes to ask is the first probe, and the only one', () => {
    const bench = cutOff();
    bench.ask('g');
    expect([...bench.permits.keys()]).toEqual(['f']);
    bench.pass(10_000);
    expect([...bench.permits.keys()]).toEqual(['f']);
  });

  it('a false alarm: the first probe reaches its host; the others are to blame themselves, and permits flow', () => {
    const bench = cutOff();
    bench.ask('g');
    bench.pass(6_000);
    expect(bench.takeBlamed()).toEqual([]);
    bench.end('f', 'reached');
    expect(bench.takeBlamed()).toEqual(all(FIVE, 'theirs'));
    expect(bench.events).toEqual(['resumed']);
    expect(bench.ways).toEqual(['never_open', 'open']);
    expect([...bench.permits.keys()]).toEqual(['g']);
  });

  it('an outage: the probe fails too, and all of it is ours; the next probe comes 2 s later, then 5 s', () => {
    const bench = cutOff();
    for (const host of ['g', 'h']) bench.ask(host);
    bench.endAll(['f'], 'unreached');
    expect(bench.takeBlamed()).toEqual(all([...FIVE, 'f'], 'ours'));
    bench.pass(1_999);
    expect(bench.permits.size).toBe(0);
    bench.pass(1);
    expect([...bench.permits.keys()]).toEqual(['g']);
    bench.end('g', 'unreached');
    expect(bench.takeBlamed()).toEqual([['g', 'ours']]);
    bench.pass(4_999);
    expect(bench.permits.size).toBe(0);
    bench.pass(1);
    bench.end('h', 'reached');
    expect(bench.events).toEqual(['resumed']);
    expect(bench.takeBlamed()).toEqual([]);
  });

  it('what was in flight waits for the first probe, and is ours after it; so it is if it ends after the outage', () => {
    const bench = cutOff(['early', 'late', 'latest']);
    bench.endAll(['early'], 'unreached');
    expect(bench.takeBlamed()).toEqual([]);
    bench.end('f', 'unreached');
    expect(bench.takeBlamed()).toEqual(all([...FIVE, 'early', 'f'], 'ours'));
    bench.end('late', 'unreached');
    expect(bench.takeBlamed()).toEqual([['late', 'ours']]);
    bench.ask('g');
    bench.pass(2_000);
    bench.end('g', 'reached');
    bench.end('latest', 'unreached');
    expect(bench.takeBlamed()).toEqual([['latest', 'ours']]);
    // What is begun now is judged as ever.
    bench.begin('h');
    bench.end('h', 'unreached');
    bench.pass(5_000);
    expect(bench.takeBlamed()).toEqual([['h', 'theirs']]);
  });

  it('an answer that had come before the guard went on, and is told only now, ends nothing', () => {
    const bench = new Bench();
    bench.begin(...FIVE, 'r');
    const permit = bench.permits.get('r') as Permit;
    bench.tell({
      type: 'ended',
      permit: permit.number,
      host: 'r',
      tier: 1,
      slot: permit.fetcher,
      bytes: 0,
      backend: null,
    });
    bench.endAll(FIVE, 'unreached');
    const network = { reach: 'reached', origin: 'http://r' } as const;
    bench.tell({
      type: 'settle',
      host: 'r',
      verdict: { permit: permit.number, closedForMs: 0 },
      network,
      ask: null,
    });
    expect(bench.events).toEqual(['held']);
  });

  it('a probe that is given back, or tells nothing, is followed by another after 2 s', () => {
    const bench = cutOff();
    for (const host of ['g', 'h']) bench.ask(host);
    bench.tell({ type: 'returned', permit: (bench.permits.get('f') as Permit).number, host: 'f' });
    bench.permits.delete('f');
    bench.pass(1_999);
    expect(bench.permits.size).toBe(0);
    bench.pass(1);
    expect([...bench.permits.keys()]).toEqual(['g']);
    bench.end('g', 'neither');
    bench.pass(2_000);
    expect([...bench.permits.keys()]).toEqual(['h']);
    expect(bench.takeBlamed()).toEqual([]);
  });

  it('B4: the host that was probed crashes: another one is probed', () => {
    const bench = cutOff();
    bench.ask('g');
    bench.tell({ type: 'hostRestarted', host: 'f' });
    bench.pass(2_000);
    expect([...bench.permits.keys()]).toEqual(['f', 'g']);
  });

  it('B4: a crash of the workbench loses neither the guard nor the time of its probes', () => {
    const bench = cutOff();
    bench.end('f', 'unreached', true);
    expect(bench.takeBlamed()).toEqual(all([...FIVE, 'f'], 'ours'));
    bench.ask('g');
    bench.tell({ type: 'egressDue' }, true);
    bench.pass(1_999);
    expect(bench.permits.size).toBe(0);
    bench.pass(1);
    expect([...bench.permits.keys()]).toEqual(['g']);
  });

  it('nobody is probed while something else holds the permits', () => {
    const bench = cutOff();
    bench.tell({ type: 'hold', why: PAUSED });
    bench.ask('g');
    bench.end('f', 'unreached');
    bench.pass(60_000);
    expect(bench.permits.size).toBe(0);
    bench.tell({ type: 'release', why: PAUSED });
    expect([...bench.permits.keys()]).toEqual(['g']);
  });

  it('P2: a probe waits for the gate of its host as any request', () => {
    const bench = new Bench();
    bench.begin('f', ...FIVE);
    bench.endAll(['f'], 'reached');
    bench.ask('f');
    bench.endAll(FIVE, 'unreached');
    bench.pass(DELAY_MS - 2);
    expect(bench.permits.size).toBe(0);
    bench.pass(1);
    expect([...bench.permits.keys()]).toEqual(['f']);
  });

  it('at the end of a crawl nobody waits for a probe that can not come', () => {
    const bench = cutOff();
    bench.tell({ type: 'drain' });
    expect(bench.takeBlamed()).toEqual(all(FIVE, 'ours'));
    const clear = new Bench();
    clear.begin('a', 'b');
    clear.endAll(['a'], 'unreached');
    clear.tell({ type: 'drain' });
    clear.end('b', 'unreached');
    expect(clear.takeBlamed()).toEqual([
      ['a', 'theirs'],
      ['b', 'theirs'],
    ]);
  });
});

describe('B5 who is probed', () => {
  /** These were reached in this life, the last one last. */
  function known(...hosts: string[]): Bench {
    const bench = new Bench();
    bench.begin(...hosts);
    for (const host of hosts) bench.endAll([host], 'reached');
    // Later, so that what they tell of our way is forgotten.
    bench.pass(TERMS.windowMs);
    bench.begin(...FIVE);
    bench.endAll(FIVE, 'unreached');
    expect(bench.events).toEqual(['held']);
    expect(bench.ways).toEqual(['cut_off']);
    return bench;
  }

  it('of those who wish to ask one that was reached in this life, each once before any comes again', () => {
    const bench = new Bench();
    bench.begin('k1', ...FIVE);
    bench.endAll(['k1'], 'reached');
    bench.pass(DELAY_MS);
    bench.tell({ type: 'hold', why: 'x' });
    for (const host of ['u1', 'u2', 'k1']) bench.ask(host);
    bench.endAll(FIVE, 'unreached');
    bench.tell({ type: 'release', why: 'x' });
    expect([...bench.permits.keys()]).toEqual(['k1']);
    bench.end('k1', 'unreached');
    bench.ask('k1');
    bench.pass(2_000);
    // It is the only one of them: it comes again.
    expect([...bench.permits.keys()]).toEqual(['k1']);
  });

  it('where none of those wishes to ask, one is bidden to fetch its robots.txt, the latest first', () => {
    const bench = known('k1', 'k2');
    bench.pass(PATIENCE_MS - 1);
    expect(bench.errands).toEqual([]);
    bench.pass(1);
    expect(bench.errands).toEqual([['k2', 'http://k2/robots.txt']]);
    // Others may ask first: it is the probe all the same.
    bench.ask('u');
    bench.ask('k2');
    expect([...bench.permits.keys()]).toEqual(['k2']);
    bench.endAll(['k2'], 'reached');
    expect(bench.takeBlamed()).toEqual(all(FIVE, 'theirs'));
  });

  it('one that does not come within ten seconds makes way for the next', () => {
    const bench = known('k1', 'k2');
    bench.pass(PATIENCE_MS + SUMMONS_MS - 1);
    expect(bench.errands).toHaveLength(1);
    bench.pass(1);
    expect(bench.errands[1]).toEqual(['k1', 'http://k1/robots.txt']);
  });

  it('one whose name can not be resolved any more has failed as a probe', () => {
    const bench = known('k1');
    bench.pass(PATIENCE_MS);
    bench.nameFails('k1');
    expect(bench.takeBlamed()).toEqual(all(FIVE, 'ours'));
  });

  it('where nobody wishes to ask, and no other was reached, the one that has waited longest is excused and tries again', () => {
    const bench = new Bench();
    bench.begin(...FIVE);
    bench.endAll(FIVE, 'unreached');
    bench.pass(PATIENCE_MS);
    expect(bench.takeBlamed()).toEqual([['a', 'ours']]);
    bench.ask('a');
    bench.pass(DELAY_MS);
    expect([...bench.permits.keys()]).toEqual(['a']);
    bench.end('a', 'unreached');
    expect(bench.takeBlamed()).toEqual(all(['b', 'c', 'd', 'e', 'a'], 'ours'));
  });
});

describe('B5 name servers that give no answer', () => {
  it('names wait until the guard is off; one at a time is tried again', () => {
    const bench = new Bench();
    for (const host of FIVE) bench.nameFails(host);
    expect(bench.events).toEqual(['held']);
    // Nobody has an address to ask at: the one that has waited longest resolves its name again.
    bench.pass(PATIENCE_MS);
    expect(bench.takeBlamed()).toEqual([['a', 'ours']]);
    bench.nameFails('a');
    expect(bench.takeBlamed()).toEqual([]);
    bench.pass(2_000 + PATIENCE_MS);
    expect(bench.takeBlamed()).toEqual([['b', 'ours']]);
    bench.ask('b');
    expect([...bench.permits.keys()]).toEqual(['b']);
    bench.end('b', 'reached');
    expect(bench.takeBlamed()).toEqual(all(['c', 'd', 'e', 'a'], 'ours'));
    expect(bench.events).toEqual(['held', 'resumed']);
  });

  it('one name alone is judged after five seconds', () => {
    const bench = new Bench();
    bench.nameFails('a');
    bench.pass(5_000);
    expect(bench.takeBlamed()).toEqual([['a', 'theirs']]);
  });
});

describe('B5 an errand that was not answered in time', () => {
  const overdue = (bench: Bench, sinceMs: number) => {
    bench.tell({ type: 'overdue', host: 'x', origin: 'http://x', sinceMs });
    return bench.takeBlamed();
  };

  it('is the fault of whoever was sent, but for the time in which the guard held permits', () => {
    const bench = cutOff();
    expect(overdue(bench, 0)).toEqual([['x', 'ours']]);
    bench.endAll(['f'], 'reached');
    bench.takeBlamed();
    const offAtMs = bench.stage.nowMs;
    expect(overdue(bench, offAtMs)).toEqual([['x', 'ours']]);
    expect(overdue(bench, offAtMs + 1)).toEqual([['x', 'theirs']]);
    expect(overdue(new Bench(), 0)).toEqual([['x', 'theirs']]);
  });
});

// -- a whole web behind one line ------------------------------------------------------------------------------------

interface WebHost {
  readonly name: string;
  readonly isDead: boolean;
  /** Requests that it still has to make; a failure that is not its fault gives one back. */
  work: number;
  doing: 'resting' | 'asking' | 'suspecting';
  /** It was asked to fetch its robots.txt for the workbench: before all else. */
  errand: 'none' | 'waiting' | 'under way';
}

/** Hosts that ask, fail and wait as real ones do; the line to all of them is cut and mended. */
class World {
  readonly bench = new Bench();
  readonly hosts = new Map<string, WebHost>();
  readonly flights: { readonly host: string; readonly endsAtMs: number }[] = [];
  isCut = false;
  /** Charged to hosts that are sound. */
  wronged = 0;
  charged = 0;
  requestsWhileCut = 0;
  grantedWhileGuarding = 0;
  private crashes = 0;

  constructor(
    sound: number,
    dead: number,
    work: number,
    readonly crashesEvery: number,
  ) {
    for (let n = 0; n < sound + dead; n++) {
      const name = `h${n}`;
      this.hosts.set(name, { name, isDead: n >= sound, work, doing: 'resting', errand: 'none' });
    }
  }

  pass(ms: number): void {
    const untilMs = this.bench.stage.nowMs + ms;
    while (this.bench.stage.nowMs < untilMs) {
      this.hear();
      this.bench.pass(10);
    }
  }

  private hear(): void {
    const { bench } = this;
    for (const [name, fault] of bench.takeBlamed()) {
      const host = this.hosts.get(name) as WebHost;
      expect(host.doing, `${name} was judged twice`).toBe('suspecting');
      host.doing = 'resting';
      if (fault === 'theirs') this.charged += 1;
      else if (host.errand !== 'under way') host.work += 1;
      if (host.errand === 'under way') host.errand = 'none';
      if (fault === 'theirs' && !host.isDead) this.wronged += 1;
    }
    for (const [name] of bench.errands.splice(0)) (this.hosts.get(name) as WebHost).errand = 'waiting';
    for (const host of this.hosts.values()) {
      if (host.doing !== 'resting' || (host.work === 0 && host.errand !== 'waiting')) continue;
      host.doing = 'asking';
      bench.ask(host.name);
    }
    for (const name of bench.permits.keys()) {
      if (this.flights.some(({ host }) => host === name)) continue;
      const takesMs = this.isCut || this.hosts.get(name)?.isDead === true ? 30 : 20;
      this.flights.push({ host: name, endsAtMs: bench.stage.nowMs + takesMs });
      if (this.isCut) this.requestsWhileCut += 1;
    }
    for (const flight of this.flights.filter(({ endsAtMs }) => endsAtMs <= bench.stage.nowMs)) this.land(flight.host);
  }

  private land(name: string): void {
    const host = this.hosts.get(name) as WebHost;
    this.flights.splice(
      this.flights.findIndex((one) => one.host === name),
      1,
    );
    const isReached = !this.isCut && !host.isDead;
    if (host.errand === 'waiting') host.errand = isReached ? 'none' : 'under way';
    else host.work -= 1;
    host.doing = isReached ? 'resting' : 'suspecting';
    this.crashes += 1;
    this.bench.end(name, isReached ? 'reached' : 'unreached', this.crashes % this.crashesEvery === 0);
  }

  left(): number {
    return [...this.hosts.values()].reduce((sum, { work }) => sum + work, 0);
  }
}

describe('B5 a web behind one line', () => {
  it('F18: the line is cut for ten minutes: no host is charged, few requests are made, all is done in the end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 25 }), fc.integer({ min: 3, max: 9 }), (sound, crashesEvery) => {
        const world = new World(sound, 0, 60, crashesEvery);
        world.pass(2_000);
        world.isCut = true;
        world.pass(600_000);
        // One a host as it was cut, then probes at 0, 2, 7, 17, 37, 67 s and so on.
        expect(world.requestsWhileCut).toBeLessThan(sound + 30);
        world.isCut = false;
        world.pass(120_000);
        expect(world.left()).toBe(0);
        expect([world.wronged, world.charged]).toEqual([0, 0]);
      }),
      { numRuns: 12 },
    );
  });

  it('a web of mostly dead hosts makes progress: they are charged, also when the sound ones have nothing left to do', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 5, max: 20 }), (sound, dead) => {
        const world = new World(sound, dead, 6, 1_000);
        world.pass(300_000);
        expect(world.left()).toBe(0);
        expect(world.wronged).toBe(0);
        // One or the other was excused, to be a probe: it has asked once more for that.
        expect(world.charged).toBe(dead * 6);
      }),
      { numRuns: 12 },
    );
  });

  it('below five hosts the guard is never on', () => {
    const world = new World(0, 4, 6, 5);
    world.pass(120_000);
    expect(world.left()).toBe(0);
    expect(world.charged).toBe(4 * 6);
    expect(world.bench.events).toEqual([]);
  });
});
