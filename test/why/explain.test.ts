import fc from 'fast-check';
import { isParkedForBackend } from '../../src/policy/parking.js';
import { describe, expect, it } from 'vitest';
import { CODES, type Attempt, type Code, type OutcomeKind } from '../../src/domain/outcome.js';
import type { UrlRecord, UrlState } from '../../src/domain/record.js';
import { type AdmissionCode, type CrawlRules, rulesOf } from '../../src/policy/admission.js';
import { NO_SETTINGS } from '../../src/domain/crawl-settings.js';
import { judge } from '../../src/why/rules.js';
import { type OriginRobots, UNKNOWN } from '../../src/policy/robots/freshness.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import { explain } from '../../src/why/explain.js';
import type { WhyFacts } from '../../src/why/facts.js';
import { renderAnswer } from '../../src/why/render.js';
import { recordOf } from '../store/parts.js';

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const URL_ASKED = 'http://a.test/page';

function factsOf(changes: Partial<WhyFacts> = {}): WhyFacts {
  return {
    asked: URL_ASKED,
    nowMs: NOW_MS,
    spelling: { ok: true, url: URL_ASKED, key: '0'.repeat(32), host: 'a.test', origin: 'http://a.test', steps: [] },
    record: null,
    hops: [],
    reachesSeed: true,
    standing: null,
    dead: null,
    target: null,
    neighbours: [],
    host: null,
    robots: { state: UNKNOWN, decision: null },
    rules: null,
    terms: null,
    live: null,
    ...changes,
  };
}

const RUNNING = {
  inFlightSinceMs: null,
  hostBusyWith: null,
  gateOpensAtMs: null,
  waits: null,
  browserRestsUntilMs: null,
  retriesWaitUntilMs: null,
  paused: false,
  held: null,
} as const;
const TERMS = {
  delayMs: 1_000,
  adaptiveFactor: 0,
  deliveriesMax: 8,
  retryBudget: { share: 0.2, perMinute: 30 },
} as const;

function hostOf(queued: number, snapshot: Partial<typeof UNTOUCHED> = {}): NonNullable<WhyFacts['host']> {
  const ready = [0, 0, queued, 0, 0, 0, 0, 0];
  return {
    snapshot: { ...UNTOUCHED, ...snapshot },
    queue: { host: 'a.test', ready, heads: ready, waiting: 0, parked: 0, blocked: 0, wakeAtMs: null },
    crawlDelaySeconds: null,
  };
}

function attemptOf(code: Code, outcome: OutcomeKind, more: Partial<Attempt> = {}): Attempt {
  return { atMs: NOW_MS - 60_000, outcome, code, status: null, tier: 1, durationMs: 5, ...more };
}

const textOf = (facts: WhyFacts) => explain(facts).explanation.join('\n');

describe('a URL at the end of redirects (P6)', () => {
  const cookie = { domain: 'a.test', hostOnly: true, path: '/', secure: false, expiresAtMs: null };
  const cookies = [
    { ...cookie, name: 'session', value: 'top-secret-1' },
    { ...cookie, name: 'tour', value: 'top-secret-2' },
  ];
  const record = recordOf(URL_ASKED);
  const steps = [record.key, 'other', record.key, record.key].map((key, print) => ({ key, cookies: print }));
  const answerTo = (chain: UrlRecord['chain'], state: UrlState = 'queued') =>
    explain(factsOf({ record: { ...record, chain, state } }));

  it('says how far it is, how often it was come to, and the names of its cookies', () => {
    const answer = answerTo({ steps, cookies });
    expect(answer.chain).toEqual({ hops: 3, hopsMax: 10, times: 3, cookies: ['session', 'tour'] });
    expect(answer.explanation).toContain(
      '3 redirects have led to it, of 10 at most; they come to it for the third time.',
    );
    expect(answer.explanation).toContain('They gave 2 cookies for it: session, tour.');
    expect(answerTo({ steps: steps.slice(1, 3), cookies: null }, 'waiting').explanation).toEqual(
      expect.arrayContaining([
        '1 redirect has led to it, of 10 at most.',
        'They gave more cookies than are kept: it is asked for without any.',
      ]),
    );
    expect(answerTo(null).chain).toBeNull();
  });

  it('S3: no value of a cookie is printed, in whatever state', () => {
    for (const state of STATES) expect(JSON.stringify(answerTo({ steps, cookies }, state))).not.toContain('top-secret');
  });

  it('a circle is explained on the page that closes it', () => {
    const attempt = attemptOf('redirect_loop', 'refused', { status: 302, detail: 'http://a.test/login' });
    const text = textOf(factsOf({ record: recordOf(URL_ASKED, { state: 'refused', attempts: [attempt] }) }));
    expect(text).toContain('brings no cookie that is new (HTTP 302): http://a.test/login');
  });
});

