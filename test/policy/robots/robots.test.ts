import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { productTokenOf } from '../../../src/policy/robots/agent.js';
import { compileRobots, type RobotsDecision } from '../../../src/policy/robots/match.js';
import { readRobots } from '../../../src/policy/robots/read.js';
import {
  ROBOTS_BYTES_MAX,
  ROBOTS_LINE_OCTETS_MAX,
  ROBOTS_SITEMAPS_MAX,
  type RobotsRules,
} from '../../../src/policy/robots/rules.js';
import { allowedByWrapped } from './wrapped.js';

type Part = string | readonly [string, number];

interface Case {
  readonly id: string;
  readonly tier: string;
  readonly kind: 'allowed' | 'crawlDelay' | 'sitemaps';
  readonly robots: string;
  readonly robotsEncoding?: 'base64';
  readonly robotsGen?: readonly Part[];
  readonly robotsUrl?: string;
  readonly ua: string;
  readonly url: string;
  readonly urlGen?: readonly Part[];
  readonly expected: boolean | number | null | readonly string[];
  readonly why: string;
  readonly source: string;
}

const cases: readonly Case[] = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8'));

const concatenated = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join('');

const ORIGIN = 'https://example.com';
const ROBOTS_URL = `${ORIGIN}/robots.txt`;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function rulesOf(text: string, token = 'FooBot'): RobotsRules {
  return readRobots(utf8(text), token, ROBOTS_URL);
}

function decide(text: string, target: string, token = 'FooBot'): RobotsDecision {
  return compileRobots(rulesOf(text, token), ROBOTS_URL).decide(ORIGIN + target);
}

describe('the regression set of robots cases', () => {
  it('is whole', () => {
    expect(cases.length).toBe(249);
  });

  const binding = cases.filter((one) => one.tier !== 'info');
  it.each(binding)('$id ($tier, $source): $why', (one) => {
    const url = one.urlGen === undefined ? one.url : concatenated(one.urlGen);
    const text = one.robotsGen === undefined ? one.robots : concatenated(one.robotsGen);
    const bytes = one.robotsEncoding === 'base64' ? new Uint8Array(Buffer.from(one.robots, 'base64')) : utf8(text);
    const robotsUrl = one.robotsUrl ?? new URL('/robots.txt', url).href;
    const token = productTokenOf(one.ua);
    expect(token).not.toBeNull();
    const rules = readRobots(bytes, token as string, robotsUrl);
    if (one.kind === 'crawlDelay') expect(rules.crawlDelaySeconds).toBe(one.expected);
    else if (one.kind === 'sitemaps') expect(rules.sitemaps).toEqual(one.expected);
    else {
      expect(compileRobots(rules, robotsUrl).decide(url).allowed).toBe(one.expected);
      expect(allowedByWrapped(rules, robotsUrl, url)).toBe(one.expected);
    }
  });
});

