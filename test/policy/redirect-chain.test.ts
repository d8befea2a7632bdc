import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Chain } from '../../src/domain/chain.js';
import type { Attempt } from '../../src/domain/outcome.js';
import type { UrlRecord } from '../../src/domain/record.js';
import { candidate, isRefused } from '../../src/page/candidate.js';
import { completed, isAtRest, queuedByChain, sentBack } from '../../src/policy/history.js';
import {
  chainCookieHeader,
  comesBackTo,
  hopsOf,
  onwardOf,
  REDIRECTS_MAX,
  REPEATS_MAX,
} from '../../src/policy/redirect-chain.js';
import { recordOf } from '../store/parts.js';

const NOW_MS = Date.UTC(2026, 0, 1);

function targetOf(url: string) {
  const made = candidate(url, null, 'redirect', 'location');
  if (isRefused(made)) throw new Error(made.refusal);
  return made;
}

/** Follows a chain from its first URL, each step with the cookies that its answer sets; says what each was asked with. */
function follow(first: string, ...steps: readonly (readonly [to: string, ...setCookies: string[]])[]) {
  let record: Pick<UrlRecord, 'url' | 'key' | 'hopPath' | 'chain'> = recordOf(first);
  const headers = [chainCookieHeader(record, NOW_MS)];
  for (const [to, ...setCookies] of steps) {
    const target = targetOf(to);
    const onward = onwardOf(record, target, setCookies, NOW_MS);
    if (onward.leads === 'nowhere') return { headers, end: onward.code, chain: record.chain };
    expect(onward.leads).toBe(target.key === record.key ? 'back' : 'onward');
    record = { ...recordOf(target.url, { hopPath: '' }), chain: onward.chain };
    headers.push(chainCookieHeader(record, NOW_MS));
  }
  return { headers, end: null, chain: record.chain };
}

