import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PriorityClass, QueueEntry, QueuePosition } from '../../src/domain/record.js';
import * as queues from '../../src/policy/back-queue.js';
import { entryAt, headOf, readyEntry } from '../actors/support/records.js';

const row = (sequence: number, priority: PriorityClass = 2) =>
  readyEntry(`http://a.example/${sequence}`, sequence, { priority });
const waits = (sequence: number, dueAtMs: number) =>
  entryAt({ queue: 'waiting', dueAtMs, sequence }, `http://a.example/${sequence}`);
const parks = (sequence: number, priority: PriorityClass = 2) =>
  entryAt({ queue: 'parked', sequence }, `http://a.example/${sequence}`, { priority });
const sequencesOf = (rows: readonly QueueEntry[]) => rows.map(({ at }) => at.sequence);

function filled(rows: Parameters<typeof headOf>[0]): queues.BackQueue {
  const queue = queues.emptyQueue();
  queues.refill(queue, headOf(rows));
  return queue;
}

const NONE: ReadonlySet<number> = new Set();

describe('back queue', () => {
  it('D2: a row that is out is not shown by a read that still brings it', () => {
    const queue = filled({ ready: [row(1), row(2)] });
    queues.take(queue, queue.ready[0] as QueueEntry);
    queues.refill(queue, headOf({ ready: [row(1), row(2)] }));
    expect(sequencesOf(queue.ready)).toEqual([2]);
    queues.letGo(queue, 1);
    queues.refill(queue, headOf({ ready: [row(1), row(2)] }));
    expect(sequencesOf(queue.ready)).toEqual([1, 2]);
  });

  it('takes from any kind, and only what it shows', () => {
    const queue = filled({ ready: [row(1)], waiting: [waits(2, 5)], parked: [parks(3)] });
    for (const entry of [queue.waiting[0], queue.parked[0], queue.ready[0]]) queues.take(queue, entry as QueueEntry);
    expect([...queue.taken.keys()]).toEqual([2, 3, 1]);
    expect(() => queues.take(queue, row(1))).toThrow('not in the window');
  });

  it('D1: may hold more while any kind is empty with something behind it', () => {
    expect(queues.mayHoldMore(filled({}))).toBe(false);
    expect(queues.mayHoldMore(filled({ readyComplete: false }))).toBe(true);
    expect(queues.mayHoldMore(filled({ waitingComplete: false }))).toBe(true);
    expect(queues.mayHoldMore(filled({ parkedComplete: false }))).toBe(true);
    const shown = { ready: [row(1)], waiting: [waits(2, 5)], parked: [parks(3)] };
    const cut = { readyComplete: false, waitingComplete: false, parkedComplete: false };
    expect(queues.mayHoldMore(filled({ ...shown, ...cut }))).toBe(false);
  });

  it('D1: a trimmed window knows that there is more; one that fits is left as it was', () => {
    const rows = { ready: [row(1), row(2)], waiting: [waits(3, 5), waits(4, 6)], parked: [parks(5), parks(6)] };
    for (const [rowsMax, complete] of [
      [2, true],
      [1, false],
    ] as const) {
      const queue = filled(rows);
      queues.trim(queue, rowsMax);
      const kinds = [queue.ready, queue.waiting, queue.parked];
      expect(kinds.map(sequencesOf)).toEqual(
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ].map((all) => all.slice(0, rowsMax)),
      );
      expect([queue.readyComplete, queue.waitingComplete, queue.parkedComplete]).toEqual([
        complete,
        complete,
        complete,
      ]);
    }
  });

  it('what it was outdated by is read before anything is said of its heads', () => {
    const queue = filled({ ready: [row(5), row(6), row(7)], readyComplete: false });
    queues.take(queue, queue.ready[1] as QueueEntry);
    queues.outdate(queue);
    expect(queues.mayHoldMore(queue)).toBe(true);
    expect(queues.headsOf(queue, NONE)[2]).toBe(0);
  });

  it('heads: the least of what is shown or out, without what leaves', () => {
    const queue = filled({ ready: [row(5), row(6), row(9, 4)] });
    queues.take(queue, queue.ready[0] as QueueEntry);
    expect(queues.headsOf(queue, NONE)).toEqual([0, 0, 5, 0, 9, 0, 0, 0]);
    expect(queues.headsOf(queue, new Set([5]))).toEqual([0, 0, 6, 0, 9, 0, 0, 0]);
  });

  it('heads: a parked row that is out may be on its way to its class, and lowers it', () => {
    const queue = filled({ ready: [row(10)], parked: [parks(4)] });
    expect(queues.headsOf(queue, NONE)[2]).toBe(10);
    queues.take(queue, queue.parked[0] as QueueEntry);
    expect(queues.headsOf(queue, NONE)[2]).toBe(4);
  });

  it('a row that comes back stands in its order, but not past the end of a window that shows not all', () => {
    const queue = filled({ ready: [row(5), row(7), row(3, 4)], readyComplete: false });
    for (const entry of [row(6), row(1), row(2, 3), row(9, 4)]) queues.place(queue, entry);
    expect(sequencesOf(queue.ready)).toEqual([1, 5, 6, 7, 2, 3]);
    queues.compare(queue, 6);
    queue.readyComplete = true;
    queues.place(queue, row(9, 4));
    expect(sequencesOf(queue.ready)).toEqual([1, 5, 6, 7, 2, 3, 9]);
  });

  it('waiting rows stand by their time, parked ones by their sequence', () => {
    const queue = filled({ waiting: [waits(1, 10), waits(2, 30)], parked: [parks(4)] });
    queues.place(queue, waits(3, 20));
    queues.place(queue, parks(2));
    expect([sequencesOf(queue.waiting), sequencesOf(queue.parked)]).toEqual([
      [1, 3, 2],
      [2, 4],
    ]);
    expect(queues.nextDueMs(queue)).toBe(10);
    expect(queues.nextDueMs(filled({}))).toBeNull();
  });

  it('learns from the count in the store that there is more than it knows of', () => {
    const queue = filled({ ready: [row(1), row(2)] });
    queues.take(queue, queue.ready[0] as QueueEntry);
    queues.compare(queue, 2);
    expect(queue.readyComplete).toBe(true);
    queues.compare(queue, 3);
    expect(queue.readyComplete).toBe(false);
  });
});

