/** P6: what a browser has made of a page, and where it had come to. */
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/page/parse.js';
import { parsed, taskOf } from './tasks.js';

const PAGE = '<!doctype html><title>Rendered</title><p>It says quite a lot in a few words.</p><a href="next">on</a>';
const read = (finalUrl: string) => parsed(parse(taskOf(PAGE, { finalUrl }), () => 0));

describe('a rendered page', () => {
  it('on its own host is the page, and its links are meant from where the browser had come to', () => {
    const { redirect, page } = read('http://site.example/other/app?x=1');
    expect(redirect).toBeNull();
    expect(page?.links.map(({ url }) => url)).toEqual(['http://site.example/other/next']);
  });

  it('on another host is a redirect to there; on what is no page, a redirect to nowhere', () => {
    expect(read('https://login.example/in').redirect).toMatchObject({
      url: 'https://login.example/in',
      source: 'redirect',
      element: 'location',
    });
    expect(read('http://www.site.example/dir/page').redirect?.host).toBe('www.site.example');
    for (const finalUrl of ['https://x.example:99999/', 'about:blank', 'chrome-error://chromewebdata/', ''])
      expect(read(finalUrl).redirect).toBeNull();
  });
});
