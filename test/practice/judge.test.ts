/** The politeness judge: each rule fires on what breaks it, and on nothing less. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JudgeStats, judge, judgeFile, openJudge, type RuleName, type Rules } from '../../src/practice/judge.js';
import { eventsFromNginx, fromNginx } from '../../src/practice/nginx-log.js';
import { startPracticeServer } from '../../src/practice/server.js';
import { practiceWeb } from '../../src/practice/web.js';
import { type EndEvent, eventsOf, type WitnessEvent } from '../../src/practice/witness.js';
import { crawlAll, get, linksIn } from './clients.js';

const RULES: Rules = { productToken: 'ExampleBot', delayMs: 100 };
const HOST = 'a.practice.test:8080';

interface Asked {
  readonly at: number;
  readonly for?: number;
  readonly path?: string;
  readonly host?: string;
  readonly status?: number;
  readonly how?: EndEvent['how'];
  readonly ra?: number;
  readonly rb?: string;
}

/** A log of requests (10 ms each unless said otherwise), kills and boots, in the order of time. */
function log(...entries: (Asked | { readonly kill: number } | { readonly boot: number })[]): WitnessEvent[] {
  const events = entries.flatMap((entry, i): WitnessEvent[] => {
    if ('kill' in entry) return [{ e: 'K', t: entry.kill }];
    if ('boot' in entry) return [{ e: 'B', t: entry.boot }];
    const { at, path = `/p${i}`, host = HOST, status = 200, how = 'done', ra, rb } = entry;
    const end = { ...(ra === undefined ? {} : { ra }), ...(rb === undefined ? {} : { rb }) };
    return [
      { e: 'S', i, t: at, h: host, m: 'GET', u: path, c: 1 },
      { e: 'E', i, t: at + (entry.for ?? 10), s: status, how, ...end },
    ];
  });
  return events.sort((a, b) => a.t - b.t);
}

const robots = (at: number, rb = '', more: Partial<Asked> = {}): Asked => ({ at, path: '/robots.txt', rb, ...more });

function rulesBroken(events: WitnessEvent[], rules: Partial<Rules> = {}): RuleName[] {
  return judge(events, { ...RULES, ...rules }).violations.map(({ rule }) => rule);
}

function statsOf(events: WitnessEvent[]): JudgeStats {
  return judge(events, RULES).stats;
}

describe('in-flight (P1)', () => {
  it('two requests of one host at once', () => {
    expect(rulesBroken(log(robots(0, '', { for: 300 }), robots(200)))).toEqual(['in-flight']);
  });
  it('whatever the port; other hosts may', () => {
    expect(rulesBroken(log(robots(0, '', { for: 300 }), robots(200, '', { host: 'A.practice.test.:9090' })))).toEqual([
      'in-flight',
    ]);
    expect(rulesBroken(log(robots(0, '', { for: 300 }), robots(200, '', { host: 'b.practice.test:8080' })))).toEqual(
      [],
    );
  });
  it('also where the first never ended', () => {
    const events = log(robots(0, '', { for: 300 }), robots(200)).filter((event) => event.e !== 'E' || event.i !== 0);
    expect(rulesBroken(events)).toEqual(['in-flight']);
  });
  it('a late sight of an abort is granted up to the tolerance, and the gap is owed all the same', () => {
    const aborted = (overlapMs: number): WitnessEvent[] =>
      log(robots(0, '', { for: 100 + overlapMs, how: 'abort' }), robots(100));
    expect(rulesBroken(aborted(5), { delayMs: 0 })).toEqual([]);
    expect(rulesBroken(aborted(6), { delayMs: 0 })).toEqual(['in-flight']);
    expect(rulesBroken(aborted(5))).toEqual(['gap']);
  });
});

