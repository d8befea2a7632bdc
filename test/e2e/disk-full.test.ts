/** D3: a disk that is full, read-only or broken stops the crawl; it goes on by itself, and nothing is lost. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type CrawlResult, crawlOnSmallDisk, type DiskFullReport, whatIsMissing } from './disk-full.js';

function expectWhole({
  summary,
  missing,
  surplus,
  doubled,
  archivedTwice,
  archive,
  verdict,
  pages,
}: CrawlResult): void {
  expect({ missing, surplus, doubled, archivedTwice }).toEqual({
    missing: [],
    surplus: [],
    doubled: [],
    archivedTwice: [],
  });
  expect(pages).toBeGreaterThan(50);
  expect(archive.faults).toEqual([]);
  expect(verdict.violations).toEqual([]);
  expect(summary).toMatchObject({ reason: 'done', queued: 0 });
}

const missing = whatIsMissing();

describe.skipIf(missing !== null)(`F13, D3: a disk that is full${missing === null ? '' : ` (${missing})`}`, () => {
  let report: DiskFullReport;
  beforeAll(async () => {
    report = await crawlOnSmallDisk();
  });

  it('says why it holds: no room, then read-only', () => {
    expect(report.reasons.full.join()).toContain('store_full');
    expect(report.reasons.readOnly.join()).toContain('store_read_only');
  });

  it('asks nothing while it is held', () => {
    expect(report.requestsWhileHeld).toBe(0);
  });

  it('goes on by itself, in the same process', () => {
    expect(report.samePid).toBe(true);
    expect(report.visits.killed).toBeGreaterThan(report.visits.before);
  });

  it('D1, D2: after a kill -9 the same command ends with the truth, each page once', () => {
    expect(report.result.verdict.stats.kills).toBe(1);
    expectWhole(report.result);
  });
});
