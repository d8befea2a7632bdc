/**
 * The history of one URL against a model: whatever happens to it, its deliveries are counted as R1 has them, its row
 * keeps its place, and it ends where it must.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, Code } from '../../src/domain/outcome.js';
import { ATTEMPTS_KEPT, type QueueEntry } from '../../src/domain/record.js';
import {
  blocked,
  completed,
  failed,
  isAtRest,
  parked,
  poisonous,
  postponed,
  putOff,
  queuedAgain,
  type Settlement,
  SUSPECT_WAIT_MS,
  unparked,
} from '../../src/policy/history.js';
import { WORKER_CRASHES_MAX } from '../../src/policy/retry.js';
import { readyEntry } from '../actors/support/records.js';
import { drawn } from './arbitraries.js';

const TERMS = { schedule: [1_000, 5_000, 20_000], deliveriesMax: 4 };
const SEQUENCE = 17;

/** What is known from outside. */
interface Model {
  nowMs: number;
  place: 'ready' | 'waiting' | 'parked' | 'blocked' | 'gone';
  deliveries: number;
  workerCrashes: number;
  attempts: number;
}

interface Real {
  entry: QueueEntry;
}

type Command = fc.Command<Model, Real>;

const attemptAt = (atMs: number, code: Code): Attempt => ({
  atMs,
  outcome: 'failed',
  code,
  status: null,
  tier: 1,
  durationMs: 5,
});

/** Every settlement is of the row in hand, and leads to where the model says. */
function settle(model: Model, real: Real, settlement: Settlement, place: Model['place']): void {
  const { from, to, record, dead } = settlement;
  expect(from).toEqual(real.entry.at);
  expect(to?.queue ?? 'gone').toBe(place);
  if (to !== null) expect(to.sequence).toBe(SEQUENCE);
  if (to?.queue === 'ready') expect(to.priority).toBe(record.priority);
  model.place = place;
  model.attempts += 1;
  expect(record).toMatchObject({ deliveries: model.deliveries, workerCrashes: model.workerCrashes });
  expect(record.attempts).toHaveLength(Math.min(ATTEMPTS_KEPT, model.attempts));
  expect(record.attempts.at(-1)).toEqual(settlement.attempt);
  expect(dead !== null).toBe(record.state === 'dead');
  if (to === null) expect(isAtRest(record)).toBe(true);
  else expect(isAtRest(record)).toBe(false);
  real.entry = { at: to ?? from, record };
}

const isTryable = ({ place }: Readonly<Model>) => place === 'ready' || place === 'waiting';

class Fails implements Command {
  constructor(
    readonly code: Code,
    readonly draw: number,
  ) {}
  check = isTryable;
  run(model: Model, real: Real) {
    model.deliveries += 1;
    if (this.code === 'worker_crashed') model.workerCrashes += 1;
    const isLast = model.deliveries >= TERMS.deliveriesMax || model.workerCrashes >= WORKER_CRASHES_MAX;
    const settlement = failed(real.entry, attemptAt(model.nowMs, this.code), TERMS, model.nowMs, this.draw);
    settle(model, real, settlement, isLast ? 'gone' : 'waiting');
    if (isLast) return expect(settlement.dead).toMatchObject({ deliveries: model.deliveries, code: this.code });
    const { at } = real.entry;
    const plainMs = TERMS.schedule[Math.min(model.deliveries, TERMS.schedule.length) - 1] as number;
    const waitMs = at.queue === 'waiting' ? at.dueAtMs - model.nowMs : 0;
    expect(waitMs).toBeGreaterThanOrEqual(0.8 * plainMs);
    expect(waitMs).toBeLessThanOrEqual(1.2 * plainMs + 1);
  }
  toString = () => `fails(${this.code}, ${this.draw})`;
}

/** P3, R3: nothing is used, and it stays where it is. */
class IsPostponed implements Command {
  check = isTryable;
  run(model: Model, real: Real) {
    const before = real.entry.at;
    settle(model, real, postponed(real.entry, attemptAt(model.nowMs, 'http_throttled')), model.place);
    expect(real.entry.at).toEqual(before);
  }
  toString = () => 'postponed';
}

/** P5: nothing is used. */
class IsParked implements Command {
  check = isTryable;
  run(model: Model, real: Real) {
    settle(model, real, parked(real.entry, attemptAt(model.nowMs, 'robots_unreadable')), 'parked');
    expect(real.entry.record.state).toBe('parked');
  }
  toString = () => 'parked';
}

