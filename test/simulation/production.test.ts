import { describe, expect, it } from 'vitest';
import { productionEngine } from '../../src/sim/engine.js';
import { tellStory } from '../../src/sim/story.js';
import type { UniverseSettings } from '../../src/sim/settings.js';
import { runUniverse, type UniverseResult } from '../../src/sim/universe.js';

const SIZE = { hosts: 5, pages: 40, eventsMax: 400_000, simulatedMsMax: 10 * 86_400_000, openings: true };

async function acquitted(seeds: readonly number[], partial: Partial<UniverseSettings>): Promise<UniverseResult[]> {
  const results: UniverseResult[] = [];
  for (const seed of seeds) {
    const result = await runUniverse({ ...SIZE, ...partial, seed }, productionEngine());
    expect(result.violations, tellStory(result)).toEqual([]);
    results.push(result);
  }
  return results;
}

const seeds = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);

describe('the production actors, in universes', () => {
  it('P1 to P5: of a web on a good day', async () => {
    await acquitted(seeds(1, 8), { kills: 0, faults: 0, hostFaults: 0, oddities: 0 });
  });

  it('P1 to P5, R1, B3: of a web that fails', async () => {
    const results = await acquitted(seeds(20, 10), { kills: 0 });
    for (const { faults } of results) expect(faults).toBeGreaterThan(0);
  });

  it('P9, D1, D2: under kill -9', async () => {
    const results = await acquitted(seeds(40, 15), { kills: 6 });
    expect(results.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThan(45);
  });

  it('D3: with a disk that fails, before, inside and after a write', async () => {
    const results = await acquitted(seeds(110, 15), { kills: 2, storeErrors: 4 });
    expect(results.reduce((sum, { faultKinds }) => sum + (faultKinds.disk ?? 0), 0)).toBeGreaterThan(20);
  });

  it('P8: stopped, frozen, and with a wall clock that jumps', async () => {
    const results = await acquitted(seeds(80, 8), { kills: 1, stops: 3, freezes: 3, clockJumps: 2, pauses: 2 });
    expect(results.reduce((sum, { stops }) => sum + stops, 0)).toBeGreaterThan(8);
  });

  it('L4, W04: asked once more for every page, which is told as unchanged, under kill -9 and a disk that fails', async () => {
    const results = await acquitted(seeds(140, 12), { kills: 5, storeErrors: 3, again: true });
    for (const { pages, pagesExpected } of results) expect(pages).toBeGreaterThanOrEqual(2 * pagesExpected);
  });

  it('D1: told by operators while it runs and dies: pauses, exclusions that come and go, seeds', async () => {
    const told = { hosts: 3, pages: 60, kills: 2, pauses: 1, exclusions: 8, sowings: 4 };
    const results = await acquitted(seeds(140, 12), told);
    const sum = (kind: string) => results.reduce((total, { faultKinds }) => total + (faultKinds[kind] ?? 0), 0);
    expect(sum('exclude')).toBeGreaterThan(20);
    expect(sum('sow')).toBeGreaterThan(30);
  });

  it('have one history a seed, actor by actor', async () => {
    const run = () => runUniverse({ ...SIZE, seed: 3, kills: 4, storeErrors: 2 }, productionEngine());
    const [first, second] = [await run(), await run()];
    expect([second.traceHash, second.events]).toEqual([first.traceHash, first.events]);
  });
});