describe('the second opinion', () => {
  /** Few characters, so that random rules and URLs meet often; all that has a meaning to either side is among them. */
  const octet = fc.constantFrom(
    ...'aab/*$?&=%.~',
    '%7E',
    '%2F',
    '%2a',
    '%24',
    '%61',
    'é',
    "'",
    '[',
    ' ',
    ',',
    '!',
    '/..',
    '/.',
    '/%2e',
    '\\',
    '#',
    '\t',
  );
  const start = fc.constantFrom(ORIGIN, 'https://u:p@example.com', 'HTTPS://EXAMPLE.com:443', 'http://example.com', '');
  const value = fc.array(octet, { maxLength: 9 }).map((parts) => `/${parts.join('')}`);
  /** Of `a`, `b` and wildcards alone: pieces overlap with each other and with an anchored end. */
  const dense = fc.stringMatching(/^\/[ab*]{1,7}\$?$/);
  const pattern = fc.oneof(value, dense);
  const line = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.constantFrom('Allow', 'Disallow', 'disalow'), pattern).map(([k, v]) => `${k}: ${v}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('User-agent: FooBot', 'User-agent: *', 'User-agent: Bar', 'Crawl-delay: 2', '', '#x'),
    },
  );
  const file = fc.array(line, { maxLength: 14 }).map((lines) => ['User-agent: *', ...lines].join('\n'));

  /** `%%61a` is `%aa` once it is decoded: an escape to whoever looks a second time, as the wrapped parser does. */
  const decodesToAnEscape = /%[0-9a-f]?%[0-9a-f]{2}/i;

  it('agrees with the index on random files and URLs', () => {
    fc.assert(
      fc.property(file, fc.array(fc.tuple(start, pattern), { minLength: 1, maxLength: 4 }), (text, urls) => {
        fc.pre(![text, ...urls.flat()].some((part) => decodesToAnEscape.test(part)));
        const rules = rulesOf(text);
        const matcher = compileRobots(rules, ROBOTS_URL);
        for (const url of urls.map((parts) => parts.join(''))) {
          expect(matcher.decide(url).allowed).toBe(allowedByWrapped(rules, ROBOTS_URL, url));
        }
      }),
      { numRuns: 2500 },
    );
  });

  it('agrees on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), value, (noise, target) => {
        const bytes = new Uint8Array([...utf8('user-agent:*\ndisallow:/'), ...noise]);
        const rules = readRobots(bytes, 'FooBot', ROBOTS_URL);
        const decided = compileRobots(rules, ROBOTS_URL).decide(ORIGIN + target);
        expect(decided.allowed).toBe(allowedByWrapped(rules, ROBOTS_URL, ORIGIN + target));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('patterns and targets (RFC 9309 §2.2.2, §2.2.3)', () => {
  it.each([
    ['/*ab*b$', '/ab', true, 'a piece and the anchored end share no octet'],
    ['/*ab*b$', '/abb', false, 'they may touch'],
    ['/ab*ab$', '/ab', true, 'nor do the beginning and the end'],
    ['/*ab*ba', '/aba', true, 'nor do two pieces'],
    ['/secret/', '/a/../secret/x', false, 'R37: dot segments go first'],
    ['/secret/', '/a/%2E%2e/secret/x', false, 'escaped ones too'],
    ['/secret/', '/%2e/secret/x', false, 'and a single one'],
    ['/secret/', '\\secret/x', false, 'a backslash is a slash'],
    ['/secret/', '/se\tcret/x', false, 'a tab is nothing'],
    ['/secret/', '/%73ecret/x', false, 'R37: unreserved escapes are decoded'],
    ['/secret/', '//secret/x', true, 'R37: a double slash is another path'],
    ['/*b', '/a#b', true, 'a fragment is no part of the target'],
  ])('Disallow %s, target %s: allowed %s, for %s', (rule, target, allowed) => {
    expect(decide(`User-agent: *\nDisallow: ${rule}`, target).allowed).toBe(allowed);
  });
});

describe('what is kept of a file', () => {
  it('is plain data: a JSON round trip answers alike', () => {
    const rules = rulesOf('User-agent: *\nDisallow: /*é$\nAllow: /x\nCrawl-delay: 2.5\nSitemap: /s.xml');
    expect(JSON.parse(JSON.stringify(rules))).toEqual(rules);
    expect(rules).toEqual({
      rules: [
        { allow: false, pattern: '/*%C3%A9$', line: 2, text: 'Disallow: /*é$' },
        { allow: true, pattern: '/x', line: 3, text: 'Allow: /x' },
      ],
      crawlDelaySeconds: 2.5,
      sitemaps: ['https://example.com/s.xml'],
      bytes: 72,
    });
  });

  it('names the deciding line as written, comments and odd spelling included', () => {
    const text = 'User-agent: *\r\rDisallow: /a\n  dissallow /a/b  # why\nAllow: /a/c';
    expect(decide(text, '/a/b/x').rule).toEqual({ line: 4, text: 'dissallow /a/b  # why' });
    expect(decide(text, '/a/c').rule).toEqual({ line: 5, text: 'Allow: /a/c' });
    expect(decide(text, '/z')).toEqual({ allowed: true, rule: null });
  });

  it('asks nothing of another origin (R30)', () => {
    const matcher = compileRobots(rulesOf('User-agent: *\nDisallow: /'), ROBOTS_URL);
    for (const url of [
      'http://example.com/',
      'https://example.com:8443/',
      'https://www.example.com/',
      'no url',
      '/x',
    ]) {
      expect(matcher.decide(url)).toEqual({ allowed: null, rule: null });
    }
  });

  it('keeps the larger of two delays, and drops values that are no plain decimal', () => {
    expect(rulesOf('User-agent: *\nCrawl-delay: 3\nCrawl-delay: 9\nCrawl-delay: 1').crawlDelaySeconds).toBe(9);
    expect(rulesOf(`User-agent: *\nCrawl-delay: ${'9'.repeat(400)}`).crawlDelaySeconds).toBeNull();
  });
});

describe('bounds (RFC 9309 §2.5)', () => {
  const fileOf = (length: number, last: string): string => {
    const head = 'User-agent: *\nDisallow: /first\n#';
    return `${head}${'x'.repeat(length - head.length - last.length - 1)}\n${last}`;
  };

  it('a file of exactly the bound is read to its last line, though unfinished', () => {
    expect(decide(fileOf(ROBOTS_BYTES_MAX, 'Disallow: /last'), '/last').allowed).toBe(false);
  });

  it('of a file one byte longer the unfinished line is dropped, not halved', () => {
    const text = fileOf(ROBOTS_BYTES_MAX + 1, 'Disallow: /last');
    expect(decide(text, '/last').allowed).toBe(true);
    expect(decide(text, '/first').allowed).toBe(false);
  });

  it('a file that was cut on its way loses its unfinished line too (R22)', () => {
    const bytes = utf8('User-agent: *\nDisallow: /a\nDisallow: /');
    const patterns = (ending: 'whole' | 'cut') =>
      readRobots(bytes, 'x', ROBOTS_URL, ending).rules.map((r) => r.pattern);
    expect(patterns('cut')).toEqual(['/a']);
    expect(patterns('whole')).toEqual(['/a', '/']);
  });

  it('a line keeps its first octets up to the bound', () => {
    const value = (length: number) => `/${'a'.repeat(length - 'Disallow: /'.length)}`;
    const patternOf = (length: number) => rulesOf(`User-agent: *\nDisallow: ${value(length)}`).rules[0]?.pattern;
    expect(patternOf(ROBOTS_LINE_OCTETS_MAX)).toBe(value(ROBOTS_LINE_OCTETS_MAX));
    expect(patternOf(ROBOTS_LINE_OCTETS_MAX + 1)).toBe(value(ROBOTS_LINE_OCTETS_MAX));
  });

  it('keeps sitemaps up to the bound', () => {
    const listing = (count: number) => Array.from({ length: count }, (_, i) => `sitemap:/${i}`).join('\n');
    expect(rulesOf(listing(ROBOTS_SITEMAPS_MAX)).sitemaps.length).toBe(ROBOTS_SITEMAPS_MAX);
    expect(rulesOf(listing(ROBOTS_SITEMAPS_MAX + 1)).sitemaps.length).toBe(ROBOTS_SITEMAPS_MAX);
  });
});

describe('hostile files', () => {
  const fill = (line: string): string =>
    `User-agent: *\n${`${line}\n`.repeat(Math.floor(500_000 / (line.length + 1)))}`;
  const lines = (count: number, of: (i: number) => string): string =>
    `User-agent: *\n${Array.from({ length: count }, (_, i) => of(i)).join('\n')}`;

  it('R21: a pattern that would explode a regular expression is answered exactly', () => {
    const text = `User-agent: *\nDisallow: /${'*a'.repeat(40)}b$`;
    expect(decide(text, `/${'a'.repeat(5000)}`).allowed).toBe(true);
    expect(decide(text, `/${'a'.repeat(5000)}b`).allowed).toBe(false);
  });

  it('half agents, half rules: no product of the two', () => {
    const text = `${'User-agent: a\n'.repeat(16_000)}${'Disallow: /x\n'.repeat(16_000)}`;
    expect(rulesOf(text, 'a').rules.length).toBe(16_000);
    expect(decide(text, '/x', 'a')).toEqual({ allowed: false, rule: { line: 16_001, text: 'Disallow: /x' } });
  });

  it('many wildcards in many rules are answered exactly', () => {
    const text = lines(250, (i) => `Disallow: /${'*a'.repeat(990)}${i}`);
    expect(decide(text, `/${'a'.repeat(2020)}`).allowed).toBe(true);
    expect(decide(text, `/${'a'.repeat(2020)}249`).allowed).toBe(false);
  });

  it('pieces whose pairs of octets do not occur cost no search', () => {
    expect(
      decide(
        lines(23_000, (i) => `Disallow: /*aaab${i}`),
        `/${'a'.repeat(8020)}`,
      ).allowed,
    ).toBe(true);
  });

  it('when looking would cost too much the answer is no, and no rule is named', () => {
    const distinct = (i: number) => i.toString(2).replaceAll('0', 'a').replaceAll('1', 'a*');
    const fileOf = (count: number) => lines(count, (i) => `Disallow: /*c*aaab*${distinct(i)}`);
    expect(decide(fileOf(12_000), `/aaabc${'a'.repeat(2000)}`)).toEqual({ allowed: false, rule: null });
    expect(decide(fileOf(200), `/aaabc${'a'.repeat(2000)}`)).toEqual({ allowed: true, rule: null });
  });

  it('one endless line is no rule', () => {
    expect(decide(fill('x'.repeat(499_000)), '/').allowed).toBe(true);
    expect(rulesOf('x'.repeat(10_000_000)).rules).toEqual([]);
  });
});

describe('the product token (RFC 9309 §2.2.1)', () => {
  it.each([
    ['ExampleBot/1.0 (+https://bot.example/)', 'ExampleBot'],
    ['Example_Bot-x', 'Example_Bot-x'],
    ['Mozilla/5.0 (compatible; FooBot/2.1; +https://f.example/bot)', 'FooBot'],
    ['Mozilla/5.0 (compatible; FooBot)', 'FooBot'],
    ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla'],
    ['Bot2/1.0', null],
    ['my.bot', null],
    ['Bötchen/1', null],
    ['/1.0', null],
    [' ExampleBot', null],
    ['', null],
  ])('of %j is %j', (userAgent, token) => {
    expect(productTokenOf(userAgent)).toBe(token);
  });
});

describe('what an operator should know of a file', () => {
  const remarkOn = (text: string, ending?: 'cut' | 'whole') =>
    readRobots(utf8(text), 'ExampleBot', ROBOTS_URL, ending).remark;

  it('RFC 9309 §2.5: that it is longer than is read', () => {
    const filled = 'User-agent: *\nDisallow: /x\n'.padEnd(ROBOTS_BYTES_MAX, '#');
    expect(remarkOn(filled)).toBeUndefined();
    expect(remarkOn(`${filled}#`)).toBe('cut');
    expect(remarkOn('Disallow: /x\n', 'cut')).toBe('cut');
  });

  it('that it is an HTML page, unless a line of it is a rule all the same', () => {
    for (const page of [
      '<!DOCTYPE html><p>Welcome',
      '\n  <html lang="en">',
      '\ufeff<!-- x --><body>',
      '<?xml ?><html>',
    ])
      expect(remarkOn(page), page).toBe('markup');
    expect(remarkOn('<html>\nUser-agent: *\nDisallow: /x\n')).toBeUndefined();
    for (const text of ['', '# <html>', '<3 crawlers', 'User-agent: *\n']) expect(remarkOn(text), text).toBeUndefined();
  });
});
