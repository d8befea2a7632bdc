/** W04, W06, D4: the archive under kills and when everything is asked for again, read by warcio. */
import { beforeAll, describe, expect, it } from 'vitest';
import { archiveTrial, type TrialReport } from './archive-trial.js';
import { startChangingSite } from './changing-site.js';

const PAGES = 90;

describe('an archive of many small files', () => {
  let report: TrialReport;
  beforeAll(async () => {
    const site = await startChangingSite(PAGES);
    try {
      report = await archiveTrial({ site, kills: 3, visitsBetween: 20, fileBytesMax: 100_000 });
    } finally {
      await site.stop();
    }
  });

  it('D4: after each kill, and ever after, warcio reads all of it, and its index is ours', () => {
    expect(report.faults).toEqual([]);
    expect(report.pages).toBe(PAGES);
    expect(report.files).toBeGreaterThan(2);
  });

  it('L4: 304 and the same content on 200 are both unchanged, and all that was asked', () => {
    expect(report.unmodified).toMatchObject({ reason: 'done', fetched: 0, unchanged: PAGES });
    expect(report.touched).toMatchObject({ reason: 'done', fetched: 0, unchanged: PAGES });
  });
});
