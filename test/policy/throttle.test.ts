import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  eased,
  httpDateMsOf,
  RETRY_AFTER_MS_MAX,
  retryAfterMsOf,
  THROTTLE_BACKOFF,
  type Throttle,
  throttled,
  UNTHROTTLED,
} from '../../src/policy/throttle.js';
import { drawn } from './arbitraries.js';

const NOW = Date.UTC(2026, 2, 10, 12, 0, 0);

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The three spellings of RFC 9110 §5.6.7, made from the platform's own. */
function spellings(ms: number): string[] {
  const fixdate = new Date(ms).toUTCString();
  const [, day, month, year, time] = /^\w+, (\d\d) (\w+) (\d+) (\S+) GMT$/.exec(fixdate) as RegExpExecArray;
  const name = DAYS[new Date(ms).getUTCDay()] as string;
  return [
    fixdate,
    `${name}, ${day}-${month}-${year?.slice(2)} ${time} GMT`,
    `${name.slice(0, 3)} ${month} ${String(Number(day)).padStart(2, ' ')} ${time} ${year}`,
  ];
}

describe('P3 Retry-After (RFC 9110 §10.2.3)', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['86400', RETRY_AFTER_MS_MAX],
    ['86401', RETRY_AFTER_MS_MAX],
    ['9'.repeat(400), RETRY_AFTER_MS_MAX],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['', null],
    ['+5', null],
    ['5 s', null],
    ['5;', null],
    // Of several the longest that can be read (RFC 9110 §5.3).
    ['120, 240', 240_000],
    ['240,120', 240_000],
    ['soon, 7', 7_000],
    ['7, 1.5,', 7_000],
    ['0, -5', 0],
    ['120, 21', 120_000],
    [',', null],
    ['soon, 1.5', null],
    ['0x10', null],
    ['٣', null],
  ])('of %j is %j ms', (value, ms) => {
    expect(retryAfterMsOf(value, null, NOW)).toBe(ms);
  });

  it('absent is null', () => {
    expect(retryAfterMsOf(null, null, NOW)).toBeNull();
  });

  it('C01: a date in any of the three forms, the server an hour off, is measured by its own clock', () => {
    for (const skewMs of [0, 3_600_000, -3_600_000]) {
      const server = NOW + skewMs;
      for (const value of spellings(server + 120_000)) {
        for (const date of spellings(server)) expect(retryAfterMsOf(value, date, NOW)).toBe(120_000);
      }
    }
  });

  it('without a readable Date it is measured by ours', () => {
    const [value = ''] = spellings(NOW + 5_000);
    expect(retryAfterMsOf(value, null, NOW)).toBe(5_000);
    expect(retryAfterMsOf(value, 'yesterday', NOW)).toBe(5_000);
  });

  it('a date in the past is now, one beyond a day is a day', () => {
    const of = (ms: number) => retryAfterMsOf(spellings(NOW + ms)[0] ?? '', null, NOW);
    expect(of(-1_000)).toBe(0);
    expect(of(RETRY_AFTER_MS_MAX)).toBe(RETRY_AFTER_MS_MAX);
    expect(of(RETRY_AFTER_MS_MAX + 1_000)).toBe(RETRY_AFTER_MS_MAX);
  });

  it('C01: is what an independent reading makes of any header, the good, the bad and several of them', () => {
    const offsets = fc.constantFrom(-86_400, -3_600, -1, 0, 1, 59, 120, 3_600, 86_399, 86_400, 86_401, 10 ** 9);
    const element = fc.oneof(
      fc.nat(200_000).map((seconds) => ({ text: String(seconds), seconds })),
      fc.constantFrom('9'.repeat(30), '00000099999999').map((text) => ({ text, seconds: 86_400 })),
      fc
        .constantFrom(
          'soon',
          '-1',
          '1.5',
          '1e3',
          '',
          'Thu',
          '0x10',
          '1h',
          '٣',
          'NaN',
          'Infinity',
          '2026-03-10T12:00:00Z',
        )
        .map((text) => ({ text, seconds: null })),
      fc.tuple(offsets, fc.nat(2)).map(([seconds, form]) => ({ seconds, form })),
    );
    const skew = fc.constantFrom(0, 3_600, -3_600, 86_400 * 365);
    const space = fc.constantFrom('', ' ', '\t');
    fc.assert(
      fc.property(
        fc.array(element, { minLength: 1, maxLength: 4 }),
        skew,
        fc.nat(2),
        space,
        (all, skewSeconds, form, gap) => {
          const server = NOW + skewSeconds * 1000;
          const texts = all.map((it) =>
            'text' in it ? it.text : (spellings(server + it.seconds * 1000)[it.form] as string),
          );
          const bounded = all.flatMap(({ seconds }) =>
            seconds === null ? [] : [Math.min(86_400, Math.max(0, seconds))],
          );
          const expected = bounded.length === 0 ? null : Math.max(...bounded) * 1000;
          expect(retryAfterMsOf(texts.join(`${gap},`), spellings(server)[form] as string, NOW)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('whatever is sent, the answer is null or within its bounds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat().map(String)), fc.option(fc.string()), (value, date) => {
        const ms = retryAfterMsOf(value, date, NOW);
        if (ms !== null) expect(ms >= 0 && ms <= RETRY_AFTER_MS_MAX).toBe(true);
      }),
    );
  });
});

