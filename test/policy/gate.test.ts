import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as gates from '../../src/policy/gate.js';

describe('P1, P2 gate', () => {
  it('is open from its time on, not a millisecond before', () => {
    expect([gates.mayGrant(gates.freshGate(10), 9), gates.mayGrant(gates.freshGate(10), 10)]).toEqual([false, true]);
  });

  it('P1: refuses a second permit while one is out, and while its verdict is owed', () => {
    const granted = gates.grant(gates.freshGate(0), 1, 100);
    expect(() => gates.grant(granted, 2, 100)).toThrow('granted');
    expect(() => gates.grant(gates.end(granted, 1, 50), 2, 100)).toThrow('ended');
  });

  it('a permit that was given back leaves the gate as it was', () => {
    const before = gates.judged(gates.end(gates.grant(gates.freshGate(0), 1, 100), 1, 50), 1, 30);
    expect(gates.giveBack(gates.grant(before, 2, 200), 2)).toEqual(before);
    const granted = gates.grant(before, 2, 200);
    expect(gates.giveBack(granted, 1)).toBe(granted);
    expect(gates.giveBack(before, 2)).toBe(before);
  });

  it('P2: opens at the end of the request + what the verdict says, whichever comes first', () => {
    const granted = gates.grant(gates.freshGate(0), 1, 100);
    const opened = { phase: 'open', opensAtMs: 80, endedAtMs: 50 };
    expect(gates.judged(gates.end(granted, 1, 50), 1, 30)).toEqual(opened);
    expect(gates.end(gates.judged(granted, 1, 30), 1, 50)).toEqual(opened);
  });

  it('P2: later words only close it for longer', () => {
    const open = gates.judged(gates.end(gates.grant(gates.freshGate(0), 1, 100), 1, 50), 1, 30);
    expect(gates.judged(open, 1, 20)).toEqual(open);
    expect(gates.judged(open, 1, 40)).toMatchObject({ opensAtMs: 90 });
    const twice = gates.judged(gates.judged(gates.grant(gates.freshGate(0), 1, 100), 1, 30), 1, 20);
    expect(gates.end(twice, 1, 50)).toMatchObject({ opensAtMs: 80 });
  });

  it('a word on another request, or one before the first, changes nothing', () => {
    const fresh = gates.freshGate(5);
    const granted = gates.grant(fresh, 2, 100);
    const ended = gates.end(granted, 2, 50);
    for (const gate of [granted, ended]) {
      expect(gates.judged(gate, 1, 500)).toBe(gate);
      expect(gates.end(gate, 1, 60)).toBe(gate);
    }
    expect(gates.judged(fresh, 1, 500)).toBe(fresh);
  });

  it('counts a request without an end as in flight until its deadline, not longer', () => {
    const granted = gates.grant(gates.freshGate(0), 1, 100);
    expect(gates.overdue(granted, 99)).toBeNull();
    expect(gates.overdue(granted, 100)).toMatchObject({ phase: 'ended', endedAtMs: 100 });
    expect(gates.overdue(gates.freshGate(0), 1e9)).toBeNull();
  });

  it('P2: without a verdict the capped delay holds, from the end on', () => {
    const ended = gates.end(gates.grant(gates.freshGate(0), 1, 100), 1, 50);
    expect(gates.overdue(ended, 50 + gates.VERDICT_WAIT_MS - 1)).toBeNull();
    const closed = gates.overdue(ended, 50 + gates.VERDICT_WAIT_MS);
    expect(closed).toMatchObject({ phase: 'open', opensAtMs: 50 + gates.VERDICT_MISSING_CLOSED_MS });
  });
});

/** What is known from outside: the permit that is out, and what the last ended request was promised. */
interface Model {
  nowMs: number;
  permit: number;
  out: { permit: number; deadlineMs: number; closedForMs: number } | null;
  last: { permit: number; endedAtMs: number; closedForMs: number | null } | null;
  everClosedUntilMs: number;
}
interface Real {
  gate: gates.Gate;
}
type Command = fc.Command<Model, Real>;

class Pass implements Command {
  constructor(readonly ms: number) {}
  check = () => true;
  run(model: Model, real: Real) {
    model.nowMs += this.ms;
    const next = gates.overdue(real.gate, model.nowMs);
    if (next === null) return;
    if (model.out !== null) endIn(model, model.nowMs);
    else if (model.last !== null) model.last.closedForMs = gates.VERDICT_MISSING_CLOSED_MS;
    real.gate = next;
  }
  toString = () => `pass(${this.ms})`;
}

