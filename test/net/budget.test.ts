import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyBudget, type Flow } from '../../src/net/budget.js';

class Reader implements Flow {
  paused = false;
  pause() {
    this.paused = true;
  }
  resume() {
    this.paused = false;
  }
}

describe('S2: the budget of body bytes', () => {
  it('n bytes flow, n+1 pause, and n again resume', () => {
    const budget = new BodyBudget(100);
    const [done, reader] = [new Reader(), new Reader()];
    budget.take(done, 60);
    budget.finish(done);
    budget.take(reader, 40);
    expect(reader.paused).toBe(false);
    budget.take(reader, 1);
    expect([reader.paused, budget.bytesHeld]).toEqual([true, 101]);
    budget.release(1);
    expect([reader.paused, budget.bytesHeld]).toEqual([false, 100]);
  });

  it('a dropped body makes room', () => {
    const budget = new BodyBudget(100);
    const [first, second] = [new Reader(), new Reader()];
    budget.take(first, 90);
    budget.take(second, 20);
    expect(second.paused).toBe(true);
    budget.drop(first);
    expect([second.paused, budget.bytesHeld]).toEqual([false, 20]);
  });

  it('whoever reads, finishes, fails and releases: bytes add up, and something can always move', () => {
    const step = fc.record({
      who: fc.nat({ max: 5 }),
      what: fc.constantFrom('read', 'read', 'finish', 'drop', 'release'),
      bytes: fc.integer({ min: 1, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new BodyBudget(100);
        const readers = Array.from({ length: 6 }, () => ({ reader: new Reader(), held: 0 }));
        let finished = 0;
        for (const { who, what, bytes } of steps) {
          const one = readers[who] as (typeof readers)[number];
          if (what === 'read' && !one.reader.paused) {
            one.held += bytes;
            budget.take(one.reader, bytes);
          } else if ((what === 'finish' && !one.reader.paused) || what === 'drop') {
            finished += what === 'finish' ? one.held : 0;
            budget[what === 'finish' ? 'finish' : 'drop'](one.reader);
            readers[who] = { reader: new Reader(), held: 0 };
          } else if (what === 'release') {
            const released = Math.min(bytes, finished);
            finished -= released;
            budget.release(released);
          }
          const begun = readers.filter(({ held }) => held > 0);
          expect(budget.bytesHeld).toBe(finished + begun.reduce((sum, { held }) => sum + held, 0));
          if (begun.length > 0 && finished === 0) expect(begun.some(({ reader }) => !reader.paused)).toBe(true);
          if (budget.bytesHeld <= 100) expect(begun.some(({ reader }) => reader.paused)).toBe(false);
        }
      }),
    );
  });
});
