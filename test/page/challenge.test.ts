import { describe, expect, it } from 'vitest';
import type { ChallengeFinding, ParseTask } from '../../src/domain/parsing.js';
import { parse } from '../../src/page/parse.js';
import { pageOf, taskOf } from './tasks.js';

const found = (body: string, changes: Partial<ParseTask> = {}): ChallengeFinding | null =>
  pageOf(parse(taskOf(body, changes))).challenge;
const kindOf = (body: string, changes: Partial<ParseTask> = {}) => found(body, changes)?.kind ?? null;

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