describe('gap (P2)', () => {
  it('counts from the end of the previous answer', () => {
    expect(rulesBroken(log(robots(0), { at: 110 }))).toEqual([]);
    expect(rulesBroken(log(robots(0), { at: 109 }))).toEqual(['gap']);
    expect(rulesBroken(log(robots(0, '', { for: 90 }), { at: 110 }))).toEqual(['gap']);
  });
  it('grants a few milliseconds after an abort only', () => {
    expect(rulesBroken(log(robots(0), { at: 110, how: 'abort' }, { at: 215 }))).toEqual([]);
    expect(rulesBroken(log(robots(0), { at: 110, how: 'abort' }, { at: 214 }))).toEqual(['gap']);
    expect(rulesBroken(log(robots(0), { at: 110, how: 'reset' }, { at: 215 }))).toEqual(['gap']);
  });
  it('obeys the Crawl-delay that was served, from the very next request, up to 60 s', () => {
    const text = 'User-agent: *\nCrawl-delay: 0.5';
    expect(rulesBroken(log(robots(0, text), { at: 510 }))).toEqual([]);
    expect(rulesBroken(log(robots(0, text), { at: 509 }))).toEqual(['gap']);
    expect(rulesBroken(log(robots(0, 'User-agent: *\nCrawl-delay: 600'), { at: 60_010 }))).toEqual([]);
    expect(rulesBroken(log(robots(0, 'User-agent: *\nCrawl-delay: 600'), { at: 60_009 }))).toEqual(['gap']);
    expect(rulesBroken(log(robots(0, 'User-agent: OtherBot\nCrawl-delay: 9'), { at: 110 }))).toEqual([]);
  });
  it('knows delays by host', () => {
    const delayMs = (host: string): number => (host === 'a.practice.test' ? 300 : 0);
    expect(rulesBroken(log(robots(0), { at: 200 }), { delayMs })).toEqual(['gap']);
    expect(rulesBroken(log(robots(0, '', { host: 'b' }), { at: 200, host: 'b' }), { delayMs })).toEqual([]);
  });
  it('holds across a kill (P9)', () => {
    expect(rulesBroken(log(robots(0), { kill: 20 }, { boot: 30 }, { at: 109 }))).toEqual(['gap']);
    expect(rulesBroken(log(robots(0), { kill: 20 }, { boot: 30 }, { at: 110 }))).toEqual([]);
  });
  it('a Crawl-delay served just before a kill may be unknown; one served earlier binds', () => {
    const text = 'User-agent: *\nCrawl-delay: 5';
    expect(rulesBroken(log(robots(0), robots(2_000, text), { kill: 3_010 }, { boot: 3_020 }, { at: 3_100 }))).toEqual(
      [],
    );
    expect(rulesBroken(log(robots(0), robots(2_000, text), { kill: 3_011 }, { boot: 3_020 }, { at: 3_100 }))).toEqual([
      'gap',
    ]);
    expect(
      rulesBroken(
        log(robots(0), robots(2_000, text), { kill: 3_010 }, { boot: 3_020 }, robots(3_100, text), { at: 8_109 }),
      ),
    ).toEqual(['gap']);
  });
  it('the only robots.txt, served just before a kill, may be unknown as a whole', () => {
    const text = 'User-agent: *\nCrawl-delay: 5';
    expect(rulesBroken(log(robots(0, text), { kill: 500 }, { boot: 510 }, robots(600, text), { at: 5_610 }))).toEqual(
      [],
    );
    expect(rulesBroken(log(robots(0, text), robots(600, text), { at: 5_610 }))).toEqual(['gap']);
  });
  it('reports the least spare time', () => {
    expect(statsOf(log(robots(0), { at: 117 }, { at: 250 })).smallestGapMinusDelayMs).toBe(7);
    expect(statsOf(log(robots(0))).smallestGapMinusDelayMs).toBeNull();
  });
});

describe('retry-after (P3)', () => {
  const throttled = (status: number, ra = 2): Asked => ({ at: 1_000, for: 0, status, ra });
  it('is a floor after 429 and 5xx, for every path of the host', () => {
    for (const status of [429, 503, 500]) {
      expect(rulesBroken(log(robots(0), throttled(status), { at: 2_999 }))).toEqual(['retry-after']);
      expect(rulesBroken(log(robots(0), throttled(status), robots(2_999)))).toEqual(['retry-after']);
      expect(rulesBroken(log(robots(0), throttled(status), { at: 3_000 }))).toEqual([]);
    }
  });
  it('says nothing on other answers, and binds no other host', () => {
    expect(rulesBroken(log(robots(0), throttled(301), { at: 1_500 }))).toEqual([]);
    expect(rulesBroken(log(robots(0), throttled(429), robots(1_500, '', { host: 'b' })))).toEqual([]);
  });
  it('may be unknown after a kill within the grace, and binds else', () => {
    expect(rulesBroken(log(robots(0), throttled(503, 5), { kill: 2_000 }, { boot: 2_010 }, { at: 2_500 }))).toEqual([]);
    expect(rulesBroken(log(robots(0), throttled(503, 5), { kill: 2_001 }, { boot: 2_010 }, { at: 2_500 }))).toEqual([
      'retry-after',
    ]);
  });
  it('is taken for a day at most', () => {
    const day = 86_400_000;
    expect(rulesBroken(log(robots(0), throttled(503, 999_999), robots(1_000 + day)))).toEqual([]);
    expect(rulesBroken(log(robots(0), throttled(503, 999_999), robots(999 + day)))).toEqual(['retry-after']);
  });
});

