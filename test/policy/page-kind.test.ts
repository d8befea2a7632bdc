import { describe, expect, it } from 'vitest';
import { LEAD_PROSE_MAX, LISTING_LINKS_MIN, type PageMeasures, pageKind } from '../../src/policy/page-kind.js';

const measured = (changes: Partial<PageMeasures>): PageMeasures => ({
  reading: 'markup',
  textLength: 2_000,
  linkTextLength: 100,
  links: 5,
  isPassing: false,
  ...changes,
});

describe('what a page is to a crawl', () => {
  it.each<[string, Partial<PageMeasures>, string]>([
    ['prose with a few links', {}, 'document'],
    ['prose without links', { links: 0, linkTextLength: 0 }, 'document'],
    ['a few words without links', { links: 0, linkTextLength: 0, textLength: 20 }, 'document'],
    ['plain text', { reading: 'text', links: 0, linkTextLength: 0 }, 'document'],
    ['links, and half of the words in them', { links: LISTING_LINKS_MIN, linkTextLength: 1_000 }, 'listing'],
    ['just fewer words in them', { links: LISTING_LINKS_MIN, linkTextLength: 999 }, 'document'],
    ['just fewer links', { links: LISTING_LINKS_MIN - 1, linkTextLength: 1_000 }, 'document'],
    ['prose up to the bound', { textLength: LEAD_PROSE_MAX + 100 }, 'document'],
    ['prose below it', { textLength: LEAD_PROSE_MAX + 99 }, 'lead'],
    ['links in pictures', { textLength: 0, linkTextLength: 0 }, 'lead'],
    ['prose that asks not to be indexed, or leads on by itself', { isPassing: true }, 'lead'],
    ['the same without a link', { isPassing: true, links: 0 }, 'other'],
    ['nothing', { textLength: 0, linkTextLength: 0, links: 0 }, 'other'],
    ['an empty text', { reading: 'text', textLength: 0, linkTextLength: 0, links: 0 }, 'other'],
    ['a picture', { reading: 'nothing', textLength: 0, linkTextLength: 0, links: 3 }, 'other'],
  ])('%s', (_, changes, kind) => {
    expect(pageKind(measured(changes))).toBe(kind);
  });
});