describe('R2, B2: a URL on the ladder', () => {
  const climb = attemptOf('challenge', 'challenged', { status: 200, detail: 'its title is that of a door' });
  const need = {
    tier: 3,
    cause: 'challenge',
    believedUntilMs: NOW_MS + 3_600_000,
    believedForMs: 1,
    clearance: 'welcome',
  } as const;

  it('each step is told, with its cause, and by what it is asked for next', () => {
    const forbidden = attemptOf('http_forbidden', 'challenged', { status: 403, tier: 2 });
    const record = recordOf(URL_ASKED, { attempts: [climb, forbidden], ladder: 3 });
    const text = textOf(factsOf({ record, live: RUNNING, host: hostOf(1, { ladder: { need, clearance: null } }) }));
    expect(text).toContain('a door stood before the page');
    expect(text).toContain("asked for with a browser's handshake: the server does not let us have it");
    expect(text).toContain('Next it is asked for through a browser.');
    expect(text).toContain('Pages of a.test were found to need a browser');
  });

  it('what waits for the browser service says so, and when it is asked for again', () => {
    const down = attemptOf('backend_down', 'parked', { tier: 3, atMs: NOW_MS - 1_000 });
    const record = recordOf(URL_ASKED, { state: 'parked', attempts: [climb, down] });
    const live = { ...RUNNING, browserRestsUntilMs: NOW_MS + 90_000 };
    const { next, explanation } = explain(factsOf({ record, live }));
    expect(next).toMatchObject({ action: 'await_browser', at: new Date(NOW_MS + 90_000).toISOString() });
    expect(explanation.join(' ')).toContain('waits for the browser service');
    expect(explanation.join(' ')).not.toContain('robots.txt is asked for again');
    const failed = attemptOf('backend_failed', 'parked', { tier: 3, atMs: NOW_MS });
    const alone = recordOf(URL_ASKED, { state: 'parked', attempts: [failed] });
    expect(explain(factsOf({ record: alone, live: RUNNING })).next.at).toBe(new Date(NOW_MS + 2_000).toISOString());
  });
});

describe('a URL in a queue of a crawl that runs', () => {
  const record = recordOf(URL_ASKED);
  const standing = { at: { queue: 'ready', priority: 2, sequence: 9 }, before: 3 } as const;

  it('is asked for no earlier than its host and those before it allow', () => {
    const host = hostOf(4, { closedUntilMs: NOW_MS + 60_000 });
    const { next } = explain(factsOf({ record, standing, host, terms: TERMS, live: RUNNING }));
    expect(next).toEqual({
      action: 'fetch',
      at: new Date(NOW_MS + 63_000).toISOString(),
      reason: '3 URLs of its host come before it',
    });
  });

  it('has no time while the crawl is paused or held, and says which', () => {
    const paused = explain(factsOf({ record, standing, live: { ...RUNNING, paused: true } })).next;
    expect(paused).toEqual({ action: 'fetch', at: null, reason: 'the crawl is paused' });
    const held = explain(factsOf({ record, standing, live: { ...RUNNING, held: 'no space is left' } })).next;
    expect(held).toMatchObject({ at: null, reason: 'nothing is asked for at the moment: no space is left' });
  });

  it('what keeps its host though the clock of the host does not is told, with its cause', () => {
    const waits = { why: 'address', words: 'another host of the same address is being asked, or was just now' };
    const text = textOf(factsOf({ record, standing, host: hostOf(4), live: { ...RUNNING, waits } }));
    expect(text).toContain('a.test waits: another host of the same address is being asked, or was just now [address].');
    expect(text).not.toContain('may be asked at once');
  });

  it('P3: a rest that only a Retry-After can have named says how long any of them lasts', () => {
    const throttle = { consecutive: 1 };
    const longest = hostOf(4, { throttle, closedUntilMs: NOW_MS + 86_400_000 });
    expect(textOf(factsOf({ record, standing, host: longest, live: RUNNING }))).toContain(
      'A rest lasts 24 hours at most, whatever its Retry-After named.',
    );
    const shorter = hostOf(4, { throttle, closedUntilMs: NOW_MS + 3_600_000 });
    expect(textOf(factsOf({ record, standing, host: shorter, live: RUNNING }))).not.toContain('at most, whatever');
  });

  it('a request under way comes before everything else', () => {
    const facts = factsOf({ record, standing, live: { ...RUNNING, inFlightSinceMs: NOW_MS - 2_000 } });
    expect(explain(facts).next.action).toBe('in_flight');
    expect(textOf(facts)).toContain('under way, begun 2 s ago');
  });

  it('a place beyond what was looked at is told as such', () => {
    expect(textOf(factsOf({ record, standing: { at: null, before: 10_000 } }))).toContain(
      '10000 and more come before it',
    );
  });

  it('B3: an open breaker and a throttle are told with their times', () => {
    const breaker = { phase: 'open', untilMs: NOW_MS + 30_000, openings: 1 } as const;
    const text = textOf(
      factsOf({ record, standing, host: hostOf(4, { breaker, throttle: { consecutive: 2 } }), live: RUNNING }),
    );
    expect(text).toContain('asked once in 30 s');
    expect(text).toContain('its last 2 answers in a row');
    expect(text).toContain('a.test may be asked again in 30 s');
  });
});

