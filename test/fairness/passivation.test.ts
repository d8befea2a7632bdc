/** Many known hosts of which some rotate: live ones are bounded, and manners outlive passivation. Simulated time only. */
import { describe, expect, it } from 'vitest';
import type { HostName } from '../../src/domain/host.js';
import { type KnownHosts, knownSite, nameOf, remember, rotate } from './known-hosts.js';
import { quietCrawl } from './quiet-crawl.js';
import type { Site } from './quiet-web.js';

describe('P7 passivation under known and rotating hosts', () => {
  it('live hosts stay within their bound; each comes to life once for what it has; those that wait wake by themselves', async () => {
    const hosts: KnownHosts = { known: 3_000, rotating: 1_200, pagesPerHost: 3, waking: 300, dueMs: 60_000 };
    const options = ['fetch.slots=32', 'hosts.liveMax=150'];
    const { rotation, gapMs } = await quietCrawl({ seed: 3, siteOf: knownSite, options }, async (crawl) => {
      await remember(await crawl.open(), hosts, crawl.simulation.wallMs);
      const rotation = await rotate(crawl, hosts);
      const gaps = Array.from(
        { length: 1_200 },
        (_, n) => crawl.web.seenOf(`k${n}.known${n % 997}.example`).gapMsLeast,
      );
      return { rotation, gapMs: Math.min(...gaps.map((gap) => gap ?? Number.POSITIVE_INFINITY)) };
    });
    expect(rotation).toMatchObject({ visits: 3_900, woken: 300 });
    expect(rotation.liveMost).toBeLessThanOrEqual(150);
    expect(rotation.firstFetchSeconds).toBeLessThan(10);
    expect(rotation.activations).toBeLessThan(1.1 * (1_200 + 300));
    expect(gapMs).toBeGreaterThanOrEqual(1_000);
  }, 60_000);

  it('P3, P9: an hour of Retry-After outlives passivation by others, a kill and a second life', async () => {
    const throttled = { requests: 1, retryAfterSeconds: 3_600 };
    const siteOf = (host: HostName): Site =>
      host === 'busy.example' ? { ...knownSite('k9999'), throttled } : knownSite(host);
    const options = ['fetch.slots=4', 'hosts.liveMax=4'];
    const { seen, activations, gapMs } = await quietCrawl({ seed: 4, siteOf, options }, async (crawl) => {
      await crawl.boot();
      crawl.seed(Array.from({ length: 5 }, (_, n) => `http://busy.example/${n}`));
      await crawl.until('it was throttled', () => crawl.web.seenOf('busy.example').throttledAtMs !== null);
      crawl.seed(Array.from({ length: 60 }, (_, n) => `http://${nameOf(n)}/`));
      await crawl.until('the others are done', () => crawl.visits >= 61, 1_000);
      const { activations } = crawl;
      crawl.kill();
      await crawl.simulation.sleep(60_000, { owner: 0 });
      await crawl.boot();
      await crawl.until('it is done', () => crawl.visits === 66, 1_000);
      const seen = crawl.web.seenOf('busy.example');
      return { seen, activations, gapMs: seen.throttledGapMsLeast };
    });
    // Nobody came back to life for its sake meanwhile.
    expect(activations).toBe(61);
    expect(seen).toMatchObject({ pages: 6, inFlightMost: 1 });
    expect(gapMs).toBeGreaterThanOrEqual(3_600_000);
    expect(gapMs).toBeLessThan(3_700_000);
  }, 60_000);

  it('P2: a delay of ten minutes outlives passivation; such hosts wait in no memory but the frontier', async () => {
    const options = ['fetch.slots=4', 'hosts.liveMax=8', 'politeness.delayMs=600000'];
    const seen = await quietCrawl({ seed: 6, siteOf: knownSite, options }, async (crawl) => {
      await crawl.boot();
      const hosts = Array.from({ length: 40 }, (_, n) => nameOf(n));
      crawl.seed(hosts.flatMap((host) => [0, 1].map((page) => `http://${host}/${page}`)));
      let [live, looks] = [0, 0];
      await crawl.until(
        'all are done',
        () => {
          live += crawl.live;
          looks += 1;
          return crawl.visits === 80;
        },
        1_000,
      );
      const gaps = hosts.map((host) => crawl.web.seenOf(host).gapMsLeast ?? 0);
      return { gapMsLeast: Math.min(...gaps), liveMean: live / looks, seconds: crawl.nowMs / 1_000 };
    });
    expect(seen.gapMsLeast).toBeGreaterThanOrEqual(600_000);
    // All forty at once, though there is room for eight: twice ten minutes and a little.
    expect(seen.seconds).toBeLessThan(1_230);
    expect(seen.liveMean).toBeLessThan(2);
  }, 60_000);
});
