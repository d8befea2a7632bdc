import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookAt } from '../../src/policy/last-look.js';
import {
  type OriginRobots,
  ROBOTS_LAST_GOOD_MS_MAX,
  ROBOTS_REFRESH_MARGIN_MS,
  ROBOTS_TTL_MS,
  UNKNOWN,
} from '../../src/policy/robots/freshness.js';
import { compileRobots } from '../../src/policy/robots/match.js';
import { readRobots } from '../../src/policy/robots/read.js';

const ROBOTS_URL = 'http://a.example/robots.txt';
const RULES = readRobots(
  new TextEncoder().encode('User-agent: *\nDisallow: /private\nAllow: /open'),
  'bot',
  ROBOTS_URL,
  'whole',
);
const NOW = 1_700_000_000_000;

const copyOf = (fetchedAtMs: number) => ({ rules: RULES, fetchedAtMs, status: 200, validators: null });
const look = (path: string, state: OriginRobots) =>
  lookAt(`http://a.example${path}`, state, ({ rules }) => compileRobots(rules, ROBOTS_URL), NOW);

const fresh = (ageMs: number): OriginRobots => ({ phase: 'fresh', ...copyOf(NOW - ageMs) });
const unreachable = (retryInMs: number, goodAgeMs: number | null): OriginRobots => ({
  phase: 'unreachable',
  sinceMs: NOW - 1,
  retryAtMs: NOW + retryInMs,
  attempts: 1,
  lastGood: goodAgeMs === null ? null : copyOf(NOW - goodAgeMs),
});

describe('P4, P5 the last look', () => {
  it('P4: what the rules disallow is blocked, with the rule and its line', () => {
    expect(look('/private/x', fresh(5))).toEqual({
      look: 'blocked',
      robots: { rule: { text: 'Disallow: /private', line: 2 }, fetchedAtMs: NOW - 5, status: 200, copy: 'current' },
    });
  });

  it('what they allow goes, with the rule where there is one', () => {
    expect(look('/open', fresh(5))).toEqual({
      look: 'go',
      robots: { rule: { text: 'Allow: /open', line: 3 }, fetchedAtMs: NOW - 5, status: 200, copy: 'current' },
    });
    expect(look('/', fresh(5))).toEqual({
      look: 'go',
      robots: { rule: null, fetchedAtMs: NOW - 5, status: 200, copy: 'current' },
    });
  });

  it('P5: nothing goes before the rules are known', () => {
    expect(look('/', UNKNOWN)).toEqual({ look: 'robots_first' });
  });

  it('a copy is renewed before it runs out, not a millisecond too early', () => {
    expect(look('/', fresh(ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS - 1)).look).toBe('go');
    expect(look('/', fresh(ROBOTS_TTL_MS - ROBOTS_REFRESH_MARGIN_MS))).toEqual({ look: 'robots_first' });
  });

  it('P5: while it can not be read its URLs are parked, until it may be asked for again', () => {
    expect(look('/', unreachable(100, null))).toEqual({ look: 'parked', untilMs: NOW + 100 });
    expect(look('/', unreachable(0, null))).toEqual({ look: 'robots_first' });
  });

  it('P4, P5: the last good copy keeps ruling for a week', () => {
    expect(look('/', unreachable(100, ROBOTS_LAST_GOOD_MS_MAX - 1)).look).toBe('go');
    expect(look('/private', unreachable(100, ROBOTS_LAST_GOOD_MS_MAX - 1)).look).toBe('blocked');
    expect(look('/', unreachable(100, ROBOTS_LAST_GOOD_MS_MAX))).toEqual({ look: 'parked', untilMs: NOW + 100 });
  });

  it('P4: what would cost too much to find out is blocked', () => {
    const found = lookAt(
      'http://a.example/',
      fresh(5),
      () => ({ disallowsSome: true, decide: () => ({ allowed: false, rule: null }) }),
      NOW,
    );
    expect(found).toMatchObject({ look: 'blocked', robots: { rule: null } });
  });

  it('P4: another origin is none of its business, and does not go', () => {
    const found = lookAt('http://b.example/', fresh(5), ({ rules }) => compileRobots(rules, ROBOTS_URL), NOW);
    expect(found.look).toBe('blocked');
  });
});

describe('P4, P5 any last look', () => {
  const DAY_MS = 86_400_000;
  const path = fc.constantFrom('/', '/open', '/private', '/private/x', '/privateer', '/open/private');
  const age = fc.integer({ min: -2 * ROBOTS_LAST_GOOD_MS_MAX, max: 2 * ROBOTS_LAST_GOOD_MS_MAX });
  const state: fc.Arbitrary<OriginRobots> = fc.oneof(
    fc.constant(UNKNOWN),
    age.map(fresh),
    fc.tuple(fc.integer({ min: -DAY_MS, max: DAY_MS }), fc.option(age)).map(([inMs, good]) => unreachable(inMs, good)),
  );

  it('lets go only what rules allow that are in force, and blocks only by such rules', () => {
    fc.assert(
      fc.property(path, state, (it, robots) => {
        const found = look(it, robots);
        if (found.look !== 'go' && found.look !== 'blocked') return;
        const ageMs = Math.abs(NOW - found.robots.fetchedAtMs);
        expect(ageMs).toBeLessThan(found.robots.copy === 'current' ? ROBOTS_TTL_MS : ROBOTS_LAST_GOOD_MS_MAX);
        expect(found.look).toBe(it.startsWith('/private') ? 'blocked' : 'go');
      }),
      { numRuns: 500 },
    );
  });

  it('parks only what has no copy to go by, and only until robots.txt is asked for again', () => {
    fc.assert(
      fc.property(path, state, (it, robots) => {
        const found = look(it, robots);
        if (found.look !== 'parked') return;
        expect(robots.phase).toBe('unreachable');
        expect(found.untilMs).toBeGreaterThan(NOW);
        expect(found.untilMs).toBe(robots.phase === 'unreachable' ? robots.retryAtMs : null);
      }),
      { numRuns: 500 },
    );
  });
});