describe('robots.txt', () => {
  const rules = {
    rules: [{ allow: false, pattern: '/', line: 7, text: 'Disallow: /' }],
    crawlDelaySeconds: null,
    sitemaps: [],
    bytes: 9,
  };
  const copy = { validators: null, rules, fetchedAtMs: NOW_MS - 3 * 60_000, status: 200 };
  const decision = { allowed: false, rule: { line: 7, text: 'Disallow: /' } };
  const record = recordOf(URL_ASKED, { state: 'blocked_by_robots' });

  it('the rule, its line, the age of the copy and for how long it holds', () => {
    const facts = factsOf({ record, robots: { state: { phase: 'fresh', ...copy }, decision } });
    expect(textOf(facts)).toContain('was read 3 minutes ago (2026-03-01 11:57:00 UTC): HTTP 200, 1 rule for us.');
    expect(textOf(facts)).toContain('Line 7 disallows this URL: Disallow: /');
    expect(explain(facts).robots).toEqual({
      allowed: false,
      rule: { line: 7, text: 'Disallow: /' },
      fetchedAt: '2026-03-01T11:57:00.000Z',
      source: 'http://a.test/robots.txt',
      status: 200,
    });
  });

  it('P5: the last good copy rules for 7 days, and no longer', () => {
    const week = 7 * 24 * 3_600_000;
    const state = (ageMs: number): OriginRobots => ({
      phase: 'unreachable',
      sinceMs: NOW_MS - 1,
      retryAtMs: NOW_MS + 60_000,
      attempts: 2,
      lastGood: { ...copy, fetchedAtMs: NOW_MS - ageMs },
    });
    expect(textOf(factsOf({ record, robots: { state: state(week - 1), decision } }))).toContain('holds meanwhile');
    expect(textOf(factsOf({ record, robots: { state: state(week), decision } }))).toContain('too old to hold');
  });

  it('without a copy, the evidence that was kept with the URL speaks', () => {
    const kept = recordOf(URL_ASKED, {
      state: 'blocked_by_robots',
      robots: {
        rule: { text: 'Disallow: /', line: 7 },
        fetchedAtMs: NOW_MS - 3_600_000 * 3,
        status: 200,
        copy: 'current',
      },
    });
    const answer = explain(factsOf({ record: kept }));
    expect(answer.robots).toMatchObject({ allowed: false, rule: { line: 7, text: 'Disallow: /' } });
    expect(answer.explanation.join('\n')).toContain('3 hours ago');
  });
});

describe('the guard', () => {
  const refused = (detail: string) =>
    textOf(
      factsOf({
        record: recordOf(URL_ASKED, {
          state: 'refused',
          attempts: [attemptOf('guard_refused', 'refused', { detail })],
        }),
      }),
    );

  it('S1: names the address, its range, and the option that allows exactly it', () => {
    const text = refused('10.0.0.5 is in a range that a crawl may not reach (private)');
    expect(text).toContain('10.0.0.5 is in a range that a crawl may not reach (private)');
    expect(text).toContain(`--set guard.allow='["10.0.0.5/32"]'`);
    expect(refused('fd00::1 is in a range that a crawl may not reach (uniqueLocal)')).toContain('["fd00::1/128"]');
  });

  it('promises nothing for addresses that no option allows', () => {
    expect(refused('::ffff:127.0.0.1 embeds an IPv4 address (ipv4Mapped)')).not.toContain('guard.allow');
  });
});

