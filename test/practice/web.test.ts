/** The description of the practice web: the same by seed, whole, and honest about its own URLs. */
import robotsParserModule from 'robots-parser';
import { describe, expect, it } from 'vitest';
import { pageText } from '../../src/practice/pages.js';
import { FAULTY_ROBOTS, robotsFile } from '../../src/practice/robots-kinds.js';
import { isAllowed, rulesFor } from '../../src/practice/robots-matcher.js';
import { truthOf } from '../../src/practice/truth.js';
import { type PracticeHost, type PracticeWeb, practiceWeb } from '../../src/practice/web.js';

const authority = (host: PracticeHost): string => `${host.name}:8080`;
const robotsParser = robotsParserModule as unknown as (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean | undefined };

function whole(web: PracticeWeb): unknown {
  const text = pageText(web, authority);
  return web.hosts.map((host) => ({
    host,
    pages: Array.from({ length: host.pageCount }, (_, page) => [
      web.pathOf(host, page),
      text.htmlOf(host, page, 'usual').toString(),
    ]),
  }));
}

describe('practice web', () => {
  it('is the same web, byte for byte, for the same seed', () => {
    const settings = { seed: 7, profile: 'faulty', hosts: 12, pages: 80 } as const;
    expect(whole(practiceWeb(settings))).toEqual(whole(practiceWeb(settings)));
    expect(truthOf(practiceWeb(settings), authority, 'ExampleBot')).toEqual(
      truthOf(practiceWeb(settings), authority, 'ExampleBot'),
    );
    expect(whole(practiceWeb({ ...settings, seed: 8 }))).not.toEqual(whole(practiceWeb(settings)));
  });

  it.each(['ordinary', 'faulty', 'demanding', 'wide', 'deep', 'flat'] as const)(
    '%s: has exactly the pages asked for, under URLs that lead back to them',
    (profile) => {
      const web = practiceWeb({ seed: 3, profile, hosts: 20, pages: 333, seedHosts: 3 });
      expect(web.hosts.reduce((sum, host) => sum + host.pageCount, 0)).toBe(333);
      for (const host of web.hosts) {
        expect(host.name).toMatch(/\.practice\.test$/);
        expect(host.pageCount).toBeGreaterThanOrEqual(1);
        for (let page = 0; page < host.pageCount; page++) {
          expect(web.resolve(host, web.pathOf(host, page))).toMatchObject({ kind: 'page', page });
        }
        expect(web.resolve(host, `/articles/p${host.pageCount}.html`).kind).toBe('unknown');
      }
    },
  );

  it('sizes sites by Zipf: the largest near pages / H(n), most of them small', () => {
    const sizes = practiceWeb({ profile: 'ordinary', hosts: 50, pages: 2_000 })
      .hosts.map((host) => host.pageCount)
      .sort((a, b) => b - a);
    expect(sizes[0]).toBeGreaterThan(400);
    expect(sizes[0]).toBeLessThan(520);
    expect(sizes[24]).toBeLessThan(25);
  });

  it('flat: every page has the bytes and the links that were asked for, and all of them are reachable', () => {
    const web = practiceWeb({ profile: 'flat', hosts: 5, pages: 500, pageBytes: 20_000, linksPerPage: 40 });
    const text = pageText(web, authority);
    for (const host of web.hosts) {
      for (let page = 0; page < host.pageCount; page++) {
        const html = text.htmlOf(host, page, 'usual').toString();
        expect(Buffer.byteLength(html)).toBe(20_000);
        expect(html.match(/<a href=/g)).toHaveLength(40);
        expect(html.endsWith('</html>\n')).toBe(true);
      }
    }
    expect(truthOf(web, authority, 'ExampleBot').pages).toHaveLength(500);
  });

  it('deep: hangs each page from the one before', () => {
    const web = practiceWeb({ profile: 'deep', hosts: 1, pages: 50, linksPerPage: 1 });
    const [host] = web.hosts;
    if (host === undefined) throw new Error('no host');
    expect(web.linksOf(host, 20).map((link) => link.path)).toEqual([web.pathOf(host, 21)]);
    expect(truthOf(web, authority, 'ExampleBot').pages).toHaveLength(50);
  });

  it('faulty: shows every kind of failure, delivery, end and robots.txt', () => {
    const web = practiceWeb({ profile: 'faulty', hosts: 40, pages: 3_000, hopeless: true });
    const met = new Set<string>();
    for (const host of web.hosts) {
      met.add(host.robots.kind);
      for (let page = 0; page < host.pageCount; page++) {
        const resource = web.resolve(host, web.pathOf(host, page));
        if (resource.kind !== 'page') throw new Error('not a page');
        const { failures, final } = resource.behaviour;
        met.add(final.kind === 'page' ? final.delivery.kind : final.kind);
        for (const failure of failures) met.add(failure.kind === 'status' ? String(failure.status) : failure.kind);
        expect(failures.length).toBeLessThanOrEqual(2);
      }
    }
    const ends = ['nofollow', 'empty', 'binary', 'redirect', 'chain', 'missing', 'gone', 'failing', 'endless'];
    const deliveries = [
      'plain',
      'gzip',
      'brotli',
      'chunked',
      'close',
      'hang-up',
      'wrong-charset',
      'big',
      'slow',
      'drip',
    ];
    expect([...met].sort()).toEqual(
      [...ends, ...deliveries, ...FAULTY_ROBOTS, '500', '502', '503', '429', 'reset', 'truncation'].sort(),
    );
  });

  it('reads the robots.txt of each kind as robots-parser does, on every path of a web (RFC 9309 §2.2)', () => {
    const web = practiceWeb({ profile: 'faulty', hosts: 10, pages: 600 });
    let disallowed = 0;
    for (const kind of FAULTY_ROBOTS) {
      const { final } = robotsFile(kind, 'ExampleBot', 10);
      if (final.kind !== 'text') continue;
      const peer = robotsParser('http://a.practice.test/robots.txt', final.text);
      for (const agent of ['ExampleBot', 'SecondBot', 'OtherBot', 'Stranger']) {
        const rules = rulesFor(final.text, agent);
        for (const host of web.hosts) {
          for (let page = 0; page < host.pageCount; page++) {
            const path = web.pathOf(host, page);
            const allowed = isAllowed(rules, path);
            expect([kind, agent, path, allowed]).toEqual([
              kind,
              agent,
              path,
              peer.isAllowed(`http://a.practice.test${path}`, agent),
            ]);
            if (!allowed) disallowed += 1;
          }
        }
      }
    }
    expect(disallowed).toBeGreaterThan(1_000);
  });

  it('refuses settings that describe no web', () => {
    expect(() => practiceWeb({ hosts: 0 })).toThrow(RangeError);
    expect(() => practiceWeb({ hosts: 5, pages: 4 })).toThrow(RangeError);
    expect(practiceWeb({ hosts: 5, pages: 5 }).hosts).toHaveLength(5);
    expect(() => practiceWeb({ branching: 0 })).toThrow(RangeError);
    expect(() => practiceWeb({ hostPattern: 'one.practice.test' })).toThrow(RangeError);
  });
});

