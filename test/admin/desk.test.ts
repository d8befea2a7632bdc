/** The control of a stopped crawl over a double of its store: paging and filters of hosts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Desk, type Live } from '../../src/admin/desk.js';
import { HOST_STATES } from '../../src/admin/control.js';
import type { QueueSummary } from '../../src/domain/record.js';
import { StoreError, type StorePort } from '../../src/protocols/ports.js';

const summaryOf = (host: string, ready: number, waiting: number, parked: number): QueueSummary => ({
  host,
  ready: [ready, 0, 0, 0, 0, 0, 0, 0],
  heads: [],
  waiting,
  parked,
  blocked: 0,
  wakeAtMs: null,
});

function deskOver(
  summaries: readonly QueueSummary[],
  live: Live | null = null,
  failure: () => Error | null = () => null,
): Desk {
  const head = { ready: [], waiting: [], parked: [], readyComplete: true, waitingComplete: true, parkedComplete: true };
  const store: Pick<StorePort, 'listSummaries' | 'loadHost' | 'opened'> = {
    listSummaries: async (after, limit) => {
      const error = failure();
      if (error !== null) throw error;
      const from = after === null ? 0 : summaries.findIndex(({ host }) => host === after) + 1;
      return { summaries: summaries.slice(from, from + limit), complete: from + limit > summaries.length };
    },
    loadHost: async (host) => ({
      host,
      snapshot: null,
      robots: [],
      summary: summaries.find((one) => one.host === host) ?? null,
      head: { ...head, notes: [], failure: null },
    }),
    opened: () => {
      throw new Error('not asked for here');
    },
  };
  const unused = () => Promise.reject(new Error('not asked for here'));
  return new Desk({
    dataDir: 'd',
    store: store as StorePort,
    clock: { monotonicMs: () => 0, wallMs: () => 1_700_000_000_000 },
    terms: { delayMsOf: () => 1_000, adaptiveFactor: 0 },
    live,
    isPaused: false,
    changes: { pause: unused, resume: unused, seed: unused, exclude: unused, redrive: unused, cancelRedrive: unused },
  });
}

const wanted = {
  work: ({ ready, waiting, parked }: QueueSummary) => (ready[0] as number) + waiting + parked > 0,
  ready: ({ ready }: QueueSummary) => (ready[0] as number) > 0,
  waiting: ({ waiting }: QueueSummary) => waiting > 0,
  parked: ({ parked }: QueueSummary) => parked > 0,
  all: () => true,
};

describe('hosts', () => {
  it('pages of any length bring each host that is meant once, in order, and end', async () => {
    const bit = fc.nat(1);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(bit, bit, bit), { maxLength: 250 }),
        fc.integer({ min: 1, max: 120 }),
        fc.constantFrom(...HOST_STATES),
        async (rows, limit, state) => {
          const summaries = rows.map(([ready, waiting, parked], i) => summaryOf(`h${i}`, ready, waiting, parked));
          const desk = deskOver(summaries);
          const names: string[] = [];
          for (let after: string | null = null, pages = 0; ; pages++) {
            expect(pages).toBeLessThan(400);
            const page = await desk.hosts({ state, limit, after });
            expect(page.hosts.length).toBeLessThanOrEqual(limit);
            names.push(...page.hosts.map(({ name }) => name));
            after = page.next;
            if (after === null) break;
          }
          expect(names).toEqual(summaries.filter(wanted[state]).map(({ host }) => host));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('one that was never queued for is unknown, and a crawl that does not run has no tree', async () => {
    await expect(deskOver([]).host('a.test')).rejects.toMatchObject({ code: 'host_unknown', status: 404 });
    await expect(deskOver([]).tree()).rejects.toMatchObject({ code: 'not_running' });
  });
});

describe('status while the store fails', () => {
  const facts: ReturnType<Live['facts']> = {
    startedAtMs: 0,
    pages: 7,
    requests: 9,
    failed: 0,
    ratePerSecond: 0,
    totals: { ready: 2, waiting: 1, parked: 0, dead: 0, urls: 3, pages: 7 },
    hostsActive: 1,
    holds: ['store_full: no space is left'],
    runsSinceMs: 0,
    holdsSinceMs: 0,
    isPaused: false,
    drainsSinceMs: null,
    movedAtMs: 0,
  };
  const live = { facts: () => facts, describe: async () => null } as unknown as Live;
  const full = new StoreError('store_full', 'no space is left');

  it('D3: a crawl that runs says that it is held, and why; hosts are as they were counted last', async () => {
    let failure: Error | null = null;
    const desk = deskOver([summaryOf('a.test', 1, 0, 0), summaryOf('b.test', 0, 1, 0)], live, () => failure);
    expect((await desk.status()).hosts).toMatchObject({ known: 2, ready: 1, waiting: 1 });
    failure = full;
    const report = await desk.status();
    expect(report).toMatchObject({ state: 'held', reasons: facts.holds, pages: 7, hostsExamined: 0 });
    expect(report.hosts).toMatchObject({ known: 2, ready: 1, waiting: 1 });
  });

  it('one that was not asked before counts no host; another fault, and one of a stopped crawl, is told as it is', async () => {
    const before = await deskOver([], live, () => full).status();
    expect([before.state, before.hosts.known]).toEqual(['held', 0]);
    await expect(deskOver([], live, () => new TypeError('x')).status()).rejects.toThrow(TypeError);
    await expect(deskOver([], null, () => full).status()).rejects.toBe(full);
  });
});
