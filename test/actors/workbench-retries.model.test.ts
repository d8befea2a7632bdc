/** R1, the model: whatever hosts ask for, take back, are granted and return, retries keep to the budget of all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Props, workbench } from '../../src/actors/workbench.js';
import { ceilingOf } from '../../src/policy/retry-budget.js';
import type { DeliveryKind, Message, Permit } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { Stage, told } from './support/stage.js';

const TERMS = { share: 0.25, perMinute: 30 };
const PROPS: Props = {
  tiers: { 1: { slots: 3, requestMsMax: 20_000 } },
  openVisitsMax: 6,
  openBytesMax: 1_000,
  addressDelayMs: 0,
  resumed: false,
  rules: ANY_RULES,
  egress: null,
  backend: null,
  retryBudget: TERMS,
};
const HOSTS = ['a', 'b', 'c', 'd', 'e'];

const commands = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('ask'), host: fc.constantFrom(...HOSTS), retry: fc.boolean() }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('end'), which: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('return'), which: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('forget'), host: fc.constantFrom(...HOSTS) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.nat(20_000) }) },
  ),
  { minLength: 40, maxLength: 150 },
);
type Command = { do: string; host?: string; retry?: boolean; which?: number; ms?: number };

const askOf = (host: string, delivery: DeliveryKind): Message => ({
  type: 'settle',
  host,
  verdict: null,
  network: null,
  ask: {
    ...{ host, address: { address: '192.0.2.1', family: 4 }, addressClock: null },
    ...{ tier: 1, priority: 2, delivery, delayMs: 10 },
  },
});

class World {
  readonly stage = new Stage(workbench, PROPS, 0, drawsFrom(7));
  readonly open: Permit[] = [];
  firsts = 0;
  retries = 0;
  held = 0;

  /** @param crashes at the worst moment, with the message in hand */
  tell(message: Message, crashes: boolean): void {
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
    this.hear();
  }

  hear(): void {
    for (const { message } of told(this.stage.take())) {
      if (message.type === 'retriesHeld') {
        this.held += 1;
        expect(message['untilMs']).toBeGreaterThan(this.stage.nowMs);
      }
      if (message.type === 'granted') this.open.push(message['permit'] as Permit);
    }
    const wanted = this.open.filter(({ delivery }) => delivery === 'retry').length;
    const granted = TERMS.share * this.firsts + (TERMS.perMinute * this.stage.nowMs) / 60_000;
    expect(this.retries + wanted).toBeLessThanOrEqual(Math.min(granted, ceilingOf(TERMS) + granted) + 1e-3);
  }

  run(command: Command, crashes: boolean): void {
    if (command.do === 'ask') this.tell(askOf(command.host as string, command.retry ? 'retry' : 'first'), crashes);
    if (command.do === 'forget') this.tell({ type: 'hostRestarted', host: command.host as string }, crashes);
    if (command.do === 'pass') {
      this.stage.pass(command.ms as number);
      this.hear();
    }
    const permit = this.open[(command.which ?? 0) % Math.max(1, this.open.length)];
    if (permit === undefined) return;
    const { number, host, fetcher } = permit;
    if (command.do === 'return') {
      this.open.splice(this.open.indexOf(permit), 1);
      this.tell({ type: 'returned', permit: number, host }, crashes);
    }
    if (command.do !== 'end') return;
    this.open.splice(this.open.indexOf(permit), 1);
    if (permit.delivery === 'retry') this.retries += 1;
    else this.firsts += 1;
    this.tell({ type: 'ended', permit: number, host, slot: fetcher, bytes: 0, tier: 1, backend: null }, crashes);
    this.tell({ ...askOf(host, 'first'), verdict: { permit: number, closedForMs: 10 }, ask: null } as Message, crashes);
    this.tell({ type: 'closed', visits: [number] }, crashes);
  }
}

describe('R1 the budget of retries of all hosts', () => {
  it('holds from an empty beginning on, through crashes, returns and asks that are taken back', () => {
    let held = 0;
    let retries = 0;
    fc.assert(
      fc.property(commands, fc.array(fc.nat(9), { maxLength: 150 }), (script, faults) => {
        const world = new World();
        script.forEach((command, i) => world.run(command, faults[i] === 0));
        held += world.held;
        retries += world.retries;
      }),
      { numRuns: 300 },
    );
    expect({ held: held > 100, retries: retries > 100 }, `${held} held, ${retries} made`).toEqual({
      held: true,
      retries: true,
    });
  });

  it('begins empty: a restart gives nothing once more', () => {
    const world = new World();
    world.tell(askOf('a', 'retry'), false);
    expect([world.open.length, world.held]).toEqual([0, 1]);
    world.stage.pass(2_000);
    world.tell(askOf('a', 'retry'), false);
    expect(world.open.map(({ delivery }) => delivery)).toEqual(['retry']);
  });

  it('those who wait are told times one after the other, a minute away at most', () => {
    const stage = new Stage(workbench, PROPS, 0, drawsFrom(7));
    const untilMs = Array.from({ length: 60 }, (_, i) => {
      stage.tell(askOf(`h${i}`, 'retry'));
      return told(stage.take()).find(({ message }) => message.type === 'retriesHeld')?.message['untilMs'] as number;
    });
    expect(untilMs.slice(0, 3)).toEqual([2_000, 4_000, 6_000]);
    expect(Math.max(...untilMs)).toBe(60_000);
  });
});