describe('second opinion on robots.txt (RFC 9309)', () => {
  const allowed = (text: string, path: string, agent = 'ExampleBot'): boolean => isAllowed(rulesFor(text, agent), path);

  it.each([
    ['§2.2.2 the longest match wins', 'User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['§2.2.2 Allow wins a tie', 'User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
    ['§2.2.2 /robots.txt is always allowed', 'User-agent: *\nDisallow: /', '/robots.txt', true],
    ['§2.2.2 escaped unreserved octets are decoded', 'User-agent: *\nDisallow: /%62ar', '/bar', false],
    ['§2.2.2 octets beyond ASCII are escaped', 'User-agent: *\nDisallow: /ツ', '/%e3%83%84', false],
    ['§2.2.3 $ is the end', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf', false],
    ['§2.2.3 $ is the end, and no more', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf?x', true],
    ['§2.2.3 $ looks for the last of several', 'User-agent: *\nDisallow: /a*b$', '/abcb', false],
    ['§2.2.3 pieces do not overlap', 'User-agent: *\nDisallow: /ab*bc$', '/abc', true],
    [
      '§2.2.1 groups of one agent are joined',
      'User-agent: examplebot\nDisallow: /a\n\nUser-agent: EXAMPLEBOT\nDisallow: /b',
      '/b',
      false,
    ],
    [
      '§2.2.1 the own group shuts * out',
      'User-agent: *\nDisallow: /\nUser-agent: examplebot\nDisallow: /b',
      '/a',
      true,
    ],
    ['§2.2.1 a token is compared whole', 'User-agent: example\nDisallow: /', '/a', true],
    [
      '§2.2.4 Crawl-delay does not end the list of agents',
      'User-agent: examplebot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x',
      '/x',
      false,
    ],
    ['§2.1 a last group may have no rules', 'User-agent: *\nDisallow: /\nUser-agent: examplebot', '/x', true],
  ])('%s', (_title, text, path, expected) => {
    expect(allowed(text, path)).toBe(expected);
  });

  it('takes the larger of two Crawl-delays, and only numbers', () => {
    expect(rulesFor('User-agent: *\nCrawl-delay: 2\nCrawl-delay: 0.5', 'x').crawlDelaySeconds).toBe(2);
    expect(rulesFor('User-agent: *\nCrawl-delay: -5', 'x').crawlDelaySeconds).toBeNull();
  });
});
