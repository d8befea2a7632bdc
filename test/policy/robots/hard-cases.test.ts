/** The hard cases of robots.txt by number, each with its kind: what holds for the file in the book holds for its like. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRobots } from '../../../src/policy/robots/match.js';
import { readRobots } from '../../../src/policy/robots/read.js';
import { ROBOTS_BYTES_MAX, type RobotsRules } from '../../../src/policy/robots/rules.js';

const ORIGIN = 'https://example.com';
const TOKEN = 'mybot';
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

function read(bytes: Uint8Array | string, token = TOKEN, how: 'whole' | 'cut' = 'whole'): RobotsRules {
  return readRobots(typeof bytes === 'string' ? utf8(bytes) : bytes, token, `${ORIGIN}/robots.txt`, how);
}

/** Null stands for another origin, of which a file says nothing (R30). */
function allowed(rules: RobotsRules, path: string): boolean | null {
  return compileRobots(rules, `${ORIGIN}/robots.txt`).decide(ORIGIN + path).allowed;
}

function may(text: string, path: string, token = TOKEN): boolean | null {
  return allowed(read(text, token), path);
}

const name = fc.stringMatching(/^[a-z]{1,8}$/);
const path = fc.stringMatching(/^\/[a-z]{1,6}(\/[a-z]{1,6}){0,2}$/);
const blank = fc.stringMatching(/^[ \t]{0,4}$/);
/** Upper and lower case mixed by chance. */
const cased = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((flags) =>
      [...text].map((letter, i) => (flags[i] === true ? letter.toUpperCase() : letter.toLowerCase())).join(''),
    );
const others = name.filter((other) => other !== TOKEN);

