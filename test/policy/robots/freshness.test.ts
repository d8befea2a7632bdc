import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  due,
  isSameRules,
  type OriginRobots,
  pages,
  recheckAtMs,
  ROBOTS_BACKOFF,
  ROBOTS_LAST_GOOD_MS_MAX,
  ROBOTS_REFRESH_MARGIN_MS,
  ROBOTS_TTL_MS,
  type RobotsAnswer,
  robotsAnswered,
  UNKNOWN,
} from '../../../src/policy/robots/freshness.js';
import { ALLOW_ALL, type RobotsRules } from '../../../src/policy/robots/rules.js';
import { RETRY_AFTER_MS_MAX } from '../../../src/policy/throttle.js';

const NOW = Date.UTC(2026, 2, 10);
const RULES: RobotsRules = {
  rules: [{ allow: false, pattern: '/x', line: 2, text: 'Disallow: /x' }],
  crawlDelaySeconds: null,
  sitemaps: [],
  bytes: 30,
};

const VALIDATORS = { url: 'https://a.example/robots.txt', etag: '"1"', lastModified: null };
const status = (code: number, retryAfterMs: number | null = null): RobotsAnswer => ({
  kind: 'status',
  status: code,
  rules: RULES,
  retryAfterMs,
  validators: VALIDATORS,
});
const UNMODIFIED: RobotsAnswer = { kind: 'unmodified', validators: VALIDATORS };
const FAILURE: RobotsAnswer = { kind: 'failure', code: 'timeout' };
const FRESH = robotsAnswered(UNKNOWN, status(200), NOW);

function rulesInForce(state: OriginRobots, nowMs: number): RobotsRules | null {
  const answer = pages(state, nowMs);
  return answer.may === 'ask' ? answer.copy.rules : null;
}

