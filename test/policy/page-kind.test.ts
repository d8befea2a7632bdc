import fc from 'fast-check';
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

describe('the kind of any page', () => {
  const measures: fc.Arbitrary<PageMeasures> = fc
    .record({
      reading: fc.constantFrom('markup', 'text', 'nothing'),
      textLength: fc.oneof(fc.nat(400), fc.nat(100_000)),
      linkShare: fc.double({ min: 0, max: 1, noNaN: true }),
      links: fc.oneof(fc.nat(12), fc.nat(5_000)),
      isPassing: fc.boolean(),
    })
    .map(({ linkShare, ...rest }) => ({ ...rest, linkTextLength: Math.floor(rest.textLength * linkShare) }));

  it('leads and listings have links, documents have text', () => {
    fc.assert(
      fc.property(measures, (given) => {
        const kind = pageKind(given);
        if (kind === 'lead' || kind === 'listing') expect(given.links).toBeGreaterThan(0);
        if (kind === 'listing') expect(given.links).toBeGreaterThanOrEqual(LISTING_LINKS_MIN);
        if (kind === 'document') expect(given.textLength).toBeGreaterThan(0);
        if (kind === 'document' && given.links > 0 && given.reading === 'markup')
          expect(given.textLength - given.linkTextLength).toBeGreaterThanOrEqual(LEAD_PROSE_MAX);
      }),
    );
  });

  it('more prose never makes less of a page: a document stays one', () => {
    fc.assert(
      fc.property(measures, fc.nat(10_000), (given, more) => {
        if (pageKind(given) !== 'document') return;
        expect(pageKind({ ...given, textLength: given.textLength + more })).toBe('document');
      }),
    );
  });
});
