/** S2, S4: what is kept of a browser's cookies, and to whom it is shown. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RenderedCookie } from '../../src/domain/fetching.js';
import {
  CLEARANCE_CHARACTERS_MAX,
  CLEARANCE_COOKIES_MAX,
  clearanceCookies,
  clearanceFrom,
  isValid,
} from '../../src/policy/clearance.js';

const NOW = 5_000;
const MEMORY_MS = 60_000;
const HOST = 'www.a.example';
const cookie = (changes: Partial<RenderedCookie> = {}): RenderedCookie => ({
  name: 'cf',
  value: 'x',
  domain: '.a.example',
  path: '/',
  expiresAtMs: null,
  ...changes,
});
const earned = (cookies: readonly RenderedCookie[], userAgent = 'Browser/1 (X; Y)', url = `https://${HOST}/p`) =>
  clearanceFrom({ finalUrl: url, userAgent, cookies }, url, HOST, MEMORY_MS, NOW);

describe('clearance', () => {
  it('is kept with the name that earned it, until the first of its cookies ends, or as long as a host is remembered', () => {
    expect(earned([cookie()])).toEqual({
      scheme: 'https',
      userAgent: 'Browser/1 (X; Y)',
      cookies: [cookie()],
      expiresAtMs: NOW + MEMORY_MS,
    });
    expect(earned([cookie({ expiresAtMs: NOW + 9 }), cookie({ expiresAtMs: NOW + 5 })])?.expiresAtMs).toBe(NOW + 5);
    expect(isValid(earned([cookie({ expiresAtMs: NOW + 5 })]), NOW + 4)).toBe(true);
    expect(isValid(earned([cookie({ expiresAtMs: NOW + 5 })]), NOW + 5)).toBe(false);
    expect(isValid(null, 0)).toBe(false);
  });

  it('S4: is of the host and its parents, and of nobody else', () => {
    for (const domain of [HOST, `.${HOST}`, 'a.example', '.A.example'])
      expect(earned([cookie({ domain })])).not.toBeNull();
    for (const domain of ['b.example', 'ww.a.example', 'x.www.a.example', 'xa.example', '', '.'])
      expect(earned([cookie({ domain })])).toBeNull();
  });

  it('S4: stays on the scheme it was earned on, and under its path', () => {
    const clearance = earned([cookie({ name: 'a', path: '/docs' }), cookie({ name: 'b' })]);
    if (clearance === null) throw new Error('not kept');
    expect(clearanceCookies(clearance, `https://${HOST}/docs`)).toBe('a=x; b=x');
    expect(clearanceCookies(clearance, `https://${HOST}/docs/1`)).toBe('a=x; b=x');
    expect(clearanceCookies(clearance, `https://${HOST}/docsx`)).toBe('b=x');
    expect(clearanceCookies(clearance, `http://${HOST}/docs`)).toBeNull();
    expect(clearanceCookies({ ...clearance, cookies: [cookie({ path: '/z' })] }, `https://${HOST}/`)).toBeNull();
  });

  it('what has ended, and what could not be sent, is not kept', () => {
    for (const changes of [
      { expiresAtMs: NOW },
      { name: '' },
      { name: 'a=b' },
      { value: 'x;y' },
      { value: 'x\r\nSet-Cookie: y' },
      { value: 'ü' },
    ])
      expect(earned([cookie(changes)])).toBeNull();
    for (const userAgent of ['', 'x\ny', 'x'.repeat(513)]) expect(earned([cookie()], userAgent)).toBeNull();
    expect(earned([cookie()], 'x'.repeat(512))).not.toBeNull();
  });

  it('S2: is bounded in cookies and in characters', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => cookie({ name: `n${n}` }));
    expect(earned(many(CLEARANCE_COOKIES_MAX))?.cookies).toHaveLength(CLEARANCE_COOKIES_MAX);
    expect(earned(many(CLEARANCE_COOKIES_MAX + 1))?.cookies).toHaveLength(CLEARANCE_COOKIES_MAX);
    const rest = 'cf'.length + '.a.example'.length + '/'.length;
    expect(earned([cookie({ value: 'v'.repeat(CLEARANCE_CHARACTERS_MAX - rest) })])).not.toBeNull();
    expect(earned([cookie({ value: 'v'.repeat(CLEARANCE_CHARACTERS_MAX - rest + 1) })])).toBeNull();
  });

  it('S4: whatever a browser holds, what is sent is one line without another cookie in it', () => {
    const any = fc.record({
      name: fc.string({ maxLength: 8 }),
      value: fc.string({ maxLength: 8 }),
      domain: fc.constantFrom(HOST, '.a.example', 'b.example'),
      path: fc.constantFrom('/', '/p', ''),
      expiresAtMs: fc.option(fc.integer({ min: 0, max: 10_000 })),
    });
    fc.assert(
      fc.property(fc.array(any), (cookies) => {
        const clearance = earned(cookies);
        const sent = clearance === null ? null : clearanceCookies(clearance, `https://${HOST}/p`);
        if (clearance === null || sent === null) return;
        expect(sent).toMatch(/^[\x20-\x7e]+$/);
        expect(sent.split('; ')).toHaveLength(clearance.cookies.length);
      }),
    );
  });
});
