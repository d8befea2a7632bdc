/** A failing universe is made small: what is left is what its violation needs, and nothing else is. */
import { describe, expect, it } from 'vitest';
import { UNIVERSE_DEFAULTS, type UniverseSettings } from '../../src/sim/settings.js';
import { shrink } from '../../src/sim/shrink.js';
import type { UniverseResult } from '../../src/sim/universe.js';

/** A universe that breaks `rule` where its settings say so. */
function judged(settings: UniverseSettings, rules: readonly string[]): UniverseResult {
  const violations = rules.map((rule) => ({ rule, detail: '', host: null, atMs: null }));
  return { seed: settings.seed, violations, evidence: { settings } } as unknown as UniverseResult;
}

const LARGE: UniverseSettings = {
  ...UNIVERSE_DEFAULTS,
  hosts: 12,
  pages: 200,
  kills: 6,
  cuts: 2,
  storeErrors: 3,
  again: true,
};

describe('shrinking', () => {
  it('leaves what the violation needs: two hosts, nine pages, one kill', async () => {
    const isBroken = ({ hosts, pages, kills }: UniverseSettings) => hosts >= 2 && pages >= 9 && kills >= 1;
    const run = async (settings: UniverseSettings) => judged(settings, isBroken(settings) ? ['gap'] : []);
    const { result, tried } = await shrink(judged(LARGE, ['gap']), run, 1_000);
    const { hosts, pages, kills, cuts, storeErrors, again, faults } = result.evidence.settings;
    expect({ hosts, pages, kills, cuts, storeErrors, again, faults }).toEqual({
      hosts: 2,
      pages: 9,
      kills: 1,
      cuts: 0,
      storeErrors: 0,
      again: false,
      faults: 0,
    });
    expect(tried).toBeLessThan(200);
  });

  it('takes no other violation for the one it was called for', async () => {
    const run = async (settings: UniverseSettings) => judged(settings, [settings.kills > 0 ? 'lost' : 'uncaught']);
    const { result } = await shrink(judged(LARGE, ['lost']), run);
    expect(result.evidence.settings.kills).toBe(1);
  });

  it('ends after as many tries as it is given', async () => {
    let runs = 0;
    const run = async (settings: UniverseSettings) => {
      runs += 1;
      return judged(settings, ['gap']);
    };
    const { tried } = await shrink(judged(LARGE, ['gap']), run, 7);
    expect([tried, runs]).toEqual([7, 7]);
  });
});