describe('lines and bytes', () => {
  it('R01: one BOM before the first line is no part of it, whatever that line is; a second one is', () => {
    const bom = new Uint8Array([0xef, 0xbb, 0xbf]);
    const first = fc.constantFrom(
      'User-agent: *',
      `Sitemap: ${ORIGIN}/s.xml\nUser-agent: *`,
      '# x\nUser-agent: *',
      '\nUser-agent: *',
    );
    fc.assert(
      fc.property(first, path, (line, closed) => {
        const text = utf8(`${line}\nDisallow: ${closed}\n`);
        const plain = read(text);
        expect(read(joined(bom, text)).rules).toEqual(plain.rules);
        expect(read(joined(bom, text)).sitemaps).toEqual(plain.sitemaps);
        expect(allowed(read(joined(bom, text)), closed)).toBe(false);
      }),
    );
    expect(allowed(read(joined(bom, bom, utf8('User-agent: *\nDisallow: /\n'))), '/')).toBe(true);
  });

  it('R03: white space around key, colon and value, and comments, change nothing', () => {
    fc.assert(
      fc.property(
        fc.array(blank, { minLength: 8, maxLength: 8 }),
        path,
        cased('user-agent'),
        cased('disallow'),
        (w, closed, agent, key) => {
          const text = `${w[0]}${agent}${w[1]}:${w[2]}*${w[3]}\n${w[4]}${key}${w[5]}:${w[6]}${closed}${w[7]}# note: ${closed}\n`;
          expect(read(text).rules).toEqual(
            read(`User-agent: *\nDisallow: ${closed}\n`).rules.map((rule) => ({ ...rule, text: expect.any(String) })),
          );
          expect(may(text, closed)).toBe(false);
        },
      ),
    );
  });

  it('R20: octets beyond ASCII and needless escapes meet their like in URLs; broken UTF-8 spoils only its own line', () => {
    const rules = read('User-agent: *\nDisallow: /foo/ツ\nDisallow: /foo/%62%61%7A\n');
    expect([allowed(rules, '/foo/%E3%83%84'), allowed(rules, '/foo/ツ'), allowed(rules, '/foo/baz')]).toEqual([
      false,
      false,
      false,
    ]);
    const letters = fc.string({ unit: fc.constantFrom(...'aüツ💩-._~0'), minLength: 1, maxLength: 6 });
    const escaped = (text: string): string =>
      [...utf8(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
    fc.assert(
      fc.property(letters, fc.boolean(), fc.boolean(), (text, inRule, inUrl) => {
        const rule = inRule ? escaped(text) : text;
        const url = inUrl ? escaped(text) : encodeURIComponent(text);
        // A dot segment is resolved before anything is compared.
        fc.pre(!/^\.{1,2}$/.test(text));
        expect(may(`User-agent: *\nDisallow: /x/${rule}$\n`, `/x/${url}`)).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), path, (noise, closed) => {
        const line = joined(
          utf8('X: '),
          noise.filter((octet) => octet !== 10 && octet !== 13),
          utf8('\n'),
        );
        expect(allowed(read(joined(utf8('User-agent: *\n'), line, utf8(`Disallow: ${closed}\n`))), closed)).toBe(false);
      }),
    );
  });

  it('R22: rules up to the bound are kept, wherever in it they stand; a line that is cut is none', () => {
    const comments = (bytes: number): string => `${'#'.repeat(bytes - 1)}\n`;
    const agent = 'User-agent: *\n';
    expect(may(`${agent}${comments(511_900)}Disallow: /s\n`, '/s')).toBe(false);
    const file = `${agent}Disallow: /private\n`;
    fc.assert(
      fc.property(fc.integer({ min: agent.length + 1, max: file.length }), (cutAt) => {
        const isWhole = cutAt === file.length;
        const rules = read(file.slice(0, cutAt), TOKEN, 'cut');
        expect(rules.rules.length).toBe(isWhole ? 1 : 0);
        expect(allowed(rules, '/other')).toBe(true);
      }),
    );
    // The same where it is the bound that cuts.
    for (const over of [1, 5, 9, 18]) {
      const filled = ROBOTS_BYTES_MAX - file.length + over;
      const rules = read(
        `${agent}${comments(filled)}Disallow: /private\nDisallow: /more\n`.padEnd(ROBOTS_BYTES_MAX + 100, '#'),
      );
      expect([allowed(rules, '/private'), allowed(rules, '/p')]).toEqual([true, true]);
    }
  });
});

describe('groups', () => {
  const rulesOf = (paths: readonly string[]): string => paths.map((closed) => `Disallow: ${closed}\n`).join('');

  it('R05: groups of one agent are one, in any order and spelling, with others between them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cased(TOKEN), fc.array(path, { minLength: 1, maxLength: 3 }), others), {
          minLength: 1,
          maxLength: 5,
        }),
        (groups) => {
          const text = groups
            .map(([own, paths, other]) => `User-agent: ${own}\n${rulesOf(paths)}\nUser-agent: ${other}\nDisallow: /\n`)
            .join('\n');
          for (const closed of groups.flatMap(([, paths]) => paths)) expect(may(text, closed)).toBe(false);
          expect(may(text, '/1-open')).toBe(true);
        },
      ),
    );
  });

  it('R06: whoever has a group of its own is told nothing by the one for all, in either order', () => {
    fc.assert(
      fc.property(
        fc.array(path, { maxLength: 3 }),
        fc.array(path, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (own, any, isFirst) => {
          const groups = [
            `User-agent: ${TOKEN}\nAllow: /\n${rulesOf(own)}`,
            `User-agent: *\n${rulesOf(any)}Disallow: /\n`,
          ];
          const text = (isFirst ? groups : groups.reverse()).join('\n');
          for (const open of any) expect(may(text, open)).toBe(!own.some((closed) => open.startsWith(closed)));
          expect(may(text, '/1', 'stranger')).toBe(false);
        },
      ),
    );
  });

  it('R07: other records end no group of rules; a delay goes to those that were named since the last delay', () => {
    const text = 'User-agent: A\nCrawl-delay: 30\nUser-agent: B\nDisallow: /\n';
    expect([may(text, '/', 'A'), may(text, '/', 'B'), may(text, '/', 'C')]).toEqual([false, false, true]);
    expect(['A', 'B', 'C'].map((token) => read(text, token).crawlDelaySeconds)).toEqual([30, null, null]);
    const record = fc.constantFrom(
      `Sitemap: ${ORIGIN}/s.xml`,
      'Host: example.com',
      'Noindex: /n',
      'Clean-param: a',
      'Request-rate: 1/5',
      '',
      '# note',
    );
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 4 }),
        fc.array(record, { maxLength: 4 }),
        path,
        (before, after, closed) => {
          const between = `User-agent: one\n${before.join('\n')}\nUser-agent: two\n${after.join('\n')}\nDisallow: ${closed}\n`;
          expect([may(between, closed, 'one'), may(between, closed, 'two')]).toEqual([false, false]);
        },
      ),
    );
  });

  it('R09: a token is compared as a whole: what begins, ends or holds it is another one', () => {
    fc.assert(
      fc.property(name, fc.stringMatching(/^[a-z-]{1,5}$/), cased(TOKEN), (other, more, own) => {
        for (const near of [
          `${TOKEN}-${more}`,
          `${TOKEN}${more}`,
          `${more}${TOKEN}`,
          TOKEN.slice(1),
          TOKEN.slice(0, -1),
        ])
          expect(may(`User-agent: ${near}\nDisallow: /\n`, '/'), near).toBe(true);
        expect(may(`User-agent: ${own}\nDisallow: /\n\nUser-agent: x${other}\nAllow: /\n`, '/')).toBe(false);
      }),
    );
  });

  it('R40: a named group without rules allows all, also at the end of the file; robots.txt itself is always allowed', () => {
    fc.assert(
      fc.property(fc.constantFrom('', '\n', '# end', 'Sitemap: /s.xml\n', 'Crawl-delay: 1\n'), path, (end, any) => {
        const text = `User-agent: *\nDisallow: /\n\nUser-agent: ${TOKEN}\n${end}`;
        expect(may(text, any)).toBe(true);
        expect(may(text, any, 'stranger')).toBe(false);
        expect(may(text, '/robots.txt', 'stranger')).toBe(true);
      }),
    );
  });
});

