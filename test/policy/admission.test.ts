import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SETTINGS } from '../../src/domain/crawl-settings.js';
import { refusalOf, rulesOf, trapOf } from '../../src/policy/admission.js';
import { settingsOf } from '../actors/support/records.js';

const BOUNDS = { urlCharactersMax: 2_048, segmentsMax: 20, repeatsMax: 3 };
const codeOf = (url: string, configured: Parameters<typeof settingsOf>[0] = {}, depth = 0) => {
  const told = settingsOf(configured, { scopeHosts: ['a.example'], exclusions: ['/by-command/'] });
  const rules = rulesOf(told.configured, told.settings);
  return refusalOf(rules, { url, host: new URL(url).hostname, depth })?.code ?? null;
};

describe('what a crawl may enter', () => {
  it.each([
    ['http://a.example/', {}, null],
    ['http://b.example/', { scope: 'host' }, 'out_of_scope'],
    ['http://www.a.example/', { scope: 'host' }, 'out_of_scope'],
    ['http://www.a.example/', { scope: 'site' }, null],
    ['http://a.example/x', { include: ['/y'] }, 'not_included'],
    ['http://a.example/y', { include: ['/y'] }, null],
    ['http://a.example/y/z', { include: ['/y'], exclude: ['/y/z'] }, 'excluded'],
    ['http://a.example/by-command/1', {}, 'excluded'],
    [`http://a.example/${'x/'.repeat(30)}`, { scope: 'any' }, 'trap_path_depth'],
  ] as const)('%s with %j: %s', (url, configured, code) => {
    expect(codeOf(url, configured)).toBe(code);
  });

  it('at the greatest depth it enters, one deeper it does not', () => {
    expect(codeOf('http://a.example/', { depthMax: 4 }, 4)).toBeNull();
    expect(codeOf('http://a.example/', { depthMax: 4 }, 5)).toBe('too_deep');
  });

  it('a seed need not match what is included, and what is excluded refuses it all the same', () => {
    const rules = rulesOf(settingsOf({ include: ['/docs/'], exclude: ['/docs/old/'] }).configured, NO_SETTINGS);
    const seed = (url: string) => refusalOf(rules, { url, host: 'a.example', depth: 0, source: 'seed' })?.code ?? null;
    expect([seed('http://a.example/'), seed('http://a.example/docs/old/')]).toEqual([null, 'excluded']);
  });

  it('says what exactly refuses', () => {
    const rules = rulesOf(settingsOf({ exclude: ['/no', '/x'] }).configured, NO_SETTINGS);
    expect(refusalOf(rules, { url: 'http://a.example/x1', host: 'a.example', depth: 0 })).toEqual({
      code: 'excluded',
      detail: '/x',
    });
  });
});

describe('S2: traps', () => {
  const long = (characters: number) => `http://a.example/${'x'.repeat(characters - 17)}`;
  const deep = (segments: number) => `http://a.example/${Array.from({ length: segments }, (_, i) => i).join('/')}`;

  it('a URL at the bound of its length is taken, one longer is left', () => {
    expect(trapOf(BOUNDS, long(2_048))).toBeNull();
    expect(trapOf(BOUNDS, long(2_049))?.code).toBe('trap_url_length');
  });

  it('a path at the bound of its depth is taken, one deeper is left', () => {
    expect(trapOf(BOUNDS, deep(20))).toBeNull();
    expect(trapOf(BOUNDS, `${deep(20)}/`)).toBeNull();
    expect(trapOf(BOUNDS, deep(21))?.code).toBe('trap_path_depth');
  });

  it.each([
    ['/a/a/a', null],
    ['/a/a/a/a', 'trap_repeated_segments'],
    ['/x/a/b/a/b/a/b/y', null],
    ['/x/a/b/a/b/a/b/a/b', 'trap_repeated_segments'],
    ['/a/b/c/d/a/b/c/d/a/b/c/d', null],
    ['/2024/01/01/01/', null],
    ['/a/x/a/y/a/z/a', null],
    ['/q?a/a/a/a/a/a', null],
  ])('P01: a path that grows by its own links: %s', (path, code) => {
    expect(trapOf(BOUNDS, `http://a.example${path}`)?.code ?? null).toBe(code);
  });

  it('P01: a cycle of up to four segments is found wherever it stands, as soon as it is gone through once too often', () => {
    const segment = fc.stringMatching(/^[a-z]{1,4}$/);
    fc.assert(
      fc.property(
        fc.array(segment, { maxLength: 3 }),
        fc.array(segment, { minLength: 1, maxLength: 4 }),
        (before, cycle) => {
          const bounds = { ...BOUNDS, segmentsMax: 1_000 };
          const path = [...before, ...cycle, ...cycle, ...cycle, ...cycle].join('/');
          expect(trapOf(bounds, `http://a.example/${path}`)?.code).toBe('trap_repeated_segments');
        },
      ),
    );
  });

  it('a path without any segment twice is never one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 20 }), (segments) => {
        expect(trapOf(BOUNDS, `http://a.example/${segments.join('/')}`)).toBeNull();
      }),
    );
  });
});
