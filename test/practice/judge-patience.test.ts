/** The judge's later rules: the clock of addresses, adaptive delay, back-off and quarantine, and what excuses from them. */
import { describe, expect, it } from 'vitest';
import { judge, type Rules } from '../../src/practice/judge.js';
import type { WitnessEvent } from '../../src/practice/witness.js';

const PATIENCE = {
  throttle: { firstMs: 2_000, capMs: 3_600_000 },
  breaker: { failures: 5, firstMs: 30_000, capMs: 3_600_000 },
  jitterShare: 0.2,
};

interface Asked {
  readonly at: number;
  readonly for?: number;
  readonly host?: string;
  readonly status?: number | null;
  readonly how?: 'done' | 'reset' | 'abort';
  readonly ra?: number;
  readonly address?: string;
  readonly connection?: number;
}

/** Requests of 10 ms for robots.txt, which may always be asked for, and marks, in the order of time. */
function log(asked: readonly Asked[], marks: readonly WitnessEvent[] = []): WitnessEvent[] {
  const events = asked.flatMap((entry, i): WitnessEvent[] => {
    const { at, host = 'a.test', status = 200, how = 'done', ra, address, connection = i } = entry;
    const start = { e: 'S', i, t: at, h: host, m: 'GET', u: '/robots.txt', c: connection } as const;
    const end = { e: 'E', i, t: at + (entry.for ?? 10), s: status, how } as const;
    return [
      address === undefined ? start : { ...start, a: address },
      { ...end, ...(ra === undefined ? {} : { ra }), ...(status === 200 ? { rb: '' } : {}) },
    ];
  });
  return [...events, ...marks].sort((a, b) => a.t - b.t);
}

function broken(asked: readonly Asked[], rules: Partial<Rules>, marks: readonly WitnessEvent[] = []): string[] {
  return judge(log(asked, marks), { productToken: 'bot', delayMs: 0, ...rules }).violations.map(({ rule }) => rule);
}

describe('the clock of addresses (P2)', () => {
  const two = (gapMs: number, one: string, other: string): Asked[] => [
    { at: 0, host: 'a.test', address: one },
    { at: 10 + gapMs, host: 'b.test', address: other },
  ];
  const rules = { addressDelayMs: 100 };
  it('two hosts of one address keep its delay between them', () => {
    expect(broken(two(100, '192.0.2.1', '192.0.2.1'), rules)).toEqual([]);
    expect(broken(two(99.9, '192.0.2.1', '192.0.2.1'), rules)).toEqual(['address-gap']);
    expect(broken(two(1, '192.0.2.1', '192.0.2.2'), rules)).toEqual([]);
  });
  it('never ask at once', () => {
    const asked = [
      { at: 0, for: 500, host: 'a.test', address: '192.0.2.1' },
      { at: 200, host: 'b.test', address: '192.0.2.1' },
    ];
    expect(broken(asked, rules)).toEqual(['address-in-flight']);
  });
  it('an IPv6 network of 64 bits is one, however it is spelled', () => {
    expect(broken(two(1, '2001:db8:0:1::5', '2001:db8::1:9:8:7:6'), rules)).toEqual(['address-gap']);
    expect(broken(two(1, '2001:db8:0:1::5', '2001:db8:0:2::5'), rules)).toEqual([]);
    expect(broken(two(1, '::ffff:192.0.2.1', '192.0.2.1'), rules)).toEqual(['address-gap']);
  });
  it('an exempt address has none; without the rule nothing is judged', () => {
    expect(broken(two(1, '192.0.2.1', '192.0.2.1'), { ...rules, addressClockOf: () => null })).toEqual([]);
    expect(broken(two(1, '192.0.2.1', '192.0.2.1'), {})).toEqual([]);
  });
});

describe('adaptive delay (P2)', () => {
  const slow = (gapMs: number, more: Partial<Asked> = {}): Asked[] => [
    { at: 0, for: 300, ...more },
    { at: 300 + gapMs },
  ];
  it('ten times as long as the answer took, up to a minute', () => {
    expect(broken(slow(2_999), { adaptiveFactor: 10 })).toEqual(['gap']);
    expect(broken(slow(3_000), { adaptiveFactor: 10 })).toEqual([]);
    const endless = [{ at: 0, for: 50_000 }, { at: 50_000 + 60_000 }];
    expect(broken(endless, { adaptiveFactor: 10 })).toEqual([]);
    expect(broken([endless[0] as Asked, { at: 109_999 }], { adaptiveFactor: 10 })).toEqual(['gap']);
  });
  it('what was cut off by a kill may be forgotten', () => {
    const marks: WitnessEvent[] = [
      { e: 'K', t: 310 },
      { e: 'B', t: 320 },
    ];
    expect(broken(slow(100), { adaptiveFactor: 10 }, marks)).toEqual([]);
  });
});

