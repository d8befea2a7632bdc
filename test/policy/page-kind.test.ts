import { describe, expect, it } from 'vitest';
import { LEAD_PROSE_MAX, LISTING_LINKS_MIN, pageKind, type PageMeasures } from '../../src/policy/page-kind.js';

const page = (changes: Partial<PageMeasures> = {}) =>
  pageKind({ reading: 'markup', textLength: 5_000, linkTextLength: 100, links: 20, isPassing: false, ...changes });

describe('the kind of a page', () => {
  it('prose makes a document, few words and links a lead', () => {
    expect(page()).toBe('document');
    expect(page({ links: 0, linkTextLength: 0 })).toBe('document');
    expect(page({ textLength: LEAD_PROSE_MAX + 30, linkTextLength: 30, links: 1 })).toBe('document');
    expect(page({ textLength: LEAD_PROSE_MAX + 29, linkTextLength: 30, links: 1 })).toBe('lead');
    expect(page({ textLength: 0, linkTextLength: 0, links: 1 })).toBe('lead');
  });

  it('half of its words in ten links make a listing', () => {
    expect(page({ linkTextLength: 2_500, links: LISTING_LINKS_MIN })).toBe('listing');
    expect(page({ linkTextLength: 2_499, links: LISTING_LINKS_MIN })).toBe('document');
    expect(page({ linkTextLength: 2_500, links: LISTING_LINKS_MIN - 1 })).toBe('document');
  });

  it('what is not meant to stay is worth its links only', () => {
    expect(page({ isPassing: true })).toBe('lead');
    expect(page({ isPassing: true, links: 0 })).toBe('other');
  });

  it('text is a document, an empty page and a picture nothing', () => {
    expect(page({ reading: 'text', links: 0 })).toBe('document');
    expect(page({ reading: 'text', textLength: 0, links: 0 })).toBe('other');
    expect(page({ textLength: 0, linkTextLength: 0, links: 0 })).toBe('other');
    expect(page({ reading: 'nothing' })).toBe('other');
  });
});
