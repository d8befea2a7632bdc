import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Redrive, RedriveRate } from '../../src/domain/redrive.js';
import {
  advanced,
  begun,
  dueAfter,
  fateOf,
  isMeant,
  lettersAhead,
  lineOf,
  PORTION_MAX,
  portionAt,
  portionMax,
  waitMsOf,
  withEntered,
} from '../../src/policy/redrive.js';
import { recordOf } from '../store/parts.js';

const RATE = fc.record({
  letters: fc.integer({ min: 1, max: 5_000 }),
  perMs: fc.constantFrom(1_000, 60_000, 3_600_000),
});
const ALL = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null };
const WISH = { filter: ALL, rate: null, way: 'command', who: 'me@here', matched: 3, untilMs: 100 } as const;
const FREE = { refusalOf: () => null, disallowed: () => null };
const DEAD = recordOf('http://a.test/1', {
  state: 'dead',
  deliveries: 8,
  workerCrashes: 1,
  ladder: 2,
  attempts: [{ atMs: 5, outcome: 'failed', code: 'timeout', status: null, tier: 1, durationMs: 3 }],
});

/** Takes up what may be at each look; answers when and how many. */
function takeUp(rate: RedriveRate, looksAfterMs: readonly number[]) {
  let nowMs = 1_000;
  let dueAtMs = nowMs;
  return looksAfterMs.map((afterMs) => {
    nowMs += afterMs;
    const count = portionAt(rate, dueAtMs, nowMs);
    dueAtMs = count === 0 ? dueAtMs : dueAfter(rate, dueAtMs, nowMs, count);
    return { nowMs, count };
  });
}

describe('the pace of a redrive', () => {
  it('in any stretch of time no more than the rate and one portion, however irregularly it is looked at', () => {
    fc.assert(
      fc.property(RATE, fc.array(fc.nat(120_000), { maxLength: 60 }), (rate, looks) => {
        const taken = takeUp(rate, looks);
        for (const [i, from] of taken.entries()) {
          let sum = 0;
          for (const { nowMs, count } of taken.slice(i)) {
            sum += count;
            const granted = portionMax(rate) + ((nowMs - from.nowMs) * rate.letters) / rate.perMs;
            expect(sum).toBeLessThanOrEqual(granted + 1e-6);
          }
        }
      }),
    );
  });

  it('looked at whenever it is due, it keeps its rate', () => {
    const rate = { letters: 10, perMs: 1_000 };
    const taken = takeUp(rate, Array(600).fill(100)).reduce((sum, { count }) => sum + count, 0);
    expect(taken).toBeGreaterThanOrEqual(599);
    expect(taken).toBeLessThanOrEqual(610);
  });

  it('without a rate a portion at a time, as often as there is one', () => {
    expect(portionAt(null, 1e9, 0)).toBe(PORTION_MAX);
    expect(dueAfter(null, 1e9, 5, 500)).toBe(5);
  });

  it('P8: after a start it waits for what is left of its wait, and never longer than once', () => {
    const rate = { letters: 1, perMs: 60_000 };
    const redrive: Redrive = { ...begun({ ...WISH, rate }, 1, 0), dueAtMs: 50_000 };
    expect(waitMsOf(redrive, 20_000)).toBe(30_000);
    expect(waitMsOf(redrive, 70_000)).toBe(0);
    expect(waitMsOf(redrive, -1e9)).toBe(60_000);
  });
});

describe('R1 what becomes of a dead letter', () => {
  it('starts afresh: deliveries and crashes are given back, its history stays, and so does how it was found', () => {
    const fate = fateOf({ ...DEAD, depth: 4, priority: 5 }, FREE, { wallMs: 9 });
    expect(fate).toMatchObject({ fate: 'queued' });
    expect(fate.fate === 'queued' && fate.record).toMatchObject({
      ...{ state: 'queued', deliveries: 0, workerCrashes: 0, ladder: null, depth: 4, priority: 5 },
      attempts: DEAD.attempts,
    });
  });

  it('what the rules refuse now stays, with the reason', () => {
    const fate = fateOf(DEAD, { ...FREE, refusalOf: () => 'excluded' }, { wallMs: 9 });
    expect(lineOf(DEAD.url, DEAD.key, fate)).toEqual({ url: DEAD.url, key: DEAD.key, reason: 'excluded' });
  });

  it('P4: what robots.txt disallows now is blocked, with the evidence, and its history', () => {
    const robots = { rule: { line: 2, text: 'Disallow: /' }, fetchedAtMs: 1, status: 200, copy: 'current' } as const;
    const fate = fateOf(DEAD, { ...FREE, disallowed: () => robots }, { wallMs: 9 });
    expect(fate.fate === 'blocked' && fate.record).toMatchObject({ state: 'blocked_by_robots', robots, deliveries: 0 });
    expect(fate.fate === 'blocked' && fate.record.attempts.map(({ code }) => code)).toEqual([
      'timeout',
      'robots_disallowed',
    ]);
    expect(lineOf(DEAD.url, DEAD.key, fate).reason).toBe('robots_disallowed');
  });

  it('one whose record is no longer dead, or can not be read, stays as it is', () => {
    expect(fateOf({ ...DEAD, state: 'queued' }, FREE, { wallMs: 9 })).toMatchObject({ reason: 'queued_already' });
    expect(fateOf(null, FREE, { wallMs: 9 })).toMatchObject({ reason: 'record_unreadable' });
  });

  it('who died after the wish is not meant; n and n + 1', () => {
    const letter = { ...DEAD, cause: 'c', code: 'timeout', firstAtMs: 1, lastAtMs: 99 } as const;
    expect(isMeant(letter, WISH)).toBe(true);
    expect(isMeant({ ...letter, lastAtMs: 100 }, WISH)).toBe(false);
  });

  it('is counted: what stays by what keeps it, what enters by the commit; the last portion ends it', () => {
    const first = advanced(begun(WISH, 7, 5), { left: ['excluded', 'excluded'], next: 'ab', dueAtMs: 1.5 }, 8);
    expect(first).toMatchObject({ stage: 'going', after: 'ab', left: { excluded: 2 }, dueAtMs: 2, changedAtMs: 8 });
    expect(lettersAhead(first)).toBe(1);
    const last = withEntered(advanced(first, { left: ['too_deep'], next: null, dueAtMs: 2 }, 9), {
      queued: 1,
      blocked: 2,
    });
    expect(last).toMatchObject({
      stage: 'done',
      after: 'ab',
      left: { excluded: 2, too_deep: 1 },
      queued: 1,
      blocked: 2,
    });
    expect(lettersAhead(last)).toBe(0);
  });
});
