/**
 * No message is ever lost: random programs of sends, crashes, passivations, faults and stops against whole kernels.
 *
 * The model is a ledger. Each message has a number; handling it performs one effect that says the number. At the end
 * every number was said once or is one dead letter; what one receiver said is in the order of sending.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { address, type Behaviour } from '../../src/protocols/actor.js';
import { type Effect, log } from '../../src/protocols/effects.js';
import type { Fault } from '../../src/supervision/faults.js';
import { createKernel } from '../../src/supervision/kernel.js';
import { actor, group, type InboxRule, onDemand, type Strategy } from '../../src/supervision/specification.js';
import { portDoubles } from './doubles.js';
import { VirtualTime } from './virtual-time.js';

type Order = 'say' | 'crash' | 'leave' | 'echo';
type Message = { readonly [T in Order]: { readonly type: T; readonly number: number } }[Order];

const say = (who: string, number: number): Effect => log('info', 'said', { who, number });

function behaviourOf(post: (to: string, order: Order) => void): Behaviour<string, string, Message> {
  return {
    start: (path) => [path, []],
    restart: (_, held) => [held, []],
    on: {
      say: (path, { number }) => [path, [say(path, number)]],
      crash: () => {
        throw new Error('on order');
      },
      leave: (path, { number }) => [path, [say(path, number), { do: 'passivate' }]],
      // Sends while it is being handled: into the inbox of a turn that is under way.
      echo: (path, { number }) => {
        post(path, 'say');
        return [path, [say(path, number), { do: 'passivate' }]];
      },
    },
  };
}

const RECEIVERS = ['a', 'b', 'c', 'hosts/p000/h', 'hosts/p001/i'] as const;

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      to: fc.constantFrom(...RECEIVERS),
      order: fc.constantFrom<Order>('say', 'say', 'say', 'crash', 'leave', 'echo'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ advanceMs: fc.constantFrom(0, 1, 7, 20, 150) }) },
);

const fault: fc.Arbitrary<Fault> = fc.record({
  actor: fc.constantFrom('a', 'b', 'hosts/', 'hosts/p000/h'),
  nth: fc.integer({ min: 1, max: 6 }),
  times: fc.integer({ min: 1, max: 3 }),
  every: fc.integer({ min: 1, max: 3 }),
});

const universe = fc.record({
  strategy: fc.constantFrom<Strategy>('one-for-one', 'one-for-all', 'rest-for-one'),
  inHand: fc.constantFrom('deliver-again' as const, 'drop' as const),
  overflow: fc.constantFrom('refuse' as const, 'drop-oldest' as const, 'give-way' as const),
  bound: fc.integer({ min: 1, max: 6 }),
  restarts: fc.integer({ min: 0, max: 6 }),
  faults: fc.array(fault, { maxLength: 3 }),
  steps: fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
});

let time: VirtualTime;
beforeEach(() => {
  time = new VirtualTime();
  time.install();
});
afterEach(() => time.uninstall());

it('every message is handled once and in order, or is one dead letter, whatever crashes', async () => {
  let crashes = 0;
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(universe, async ({ strategy, inHand, overflow, bound, restarts, faults, steps }) => {
      const ports = portDoubles({ clock: time });
      let sent = 0;
      const post = (to: string, type: Order): void =>
        kernel.tell(address<Message>(to), { type, number: ++sent } as Message);
      const behaviour = behaviourOf(post);
      const inbox: InboxRule =
        overflow === 'give-way' ? { bound, overflow, tell: address('nobody') } : { bound, overflow };
      const shared = { why: 'a test', behaviour, inbox, inHand, stopWithinMs: 100 } as const;
      const budgeted = { budget: { restarts, withinMs: 100 }, backoff: { firstMs: 1, maxMs: 10 } };
      const tree = group('root', { ...budgeted, why: 'a test', strategy, stopWithinMs: 1_000 }, [
        ...['a', 'b', 'c'].map((name) => actor(name, { ...shared, props: name })),
        onDemand('hosts', {
          ...shared,
          ...budgeted,
          liveMax: 1_000,
          shards: 2,
          shardOf: (name) => (name === 'h' ? 0 : 1),
          props: (name) => name,
          overBudget: 'set-aside',
          coolingMs: 20,
        }),
      ]);
      const kernel = createKernel(tree, ports, { faults });
      kernel.start();
      for (const one of steps) {
        if ('to' in one) post(one.to, one.order);
        else await time.advance(one.advanceMs);
      }
      await time.advance(50);
      void kernel.stop();
      await time.advance(2_000);

      const said = ports.lines.filter((line) => line.event === 'said');
      const numbers = said.map((line) => line.fields.number as number);
      expect(new Set(numbers).size).toBe(numbers.length);
      for (const who of new Set(said.map((line) => line.fields.who))) {
        const own = said.filter((line) => line.fields.who === who).map((line) => line.fields.number as number);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
      const dead = kernel
        .counts()
        .deadLetters.filter((letter) => letter.under !== 'nobody')
        .reduce((sum, letter) => sum + letter.count, 0);
      expect(numbers.length + dead).toBe(sent);
      expect([kernel.counts().strays, kernel.counts().timers]).toEqual([0, 0]);
      expect(kernel.counts().actors.map((one) => one.inbox)).toEqual([0, 0, 0, 0]);
      crashes += ports.lines.filter((line) => line.event === 'actor_crashed').length;
      deaths += dead;
    }),
    { numRuns: 300 },
  );
  // A universe in which nothing crashes proves nothing.
  expect(crashes).toBeGreaterThan(500);
  expect(deaths).toBeGreaterThan(500);
}, 60_000);
