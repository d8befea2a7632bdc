import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODES, type Code } from '../../src/domain/outcome.js';
import {
  judgeContent,
  judgeRobots,
  judgeTransport,
  type ResolutionFailure,
  stateAfter,
  type TransportJudgement,
} from '../../src/policy/judgement.js';
import { RETRY_AFTER_MS_MAX } from '../../src/policy/throttle.js';
import type { FetchedResponse, FetchFailure, Header } from '../../src/domain/fetching.js';
import type { ParsedPage, UnparsedPage } from '../../src/domain/parsing.js';

const NOW = Date.UTC(2026, 2, 10, 12);
const PLAIN = { hadValidators: false, nowWallMs: NOW };
const CONDITIONAL = { hadValidators: true, nowWallMs: NOW };

function response(status: number, headers: readonly Header[] = []): FetchedResponse {
  return {
    kind: 'response',
    status,
    statusText: '',
    httpVersion: '1.1',
    headers,
    rawHead: null,
    sentHead: null,
    body: new Uint8Array(0),
    cut: false,
    durationMs: 5,
    remoteAddress: '192.0.2.1',
  };
}

const FAILURES = [
  'connect_failed',
  'connection_reset',
  'timeout',
  'too_slow',
  'too_large',
  'header_overflow',
  'truncated',
  'undecodable',
  'bomb',
  'protocol_error',
  'not_strict_http',
  'tls_failed',
  'guard_refused',
  'unsupported_scheme',
  'worker_crashed',
  'interrupted',
] as const satisfies readonly FetchFailure['code'][];

function failure(code: FetchFailure['code'], more: Partial<FetchFailure> = {}): FetchFailure {
  return { kind: 'failure', code, detail: '', status: null, durationMs: 5, reusedConnection: false, ...more };
}

const dns = (code: ResolutionFailure['code']): ResolutionFailure => ({ kind: 'dns', code, detail: '' });

const columns = (j: TransportJudgement) => [j.outcome, j.code, j.next, j.delivery, j.breaker, j.pace, j.urlState];
const ofStatus = (status: number, context = PLAIN) => columns(judgeTransport(response(status), context));

/** What must hold of a judgement whatever it is about. */
function expectSound(judgement: TransportJudgement): void {
  const { outcome, code, next, delivery, throttle } = judgement;
  expect(code in CODES).toBe(true);
  expect(delivery).toBe(next === 'retry' || next === 'retry_plain' ? 1 : 0);
  expect(throttle !== null).toBe(outcome === 'throttled');
  if (outcome === 'failed' || outcome === 'throttled') expect(judgement.urlState).toBeNull();
}

