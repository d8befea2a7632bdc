/** B1: the breaker of the browser service, by example and by words in any order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BACKEND_TERMS,
  type BackendBreaker,
  called,
  lost,
  mayCall,
  told,
  WELL,
} from '../../src/policy/backend-breaker.js';

const { failuresMax, restMs } = BACKEND_TERMS;
const fail = (state: BackendBreaker, permit: number, nowMs = 0) => told(state, permit, 'failed', nowMs, BACKEND_TERMS);
const failTimes = (times: number, nowMs = 0): BackendBreaker => {
  let state = WELL;
  for (let permit = 1; permit <= times; permit++) state = fail(state, permit, nowMs);
  return state;
};

describe('B1 the breaker of the browser service', () => {
  it('is what is documented: five in a row, two minutes', () => {
    expect(BACKEND_TERMS).toEqual({ failuresMax: 5, restMs: 120_000 });
  });

  it('stands four failures in a row, and not the fifth', () => {
    expect(mayCall(failTimes(failuresMax - 1), 0)).toBe(true);
    expect(failTimes(failuresMax, 7)).toEqual({ phase: 'open', untilMs: 7 + restMs });
  });

  it('a page in between begins the count anew', () => {
    const eased = told(failTimes(failuresMax - 1), 9, 'worked', 0, BACKEND_TERMS);
    expect(eased).toEqual(WELL);
    expect(mayCall(fail(eased, 10), 0)).toBe(true);
  });

  it('rests to the last millisecond, then lets one probe through and no other', () => {
    const resting = failTimes(failuresMax);
    expect(mayCall(resting, restMs - 1)).toBe(false);
    expect(mayCall(resting, restMs)).toBe(true);
    const probing = called(resting, 6);
    expect(probing).toEqual({ phase: 'probing', permit: 6 });
    expect(mayCall(probing, restMs * 100)).toBe(false);
  });

  it('the probe that works closes it; one that fails gives it another rest; one that is lost says nothing', () => {
    const probing = called(failTimes(failuresMax), 6);
    expect(told(probing, 6, 'worked', 500, BACKEND_TERMS)).toEqual(WELL);
    expect(fail(probing, 6, 500)).toEqual({ phase: 'open', untilMs: 500 + restMs });
    expect(mayCall(lost(probing, 6, 500), 500)).toBe(true);
  });

  it('late words of what was called before it opened change nothing', () => {
    const resting = failTimes(failuresMax);
    expect(told(resting, 2, 'worked', 5, BACKEND_TERMS)).toBe(resting);
    expect(fail(resting, 2, 5)).toBe(resting);
    const probing = called(resting, 6);
    expect(told(probing, 2, 'worked', 5, BACKEND_TERMS)).toBe(probing);
    expect(fail(probing, 2, 5)).toBe(probing);
    expect(lost(probing, 2, 5)).toBe(probing);
  });

  it('whatever is told, it never opens before so many failures in a row', () => {
    const word = fc.constantFrom('worked', 'failed', 'lost', 'call', 'wait');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 80 }), (words) => {
        let state = failTimes(0);
        let inARow = 0;
        let nowMs = 0;
        for (const [at, one] of words.entries()) {
          const before: BackendBreaker['phase'] = state.phase;
          if (one === 'wait') nowMs += restMs / 2;
          else if (one === 'call') state = mayCall(state, nowMs) ? called(state, at) : state;
          else if (one === 'lost') state = lost(state, at - 1, nowMs);
          else {
            state = told(state, at - 1, one as 'worked' | 'failed', nowMs, BACKEND_TERMS);
            inARow = one === 'failed' ? inARow + 1 : 0;
          }
          const isOpened = before === 'closed' && (state as BackendBreaker).phase === 'open';
          if (isOpened) expect(inARow).toBeGreaterThanOrEqual(failuresMax);
          if (state.phase === 'closed') expect(state.failures).toBeLessThan(failuresMax);
        }
      }),
    );
  });
});
