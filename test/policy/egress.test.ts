import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FetchFailure, FetchResult } from '../../src/domain/fetching.js';
import {
  acquittedBeforeMs,
  CLEAR,
  type EgressTerms,
  faultOf,
  type Guard,
  type Guarding,
  PROBE_GAPS_MS,
  probeFailed,
  probeLost,
  type Reach,
  reachOf,
  reachOfName,
  saw,
  type Sighting,
} from '../../src/policy/egress.js';

const TERMS: EgressTerms = { hostsMin: 5, hostsMax: 16, shareMin: 0.8, windowMs: 30_000, suspenseMs: 5_000 };

const failure = (changes: Partial<FetchFailure>): FetchResult => ({
  kind: 'failure',
  code: 'connect_failed',
  detail: '',
  status: null,
  durationMs: 1,
  reusedConnection: false,
  ...changes,
});
const response: FetchResult = {
  kind: 'response',
  status: 503,
  statusText: '',
  httpVersion: '1.1',
  headers: [],
  rawHead: null,
  sentHead: null,
  body: new Uint8Array(0),
  cut: false,
  durationMs: 1,
  remoteAddress: '192.0.2.1',
};

function sawAll(results: readonly (readonly [string, Reach, number])[], terms = TERMS, guard: Guard = CLEAR): Guard {
  return results.reduce((now, [host, reach, atMs]) => saw(now, { host, reach, atMs }, terms), guard);
}
/** So many hosts with one result, a millisecond apart. */
const many = (count: number, reach: Reach, fromMs = 0): [string, Reach, number][] =>
  Array.from({ length: count }, (_, n) => [`${reach}-${n}`, reach, fromMs + n]);

describe('what a request says of our way to its host', () => {
  it('any answer is one: an error of the server, a broken body, a slow one', () => {
    expect(reachOf(response)).toBe('reached');
    const codes = ['truncated', 'undecodable', 'bomb', 'too_slow', 'too_large', 'header_overflow'] as const;
    for (const code of [...codes, 'not_strict_http'] as const) expect(reachOf(failure({ code }))).toBe('reached');
    for (const code of ['connection_reset', 'timeout', 'protocol_error'] as const)
      expect(reachOf(failure({ code, status: 200 }))).toBe('reached');
  });

  it('no connection, none that holds until an answer begins, no answer in time: it was not reached', () => {
    for (const code of ['connect_failed', 'connection_reset', 'timeout'] as const)
      expect(reachOf(failure({ code }))).toBe('unreached');
  });

  it('R3: a connection that was kept open and is closed under us says nothing; one on which nothing comes does', () => {
    expect(reachOf(failure({ code: 'connection_reset', reusedConnection: true }))).toBeNull();
    expect(reachOf(failure({ code: 'connect_failed', reusedConnection: true }))).toBeNull();
    expect(reachOf(failure({ code: 'timeout', reusedConnection: true }))).toBe('unreached');
  });

  it('what was refused by us, stopped half-way, or spoken wrongly says nothing', () => {
    const codes = ['tls_failed', 'protocol_error', 'guard_refused', 'unsupported_scheme'] as const;
    for (const code of [...codes, 'worker_crashed', 'interrupted'] as const)
      expect(reachOf(failure({ code }))).toBeNull();
  });

  it('name servers that give no answer are as far away; what they say of a name is no word of its host', () => {
    const words = { detail: '', expiresInMs: 1 };
    expect(reachOfName({ kind: 'failed', code: 'dns_failed', ...words })).toBe('unreached');
    expect(reachOfName({ kind: 'failed', code: 'dns_not_found', ...words })).toBeNull();
    expect(reachOfName({ kind: 'refused', ...words })).toBeNull();
    expect(reachOfName({ kind: 'addresses', addresses: [], expiresInMs: 1 })).toBeNull();
  });
});