// -- against a store that is a list of rows ---------------------------------------------------------------------------

/** The rows of one host as they are in the store, parts that are on their way there, and what was offered. */
class StoreModel {
  rows = new Map<number, QueueEntry>();
  sequence = 0;
  parts: { sequence: number; next: QueueEntry | null }[][] = [];
  out = new Set<number>();
  nowMs = 0;

  admit(priority: PriorityClass): void {
    this.sequence += 1;
    this.rows.set(this.sequence, row(this.sequence, priority));
  }

  read(from: readonly number[], limit: number): Parameters<typeof queues.refill>[1] {
    const all = [...this.rows.values()];
    const of = (kind: QueuePosition['queue'], before: (a: QueueEntry, b: QueueEntry) => number) =>
      all
        .filter(({ at }) => at.queue === kind && (at.queue !== 'ready' || at.sequence >= (from[at.priority] as number)))
        .sort(before);
    const bySequence = (a: QueueEntry, b: QueueEntry) => a.at.sequence - b.at.sequence;
    const ready = of('ready', (a, b) => a.record.priority - b.record.priority || bySequence(a, b));
    const dueOf = ({ at }: QueueEntry) => (at.queue === 'waiting' ? at.dueAtMs : 0);
    const waiting = of('waiting', (a, b) => dueOf(a) - dueOf(b) || bySequence(a, b));
    const parked = of('parked', bySequence);
    return headOf({
      ready: ready.slice(0, limit),
      readyComplete: ready.length <= limit,
      waiting: waiting.slice(0, limit),
      waitingComplete: waiting.length <= limit,
      parked: parked.slice(0, limit),
      parkedComplete: parked.length <= limit,
    });
  }

  readyRows(): number {
    return [...this.rows.values()].filter(({ at }) => at.queue === 'ready').length;
  }
}

const WINDOW = 3;

type Step =
  | { do: 'admit'; priority: PriorityClass; told: boolean }
  | { do: 'take'; which: number }
  | { do: 'settle'; how: 'leave' | 'retry' | 'park' | 'stay' | 'abandon'; which: number }
  | { do: 'unpark' }
  | { do: 'commit' }
  | { do: 'read' }
  | { do: 'trim'; rows: number };

function headsHold(queue: queues.BackQueue, store: StoreModel, leaving: ReadonlySet<number>): void {
  const heads = queues.headsOf(queue, leaving);
  for (const { at } of store.rows.values()) {
    if (at.queue === 'ready' && !leaving.has(at.sequence)) expect(heads[at.priority]).toBeLessThanOrEqual(at.sequence);
  }
  // What is on its way to ready counts too: another part may be in the store after it.
  for (const part of store.parts)
    for (const { next } of part)
      if (next?.at.queue === 'ready') expect(heads[next.at.priority]).toBeLessThanOrEqual(next.at.sequence);
}

function offer(queue: queues.BackQueue, store: StoreModel, entry: QueueEntry): void {
  expect(store.out.has(entry.at.sequence), `row ${entry.at.sequence} offered twice`).toBe(false);
  expect(store.rows.get(entry.at.sequence)?.at).toEqual(entry.at);
  store.out.add(entry.at.sequence);
  queues.take(queue, entry);
}