describe('patterns', () => {
  it('R17: only * and a final $ mean more than themselves', () => {
    const text = 'User-agent: *\nDisallow: /*.pdf$\nDisallow: /*.print?\n';
    expect(['/a.pdf', '/a.pdf?x', '/a.print?x', '/a.print'].map((one) => may(text, one))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    const literal = fc.string({ unit: fc.constantFrom(...'ab.+()[]{}|^\\?-$'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(literal, literal, fc.boolean(), (inRule, rest, isNear) => {
        const pattern = inRule.replace(/\$+$/, '');
        const inUrl = isNear ? pattern + rest : rest;
        fc.pre(pattern !== '' && !/^[.\\]/.test(pattern) && !/^[.\\]/.test(inUrl));
        // The backslash is a slash to URLs, and dots may be segments: what is compared is what is asked for.
        fc.pre(!/\\|\/\.|\.\.?$/.test(pattern + inUrl));
        const isPrefix = inUrl.startsWith(pattern);
        expect(may(`User-agent: *\nDisallow: /${pattern}\n`, `/${inUrl}`)).toBe(!isPrefix);
        expect(may(`User-agent: *\nDisallow: /${pattern}$\n`, `/${inUrl}`)).toBe(inUrl !== pattern);
      }),
    );
  });

  it('R21: a pattern costs steps, not their powers, whatever is repeated in it', () => {
    const piece = fc.constantFrom('*a', '*aa', 'a*', '**a', '*ab', '*');
    fc.assert(
      fc.property(
        piece,
        fc.integer({ min: 20, max: 200 }),
        fc.constantFrom('b$', 'b', '$', ''),
        (repeated, times, end) => {
          const pattern = `/${repeated.repeat(times)}${end}`;
          const subject = 'a'.repeat(5_000);
          // The second opinion: with a's alone, a pattern matches unless it needs a b.
          expect(may(`User-agent: *\nDisallow: ${pattern}\n`, `/${subject}`)).toBe(pattern.includes('b'));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('R37: dot segments and needless escapes are undone before the comparison; empty segments are segments', () => {
    const text = 'User-agent: *\nDisallow: /secret/\n';
    expect(['//secret/x', '/a/../secret/x', '/%73ecret/x'].map((one) => may(text, one))).toEqual([true, false, false]);
    const detour = fc.array(fc.constantFrom('a/../', './', '%2e/', 'a/%2E%2e/', 'a/b/../../'), { maxLength: 4 });
    fc.assert(
      fc.property(detour, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), (ways, escapes) => {
        const word = [...'secret']
          .map((letter, i) => (escapes[i] === true ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join('');
        expect(may(text, `/${ways.join('')}${word}/x`)).toBe(false);
      }),
    );
  });
});