describe('how it was found', () => {
  it('tells every hop with what carried it, and the seed', () => {
    const record = recordOf(URL_ASKED, { source: 'redirect', via: 'http://a.test/old', hopPath: 'LLR', depth: 2 });
    const hops = [
      { url: 'http://a.test/old', source: 'link', element: 'area' },
      { url: 'http://a.test/list', source: 'link', element: null },
      { url: 'http://a.test/', source: 'seed', element: null },
    ] as const;
    const text = textOf(factsOf({ record, hops }));
    expect(text).toContain('by a redirect on http://a.test/old');
    expect(text).toContain('http://a.test/old was found by a link in an image map (area) on http://a.test/list');
    expect(text).toContain('http://a.test/ is a seed; from there it is 2 links and 1 redirect away.');
    expect(explain(factsOf({ record, hops })).hops.map(({ url }) => url)).toEqual([
      'http://a.test/',
      'http://a.test/list',
      'http://a.test/old',
    ]);
  });

  it('says where the way back is lost', () => {
    const record = recordOf(URL_ASKED, { source: 'link', via: 'http://a.test/old', hopPath: 'L', depth: 1 });
    expect(textOf(factsOf({ record, reachesSeed: false }))).toContain(
      'The rest of the way back to the seed is not known.',
    );
  });
});

describe('the rules of the crawl', () => {
  const rules: CrawlRules = rulesOf(
    {
      scope: 'site',
      depthMax: 2,
      include: ['/'],
      exclude: ['/shop/*basket'],
      traps: { urlCharactersMax: 200, segmentsMax: 5, repeatsMax: 2 },
    },
    { ...NO_SETTINGS, exclusions: ['regex:\\.iso$'], scopeHosts: ['a.test'] },
  );
  const asked = (url: string, depth = 1) => {
    const { host } = new URL(url);
    const spelling = { ok: true, url, key: '0'.repeat(32), host, origin: `http://${host}`, steps: [] } as const;
    return explain(factsOf({ asked: url, spelling, rules: judge(rules, { url, host, source: 'link' }, depth) }));
  };

  it.each([
    ['http://b.test/', 1, 'out_of_scope', 'the crawl keeps to the site a.test; b.test is another.'],
    ['http://a.test/x', 3, 'too_deep', '3 links from a seed; the bound is 2'],
    ['http://a.test/shop/x/basket', 1, 'excluded', '/shop/*basket'],
    ['http://a.test/x.iso', 1, 'excluded', 'regex:\\.iso$'],
    [`http://a.test/${'x'.repeat(200)}`, 1, 'trap_url_length', '214 characters; the bound is 200'],
    ['http://a.test/1/2/3/4/5/6', 1, 'trap_path_depth', '6 path segments; the bound is 5'],
    ['http://a.test/a/a/a/a', 1, 'trap_repeated_segments', 'more than 2 times in a row through /a/'],
  ])('%s, %d links away: %s', (url, depth, code, words) => {
    const answer = asked(url, depth);
    expect(answer.next.action).toBe('would_be_refused');
    expect(answer.scope).toMatchObject({ kind: 'site', refusedBy: code });
    expect(answer.trap?.code ?? null).toBe(code.startsWith('trap_') ? code : null);
    expect(answer.explanation[0]).toContain(`[${code}]`);
    expect(answer.explanation.join('\n')).toContain(words);
  });

  it('let in what none of them refuses', () => {
    const answer = asked('http://a.test/x', 2);
    expect(answer.next.action).toBe('would_be_queued');
    expect(answer.explanation.join('\n')).toContain('a.test is the one site that the crawl keeps to.');
  });
});

it('a password that was typed is not repeated', () => {
  const asked = 'https://user:secret@a.test/page';
  expect(renderAnswer(explain(factsOf({ asked }))).join('\n')).not.toContain('secret');
});

// -- any facts --------------------------------------------------------------------------------------------------