describe('the table of judgement: statuses', () => {
  it('has one answer for every status from 0 to 999', () => {
    for (let status = 0; status < 1000; status++) {
      for (const context of [PLAIN, CONDITIONAL]) {
        const judgement = judgeTransport(response(status), context);
        expectSound(judgement);
        expect(judgement.status).toBe(status);
        const isOdd = judgement.code === 'http_unexpected_status';
        expect(isOdd).toBe(status < 200 || status === 206 || status > 599 || isOddRedirect(status));
      }
    }
  });
  const isOddRedirect = (status: number) =>
    status >= 300 && status < 400 && ![301, 302, 303, 304, 307, 308].includes(status);

  it.each([
    [200, 'fetched', 'ok', 'parse', 0, 'success', 'same', 'active'],
    [204, 'fetched', 'ok', 'parse', 0, 'success', 'same', 'active'],
    [301, 'redirected', 'redirect', 'parse', 0, 'success', 'same', 'redirected'],
    [308, 'redirected', 'redirect', 'parse', 0, 'success', 'same', 'redirected'],
    [304, 'failed', 'unmodified_without_validators', 'retry_plain', 1, 'success', 'same', null],
    [401, 'refused', 'http_client_error', 'settled', 0, 'success', 'same', 'refused'],
    [403, 'refused', 'http_forbidden', 'settled', 0, 'success', 'slower', 'refused'],
    [404, 'missing', 'http_not_found', 'settled', 0, 'success', 'same', 'soft_missing'],
    [407, 'refused', 'http_client_error', 'settled', 0, 'success', 'same', 'refused'],
    [410, 'gone', 'http_gone', 'settled', 0, 'success', 'same', 'gone_candidate'],
    [429, 'throttled', 'http_throttled', 'host_waits', 0, 'none', 'slower', null],
    [500, 'failed', 'http_server_error', 'retry', 1, 'failure', 'same', null],
    [503, 'throttled', 'http_throttled', 'host_waits', 0, 'none', 'slower', null],
    [599, 'failed', 'http_server_error', 'retry', 1, 'failure', 'same', null],
    [999, 'refused', 'http_unexpected_status', 'settled', 0, 'success', 'same', null],
  ])('%i: %s, %s', (status, ...row) => {
    expect(ofStatus(status)).toEqual(row);
  });

  it('L4: 304 with validators is no change', () => {
    expect(ofStatus(304, CONDITIONAL)).toEqual([
      'unchanged',
      'not_modified',
      'settled',
      0,
      'success',
      'same',
      'active',
    ]);
  });

  it('P3: Retry-After counts on 429 and every 5xx, in any spelling of its name, and on nothing else', () => {
    for (let status = 200; status < 600; status++) {
      const { throttle } = judgeTransport(response(status, [['RETRY-after', '90']]), PLAIN);
      expect(throttle).toEqual(status === 429 || status >= 500 ? { retryAfterMs: 90_000 } : null);
    }
  });

  it('P3: a malformed Retry-After is none: 429 and 503 throttle without a time, other 5xx are faults', () => {
    const judge = (status: number) => judgeTransport(response(status, [['Retry-After', 'soon']]), PLAIN);
    expect(judge(429).throttle).toEqual({ retryAfterMs: null });
    expect(judge(503).throttle).toEqual({ retryAfterMs: null });
    expect(judge(502).outcome).toBe('failed');
  });

  it("C01: a date is measured by the response's own clock", () => {
    const headers: Header[] = [
      ['Date', 'Tue, 10 Mar 2026 09:00:00 GMT'],
      ['Retry-After', 'Tue, 10 Mar 2026 09:02:00 GMT'],
    ];
    expect(judgeTransport(response(429, headers), PLAIN).throttle).toEqual({ retryAfterMs: 120_000 });
  });

  it('S2: whatever the headers say, a throttle is within its bounds', () => {
    const header = fc.tuple(fc.constantFrom('retry-after', 'date', 'x'), fc.oneof(fc.string(), fc.nat().map(String)));
    fc.assert(
      fc.property(fc.nat(999), fc.array(header), (status, headers) => {
        const judgement = judgeTransport(response(status, headers), PLAIN);
        expectSound(judgement);
        const ms = judgement.throttle?.retryAfterMs ?? 0;
        expect(ms >= 0 && ms <= RETRY_AFTER_MS_MAX).toBe(true);
      }),
    );
  });
});