describe('back-off (P3)', () => {
  const rules = { patience: PATIENCE };
  const refused = (...gapsMs: number[]): Asked[] => {
    let at = 0;
    return [0, ...gapsMs].map((gapMs) => {
      at += gapMs;
      const asked = { at, status: 429 };
      at += 10;
      return asked;
    });
  };
  it('twice as long each time, less what jitter may take', () => {
    expect(broken(refused(1_600, 3_200, 6_400), rules)).toEqual([]);
    expect(broken(refused(1_599), rules)).toEqual(['throttle']);
    expect(broken(refused(1_600, 3_199), rules)).toEqual(['throttle']);
  });
  it('any other answer ends the row, and so does one that may not have come', () => {
    const [first, second] = refused(1_600) as [Asked, Asked];
    expect(broken([first, { at: 1_610 }, { ...second, at: 1_621 }], rules)).toEqual([]);
    expect(broken([{ ...first, for: 9_500 }, { at: 9_510 }], rules)).toEqual([]);
    expect(broken([first, { at: 20 }], rules, [{ e: 'X', t: 5, until: 15 }])).toEqual([]);
    expect(broken([first, { at: 20 }], rules, [{ e: 'C', t: 12, h: 'a.test' }])).toEqual([]);
    expect(broken([first, { at: 20 }], rules, [{ e: 'C', t: 12, h: 'b.test' }])).toEqual(['throttle']);
  });
  it('a time that was named binds though the body broke off, but not where the client had gone', () => {
    const named = { at: 0, status: 503, ra: 60 };
    expect(broken([{ ...named, how: 'reset' }, { at: 59_000 }], {})).toEqual(['retry-after']);
    expect(broken([{ ...named, how: 'abort' }, { at: 59_000 }], {})).toEqual([]);
  });
});

describe('quarantine (B3)', () => {
  const rules = { patience: PATIENCE };
  const failing = (count: number, lastGapMs: number, more: Partial<Asked> = {}): Asked[] => {
    const asked: Asked[] = Array.from({ length: count }, (_, i) => ({ at: i * 1_000, status: 500, ...more }));
    return [...asked, { at: (count - 1) * 1_000 + 10 + lastGapMs }];
  };
  it('after five failures in a row', () => {
    expect(broken(failing(5, 24_000), rules)).toEqual([]);
    expect(broken(failing(5, 23_999), rules)).toEqual(['breaker-open']);
    expect(broken(failing(4, 1_000), rules)).toEqual([]);
  });
  it('twice as long after a probe that failed, and over after one that did not', () => {
    const [probe, after] = [{ at: 28_010, status: 500 }, { at: 28_020 + 47_999 }];
    const five = failing(5, 0).slice(0, 5);
    expect(broken([...five, probe, after], rules)).toEqual(['breaker-open']);
    expect(broken([...five, probe, { at: 28_020 + 48_000 }], rules)).toEqual([]);
    expect(broken([...five, { at: 28_010 }, { at: 28_030, status: 500 }, { at: 28_050 }], rules)).toEqual([]);
  });
  it('connections that broke before a word count where they were new', () => {
    expect(broken(failing(5, 1_000, { status: null, how: 'reset' }), rules)).toEqual(['breaker-open']);
    expect(broken(failing(5, 1_000, { status: null, how: 'reset', connection: 7 }), rules)).toEqual([]);
  });
  it('B5: whose fault a connection that broke was is not said at once, and a kill before that forgets it', () => {
    const killedAt = (t: number): WitnessEvent[] => [
      { e: 'K', t },
      { e: 'B', t: t + 1 },
    ];
    const broke = { status: null, how: 'reset' } as const;
    expect(broken(failing(5, 12_000, broke), rules, killedAt(9_900))).toEqual([]);
    expect(broken(failing(5, 12_000, broke), rules, killedAt(10_100))).toEqual(['breaker-open']);
    expect(broken(failing(5, 12_000), rules, killedAt(9_900))).toEqual(['breaker-open']);
  });
  it('a loss of power reaches further back than a kill', () => {
    const marks = (g?: number): WitnessEvent[] => [
      { e: 'K', t: 6_000, ...(g === undefined ? {} : { g }) },
      { e: 'B', t: 6_001 },
    ];
    expect(broken(failing(5, 5_000), rules, marks())).toEqual(['breaker-open']);
    expect(broken(failing(5, 5_000), rules, marks(2_500))).toEqual([]);
  });
});
