/**
 * What a page is to a crawl: a lead (worth its links only), a listing (an index or a page of one), a document (real
 * content), or nothing of these.
 *
 * The measure is prose: visible text that stands in no link. A page whose words are mostly links tells of other pages; a
 * page with next to no words but links only leads on. First form: what a page says of itself, no learning.
 */
import type { PageKind } from '../domain/parsing.js';

export interface PageMeasures {
  /** What could be read of it. */
  readonly reading: 'markup' | 'text' | 'nothing';
  /** UTF-16 units of visible text, and of that part of it that stands in links. */
  readonly textLength: number;
  readonly linkTextLength: number;
  /** Links to documents. */
  readonly links: number;
  /** It asks not to be indexed, or is where a redirect begins. */
  readonly isPassing: boolean;
}

/** Less prose than two sentences is no content. */
export const LEAD_PROSE_MAX = 160;
/** Fewer links are no index. */
export const LISTING_LINKS_MIN = 10;
/** From this share of link text on, a page is about other pages. */
export const LISTING_LINK_SHARE_MIN = 0.5;

export function pageKind({ reading, textLength, linkTextLength, links, isPassing }: PageMeasures): PageKind {
  if (reading === 'nothing') return 'other';
  if (reading === 'text') return textLength > 0 ? 'document' : 'other';
  if (textLength === 0 && links === 0) return 'other';
  if (isPassing) return links > 0 ? 'lead' : 'other';
  if (links >= LISTING_LINKS_MIN && linkTextLength >= textLength * LISTING_LINK_SHARE_MIN) return 'listing';
  return links > 0 && textLength - linkTextLength < LEAD_PROSE_MAX ? 'lead' : 'document';
}