describe('HTTP dates (RFC 9110 §5.6.7)', () => {
  it('reads back every second of sixty years in all three forms', () => {
    const second = fc.integer({ min: Date.UTC(1980, 0) / 1000, max: Date.UTC(2070, 0) / 1000 });
    fc.assert(
      fc.property(second, (seconds) => {
        for (const text of spellings(seconds * 1000)) expect(httpDateMsOf(text, NOW)).toBe(seconds * 1000);
      }),
    );
  });

  it('two digits of a year reach at most 50 years ahead', () => {
    const yearOf = (digits: string, now: number) =>
      new Date(httpDateMsOf(`Monday, 01-Jan-${digits} 00:00:00 GMT`, now) as number).getUTCFullYear();
    expect(yearOf('76', NOW)).toBe(2076);
    expect(yearOf('77', NOW)).toBe(1977);
    expect(yearOf('00', Date.UTC(2099, 0))).toBe(2100);
  });

  it.each([
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 31 Feb 2026 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 23:60:00 GMT',
    'Sun, 06 Nov 1994 23:59:61 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 0094 08:49:37 GMT',
    '1994-11-06T08:49:37Z',
    '784111777',
  ])('%j is none', (text) => {
    expect(httpDateMsOf(text, NOW)).toBeNull();
  });
});

describe('P3 back-off of a throttled host', () => {
  it('doubles from 2 s to an hour, and starts again after any other answer', () => {
    let state: Throttle = UNTHROTTLED;
    const closed: number[] = [];
    for (let i = 0; i < 13; i++) {
      const next = throttled(state, null, 0.5);
      state = next.state;
      closed.push(next.closedForMs / 1000);
    }
    expect(closed).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
    expect(throttled(eased(state), null, 0.5).closedForMs).toBe(2_000);
  });

  it('never opens at once, never before Retry-After, and without it never beyond the cap', () => {
    const retryAfter = fc.option(fc.nat(2 * RETRY_AFTER_MS_MAX));
    fc.assert(
      fc.property(fc.nat(100), retryAfter, drawn, (consecutive, retryAfterMs, draw) => {
        const { state, closedForMs } = throttled({ consecutive }, retryAfterMs, draw);
        expect(closedForMs).toBeGreaterThanOrEqual(Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0));
        expect(closedForMs).toBeGreaterThanOrEqual(THROTTLE_BACKOFF.firstMs * 0.8);
        if (retryAfterMs === null) expect(closedForMs).toBeLessThanOrEqual(THROTTLE_BACKOFF.capMs);
        expect(closedForMs).toBeLessThanOrEqual(RETRY_AFTER_MS_MAX);
        expect(Number.isSafeInteger(state.consecutive)).toBe(true);
      }),
    );
  });
});