describe('P5 what an answer to robots.txt means (RFC 9309 §2.3.1)', () => {
  it('nothing is known at first: the file is due, no page may be asked for', () => {
    expect(due(UNKNOWN, NOW)).toBe(true);
    expect(pages(UNKNOWN, NOW).may).toBe('wait_for_robots');
  });

  it('every status has one meaning', () => {
    for (let code = 0; code < 1000; code++) {
      const state = robotsAnswered(UNKNOWN, status(code), NOW);
      const isRead = code >= 200 && code < 300;
      const isMissing = code >= 300 && code < 500 && code !== 304 && code !== 429;
      expect(rulesInForce(state, NOW)).toBe(isRead ? RULES : isMissing ? ALLOW_ALL : null);
      expect(state.phase).toBe(isRead || isMissing ? 'fresh' : 'unreachable');
      expect(due(state, NOW)).toBe(false);
    }
  });

  it('RFC 9110 §15.4.5: 304 to a request with validators renews the copy, and says what they are now', () => {
    const later = NOW + ROBOTS_TTL_MS;
    const validators = { ...VALIDATORS, etag: '"2"' };
    expect(robotsAnswered(FRESH, { kind: 'unmodified', validators }, later)).toEqual({
      ...FRESH,
      fetchedAtMs: later,
      validators,
    });
    const lost = robotsAnswered(FRESH, FAILURE, later);
    expect(robotsAnswered(lost, { kind: 'unmodified', validators }, later + 1)).toEqual({
      ...FRESH,
      fetchedAtMs: later + 1,
      validators,
    });
  });

  it('304 to a plain request says nothing: the copy of before holds, and the file is asked for again', () => {
    const later = NOW + ROBOTS_TTL_MS;
    const state = robotsAnswered(FRESH, status(304), later);
    expect(state).toMatchObject({ phase: 'unreachable', lastGood: { fetchedAtMs: NOW } });
    expect(rulesInForce(state, later)).toBe(RULES);
    expect(robotsAnswered(UNKNOWN, status(304), NOW)).toMatchObject({ phase: 'unreachable', lastGood: null });
    expect(robotsAnswered(UNKNOWN, { kind: 'unmodified', validators: VALIDATORS }, NOW).phase).toBe('unreachable');
  });

  it('what is no file has no validators', () => {
    expect(robotsAnswered(FRESH, status(404), NOW)).toMatchObject({ phase: 'fresh', validators: null });
  });

  it('P4: a copy that disallows something is due again just before it runs out, or when it may be asked for again', () => {
    expect(recheckAtMs(FRESH, NOW + 5)).toBe(NOW + ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS);
    expect(recheckAtMs(FRESH, NOW + ROBOTS_TTL_MS)).toBe(NOW + ROBOTS_TTL_MS);
    const lost = robotsAnswered(FRESH, FAILURE, NOW);
    expect(recheckAtMs(lost, NOW)).toBe(NOW + ROBOTS_BACKOFF.firstMs);
  });

  it('rules are the same if they decide alike: lines and comments do not count', () => {
    const [rule] = RULES.rules;
    if (rule === undefined) throw new Error('no rule');
    expect(isSameRules(RULES, { ...RULES, rules: [{ ...rule, line: 9, text: 'disallow:/x' }], bytes: 31 })).toBe(true);
    expect(isSameRules(RULES, { ...RULES, rules: [{ ...rule, allow: true }] })).toBe(false);
    expect(isSameRules(RULES, { ...RULES, rules: [{ ...rule, pattern: '/y' }] })).toBe(false);
    expect(isSameRules(RULES, ALLOW_ALL)).toBe(false);
  });

  it('R27: 429 with Retry-After is not asked again before, nor later than a day', () => {
    const retryAt = (ms: number) => {
      const state = robotsAnswered(UNKNOWN, status(429, ms), NOW);
      return state.phase === 'unreachable' ? state.retryAtMs - NOW : null;
    };
    expect(retryAt(1_000)).toBe(ROBOTS_BACKOFF.firstMs);
    expect(retryAt(7_200_000)).toBe(7_200_000);
    expect(retryAt(2 * RETRY_AFTER_MS_MAX)).toBe(RETRY_AFTER_MS_MAX);
  });

  it('R25: unreadable three times, then read: no page meanwhile, and the rules rule', () => {
    let state: OriginRobots = UNKNOWN;
    let nowMs = NOW;
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      state = robotsAnswered(state, i % 2 ? status(503) : FAILURE, nowMs);
      if (state.phase !== 'unreachable') throw new Error('must be unreachable');
      waits.push((state.retryAtMs - nowMs) / 1000);
      expect(pages(state, nowMs).may).toEqual({ parkedUntil: state.retryAtMs });
      expect(due(state, state.retryAtMs - 1)).toBe(false);
      nowMs = state.retryAtMs;
      expect(due(state, nowMs)).toBe(true);
      expect(pages(state, nowMs).may).toBe('wait_for_robots');
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    expect(rulesInForce(robotsAnswered(state, status(200), nowMs), nowMs)).toBe(RULES);
  });
});

describe('P5 how long rules last (RFC 9309 §2.4)', () => {
  it('a new copy is due a little before the day is over, and the old one rules to its last millisecond', () => {
    const dueAt = NOW + ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS;
    expect(due(FRESH, dueAt - 1)).toBe(false);
    expect(due(FRESH, dueAt)).toBe(true);
    expect(rulesInForce(FRESH, NOW + ROBOTS_TTL_MS - 1)).toBe(RULES);
    expect(pages(FRESH, NOW + ROBOTS_TTL_MS).may).toBe('wait_for_robots');
  });

  it('R38: the last good copy rules on while the file can not be read, until it is a week old', () => {
    let state: OriginRobots = FRESH;
    for (let nowMs = NOW + ROBOTS_TTL_MS; nowMs < NOW + 8 * ROBOTS_TTL_MS; nowMs += 3_600_000) {
      state = robotsAnswered(state, status(500), nowMs);
    }
    expect(rulesInForce(state, NOW + ROBOTS_LAST_GOOD_MS_MAX - 1)).toBe(RULES);
    expect(rulesInForce(state, NOW + ROBOTS_LAST_GOOD_MS_MAX)).toBeNull();
  });

  it('P8: a clock that ran backwards keeps neither rules nor waits alive', () => {
    expect(due(FRESH, NOW - ROBOTS_TTL_MS)).toBe(true);
    expect(rulesInForce(FRESH, NOW - ROBOTS_TTL_MS)).toBeNull();
    expect(due(robotsAnswered(UNKNOWN, FAILURE, NOW), NOW - 2 * RETRY_AFTER_MS_MAX)).toBe(true);
  });
});

