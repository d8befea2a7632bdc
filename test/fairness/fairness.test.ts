/** P7 in simulated time: production actors over a quiet web. No real time is asserted; simulated time is the same each time. */
import { describe, expect, it } from 'vitest';
import type { HostName } from '../../src/domain/host.js';
import { type FairnessSettings, smallHostsAlone, smallHostsBesideTheTwo } from './hot-and-slow.js';
import { type QuietCrawl, quietCrawl } from './quiet-crawl.js';
import type { Site } from './quiet-web.js';

describe('P7 one hot and one slow host beside five hundred small ones', () => {
  const settings: FairnessSettings = {
    seed: 7,
    hosts: 500,
    pagesPerHost: 4,
    hotUrls: 20_000,
    hotLinksPerPage: 1_000,
    slowPages: 100,
    // The slow host is asked again a second after each answer, so that it holds a slot nearly all of the time.
    options: ['fetch.slots=32', 'politeness.adaptiveFactor=0'],
  };

  it('the small ones take at most a tenth longer than without the two, who have one request at a time', async () => {
    const alone = await smallHostsAlone(settings);
    const beside = await smallHostsBesideTheTwo(settings);
    expect([alone.pages, beside.pages]).toEqual([2_000, 2_000]);
    expect(beside.hotQueued).toBeGreaterThanOrEqual(20_000);
    expect(beside.seconds).toBeLessThanOrEqual(1.1 * alone.seconds);
    expect([beside.hot.inFlightMost, beside.slow.inFlightMost]).toEqual([1, 1]);
  }, 120_000);
});

/** Simulated milliseconds until every page of the healthy hosts is committed. */
async function healthyMs(crawl: QuietCrawl, hosts: number, pages: number, others: readonly string[]): Promise<number> {
  let left = hosts * pages;
  crawl.onVisit = (host, outcome) => {
    if (host.startsWith('healthy') && outcome === 'fetched') left -= 1;
  };
  await crawl.boot();
  if (others.length > 0) {
    crawl.seed(others);
    await crawl.until('they are at work', () => crawl.totals.urls >= others.length, 1_000);
    await crawl.simulation.sleep(5_000, { owner: 0 });
  }
  const fromMs = crawl.nowMs;
  const names = Array.from({ length: hosts }, (_, n) => `healthy${n}.site${n}.example`);
  crawl.seed(names.flatMap((name) => Array.from({ length: pages }, (_, n) => `http://${name}/${n}`)));
  await crawl.until('the healthy ones are done', () => left === 0, 20, 3_600_000);
  return crawl.nowMs - fromMs;
}

function webOf(bad: HostName, site: Partial<Site>): (host: HostName) => Site {
  return (host) => {
    const number = Number.parseInt(host.slice('healthy'.length), 10);
    return host === bad
      ? { address: '10.255.0.1', answerMs: 30, linksOf: () => [], ...site }
      : { address: `10.0.${number >> 8}.${number & 255}`, answerMs: 30 + (number % 5) * 10, linksOf: () => [] };
  };
}

describe('P7 one bad host beside healthy ones', () => {
  const many = (host: HostName, count: number) => Array.from({ length: count }, (_, n) => `http://${host}/${n}`);

  it.each([
    ['C05', 'throttled', 50, 10_000, { throttled: { requests: 1_000_000, retryAfterSeconds: 2 } }],
    ['C05', 'slow', 50, 10_000, { answerMs: 18_000 }],
    ['F15', 'very full', 200, 20_000, { robots: 'User-agent: *\nCrawl-delay: 5' }],
  ] as const)(
    '%s: a %s host leaves the throughput of %i healthy ones as it is',
    async (_case, _what, hosts, urls, site) => {
      const siteOf = webOf('bad.example', site);
      const options = ['fetch.slots=8', 'politeness.adaptiveFactor=0'];
      const settings = { seed: 5, siteOf, options, expectedUrls: 1_000_000 };
      const aloneMs = await quietCrawl(settings, (crawl) => healthyMs(crawl, hosts, 10, []));
      const { besideMs, bad, commits } = await quietCrawl(settings, async (crawl) => {
        const besideMs = await healthyMs(crawl, hosts, 10, many('bad.example', urls));
        return { besideMs, bad: crawl.web.seenOf('bad.example'), commits: crawl.rows };
      });
      expect(besideMs).toBeLessThanOrEqual(1.1 * aloneMs);
      expect(bad.inFlightMost).toBe(1);
      expect(bad.requests).toBeGreaterThan(1);
      // What it is not asked for is not written again and again: each URL once, each visit a few rows.
      expect(commits).toBeLessThan(2 * (urls + hosts * 10) + 10 * (hosts * 12 + bad.requests));
    },
    120_000,
  );

  it('F16: three hundred names on one server are asked one at a time, the first requests too', async () => {
    const siteOf = (): Site => ({ address: '10.1.2.3', answerMs: 20, linksOf: () => [] });
    const server = await quietCrawl({ seed: 9, siteOf }, async (crawl) => {
      await crawl.boot();
      crawl.seed(Array.from({ length: 300 }, (_, n) => `http://n${n}.example/`));
      await crawl.until('all are asked', () => crawl.visits === 300, 1_000, 3_600_000);
      return crawl.web.seenAt('10.1.2.3');
    });
    expect(server).toMatchObject({ requests: 600, inFlightMost: 1 });
    expect(server.gapMsLeast).toBeGreaterThanOrEqual(100);
  }, 60_000);
});
