import { describe, expect, it } from 'vitest';
import { type HostFacts, hostReport, hostRow, type Standing, waitOf } from '../../src/admin/host-facts.js';
import { Rate } from '../../src/admin/rate.js';
import { type RunFacts, statusReport, type Survey } from '../../src/admin/status.js';
import type { GateFacts } from '../../src/protocols/bench.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';

const NOW = 1_700_000_000_000;
const terms = { delayMsOf: () => 1_000, adaptiveFactor: 10 };
const summary = {
  host: 'a.test',
  ready: [0, 0, 3, 0, 0, 0, 0, 0],
  heads: [],
  waiting: 0,
  parked: 0,
  blocked: 0,
  wakeAtMs: null,
};
const facts = (changes: Partial<HostFacts> = {}): HostFacts => ({
  name: 'a.test',
  summary,
  snapshot: UNTOUCHED,
  robots: [],
  head: [],
  firstDueAtMs: null,
  ...changes,
});
const gate = (changes: Partial<GateFacts> = {}): GateFacts => ({
  host: 'a.test',
  phase: 'open',
  nextAllowedAtMs: NOW - 1,
  inFlightSinceMs: null,
  address: null,
  wish: 2,
  ...changes,
});
const running: Standing = { bench: { holds: [] }, phase: 'running', nowMs: NOW };
const retrying = { ...summary, ready: new Array<number>(8).fill(0), waiting: 2 };
const parked = { ...retrying, waiting: 0, parked: 4 };
const unreachable = {
  phase: 'unreachable',
  sinceMs: NOW,
  retryAtMs: NOW + 60_000,
  attempts: 1,
  lastGood: null,
} as const;
const copy = {
  rules: { rules: [], crawlDelaySeconds: 5, sitemaps: [], bytes: 9 },
  fetchedAtMs: NOW - 90_000,
  validators: null,
  status: 200,
};

describe('why a host is not being asked', () => {
  const open = { ...UNTOUCHED, breaker: { phase: 'open', untilMs: NOW + 5, openings: 1 } } as const;
  it.each<[string, Partial<HostFacts>, GateFacts | null, Partial<Standing>, string | null, number | null]>([
    ['nothing is queued', { summary: { ...parked, parked: 0 } }, null, {}, null, null],
    ['a request is under way', {}, gate({ phase: 'in_flight', wish: null }), {}, 'in_flight', null],
    ['its verdict is awaited', {}, gate({ phase: 'judging', wish: null }), {}, 'in_flight', null],
    ['its delay', {}, gate({ phase: 'closed', nextAllowedAtMs: NOW + 7 }), {}, 'delay', NOW + 7],
    ['its address', {}, gate({ phase: 'behind_address' }), {}, 'address', null],
    ['a slot', {}, gate(), {}, 'permit', null],
    ['its turn', {}, null, {}, 'turn', null],
    ['the quarantine', { snapshot: open }, null, {}, 'breaker', NOW + 5],
    ['a quarantine that is over', { snapshot: open }, gate(), { nowMs: NOW + 5 }, 'permit', null],
    [
      'silence that it asked for',
      { snapshot: { ...UNTOUCHED, closedUntilMs: NOW + 9 } },
      gate(),
      {},
      'retry_after',
      NOW + 9,
    ],
    ['the next delivery', { summary: retrying, firstDueAtMs: NOW + 1 }, null, {}, 'retry', NOW + 1],
    ['a delivery that is due', { summary: retrying, firstDueAtMs: NOW }, gate(), {}, 'permit', null],
    [
      'its robots.txt',
      { summary: parked, robots: [{ origin: 'http://a.test', state: unreachable }] },
      null,
      {},
      'robots',
      NOW + 60_000,
    ],
    ['what holds all', {}, gate(), { bench: { holds: ['disk full'] } }, 'held', null],
    ['the pause', {}, gate(), { phase: 'paused' }, 'paused', null],
    ['a rest of its own, in a pause too', { snapshot: open }, gate(), { phase: 'paused' }, 'breaker', NOW + 5],
    ['and while nothing runs', { snapshot: open }, null, { phase: 'stopped', bench: null }, 'breaker', NOW + 5],
    ['the next run', {}, null, { phase: 'stopped', bench: null }, 'stopped', null],
  ])('%s', (_, changes, at, standing, why, untilMs) => {
    const found = waitOf(facts(changes), at, { ...running, ...standing });
    expect(found).toEqual(why === null ? null : { why, untilMs });
  });
});

it('P2: the delay that is told is the longest of its three', () => {
  const robots = [{ origin: 'http://a.test', state: { phase: 'fresh', ...copy } }] as const;
  const answered = { ...UNTOUCHED, lastDurationMs: 700 };
  expect(hostRow(facts(), null, terms, running).delayMs).toBe(1_000);
  expect(hostRow(facts({ robots }), null, terms, running).delayMs).toBe(5_000);
  expect(hostRow(facts({ robots, snapshot: answered }), null, terms, running).delayMs).toBe(7_000);
  expect(hostReport(facts({ robots, snapshot: answered }), null, terms, running)).toMatchObject({
    delay: { configuredMs: 1_000, crawlDelaySeconds: 5, adaptiveMs: 7_000 },
    origins: [{ origin: 'http://a.test', state: 'fresh', ageSeconds: 90, status: 200, crawlDelaySeconds: 5 }],
  });
});

