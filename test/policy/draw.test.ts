import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRIORITY_CLASSES } from '../../src/domain/record.js';
import { drawClass } from '../../src/policy/draw.js';
import { drawn } from './arbitraries.js';

/** Every class has something to give. */
const ALL_CLASSES = (1 << PRIORITY_CLASSES) - 1;

describe('drawing a priority class', () => {
  it('draws only what is there, and something whenever anything is', () => {
    fc.assert(
      fc.property(fc.nat(ALL_CLASSES), drawn, (nonEmpty, draw) => {
        const drawnClass = drawClass(nonEmpty, draw);
        if (nonEmpty === 0) expect(drawnClass).toBeNull();
        else expect(nonEmpty & (1 << (drawnClass as number))).not.toBe(0);
      }),
    );
  });

  it('gives each class half the share of the one above it, and none starves', () => {
    const steps = 255 * 4;
    const counts = new Array<number>(PRIORITY_CLASSES).fill(0);
    for (let i = 0; i < steps; i++) (counts[drawClass(ALL_CLASSES, (i + 0.5) / steps) as number] as number)++;
    expect(counts).toEqual([512, 256, 128, 64, 32, 16, 8, 4]);
  });

  it('shares out among those that have something', () => {
    const draws = [0, 0.66, 0.67, 0.99].map((draw) => drawClass(0b0110_0000, draw));
    expect(draws).toEqual([5, 5, 6, 6]);
  });
});
