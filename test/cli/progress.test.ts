import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { formatProgress, openProgress, type ProgressSnapshot, progressModeFor } from '../../src/cli/progress.js';
import type { CrawlOutcome } from '../../src/main.js';
import { duration, formatSummary } from '../../src/cli/summary.js';

const snapshot: ProgressSnapshot = {
  pages: 1_234,
  requests: 1_500,
  queued: 98_765,
  waiting: 0,
  hostsActive: 1,
  ratePerSecond: 9.96,
  failed: 0,
};

/** A stream that keeps what it got, and says that it is a terminal or not. */
function sink(isTTY: boolean, columns = 80) {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns }), text: () => chunks.join('') };
}

describe('the progress line', () => {
  it('says what is there and leaves out what is not', () => {
    expect(formatProgress(snapshot, 200)).toBe('1,234 pages · 10.0/s · 98,765 queued · 1 host · 1,500 requests');
    const looked = {
      ...snapshot,
      waitingWhy: [
        ['delay', 12],
        ['retry_after', 1],
      ] as const,
      etaSeconds: 3_000,
    };
    expect(formatProgress(looked, 200)).toBe(
      '1,234 pages · 10.0/s · 98,765 queued · 1 host (delay 12, retry after 1) · 50 min to go · 1,500 requests',
    );
    const busy = { ...snapshot, waiting: 3, hostsActive: 2, failed: 4, ratePerSecond: 1_234.5, held: 'disk full' };
    expect(formatProgress(busy, 200)).toBe(
      'held: disk full · 1,234 pages · 1,235/s · 98,765 queued · 3 waiting · 2 hosts · 4 failed · 1,500 requests',
    );
  });

  it('is never wider than the terminal', () => {
    const whole = formatProgress(snapshot, 200);
    expect(formatProgress(snapshot, whole.length)).toBe(whole);
    expect(formatProgress(snapshot, whole.length - 1)).toHaveLength(whole.length - 1);
    expect(formatProgress(snapshot, whole.length - 1).endsWith('…')).toBe(true);
  });

  it('is drawn on a terminal, written elsewhere, and silent beside JSON', () => {
    expect(progressModeFor(sink(true).stream, false)).toBe('drawn');
    expect(progressModeFor(sink(false).stream, false)).toBe('lines');
    expect(progressModeFor(sink(true).stream, true)).toBe('silent');
  });

  it('drawn: over itself, at most ten times a second, and taken away at the end', () => {
    const { stream, text } = sink(true, 40);
    const progress = openProgress(stream, 'drawn');
    progress.update({ ...snapshot, pages: 1 }, 0);
    progress.update({ ...snapshot, pages: 2 }, 99);
    progress.update({ ...snapshot, pages: 3 }, 100);
    expect(text()).toContain('1 page ');
    expect(text()).not.toContain('2 pages');
    expect(text()).toContain('3 pages');
    expect(text()).not.toContain('\n');
    progress.aside('a note');
    expect(text()).toMatch(/a note\n\u001b\[1G3 pages/);
    progress.end();
    expect(text().endsWith('\u001b[1G\u001b[2K')).toBe(true);
  });

  it('lines: one after 5 s, not before, without escape codes', () => {
    const { stream, text } = sink(false);
    const progress = openProgress(stream, 'lines');
    progress.update(snapshot, 1_000);
    progress.update(snapshot, 5_999);
    expect(text()).toBe('');
    progress.update(snapshot, 6_000);
    progress.update(snapshot, 10_999);
    progress.end();
    expect(text()).toBe(`${formatProgress(snapshot, 500)}\n`);
  });

  it('silent: nothing at all', () => {
    const { stream, text } = sink(true);
    const progress = openProgress(stream, 'silent');
    progress.update(snapshot, 0);
    progress.end();
    expect(text()).toBe('');
  });
});

describe('the summary', () => {
  const summary: CrawlOutcome = {
    requests: 1_300,
    fetched: 1_200,
    unchanged: 0,
    redirected: 0,
    missing: 0,
    gone: 0,
    throttled: 0,
    parked: 0,
    died: 0,
    failed: 7,
    blockedByRobots: 0,
    refused: 0,
    challenged: 0,
    refusedOnAdmission: { too_deep: 2, out_of_scope: 1_000 },
    deadLettered: 2,
    discovered: 5_000,
    queued: 0,
    durationSeconds: 65,
    reason: 'done',
    failure: null,
    waiting: [],
    archive: ['crawls/one/a.warc.gz', 'crawls/one/b.warc.gz'],
  };

  it('says why it ended and what came of it, without the zeros', () => {
    expect(formatSummary(summary, 'crawls/one')).toEqual([
      'Done: nothing is left to fetch.',
      '  fetched           1,200',
      '  requests          1,300  in 1 min 5 s, 20.0 a second',
      '  left              1,002  links that the rules of the crawl leave (out_of_scope 1,000, too_deep 2)',
      '  failed                7  asked again later, within bounds',
      '  dead letters          2  given up for good, in all runs',
      '  discovered        5,000  URLs in all',
      '  data              crawls/one',
      '  archive           crawls/one/a.warc.gz and 1 more',
    ]);
  });

  it('holds for a crawl that did nothing, and for a reason it does not know', () => {
    const nothing = {
      ...summary,
      requests: 0,
      fetched: 0,
      failed: 0,
      refusedOnAdmission: {},
      deadLettered: 0,
      discovered: 0,
      durationSeconds: 0,
      archive: [],
    };
    expect(formatSummary({ ...nothing, reason: 'crashed' }, 'crawls/one')).toEqual([
      'Ended: crashed.',
      '  fetched           0',
      '  requests          0  in 0.0 s, 0.0 a second',
      '  data              crawls/one',
    ]);
  });

  it.each([
    [0.04, '0.0 s'],
    [59.94, '59.9 s'],
    [60, '1 min 0 s'],
    [3_599, '59 min 59 s'],
    [3_600, '1 h 0 min'],
    [90_061, '25 h 1 min'],
  ])('a duration of %d s is %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
