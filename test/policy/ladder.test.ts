/** R2: what leads up, by which tier a URL begins, and what is remembered of its host. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, Code, OutcomeKind } from '../../src/domain/outcome.js';
import type { Tier } from '../../src/domain/tier.js';
import type { Clearance } from '../../src/policy/clearance.js';
import {
  BELIEVED_MS_MAX,
  climbedBy,
  type HostLadder,
  type LadderTerms,
  type Need,
  ON_THE_GROUND,
  refused,
  type Signal,
  type Start,
  satisfied,
  startOf,
  stepUp,
} from '../../src/policy/ladder.js';

const HOUR_MS = 3_600_000;
const NOW = 1_000 * HOUR_MS;
const ALL: LadderTerms = { tiers: [1, 2, 3], memoryMs: 6 * HOUR_MS };
const NO_MIDDLE: LadderTerms = { ...ALL, tiers: [1, 3] };
const URL = { ladder: null, element: 'a' } as const;
const CLEARANCE: Clearance = { scheme: 'http', userAgent: 'B/1', cookies: [], expiresAtMs: NOW + HOUR_MS };

const need = (changes: Partial<Need> = {}): Need => ({
  tier: 3,
  cause: 'challenge',
  believedUntilMs: NOW + HOUR_MS,
  believedForMs: 6 * HOUR_MS,
  clearance: 'welcome',
  ...changes,
});
const host = (changes: Partial<HostLadder> = {}): HostLadder => ({ ...ON_THE_GROUND, ...changes });

const tiers = fc.constantFrom<readonly Tier[]>([1], [1, 2], [1, 3], [1, 2, 3]);
const tier = fc.constantFrom<Tier>(1, 2, 3);
const signal = fc.constantFrom<Signal>('http_forbidden', 'challenge', 'script_shell');
const anyNeed = fc.record({
  tier: fc.constantFrom<Need['tier']>(2, 3),
  cause: signal,
  believedUntilMs: fc.integer({ min: NOW - HOUR_MS, max: NOW + HOUR_MS }),
  believedForMs: fc.integer({ min: 1, max: BELIEVED_MS_MAX }),
  clearance: fc.constantFrom<Need['clearance']>('welcome', 'spurned'),
});
const anyHost = fc.record({ need: fc.option(anyNeed), clearance: fc.option(fc.constant(CLEARANCE)) });
const anyUrl = fc.record({
  ladder: fc.option(tier),
  element: fc.constantFrom(null, 'a', 'img', 'source', 'link', 'location'),
});

describe('R2 a step up', () => {
  it('goes to the lowest tier above that is there; a shell to the browser alone', () => {
    expect(stepUp('challenge', 1, [1, 2, 3])).toBe(2);
    expect(stepUp('http_forbidden', 1, [1, 3])).toBe(3);
    expect(stepUp('challenge', 2, [1, 2, 3])).toBe(3);
    expect(stepUp('script_shell', 1, [1, 2, 3])).toBe(3);
    expect(stepUp('script_shell', 1, [1, 2])).toBeNull();
    expect(stepUp('challenge', 3, [1, 2, 3])).toBeNull();
    expect(stepUp('challenge', 1, [1])).toBeNull();
  });

  it('leads up, and to what is there, or nowhere; so a ladder has three rungs and an end', () => {
    fc.assert(
      fc.property(signal, tier, tiers, (by, from, there) => {
        const to = stepUp(by, from, there);
        if (to !== null) expect(to > from && there.includes(to)).toBe(true);
        const between = there.filter((one) => one > from && (to === null || one < to));
        expect(between.every((one) => by === 'script_shell' && one === 2)).toBe(true);
      }),
    );
  });
});

describe('by which tier a URL begins', () => {
  it('plainly, where nothing is known', () => {
    expect(startOf(URL, host(), ALL, false, NOW)).toEqual({ tier: 1, by: 'default' });
  });

  it('by what became of itself before what its host needs', () => {
    for (const ladder of [1, 2, 3] as const)
      expect(startOf({ ...URL, ladder }, host({ need: need() }), ALL, false, NOW)).toEqual({ tier: ladder, by: 'url' });
  });

  it('by what its host needs, while that is believed: to the last millisecond and not beyond', () => {
    const known = host({ need: need({ clearance: 'spurned' }) });
    const at = (nowMs: number) => startOf(URL, known, ALL, false, nowMs);
    expect(at(NOW + HOUR_MS - 1)).toEqual({ tier: 3, by: 'need' });
    expect(at(NOW + HOUR_MS)).toEqual({ tier: 2, by: 'trial' });
    expect(startOf(URL, known, NO_MIDDLE, false, NOW + HOUR_MS)).toEqual({ tier: 1, by: 'trial' });
  });

  it('one URL of a host at most is out to try a lower tier', () => {
    const known = host({ need: need({ believedUntilMs: NOW }) });
    expect(startOf(URL, known, ALL, true, NOW).by).toBe('need');
    expect(startOf(URL, known, ALL, false, NOW).by).toBe('trial');
  });

  it('a host of shells is tried plainly: another handshake would show nothing', () => {
    const known = host({ need: need({ cause: 'script_shell', believedUntilMs: NOW }) });
    expect(startOf(URL, known, ALL, false, NOW)).toEqual({ tier: 1, by: 'trial' });
  });

  it('a tier lower with clearance, while it is valid and welcome', () => {
    const known = (changes: Partial<Need> = {}, clearance = CLEARANCE) => host({ need: need(changes), clearance });
    expect(startOf(URL, known(), ALL, false, NOW)).toEqual({ tier: 2, by: 'clearance' });
    expect(startOf(URL, known(), NO_MIDDLE, false, NOW)).toEqual({ tier: 3, by: 'need' });
    expect(startOf(URL, known({ clearance: 'spurned' }), ALL, false, NOW).tier).toBe(3);
    expect(startOf(URL, known({ cause: 'script_shell' }), ALL, false, NOW).tier).toBe(3);
    expect(startOf(URL, known({}, { ...CLEARANCE, expiresAtMs: NOW }), ALL, false, NOW).tier).toBe(3);
    expect(startOf(URL, known({}, { ...CLEARANCE, expiresAtMs: NOW + 1 }), ALL, false, NOW).tier).toBe(2);
  });

  it('what a page shows is not rendered for the sake of its host', () => {
    for (const element of ['img', 'source', 'link']) {
      expect(startOf({ ...URL, element }, host({ need: need() }), ALL, false, NOW).tier).toBe(2);
      expect(startOf({ ...URL, element }, host({ need: need() }), NO_MIDDLE, false, NOW).tier).toBe(1);
      const shells = host({ need: need({ cause: 'script_shell' }) });
      expect(startOf({ ...URL, element }, shells, ALL, false, NOW).tier).toBe(1);
    }
  });

  it('is always a tier that is there, and never above what is wanted of it', () => {
    fc.assert(
      fc.property(anyUrl, anyHost, tiers, fc.boolean(), (url, known, there, isTrialOut) => {
        const { tier: begun, by } = startOf(url, known, { ...ALL, tiers: there }, isTrialOut, NOW);
        expect(there).toContain(begun);
        expect(begun).toBeLessThanOrEqual(url.ladder ?? known.need?.tier ?? 1);
        if (by === 'trial') expect(isTrialOut).toBe(false);
        if (url.ladder !== null) expect(by).toBe('url');
      }),
    );
  });
});

const attempt = (outcome: OutcomeKind, code: Code, at: Tier = 1): Attempt => ({
  atMs: 0,
  outcome,
  code,
  status: null,
  tier: at,
  durationMs: 0,
});

describe('what is remembered of a host', () => {
  const BY_URL = (at: Tier): Start => ({ tier: at, by: 'url' });

  it('what a URL needed that had climbed, for the configured time', () => {
    expect(satisfied(host(), BY_URL(3), 'challenge', ALL, NOW)).toEqual({
      clearance: null,
      need: {
        tier: 3,
        cause: 'challenge',
        believedForMs: ALL.memoryMs,
        believedUntilMs: NOW + ALL.memoryMs,
        clearance: 'welcome',
      },
    });
  });

  it('not what one needed that had only failed, nor a lower need than is known', () => {
    expect(satisfied(host(), BY_URL(3), null, ALL, NOW)).toEqual(host());
    const known = host({ need: need() });
    expect(satisfied(known, BY_URL(2), 'challenge', ALL, NOW)).toBe(known);
    expect(satisfied(known, { tier: 3, by: 'need' }, null, ALL, NOW)).toBe(known);
  });

  it('a trial that gets content brings the host down; one that is refused has it believed for twice as long', () => {
    const known = host({ need: need({ believedUntilMs: NOW }) });
    expect(satisfied(known, { tier: 1, by: 'trial' }, null, ALL, NOW).need).toBeNull();
    expect(satisfied(known, { tier: 2, by: 'trial' }, null, ALL, NOW).need).toMatchObject({
      tier: 2,
      believedUntilMs: NOW + ALL.memoryMs,
    });
    expect(refused(known, { tier: 2, by: 'trial' }, null, NOW).need).toMatchObject({
      tier: 3,
      believedForMs: 12 * HOUR_MS,
      believedUntilMs: NOW + 12 * HOUR_MS,
    });
  });

  it('however often it is refused, it is not believed for longer than a week', () => {
    let known = host({ need: need({ believedForMs: 1 }) });
    for (let times = 0; times < 60; times++) known = refused(known, { tier: 1, by: 'trial' }, null, NOW);
    expect(known.need).toMatchObject({ believedForMs: BELIEVED_MS_MAX, believedUntilMs: NOW + BELIEVED_MS_MAX });
  });

  it('clearance that was refused all the same is dropped, and is not shown by tier 2 again', () => {
    const known = host({ need: need(), clearance: CLEARANCE });
    expect(refused(known, { tier: 2, by: 'clearance' }, CLEARANCE, NOW)).toEqual(
      host({ need: need({ clearance: 'spurned' }) }),
    );
    expect(refused(known, { tier: 3, by: 'need' }, CLEARANCE, NOW)).toEqual(host({ need: need() }));
    expect(refused(known, { tier: 1, by: 'default' }, null, NOW)).toEqual(known);
  });

  it('what led a URL up is the last refusal, whatever failed since', () => {
    const up = attempt('challenged', 'challenge');
    expect(climbedBy([])).toBeNull();
    expect(climbedBy([up])).toBe('challenge');
    expect(climbedBy([up, attempt('challenged', 'http_forbidden', 2)])).toBe('http_forbidden');
    expect(climbedBy([up, attempt('parked', 'backend_failed', 3), attempt('failed', 'timeout', 3)])).toBe('challenge');
    expect(climbedBy([up, attempt('fetched', 'ok', 2), attempt('failed', 'timeout')])).toBeNull();
  });

  it('a host that always challenges is tried ever more seldom, and one that stops is plain after one trial', () => {
    let known = satisfied(host(), BY_URL(3), 'challenge', ALL, 0);
    let trials = 0;
    for (let hour = 0; hour < 24 * 60; hour++) {
      const start = startOf(URL, known, ALL, false, hour * HOUR_MS);
      if (start.by !== 'trial') continue;
      trials += 1;
      known = refused(known, start, null, hour * HOUR_MS);
    }
    // After 6 h, then 12, 24, 48, 96 hours, then each week.
    expect(trials).toBe(12);
  });
});
