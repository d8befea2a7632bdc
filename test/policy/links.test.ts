import { describe, expect, it } from 'vitest';
import { isFollowed, linkKind } from '../../src/policy/links.js';

describe('what a link is for', () => {
  it.each([
    ['a', null, 'document'],
    ['a', 'stylesheet', 'document'],
    ['area', null, 'document'],
    ['iframe', null, 'document'],
    ['frame', null, 'document'],
    ['meta', null, 'document'],
    ['img', null, 'embed'],
    ['source', null, 'embed'],
    ['form', null, 'form'],
    [null, null, 'document'],
    ['location', null, 'document'],
    ['link', 'stylesheet', 'embed'],
    ['link', 'STYLESHEET', 'embed'],
    ['link', 'alternate stylesheet', 'embed'],
    ['link', 'shortcut icon', 'embed'],
    ['link', 'apple-touch-icon', 'embed'],
    ['link', 'next', 'document'],
    ['link', 'Alternate', 'document'],
    ['link', 'canonical', 'document'],
    ['link', ' \n next\t', 'document'],
    ['link', 'preconnect', 'service'],
    ['link', 'dns-prefetch', 'service'],
    ['link', 'preload', 'service'],
    ['link', 'modulepreload', 'service'],
    ['link', 'pingback', 'service'],
    ['link', 'manifest', 'service'],
    ['link', 'unheard-of', 'service'],
    ['link', '', 'service'],
    ['link', null, 'service'],
    ['header', 'next', 'document'],
    ['header', 'stylesheet', 'embed'],
    ['header', 'preconnect', 'service'],
    ['header', null, 'service'],
  ] as const)('%s rel=%j: %s', (element, rel, kind) => {
    expect(linkKind(element, rel)).toBe(kind);
  });
});

describe('what is followed', () => {
  const all = { embeds: true, forms: true, nofollow: 'follow' } as const;

  it.each([
    ['document', { ...all, embeds: false, forms: false }, true],
    ['embed', all, true],
    ['embed', { ...all, embeds: false }, false],
    ['form', all, true],
    ['form', { ...all, forms: false }, false],
    ['service', all, false],
  ] as const)('%s, asked %j: %s', (kind, followed, is) => {
    expect(isFollowed(kind, null, followed)).toBe(is);
  });

  it.each(['nofollow', 'NoFollow', 'ugc nofollow', 'noopener\tnofollow'])('rel=%j is an option of its own', (rel) => {
    expect(isFollowed('document', rel, all)).toBe(true);
    expect(isFollowed('document', rel, { ...all, nofollow: 'skip' })).toBe(false);
    expect(isFollowed('document', 'nofollowing', { ...all, nofollow: 'skip' })).toBe(true);
  });
});
