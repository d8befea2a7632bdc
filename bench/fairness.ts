/**
 * How much longer do ten thousand small hosts take beside one hot host (a million URLs) and one slow host (15 s an answer)?
 *
 * The production engine over a quiet web in simulated time: both times are simulated seconds and the same on every
 * machine. `--hosts` and `--pages` (of each) make it smaller, `--links` is what each page of the hot host links to.
 */
import { type FairnessSettings, smallHostsAlone, smallHostsBesideTheTwo } from '../test/fairness/hot-and-slow.js';
import { round } from './measure.js';
import type { Bench } from './result.js';

const HOSTS = 10_000;
const PAGES_PER_HOST = 4;
const HOT_LINKS_PER_PAGE = 5_000;
/** Of the hot host's URLs to the small hosts' number. */
const HOT_URLS_PER_HOST = 100;

export const run: Bench = async ({ hosts, pages, links }) => {
  const settings: FairnessSettings = {
    seed: 1,
    hosts: hosts ?? HOSTS,
    pagesPerHost: pages ?? PAGES_PER_HOST,
    hotUrls: HOT_URLS_PER_HOST * (hosts ?? HOSTS),
    hotLinksPerPage: links ?? HOT_LINKS_PER_PAGE,
    slowPages: 1_000,
    // The slow host is asked again a second after each answer, so that it holds a slot nearly all of the time.
    options: ['politeness.adaptiveFactor=0'],
  };
  const alone = await smallHostsAlone(settings);
  const beside = await smallHostsBesideTheTwo(settings);
  return {
    name: 'fairness',
    figures: {
      smallHosts: settings.hosts,
      smallPages: beside.pages,
      hotUrlsQueued: beside.hotQueued,
      'simulatedSeconds alone': round(alone.seconds, 2),
      'simulatedSeconds beside the two': round(beside.seconds, 2),
      percentLonger: round((beside.seconds / alone.seconds - 1) * 100, 2),
      hotRequestsAtOnce: beside.hot.inFlightMost,
      slowRequestsAtOnce: beside.slow.inFlightMost,
      liveHostsMost: beside.liveMost,
      activationsPerVisit: round(beside.activationsPerVisit, 3),
    },
  };
};
