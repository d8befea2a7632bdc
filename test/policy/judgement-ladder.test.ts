/** The rows of the table of judgement that lead up the ladder, and those of the browser service (R2, B1, B2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackendFailure, FetchedResponse, FetchFailure, FetchResult } from '../../src/domain/fetching.js';
import { CODES } from '../../src/domain/outcome.js';
import type { ChallengeKind, PageFacts, ParsedPage } from '../../src/domain/parsing.js';
import type { Tier } from '../../src/domain/tier.js';
import { judgeContent, judgeTransport, judgeWait, type Rungs, stateAfter } from '../../src/policy/judgement.js';

const CLIMBS: readonly (readonly Tier[])[] = [[1], [1, 2], [1, 3], [1, 2, 3]];
const URL = 'https://a.test/p';

function response(status: number, finalUrl?: string): FetchedResponse {
  const rendered = finalUrl === undefined ? {} : { rendered: { finalUrl, userAgent: 'B/1', cookies: [] } };
  return {
    kind: 'response',
    status,
    statusText: '',
    httpVersion: '1.1',
    headers: [],
    rawHead: null,
    sentHead: null,
    body: new Uint8Array(0),
    cut: false,
    durationMs: 5,
    remoteAddress: '192.0.2.1',
    ...rendered,
  };
}

const PAGE: PageFacts = {
  mime: 'text/html',
  charset: 'utf-8',
  title: null,
  textLength: 0,
  simhash: null,
  canonical: null,
  kind: 'other',
  challenge: null,
  links: [],
  linksRefused: 0,
  noindex: false,
  nofollow: false,
};

const parsed = (kind: ChallengeKind | null): ParsedPage => ({
  kind: 'parsed',
  payloadDigest: 'sha1:A',
  contentDigest: 'sha1:A',
  decodedBytes: 1,
  page: { ...PAGE, challenge: kind === null ? null : { kind, reasons: ['so'] } },
  redirect: null,
  decoded: null,
  archive: null,
  parseMicros: 1,
});

const transport = (result: FetchResult, rungs: Rungs) =>
  judgeTransport(result, { hadValidators: false, nowWallMs: 0, rungs, url: URL });
const content = (kind: ChallengeKind | null, rungs: Rungs, status = 200) =>
  judgeContent(transport(response(status), rungs), parsed(kind), null, rungs);
const backendFailure = (code: BackendFailure['code']): BackendFailure => ({
  kind: 'backend_failure',
  code,
  detail: '',
  durationMs: 30_000,
});

describe('R2: 403', () => {
  it.each([
    [1, [1, 2, 3], 2],
    [1, [1, 3], 3],
    [2, [1, 2, 3], 3],
  ] as const)('from tier %i of %j goes up to %i: no delivery, a success for the host, but slower', (at, tiers, to) => {
    expect(transport(response(403), { at, tiers })).toMatchObject({
      outcome: 'challenged',
      code: 'http_forbidden',
      next: 'climb',
      climbsTo: to,
      delivery: 0,
      breaker: 'success',
      pace: 'slower',
      urlState: null,
    });
  });

  it.each([
    [1, [1]],
    [2, [1, 2]],
    [3, [1, 2, 3]],
  ] as const)('from tier %i of %j, where none is left, is as other 4xx', (at, tiers) => {
    expect(transport(response(403), { at, tiers })).toMatchObject({
      outcome: 'refused',
      code: 'http_forbidden',
      next: 'settled',
      climbsTo: null,
      delivery: 0,
      pace: 'slower',
    });
  });
});

describe('R2: a 2xx with something else in its place', () => {
  it.each([
    ['challenge', 1, [1, 2, 3], 2],
    ['challenge', 2, [1, 2, 3], 3],
    ['challenge', 1, [1, 3], 3],
    ['script_shell', 1, [1, 2, 3], 3],
    ['script_shell', 2, [1, 2, 3], 3],
  ] as const)('%s at tier %i of %j goes up to %i, without a delivery', (kind, at, tiers, to) => {
    expect(content(kind, { at, tiers })).toMatchObject({
      outcome: 'challenged',
      code: kind,
      next: 'climb',
      climbsTo: to,
      delivery: 0,
      urlState: null,
    });
  });

  it.each([
    ['challenge', 1, [1]],
    ['challenge', 3, [1, 2, 3]],
    ['script_shell', 1, [1, 2]],
    ['script_shell', 3, [1, 3]],
  ] as const)('%s at tier %i of %j, where none is left, is retried late, for a delivery', (kind, at, tiers) => {
    expect(content(kind, { at, tiers })).toMatchObject({
      outcome: 'challenged',
      code: kind,
      next: 'retry_late',
      climbsTo: null,
      delivery: 1,
      urlState: null,
    });
  });

  it('is never content, whatever was stored before; and a page is', () => {
    for (const tiers of CLIMBS)
      for (const at of tiers) {
        const rungs = { at, tiers };
        for (const kind of ['challenge', 'script_shell'] as const)
          expect(judgeContent(transport(response(200), rungs), parsed(kind), 'sha1:A', rungs).outcome).toBe(
            'challenged',
          );
        expect(content(null, rungs)).toMatchObject({ outcome: 'fetched', code: 'ok', next: 'commit', climbsTo: null });
      }
  });

  it('is looked at before where it leads: a door may send its readers on', () => {
    const rungs: Rungs = { at: 1, tiers: [1, 3] };
    const target = { url: 'https://b.test/', key: 'k', host: 'b.test', origin: 'https://b.test' } as const;
    const door = {
      ...parsed('challenge'),
      redirect: { ...target, source: 'redirect', element: 'meta', rel: null } as const,
    };
    expect(judgeContent(transport(response(200), rungs), door, null, rungs).outcome).toBe('challenged');
  });
});

describe('P6: where a browser had come to', () => {
  const rungs: Rungs = { at: 3, tiers: [1, 3] };

  it('another URL of the same host is the page; one of another host is a redirect, also where none can be followed', () => {
    for (const finalUrl of [URL, 'https://a.test/q?x', 'http://a.test/', 'https://a.test./p'])
      expect(transport(response(200, finalUrl), rungs)).toMatchObject({ outcome: 'fetched', next: 'parse' });
    for (const finalUrl of ['https://b.test/p', 'https://www.a.test/p', 'about:blank', 'no URL']) {
      const judgement = transport(response(200, finalUrl), rungs);
      expect(judgement).toMatchObject({ outcome: 'redirected', next: 'parse' });
      expect(judgeContent(judgement, parsed(null), null, rungs)).toMatchObject({ code: 'redirect_without_target' });
      expect(judgeContent(judgement, parsed('challenge'), null, rungs)).toMatchObject({ code: 'challenge' });
    }
  });
});

describe('B1, B2: the browser service', () => {
  it.each(['backend_failed', 'backend_timeout'] as const)(
    '%s: parked, no delivery; the host learns nothing of it',
    (code) => {
      expect(transport(backendFailure(code), { at: 3, tiers: [1, 3] })).toMatchObject({
        outcome: 'parked',
        code,
        next: 'parked',
        climbsTo: null,
        delivery: 0,
        breaker: 'none',
        pace: 'same',
        throttle: null,
        status: null,
      });
    },
  );

  it('given a rest: parked; used up: waits; neither costs anything', () => {
    expect(judgeWait('backend_down')).toMatchObject({
      outcome: 'parked',
      next: 'parked',
      delivery: 0,
      breaker: 'none',
    });
    expect(judgeWait('browser_budget')).toMatchObject({
      outcome: 'parked',
      next: 'rationed',
      delivery: 0,
      breaker: 'none',
      urlState: null,
    });
  });

  it('a rendered page is judged by its status, as any other', () => {
    const rungs: Rungs = { at: 3, tiers: [1, 2, 3] };
    const plain: Rungs = { at: 1, tiers: [1] };
    for (let status = 0; status < 1_000; status++)
      expect(transport(response(status, URL), rungs)).toEqual(transport(response(status), plain));
  });
});

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

const anyFailure = fc.record({
  kind: fc.constant('failure' as const),
  code: fc.constantFrom(...FAILURES),
  detail: fc.constant(''),
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  durationMs: fc.nat(),
  reusedConnection: fc.boolean(),
});
const anyResult: fc.Arbitrary<FetchResult> = fc.oneof(
  fc.nat(999).map((status) => response(status)),
  fc.nat(599).map((status) => response(status, URL)),
  anyFailure,
  fc.constantFrom(backendFailure('backend_failed'), backendFailure('backend_timeout')),
);
const anyRungs = fc.constantFrom(...CLIMBS.flatMap((tiers) => tiers.map((at) => ({ at, tiers }))));
const anyDoor = fc.constantFrom<ChallengeKind | null>(null, 'challenge', 'script_shell');

describe('the table as a whole', () => {
  it('is total, and says one thing: it climbs exactly where it names a tier, which is there and higher', () => {
    fc.assert(
      fc.property(anyResult, anyRungs, (result, rungs) => {
        const judgement = transport(result, rungs);
        expect(judgement.code in CODES).toBe(true);
        expect(judgement.next === 'climb').toBe(judgement.climbsTo !== null);
        if (judgement.climbsTo !== null) {
          expect(judgement.climbsTo).toBeGreaterThan(rungs.at);
          expect(rungs.tiers).toContain(judgement.climbsTo);
        }
        expect(judgement.delivery).toBe(['retry', 'retry_plain', 'retry_late'].includes(judgement.next) ? 1 : 0);
      }),
      { numRuns: 500 },
    );
  });

  it('R2: never up on 5xx, 429, or the want of an answer; from the head alone only on 403', () => {
    fc.assert(
      fc.property(anyResult, anyRungs, (result, rungs) => {
        const isForbidden = result.kind === 'response' && result.status === 403;
        if (!isForbidden) expect(transport(result, rungs).climbsTo).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('R2: a body leads up where it came with 2xx and is no page, and nowhere else', () => {
    fc.assert(
      fc.property(fc.nat(999), anyDoor, anyRungs, (status, door, rungs) => {
        const before = transport(response(status), rungs);
        if (before.next !== 'parse') return;
        const judgement = judgeContent(before, parsed(door), null, rungs);
        expect(judgement.next === 'climb').toBe(judgement.climbsTo !== null);
        const isDoor = door !== null && status >= 200 && status <= 299;
        expect(judgement.outcome === 'challenged').toBe(isDoor);
        if (isDoor) {
          // L2: and it moves no URL towards its tombstone.
          expect(stateAfter('active', judgement)).toBe('active');
          expect(judgement.delivery).toBe(judgement.climbsTo === null ? 1 : 0);
        }
      }),
      { numRuns: 500 },
    );
  });
});
