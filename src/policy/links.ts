/**
 * What a link is for, and whether a crawl follows it: from the element that carries it and from its relation.
 *
 * A *document* is where a reader may go. An *embed* is what a page shows: pictures, style sheets, icons. A *form* makes
 * pages out of what is asked, and so as many as there are questions. What is left (`preconnect`, `manifest`, a feed
 * reader's endpoint) is nothing that a reader would ever see.
 */
import type { FollowedLinks } from '../domain/parsing.js';

export type LinkKind = 'document' | 'embed' | 'form' | 'service';

const KINDS: Readonly<Record<string, LinkKind>> = {
  a: 'document',
  area: 'document',
  iframe: 'document',
  frame: 'document',
  meta: 'document',
  img: 'embed',
  source: 'embed',
  form: 'form',
};

/** Elements whose relation alone says what they are for; `header` stands for the Link header (RFC 8288). */
const BY_RELATION = new Set(['link', 'header']);

const EMBED_RELATIONS = new Set(
  'apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image fluid-icon icon image_src mask-icon stylesheet'.split(
    ' ',
  ),
);
const DOCUMENT_RELATIONS = new Set(
  'alternate amphtml appendix archives author bookmark canonical chapter collection contents copyright first glossary help home index item last license me next prev previous related section shortlink start subsection toc top up'.split(
    ' ',
  ),
);

/** @param rel as it is written; null where there is none. */
export function linkKind(element: string | null, rel: string | null): LinkKind {
  if (element === null) return 'document';
  if (!BY_RELATION.has(element)) return KINDS[element] ?? 'document';
  const relations = relationsOf(rel);
  if (relations.some((word) => EMBED_RELATIONS.has(word))) return 'embed';
  return relations.some((word) => DOCUMENT_RELATIONS.has(word)) ? 'document' : 'service';
}

export function isFollowed(kind: LinkKind, rel: string | null, followed: FollowedLinks): boolean {
  if (kind === 'service' || (kind === 'embed' && !followed.embeds) || (kind === 'form' && !followed.forms))
    return false;
  return rel === null || followed.nofollow === 'follow' || !relationsOf(rel).includes('nofollow');
}

/** The words of a relation, which know no case (HTML Standard §4.6.7, RFC 8288 §2.1.1). */
export function relationsOf(rel: string | null): string[] {
  return rel === null ? [] : rel.toLowerCase().split(/[\t\n\f\r ]+/);
}