describe('robots (P4, P5)', () => {
  it('robots-first: no page before the origin has answered for its robots.txt', () => {
    expect(rulesBroken(log({ at: 0 }))).toEqual(['robots-first']);
    expect(rulesBroken(log(robots(0, '', { how: 'abort' }), { at: 200 }))).toEqual(['robots-unreachable']);
    expect(rulesBroken(log(robots(0), { at: 200, host: 'a.practice.test:9090' }))).toEqual(['robots-first']);
  });
  it.each([200, 204, 401, 403, 404, 410])('an answer of %i opens the origin', (status) => {
    expect(rulesBroken(log(robots(0, '', { status }), { at: 200 }))).toEqual([]);
  });
  it.each([429, 500, 503])('robots-unreachable: %i does not, unless a good copy rules', (status) => {
    expect(rulesBroken(log(robots(0, '', { status }), { at: 200 }))).toEqual(['robots-unreachable']);
    expect(rulesBroken(log(robots(0), robots(200, '', { status }), { at: 400 }))).toEqual([]);
    expect(rulesBroken(log(robots(0, '', { status }), robots(200), { at: 400 }))).toEqual([]);
  });
  it('robots-disallow: by what was served last', () => {
    const text = 'User-agent: *\nDisallow: /x\nAllow: /x/y';
    expect(rulesBroken(log(robots(0, text), { at: 200, path: '/x/1' }))).toEqual(['robots-disallow']);
    expect(rulesBroken(log(robots(0, text), { at: 200, path: '/x/y1' }))).toEqual([]);
    expect(rulesBroken(log(robots(0, text), robots(200), { at: 400, path: '/x/1' }))).toEqual([]);
    expect(rulesBroken(log(robots(0), robots(200, text), { at: 400, path: '/x/1' }))).toEqual(['robots-disallow']);
    expect(rulesBroken(log(robots(0, text), robots(200, '', { status: 503 }), { at: 400, path: '/x/1' }))).toEqual([
      'robots-disallow',
    ]);
  });
  it('robots-disallow: after a kill either copy may rule, but nothing beyond both', () => {
    const [old, fresh] = ['User-agent: *\nDisallow: /old', 'User-agent: *\nDisallow: /new'];
    const brokenAfterKill = (path: string, killAt: number): RuleName[] =>
      rulesBroken(
        log(robots(0, old), robots(2_000, fresh), { kill: killAt }, { boot: killAt + 10 }, { at: 9_000, path }),
      );
    expect(brokenAfterKill('/new', 2_500)).toEqual([]);
    expect(brokenAfterKill('/old', 2_500)).toEqual([]);
    expect(brokenAfterKill('/new', 3_500)).toEqual(['robots-disallow']);
    const both = 'User-agent: *\nDisallow: /old\nDisallow: /new';
    expect(
      rulesBroken(log(robots(0, both), robots(2_000, both), { kill: 2_500 }, { at: 9_000, path: '/new' })),
    ).toEqual(['robots-disallow']);
    expect(rulesBroken(log(robots(0, both), { kill: 500 }, { at: 9_000, path: '/new' }))).toEqual(['robots-disallow']);
  });
  it('robots-stale: a copy rules for its time, or until a try to renew it has failed', () => {
    expect(rulesBroken(log(robots(0, '', { for: 0 }), { at: 5_000 }), { robotsAgeMsMax: 5_000 })).toEqual([]);
    expect(rulesBroken(log(robots(0, '', { for: 0 }), { at: 5_001 }), { robotsAgeMsMax: 5_000 })).toEqual([
      'robots-stale',
    ]);
    expect(
      rulesBroken(log(robots(0), robots(5_000, '', { status: 500 }), { at: 5_200 }), { robotsAgeMsMax: 5_000 }),
    ).toEqual([]);
  });
});

