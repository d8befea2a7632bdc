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
