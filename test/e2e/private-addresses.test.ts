/** S1: no connection to an address that the guard refuses, however it is spelled and whoever leads there. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  lastCode,
  NO_URLS,
  type PrivateAddressesReport,
  SPELLINGS,
  temptCrawl,
  temptCrawlThatMay,
  whatIsMissing,
} from './private-addresses.js';

const missing = whatIsMissing();

describe.skipIf(missing !== null)(`private addresses${missing === null ? '' : ` (${missing})`}`, () => {
  let report: PrivateAddressesReport;
  beforeAll(async () => {
    report = await temptCrawl();
  });

  it('S1: the process connects to the allowed address and the name server, and to nothing else', () => {
    expect([...report.connected.keys()].sort()).toEqual([report.nameServer, report.site].sort());
    expect(report.victims).toBe(0);
  });

  it('S1: each of them is refused with its reason, which the registry keeps', () => {
    const others = report.refusals
      .filter(({ record }) => record?.state !== 'refused' || lastCode(record) !== 'guard_refused')
      .map(({ url, by, record }) => `${by} ${url}: ${record?.state ?? 'unknown'}, ${lastCode(record)}`);
    expect(others).toEqual([]);
    expect(report.refusals.length).toBeGreaterThan(2 * SPELLINGS.length);
  });

  it('S1: a redirect target says that it was found by redirect, and from which page', () => {
    const redirected = report.refusals.filter(({ by }) => by === 'redirect' || by === 'refresh');
    for (const { record } of redirected) {
      expect(record).toMatchObject({ source: 'redirect', hopPath: 'LR' });
      expect(record?.via).toMatch(/\/(redirect|refresh)\/\d+$/);
    }
  });

  it('U14, U15: what is no URL is refused with its reason; a redirect to it ends as one without target', () => {
    expect(report.noUrls).toEqual(NO_URLS);
    for (const { record } of report.deadEnds) expect(lastCode(record)).toBe('redirect_without_target');
  });

  it('A01: a name that rebinds is asked at the vetted address only, then refused', () => {
    expect(report.rebinding.fetched).toBeGreaterThan(0);
    expect(report.rebinding.refused).toBeGreaterThan(0);
    expect(report.rebinding.fetched + report.rebinding.refused).toBe(14);
  });

  it('P5, P6: a robots.txt that redirects to a refused address is not fetched; its pages are parked', () => {
    expect(report.robotsTrap?.state).toBe('parked');
    expect(lastCode(report.robotsTrap)).toBe('robots_unreadable');
  });

  it('sees a crawl that may connect do so', async () => {
    const { connected, victims } = await temptCrawlThatMay();
    expect([...connected.keys()].filter((peer) => peer.startsWith('127.0.0.1:'))).toHaveLength(1);
    expect(victims).toBeGreaterThan(0);
  });
});
