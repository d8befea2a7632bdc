import { beforeAll, describe, expect, it } from 'vitest';
import {
  delayMsOf,
  DELAYS_MS,
  measurePoliteness,
  measureRudeness,
  type PolitenessReport,
  politenessTable,
} from './politeness.js';

const SETTINGS = { hosts: 200, pages: 1_200, seed: 7, secondsMax: 80 };

describe('politeness by the witness of 200 hosts with mixed delays', () => {
  let report: PolitenessReport;
  beforeAll(async () => {
    report = await measurePoliteness(SETTINGS);
    console.log(politenessTable(report));
  }, 90_000);

  it('P1 P2 P4 P5: never two at once, never closer than the delay, robots.txt first, nothing that it forbids', () => {
    expect(report.verdict.violations).toEqual([]);
    expect(report.verdict.stats.smallestGapMinusDelayMs).toBeGreaterThanOrEqual(0);
  });

  it('every page was found all the same, once', () => {
    expect(report.crawl.exitCode).toBe(0);
    expect(report.crawl.summary).toMatchObject({ reason: 'done', queued: 0, deadLettered: 0 });
    expect(report.crawl.pages.map(({ url }) => url).sort()).toEqual([...report.truth.pages].sort());
  });

  it('every rule was put to the test', () => {
    const { truth, verdict, classes } = report;
    for (const delayMs of DELAYS_MS) {
      const requests = classes.find(({ name }) => name === `configured ${delayMs} ms`)?.requests ?? 0;
      expect(requests, `of hosts with ${delayMs} ms`).toBeGreaterThanOrEqual(100);
    }
    const served = classes.filter(({ name }) => name.startsWith('Crawl-delay'));
    expect(served.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThanOrEqual(50);
    expect(verdict.stats.hosts).toBe(SETTINGS.hosts);
    expect(verdict.stats.robotsAnswers).toBeGreaterThanOrEqual(SETTINGS.hosts);
    expect(verdict.stats.inFlightMax).toBeGreaterThan(1);
    expect(truth.forbidden.length).toBeGreaterThan(50);
    expect(report.crawl.summary.blockedByRobots).toBe(truth.forbidden.length);
  });

  it('P2: a Crawl-delay holds for the very next request after the robots.txt that named it', () => {
    const firstGaps = firstGapsAfterRobots(report);
    expect(firstGaps.length).toBeGreaterThanOrEqual(20);
    for (const { host, gapMs, delayMs } of firstGaps) expect(gapMs, host).toBeGreaterThanOrEqual(delayMs);
  });
});

describe('the same judge, the same web, a rude client', () => {
  it('is accused by name of each rule that it breaks', async () => {
    const { violations } = await measureRudeness(SETTINGS);
    const broken = new Set(violations.map(({ rule }) => rule));
    for (const rule of ['in-flight', 'gap', 'robots-first', 'robots-disallow', 'duplicate'] as const)
      expect(broken, rule).toContain(rule);
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
