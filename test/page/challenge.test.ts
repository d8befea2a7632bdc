import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChallengeFinding, ParseTask } from '../../src/domain/parsing.js';
import { parse } from '../../src/page/parse.js';
import { madePages } from '../corpus/corpus.js';
import type { MadePage } from '../corpus/made-page.js';
import { pageOf, taskOf } from './tasks.js';

const found = (body: string, changes: Partial<ParseTask> = {}): ChallengeFinding | null =>
  pageOf(parse(taskOf(body, changes))).challenge;
const kindOf = (body: string, changes: Partial<ParseTask> = {}) => found(body, changes)?.kind ?? null;
const findingOf = ({ html, status, headers }: MadePage) => found(html, { status, headers });

const words = (count: number) => 'lorem ipsum dolor sit amet '.repeat(Math.ceil(count / 27)).slice(0, count);

describe('doors in front of pages', () => {
  it.each([
    '<title>Just a moment...</title><noscript>Enable JavaScript and cookies to continue</noscript><script>(function(){window._cf_chl_opt={cvId:"3"};})()</script>',
    '<p>Wait<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1"></script>',
    '<iframe src="https://geo.captcha-delivery.com/captcha/?x"></iframe>',
    '<iframe id=main-iframe src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1">Request unsuccessful.</iframe>',
    '<h1>Press & hold to confirm you are a human</h1><div id="px-captcha"></div>',
    '<form action="/a?__cf_chl_f_tk=x" method=post><input type=hidden name=md></form>',
    '<script>window . KPSDK = {};</script><script src=/ips.js></script>',
  ])('are known by what they are made of: %s', (body) => {
    expect(found(body)).toEqual({ kind: 'challenge', reasons: expect.arrayContaining([expect.any(String)]) });
  });

  it('are known by the headers that they are sent with, whatever they say', () => {
    const headers: ParseTask['headers'] = [
      ['Content-Type', 'text/html'],
      ['CF-Mitigated', 'challenge'],
    ];
    expect(kindOf(words(9_000), { headers })).toBe('challenge');
    expect(kindOf(words(9_000), { headers: [['Content-Type', 'text/html']] })).toBe(null);
  });

  it('but the script that counts browsers on every page of a site is no door', () => {
    const script = `<script>var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';</script>`;
    expect(kindOf(`<p>A short page.${script}`)).toBe(null);
  });

  it('an article that quotes their marks is an article', () => {
    const quoted = '<pre>&lt;script>window._cf_chl_opt={}&lt;/script> cf-browser-verification</pre>';
    expect(kindOf(`<title>On doors</title><p>${words(200)}${quoted}`)).toBe(null);
  });
});

describe("a script's empty shell", () => {
  it.each([
    '<title>App</title><div id=root></div><script type=module src="/assets/index-4fk2.js"></script>',
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/static/js/main.8e1c.js"></script>',
    '<app-root></app-root><script src=main.js type=module></script>',
    '<div id=__next><div class=spinner>Loading…</div></div><script src="/_next/static/chunks/main.js"></script>',
    `<div class=x></div><script>${'a();'.repeat(600)}</script>`,
  ])('waits for its scripts: %s', (body) => {
    expect(found(body)).toEqual({ kind: 'script_shell', reasons: expect.arrayContaining([expect.any(String)]) });
  });

  it.each([
    `<div id=root><h1>Results</h1><p>${words(200)}</div><script src=main.js></script>`,
    `<style>${'a{b:c}'.repeat(600)}</style><p>One line.`,
    '<frameset cols="20%,80%"><frame src=a.html><frame src=b.html></frameset>',
    `<script>${'a();'.repeat(600)}</script><img src=1.jpg><img src=2.jpg><img src=3.jpg>`,
    `<meta http-equiv=refresh content="0; url=/new/"><script>${'a();'.repeat(600)}</script>`,
  ])('but a thin page is a page: %s', (body) => {
    expect(kindOf(body)).toBe(null);
  });
});