it('when it may be asked next is the latest of gate, silence and quarantine', () => {
  const snapshot = { ...UNTOUCHED, closedUntilMs: NOW + 5_000 };
  const at = (ms: number) => hostRow(facts({ snapshot }), gate({ nextAllowedAtMs: ms }), terms, running).nextAllowedAt;
  expect([at(NOW + 4_999), at(NOW + 5_001)]).toEqual([
    new Date(NOW + 5_000).toISOString(),
    new Date(NOW + 5_001).toISOString(),
  ]);
});

describe('the state of a crawl', () => {
  const totals = { urls: 9, ready: 3, waiting: 0, parked: 0, dead: 0, pages: 6 };
  const run: RunFacts = {
    startedAtMs: NOW - 60_000,
    runsSinceMs: NOW - 20_000,
    pages: 6,
    requests: 7,
    failed: 0,
    ratePerSecond: 1,
    totals,
    hostsActive: 1,
    holds: [],
    holdsSinceMs: null,
    isPaused: false,
    drainsSinceMs: null,
    movedAtMs: NOW - 1_000,
  };
  const bench = {
    gates: [],
    hosts: { inFlight: 0, closed: 0, behindAddress: 0, inLine: 0 },
    holds: [] as string[],
    stage: 'granting',
    openVisits: 0,
    openBytes: 0,
    slotsFree: 2,
    tiers: [],
    backend: null,
    retries: null,
    probing: null,
  } as const;
  const survey: Survey = { known: 1, ready: 1, waiting: 0, examined: [facts()], gates: new Map(), bench };
  const report = (changes: Partial<RunFacts>, found: Partial<Survey> = {}) =>
    statusReport(
      {
        dataDir: 'd',
        totals: changes.totals ?? totals,
        terms,
        run: { ...run, ...changes },
        isPaused: false,
        nowMs: NOW,
      },
      { ...survey, ...found },
    );
  const none = { ...totals, ready: 0 };

  it.each<[string, Partial<RunFacts>, Partial<Survey>, string | null]>([
    ['running', {}, {}, new Date(NOW - 20_000).toISOString()],
    ['idle', { totals: none }, {}, new Date(NOW - 1_000).toISOString()],
    ['running', { totals: none }, { bench: { ...bench, openVisits: 1 } }, new Date(NOW - 20_000).toISOString()],
    [
      'held',
      { holds: ['disk full'], holdsSinceMs: NOW },
      { bench: { ...bench, holds: ['disk full'] } },
      new Date(NOW).toISOString(),
    ],
    ['paused', { isPaused: true, holdsSinceMs: NOW }, {}, new Date(NOW).toISOString()],
    ['draining', { isPaused: true, drainsSinceMs: NOW }, {}, new Date(NOW).toISOString()],
  ])('%s', (state, changes, found, since) => {
    expect(report(changes, found)).toMatchObject({ state, since });
  });

  it('stopped: nothing of a run', () => {
    const ground = { dataDir: 'd', totals, terms, run: null, isPaused: true, nowMs: NOW };
    expect(statusReport(ground, { ...survey, bench: null })).toMatchObject({
      ...{ state: 'stopped', run: null, etaSeconds: null, reasons: ['paused'] },
      waitingWhy: { stopped: 1 },
    });
  });

  it('time to go: the longest queue at its host’s pace, or all of it at the crawl’s, whichever takes longer', () => {
    expect(report({ ratePerSecond: 10 }).etaSeconds).toBe(3);
    expect(report({ ratePerSecond: 0.5 }).etaSeconds).toBe(6);
    expect(report({ totals: none }).etaSeconds).toBe(0);
    const resting = facts({ snapshot: { ...UNTOUCHED, closedUntilMs: NOW + 100_000 } });
    expect(report({ ratePerSecond: 10 }, { examined: [resting] }).etaSeconds).toBe(103);
  });

  it('no time to go is told where nothing goes: held, paused, ending', () => {
    expect(report({ isPaused: true, holdsSinceMs: NOW }).etaSeconds).toBeNull();
    expect(report({ drainsSinceMs: NOW }).etaSeconds).toBeNull();
    expect(report({ holdsSinceMs: NOW }, { bench: { ...bench, holds: ['disk full'] } }).etaSeconds).toBeNull();
  });

  it('B5: who is probed, and when', () => {
    const probing = { host: null, nextAtMs: NOW + 2_000, failed: 3 };
    const nextAt = new Date(NOW + 2_000).toISOString();
    expect(report({}, { bench: { ...bench, probing } }).probing).toEqual({ host: null, nextAt, failed: 3 });
    expect(report({}).probing).toBeNull();
  });
});

describe('the rate', () => {
  it('in its first moments is the plain mean', () => {
    const rate = new Rate(10_000, 0);
    for (let i = 1; i <= 10; i++) rate.count(i * 100);
    expect(rate.perSecond(1_000)).toBeCloseTo(10, 0);
    expect(new Rate(10_000, 0).perSecond(0)).toBe(0);
  });

  it('forgets by a half in its half-life, and never runs backwards', () => {
    const rate = new Rate(1_000, 0);
    for (let i = 0; i < 100; i++) rate.count(i * 100);
    const before = rate.perSecond(10_000);
    expect(before).toBeCloseTo(10, 0);
    expect(rate.perSecond(11_000)).toBeCloseTo(before / 2, 1);
    expect(rate.perSecond(5_000)).toBeGreaterThan(0);
  });
});
