/** Many names on one server: the clocks of addresses, by example and under random traffic. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERMIT_LIFE_MS, type Props, workbench } from '../../src/actors/workbench.js';
import type { PriorityClass } from '../../src/domain/record.js';
import { addressClockKey, addressRangesOf } from '../../src/policy/addresses.js';
import type { Permit, Settle } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { Stage, told } from './support/stage.js';

const ADDRESS_DELAY_MS = 100;
const PROPS: Props = {
  tiers: { 1: { slots: 64, requestMsMax: 20_000 } },
  openVisitsMax: 1_000,
  openBytesMax: 1_000,
  addressDelayMs: ADDRESS_DELAY_MS,
  egress: null,
  backend: null,
  retryBudget: null,
  resumed: false,
  rules: ANY_RULES,
};

const plain = (slots: number) => ({ 1: { slots, requestMsMax: 20_000 } });
const staged = (props: Partial<Props> = {}, seed = 1) =>
  new Stage(workbench, { ...PROPS, ...props }, 0, drawsFrom(seed));
type Bench = ReturnType<typeof staged>;
const lineOf = (stage: Bench) =>
  (stage.state.lines.get(1) as NonNullable<ReturnType<Bench['state']['lines']['get']>>).due.lineOf;

function ask(host: string, address: string, priority: PriorityClass = 2): Settle {
  const addressClock = addressClockKey(address, addressRangesOf(['198.51.100.0/24']));
  const family = address.includes(':') ? 6 : 4;
  return {
    type: 'settle',
    network: null,
    host,
    verdict: null,
    ask: { host, address: { address, family }, addressClock, tier: 1, priority, delivery: 'first', delayMs: 1_000 },
  };
}

const grantsOf = (stage: Bench): Permit[] =>
  told(stage.take()).flatMap(({ message }) => (message.type === 'granted' ? [message['permit'] as Permit] : []));

function end(stage: Bench, { number, host, fetcher }: Permit): void {
  stage.tell({ type: 'ended', permit: number, host, tier: 1, slot: fetcher, bytes: 0, backend: null });
  stage.tell({ type: 'closed', visits: [number] });
}

/** Serves an address until nobody is left behind it. */
function serve(stage: Bench, grantsMost = Number.MAX_SAFE_INTEGER): Permit[] {
  const served: Permit[] = [];
  for (let [permit] = grantsOf(stage); permit !== undefined && served.length < grantsMost; [permit] = grantsOf(stage)) {
    served.push(permit);
    end(stage, permit);
    stage.pass(ADDRESS_DELAY_MS);
  }
  return served;
}

