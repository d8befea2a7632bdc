import { describe, expect, it } from 'vitest';
import type { UrlRecord } from '../../src/domain/record.js';
import { candidate, isRefused } from '../../src/page/candidate.js';
import type { OriginRobots } from '../../src/policy/robots/freshness.js';
import type { RobotsEntry } from '../../src/protocols/host-snapshot.js';
import { gatherFacts, HOPS_MAX, type WhySources, type WhyStore } from '../../src/why/gather.js';
import { recordOf } from '../store/parts.js';

const NOW_MS = Date.UTC(2026, 2, 1);

/** A store of these records; it counts what is read of it. */
function storeOf(records: readonly UrlRecord[], robots: readonly RobotsEntry[] = []) {
  const byKey = new Map(records.map((record) => [record.key, record]));
  const store: WhyStore = {
    readRecord: async (key, host) => {
      const record = byKey.get(key);
      return record?.host === host ? record : null;
    },
    loadHost: async (host) => ({ host, snapshot: null, robots, summary: null, head: NO_HEAD }),
    readStanding: async () => null,
    readDead: async () => null,
  };
  return { store, nowMs: NOW_MS, judge: null, termsOf: null, liveOf: null } satisfies WhySources;
}

const NO_HEAD = {
  ready: [],
  readyComplete: true,
  waiting: [],
  waitingComplete: true,
  parked: [],
  parkedComplete: true,
  notes: [],
  failure: null,
} as const;

/** Page 0 is the seed, each page is linked from the one before. */
function chain(length: number): UrlRecord[] {
  return Array.from({ length }, (_, index) => {
    const url = `http://a.test/${index}`;
    if (index === 0) return recordOf(url);
    return recordOf(url, {
      source: 'link',
      via: `http://a.test/${index - 1}`,
      hopPath: 'L'.repeat(index),
      depth: index,
    });
  });
}

describe('the way back to the seed', () => {
  it('is walked hop by hop, the nearest first', async () => {
    const { hops, reachesSeed } = await gatherFacts('http://a.test/3', storeOf(chain(4)));
    expect(hops.map(({ url }) => url)).toEqual(['http://a.test/2', 'http://a.test/1', 'http://a.test/0']);
    expect(reachesSeed).toBe(true);
  });

  it('is bounded: a seed as far as the bound is reached, one further is not', async () => {
    const records = storeOf(chain(HOPS_MAX + 2));
    expect(await gatherFacts(`http://a.test/${HOPS_MAX}`, records)).toMatchObject({ reachesSeed: true });
    const further = await gatherFacts(`http://a.test/${HOPS_MAX + 1}`, records);
    expect(further.reachesSeed).toBe(false);
    expect(further.hops).toHaveLength(HOPS_MAX);
  });

  it('ends where a record is missing, and in a circle', async () => {
    const [seed, first, second] = chain(3) as [UrlRecord, UrlRecord, UrlRecord];
    expect(await gatherFacts(second.url, storeOf([seed, second]))).toMatchObject({ hops: [], reachesSeed: false });
    const circle = await gatherFacts(second.url, storeOf([{ ...first, via: second.url }, second]));
    expect(circle).toMatchObject({ reachesSeed: false });
    expect(circle.hops).toHaveLength(HOPS_MAX);
  });
});

describe('spellings', () => {
  it.each([
    ['http://a.test/x', 'https://a.test/x'],
    ['http://a.test/x/', 'http://a.test/x'],
    ['http://a.test/x', 'http://a.test/x/'],
    ['http://www.a.test/x', 'http://a.test/x'],
    ['http://a.test/x', 'http://www.a.test/x'],
    ['http://a.test/x?session=1', 'http://a.test/x'],
  ])('%s: close by, %s is known', async (asked, known) => {
    const facts = await gatherFacts(asked, storeOf([recordOf(known, { state: 'active' })]));
    expect(facts).toMatchObject({ record: null, neighbours: [{ url: known, state: 'active' }] });
  });

  it('of a URL that is known, none is looked for', async () => {
    const records = [recordOf('http://a.test/x'), recordOf('https://a.test/x')];
    expect((await gatherFacts('http://a.test/x', storeOf(records))).neighbours).toEqual([]);
  });

  it.each(['http://[::1]/', 'http://127.0.0.1:8080/', 'http://a.test:1/?', `http://${'a'.repeat(60)}.test/`])(
    'any host has some: %s',
    async (asked) => {
      expect((await gatherFacts(asked, storeOf([]))).neighbours).toEqual([]);
    },
  );

  it.each([
    ['tulips', 'url_invalid'],
    ['mailto:a@b.test', 'url_scheme'],
    [`http://a.test/${'x'.repeat(9_000)}`, 'url_too_long'],
    ['http://a;b/', 'url_host_invalid'],
  ])('%s is no URL: %s', async (asked, refusal) => {
    expect(await gatherFacts(asked, storeOf([]))).toMatchObject({ spelling: { ok: false, refusal }, robots: null });
  });
});

describe('robots.txt', () => {
  const rules = {
    rules: [{ allow: false, pattern: '/private', line: 2, text: 'Disallow: /private' }],
    crawlDelaySeconds: 7,
    sitemaps: [],
    bytes: 40,
  };
  const fresh: OriginRobots = { phase: 'fresh', rules, fetchedAtMs: NOW_MS - 1_000, status: 200, validators: null };

  it("P4: the rules of the URL's own origin decide, and of no other", async () => {
    const store = storeOf([], [{ origin: 'http://a.test', state: fresh }]);
    expect((await gatherFacts('http://a.test/private', store)).robots?.decision).toEqual({
      allowed: false,
      rule: { line: 2, text: 'Disallow: /private' },
    });
    expect((await gatherFacts('https://a.test/private', store)).robots).toEqual({
      state: { phase: 'unknown' },
      decision: null,
    });
  });
});

it('where a redirect leads, and what became of that', async () => {
  const attempt = { atMs: 1, outcome: 'redirected', code: 'redirect', status: 301, tier: 1, durationMs: 1 } as const;
  const moved = recordOf('http://a.test/old', {
    state: 'redirected',
    attempts: [{ ...attempt, detail: 'http://b.test/new' }],
  });
  const target = recordOf('http://b.test/new', { state: 'active' });
  expect((await gatherFacts(moved.url, storeOf([moved, target]))).target).toEqual({ url: target.url, state: 'active' });
  expect((await gatherFacts(moved.url, storeOf([moved]))).target).toBeNull();
});

it('a key is that of the canonical form, whatever was asked', async () => {
  const made = candidate('http://a.test/x', null, 'seed', null);
  if (isRefused(made)) throw new Error('no candidate');
  const { spelling } = await gatherFacts('HTTP://A.test:80/y/../x#z', storeOf([]));
  expect(spelling).toMatchObject({ ok: true, url: made.url, key: made.key });
});