describe('the table of judgement: no whole answer', () => {
  it.each([
    ['connect_failed', 'failed', 'retry', 1, 'failure'],
    ['connection_reset', 'failed', 'retry', 1, 'failure'],
    ['timeout', 'failed', 'retry', 1, 'failure'],
    ['tls_failed', 'failed', 'retry', 1, 'failure'],
    ['protocol_error', 'failed', 'retry', 1, 'failure'],
    ['truncated', 'failed', 'retry', 1, 'success'],
    ['undecodable', 'failed', 'retry', 1, 'success'],
    ['not_strict_http', 'refused', 'settled', 0, 'success'],
    ['bomb', 'refused', 'settled', 0, 'success'],
    ['too_slow', 'refused', 'settled', 0, 'failure'],
    ['too_large', 'refused', 'settled', 0, 'success'],
    ['header_overflow', 'refused', 'settled', 0, 'success'],
    ['unsupported_scheme', 'refused', 'settled', 0, 'none'],
    ['guard_refused', 'refused', 'settled', 0, 'none'],
    ['worker_crashed', 'failed', 'retry', 1, 'none'],
    ['interrupted', 'failed', 'host_waits', 0, 'none'],
  ] as const)('%s: %s, %s', (code, outcome, next, delivery, breaker) => {
    expect(columns(judgeTransport(failure(code), PLAIN))).toEqual([
      outcome,
      code,
      next,
      delivery,
      breaker,
      'same',
      null,
    ]);
  });

  it.each([
    ['dns_not_found', 'failed', 'retry', 1, 'failure'],
    ['dns_failed', 'failed', 'retry', 1, 'failure'],
    ['guard_refused', 'refused', 'settled', 0, 'none'],
  ] as const)('%s of a name: %s, %s', (code, outcome, next, delivery, breaker) => {
    expect(columns(judgeTransport(dns(code), PLAIN))).toEqual([outcome, code, next, delivery, breaker, 'same', null]);
  });

  it('is sound for every failure with every status before it, and L2: none moves the lifecycle', () => {
    for (const code of FAILURES) {
      for (const status of [null, 200, 301, 404, 410, 429, 499, 500, 503, 599, 600]) {
        for (const reusedConnection of [false, true]) {
          const judgement = judgeTransport(failure(code, { status, reusedConnection }), PLAIN);
          expectSound(judgement);
          expect(judgement.urlState).toBeNull();
        }
      }
    }
  });

  it('P3: a 429 or 5xx whose body broke is still judged by its status', () => {
    const judge = (status: number) => judgeTransport(failure('truncated', { status }), PLAIN).code;
    expect([429, 503, 500, 599].map(judge)).toEqual([
      'http_throttled',
      'http_throttled',
      'http_server_error',
      'http_server_error',
    ]);
    expect([200, 404, 499, 600].map(judge)).toEqual(['truncated', 'truncated', 'truncated', 'truncated']);
  });

  it('P3: and what it asked for before its body broke holds, measured by its own Date', () => {
    const date = new Date(NOW).toUTCString();
    const asked = (status: number, headers: readonly Header[], code: FetchFailure['code'] = 'truncated') =>
      judgeTransport(failure(code, { status, headers }), { hadValidators: false, nowWallMs: NOW + 3_600_000 }).throttle;
    for (const code of ['truncated', 'connection_reset', 'too_slow', 'too_large', 'timeout'] as const) {
      expect(asked(503, [['Retry-After', '120']], code)).toEqual({ retryAfterMs: 120_000 });
      expect(
        asked(
          429,
          [
            ['retry-after', new Date(NOW + 60_000).toUTCString()],
            ['Date', date],
          ],
          code,
        ),
      ).toEqual({
        retryAfterMs: 60_000,
      });
    }
    expect(asked(503, [])).toEqual({ retryAfterMs: null });
    // On any 5xx it makes a throttle of it; on anything else it says nothing.
    expect(asked(500, [['Retry-After', '7']])).toEqual({ retryAfterMs: 7_000 });
    expect([asked(500, []), asked(200, [['Retry-After', '7']])]).toEqual([null, null]);
  });

  it('P3: of two Retry-After the longer one counts, in whatever spelling and order', () => {
    const asked = (...values: string[]) =>
      judgeTransport(
        response(
          503,
          values.map((value, i) => [i === 0 ? 'Retry-After' : 'RETRY-AFTER', value]),
        ),
        PLAIN,
      );
    const date = new Date(NOW + 300_000).toUTCString();
    expect(asked('120', date).throttle).toEqual({ retryAfterMs: 300_000 });
    expect(asked(date, '120').throttle).toEqual({ retryAfterMs: 300_000 });
    expect(asked('soon', '120').throttle).toEqual({ retryAfterMs: 120_000 });
    expect(asked('soon', '').throttle).toEqual({ retryAfterMs: null });
  });

  it('R3: a kept connection that the server had closed costs no delivery and tells the breaker nothing', () => {
    const stale = judgeTransport(failure('connection_reset', { reusedConnection: true }), PLAIN);
    expect(stale).toMatchObject({ next: 'retry_fresh', delivery: 0, breaker: 'none' });
    expect(judgeTransport(failure('timeout', { reusedConnection: true }), PLAIN).next).toBe('retry');
  });
});

