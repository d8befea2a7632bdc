import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stampOf } from '../../src/policy/elapsed.js';
import { readClockNote, thisMachine, writeClockNote } from '../../src/supervision/clock.js';
import { type Reading, steadyClock } from '../../src/supervision/steady-clock.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = 1_700_000_000_000;

function stage(from: Reading | null = null) {
  let monotonicMs = 0;
  let wallMs = START_MS;
  const steps: number[] = [];
  const source = { monotonicMs: () => monotonicMs, wallMs: () => Math.floor(wallMs) };
  const clock = steadyClock(source, from, (byMs) => steps.push(byMs));
  return {
    clock,
    steps,
    pass(ms: number): void {
      monotonicMs += ms;
      wallMs += ms;
    },
    step(ms: number): void {
      wallMs += ms;
    },
    aheadMs: () => clock.wallMs() - Math.floor(wallMs),
  };
}

describe('P8: the wall clock of a crawl', () => {
  it('never runs backwards, and is never behind the real one, whatever steps that one makes within a day', () => {
    const moment = fc.record({
      passMs: fc.double({ min: 0, max: HOUR_MS, noNaN: true }),
      stepMs: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
    });
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 20 }), (moments) => {
        const { clock, pass, step, aheadMs } = stage();
        let before = clock.wallMs();
        for (const { passMs, stepMs } of moments) {
          pass(passMs);
          step(stepMs);
          const now = clock.wallMs();
          expect(now).toBeGreaterThanOrEqual(before);
          expect(aheadMs()).toBeGreaterThanOrEqual(0);
          before = now;
        }
      }),
    );
  });

  it('shows what the real one shows as long as that makes no step, and tells of none', () => {
    const { pass, steps, aheadMs } = stage();
    for (let n = 0; n < 1_000; n++) {
      pass(0.37 * n);
      expect(aheadMs()).toBe(0);
    }
    expect(steps).toEqual([]);
  });

  it('put forward, it follows at once; put back, it goes on a tenth slower until the real one is there', () => {
    const { clock, pass, step, steps, aheadMs } = stage();
    step(HOUR_MS);
    expect(clock.wallMs()).toBe(START_MS + HOUR_MS);
    step(-HOUR_MS);
    expect(aheadMs()).toBe(HOUR_MS);
    pass(HOUR_MS);
    expect(aheadMs()).toBe(0.9 * HOUR_MS);
    pass(9 * HOUR_MS);
    expect(aheadMs()).toBe(0);
    pass(HOUR_MS);
    expect(aheadMs()).toBe(0);
    expect(steps).toEqual([HOUR_MS, -HOUR_MS]);
  });

  it('a day ahead it goes on, beyond that it was wrong and follows back', () => {
    const { clock, step, aheadMs } = stage();
    step(-DAY_MS);
    expect(aheadMs()).toBe(DAY_MS);
    step(-1);
    expect(clock.wallMs()).toBe(START_MS - DAY_MS - 1);
  });

  it('a step of a second is told, a smaller one is not', () => {
    const { clock, step, steps } = stage();
    step(999);
    clock.wallMs();
    expect(steps).toEqual([]);
    step(1);
    clock.wallMs();
    expect(steps).toEqual([1_000]);
  });

  it('a process that is stopped between the two readings takes the pause for no step', () => {
    let nowMs = 0;
    let pauseMs = 0;
    const steps: number[] = [];
    const monotonicMs = (): number => {
      const read = nowMs;
      nowMs += pauseMs;
      pauseMs = 0;
      return read;
    };
    const clock = steadyClock({ monotonicMs, wallMs: () => START_MS + nowMs }, null, (byMs) => steps.push(byMs));
    pauseMs = 20_000;
    expect(clock.wallMs()).toBe(START_MS + 20_000);
    nowMs += 1;
    expect(clock.wallMs()).toBe(START_MS + 20_001);
    expect(steps).toEqual([]);
  });

  it('goes on from the clock of an earlier life that was ahead, and forgets one that was behind', () => {
    expect(stage({ monotonicMs: 0, wallMs: START_MS + HOUR_MS }).aheadMs()).toBe(HOUR_MS);
    expect(stage({ monotonicMs: 0, wallMs: START_MS - HOUR_MS }).aheadMs()).toBe(0);
  });
});

describe('P8: what is noted for the next life', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orbweaver-clock-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const machine = { boot: 7, uptimeAtZeroMs: 1_000_000 };
  const clockAt = (monotonicMs: number) => ({ monotonicMs: () => monotonicMs, wallMs: () => START_MS });

  it('is read as what that clock would show now', () => {
    expect(writeClockNote(directory, stampOf(machine, { monotonicMs: 500, wallMs: START_MS + HOUR_MS }))).toBe(true);
    const next = { boot: 7, uptimeAtZeroMs: 1_000_000 + 60_000 };
    expect(readClockNote(directory, next, clockAt(500))).toEqual({
      monotonicMs: 500,
      wallMs: START_MS + HOUR_MS + 60_000,
    });
  });

  it('says nothing after a start of the machine, where there is no note, or a broken one', () => {
    const clock = clockAt(0);
    expect(readClockNote(directory, machine, clock)).toBeNull();
    writeClockNote(directory, { boot: 8, uptimeMs: 0, wallMs: START_MS });
    expect(readClockNote(directory, machine, clock)).toBeNull();
    expect(readClockNote(directory, undefined, clock)).toBeNull();
    for (const text of ['', '{"boot":7,', '[]', '{"boot":7,"uptimeMs":"1","wallMs":2}', 'null']) {
      writeFileSync(join(directory, 'clock.json'), text);
      expect(readClockNote(directory, machine, clock), text).toBeNull();
    }
    expect(writeClockNote(join(directory, 'missing'), { boot: 7, uptimeMs: 0, wallMs: 0 })).toBe(false);
  });

  it.runIf(process.platform === 'linux')('Linux tells its start, the same at each question, and an uptime', () => {
    const clock = { monotonicMs: () => performance.now() };
    const one = thisMachine(clock);
    expect(one?.boot).toBe(thisMachine(clock)?.boot);
    expect(one?.boot).toBeGreaterThan(0);
    expect(one?.uptimeAtZeroMs).toBeGreaterThan(0);
  });
});
