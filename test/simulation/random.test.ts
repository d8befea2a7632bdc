import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/sim/random.js';

describe('seeded chance', () => {
  it('is the same for a seed and another for another', () => {
    const draws = (seed: number) => Array.from({ length: 20 }, createRandom(seed).bits);
    expect(draws(1)).toEqual(draws(1));
    expect(draws(1)).not.toEqual(draws(2));
  });

  it('forks by label, whatever was drawn before', () => {
    const early = createRandom(1).fork('web').fork('a');
    const parent = createRandom(1);
    parent.next();
    const web = parent.fork('web');
    web.next();
    expect(web.fork('a').bits()).toBe(early.bits());
    expect(web.fork('b').bits()).not.toBe(createRandom(1).fork('web').fork('a').bits());
  });

  it('is spread evenly enough: chi-squared over 64 cells stays below its 0.999 quantile', () => {
    const random = createRandom(5);
    const cells = new Array<number>(64).fill(0);
    for (let draw = 0; draw < 64_000; draw++) cells[Math.floor(random.next() * 64)]! += 1;
    const chiSquared = cells.reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0);
    expect(chiSquared).toBeLessThan(103.4);
  });

  it('draws whole numbers with both ends, and log-uniform ones as often small as large', () => {
    const random = createRandom(6);
    const between = Array.from({ length: 2_000 }, () => random.between(3, 6));
    expect([...new Set(between)].toSorted()).toEqual([3, 4, 5, 6]);
    const log = Array.from({ length: 4_000 }, () => random.logUniform(1, 10_000));
    expect(Math.min(...log)).toBe(1);
    expect(Math.max(...log)).toBeLessThanOrEqual(10_000);
    const small = log.filter((value) => value < 100).length;
    expect(small).toBeGreaterThan(1_700);
    expect(small).toBeLessThan(2_300);
    expect(() => random.pick([])).toThrow('nothing to pick from');
  });
});