interface Model {
  nowMs: number;
  /** When rules were last learned, and which. */
  good: { readonly atMs: number; readonly rules: RobotsRules } | null;
  failuresInRow: number;
  lastFailureMs: number;
}
interface Real {
  state: OriginRobots;
}

class Passing implements fc.Command<Model, Real> {
  constructor(readonly ms: number) {}
  check = () => true;
  run(model: Model, real: Real) {
    model.nowMs += this.ms;
    const inForce = rulesInForce(real.state, model.nowMs);
    const ageMs = model.good === null ? Number.POSITIVE_INFINITY : model.nowMs - model.good.atMs;
    const lifeMs = model.failuresInRow > 0 ? ROBOTS_LAST_GOOD_MS_MAX : ROBOTS_TTL_MS;
    expect(inForce).toEqual(ageMs < lifeMs ? model.good?.rules : null);
    if (model.failuresInRow > 0) {
      const waitedMs = model.nowMs - model.lastFailureMs;
      if (waitedMs < ROBOTS_BACKOFF.firstMs) expect(due(real.state, model.nowMs)).toBe(false);
      if (waitedMs >= ROBOTS_BACKOFF.capMs) expect(due(real.state, model.nowMs)).toBe(true);
    } else expect(due(real.state, model.nowMs)).toBe(ageMs >= ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS);
  }
  toString = () => `passing(${this.ms})`;
}

class Answering implements fc.Command<Model, Real> {
  constructor(readonly code: number | null) {}
  check = () => true;
  run(model: Model, real: Real) {
    const answer = this.code === null ? FAILURE : this.code === 304 ? UNMODIFIED : status(this.code);
    real.state = JSON.parse(JSON.stringify(robotsAnswered(real.state, answer, model.nowMs)));
    if (this.code === 200) this.learned(model, RULES);
    else if (this.code === 404) this.learned(model, ALLOW_ALL);
    else if (this.code === 304 && model.good !== null) this.learned(model, model.good.rules);
    else {
      model.failuresInRow++;
      model.lastFailureMs = model.nowMs;
    }
  }
  private learned(model: Model, rules: RobotsRules) {
    model.good = { atMs: model.nowMs, rules };
    model.failuresInRow = 0;
  }
  toString = () => `answering(${this.code})`;
}

describe('P5, any history', () => {
  it('rules are in force exactly while they may be, and survive storage', () => {
    const hours = fc.integer({ min: 0, max: 60 }).map((n) => n * 3_600_000);
    const commands = fc.commands(
      [
        fc.oneof(fc.nat(120_000), hours).map((ms) => new Passing(ms)),
        fc.constantFrom(200, 404, 304, 503, 429, null).map((code) => new Answering(code)),
      ],
      { size: 'large', maxCommands: 60 },
    );
    fc.assert(
      fc.property(commands, (run) => {
        fc.modelRun(
          () => ({
            model: { nowMs: NOW, good: null, failuresInRow: 0, lastFailureMs: 0 },
            real: { state: UNKNOWN },
          }),
          run,
        );
      }),
      { numRuns: 400 },
    );
  });
});
