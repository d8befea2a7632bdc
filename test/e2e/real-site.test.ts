/** Real input: a documentation package behind nginx, crawled whole, politely, and archived. */
import { beforeAll, describe, expect, it } from 'vitest';
import { crawlRealSites, type RealSiteReport, whatIsMissing } from './real-site.js';

const SITES = ['debian-handbook'];
const missing = whatIsMissing(SITES);

describe.skipIf(missing !== null)(`the Debian handbook behind nginx${missing === null ? '' : ` (${missing})`}`, () => {
  let report: RealSiteReport;
  beforeAll(async () => {
    report = await crawlRealSites(SITES);
  });

  it('every page that wget reaches is fetched, and no other', () => {
    expect(report.pagesOfWget).toBeGreaterThan(100);
    expect(report.differences.filter(({ reason }) => reason === null)).toEqual([]);
    expect(report.pagesOfCrawl).toBe(report.pagesOfWget);
  });

  it('D2: each page once', () => {
    expect(report.repeated).toEqual([]);
    expect(report.summary).toMatchObject({ reason: 'done', queued: 0, deadLettered: 0 });
  });

  it('P1, P2, P4: politely, by the log of nginx', () => {
    const { violations, stats } = report.verdict;
    expect(violations).toEqual([]);
    expect(stats).toMatchObject({ inFlightMax: 1, robotsAnswers: 1 });
    expect(stats.smallestGapMinusDelayMs).toBeGreaterThanOrEqual(-2);
    expect(report.summary.blockedByRobots).toBe(1);
  });

  it('the archive opens with warcio: digests are right, and pages are what their files hold', () => {
    const { records, faults } = report.archive;
    expect(faults).toEqual([]);
    expect(records.warcinfo).toBe(1);
    expect(records.request).toBe((records.response ?? 0) + (records.revisit ?? 0));
    expect(report.altered).toEqual([]);
  });
});