describe('B5 the guard goes on', () => {
  it('at the fifth host that is not reached, not at the fourth', () => {
    expect(sawAll(many(4, 'unreached')).phase).toBe('clear');
    expect(sawAll(many(5, 'unreached'))).toEqual({ phase: 'guarding', sinceMs: 4, probesFailed: 0, probeAtMs: 4 });
  });

  it('however often one host fails, it is one', () => {
    const again = Array.from({ length: 50 }, (_, n): [string, Reach, number] => [`h${n % 4}`, 'unreached', n]);
    expect(sawAll(again).phase).toBe('clear');
  });

  it('at four fifths of the hosts, not below', () => {
    expect(sawAll([...many(2, 'reached'), ...many(8, 'unreached', 10)]).phase).toBe('guarding');
    expect(sawAll([...many(2, 'reached'), ...many(7, 'unreached', 10)]).phase).toBe('clear');
  });

  it('by the latest 16 hosts only: thirteen of them make four fifths', () => {
    expect(sawAll([...many(40, 'reached'), ...many(12, 'unreached', 100)]).phase).toBe('clear');
    expect(sawAll([...many(40, 'reached'), ...many(13, 'unreached', 100)]).phase).toBe('guarding');
  });

  it('by what was learned within the window: at its end a result counts no more', () => {
    const early = many(4, 'unreached').map(([host, reach]): [string, Reach, number] => [host, reach, 0]);
    expect(sawAll([...early, ['late', 'unreached', 29_999]]).phase).toBe('guarding');
    expect(sawAll([...early, ['late', 'unreached', 30_000]]).phase).toBe('clear');
  });

  it('never because of a host that was reached', () => {
    const terms = { ...TERMS, hostsMin: 2, hostsMax: 4, shareMin: 0.5 };
    const mixed = sawAll([...many(3, 'reached'), ['a', 'unreached', 10]], terms);
    // Beyond the latest four it would be two of four, if it were asked again.
    expect(sawAll([['b', 'reached', 11]], terms, mixed).phase).toBe('clear');
  });
});

describe('B5 the guard goes off', () => {
  const on = sawAll(many(5, 'unreached')) as Guarding;

  it('by a host that was reached after it went on, and has forgotten all then', () => {
    expect(sawAll([['a', 'reached', on.sinceMs + 1]], TERMS, on)).toEqual(CLEAR);
    expect(sawAll([['a', 'reached', on.sinceMs]], TERMS, on)).toBe(on);
    expect(sawAll([['a', 'unreached', on.sinceMs + 1]], TERMS, on)).toBe(on);
  });

  it('a false alarm is their fault; one failed probe makes it ours', () => {
    expect(faultOf(on)).toBe('theirs');
    expect(faultOf(probeLost(on, 10))).toBe('theirs');
    expect(faultOf(probeFailed(on, 10))).toBe('ours');
  });

  it('the first probe goes out at once, those after failed ones 2, 5, 10, 20, 30 and 30 s later', () => {
    expect(on.probeAtMs).toBe(on.sinceMs);
    const gaps: number[] = [];
    let guard = on;
    for (let nowMs = 100; gaps.length < 6; nowMs += 100) {
      guard = probeFailed(guard, nowMs);
      gaps.push(guard.probeAtMs - nowMs);
    }
    expect(gaps).toEqual([2_000, 5_000, 10_000, 20_000, 30_000, 30_000]);
  });

  it('after a probe that has told nothing the next one waits as long as the one before it did', () => {
    expect(probeLost(on, 100).probeAtMs).toBe(2_100);
    expect(probeLost(probeFailed(probeFailed(on, 0), 0), 100).probeAtMs).toBe(5_100);
  });
});

describe('who failed before enough others were reached', () => {
  const clear = (results: [string, Reach, number][]) => {
    const guard = sawAll(results);
    if (guard.phase !== 'clear') throw new Error('it is on');
    return acquittedBeforeMs(guard, TERMS);
  };

  it('the fifth of the latest that were reached, not the fourth', () => {
    expect(clear(many(4, 'reached', 10))).toBeNull();
    expect(clear(many(5, 'reached', 10))).toBe(10);
    expect(clear([...many(7, 'reached', 10), ['x', 'unreached', 30]])).toBe(12);
  });
});

/** The guard by the whole history, looked through anew at each question. */
class Chronicle {
  sightings: Sighting[] = [];
  nowMs = 0;
  on: { sinceMs: number; probesFailed: number; probeAtMs: number } | null = null;

