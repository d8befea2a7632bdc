/**
 * Links: where they stand in a page, which of them are followed, and what they lead to.
 *
 * Found first, resolved last: a `base` may come after the links that it rules. One bad link costs itself only.
 */
import type { Candidate } from '../domain/url.js';
import { canonicalise } from '../policy/canonical.js';
import { candidateOf } from './candidate.js';
import { withLegacyQuery } from './legacy-query.js';
import type { Attributes, Place } from './markup.js';

/** A link as it is written. */
export interface FoundLink {
  readonly href: string;
  readonly element: string;
  /** As written; null where there is none. */
  readonly rel: string | null;
}

interface LinkRule {
  readonly attribute: string;
  /** Only with a `rel` that leads to another document. */
  readonly needsRelation: boolean;
}

/** What is followed: one line an element. */
const LINK_RULES: ReadonlyMap<string, LinkRule> = new Map([
  ['a', { attribute: 'href', needsRelation: false }],
  ['area', { attribute: 'href', needsRelation: false }],
  ['link', { attribute: 'href', needsRelation: true }],
  ['iframe', { attribute: 'src', needsRelation: false }],
  ['frame', { attribute: 'src', needsRelation: false }],
]);

/** Relations of a `link` that lead to a document; with any other word beside them the link serves the page itself. */
const DOCUMENT_RELATIONS = new Set(
  'alternate amphtml appendix archives author bookmark canonical chapter collection contents copyright first glossary help index item last license me next prev previous related section shortlink start subsection toc top up'.split(
    ' ',
  ),
);
const RESOURCE_RELATIONS = new Set(
  'apple-touch-icon dns-prefetch icon manifest mask-icon modulepreload pingback preconnect prefetch preload prerender search shortcut stylesheet'.split(
    ' ',
  ),
);

/**
 * The link that an element carries, if any. `rel=nofollow` links are left out: their author asks not to be taken as
 * recommending them, and a crawl that follows recommendations has better things to do.
 */
export function linkOf(name: string, attributes: Attributes, place: Place): FoundLink | null {
  const rule = LINK_RULES.get(name);
  if (rule === undefined || (place.isForeign && name !== 'a')) return null;
  const href = attribute(attributes, rule.attribute) ?? (place.isForeign ? attribute(attributes, 'xlink:href') : null);
  if (href === null) return null;
  const rel = attribute(attributes, 'rel');
  return isFollowed(rel, rule) ? { href: href.trim(), element: name, rel } : null;
}

function isFollowed(rel: string | null, rule: LinkRule): boolean {
  if (rel === null) return !rule.needsRelation;
  const relations = rel.toLowerCase().split(/[\t\n\f\r ]+/);
  if (relations.includes('nofollow')) return false;
  if (!rule.needsRelation) return true;
  return (
    relations.some((word) => DOCUMENT_RELATIONS.has(word)) && !relations.some((word) => RESOURCE_RELATIONS.has(word))
  );
}

/** The first attribute of that name; null where there is none. */
export function attribute(attributes: Attributes, name: string): string | null {
  for (const { name: spelled, value } of attributes) if (spelled === name) return value;
  return null;
}

/**
 * What links are resolved against: the first `base` with an href, itself resolved against the page (HTML Standard
 * §4.2.3). One that is no URL, or a `data:` or `javascript:` URL, is passed over.
 */
export function baseOf(pageUrl: string, baseHref: string | null, charset: string): URL {
  const page = new URL(pageUrl);
  if (baseHref === null) return page;
  try {
    const base = new URL(withLegacyQuery(baseHref, charset), page);
    return base.protocol === 'data:' || base.protocol === 'javascript:' ? page : base;
  } catch {
    return page;
  }
}

export interface ResolvedLinks {
  readonly links: readonly Candidate[];
  readonly refused: number;
}

/** Candidates in order of appearance, no two with one key, at most `linksMax`; the rest is counted. */
export function resolveLinks(found: readonly FoundLink[], base: URL, charset: string, linksMax: number): ResolvedLinks {
  const spellings = new Set<string>();
  const urls = new Set<string>();
  const links: Candidate[] = [];
  const baseHref = base.href;
  let refused = 0;
  for (const { href, element } of found) {
    if (spellings.has(href)) continue;
    spellings.add(href);
    if (links.length >= linksMax) {
      refused++;
      continue;
    }
    const canonical = canonicalise(withLegacyQuery(href, charset), baseHref);
    if (!canonical.ok) refused++;
    else if (!urls.has(canonical.url)) {
      urls.add(canonical.url);
      links.push(candidateOf(canonical, 'link', element));
    }
  }
  return { links, refused };
}
