import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FollowedLinks } from '../../src/domain/parsing.js';
import { isFollowed, linkKind } from '../../src/policy/links.js';

describe('what a link is for', () => {
  it.each([
    ['a', null, 'document'],
    ['a', 'stylesheet', 'document'],
    ['area', null, 'document'],
    ['iframe', null, 'document'],
    ['frame', null, 'document'],
    ['meta', null, 'document'],
    ['location', null, 'document'],
    [null, null, 'document'],
    ['img', null, 'embed'],
    ['source', null, 'embed'],
    ['form', null, 'form'],
    ...['stylesheet', 'icon', 'shortcut icon', 'apple-touch-icon', 'alternate stylesheet', 'MASK-ICON'].map(
      (rel) => ['link', rel, 'embed'] as const,
    ),
    ...['next', 'prev', 'canonical', 'alternate', 'amphtml', 'Next\tNoFollow', 'next prefetch', 'license'].map(
      (rel) => ['link', rel, 'document'] as const,
    ),
    ...[
      null,
      '',
      'preconnect',
      'dns-prefetch',
      'preload',
      'modulepreload',
      'prefetch',
      'manifest',
      'pingback',
      'search',
      'EditURI',
    ].map((rel) => ['link', rel, 'service'] as const),
    ['header', 'next', 'document'],
    ['header', 'preload', 'service'],
  ] as const)('%s rel=%s: %s', (element, rel, kind) => {
    expect(linkKind(element, rel)).toBe(kind);
  });
});

describe('what is followed', () => {
  const all: FollowedLinks = { embeds: true, forms: true, nofollow: 'follow' };

  it('each kind by its option; services never', () => {
    expect(isFollowed('document', null, { embeds: false, forms: false, nofollow: 'skip' })).toBe(true);
    for (const [kind, option] of [
      ['embed', 'embeds'],
      ['form', 'forms'],
    ] as const) {
      expect(isFollowed(kind, null, all)).toBe(true);
      expect(isFollowed(kind, null, { ...all, [option]: false })).toBe(false);
    }
    expect(isFollowed('service', 'preload', all)).toBe(false);
  });

  it.each(['nofollow', 'noopener NoFollow', 'nofollow\next'])(
    'rel=%j is skipped unless it is to be followed',
    (rel) => {
      expect(isFollowed('document', rel, { ...all, nofollow: 'skip' })).toBe(false);
      expect(isFollowed('document', rel, all)).toBe(true);
    },
  );

  it.each([null, 'noopener', 'nofollowing'])('rel=%j is not nofollow', (rel) => {
    expect(isFollowed('document', rel, { ...all, nofollow: 'skip' })).toBe(true);
  });
});

describe('links, any of them', () => {
  const element = fc.option(
    fc.constantFrom('a', 'area', 'link', 'header', 'img', 'source', 'iframe', 'form', 'meta', 'blink'),
  );
  const word = fc.constantFrom('next', 'stylesheet', 'icon', 'nofollow', 'preload', 'canonical', 'x');
  const rel = fc.option(fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')));
  const followed: fc.Arbitrary<FollowedLinks> = fc.record({
    embeds: fc.boolean(),
    forms: fc.boolean(),
    nofollow: fc.constantFrom('skip', 'follow'),
  });

  it('are of one kind, whatever the case, the order and the spaces of their relations', () => {
    fc.assert(
      fc.property(element, rel, (it, words) => {
        const shuffled = words?.toUpperCase().split(' ').reverse().join('\t\n ') ?? null;
        expect(linkKind(it, shuffled)).toBe(linkKind(it, words));
      }),
    );
  });

  it('are followed the more, the more is wished; a service never; nofollow only where it is wished', () => {
    fc.assert(
      fc.property(element, rel, followed, (it, words, terms) => {
        const kind = linkKind(it, words);
        const all: FollowedLinks = { embeds: true, forms: true, nofollow: 'follow' };
        expect(isFollowed(kind, words, all)).toBe(kind !== 'service');
        if (!isFollowed(kind, words, terms)) return;
        expect(isFollowed(kind, words, all)).toBe(true);
        if (terms.nofollow === 'skip') expect(words ?? '').not.toContain('nofollow');
        if (kind === 'embed') expect(terms.embeds).toBe(true);
        if (kind === 'form') expect(terms.forms).toBe(true);
      }),
    );
  });
});