describe('onwardOf (P6)', () => {
  it('RFC 6265 §5.3: the next hop sends what the redirect has set, and not what it was before', () => {
    const { headers } = follow('http://a.test/', ['http://a.test/1', 's=1'], ['http://a.test/2', 's=2']);
    expect(headers).toEqual([null, 's=1', 's=2']);
  });

  it('back to itself: with a new cookie once more, without one a loop', () => {
    const self = 'http://a.test/';
    expect(follow(self, [self]).end).toBe('redirect_loop');
    expect(follow(self, [self, 's=1'], [self, 's=1']).end).toBe('redirect_loop');
    expect(follow(self, [self, 's=1'], [self]).end).toBe('redirect_loop');
    expect(follow(self, [self, 's=1'], [self, 's=2']).headers).toEqual([null, 's=1', 's=2']);
    // One that was there before is not new, nor one that is not for it.
    expect(follow(self, [self, 's=1'], [self, 's=2'], [self, 's=1']).end).toBe('redirect_loop');
    expect(follow(self, [self, 's=1; Path=/elsewhere']).end).toBe('redirect_loop');
    expect(follow(self, ['http://a.test/#part']).end).toBe('redirect_loop');
  });

  it('back to an earlier one: the same, and once it has a new cookie the way may be gone again', () => {
    const [a, b] = ['http://a.test/a', 'http://a.test/b'] as const;
    expect(follow(a, [b], [a]).end).toBe('redirect_loop');
    expect(follow(a, [b, 's=1'], [a]).headers).toEqual([null, 's=1', 's=1']);
    expect(follow(a, [b], [a, 's=1; Path=/'], [b]).headers).toEqual([null, null, 's=1', 's=1']);
    expect(follow(a, [b], [a, 's=1; Path=/'], [b], [a]).end).toBe('redirect_loop');
  });

  it(`one URL is asked for again ${REPEATS_MAX} times, not ${REPEATS_MAX + 1}`, () => {
    const self = 'http://a.test/';
    const repeat = (times: number) =>
      follow(self, ...Array.from({ length: times }, (_, i) => [self, `s=${i}`] as const));
    expect(repeat(REPEATS_MAX)).toMatchObject({ end: null, headers: { length: 1 + REPEATS_MAX } });
    expect(repeat(REPEATS_MAX + 1)).toMatchObject({ end: 'redirect_loop', headers: { length: 1 + REPEATS_MAX } });
  });

  it(`a chain has ${REDIRECTS_MAX} hops, not ${REDIRECTS_MAX + 1}, whatever hosts it crosses`, () => {
    const chain = (hops: number) =>
      follow(
        'http://h0.test/0',
        ...Array.from({ length: hops }, (_, i) => [`http://h${i % 3}.test/${i + 1}`] as const),
      );
    expect(chain(REDIRECTS_MAX).end).toBeNull();
    expect(hopsOf(chain(REDIRECTS_MAX).chain as Chain)).toBe(REDIRECTS_MAX);
    expect(chain(REDIRECTS_MAX + 1).end).toBe('redirect_limit');
  });

  it('a page that was found at the end of a chain is no new beginning', () => {
    const at = (hopPath: string) =>
      onwardOf(recordOf('http://a.test/', { hopPath }), targetOf('http://a.test/1'), [], NOW_MS).leads;
    expect(at(`L${'R'.repeat(REDIRECTS_MAX)}`)).toBe('nowhere');
    expect(at(`L${'R'.repeat(REDIRECTS_MAX - 1)}`)).toBe('onward');
    expect(at(`${'R'.repeat(REDIRECTS_MAX)}L`)).toBe('onward');
  });

  it.each([
    ['scheme', 'https://a.test:8443/', 'http://a.test:8443/'],
    ['host', 'https://a.test/', 'https://b.test/'],
    ['host below', 'https://a.test/', 'https://www.a.test/'],
    ['port', 'http://a.test/', 'http://a.test:8080/'],
  ])('S4: a change of %s drops the cookies, and they stay dropped', (_, here, there) => {
    const wide = 's=1; Path=/; Domain=a.test';
    const { headers } = follow(here, [`${here}1`, wide], [there, wide], [`${here}2`], [`${here}3`]);
    expect(headers).toEqual([null, 's=1', null, null, null]);
  });

  it('S4: what the next origin sets is its own, and the first one’s does not come back', () => {
    const { headers } = follow(
      'http://a.test/',
      ['https://a.test/', 's=1'],
      ['https://a.test/in', 't=2'],
      ['http://a.test/in'],
    );
    expect(headers).toEqual([null, null, 't=2', null]);
  });

  it('the dot at the end of a name makes no other origin', () => {
    expect(follow('http://a.test/', ['http://a.test./', 's=1']).headers).toEqual([null, 's=1']);
  });

  it('past their bound all cookies of a chain are dropped, and none is kept from then on', () => {
    const more = `t=${'x'.repeat(4096)}`;
    const { headers, chain } = follow(
      'http://a.test/',
      ['http://a.test/1', 's=1'],
      ['http://a.test/2', more],
      ['http://a.test/3', 's=2'],
      ['http://b.test/', 's=3'],
      ['http://b.test/1', 's=4'],
    );
    expect(headers).toEqual([null, 's=1', null, null, null, null]);
    expect(chain?.cookies).toBeNull();
  });

  it('comesBackTo: only what stands in the chain before its end', () => {
    const [a, b] = [targetOf('http://a.test/a').key, targetOf('http://a.test/b').key];
    const chain = (...keys: string[]): Chain => ({ steps: keys.map((key) => ({ key, cookies: 0 })), cookies: [] });
    expect([comesBackTo(a, null), comesBackTo(b, chain(a, b)), comesBackTo(a, chain(a, b, a))]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

// -- whole webs -------------------------------------------------------------------------------------------------

/** A URL that redirects unless it is asked for with the cookie that it needs. */
interface Node {
  readonly host: number;
  readonly to: number;
  readonly sets: readonly ('s' | 't' | 'count' | 'del')[];
  readonly needs: 's' | 't' | 'never' | null;
}

interface Asked {
  readonly node: number;
  readonly cookies: string | null;
}

/** The same answer to the same question, always. Cookies say who gave them. */
function answerOf(web: readonly Node[], node: number, cookies: string | null) {
  const { host, to, sets, needs } = web[node] as Node;
  const has = (name: string) => (cookies ?? '').split('; ').some((it) => it.startsWith(`${name}=`));
  if (needs === null || has(needs)) return null;
  const count = Number(/count=\d+x(\d+)/.exec(cookies ?? '')?.[1] ?? 0);
  const setCookies = sets.map((name) => {
    if (name === 'del') return 's=; Max-Age=0; Path=/';
    return name === 'count' ? `count=${host}x${count + 1}; Path=/` : `${name}=${host}; Path=/`;
  });
  return { to, setCookies };
}

const urlOf = (web: readonly Node[], node: number) => `http://h${web[node]?.host}.test/${node}`;

/** What the actors do with a redirect, without them: a registry, a queue, and the policies. */
function crawl(web: readonly Node[], seeds: readonly number[]) {
  const asked: Asked[] = [];
  const registry = new Map<string, UrlRecord>();
  const queue: string[] = [];
  const nodeOf = new Map(web.map((_, node) => [urlOf(web, node), node]));
  for (const seed of seeds) {
    const record = recordOf(urlOf(web, seed));
    if (!registry.has(record.key)) queue.push(record.key);
    registry.set(record.key, record);
  }
  let isEnding = 0;
  for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
    if (++isEnding > 10_000) throw new Error('it does not end');
    const record = registry.get(key) as UrlRecord;
    const node = nodeOf.get(record.url) as number;
    const cookies = chainCookieHeader(record, NOW_MS);
    asked.push({ node, cookies });
    const answer = answerOf(web, node, cookies);
    const entry = { at: { queue: 'ready', priority: 1, sequence: 1 }, record } as const;
    const attempt = {
      atMs: 1,
      outcome: 'redirected',
      code: 'redirect',
      status: 302,
      tier: 1,
      durationMs: 1,
    } as Attempt;
    if (answer === null) {
      registry.set(key, completed(entry, attempt, 'active', {}).record);
      continue;
    }
    const target = targetOf(urlOf(web, answer.to));
    const onward = onwardOf(record, target, answer.setCookies, NOW_MS);
    if (onward.leads === 'back') {
      registry.set(key, sentBack(entry, attempt, onward.chain).record);
      queue.push(key);
      continue;
    }
    const state = onward.leads === 'nowhere' ? 'refused' : 'redirected';
    registry.set(key, completed(entry, attempt, state, {}).record);
    if (onward.leads === 'nowhere') continue;
    expect(onward.chain.steps.length).toBeLessThanOrEqual(1 + REDIRECTS_MAX);
    const known = registry.get(target.key);
    const found = recordOf(target.url, { chain: onward.chain, hopPath: `${record.hopPath}R` });
    if (known === undefined) registry.set(target.key, found);
    else if (comesBackTo(target.key, onward.chain) && isAtRest(known))
      registry.set(target.key, queuedByChain(known, found));
    else continue;
    queue.push(target.key);
  }
  return { asked, registry };
}

/** Somebody with a browser whose jar begins empty, who gives up after ten hops: what is asked, and whether a page comes. */
function browse(web: readonly Node[], seed: number) {
  const jar = new Map<string, string>();
  const asked: Asked[] = [];
  let node = seed;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const cookies = jar.size === 0 ? null : [...jar].map((pair) => pair.join('=')).join('; ');
    asked.push({ node, cookies });
    const answer = answerOf(web, node, cookies);
    if (answer === null) return { asked, isFound: true };
    for (const text of answer.setCookies) {
      const [name = '', value = ''] = text.slice(0, text.indexOf(';')).split('=');
      if (text.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
    node = answer.to;
  }
  return { asked, isFound: false };
}

const NODES = 6;
const webs = (hosts: number) =>
  fc.array(
    fc.record<Node>({
      host: fc.nat({ max: hosts - 1 }),
      to: fc.nat({ max: NODES - 1 }),
      sets: fc.uniqueArray(fc.constantFrom('s' as const, 't' as const, 'count' as const, 'del' as const), {
        maxLength: 2,
      }),
      needs: fc.constantFrom('s' as const, 't' as const, 'never' as const, 'never' as const, null),
    }),
    { minLength: NODES, maxLength: NODES },
  );

describe('a crawl of any web of redirects (P6)', () => {
  it('ends, asks for each URL at most once and three times more, and shows no cookie to another host', () => {
    fc.assert(
      fc.property(webs(3), fc.array(fc.nat({ max: NODES - 1 }), { minLength: 1, maxLength: 4 }), (web, seeds) => {
        const { asked, registry } = crawl(web, seeds);
        for (let node = 0; node < NODES; node++) {
          const times = asked.filter((it) => it.node === node);
          expect(times.length).toBeLessThanOrEqual(1 + REPEATS_MAX);
        }
        for (const { node, cookies } of asked) {
          for (const cookie of (cookies ?? '').split('; ').filter((it) => it !== ''))
            expect(cookie).toMatch(new RegExp(`=${web[node]?.host}(?:x|$)`));
        }
        // Nothing of a chain stays behind.
        for (const { chain } of registry.values()) expect(chain).toBeNull();
      }),
      { seed: 21, numRuns: 2_000 },
    );
  });

  it('finds at one host what a browser finds, with the very requests of a browser', () => {
    let found = 0;
    fc.assert(
      fc.property(webs(1), (web) => {
        const browsed = browse(web, 0);
        const timesMax = Math.max(...web.map((_, node) => browsed.asked.filter((it) => it.node === node).length));
        const { asked } = crawl(web, [0]);
        if (browsed.isFound && timesMax <= 1 + REPEATS_MAX) {
          found++;
          expect(asked).toEqual(browsed.asked);
        } else {
          expect(asked).toEqual(browsed.asked.slice(0, asked.length));
          const last = asked.at(-1) as Asked;
          expect(answerOf(web, last.node, last.cookies)).not.toBeNull();
        }
      }),
      { seed: 22, numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(500);
  });
});
