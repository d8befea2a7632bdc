/** The short form of the kill -9 trial; the whole one is `npm run e2e:kill`. Needs the built command line in `dist`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKillTrial, type TrialReport } from './support/kill-trial.js';

describe('a crawl of a faulty web that is killed six times at random and three times by the server', () => {
  let folder: string;
  let report: TrialReport;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-kill-'));
    report = await runKillTrial({
      program: resolve(import.meta.dirname, '../../dist/cli/main.js'),
      folder,
      seed: 1683,
      hosts: 4,
      pages: 240,
      delayMs: 40,
      randomKills: 6,
      startUpKills: 0,
      serverKills: 3,
      aliveMsMax: 600,
      requestsMax: 12,
      withOpenVisitsMin: 7,
      waitSeconds: 600,
      sideBySide: true,
      say: () => {},
    });
  }, 240_000);

  afterAll(() => rm(folder, { recursive: true }));

  it('F01, D1, D2, D4, P1 to P5, P9: comes to the same pages as one that is left alone, and nothing stands twice', () => {
    expect(report.problems).toEqual([]);
    expect(report.disturbed.pages).toBe(report.undisturbed.pages);
    expect(report.disturbed.pages).toBe(report.pagesInTruth);
  });

  it('was put to the test: kills found visits open, answers were repeated, hosts had said when to come back', () => {
    expect(report.kills).toHaveLength(9);
    expect(report.withOpenVisits).toBeGreaterThanOrEqual(7);
    expect(report.kills.reduce((sum, { repeats }) => sum + repeats, 0)).toBeGreaterThan(0);
    expect(report.verdicts.disturbed.kills).toBe(9);
    expect(report.verdicts.disturbed.retryAfters).toBeGreaterThan(0);
  });
});
