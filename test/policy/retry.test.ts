import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  afterUnaskedUnmodified,
  DELIVERIES_MAX,
  isPoison,
  PROCESS_DEATHS_MAX,
  RETRY_DELAYS_MS,
  WORKER_CRASHES_MAX,
} from '../../src/policy/retry.js';
import { drawn } from './arbitraries.js';

const failure = (deliveries: number, draw = 0.5) => ({
  deliveries,
  schedule: RETRY_DELAYS_MS,
  deliveriesMax: DELIVERIES_MAX,
  draw,
});

describe('R1 retries', () => {
  it('come after 2, 10, 30, 60 and then 120 s; the eighth delivery is the last', () => {
    const answers = Array.from({ length: 8 }, (_, i) => afterFailure(failure(i + 1)));
    expect(answers.slice(0, 7).map((a) => (a.next === 'retry' ? a.dueInMs / 1000 : a.next))).toEqual([
      2, 10, 30, 60, 120, 120, 120,
    ]);
    expect(answers[7]).toEqual({ next: 'dead' });
    expect(afterFailure(failure(9))).toEqual({ next: 'dead' });
  });

  it('are jittered by at most a fifth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), drawn, (deliveries, draw) => {
        const plain = afterFailure(failure(deliveries));
        const moved = afterFailure(failure(deliveries, draw));
        if (plain.next !== 'retry' || moved.next !== 'retry') throw new Error('dead too early');
        expect(Math.abs(moved.dueInMs - plain.dueInMs)).toBeLessThanOrEqual(plain.dueInMs / 5);
      }),
    );
  });

  it('follow a schedule of one, and refuse an empty one', () => {
    const one = { deliveries: 3, schedule: [500], deliveriesMax: 5, draw: 0.5 };
    expect(afterFailure(one)).toEqual({ next: 'retry', dueInMs: 500 });
    expect(() => afterFailure({ ...one, schedule: [] })).toThrow(RangeError);
  });

  it('a 304 to a plain GET is retried once', () => {
    expect(afterUnaskedUnmodified('ok', failure(1)).next).toBe('retry');
    expect(afterUnaskedUnmodified(null, failure(1)).next).toBe('retry');
    expect(afterUnaskedUnmodified('unmodified_without_validators', failure(2)).next).toBe('dead');
  });

  it('the second worker crash, and the third death of the process, are final', () => {
    expect(isPoison({ workerCrashes: WORKER_CRASHES_MAX - 1, processDeaths: PROCESS_DEATHS_MAX - 1 })).toBe(false);
    expect(isPoison({ workerCrashes: 2, processDeaths: 0 })).toBe(true);
    expect(isPoison({ workerCrashes: 0, processDeaths: 3 })).toBe(true);
  });
});
