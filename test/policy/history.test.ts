import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/domain/outcome.js';
import { ATTEMPTS_KEPT } from '../../src/domain/record.js';
import { completed, failed, parked, postponed, unparked } from '../../src/policy/history.js';
import { DELIVERIES_MAX, RETRY_DELAYS_MS, WORKER_CRASHES_MAX } from '../../src/policy/retry.js';
import { entryAt, readyEntry } from '../actors/support/records.js';

const URL = 'http://a.example/x';
const TERMS = { schedule: RETRY_DELAYS_MS, deliveriesMax: DELIVERIES_MAX };

function attempt(atMs: number, code: Attempt['code'] = 'timeout'): Attempt {
  return { atMs, outcome: 'failed', code, status: null, tier: 1, durationMs: 5 };
}

describe('R1 history', () => {
  it('a 304 to a plain GET is asked for once more; a second one in a row is final', () => {
    const code = 'unmodified_without_validators';
    const first = failed(readyEntry(URL, 7), attempt(1, code), TERMS, 1, 0.5);
    expect(first).toMatchObject({ dead: null, to: { queue: 'waiting' } });
    const at = first.to as NonNullable<typeof first.to>;
    const second = failed({ at, record: first.record }, attempt(2, code), TERMS, 2, 0.5);
    expect(second).toMatchObject({ to: null, record: { state: 'dead', deliveries: 2 }, dead: { code } });
    const other = failed({ at, record: first.record }, attempt(2, 'timeout'), TERMS, 2, 0.5);
    expect(other).toMatchObject({ dead: null, to: { queue: 'waiting' } });
  });

  it('a completed visit leaves the queue, with counts at zero and what was learned', () => {
    const entry = readyEntry(URL, 7, { deliveries: 3, workerCrashes: 1, processDeaths: 2, etag: 'old' });
    const settled = completed(entry, attempt(1, 'ok'), 'active', { etag: '"new"' });
    expect(settled).toMatchObject({ from: entry.at, to: null, dead: null });
    expect(settled.record).toMatchObject({
      state: 'active',
      deliveries: 0,
      workerCrashes: 0,
      processDeaths: 0,
      etag: '"new"',
    });
    expect(entry.record).toMatchObject({ deliveries: 3, etag: 'old', attempts: [] });
  });

  it('P5: parked and unparked it keeps its sequence and class, and no delivery is used', () => {
    const entry = readyEntry(URL, 7, { priority: 4, deliveries: 2 });
    const out = parked(entry, attempt(1, 'robots_unreadable'));
    expect(out).toMatchObject({
      to: { queue: 'parked', sequence: 7 },
      record: { state: 'parked', deliveries: 2 },
      dead: null,
    });
    const back = unparked({ at: { queue: 'parked', sequence: 7 }, record: out.record });
    expect(back.to).toEqual(entry.at);
    expect(back.record).toEqual({ ...out.record, state: 'queued' });
  });

  it('P3, R3: postponed it stays where it is, and no delivery is used', () => {
    const entry = entryAt({ queue: 'waiting', dueAtMs: 50, sequence: 7 }, URL, { deliveries: 2, state: 'waiting' });
    const settled = postponed(entry, attempt(60, 'http_throttled'));
    expect(settled).toMatchObject({
      from: entry.at,
      to: entry.at,
      dead: null,
      record: { deliveries: 2, state: 'waiting' },
    });
    expect(settled.record.attempts).toHaveLength(1);
  });

  it('R1: waits by the schedule, and is dead at the last delivery, not one before', () => {
    let entry = readyEntry(URL, 7);
    for (let delivery = 1; delivery < DELIVERIES_MAX; delivery++) {
      const nowMs = delivery * 1_000.25;
      const settled = failed(entry, attempt(nowMs), TERMS, nowMs, 0.5);
      const delayMs = RETRY_DELAYS_MS[Math.min(delivery, RETRY_DELAYS_MS.length) - 1] as number;
      expect(settled).toMatchObject({ dead: null, record: { deliveries: delivery, state: 'waiting' } });
      expect(settled.to).toEqual({ queue: 'waiting', dueAtMs: Math.ceil(nowMs + delayMs), sequence: 7 });
      entry = { at: settled.to as NonNullable<typeof settled.to>, record: settled.record };
    }
    const last = failed(entry, attempt(9_000), TERMS, 9_000, 0.5);
    expect(last).toMatchObject({ from: entry.at, to: null, record: { state: 'dead', deliveries: DELIVERIES_MAX } });
    expect(last.dead).toMatchObject({
      url: URL,
      code: 'timeout',
      deliveries: DELIVERIES_MAX,
      firstAtMs: 1_000.25,
      lastAtMs: 9_000,
    });
    expect(last.dead?.cause).toBe('8 deliveries, the last one: timeout');
  });

  it('B4: two crashes of its worker make it a dead letter, one does not', () => {
    expect(WORKER_CRASHES_MAX).toBe(2);
    const first = failed(readyEntry(URL, 7), attempt(1, 'worker_crashed'), TERMS, 1, 0.5);
    expect(first).toMatchObject({ dead: null, record: { workerCrashes: 1 } });
    const entry = entryAt({ queue: 'waiting', dueAtMs: 5, sequence: 7 }, URL, first.record);
    expect(failed(entry, attempt(6), TERMS, 6, 0.5).dead).toBeNull();
    expect(failed(entry, attempt(6, 'worker_crashed'), TERMS, 6, 0.5).dead?.cause).toBe('crashed its worker 2 times');
  });

  it('keeps the newest lines of its history only', () => {
    const attempts = Array.from({ length: ATTEMPTS_KEPT }, (_, n) => attempt(n));
    const { record } = postponed(readyEntry(URL, 7, { attempts }), attempt(99));
    expect(record.attempts.map(({ atMs }) => atMs)).toEqual([1, 2, 3, 4, 5, 6, 7, 99]);
  });
});
