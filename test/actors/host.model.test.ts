import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resolution } from '../../src/domain/fetching.js';
import type { PriorityClass } from '../../src/domain/record.js';
import type { Fault } from '../../src/policy/egress.js';
import { ADDRESSES, type Answer, HostWorld } from './support/host-world.js';

type Step = { readonly crashes: boolean; readonly which: number } & (
  | { readonly do: 'admit'; readonly path: string; readonly scheme: 'http' | 'https'; readonly priority: PriorityClass }
  | { readonly do: 'store'; readonly fails: boolean }
  | { readonly do: 'resolve'; readonly resolution: Resolution }
  | { readonly do: 'land'; readonly answer: Answer }
  | { readonly do: 'parse'; readonly how: 'well' | 'badly' | 'crash'; readonly disallow: boolean }
  | {
      readonly do: 'errandDone';
      readonly found: 'rules' | 'missing' | 'failure' | 'back' | 'on';
      readonly disallow: boolean;
    }
  | { readonly do: 'blame'; readonly fault: Fault }
  | { readonly do: 'wake' | 'grant' | 'commit' | 'lose' | 'errand' }
  | { readonly do: 'pass'; readonly ms: number }
  /** Whatever is waited for comes. */
  | { readonly do: 'next'; readonly answer: Answer; readonly disallow: boolean }
);

function step(world: HostWorld, one: Step): void {
  const { crashes, which } = one;
  switch (one.do) {
    case 'admit':
      return world.admit(one.path, one.scheme, one.priority);
    case 'wake':
      return world.wakeIfDue(crashes);
    case 'store':
      return world.answerStore(one.fails, crashes);
    case 'resolve':
      return world.resolve(one.resolution, crashes);
    case 'grant':
      return world.grant(crashes);
    case 'land':
      return world.land(one.answer, crashes);
    case 'blame':
      return world.blame(one.fault, crashes);
    case 'parse':
      return world.parse(which, one.how, one.disallow, crashes);
    case 'commit':
      return world.commit(1 + (which % 3), crashes);
    case 'lose':
      return world.lose(which);
    case 'errand':
      return world.errand(crashes);
    case 'errandDone':
      return world.errandDone(one.found, one.disallow, crashes);
    case 'pass':
      return world.pass(one.ms);
    case 'next':
      world.wakeIfDue();
      world.answerStore(false);
      world.resolve(ADDRESSES);
      world.parse(which, 'well', one.disallow, crashes);
      world.blame('theirs');
      world.land(one.answer);
      return world.grant();
  }
}

const FAILED: Resolution = { kind: 'failed', code: 'dns_failed', detail: '', expiresInMs: 5_000 };
const REFUSED: Resolution = { kind: 'refused', detail: '', expiresInMs: 5_000 };

const ANSWERS: Answer[] = [
  'ok',
  'redirect home',
  'redirect away',
  'sent back',
  'missing',
  'forbidden',
  'throttled',
  'later',
  'broken',
  'refused',
  'stale',
  'truncated',
  'interrupted',
  'crashed',
];

/** `crashOdds`: one step in so many crashes the host; 0 never. */
function steps(crashOdds: number): fc.Arbitrary<Step> {
  const common = {
    crashes: fc.integer({ min: 1, max: Math.max(1, crashOdds) }).map((n) => crashOdds > 0 && n === crashOdds),
    which: fc.nat(7),
  };
  const priority = fc.integer({ min: 1, max: 3 }) as fc.Arbitrary<PriorityClass>;
  const path = fc.constantFrom('/p', '/p', '/private');
  const scheme = fc.constantFrom('http' as const, 'http' as const, 'https' as const);
  const answer = fc.oneof(
    { weight: 6, arbitrary: fc.constant('ok' as const) },
    { weight: 2, arbitrary: fc.constant('sent back' as const) },
    { weight: 8, arbitrary: fc.constantFrom(...ANSWERS) },
  );
  const resolution = fc.constantFrom(ADDRESSES, ADDRESSES, ADDRESSES, ADDRESSES, FAILED, REFUSED);
  const how = fc.constantFrom(
    'well' as const,
    'well' as const,
    'well' as const,
    'well' as const,
    'badly' as const,
    'crash' as const,
  );
  const disallow = fc.boolean();
  const found = fc.constantFrom(
    'rules' as const,
    'missing' as const,
    'failure' as const,
    'back' as const,
    'on' as const,
  );
  const kinds: [number, fc.Arbitrary<Step>][] = [
    [8, fc.record({ ...common, do: fc.constant('admit' as const), path, scheme, priority })],
    [
      6,
      fc.record({
        ...common,
        do: fc.constant('store' as const),
        fails: fc.constantFrom(false, false, false, false, true),
      }),
    ],
    [4, fc.record({ ...common, do: fc.constant('resolve' as const), resolution })],
    [7, fc.record({ ...common, do: fc.constant('land' as const), answer })],
    [6, fc.record({ ...common, do: fc.constant('parse' as const), how, disallow })],
    [4, fc.record({ ...common, do: fc.constant('blame' as const), fault: fc.constantFrom('theirs', 'ours') })],
    [3, fc.record({ ...common, do: fc.constant('errandDone' as const), found, disallow })],
    [14, fc.record({ ...common, do: fc.constantFrom('wake' as const, 'grant' as const, 'commit' as const) })],
    [2, fc.record({ ...common, do: fc.constantFrom('lose' as const, 'errand' as const) })],
    [25, fc.record({ ...common, do: fc.constant('next' as const), answer, disallow })],
    [
      5,
      fc.record({
        ...common,
        do: fc.constant('pass' as const),
        ms: fc.constantFrom(1, 200, 3_000, 11_000, 70_000, 86_400_000),
      }),
    ],
  ];
  return fc.oneof(...kinds.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

function tried(crashOdds: number, numRuns: number): { requests: number; rests: number; left: number; carried: number } {
  const sum = { requests: 0, rests: 0, left: 0, carried: 0 };
  fc.assert(
    fc.property(fc.array(steps(crashOdds), { minLength: 60, maxLength: 250 }), (all) => {
      const world = new HostWorld();
      for (const one of all) step(world, one);
      world.finish();
      sum.requests += world.requests;
      sum.rests += world.rests;
      sum.left += world.left.length;
      sum.carried += world.carried;
    }),
    { numRuns, seed: 20260701 + crashOdds },
  );
  return sum;
}

describe('a host in random worlds', () => {
  it('P1 to P6, D1, D2, R1: in a web that fails, every row leaves once, nothing is asked against the rules', () => {
    const { requests, rests, left, carried } = tried(0, 150);
    expect(Math.min(requests, rests, left)).toBeGreaterThan(400);
    expect(carried).toBeGreaterThan(20);
  });

  it('B4: and so it is where the host itself crashes', () => {
    const { requests, rests, left, carried } = tried(20, 150);
    expect(Math.min(requests, rests, left)).toBeGreaterThan(400);
    expect(carried).toBeGreaterThan(20);
  });
});