const anyTime = fc.oneof(
  fc.integer({ min: NOW_MS - 10 ** 10, max: NOW_MS + 10 ** 10 }),
  fc.constantFrom(0, NOW_MS, -1, 8.64e15, 9e15, Number.NaN, Number.POSITIVE_INFINITY),
);
const nullable = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const anyUrl = fc.constantFrom(
  URL_ASKED,
  'http://b.test/',
  'http://a.test/\u202e\u0000',
  `http://a.test/${'x'.repeat(9_000)}`,
);
const RULE_CODES: readonly AdmissionCode[] = [
  'out_of_scope',
  'too_deep',
  'excluded',
  'not_included',
  'trap_url_length',
  'trap_path_depth',
  'trap_repeated_segments',
];
const OUTCOMES: readonly OutcomeKind[] = [
  'fetched',
  'unchanged',
  'redirected',
  'missing',
  'refused',
  'challenged',
  'gone',
  'throttled',
  'failed',
  'blocked_by_robots',
  'parked',
  'dead',
];
const STATES: readonly UrlState[] = [
  'queued',
  'waiting',
  'parked',
  'active',
  'redirected',
  'soft_missing',
  'gone_candidate',
  'refused',
  'blocked_by_robots',
  'dead',
];
const anyAttempt: fc.Arbitrary<Attempt> = fc.record(
  {
    atMs: anyTime,
    outcome: fc.constantFrom(...OUTCOMES),
    code: fc.constantFrom(...(Object.keys(CODES) as Code[])),
    status: nullable(fc.integer({ min: 0, max: 999 })),
    tier: fc.constantFrom(1 as const, 2 as const, 3 as const),
    durationMs: fc.integer({ min: -5, max: 10_000_000 }),
    detail: fc.string({ unit: 'binary', maxLength: 400 }),
  },
  { requiredKeys: ['atMs', 'outcome', 'code', 'status', 'tier', 'durationMs'] },
);
const anyCopy = fc.record({
  rules: fc.constant({ rules: [], crawlDelaySeconds: null, sitemaps: [], bytes: 0 }),
  fetchedAtMs: anyTime,
  status: fc.integer({ min: 100, max: 599 }),
  validators: fc.constant(null),
});
const anyRobots: fc.Arbitrary<OriginRobots> = fc.oneof(
  fc.constant(UNKNOWN),
  anyCopy.map((copy) => ({ phase: 'fresh' as const, ...copy })),
  fc.record({
    phase: fc.constant('unreachable' as const),
    sinceMs: anyTime,
    retryAtMs: anyTime,
    attempts: fc.nat(40),
    lastGood: nullable(anyCopy),
  }),
);
const anyChain = fc.record({
  steps: fc.array(fc.record({ key: fc.constantFrom('k', recordOf(URL_ASKED).key), cookies: fc.nat() }), {
    maxLength: 12,
  }),
  cookies: nullable(
    fc.array(
      fc.record({
        name: fc.string({ unit: 'binary', maxLength: 400 }),
        value: fc.string(),
        domain: fc.string(),
        hostOnly: fc.boolean(),
        path: fc.string(),
        secure: fc.boolean(),
        expiresAtMs: nullable(anyTime),
      }),
      { maxLength: 3 },
    ),
  ),
});
const anyRecord: fc.Arbitrary<UrlRecord> = fc
  .record({
    state: fc.constantFrom(...STATES),
    source: fc.constantFrom('seed' as const, 'link' as const, 'redirect' as const),
    via: nullable(anyUrl),
    hopPath: fc.constantFrom('', 'L', 'LR', 'R'.repeat(10)),
    depth: fc.nat(5),
    discoveredAtMs: anyTime,
    deliveries: fc.nat(9),
    attempts: fc.array(anyAttempt, { maxLength: 8 }),
    chain: nullable(anyChain),
    robots: nullable(
      fc.record({
        rule: nullable(fc.record({ text: fc.string(), line: fc.nat() })),
        fetchedAtMs: anyTime,
        status: nullable(fc.nat(599)),
        copy: fc.constantFrom('current' as const, 'last_good' as const),
      }),
    ),
  })
  .map((changes) => recordOf(URL_ASKED, changes));
const anyBreaker = fc.oneof(
  fc.record({ phase: fc.constant('closed' as const), failures: fc.nat(9) }),
  fc.record({ phase: fc.constant('open' as const), untilMs: anyTime, openings: fc.nat(9) }),
  fc.record({ phase: fc.constant('half_open' as const), openings: fc.nat(9) }),
);
const anyHost = fc
  .record({ breaker: anyBreaker, closedUntilMs: nullable(anyTime), queued: fc.nat(99), consecutive: fc.nat(3) })
  .map(({ breaker, closedUntilMs, queued, consecutive }) =>
    hostOf(queued, { breaker, closedUntilMs, throttle: { consecutive } }),
  );