/** P4: what was used up is given back, as it may be allowed another time. */
class IsBlocked implements Command {
  check = isTryable;
  run(model: Model, real: Real) {
    Object.assign(model, { deliveries: 0, workerCrashes: 0 });
    const robots = { rule: null, fetchedAtMs: 0, status: 200, copy: 'current' } as const;
    settle(model, real, blocked(real.entry, attemptAt(model.nowMs, 'robots_disallowed'), robots), 'blocked');
    expect(real.entry.record.state).toBe('blocked_by_robots');
  }
  toString = () => 'blocked';
}

class ComesBack implements Command {
  check = ({ place }: Readonly<Model>) => place === 'parked' || place === 'blocked';
  run(model: Model, real: Real) {
    const { from, to, record } = unparked(real.entry);
    expect(from).toEqual(real.entry.at);
    expect(to).toEqual({ queue: 'ready', priority: record.priority, sequence: SEQUENCE });
    expect(record).toEqual({ ...real.entry.record, state: 'queued' });
    model.place = 'ready';
    real.entry = { at: to, record };
  }
  toString = () => 'comes back';
}

/** Each death of the process puts it off for longer. */
class IsPutOff implements Command {
  constructor(readonly deaths: number) {}
  check = isTryable;
  run(model: Model, real: Real) {
    const { at, record } = real.entry;
    real.entry = { at, record: { ...record, processDeaths: this.deaths } };
    settle(model, real, putOff(real.entry, model.nowMs), 'waiting');
    expect(real.entry.at).toMatchObject({ dueAtMs: model.nowMs + this.deaths * SUSPECT_WAIT_MS });
  }
  toString = () => `put off after ${this.deaths} deaths`;
}

class IsPoisonous implements Command {
  check = isTryable;
  run(model: Model, real: Real) {
    settle(model, real, poisonous(real.entry, model.nowMs), 'gone');
    expect(real.entry.record.state).toBe('dead');
  }
  toString = () => 'poisonous';
}

class Succeeds implements Command {
  check = isTryable;
  run(model: Model, real: Real) {
    Object.assign(model, { deliveries: 0, workerCrashes: 0 });
    settle(model, real, completed(real.entry, attemptAt(model.nowMs, 'ok'), 'active', { etag: '"x"' }), 'gone');
    expect(real.entry.record).toMatchObject({ state: 'active', etag: '"x"', processDeaths: 0 });
  }
  toString = () => 'succeeds';
}

class IsAskedForAgain implements Command {
  check = ({ place }: Readonly<Model>) => place === 'gone';
  run(model: Model, real: Real) {
    const before = real.entry.record;
    const record = queuedAgain(before, { priority: 0, depth: 0 });
    Object.assign(model, { place: 'ready', deliveries: 0, workerCrashes: 0 });
    const { state, priority, depth, deliveries, workerCrashes, processDeaths, ...kept } = record;
    expect([state, priority, depth, deliveries, workerCrashes, processDeaths]).toEqual(['queued', 0, 0, 0, 0, 0]);
    expect(before).toMatchObject(kept);
    real.entry = { at: { queue: 'ready', priority, sequence: SEQUENCE }, record };
  }
  toString = () => 'is asked for again';
}

class Passes implements Command {
  constructor(readonly ms: number) {}
  check = () => true;
  run(model: Model) {
    model.nowMs += this.ms;
  }
  toString = () => `passes(${this.ms})`;
}

describe('R1, P3, P5, B4 the history of a URL against a model', () => {
  it('counts what is a delivery and nothing else, keeps its place, and ends after as many as are allowed', () => {
    const commands = fc.commands<Model, Real>(
      [
        fc
          .tuple(fc.constantFrom<Code>('timeout', 'http_server_error', 'truncated', 'worker_crashed'), drawn)
          .map(([code, draw]) => new Fails(code, draw)),
        fc.constant(new IsPostponed()),
        fc.constant(new IsParked()),
        fc.constant(new IsBlocked()),
        fc.constant(new ComesBack()),
        fc.integer({ min: 1, max: 2 }).map((deaths) => new IsPutOff(deaths)),
        fc.constant(new IsPoisonous()),
        fc.constant(new Succeeds()),
        fc.constant(new IsAskedForAgain()),
        fc.nat(100_000).map((ms) => new Passes(ms)),
      ],
      { maxCommands: 60, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (steps) => {
        const model: Model = { nowMs: 1_000_000, place: 'ready', deliveries: 0, workerCrashes: 0, attempts: 0 };
        fc.modelRun(() => ({ model, real: { entry: readyEntry('http://a.example/', SEQUENCE) } }), steps);
      }),
      { numRuns: 500 },
    );
  });
});
