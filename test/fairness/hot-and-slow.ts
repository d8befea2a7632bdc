/**
 * Many small hosts beside one hot and one slow host (P7): how long do the small ones take, with and without the two?
 *
 * The hot host links to more and more pages of its own, and is as far as it is going to be before the small ones come.
 * The slow host takes 15 s for each answer.
 */
import type { HostName } from '../../src/domain/host.js';
import { type QuietCrawl, quietCrawl } from './quiet-crawl.js';
import type { Seen, Site } from './quiet-web.js';

export interface FairnessSettings {
  readonly seed: number;
  readonly hosts: number;
  readonly pagesPerHost: number;
  /** URLs that the hot host has in its queue when the small hosts come. */
  readonly hotUrls: number;
  readonly hotLinksPerPage: number;
  /** Of the slow host, all known from the start. */
  readonly slowPages: number;
  readonly options?: readonly string[];
}

export interface FairnessResult {
  /** From the seeding of the small hosts to the commit of their last page; simulated. */
  readonly seconds: number;
  readonly pages: number;
  readonly hotQueued: number;
  readonly hot: Seen;
  readonly slow: Seen;
  readonly liveMost: number;
  readonly activationsPerVisit: number;
}

const HOT = 'hot.example';
const SLOW = 'slow.example';
const SLOW_ANSWER_MS = 15_000;
/** So large a filter that none of the small hosts' links is taken for a known one. */
const EXPECTED_PER_URL = 20;
/** Simulated; many times as long as it takes. */
const WITHIN_MS = 1_800_000;

export function smallHostsAlone(settings: FairnessSettings): Promise<FairnessResult> {
  return run(settings, async () => {});
}

export function smallHostsBesideTheTwo(settings: FairnessSettings): Promise<FairnessResult> {
  return run(settings, async (crawl) => {
    crawl.seed([`http://${HOT}/0`, `http://${SLOW}/0`]);
    await crawl.until(
      `${settings.hotUrls} URLs are queued`,
      () => crawl.totals.ready >= settings.hotUrls,
      1_000,
      WITHIN_MS,
    );
  });
}

function run(settings: FairnessSettings, before: (crawl: QuietCrawl) => Promise<void>): Promise<FairnessResult> {
  const { seed, options = [] } = settings;
  const siteOf = sitesOf(settings);
  return quietCrawl(
    { seed, siteOf, options, expectedUrls: EXPECTED_PER_URL * (settings.hotUrls + 100_000) },
    async (crawl) => {
      await crawl.boot();
      await before(crawl);
      const hotQueued = crawl.totals.ready;
      const [fromMs, activationsBefore, visitsBefore] = [crawl.nowMs, crawl.activations, crawl.visits];
      const names = Array.from({ length: settings.hosts }, (_, n) => `h${n}.small${n % 97}.example`);
      const wanted = settings.hosts * settings.pagesPerHost;
      let [pages, endedAtMs, liveMost] = [0, 0, 0];
      crawl.onVisit = (host, outcome) => {
        if (host === HOT || host === SLOW || outcome !== 'fetched') return;
        pages += 1;
        endedAtMs = crawl.nowMs;
      };
      crawl.seed(names.map((name) => `http://${name}/0`));
      const areDone = () => {
        liveMost = Math.max(liveMost, crawl.live);
        return pages === wanted;
      };
      await crawl.until(`${wanted} pages of small hosts`, areDone, 500, WITHIN_MS);
      return {
        seconds: (endedAtMs - fromMs) / 1_000,
        pages,
        hotQueued,
        hot: crawl.web.seenOf(HOT),
        slow: crawl.web.seenOf(SLOW),
        liveMost,
        activationsPerVisit: (crawl.activations - activationsBefore) / (crawl.visits - visitsBefore),
      };
    },
  );
}

function sitesOf(settings: FairnessSettings): (host: HostName) => Site {
  const { hotUrls, hotLinksPerPage: perPage, pagesPerHost, slowPages } = settings;
  const hot: Site = {
    address: '10.255.0.1',
    answerMs: 50,
    linksOf: (path) => {
      const from = Number(path.slice(1)) * perPage;
      return from <= hotUrls ? numbered(from + 1, perPage) : [];
    },
  };
  const slow: Site = {
    address: '10.255.0.2',
    answerMs: SLOW_ANSWER_MS,
    linksOf: (path) => (path === '/0' ? numbered(1, slowPages - 1) : []),
  };
  const links = numbered(1, pagesPerHost - 1);
  return (host) => {
    if (host === HOT) return hot;
    if (host === SLOW) return slow;
    const number = Number.parseInt(host.slice(1), 10);
    return {
      address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
      answerMs: 40 + (number % 7) * 20,
      linksOf: (path) => (path === '/0' ? links : []),
    };
  };
}

function numbered(from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `/${from + n}`);
}
