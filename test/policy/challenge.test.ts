import { describe, expect, it } from 'vitest';
import { challengeOf, DOOR_TEXT_MAX, SHELL_MARKUP_MIN, SHELL_TEXT_MAX } from '../../src/policy/challenge.js';

const page = (markup: string, changes: Partial<Parameters<typeof challengeOf>[0]> = {}) =>
  challengeOf({ markup, title: 'A page', textLength: 40, scripts: 1, links: 3, ...changes });

describe('a door in front of a page', () => {
  it.each([
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate.js">',
    '<script>window._cf_chl_opt={cvId:"2"}</script>',
    '<iframe src="/_Incapsula_Resource?x=1">',
    '<script src="https://ct.captcha-delivery.com/c.js">',
    '<div id="px-captcha">',
    '<script src="/.within.website/x/cmd/anubis/static/js/main.mjs">',
  ])('is known by what it is made of: %s', (markup) => {
    const { verdict, reasons } = page(markup);
    expect(verdict).toBe(true);
    expect(reasons).toHaveLength(1);
  });

  it.each(['Just a moment...', 'Just a moment…', 'Attention Required! | Cloudflare', 'DDoS-Guard'])(
    'or by its title: %s',
    (title) => {
      expect(page('<p>x', { title })).toMatchObject({ verdict: true, reasons: [expect.stringContaining(title)] });
      expect(page('<p>x', { title: `${title} – an article` }).verdict).toBe(false);
    },
  );

  it('an article that quotes its marks is none: it says more than a door does', () => {
    const markup = '<pre>window._cf_chl_opt</pre>';
    expect(page(markup, { textLength: DOOR_TEXT_MAX }).verdict).toBe(true);
    expect(page(markup, { textLength: DOOR_TEXT_MAX + 1 }).verdict).toBe(false);
  });

  it('is no plain page', () => {
    expect(page('<title>A page</title><p>Some words. <a href=x>more</a>')).toEqual({ verdict: false, reasons: [] });
  });
});

describe('a script’s shell', () => {
  const shell = '<div id=root></div><script src=app.js></script>'.padEnd(20_000);
  const bare = { textLength: 10, links: 0, scripts: 1 };

  it('has next to no text in much markup, scripts, and no links', () => {
    expect(page(shell, bare)).toMatchObject({ verdict: true, reasons: [expect.stringContaining('10 characters')] });
    expect(page(shell, { ...bare, scripts: 0 }).verdict).toBe(false);
    expect(page(shell, { ...bare, links: 1 }).verdict).toBe(false);
  });

  it('bounds text and markup at n and n + 1', () => {
    expect(page(shell, { ...bare, textLength: SHELL_TEXT_MAX }).verdict).toBe(true);
    expect(page(shell, { ...bare, textLength: SHELL_TEXT_MAX + 1 }).verdict).toBe(false);
    expect(page('x'.repeat(SHELL_MARKUP_MIN), { ...bare, textLength: 9 }).verdict).toBe(true);
    expect(page('x'.repeat(SHELL_MARKUP_MIN), { ...bare, textLength: 10 }).verdict).toBe(false);
    expect(page('x'.repeat(SHELL_MARKUP_MIN - 1), { ...bare, textLength: 9 }).verdict).toBe(false);
  });
});
