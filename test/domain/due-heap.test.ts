import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDueHeap, peekDue, popDue, pushDue } from '../../src/domain/due-heap.js';

describe('due heap', () => {
  it('has nothing to give when it is empty', () => {
    const heap = createDueHeap();
    expect(peekDue(heap)).toBeUndefined();
    expect(popDue(heap)).toBeUndefined();
  });

  it('P2: gives the earliest first, as a sorted array would, whatever is pushed between', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant('push' as const), atMs: fc.integer({ min: 0, max: 30 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('pop' as const) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = createDueHeap();
        const model: { atMs: number; name: string }[] = [];
        for (const [index, one] of steps.entries()) {
          if (one.do === 'push') {
            const due = { atMs: one.atMs, name: `n${index}` };
            pushDue(heap, due);
            model.push(due);
          } else {
            const popped = popDue(heap);
            expect(popped?.atMs).toBe(model.length === 0 ? undefined : Math.min(...model.map(({ atMs }) => atMs)));
            if (popped !== undefined) model.splice(model.indexOf(popped), 1);
          }
          expect(heap.entries.length).toBe(model.length);
          expect(peekDue(heap)?.atMs).toBe(model.length === 0 ? undefined : Math.min(...model.map(({ atMs }) => atMs)));
        }
        expect(new Set(heap.entries)).toEqual(new Set(model));
      }),
    );
  });
});