describe('duplicate (D2)', () => {
  const twice = (...between: Parameters<typeof log>): WitnessEvent[] =>
    log(robots(0), { at: 200, path: '/p' }, ...between, { at: 5_000, path: '/p' });
  it('a URL answered whole twice', () => {
    expect(rulesBroken(twice())).toEqual(['duplicate']);
    expect(rulesBroken(twice(), { repeats: 'allowed' })).toEqual([]);
  });
  it('but not after a failure, a cut or an abort, nor robots.txt', () => {
    expect(
      rulesBroken(log(robots(0), { at: 200, path: '/p', status: 503 }, { at: 500, path: '/p' }, robots(700))),
    ).toEqual([]);
    expect(rulesBroken(log(robots(0), { at: 200, path: '/p', how: 'reset' }, { at: 500, path: '/p' }))).toEqual([]);
    expect(rulesBroken(log(robots(0), { at: 200, path: '/p', how: 'abort' }, { at: 500, path: '/p' }))).toEqual([]);
  });
  it('a repeat is excused where the first ended within the grace before a kill, or lay across it', () => {
    expect(rulesBroken(twice({ kill: 1_210 }))).toEqual([]);
    expect(rulesBroken(twice({ kill: 1_211 }))).toEqual(['duplicate']);
    expect(rulesBroken(twice({ kill: 205 }))).toEqual([]);
    expect(rulesBroken(twice({ kill: 700 }), { killGraceMs: 100 })).toEqual(['duplicate']);
    expect(statsOf(twice({ kill: 1_210 }))).toMatchObject({ kills: 1, repeatsExcused: 1 });
  });
  it('a dead life may still be heard just after its kill, until the next one boots', () => {
    expect(rulesBroken(twice({ kill: 199 }))).toEqual([]);
    expect(rulesBroken(twice({ kill: 150 }, { boot: 200 }))).toEqual(['duplicate']);
  });
});

describe('logs', () => {
  it('must run forward, and pair their events', () => {
    const [start, end] = log(robots(10));
    if (start === undefined || end === undefined) throw new Error('no events');
    expect(() => judge([end], RULES)).toThrow('without a start');
    expect(() => judge([start, start], RULES)).toThrow('starts twice');
    expect(() => judge([{ e: 'K', t: 50 }, start], RULES)).toThrow('backwards');
  });
  it('are judged as they come', () => {
    const sitting = openJudge(RULES);
    for (const event of log({ at: 0 })) sitting.see(event);
    expect(sitting.verdict().violations).toMatchObject([{ rule: 'robots-first', host: 'a.practice.test', at: 0 }]);
    expect(sitting.verdict().stats).toMatchObject({ requests: 1, hosts: 1, pages: 1 });
  });
  it('from a file: a cut last line is forgiven, a broken one before it is not', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'judge-'));
    const file = join(directory, 'log');
    const lines = log(robots(0), { at: 50 })
      .map((event) => JSON.stringify(event))
      .join('\n');
    writeFileSync(file, `${lines}\n{"e":"S","i":9`);
    expect((await judgeFile(file, RULES)).violations.map(({ rule }) => rule)).toEqual(['gap']);
    writeFileSync(file, `{"e":"S","i":9\n${lines}\n`);
    await expect(judgeFile(file, RULES)).rejects.toThrow('not a line');
    rmSync(directory, { recursive: true });
  });
});