class Grant implements Command {
  check = () => true;
  run(model: Model, real: Real) {
    if (!gates.mayGrant(real.gate, model.nowMs)) {
      // Never closed for no reason.
      if (model.out === null && model.last?.closedForMs !== null)
        expect(model.nowMs).toBeLessThan(model.everClosedUntilMs);
      return;
    }
    expect(model.out).toBeNull();
    if (model.last !== null) {
      expect(model.last.closedForMs).not.toBeNull();
      expect(model.nowMs).toBeGreaterThanOrEqual(model.last.endedAtMs + (model.last.closedForMs ?? 0));
    }
    model.permit += 1;
    model.out = { permit: model.permit, deadlineMs: model.nowMs + 1_000, closedForMs: -1 };
    real.gate = gates.grant(real.gate, model.permit, model.nowMs + 1_000);
  }
  toString = () => 'grant';
}

function endIn(model: Model, endedAtMs: number): void {
  if (model.out === null) return;
  const { permit, closedForMs } = model.out;
  model.last = { permit, endedAtMs, closedForMs: closedForMs < 0 ? null : closedForMs };
  if (closedForMs >= 0) model.everClosedUntilMs = Math.max(model.everClosedUntilMs, endedAtMs + closedForMs);
  else model.everClosedUntilMs = Math.max(model.everClosedUntilMs, endedAtMs + gates.VERDICT_MISSING_CLOSED_MS);
  model.out = null;
}

class End implements Command {
  constructor(readonly back: number) {}
  check = (model: Readonly<Model>) => model.permit > this.back;
  run(model: Model, real: Real) {
    const permit = model.permit - this.back;
    if (model.out?.permit === permit) endIn(model, model.nowMs);
    real.gate = gates.end(real.gate, permit, model.nowMs);
  }
  toString = () => `end(-${this.back})`;
}

class Judge implements Command {
  constructor(
    readonly back: number,
    readonly closedForMs: number,
  ) {}
  check = (model: Readonly<Model>) => model.permit > this.back;
  run(model: Model, real: Real) {
    const permit = model.permit - this.back;
    if (model.out?.permit === permit) model.out.closedForMs = Math.max(model.out.closedForMs, this.closedForMs);
    else if (model.out === null && model.last?.permit === permit) {
      model.last.closedForMs = Math.max(model.last.closedForMs ?? 0, this.closedForMs);
    }
    const { last } = model;
    if (last !== null) model.everClosedUntilMs = Math.max(model.everClosedUntilMs, last.endedAtMs + this.closedForMs);
    real.gate = gates.judged(real.gate, permit, this.closedForMs);
  }
  toString = () => `judge(-${this.back}, ${this.closedForMs})`;
}

class GiveBack implements Command {
  check = (model: Readonly<Model>) => model.out !== null;
  run(model: Model, real: Real) {
    real.gate = gates.giveBack(real.gate, model.permit);
    model.out = null;
  }
  toString = () => 'give back';
}

describe('P1, P2 gate against a model', () => {
  it('at most one permit is out; it never opens before the end + delay, and always opens in the end', () => {
    const commands = fc.commands<Model, Real>(
      [
        fc.integer({ min: 0, max: 2_000 }).map((ms) => new Pass(ms)),
        fc.constantFrom(5_000, 60_000).map((ms) => new Pass(ms)),
        fc.constant(new Grant()),
        fc.constant(new Grant()),
        fc.integer({ min: 0, max: 1 }).map((back) => new End(back)),
        fc
          .tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 3_000 }))
          .map(([back, ms]) => new Judge(back, ms)),
        fc.constant(new GiveBack()),
      ],
      { maxCommands: 60, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (steps) => {
        const model: Model = { nowMs: 0, permit: 0, out: null, last: null, everClosedUntilMs: 0 };
        const real: Real = { gate: gates.freshGate(0) };
        fc.modelRun(() => ({ model, real }), steps);
        for (let i = 0; i < 4; i++) new Pass(70_000).run(model, real);
        expect(gates.mayGrant(real.gate, model.nowMs)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