function emit(queue: queues.BackQueue, store: StoreModel, entry: QueueEntry, to: QueuePosition | null): void {
  const next = to === null ? null : { at: to, record: entry.record };
  store.parts.push([{ sequence: entry.at.sequence, next }]);
  headsHold(queue, store, new Set(to?.queue === 'ready' ? [] : [entry.at.sequence]));
}

function commit(queue: queues.BackQueue, store: StoreModel): void {
  for (const { sequence, next } of store.parts.shift() ?? []) {
    if (next === null) store.rows.delete(sequence);
    else store.rows.set(sequence, next);
    store.out.delete(sequence);
    queues.letGo(queue, sequence);
    if (next !== null) queues.place(queue, next);
  }
  queues.compare(queue, store.readyRows());
}

function read(queue: queues.BackQueue, store: StoreModel): void {
  queues.refill(queue, store.read(queues.headsOf(queue, NONE), WINDOW + queue.taken.size));
}

function take(queue: queues.BackQueue, store: StoreModel, which: number): void {
  if (queues.mayHoldMore(queue)) read(queue, store);
  const due = queue.waiting.filter(({ at }) => at.queue === 'waiting' && at.dueAtMs <= store.nowMs);
  const offered = [...due, ...queue.ready];
  const entry = offered[Math.min(which, offered.length - 1)];
  if (entry !== undefined) offer(queue, store, entry);
}

function settle(queue: queues.BackQueue, store: StoreModel, { how, which }: Extract<Step, { do: 'settle' }>): void {
  const inParts = new Set(store.parts.flat().map(({ sequence }) => sequence));
  const visiting = [...queue.taken.values()].filter(({ at }) => !inParts.has(at.sequence));
  const entry = visiting[which % Math.max(1, visiting.length)];
  if (entry === undefined) return;
  const { sequence } = entry.at;
  store.nowMs += 1;
  if (how === 'leave') emit(queue, store, entry, null);
  else if (how === 'stay') emit(queue, store, entry, entry.at);
  else if (how === 'park') emit(queue, store, entry, { queue: 'parked', sequence });
  else if (how === 'retry') emit(queue, store, entry, { queue: 'waiting', dueAtMs: store.nowMs + 3, sequence });
  else {
    store.out.delete(sequence);
    queues.letGo(queue, sequence);
    queues.place(queue, entry);
  }
}

function perform(step: Step, queue: queues.BackQueue, store: StoreModel): void {
  switch (step.do) {
    case 'admit': {
      const isNews = ![...store.rows.values()].some(({ at }) => at.queue === 'ready' && at.priority <= step.priority);
      store.admit(step.priority);
      // Whether a wake is told of what is no news is for chance to say; of news it always is.
      if (isNews || step.told) queues.outdate(queue);
      return;
    }
    case 'take':
      return take(queue, store, step.which);
    case 'settle':
      return settle(queue, store, step);
    case 'unpark': {
      const [entry] = queue.parked;
      if (entry === undefined) return;
      offer(queue, store, entry);
      return emit(queue, store, entry, {
        queue: 'ready',
        priority: entry.record.priority,
        sequence: entry.at.sequence,
      });
    }
    case 'commit':
      return commit(queue, store);
    case 'read':
      return read(queue, store);
    case 'trim':
      return queues.trim(queue, step.rows);
  }
}

/** Nothing new comes, all that is tried leaves, time passes: what is offered then must be all that there is. */
function finish(queue: queues.BackQueue, store: StoreModel): void {
  for (let round = 0; round < 1_000 && (store.rows.size > 0 || store.parts.length > 0); round++) {
    store.nowMs += 10;
    perform({ do: 'take', which: 0 }, queue, store);
    perform({ do: 'unpark' }, queue, store);
    perform({ do: 'settle', how: 'leave', which: 0 }, queue, store);
    perform({ do: 'commit' }, queue, store);
  }
}

describe('back queue against a model store', () => {
  it('D1, D2: offers nothing twice, holds its heads below every row, offers all in the end', () => {
    const priority = fc.integer({ min: 1, max: 3 }) as fc.Arbitrary<PriorityClass>;
    const which = fc.integer({ min: 0, max: 3 });
    const how = fc.constantFrom<Extract<Step, { do: 'settle' }>['how']>('leave', 'retry', 'park', 'stay', 'abandon');
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('admit' as const), priority, told: fc.boolean() }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), which }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), how, which }) },
      { weight: 1, arbitrary: fc.constant({ do: 'unpark' as const }) },
      { weight: 3, arbitrary: fc.constant({ do: 'commit' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'read' as const }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const), rows: fc.integer({ min: 1, max: 4 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 150 }), (steps) => {
        const queue = queues.emptyQueue();
        const store = new StoreModel();
        for (const one of steps) {
          perform(one, queue, store);
          headsHold(queue, store, NONE);
        }
        finish(queue, store);
        expect([...store.rows.keys()]).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});