const anyFacts: fc.Arbitrary<WhyFacts> = fc
  .record({
    record: nullable(anyRecord),
    hops: fc.array(
      fc.record({
        url: anyUrl,
        source: fc.constantFrom('seed' as const, 'link' as const),
        element: nullable(fc.string()),
      }),
      { maxLength: 4 },
    ),
    reachesSeed: fc.boolean(),
    standing: nullable(
      fc.record({
        at: nullable(fc.record({ queue: fc.constant('waiting' as const), dueAtMs: anyTime, sequence: fc.nat() })),
        before: fc.nat(10_000),
      }),
    ),
    dead: nullable(
      fc.record({
        url: anyUrl,
        key: fc.constant('0'.repeat(32)),
        host: fc.constant('a.test'),
        cause: fc.string(),
        code: fc.constantFrom(...(Object.keys(CODES) as Code[])),
        deliveries: fc.nat(8),
        firstAtMs: anyTime,
        lastAtMs: anyTime,
        attempts: fc.array(anyAttempt, { maxLength: 2 }),
      }),
    ),
    target: nullable(fc.record({ url: anyUrl, state: fc.constantFrom(...STATES) })),
    host: nullable(anyHost),
    robots: nullable(
      fc.record({
        state: anyRobots,
        decision: nullable(
          fc.record({
            allowed: fc.constantFrom(true, false, null),
            rule: nullable(fc.record({ line: fc.nat(), text: fc.string({ unit: 'binary' }) })),
          }),
        ),
      }),
    ),
    rules: nullable(
      fc.record({
        scope: fc.oneof(
          fc.constant({ kind: 'any' as const }),
          fc.record({ kind: fc.constantFrom('host' as const, 'site' as const), names: fc.array(fc.domain()) }),
        ),
        inScope: fc.boolean(),
        judgedBy: fc.domain(),
        refusal: nullable(fc.record({ code: fc.constantFrom(...RULE_CODES), detail: fc.string({ unit: 'binary' }) })),
      }),
    ),
    terms: nullable(fc.constant(TERMS)),
    live: nullable(
      fc.record({
        inFlightSinceMs: nullable(anyTime),
        hostBusyWith: nullable(anyUrl),
        gateOpensAtMs: nullable(anyTime),
        waits: nullable(fc.record({ why: fc.string(), words: fc.string() })),
        browserRestsUntilMs: nullable(anyTime),
        retriesWaitUntilMs: nullable(anyTime),
        paused: fc.boolean(),
        held: nullable(fc.string()),
      }),
    ),
  })
  .map((changes) => factsOf(changes));

describe('any facts at all', () => {
  it('have an answer: times are times, nothing is due in the past, every sentence is one line', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const answer = explain(facts);
        expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
        if (answer.next.at !== null) expect(Date.parse(answer.next.at)).toBeGreaterThanOrEqual(NOW_MS);
        expect(answer.explanation).toEqual(answer.story.flatMap(({ sentences }) => sentences));
        for (const sentence of answer.explanation) {
          expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}]|undefined|NaN|Invalid/u);
          expect(sentence).toMatch(/\S/);
        }
        expect(answer.story[0]?.topic).toBe('verdict');
        expect(answer.story.at(-1)?.topic).toBe('next');
      }),
      { numRuns: 2_000 },
    );
  });

  it('never contradict themselves: state, verdict and next step belong together', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { state, next, visits } = explain(facts);
        const inFlight = facts.record !== null && facts.live?.inFlightSinceMs != null;
        expect(next.action === 'in_flight').toBe(inFlight);
        expect(next.action.startsWith('would_be_')).toBe(facts.record === null);
        if (inFlight) return;
        const actions = { queued: 'fetch', waiting: 'retry', parked: 'await_robots' } as const;
        const isForBrowser = facts.record !== null && isParkedForBackend(facts.record);
        const action = state === 'parked' && isForBrowser ? 'await_browser' : actions[state as keyof typeof actions];
        if (state !== null) expect(next.action).toBe(action ?? 'none');
        if (facts.rules?.refusal != null && state === null) expect(next.action).toBe('would_be_refused');
        if (facts.live === null && next.action !== 'none') expect(next.at).toBeNull();
        expect(visits).toHaveLength(facts.record?.attempts.length ?? 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
