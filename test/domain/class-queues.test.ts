import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClassQueues, joinLine, leaveLine, nonEmptyLines, takeFront } from '../../src/domain/class-queues.js';
import type { PriorityClass } from '../../src/domain/record.js';

describe('class queues', () => {
  it('P7: whoever leaves a line and comes back stands at its end', () => {
    const queues = createClassQueues();
    joinLine(queues, 'a', 3);
    joinLine(queues, 'b', 3);
    leaveLine(queues, 'a');
    joinLine(queues, 'a', 3);
    expect([takeFront(queues, 3), takeFront(queues, 3), takeFront(queues, 3)]).toEqual(['b', 'a', undefined]);
  });

  it('keeps the place of one that joins the line it stands in, and moves one that joins another', () => {
    const queues = createClassQueues();
    joinLine(queues, 'a', 3);
    joinLine(queues, 'b', 3);
    joinLine(queues, 'a', 3);
    joinLine(queues, 'b', 0);
    expect(nonEmptyLines(queues)).toBe(0b1001);
    expect([takeFront(queues, 0), takeFront(queues, 3)]).toEqual(['b', 'a']);
    expect(nonEmptyLines(queues)).toBe(0);
  });

  it('P7: is no longer than twice those who stand in it, however often they come and go', () => {
    const queues = createClassQueues();
    for (let i = 0; i < 100; i++) joinLine(queues, `stays ${i}`, 5);
    for (let i = 0; i < 20_000; i++) {
      joinLine(queues, 'restless', 5);
      leaveLine(queues, 'restless');
    }
    expect(queues.lines[5]?.entries.length).toBeLessThanOrEqual(1_025);
    expect(takeFront(queues, 5)).toBe('stays 0');
  });

  it('is eight arrays, whatever is done to it', () => {
    const host = fc.integer({ min: 0, max: 9 }).map((n) => `h${n}`);
    const line = fc.integer({ min: 0, max: 7 }) as fc.Arbitrary<PriorityClass>;
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('join' as const), host, line }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), host }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const), line }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queues = createClassQueues();
        const model: string[][] = Array.from({ length: 8 }, () => []);
        const leave = (name: string) => {
          for (const names of model) if (names.includes(name)) names.splice(names.indexOf(name), 1);
        };
        for (const one of steps) {
          if (one.do === 'join') {
            if (!model[one.line]?.includes(one.host)) {
              leave(one.host);
              model[one.line]?.push(one.host);
            }
            joinLine(queues, one.host, one.line);
          } else if (one.do === 'leave') {
            leave(one.host);
            leaveLine(queues, one.host);
          } else expect(takeFront(queues, one.line)).toBe(model[one.line]?.shift());
          expect(nonEmptyLines(queues)).toBe(
            model.reduce((bits, names, n) => bits | (names.length > 0 ? 1 << n : 0), 0),
          );
          expect(queues.sizes).toEqual(model.map(({ length }) => length));
          expect(queues.lineOf).toEqual(new Map(model.flatMap((names, n) => names.map((name) => [name, n] as const))));
        }
      }),
    );
  });
});