describe('the made corpus, a few of each kind', () => {
  const pages = madePages(2, 77);

  it.each([
    ['challenge', 0.98],
    ['script_shell', 0.98],
  ] as const)('recall of %s is %d at least', (kind, share) => {
    const those = pages.filter(({ truth }) => truth === kind);
    const missed = those.filter((page) => findingOf(page) === null);
    expect(those.length).toBeGreaterThan(20);
    expect(missed.map(({ name }) => name).slice(Math.floor(those.length * (1 - share)))).toEqual([]);
  });

  it('no honest page is condemned, borderline ones included', () => {
    const honest = pages.filter(({ truth }) => truth === null);
    expect(honest.filter(({ isBorderline }) => isBorderline).length).toBeGreaterThan(20);
    expect(honest.filter((page) => findingOf(page) !== null).map(({ name }) => name)).toEqual([]);
  });

  it('a page of no markup is looked at by its headers alone', () => {
    const type = ['Content-Type', 'application/json'] as const;
    expect(kindOf('{"a":"window._cf_chl_opt"}', { headers: [type] })).toBe(null);
    expect(kindOf('{}', { headers: [type, ['cf-mitigated', 'challenge']] })).toBe('challenge');
  });
});

describe('an article', () => {
  const quotes = fc.constantFrom(
    '<pre>&lt;script>window._cf_chl_opt={}&lt;/script></pre>',
    '<code>/cdn-cgi/challenge-platform/h/b/orchestrate</code>',
    '<p>Just a moment... Enable JavaScript and cookies to continue. Attention Required! | Cloudflare</p>',
    '<h2 id=px-captcha>px-captcha</h2>',
    '<textarea><div id=cf-browser-verification></textarea>',
    '<a href=/x>geo.captcha-delivery.com</a>',
    '<!-- <form action="/?__cf_chl_f_tk=1"> -->',
  );

  it('quotes what it will, before and behind its text', () => {
    fc.assert(
      fc.property(fc.array(quotes), fc.array(quotes), fc.nat(4_000), (before, behind, length) => {
        const body = `<title>Notes</title>${before.join('')}<p>${words(601 + length)}</p>${behind.join('')}<script src=/a.js></script>`;
        expect(found(body)).toBe(null);
      }),
    );
  });

  it('makes no door of the page that it is added to', () => {
    const article = `<article>${words(2_100)}</article>`;
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const [page] = madePages(1, seed)
          .filter(({ truth }) => truth === null)
          .slice(seed % 30);
        if (page === undefined) throw new Error('no page');
        const html = page.html.includes('</body>')
          ? page.html.replace('</body>', `${article}</body>`)
          : page.html + article;
        expect(findingOf({ ...page, html })).toBe(null);
      }),
      { numRuns: 30 },
    );
  });
});

describe('any bytes', () => {
  const bits = fc.constantFrom(
    '<div id=root>',
    '</div>',
    '<noscript>',
    '</noscript>',
    '<script>',
    '</script>',
    'window._cf_chl_opt={}',
    '<svg>',
    '<template>',
    '</template>',
    '<x-y>',
    '</x-y>',
    '<title>Just a moment...',
    '</title>',
    '<form action=/sorry/index?>',
    '<iframe src=a>',
    '<meta http-equiv=refresh content="1;url=x">',
    'words ',
    '<body ng-app>',
    '<!--',
    '-->',
    '\0',
  );

  it('are judged, and the same way twice', () => {
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 40 }), (all) => {
        expect(found(all.join(''))).toEqual(found(all.join('')));
      }),
    );
  });

  it('a nesting of any depth is looked through in linear time', () => {
    expect(kindOf(`<div id=root>${'<div>'.repeat(50_000)}`)).toBe(null);
    expect(kindOf(`<div id=root>${'<div>'.repeat(50_000)}<script type=module src=/a.js></script>`)).toBe(
      'script_shell',
    );
  });
});