  see(one: Sighting): void {
    if (this.on !== null) {
      if (one.reach === 'reached' && one.atMs > this.on.sinceMs) {
        this.on = null;
        this.sightings = [];
      }
      return;
    }
    this.sightings.push(one);
    const latest: Sighting[] = [];
    for (const past of [...this.sightings].reverse()) {
      if (past.atMs <= one.atMs - TERMS.windowMs) continue;
      if (latest.length < TERMS.hostsMax && !latest.some(({ host }) => host === past.host)) latest.push(past);
    }
    const unreached = latest.filter(({ reach }) => reach === 'unreached').length;
    const isMost = unreached >= TERMS.hostsMin && unreached * 5 >= latest.length * 4;
    if (one.reach === 'unreached' && isMost) this.on = { sinceMs: one.atMs, probesFailed: 0, probeAtMs: one.atMs };
  }
}

interface Real {
  guard: Guard;
}
type GuardCommand = fc.Command<Chronicle, Real>;

class See implements GuardCommand {
  constructor(
    readonly host: number,
    readonly reach: Reach,
    readonly afterMs: number,
  ) {}
  check = () => true;
  run(model: Chronicle, real: Real): void {
    model.nowMs += this.afterMs;
    const sighting: Sighting = { host: `h${this.host}`, reach: this.reach, atMs: model.nowMs };
    model.see(sighting);
    real.guard = saw(real.guard, sighting, TERMS);
    compare(model, real);
  }
  toString = () => `${this.reach} h${this.host} after ${this.afterMs}`;
}

class EndProbe implements GuardCommand {
  constructor(readonly end: 'failed' | 'lost') {}
  check = ({ on }: Readonly<Chronicle>) => on !== null;
  run(model: Chronicle, real: Real): void {
    const { on } = model;
    if (on === null || real.guard.phase !== 'guarding') throw new Error('they do not agree');
    if (this.end === 'failed') on.probesFailed += 1;
    on.probeAtMs = model.nowMs + ([2, 2, 5, 10, 20, 30][Math.min(5, on.probesFailed)] as number) * 1_000;
    real.guard = (this.end === 'failed' ? probeFailed : probeLost)(real.guard, model.nowMs);
    compare(model, real);
  }
  toString = () => `probe ${this.end}`;
}

function compare(model: Chronicle, { guard }: Real): void {
  expect(guard.phase).toBe(model.on === null ? 'clear' : 'guarding');
  if (guard.phase === 'guarding') expect(guard).toMatchObject(model.on ?? {});
  else {
    // What is kept is bounded, one a host, and nothing that no longer counts.
    expect(guard.recent.length).toBeLessThanOrEqual(TERMS.hostsMax);
    expect(new Set(guard.recent.map(({ host }) => host)).size).toBe(guard.recent.length);
  }
}

describe('B5 the guard against its whole history', () => {
  it('goes on and off when a look at all that was ever seen says so', () => {
    let trips = 0;
    const reach = fc.constantFrom<Reach>('reached', 'unreached', 'unreached', 'unreached');
    const afterMs = fc.constantFrom(0, 1, 700, 700, 9_000);
    const commands = fc.commands<Chronicle, Real>(
      [
        fc.tuple(fc.nat(24), reach, afterMs).map((it) => new See(...it)),
        fc.tuple(fc.nat(24), reach, afterMs).map((it) => new See(...it)),
        fc.tuple(fc.nat(6), reach, afterMs).map((it) => new See(...it)),
        fc.constantFrom<'failed' | 'lost'>('failed', 'lost').map((end) => new EndProbe(end)),
      ],
      { maxCommands: 120, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (all) => {
        const model = new Chronicle();
        fc.modelRun(() => ({ model, real: { guard: CLEAR } }), all);
        if (model.on !== null) trips += 1;
      }),
      { numRuns: 300 },
    );
    expect(trips).toBeGreaterThan(20);
  });

  it('never goes on while fewer than five hosts fail, whatever the order', () => {
    const results = fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 30 }),
        fc.constantFrom<Reach>('reached', 'unreached'),
        fc.integer({ min: 0, max: 5_000 }),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(results, (all) => {
        let nowMs = 0;
        let guard: Guard = CLEAR;
        for (const [n, reach, afterMs] of all) {
          nowMs += afterMs;
          // Hosts from the fifth on are sound.
          guard = saw(guard, { host: `h${n}`, reach: n < 4 ? reach : 'reached', atMs: nowMs }, TERMS);
        }
        expect(guard.phase).toBe('clear');
      }),
    );
  });
});

it('the gaps between probes grow', () => {
  expect([...PROBE_GAPS_MS].sort((a, b) => a - b)).toEqual(PROBE_GAPS_MS);
});
