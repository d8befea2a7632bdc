/** The short forms of `npm run e2e:polite`. They need the built command line in `dist`. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  delayMsOf,
  DELAYS_MS,
  figuresOf,
  measurePoliteness,
  measureRudeness,
  pagesWrong,
  type PolitenessReport,
  politenessTable,
} from './politeness.js';

const SETTINGS = { hosts: 60, pages: 300, seed: 7, secondsMax: 60 };
const KILLS = 6;

describe('politeness by the witness of 60 hosts that ask for patience in every way there is', () => {
  let report: PolitenessReport;
  beforeAll(async () => {
    report = await measurePoliteness(SETTINGS);
    console.log(politenessTable(report));
  }, 80_000);

  it('P1 to P5: one at a time, each delay, each Retry-After and back-off, each address; robots.txt first, nothing that it forbids', () => {
    expect(report.verdict.violations).toEqual([]);
    expect(report.verdict.stats.smallestGapMinusDelayMs).toBeGreaterThanOrEqual(0);
  });

  it('every page was found all the same, once', () => {
    expect(report.crawl.exitCode).toBe(0);
    expect(report.crawl.summary).toMatchObject({ reason: 'done', queued: 0, deadLettered: 0 });
    expect(pagesWrong(report)).toEqual([]);
  });

  it('every rule was put to the test', () => {
    const { truth, verdict, classes, stats, events } = report;
    for (const delayMs of DELAYS_MS) {
      const requests = classes.find(({ name }) => name === `configured ${delayMs} ms`)?.requests ?? 0;
      expect(requests, `of hosts with ${delayMs} ms`).toBeGreaterThanOrEqual(50);
    }
    const served = classes.filter(({ name }) => name.startsWith('Crawl-delay'));
    expect(served.length).toBeGreaterThanOrEqual(3);
    expect(served.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThanOrEqual(50);
    expect(verdict.stats.hosts).toBe(SETTINGS.hosts);
    expect(verdict.stats.robotsAnswers).toBeGreaterThanOrEqual(SETTINGS.hosts);
    expect(verdict.stats.inFlightMax).toBeGreaterThan(1);
    expect(verdict.stats.retryAfters).toBeGreaterThanOrEqual(10);
    expect(verdict.stats.refusalsJudged).toBeGreaterThanOrEqual(10);
    for (const form of ['fixdate', 'rfc850', 'asctime', 'malformed'])
      expect(
        Object.keys(stats.faults).some((name) => name.endsWith(form)),
        form,
      ).toBe(true);
    expect(figuresOf(events).addresses).toBe(3);
    expect(truth.forbidden.length).toBeGreaterThan(10);
    expect(report.crawl.summary.blockedByRobots).toBe(truth.forbidden.length);
  });

  it('P2: a Crawl-delay holds for the very next request after the robots.txt that named it', () => {
    const firstGaps = firstGapsAfterRobots(report);
    expect(firstGaps.length).toBeGreaterThanOrEqual(10);
    for (const { host, gapMs, delayMs } of firstGaps) expect(gapMs, host).toBeGreaterThanOrEqual(delayMs);
  });
});

describe(`the same web, and the server kills the crawl ${KILLS} times`, () => {
  let report: PolitenessReport;
  beforeAll(async () => {
    report = await measurePoliteness({ ...SETTINGS, kills: { times: KILLS, requestsMax: 50 } });
    console.log(politenessTable(report));
  }, 120_000);

  it('P1 to P5, P9: no life is closer to a host than its delay, nor to what the one before was told', () => {
    expect(report.verdict.violations).toEqual([]);
  });

  it('D1, D2: every page was found, and its line stands once', () => {
    expect(report.crawl.summary).toMatchObject({ reason: 'done', queued: 0 });
    expect(pagesWrong(report)).toEqual([]);
  });

  it('every kill fell', () => {
    expect(report.stats).toMatchObject({ kills: KILLS, killsMissed: 0 });
    expect(report.verdict.stats.kills).toBe(KILLS);
  });
});

describe('the same judge, the same web, a rude client', () => {
  it('is accused by name of each rule that it breaks', async () => {
    const { verdict, repeats } = await measureRudeness(SETTINGS);
    const { violations } = verdict;
    const broken = new Set(violations.map(({ rule }) => rule));
    for (const rule of [
      ...(['in-flight', 'gap', 'address-in-flight', 'address-gap', 'retry-after'] as const),
      ...(['throttle', 'robots-first', 'robots-disallow'] as const),
    ])
      expect(broken, rule).toContain(rule);
    expect(repeats.unexcused.length).toBeGreaterThan(0);
  }, 30_000);
});

/** From the end of a robots.txt that names a Crawl-delay longer than the host's own to the start of the request after it. */
function firstGapsAfterRobots({ truth, events }: PolitenessReport): { host: string; gapMs: number; delayMs: number }[] {
  return truth.hosts.flatMap(({ host, origin, crawlDelaySeconds }) => {
    const delayMs = (crawlDelaySeconds ?? 0) * 1_000;
    if (delayMs <= delayMsOf(host)) return [];
    const starts = events.filter((event) => event.e === 'S' && `http://${event.h}` === origin);
    const [robots, next] = starts;
    if (robots?.e !== 'S' || next === undefined) return [];
    const end = events.find((event) => event.e === 'E' && event.i === robots.i);
    return end === undefined ? [] : [{ host, gapMs: next.t - end.t, delayMs }];
  });
}
