/** The short forms of `npm run e2e:clocks`. They need the built command line in `dist`, and libfaketime for the clock. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  clocksTable,
  type ClocksReport,
  clocksWrong,
  crawlByBentClock,
  type Disturbance,
  whyNoFakeTime,
} from './clocks.js';

const HOUR = 3_600;
const SETTINGS = { hosts: 60, pages: 300, seed: 7, secondsMax: 80 };

const STOPS: readonly Disturbance[] = [1_500, 3_000, 1_500].map((ms) => ({ what: 'stop', ms }));

/** A crawl's own clock does not follow back: what is to be a step forward for it begins there, or goes beyond. */
const STEPS: readonly Disturbance[] = [
  { what: 'restart', by: 'SIGINT', seconds: HOUR },
  { what: 'restart', by: 'SIGKILL', seconds: HOUR },
  { what: 'step', seconds: -HOUR },
  { what: 'restart', by: 'SIGINT', seconds: -HOUR },
  { what: 'step', seconds: HOUR },
  { what: 'restart', by: 'SIGINT', seconds: 2 * HOUR },
];

describe('P1, P2: a crawl that is stopped (SIGSTOP) and goes on', () => {
  let report: ClocksReport;
  beforeAll(async () => {
    report = await crawlByBentClock(SETTINGS, STOPS);
    console.log(clocksTable(report));
  }, 90_000);

  it('breaks no promise, and finds every page once', () => {
    expect(clocksWrong(report, STOPS)).toEqual([]);
  });
});

const missing = whyNoFakeTime();

it.runIf(process.env.PACKAGES_INSTALLED !== undefined)('continuous integration can bend the clock', () => {
  expect(missing).toBeNull();
});

describe.skipIf(missing !== null)(
  `P3, P8, P9: the clock put by an hour${missing === null ? '' : ` (${missing})`}`,
  () => {
    let report: ClocksReport;
    beforeAll(async () => {
      report = await crawlByBentClock(SETTINGS, STEPS);
      console.log(clocksTable(report));
    }, 90_000);

    it('while it runs and between two lives: no promise is broken, and every page is found', () => {
      expect(clocksWrong(report, STEPS)).toEqual([]);
    });

    it('the crawl itself saw its clock go forward and back', () => {
      expect(report.noticedMs.map((byMs) => Math.round(byMs / 1_000))).toEqual([-HOUR, HOUR]);
    });
  },
);