describe('the table of judgement: content', () => {
  const candidate = {
    url: 'https://b.test/',
    key: 'k',
    host: 'b.test',
    origin: 'https://b.test',
    source: 'redirect',
    element: 'location',
    rel: null,
  } as const;
  const parsed = (redirect: ParsedPage['redirect'] = null): ParsedPage => ({
    kind: 'parsed',
    payloadDigest: 'sha1:A',
    contentDigest: 'sha1:A',
    decodedBytes: 1,
    page: null,
    redirect,
    decoded: null,
    archive: null,
    parseMicros: 1,
  });
  const unparsed = (code: UnparsedPage['code']): UnparsedPage => ({
    kind: 'unparsed',
    code,
    detail: '',
    archive: null,
  });
  const content = judgeTransport(response(200), PLAIN);
  const redirect = judgeTransport(response(302), PLAIN);
  const brief = (j: ReturnType<typeof judgeContent>) => [j.outcome, j.code, j.next, j.delivery, j.urlState, j.status];

  it.each([
    ['content', content, parsed(), 'fetched', 'ok', 'commit', 0, 'active', 200],
    ['meta refresh', content, parsed(candidate), 'redirected', 'redirect', 'commit', 0, 'redirected', 200],
    ['redirect', redirect, parsed(candidate), 'redirected', 'redirect', 'commit', 0, 'redirected', 302],
    ['redirect to nowhere', redirect, parsed(), 'refused', 'redirect_without_target', 'commit', 0, null, 302],
    ['broken coding', content, unparsed('undecodable'), 'failed', 'undecodable', 'retry', 1, null, 200],
    ['bomb', content, unparsed('bomb'), 'refused', 'bomb', 'commit', 0, null, 200],
    ['crashed parser', content, unparsed('worker_crashed'), 'failed', 'worker_crashed', 'retry', 1, null, 200],
    ['stopping', content, unparsed('interrupted'), 'failed', 'interrupted', 'host_waits', 0, null, 200],
  ] as const)('%s', (_, transport, result, ...row) => {
    expect(brief(judgeContent(transport, result, null))).toEqual(row);
  });

  it('L4: the same content on a 200 is no change, and is told apart from a 304', () => {
    const { contentDigest } = parsed();
    expect(judgeContent(content, parsed(), contentDigest)).toMatchObject({
      outcome: 'unchanged',
      code: 'same_content',
      urlState: 'active',
      next: 'commit',
    });
    expect(judgeContent(content, parsed(), `${contentDigest}x`)).toMatchObject({ outcome: 'fetched', code: 'ok' });
  });
});

describe('what was never asked for', () => {
  it('P4, P5: a disallow settles, unreadable rules park; neither costs anything', () => {
    expect(columns(judgeRobots('disallowed'))).toEqual([
      'blocked_by_robots',
      'robots_disallowed',
      'settled',
      0,
      'none',
      'same',
      'blocked_by_robots',
    ]);
    expect(columns(judgeRobots('unreadable'))).toEqual([
      'parked',
      'robots_unreadable',
      'parked',
      0,
      'none',
      'same',
      'parked',
    ]);
  });
});

describe('L1 the state a judgement leaves behind', () => {
  it('is its own, or the known one, or refused for a URL of which nothing is known', () => {
    const none = { urlState: null };
    expect(stateAfter('active', { urlState: 'soft_missing' })).toBe('soft_missing');
    expect(stateAfter('active', none)).toBe('active');
    expect(stateAfter('soft_missing', none)).toBe('soft_missing');
    for (const before of ['queued', 'waiting', 'parked'] as const) expect(stateAfter(before, none)).toBe('refused');
  });

  it('every code of a judgement is documented', () => {
    const codes: Code[] = FAILURES.map((code) => judgeTransport(failure(code), PLAIN).code);
    for (const code of codes) expect(CODES[code].length).toBeGreaterThan(0);
  });
});
