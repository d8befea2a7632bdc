import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ask,
  BREAKER_FAILURES_MAX,
  type Breaker,
  CLOSED,
  failed,
  lost,
  QUARANTINE,
  succeeded,
} from '../../src/policy/breaker.js';
import { drawn } from './arbitraries.js';

const NOW = 1_000_000;

const afterFailures = (count: number): Breaker => {
  let state = CLOSED;
  for (let i = 0; i < count; i++) state = failed(state, NOW, 0.5);
  return state;
};

describe('B3 breaker', () => {
  it('opens at the threshold, not one failure before', () => {
    expect(ask(afterFailures(BREAKER_FAILURES_MAX - 1), NOW).may).toBe('ask');
    expect(ask(afterFailures(BREAKER_FAILURES_MAX), NOW).may).toEqual({ until: NOW + QUARANTINE.firstMs });
  });

  it('counts failures in a row only', () => {
    const eased = succeeded(afterFailures(BREAKER_FAILURES_MAX - 1));
    expect(ask(failed(eased, NOW, 0.5), NOW).may).toBe('ask');
  });

  it('lets one probe through when the quarantine is over, not a millisecond before', () => {
    const open = afterFailures(BREAKER_FAILURES_MAX);
    expect(ask(open, NOW + QUARANTINE.firstMs - 1).may).toEqual({ until: NOW + QUARANTINE.firstMs });
    const probe = ask(open, NOW + QUARANTINE.firstMs);
    expect(probe.may).toBe('probe');
    expect(ask(probe.state, NOW + 9 * QUARANTINE.capMs).may).toEqual({ until: null });
  });

  it('doubles the quarantine to an hour with each probe that fails; a lost probe repeats it', () => {
    let state = afterFailures(BREAKER_FAILURES_MAX);
    const quarantines: number[] = [];
    for (let i = 0; i < 9; i++) {
      const { untilMs } = state as Extract<Breaker, { phase: 'open' }>;
      const half = ask(state, untilMs).state;
      expect(lost(half, untilMs, 0.5)).toMatchObject({ untilMs: untilMs + Math.min(3_600_000, 30_000 * 2 ** i) });
      state = failed(half, untilMs, 0.5);
      quarantines.push((state as Extract<Breaker, { phase: 'open' }>).untilMs - untilMs);
    }
    expect(quarantines.map((ms) => ms / 1000)).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  it('P8: a clock that ran backwards makes no quarantine longer than the longest', () => {
    const open: Breaker = { phase: 'open', untilMs: NOW + 10 * QUARANTINE.capMs, openings: 3 };
    const answer = ask(open, NOW);
    expect(answer.may).toEqual({ until: NOW + QUARANTINE.capMs });
    expect(ask(answer.state, NOW + QUARANTINE.capMs).may).toBe('probe');
  });
});

/** What must be true of any history, kept beside the breaker and never read from it. */
interface Model {
  nowMs: number;
  failuresInRow: number;
  probes: number;
  quarantineEndsMs: number | null;
}
interface Real {
  state: Breaker;
}

class Passing implements fc.Command<Model, Real> {
  constructor(readonly ms: number) {}
  check = () => true;
  run(model: Model) {
    model.nowMs += this.ms;
  }
  toString = () => `passing(${this.ms})`;
}

class Asking implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real) {
    const answer = ask(real.state, model.nowMs);
    real.state = JSON.parse(JSON.stringify(answer.state));
    if (model.probes > 0) expect(answer.may).toEqual({ until: null });
    else if (model.quarantineEndsMs === null) expect(answer.may).toBe('ask');
    else if (model.nowMs < model.quarantineEndsMs) expect(answer.may).toEqual({ until: model.quarantineEndsMs });
    else expect(answer.may).toBe('probe');
    if (answer.may === 'probe') model.probes++;
    expect(model.probes).toBeLessThanOrEqual(1);
  }
  toString = () => 'ask';
}

class Telling implements fc.Command<Model, Real> {
  constructor(
    readonly outcome: 'succeeded' | 'failed' | 'lost',
    readonly draw: number,
  ) {}
  check = () => true;
  run(model: Model, real: Real) {
    const before = real.state;
    real.state =
      this.outcome === 'succeeded'
        ? succeeded(before)
        : this.outcome === 'failed'
          ? failed(before, model.nowMs, this.draw)
          : lost(before, model.nowMs, this.draw);
    const opensNow = this.follow(model);
    if (real.state.phase !== 'open') return expect(model.quarantineEndsMs).toBeNull();
    if (!opensNow) return expect(real.state).toEqual(before);
    model.quarantineEndsMs = real.state.untilMs;
    const quarantineMs = real.state.untilMs - model.nowMs;
    expect(quarantineMs).toBeGreaterThanOrEqual(QUARANTINE.firstMs * 0.8);
    expect(quarantineMs).toBeLessThanOrEqual(QUARANTINE.capMs);
  }
  /** Moves the model on; true if the breaker must have opened by this. */
  private follow(model: Model): boolean {
    if (model.quarantineEndsMs !== null && model.probes === 0) return false;
    if (this.outcome === 'succeeded') {
      Object.assign(model, { failuresInRow: 0, probes: 0, quarantineEndsMs: null });
      return false;
    }
    if (model.probes > 0) {
      model.probes = 0;
      return true;
    }
    if (this.outcome === 'failed') model.failuresInRow++;
    if (model.failuresInRow < BREAKER_FAILURES_MAX) return false;
    model.failuresInRow = 0;
    return true;
  }
  toString = () => `${this.outcome}(${this.draw})`;
}

describe('B3 breaker, any history', () => {
  it('has at most one probe out, opens after five failures in a row, and reads back from storage', () => {
    const commands = fc.commands(
      [
        fc.oneof(fc.nat(40_000), fc.nat(4_000_000)).map((ms) => new Passing(ms)),
        fc.constant(new Asking()),
        fc
          .tuple(
            fc.constantFrom(
              'succeeded' as const,
              'failed' as const,
              'failed' as const,
              'failed' as const,
              'lost' as const,
            ),
            drawn,
          )
          .map(([outcome, draw]) => new Telling(outcome, draw)),
      ],
      { size: 'large', maxCommands: 80 },
    );
    fc.assert(
      fc.property(commands, (run) => {
        fc.modelRun(
          () => ({
            model: { nowMs: NOW, failuresInRow: 0, probes: 0, quarantineEndsMs: null },
            real: { state: CLOSED },
          }),
          run,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('with terms of the operator', () => {
  const terms = { failuresMax: 2, quarantine: { firstMs: 1_000, capMs: 4_000 } };

  it('opens at their count, for their time (B3)', () => {
    const once = failed(CLOSED, 0, 0.5, terms);
    expect(once).toEqual({ phase: 'closed', failures: 1 });
    expect(failed(once, 0, 0.5, terms)).toEqual({ phase: 'open', untilMs: 1_000, openings: 1 });
  });

  it('doubles their time up to their cap, and a lost probe keeps it (B3)', () => {
    const probe = { phase: 'half_open', openings: 2 } as const;
    expect(failed(probe, 0, 0.5, terms)).toMatchObject({ untilMs: 4_000, openings: 3 });
    expect(failed({ phase: 'half_open', openings: 9 }, 0, 0.5, terms)).toMatchObject({ untilMs: 4_000 });
    expect(lost(probe, 0, 0.5, terms)).toMatchObject({ untilMs: 2_000, openings: 2 });
  });
});