describe('nginx', () => {
  const line = (msec: string, took: string, uri: string, status = 200, more = ''): string =>
    `{"msec":${msec},"request_time":${took},"host":"a.test","request_method":"GET","request_uri":"${uri}","status":${status},"connection":7,"request_completion":"OK"${more}}`;

  it('start = end - duration, in whole milliseconds', () => {
    expect(fromNginx(line('1700000000.123', '0.045', '/a'), 3)).toEqual([
      { e: 'S', i: 3, t: 1_700_000_000_078, h: 'a.test', m: 'GET', u: '/a', c: 7 },
      { e: 'E', i: 3, t: 1_700_000_000_123, s: 200, how: 'done' },
    ]);
    expect(fromNginx(line('1.000', '0.000', '/a', 499), 1)[1].how).toBe('abort');
    expect(fromNginx(line('1.000', '0.000', '/a').replace('"OK"', '""'), 1)[1].how).toBe('abort');
    expect(fromNginx(line('1.000', '0.000', '/a', 503, ',"retry_after":"3"'), 1)[1].ra).toBe(3);
    expect(fromNginx(line('1.000', '0.000', '/a', 503, ',"retry_after":""'), 1)[1].ra).toBeUndefined();
    expect(() => fromNginx('{"msec":"x"}', 1)).toThrow(SyntaxError);
  });
  it('is sorted by start, not by end as written', () => {
    const events = eventsFromNginx([line('2.000', '0.100', '/b'), line('2.500', '1.000', '/a'), '']);
    expect(events.map((event) => event.e + ('i' in event ? event.i : ''))).toEqual(['S2', 'S1', 'E1', 'E2']);
  });
  it('is judged with two milliseconds of tolerance, against the robots.txt that is named', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'judge-'));
    const file = join(directory, 'access.log');
    const reading = { robotsOf: () => 'User-agent: *\nDisallow: /x' };
    writeFileSync(
      file,
      [line('1.000', '0.010', '/robots.txt'), line('1.108', '0.010', '/a'), line('1.300', '0', '/x')].join('\n'),
    );
    expect((await judgeFile(file, RULES, reading)).violations).toMatchObject([
      { rule: 'robots-disallow', host: 'a.test' },
    ]);
    writeFileSync(file, [line('1.000', '0.010', '/robots.txt'), line('1.107', '0.010', '/a')].join('\n'));
    expect((await judgeFile(file, RULES, reading)).violations).toMatchObject([{ rule: 'gap' }]);
    rmSync(directory, { recursive: true });
  });
});

describe('on the practice web', () => {
  const settings = { profile: 'faulty', hosts: 6, pages: 60, seed: 4 } as const;

  it('a client that asks for robots.txt first, one thing at a time, and waits, is acquitted', async () => {
    const server = await startPracticeServer({ web: practiceWeb({ ...settings, profile: 'ordinary' }) });
    const agent = new Agent({ keepAlive: true });
    const { seeds, hosts, forbidden } = server.truth();
    await Promise.all(
      hosts.map(async ({ origin, crawlDelaySeconds }) => {
        const pause = (): Promise<void> =>
          new Promise((resolve) => setTimeout(resolve, 2 + 20 + 1_000 * (crawlDelaySeconds ?? 0)));
        await get(`${origin}/robots.txt`, agent);
        await pause();
        if (forbidden.includes(`${origin}/`)) return;
        const home = await get(`${origin}/`, agent);
        const own = linksIn(`${origin}/`, home.body.toString()).map(({ url }) => url);
        const due = [...new Set(own)].filter(
          (url) => url !== `${origin}/` && url.startsWith(`${origin}/`) && !forbidden.includes(url),
        );
        for (const url of due.slice(0, 4)) {
          await pause();
          await get(url, agent);
        }
      }),
    );
    const { violations, stats } = judge(eventsOf(server.log.text()), { productToken: 'ExampleBot', delayMs: 20 });
    await server.close();
    expect(seeds.length).toBeGreaterThan(0);
    expect(violations).toEqual([]);
    expect(stats.pages).toBeGreaterThan(10);
    expect(stats.smallestGapMinusDelayMs).toBeGreaterThanOrEqual(0);
  });

  it('a client in a hurry is found guilty on every count', async () => {
    const server = await startPracticeServer({ web: practiceWeb(settings) });
    const truth = server.truth();
    const agent = new Agent({ keepAlive: true });
    await Promise.all(truth.seeds.map((url) => get(url, agent).catch(() => undefined))); // before robots.txt, and again below
    for (const { origin } of truth.hosts) {
      await get(`${origin}/robots.txt`, agent);
      await get(`${origin}/`, agent).catch(() => undefined); // whatever robots.txt said
    }
    await crawlAll(truth.seeds, {
      productToken: 'ExampleBot',
      deliveriesMax: 8,
      parallel: 12,
      next: (due) => due.pop() ?? '',
    });
    for (const url of truth.forbidden) await get(url, agent).catch(() => undefined);
    const { violations } = judge(eventsOf(server.log.text()), { ...RULES, robotsAgeMsMax: 0 });
    await server.close();
    const counts: RuleName[] = [
      'duplicate',
      'gap',
      'in-flight',
      'retry-after',
      'robots-disallow',
      'robots-first',
      'robots-stale',
      'robots-unreachable',
    ];
    expect([...new Set(violations.map(({ rule }) => rule))].sort()).toEqual(counts);
  });
});