describe('P2 many names on one server', () => {
  it('the first requests of 300 names are one at a time, each name once, in the order in which they came', () => {
    const stage = staged();
    const names = Array.from({ length: 300 }, (_, n) => `n${n}.example`);
    for (const name of names) stage.tell(ask(name, '192.0.2.1'));
    expect(serve(stage).map(({ host }) => host)).toEqual(names);
  });

  it('the better class is likelier to be next, and none is starved by better ones that keep coming', () => {
    const stage = staged();
    stage.tell(ask('holder.example', '192.0.2.1'));
    for (let n = 0; n < 50; n++) {
      stage.tell(ask(`low${n}.example`, '192.0.2.1', 7));
      stage.tell(ask(`high${n}.example`, '192.0.2.1', 0));
    }
    const first = serve(stage, 60).map(({ host }) => host);
    expect(first.filter((host) => host.startsWith('high')).length).toBeGreaterThan(45);
    const endless = staged();
    endless.tell(ask('low.example', '192.0.2.1', 7));
    end(endless, grantsOf(endless)[0] as Permit);
    endless.tell({ ...ask('low.example', '192.0.2.1', 7), verdict: { permit: 1, closedForMs: 0 } });
    let rounds = 0;
    for (let isServed = false; !isServed; rounds++) {
      expect(rounds).toBeLessThan(3_000);
      endless.tell(ask(`high${rounds}.example`, '192.0.2.1', 0));
      endless.pass(ADDRESS_DELAY_MS);
      for (const permit of grantsOf(endless)) {
        isServed ||= permit.host === 'low.example';
        end(endless, permit);
      }
    }
  });

  it('P7: who stands in line for an address stands in the class of the best that waits behind it', () => {
    const stage = staged({ tiers: plain(1) });
    stage.tell(ask('busy.example', '192.0.2.9'));
    const [busy] = grantsOf(stage) as [Permit];
    stage.tell(ask('low.example', '192.0.2.1', 7));
    expect(lineOf(stage).get('low.example')).toBe(7);
    stage.tell(ask('high.example', '192.0.2.1', 1));
    expect([...lineOf(stage)]).toEqual([['low.example', 1]]);
    end(stage, busy);
    expect(grantsOf(stage).map(({ host }) => host)).toEqual(['low.example']);
  });

  it('one that stood in line for all and leaves without a permit makes room for the next at once', () => {
    const leaves: readonly ((stage: Bench) => void)[] = [
      (stage) => stage.tell({ type: 'hostRestarted', host: 'a.example' }),
      (stage) => stage.tell({ type: 'setAside', name: 'a.example', coolingMs: 1 }),
      // Its name has another address now.
      (stage) => stage.tell(ask('a.example', '192.0.2.7')),
    ];
    for (const leave of leaves) {
      const stage = staged({ tiers: plain(1) });
      stage.tell(ask('busy.example', '192.0.2.9'));
      const [busy] = grantsOf(stage) as [Permit];
      for (const name of ['a.example', 'b.example', 'c.example']) stage.tell(ask(name, '192.0.2.1'));
      expect([...lineOf(stage).keys()]).toEqual(['a.example']);
      leave(stage);
      expect([...lineOf(stage).keys()]).toContain('b.example');
      expect([...lineOf(stage).keys()]).not.toContain('c.example');
      end(stage, busy);
      expect(grantsOf(stage)).toHaveLength(1);
    }
  });

  it('one whose gate is closed for longer meanwhile leaves its place to the next', () => {
    const stage = staged();
    stage.tell(ask('a.example', '192.0.2.1'));
    const [first] = grantsOf(stage) as [Permit];
    end(stage, first);
    stage.tell({ ...ask('a.example', '192.0.2.1'), verdict: { permit: first.number, closedForMs: 50 } });
    stage.tell({ type: 'hold', why: 'a test' });
    stage.pass(ADDRESS_DELAY_MS);
    stage.tell(ask('b.example', '192.0.2.1'));
    expect([...lineOf(stage).keys()]).toEqual(['a.example']);
    // A late word on the same request raises the gate.
    stage.tell({
      type: 'settle',
      network: null,
      host: 'a.example',
      verdict: { permit: first.number, closedForMs: 5_000 },
      ask: null,
    });
    expect([...lineOf(stage).keys()]).toEqual(['b.example']);
    stage.tell({ type: 'release', why: 'a test' });
    const [second] = grantsOf(stage) as [Permit];
    expect(second.host).toBe('b.example');
    end(stage, second);
    stage.pass(4_799);
    expect(grantsOf(stage)).toEqual([]);
    stage.pass(101);
    expect(grantsOf(stage).map(({ host }) => host)).toEqual(['a.example']);
  });

  it('a name whose address changes waits for the new one, and the old one forgets it', () => {
    const stage = staged();
    stage.tell(ask('a.example', '192.0.2.1'));
    stage.tell(ask('moved.example', '192.0.2.1'));
    const [first] = grantsOf(stage) as [Permit];
    stage.tell(ask('moved.example', '192.0.2.2'));
    expect(grantsOf(stage)).toMatchObject([{ host: 'moved.example', address: { address: '192.0.2.2' } }]);
    end(stage, first);
    stage.pass(10 * ADDRESS_DELAY_MS);
    expect(grantsOf(stage)).toEqual([]);
  });

  it('IPv6: a /64 is one server; exempt ranges know no clock', () => {
    const stage = staged();
    stage.tell(ask('a.example', '2001:db8:1:2::1'));
    stage.tell(ask('b.example', '2001:db8:1:2:ffff::9'));
    stage.tell(ask('c.example', '2001:db8:1:3::1'));
    stage.tell(ask('d.example', '198.51.100.7'));
    stage.tell(ask('e.example', '198.51.100.7'));
    expect(grantsOf(stage).map(({ host }) => host)).toEqual(['a.example', 'c.example', 'd.example', 'e.example']);
  });

  it('P9: after an unclean start the first request of an address waits for its delay, and so do those behind it', () => {
    const stage = staged({ resumed: true });
    for (const name of ['a.example', 'b.example']) {
      const asked = ask(name, '192.0.2.1');
      stage.tell({ ...asked, ask: asked.ask === null ? null : { ...asked.ask, delayMs: 0 } });
    }
    stage.pass(ADDRESS_DELAY_MS - 1);
    expect(grantsOf(stage)).toEqual([]);
    stage.pass(1);
    const [first] = grantsOf(stage) as [Permit];
    end(stage, first);
    stage.pass(ADDRESS_DELAY_MS - 1);
    expect(grantsOf(stage)).toEqual([]);
    stage.pass(1);
    expect(grantsOf(stage)).toHaveLength(1);
  });
});

