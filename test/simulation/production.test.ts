/** The production actors in universes: small ones of every kind, long ones, and some over a real disk. Bounded by events, never by time. */
import { describe, expect, it } from 'vitest';
import { productionEngine } from '../../src/sim/engine.js';
import type { UniverseSettings } from '../../src/sim/settings.js';
import { tellStory } from '../../src/sim/story.js';
import { drawSwarm, longRun, type Mode } from '../../src/sim/swarm.js';
import { runUniverse, type UniverseResult } from '../../src/sim/universe.js';

const SIZE = { hosts: 5, pages: 40, eventsMax: 400_000, simulatedMsMax: 10 * 86_400_000, openings: true };
const DAY_MS = 86_400_000;

async function acquitted(settings: Iterable<Partial<UniverseSettings>>): Promise<UniverseResult[]> {
  const results: UniverseResult[] = [];
  for (const partial of settings) {
    const result = await runUniverse(partial, productionEngine());
    expect(result.violations, tellStory(result)).toEqual([]);
    results.push(result);
  }
  return results;
}

const seeds = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);
const ofSize = (from: number, count: number, partial: Partial<UniverseSettings>) =>
  seeds(from, count).map((seed) => ({ ...SIZE, ...partial, seed }));
const swarm = (mode: Mode, from: number, count: number, partial: Partial<UniverseSettings> = {}) =>
  seeds(from, count).map((seed) => ({ ...drawSwarm(seed, mode), eventsMax: 3_000_000, ...partial }));

function happened(results: readonly UniverseResult[], kind: string): number {
  return results.reduce((sum, { faultKinds }) => sum + (faultKinds[kind] ?? 0), 0);
}

describe('a swarm of small universes', () => {
  // Kinds of trouble that a swarm of this size must have met: one without is no proof of anything.
  const KINDS = [
    'kill',
    'power-loss',
    'actor-crash',
    'cut',
    'stop',
    'freeze',
    'clock-jump',
    'disk',
    'pause',
    'exclude',
  ];

  it('until nothing is left: all that may be had has been had, once (P1–P9, B3–B5, D1, D2, D6)', async () => {
    const results = await acquitted(swarm('liveness', 20_000, 80));
    for (const kind of KINDS) expect(happened(results, kind), kind).toBeGreaterThan(0);
  });

  it('cut short while the trouble goes on: nothing was done that may not be done (P1–P9, B3–B5, D2)', async () => {
    const results = await acquitted(swarm('safety', 30_000, 60));
    for (const kind of KINDS) expect(happened(results, kind), kind).toBeGreaterThan(0);
  });

  it('over a real LevelDB and real files: a crash is a copy of the open directory', async () => {
    const results = await acquitted(swarm('liveness', 40_000, 6, { medium: 'disk', kills: 3, powerLosses: 0 }));
    expect(happened(results, 'kill')).toBeGreaterThan(6);
  });
});

describe('long runs', () => {
  it('have one history a seed', async () => {
    const day = { ...longRun(7, 1, 8), pages: 120, eventsMax: 3_000_000 };
    const [first, second] = await acquitted([day, day]);
    expect([second?.traceHash, second?.events]).toEqual([first?.traceHash, first?.events]);
    expect(first?.incarnations).toBeGreaterThan(5);
  });

  it('months of a small web: an idle crawl costs next to nothing (R35, P8)', async () => {
    const season = { ...longRun(3, 90, 4), pages: 24, simulatedMsMax: 91 * DAY_MS, eventsMax: 1_000_000 };
    const [{ events, requests }] = (await acquitted([season])) as [UniverseResult];
    expect(requests).toBeGreaterThan(100);
    expect(events / requests).toBeLessThan(500);
  });
});

describe('universes with one kind of trouble', () => {
  it('P1 to P5: of a web on a good day', async () => {
    const quiet = { kills: 0, faults: 0, hostFaults: 0, oddities: 0 };
    for (const { requests } of await acquitted(ofSize(1, 6, quiet))) expect(requests).toBeGreaterThan(3);
  });

  it('P1 to P5, R1, B3: of a web that fails', async () => {
    for (const { faults } of await acquitted(ofSize(20, 8, { kills: 0 }))) expect(faults).toBeGreaterThan(0);
  });

  it('P9, D1, D2: under kill -9', async () => {
    const results = await acquitted(ofSize(40, 12, { kills: 6 }));
    expect(results.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThan(36);
  });

  it('D7: under loss of power', async () => {
    expect(happened(await acquitted(ofSize(60, 12, { kills: 1, powerLosses: 4 })), 'power-loss')).toBeGreaterThan(20);
  });

  it('B4: with actors that crash', async () => {
    expect(happened(await acquitted(ofSize(200, 12, { kills: 1, actorCrashes: 3 })), 'actor-crash')).toBeGreaterThan(
      15,
    );
  });

  it('B5: with a network that is down, in a web of many hosts', async () => {
    const wide = { hosts: 16, pages: 96, kills: 1, cuts: 2, hostFaults: 0.1, openings: false };
    const results = await acquitted(ofSize(300, 8, wide));
    expect(happened(results, 'cut')).toBeGreaterThan(10);
  });

  it('D3: with a disk that fails, before, inside and after a write', async () => {
    expect(happened(await acquitted(ofSize(110, 12, { kills: 2, storeErrors: 4 })), 'disk')).toBeGreaterThan(15);
  });

  it('P8: stopped, frozen, and with a wall clock that jumps', async () => {
    const results = await acquitted(ofSize(80, 8, { kills: 1, stops: 3, freezes: 3, clockJumps: 2, pauses: 2 }));
    expect(results.reduce((sum, { stops }) => sum + stops, 0)).toBeGreaterThan(8);
  });

  it('L4, W04: asked once more for every page, which is told as unchanged, under kill -9 and a disk that fails', async () => {
    const results = await acquitted(ofSize(140, 8, { kills: 5, storeErrors: 3, again: true }));
    for (const { pages, pagesExpected } of results) expect(pages).toBeGreaterThanOrEqual(2 * pagesExpected);
  });

  it('D1: told by operators while it runs and dies: pauses, exclusions that come and go, seeds', async () => {
    const told = { hosts: 3, pages: 60, kills: 2, pauses: 1, exclusions: 8, sowings: 4 };
    const results = await acquitted(ofSize(140, 10, told));
    expect(happened(results, 'exclude')).toBeGreaterThan(16);
    expect(happened(results, 'sow')).toBeGreaterThan(24);
  });
});
