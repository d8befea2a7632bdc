import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tagged } from '../../src/protocols/actor.js';
import { Budget, backOffMs } from '../../src/supervision/budget.js';
import { Inbox, type Letter, Sealed } from '../../src/supervision/inbox.js';
import { nactName } from '../../src/supervision/nact.js';
import { drawTree } from '../../src/supervision/picture.js';
import { actor, group, onDemand, pool } from '../../src/supervision/specification.js';
import { affected } from '../../src/supervision/strategy.js';
import { SLEEP_MS_MAX, Timers } from '../../src/supervision/timers.js';
import { VirtualTime } from './virtual-time.js';

describe('inbox', () => {
  it('is a queue with two ends, whatever is done to it (model: an array)', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant('push' as const), sealed: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('shift' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('unshift' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('takeOldestPlain' as const) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const inbox = new Inbox();
        const model: Letter[] = [];
        steps.forEach((what, index) => {
          const message: Tagged = { type: String(index) };
          switch (what.do) {
            case 'push': {
              const letter = what.sealed ? new Sealed(message, null) : message;
              inbox.push(letter);
              model.push(letter);
              break;
            }
            case 'shift':
              expect(inbox.shift()).toBe(model.shift());
              break;
            case 'unshift':
              inbox.unshift(message);
              model.unshift(message);
              break;
            case 'takeOldestPlain': {
              const at = model.findIndex((letter) => !(letter instanceof Sealed));
              expect(inbox.takeOldestPlain()).toBe(at < 0 ? undefined : model.splice(at, 1)[0]);
              break;
            }
          }
          expect(inbox.length).toBe(model.length);
        });
        while (model.length > 0) expect(inbox.shift()).toBe(model.shift());
        expect(inbox.shift()).toBe(undefined);
      }),
    );
  });
});

describe('timers', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = new VirtualTime();
    time.install();
  });
  afterEach(() => time.uninstall());
  const fail = (error: unknown): never => {
    throw error;
  };

  it('fire in order of their time, then of being set, never early, cancelled ones never (model: a sorted list)', async () => {
    const delays = fc.array(fc.record({ delayMs: fc.integer({ min: 0, max: 20 }), isCancelled: fc.boolean() }), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(delays, async (asked) => {
        time.earlyMs = 0.9;
        const timers = new Timers(time, fail);
        const fired: number[] = [];
        const beganAtMs = time.monotonicMs();
        const set = asked.map(({ delayMs }, index) =>
          timers.at(beganAtMs + delayMs, () => {
            expect(time.monotonicMs()).toBeGreaterThanOrEqual(beganAtMs + delayMs);
            fired.push(index);
          }),
        );
        for (const [index, { isCancelled }] of asked.entries()) if (isCancelled) timers.cancel(set[index] as never);
        await time.advance(30);
        const expected = asked.map((one, index) => ({ ...one, index })).filter((one) => !one.isCancelled);
        expected.sort((a, b) => a.delayMs - b.delayMs || a.index - b.index);
        expect(fired).toEqual(expected.map((one) => one.index));
        expect(timers.size).toBe(0);
      }),
      { numRuns: 40 },
    );
  }, 20_000);

  it('sleep in pieces that setTimeout can bear: 31 days come after 31 days, in two sleeps', async () => {
    const timers = new Timers(time, fail);
    let firedAtMs = 0;
    const monthMs = 31 * 86_400_000;
    timers.after(monthMs, () => (firedAtMs = time.monotonicMs()));
    await time.advance(monthMs + 5);
    expect(firedAtMs).toBe(1_000 + monthMs);
    expect(time.asked).toEqual([SLEEP_MS_MAX, monthMs - SLEEP_MS_MAX]);
  });

  it('go on after one that throws', async () => {
    const strays: unknown[] = [];
    const timers = new Timers(time, (error) => strays.push(error));
    let fired = 0;
    timers.after(1, () => fail(new Error('boom')));
    timers.after(1, () => (fired += 1));
    await time.advance(5);
    expect([fired, strays.length]).toEqual([1, 1]);
  });
});

