/** Bounds that are no options, each against what it must not pass and against each other. */
import { describe, expect, it } from 'vitest';
import { PERMIT_LIFE_MS, VISIT_LOST_MS } from '../src/actors/workbench.js';
import { loadConfig } from '../src/config/load.js';
import { PARTITIONS } from '../src/domain/host.js';
import { PRIORITY_CLASSES } from '../src/domain/record.js';
import { CODINGS_MAX, RATIO_FREE_BYTES, RATIO_MAX } from '../src/page/decode.js';
import { BREAKER_FAILURES_MAX } from '../src/policy/breaker.js';
import { URL_LENGTH_MAX } from '../src/policy/canonical.js';
import { DELAY_CAP_MS } from '../src/policy/delay.js';
import { VERDICT_MISSING_CLOSED_MS, VERDICT_WAIT_MS } from '../src/policy/gate.js';
import { DELIVERIES_MAX, PROCESS_DEATHS_MAX, WORKER_CRASHES_MAX } from '../src/policy/retry.js';
import { ROBOTS_LAST_GOOD_MS_MAX, ROBOTS_REDIRECTS_MAX, ROBOTS_TTL_MS } from '../src/policy/robots/freshness.js';
import { ROBOTS_BYTES_MAX } from '../src/policy/robots/rules.js';
import { TURN_MS_MAX } from '../src/supervision/cell.js';
import { SLEEP_MS_MAX } from '../src/supervision/timers.js';

const { config } = loadConfig({ cores: 2 });

describe('what standards ask for', () => {
  it('RFC 9309 §2.5: at least 500 KiB of robots.txt are read', () =>
    expect(ROBOTS_BYTES_MAX).toBeGreaterThanOrEqual(500 * 1_024));
  it('RFC 9309 §2.3.1.2: at least five redirects of robots.txt are followed', () =>
    expect(ROBOTS_REDIRECTS_MAX).toBeGreaterThanOrEqual(5));
  it('RFC 9309 §2.4: a copy of robots.txt serves for a day at most', () =>
    expect(ROBOTS_TTL_MS).toBeLessThanOrEqual(24 * 3_600_000));
  it('RFC 9110 §4.1: URLs of 8000 octets are taken', () => expect(URL_LENGTH_MAX).toBeGreaterThanOrEqual(8_000));
});

describe('relations', () => {
  it('a URL fits into a header block', () => expect(URL_LENGTH_MAX).toBeLessThan(config.fetch.headerBytesMax));
  it('a robots.txt fits into a body', () => expect(ROBOTS_BYTES_MAX).toBeLessThan(config.fetch.bytesMax));
  it('the last good robots.txt outlives a fresh one', () =>
    expect(ROBOTS_LAST_GOOD_MS_MAX).toBeGreaterThan(ROBOTS_TTL_MS));
  it('a lost permit costs less than the longest delay', () => expect(PERMIT_LIFE_MS).toBeLessThan(DELAY_CAP_MS));
  it('a missing verdict closes a host for no longer than the longest delay, and no shorter', () => {
    expect(VERDICT_MISSING_CLOSED_MS).toBe(DELAY_CAP_MS);
    expect(VERDICT_WAIT_MS).toBeLessThan(VERDICT_MISSING_CLOSED_MS);
  });
  it('a visit is given up as lost only after every default deadline of its request', () => {
    expect(VISIT_LOST_MS).toBeGreaterThan(config.fetch.timeoutMs + config.robots.timeoutMs);
  });
  it('many turns fit between two sync commits, one a second', () =>
    expect(TURN_MS_MAX * 100).toBeLessThanOrEqual(1_000));
  it('a sleep that a timer can not hold is slept in parts', () =>
    expect(SLEEP_MS_MAX).toBeLessThanOrEqual(2 ** 31 - 1));
  it('defaults that stand in two places agree', () => {
    expect([config.retry.deliveriesMax, config.breaker.failures]).toEqual([DELIVERIES_MAX, BREAKER_FAILURES_MAX]);
  });
  it('crashes make a dead letter sooner than failures do', () => {
    expect(Math.max(WORKER_CRASHES_MAX, PROCESS_DEATHS_MAX)).toBeLessThan(DELIVERIES_MAX);
  });
  it('every visit that may be open can hold a body of average size', () => {
    expect(config.fetch.bodyBudgetBytes / config.fetch.openVisitsMax).toBeGreaterThanOrEqual(1_048_576);
  });
  it('what stands in store keys fits into a byte', () =>
    expect([PARTITIONS - 1, PRIORITY_CLASSES - 1].every((n) => n < 256)).toBe(true));
  it('honest compression passes: text seldom shrinks beyond 20 to 1, and small pages may', () => {
    expect(RATIO_MAX).toBeGreaterThan(20);
    expect([RATIO_FREE_BYTES, CODINGS_MAX]).toEqual([1_048_576, 2]);
  });
});
