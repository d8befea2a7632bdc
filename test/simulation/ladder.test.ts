/** R2, B1, B2 in simulated time: hosts with doors, a browser service that is ill, kills; and the rules that judge them. */
import { describe, expect, it } from 'vitest';
import { productionEngine } from '../../src/sim/engine.js';
import { judgeCalls, judgeRequests } from '../../src/sim/ladder-verdict.js';
import type { Call } from '../../src/sim/sidecar.js';
import type { TieredRequest } from '../../src/sim/tiered-request.js';
import { runUniverse } from '../../src/sim/universe.js';

const DOORS = { hosts: 6, pages: 40, doors: 0.8, illnesses: 2, kills: 4 };

describe('a web with doors', () => {
  it('is had as a whole, whatever the browser service suffers meanwhile, and no rule is broken', async () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const { violations, pages, pagesExpected, pardoned, faultKinds } = await runUniverse(
        { ...DOORS, seed },
        productionEngine(),
      );
      expect(violations, `seed ${seed}`).toEqual([]);
      expect(pages + pardoned).toBeGreaterThanOrEqual(pagesExpected);
      for (const kind of Object.keys(faultKinds)) kinds.add(kind);
    }
    for (const kind of ['door challenge', 'door script_shell', 'door http_forbidden', 'sidecar', 'kill'])
      expect(kinds).toContain(kind);
  });

  it('the same seed is the same history', async () => {
    const hashOf = async () => (await runUniverse({ ...DOORS, seed: 3 }, productionEngine())).traceHash;
    expect(await hashOf()).toBe(await hashOf());
  });
});

const request = (tier: TieredRequest['tier'], changes: Partial<TieredRequest> = {}): TieredRequest => ({
  owner: 1,
  url: 'http://a.test/',
  tier,
  beganAtMs: 0,
  endedAtMs: 1,
  answer: 200,
  isDoor: false,
  isFailure: false,
  ...changes,
});

function rulesBroken(
  requests: readonly TieredRequest[],
  deaths: Parameters<typeof judgeRequests>[1] = new Map(),
  isForgetful = false,
): string[] {
  const broken: string[] = [];
  judgeRequests(requests, deaths, [], isForgetful, (rule) => broken.push(rule));
  return broken;
}

describe('R2: the rules of requests', () => {
  it('an error of the server, a throttle, no answer at all lead nowhere up', () => {
    for (const answer of [500, 503, 599, 429, 'none'] as const) {
      expect(rulesBroken([request(1, { answer }), request(2)])).toEqual(['ladder']);
      expect(rulesBroken([request(2, { answer }), request(2)])).toEqual([]);
      expect(rulesBroken([request(2, { answer }), request(1)])).toEqual([]);
      expect(rulesBroken([request(1, { answer }), request(2, { url: 'http://a.test/2' })])).toEqual([]);
    }
    expect(rulesBroken([request(1, { answer: 403 }), request(2)])).toEqual([]);
    expect(rulesBroken([request(1, { answer: null }), request(2)])).toEqual([]);
  });

  it('what has met a door is asked for by a higher tier, until there is none', () => {
    expect(rulesBroken([request(1, { isDoor: true }), request(1)])).toEqual(['rung']);
    expect(rulesBroken([request(2, { isDoor: true }), request(1)])).toEqual(['rung']);
    expect(rulesBroken([request(1, { isDoor: true }), request(2)])).toEqual([]);
    expect(rulesBroken([request(3, { isDoor: true }), request(1)])).toEqual([]);
  });

  it('what was learned within a second before a kill may be forgotten; what was learned before may not', () => {
    const next = request(1, { owner: 2 });
    const deaths = new Map([[1, { atMs: 5_000, graceMs: 1_000 }]]);
    expect(rulesBroken([request(1, { isDoor: true, endedAtMs: 4_000 }), next], deaths)).toEqual(['rung']);
    expect(rulesBroken([request(1, { isDoor: true, endedAtMs: 4_001 }), next], deaths)).toEqual([]);
    expect(rulesBroken([request(1, { isDoor: true, endedAtMs: 4_000 }), next], deaths, true)).toEqual([]);
  });

  it('P4: a robots.txt is asked for plainly', () => {
    expect(rulesBroken([request(2, { url: 'http://a.test/robots.txt' })])).toEqual(['robots-tier']);
    expect(rulesBroken([request(1, { url: 'http://a.test/robots.txt' })])).toEqual([]);
  });
});

const call = (beganAtMs: number, outcome: Call['outcome'], forMs = 10, owner = 1): Call => ({
  owner,
  url: `http://a.test/${beganAtMs}`,
  beganAtMs,
  endedAtMs: beganAtMs + forMs,
  outcome,
});
const FIVE = [0, 100, 200, 300, 400].map((atMs) => call(atMs, 'failed'));

function callsBroken(calls: readonly Call[]): number {
  let broken = 0;
  judgeCalls(calls, 50, () => broken++);
  return broken;
}

describe('B1: the rule of calls', () => {
  it('after five failures in a row two minutes of rest, to the millisecond', () => {
    expect(callsBroken([...FIVE, call(410 + 119_999, 'worked')])).toBe(1);
    expect(callsBroken([...FIVE, call(410 + 120_000, 'worked')])).toBe(0);
    expect(callsBroken([...FIVE.slice(1), call(500, 'worked'), call(600, 'failed'), call(700, 'worked')])).toBe(0);
  });

  it('then one at a time until one has worked; a probe that fails is another rest', () => {
    const probeAtMs = 410 + 120_000;
    const slow = call(probeAtMs, 'worked', 5_000);
    expect(callsBroken([...FIVE, slow, call(probeAtMs + 1_000, 'worked')])).toBe(1);
    expect(callsBroken([...FIVE, slow, call(probeAtMs + 5_000, 'worked'), call(probeAtMs + 5_001, 'worked')])).toBe(0);
    expect(callsBroken([...FIVE, call(probeAtMs, 'failed'), call(probeAtMs + 60_000, 'worked')])).toBe(1);
  });

  it('what was granted as it failed is no breach, and a new life knows nothing of it', () => {
    expect(callsBroken([...FIVE, call(420, 'failed')])).toBe(0);
    expect(callsBroken([...FIVE, call(5_000, 'failed', 10, 2)])).toBe(0);
  });
});