describe('P1, P2 under random traffic', () => {
  const HOSTS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
  const SERVERS = ['192.0.2.1', '192.0.2.2', '2001:db8::1'] as const;
  const host = fc.constantFrom(...HOSTS);
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        host,
        server: fc.constantFrom(...SERVERS),
        priority: fc.integer({ min: 0, max: 7 }) as fc.Arbitrary<PriorityClass>,
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), host, closedForMs: fc.nat(300) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('return' as const), host }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), host }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'release' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(150) }) },
  );

  /** Judges permits from outside: by what a server would see. */
  class Servers {
    readonly out = new Map<string, Permit>();
    readonly asking = new Set<string>();
    private readonly endedAtMs = new Map<string, number>();
    private readonly closedUntilMs = new Map<string, number>();

    constructor(private readonly stage: Bench) {}

    see(): void {
      for (const permit of grantsOf(this.stage)) {
        const { host, address } = permit;
        const nowMs = permit.expiresAtMs - PERMIT_LIFE_MS;
        expect(this.asking.delete(host), `${host} had asked`).toBe(true);
        expect(this.out.has(host), `P1: ${host} in flight`).toBe(false);
        for (const other of this.out.values()) expect(other.address.address).not.toBe(address.address);
        const addressEndedMs = this.endedAtMs.get(address.address) ?? Number.NEGATIVE_INFINITY;
        expect(nowMs, `P2: ${address.address}`).toBeGreaterThanOrEqual(addressEndedMs + ADDRESS_DELAY_MS);
        expect(nowMs, `P2: ${host}`).toBeGreaterThanOrEqual(this.closedUntilMs.get(host) ?? 0);
        this.out.set(host, permit);
      }
    }

    end(host: string, closedForMs: number): void {
      const permit = this.out.get(host);
      if (permit === undefined) return;
      this.out.delete(host);
      this.endedAtMs.set(permit.address.address, this.stage.nowMs);
      this.closedUntilMs.set(host, this.stage.nowMs + closedForMs);
      end(this.stage, permit);
      this.stage.tell({
        type: 'settle',
        network: null,
        host,
        verdict: { permit: permit.number, closedForMs },
        ask: null,
      });
    }
  }

  it('no address is asked before its time, and whoever asks is heard in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.nat(), fc.constantFrom(1, 2, 64), (steps, seed, slots) => {
        const stage = staged({ tiers: plain(slots) }, seed);
        const servers = new Servers(stage);
        for (const one of steps) {
          switch (one.do) {
            case 'ask':
              if (!servers.out.has(one.host)) {
                servers.asking.add(one.host);
                stage.tell(ask(one.host, one.server, one.priority));
              }
              break;
            case 'end':
              servers.end(one.host, one.closedForMs);
              break;
            case 'return': {
              const permit = servers.out.get(one.host);
              servers.out.delete(one.host);
              if (permit !== undefined) stage.tell({ type: 'returned', permit: permit.number, host: one.host });
              break;
            }
            case 'restart':
              servers.asking.delete(one.host);
              stage.tell({ type: 'hostRestarted', host: one.host });
              break;
            case 'hold':
            case 'release':
              stage.tell({ type: one.do, why: 'a test' });
              break;
            case 'pass':
              // Its own alarms ring at their times; each is looked at by itself.
              for (let ms = 0; ms < one.ms; ms += 10) {
                stage.pass(Math.min(10, one.ms - ms));
                servers.see();
              }
          }
          servers.see();
        }
        stage.tell({ type: 'release', why: 'a test' });
        for (let round = 0; round < 40 && servers.asking.size + servers.out.size > 0; round++) {
          servers.see();
          for (const host of [...servers.out.keys()]) servers.end(host, 0);
          stage.pass(ADDRESS_DELAY_MS);
        }
        expect([...servers.asking]).toEqual([]);
        stage.pass(120_000);
        expect([stage.state.clocks.size, lineOf(stage).size]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
