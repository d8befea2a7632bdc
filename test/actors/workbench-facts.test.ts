import { ANY_RULES } from './support/records.js';
import { describe, expect, it } from 'vitest';
import { type Props, workbench } from '../../src/actors/workbench.js';
import type { BenchFacts } from '../../src/protocols/bench.js';
import type { Effect } from '../../src/protocols/effects.js';
import type { Message, Permit } from '../../src/protocols/workbench.js';
import { drawsFrom, WALL_AHEAD_MS } from './support/instants.js';
import { of, Stage, told } from './support/stage.js';

const PROPS: Props = {
  tiers: { 1: { slots: 2, requestMsMax: 20_000 } },
  openVisitsMax: 4,
  openBytesMax: 1_000,
  addressDelayMs: 100,
  resumed: false,
  rules: ANY_RULES,
  egress: null,
  backend: null,
  retryBudget: null,
};
const staged = (changes: Partial<Props> = {}) => new Stage(workbench, { ...PROPS, ...changes }, 0, drawsFrom(1));
type Bench = ReturnType<typeof staged>;

const ask = (host: string, addressClock: string | null = null): Message => ({
  type: 'settle',
  host,
  verdict: null,
  network: null,
  ask: {
    host,
    address: { address: '192.0.2.1', family: 4 },
    addressClock,
    tier: 1,
    priority: 2,
    delivery: 'first',
    delayMs: 1_000,
  },
});

function described(stage: Bench, ...hosts: string[]): BenchFacts {
  stage.take();
  stage.tell({ type: 'describe', query: 7, hosts });
  const [found] = of(stage.take(), 'announce').map(({ event }) => event);
  if (found?.event !== 'described') throw new Error('nothing was described');
  expect(found.query).toBe(7);
  return found.bench;
}

function granted(effects: readonly Effect[]): Permit {
  const [permit] = told(effects).flatMap(({ message }) =>
    message.type === 'granted' ? [(message as unknown as { permit: Permit }).permit] : [],
  );
  if (permit === undefined) throw new Error('nothing was granted');
  return permit;
}

describe('the workbench describes itself', () => {
  it('at rest: every slot free, no gate, nothing held', () => {
    expect(described(staged(), 'a')).toEqual({
      gates: [],
      hosts: { inFlight: 0, closed: 0, behindAddress: 0, inLine: 0 },
      holds: [],
      stage: 'granting',
      openVisits: 0,
      openBytes: 0,
      slotsFree: 2,
      tiers: [{ tier: 1, slots: 2, free: 2, inLine: 0 }],
      backend: null,
      retries: null,
      probing: null,
    });
  });

  it('a gate in each of its phases, in times of the wall clock', () => {
    const stage = staged({});
    stage.tell(ask('a'));
    const permit = granted(stage.take());
    expect(described(stage, 'a').gates).toEqual([
      {
        host: 'a',
        phase: 'in_flight',
        nextAllowedAtMs: null,
        inFlightSinceMs: WALL_AHEAD_MS,
        address: null,
        wish: null,
      },
    ]);
    stage.tell({
      type: 'ended',
      permit: permit.number,
      host: 'a',
      tier: 1,
      slot: permit.fetcher,
      bytes: 9,
      backend: null,
    });
    expect(described(stage, 'a')).toMatchObject({ gates: [{ phase: 'judging' }], openVisits: 1, openBytes: 9 });
    stage.tell({
      type: 'settle',
      host: 'a',
      verdict: { permit: permit.number, closedForMs: 500 },
      network: null,
      ask: null,
    });
    stage.tell(ask('a'));
    expect(described(stage, 'a')).toMatchObject({
      gates: [{ phase: 'closed', nextAllowedAtMs: WALL_AHEAD_MS + 500, wish: 2 }],
      hosts: { closed: 1, inFlight: 0 },
    });
  });

  it('who waits behind an address, who for a permit, and who was not asked for', () => {
    const stage = staged();
    for (const host of ['a', 'b', 'c', 'd']) stage.tell(ask(host, host < 'c' ? 'one' : null));
    stage.tell(ask('e'));
    const bench = described(stage, 'b', 'nobody');
    expect(bench.hosts).toEqual({ inFlight: 2, closed: 0, behindAddress: 1, inLine: 2 });
    expect(bench.gates).toMatchObject([
      { host: 'b', phase: 'behind_address', address: { name: 'one', inFlight: true } },
    ]);
    expect(bench.slotsFree).toBe(0);
  });

  it('what holds it, and changes nothing by telling', () => {
    const stage = staged();
    stage.tell({ type: 'hold', why: 'paused' });
    stage.tell(ask('a'));
    expect(described(stage, 'a')).toMatchObject({ holds: ['paused'], gates: [{ phase: 'open', wish: 2 }] });
    expect(described(stage, 'a').hosts.inLine).toBe(1);
    stage.tell({ type: 'release', why: 'paused' });
    expect(granted(stage.take()).host).toBe('a');
  });
});