describe('budget', () => {
  it('grants n restarts in any window, not n + 1, and counts from 1', () => {
    const budget = new Budget({ restarts: 2, withinMs: 100 });
    expect([0, 50, 99, 100, 149, 150].map((ms) => budget.spend(ms))).toEqual([1, 2, null, 2, null, 2]);
    expect(new Budget({ restarts: 0, withinMs: 1 }).spend(0)).toBe(null);
  });

  it('backs off by doubling, up to the maximum', () => {
    expect([1, 2, 3, 4, 5, 2_000].map((nth) => backOffMs({ firstMs: 10, maxMs: 70 }, nth))).toEqual([
      10, 20, 40, 70, 70, 70,
    ]);
  });
});

describe('strategy', () => {
  it('says who goes down', () => {
    const all = ['a', 'b', 'c'];
    expect(affected('one-for-one', all, 'b')).toEqual(['b']);
    expect(affected('one-for-all', all, 'b')).toEqual(['a', 'b', 'c']);
    expect(affected('rest-for-one', all, 'b')).toEqual(['b', 'c']);
  });
});

describe('names', () => {
  it('are spelled so that nact accepts them, and no two alike', () => {
    const name = fc.string({
      minLength: 1,
      unit: fc.constantFrom('a', 'b', '[', ']', ':', ',', '!', '%', '~', '0', '5', '/', 'ü'),
    });
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(nactName(one)).toMatch(/^[a-z0-9-$_.+*'(),]+$/i);
        expect(nactName(one) === nactName(other)).toBe(one === other);
      }),
    );
  });
});

const behaviour = { start: () => [null, []] as const, on: {} };
const shared = {
  why: 'stands here',
  inbox: { bound: 1, overflow: 'refuse' },
  inHand: 'drop',
  stopWithinMs: 2_000,
} as const;
const budgeted = { budget: { restarts: 3, withinMs: 60_000 }, backoff: { firstMs: 1, maxMs: 2 } } as const;

describe('picture', () => {
  it('shows each child with its strategy, deadline and reason', () => {
    const tree = group('crawler', { ...budgeted, why: 'all', strategy: 'rest-for-one', stopWithinMs: 30_000 }, [
      actor('recorder', { ...shared, behaviour, props: null }),
      group('inner', { ...budgeted, why: 'lean on each other', strategy: 'one-for-all', stopWithinMs: 1_500 }, [
        actor('x', { ...shared, behaviour, props: null }),
      ]),
      onDemand('hosts', {
        ...shared,
        ...budgeted,
        liveMax: 1_000,
        shards: 256,
        shardOf: () => 0,
        behaviour,
        props: () => null,
        overBudget: 'set-aside',
      }),
      pool('fetchers', 3, { ...shared, ...budgeted, each: 'fetcher', behaviour, props: () => null }),
    ]);
    expect(drawTree(tree).replace(/ {2,}(?=\S)/g, '  ')).toBe(
      [
        'crawler                              rest-for-one, 3 restarts in 1 min, stops within 30 s                                      all',
        '├─ recorder                          stops within 2 s                                                                          stands here',
        '├─ inner                             one-for-all, 3 restarts in 1 min, stops within 1500 ms                                    lean on each other',
        '│  └─ x                              stops within 2 s                                                                          stands here',
        '├─ hosts × any, in 256 shards        each by itself, 3 restarts in 1 min, then set aside for 1 min, stops within 2 s           stands here',
        '└─ fetchers × 3                      one-for-one, 3 restarts in 1 min, stops within 2 s                                        stands here',
      ]
        .map((line) => line.replace(/ {2,}/g, '  '))
        .join('\n'),
    );
  });
});

describe('specification', () => {
  it('is refused when it is not sound', () => {
    expect(() => actor('a/b', { ...shared, behaviour, props: null })).toThrow('no slash');
    expect(() => actor('a', { ...shared, why: ' ', behaviour, props: null })).toThrow('why');
    expect(() => actor('a', { ...shared, stopWithinMs: 0, behaviour, props: null })).toThrow('deadline');
    expect(() => actor('a', { ...shared, inbox: { bound: 0, overflow: 'refuse' }, behaviour, props: null })).toThrow(
      'inbox',
    );
    const twins = [
      actor('a', { ...shared, behaviour, props: null }),
      actor('a', { ...shared, behaviour, props: null }),
    ];
    expect(() => group('g', { ...budgeted, why: 'x', strategy: 'one-for-one', stopWithinMs: 1 }, twins)).toThrow(
      'different names',
    );
  });
});
