/** What a host asked of an earlier life holds in this one, whatever was done to the wall clock between them (P3, P8). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { host } from '../../src/actors/host.js';
import type { Machine } from '../../src/policy/elapsed.js';
import { RETRY_AFTER_MS_MAX } from '../../src/policy/throttle.js';
import { ALLOW_ALL } from '../../src/policy/robots/rules.js';
import { type HostSnapshot, UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import { NAME, PROPS } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { headOf, readyEntry } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

const HOUR_MS = 3_600_000;
const ORIGIN = `http://${NAME}`;
const OPEN = { phase: 'fresh', rules: ALLOW_ALL, status: 200, fetchedAtMs: WALL_AHEAD_MS, validators: null } as const;
const MACHINE: Machine = { boot: 1, uptimeAtZeroMs: 100 * HOUR_MS };

/** The wall-clock time until which the host rests as soon as it lives; null where it goes on at once. */
function restsUntilMs(snapshot: HostSnapshot, machine: Machine | undefined): number | null {
  const stage = new Stage(host, { ...PROPS, ...(machine === undefined ? {} : { machine }) });
  stage.tell({ type: 'wake', wake: 1 });
  stage.take();
  const robots = [{ origin: ORIGIN, state: OPEN }];
  const head = headOf({ ready: [readyEntry(`${ORIGIN}/1`, 1)] });
  stage.tell({ type: 'hostLoaded', host: NAME, snapshot, robots, summary: null, head });
  const out = stage.take();
  const rested = told(out).find(({ message }) => message.type === 'rested');
  if (rested === undefined) expect(of(out, 'resolve').length).toBe(1);
  return (rested?.message.wakeAtMs as number | undefined) ?? null;
}

/** The host was asked to be left alone for `silenceMs`, `agoMs` ago; since then the wall clock was put forward by `stepMs`. */
function asked(silenceMs: number, agoMs: number, stepMs: number, boot = MACHINE.boot): HostSnapshot {
  const wallMs = WALL_AHEAD_MS - agoMs - stepMs;
  const stamp = { boot, uptimeMs: MACHINE.uptimeAtZeroMs - agoMs, wallMs };
  return { ...UNTOUCHED, throttle: { consecutive: 1 }, closedUntilMs: wallMs + silenceMs, stamp };
}

describe('P3, P8: Retry-After across a restart', () => {
  it('holds to its end and a few milliseconds, whether the clock was put forward, back, or left alone', () => {
    const step = fc.oneof(fc.constantFrom(0, HOUR_MS, -HOUR_MS), fc.integer({ min: -30 * HOUR_MS, max: 30 * HOUR_MS }));
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 24 * HOUR_MS }), fc.nat(999), step, (silenceMs, agoMs, stepMs) => {
        const leftMs = silenceMs - agoMs;
        const restMs = (restsUntilMs(asked(silenceMs, agoMs, stepMs), MACHINE) ?? WALL_AHEAD_MS) - WALL_AHEAD_MS;
        expect(restMs).toBeGreaterThanOrEqual(Math.min(leftMs, RETRY_AFTER_MS_MAX) - 4);
        expect(restMs).toBeLessThanOrEqual(Math.min(leftMs + 10, RETRY_AFTER_MS_MAX));
      }),
    );
  });

  it('is over when it is over, by the time that the machine has been up', () => {
    for (const stepMs of [0, HOUR_MS, -HOUR_MS])
      expect(restsUntilMs(asked(60_000, 60_010, stepMs), MACHINE)).toBeNull();
  });

  it('after a start of the machine the wall clock is believed, to 24 h at the most', () => {
    const rest = (stepMs: number) => restsUntilMs(asked(60_000, 20_000, stepMs, 99), MACHINE);
    expect(rest(0)).toBe(WALL_AHEAD_MS + 40_000);
    expect(rest(HOUR_MS)).toBeNull();
    expect(rest(-HOUR_MS)).toBe(WALL_AHEAD_MS + HOUR_MS + 40_000);
    expect(rest(-1_000 * HOUR_MS)).toBe(WALL_AHEAD_MS + RETRY_AFTER_MS_MAX);
    expect(restsUntilMs(asked(60_000, 20_000, 0), undefined)).toBe(WALL_AHEAD_MS + 40_000);
  });

  it('B3: a quarantine moves with the clock as well', () => {
    const quarantined = (stepMs: number): HostSnapshot => {
      const { stamp } = asked(0, 20_000, stepMs);
      const untilMs = (stamp?.wallMs ?? 0) + 60_000;
      return { ...UNTOUCHED, breaker: { phase: 'open', untilMs, openings: 1 }, stamp };
    };
    for (const stepMs of [HOUR_MS, -HOUR_MS]) {
      const restMs = (restsUntilMs(quarantined(stepMs), MACHINE) ?? 0) - WALL_AHEAD_MS;
      expect(restMs).toBeGreaterThanOrEqual(40_000);
      expect(restMs).toBeLessThanOrEqual(40_010);
    }
  });
});
