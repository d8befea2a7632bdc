import { describe, expect, it } from 'vitest';
import { tellStory } from '../../src/sim/story.js';
import { runUniverse, type UniverseResult, type UniverseSettings } from '../../src/sim/universe.js';
import { littleEngine, type Mutant } from './little-crawler.js';

const EVENTFUL: Partial<UniverseSettings> = { kills: 4, stops: 1, freezes: 2, clockJumps: 1, storeErrors: 3 };

async function swarm(
  seeds: number,
  partial: Partial<UniverseSettings>,
  mutant: Mutant = 'none',
): Promise<UniverseResult[]> {
  const results: UniverseResult[] = [];
  for (let seed = 1; seed <= seeds; seed++) results.push(await runUniverse({ seed, ...partial }, littleEngine(mutant)));
  return results;
}

function sum(results: readonly UniverseResult[], figure: (result: UniverseResult) => number): number {
  return results.reduce((total, result) => total + figure(result), 0);
}

describe('a crawler that keeps the rules', () => {
  it('is acquitted in 60 universes, and had to bear something in them', async () => {
    const results = await swarm(60, EVENTFUL);
    for (const result of results) expect(result.violations, tellStory(result)).toEqual([]);
    expect(sum(results, ({ kills }) => kills)).toBeGreaterThan(120);
    expect(sum(results, ({ stops }) => stops)).toBeGreaterThan(20);
    const kinds = new Set(results.flatMap(({ faultKinds }) => Object.keys(faultKinds)));
    const wanted = [
      'status 429',
      'status 503',
      'status 500',
      'reset',
      'truncated',
      'silent',
      'drip',
      'stale',
      'outage',
    ];
    for (const kind of [...wanted, 'dns_failed', 'dns_not_found', 'disk', 'parser', 'freeze', 'clock-jump'])
      expect(kinds).toContain(kind);
  });

  it('gets every page that can be had, once, in each of them', async () => {
    for (const { pages, pagesExpected } of await swarm(5, { kills: 0, pages: 120 })) {
      expect(pages).toBe(pagesExpected);
      expect(pagesExpected).toBeGreaterThan(20);
    }
  });

  it('has one history a seed', async () => {
    const histories = await swarm(6, EVENTFUL);
    const again = await swarm(6, EVENTFUL);
    expect(again.map(({ traceHash, events }) => [traceHash, events])).toEqual(
      histories.map(({ traceHash, events }) => [traceHash, events]),
    );
    expect(new Set(again.map(({ traceHash }) => traceHash)).size).toBe(6);
  });
});

/** What each planted mistake is found guilty of, and within how many universes. */
const MUTANTS: readonly (readonly [Mutant, Partial<UniverseSettings>, readonly string[]])[] = [
  ['hurries-after-restart', { kills: 6 }, ['gap']],
  ['counts-delay-from-start', {}, ['gap']],
  ['trusts-timers', {}, ['gap']],
  ['ignores-retry-after', {}, ['retry-after']],
  ['forgets-retry-after', { kills: 6, faults: 0.6 }, ['retry-after']],
  ['ignores-robots', {}, ['robots-first']],
  ['asks-before-robots', {}, ['robots-first']],
  ['ignores-crawl-delay', {}, ['gap']],
  ['writes-links-later', { kills: 6 }, ['lost', 'unknown-url']],
  ['writes-page-first', { kills: 6 }, ['double']],
  ['goes-on-after-failed-write', { storeErrors: 4, simulatedMsMax: 3_600_000 }, ['trespass']],
  ['keeps-bytes', {}, ['bytes-held']],
  ['wrong-address', {}, ['trespass']],
  ['gives-up-after-one-failure', {}, ['lost', 'state']],
  ['stops-without-draining', { stops: 4, kills: 0 }, ['bytes-held', 'exchange-left']],
  ['feeds-poison-on', { oddities: 0.5, kills: 0 }, ['poison']],
  ['spins', { eventsMax: 50_000 }, ['simulation_events']],
];

describe('a planted mistake is found:', () => {
  it.each(MUTANTS)('%s', async (mutant, partial, guilt) => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 40 && !guilt.some((rule) => found.has(rule)); seed++) {
      const { violations } = await runUniverse({ seed, ...partial }, littleEngine(mutant));
      for (const { rule } of violations) found.add(rule);
    }
    expect(
      guilt.some((rule) => found.has(rule)),
      `found guilty of: ${[...found].join(', ')}`,
    ).toBe(true);
  });
});

describe('the story of a failing universe', () => {
  it('says what befell the crawl, what it did wrong and what the server saw', async () => {
    const result = await runUniverse({ seed: 3, kills: 2 }, littleEngine('counts-delay-from-start'));
    const story = tellStory(result);
    expect(story).toMatch(/^Universe 3: 6 hosts, \d+ pages, of which \d+ can be had and must be\.$/m);
    expect(story).toMatch(/life 1: boot/);
    expect(story).toMatch(
      /1\. gap at h\d+\.site\d\.test, \d+\.\d{3} s: \d+\.\d{3} ms after the end of the one before, not 1000/,
    );
    expect(story).toMatch(/is asked for \(request \d+\)/);
    expect(story).toMatch(/is answered with 200/);
    expect(story).toContain('"seed":3');
  });

  it('says when there is nothing to tell', async () => {
    expect(tellStory(await runUniverse({ seed: 1 }, littleEngine()))).toContain('It did nothing wrong.');
  });
});
