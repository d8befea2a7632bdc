import { describe, expect, it } from 'vitest';
import { UNUSED, usedUpUntilMs, withUse } from '../../src/policy/browser-time.js';

const DAY_MS = 86_400_000;
const MORNING = 20_000 * DAY_MS + 1_000;

describe("the browser's time of a host", () => {
  it('is used up at what is granted, and not a millisecond before; the next day it is there again', () => {
    const nearly = withUse(UNUSED, 9_999, MORNING);
    expect(usedUpUntilMs(nearly, 10_000, MORNING)).toBeNull();
    const all = withUse(nearly, 1, MORNING);
    expect(usedUpUntilMs(all, 10_000, MORNING)).toBe(20_001 * DAY_MS);
    expect(usedUpUntilMs(all, 10_000, 20_001 * DAY_MS - 1)).toBe(20_001 * DAY_MS);
    expect(usedUpUntilMs(all, 10_000, 20_001 * DAY_MS)).toBeNull();
    expect(withUse(all, 5, 20_001 * DAY_MS)).toEqual({ day: 20_001, usedMs: 5 });
  });

  it('P8: a clock that was put back does not take away what was granted for that day', () => {
    const all = withUse(UNUSED, 10_000, MORNING);
    expect(usedUpUntilMs(all, 10_000, MORNING - DAY_MS)).toBeNull();
  });
});
