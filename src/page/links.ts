/**
 * Links: where they stand in a page, and what they lead to. Which of them are followed is not decided here.
 *
 * Found first, resolved last: a `base` may come after the links that it rules. One bad link costs itself only.
 */
import type { FollowedLinks } from '../domain/parsing.js';
import type { Candidate } from '../domain/url.js';
import { canonicalise } from '../policy/canonical.js';
import { isFollowed, linkKind } from '../policy/links.js';
import { candidateOf } from './candidate.js';
import { withLegacyQuery } from './legacy-query.js';
import type { Attributes, Place } from './markup.js';
import { srcsetUrls } from './srcset.js';

/** A link as it is written. */
export interface FoundLink {
  readonly href: string;
  readonly element: string;
  /** As written, up to a bound; null where there is none. */
  readonly rel: string | null;
}

/** The attribute that holds the link of an element. */
const ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ['a', 'href'],
  ['area', 'href'],
  ['link', 'href'],
  ['iframe', 'src'],
  ['frame', 'src'],
  ['img', 'src'],
  ['image', 'src'],
  ['source', 'src'],
]);
const WITH_SRCSET = new Set(['img', 'image', 'source']);

/** Longer ones are no relations, and would travel with every link. */
const REL_CHARACTERS_MAX = 256;

/** Adds the links that an element carries. Of foreign elements only `a` carries any. */
export function addLinks(found: FoundLink[], name: string, attributes: Attributes, place: Place): void {
  const holder = ATTRIBUTES.get(name);
  if (holder === undefined || (place.isForeign && name !== 'a')) return;
  const href = attribute(attributes, holder) ?? (place.isForeign ? attribute(attributes, 'xlink:href') : null);
  if (!WITH_SRCSET.has(name)) {
    if (href !== null) found.push({ href: strip(href), element: name, rel: relOf(attributes) });
    return;
  }
  // A tree builder reads `image` as `img` (HTML Standard §13.2.6.4.7). Neither has a relation; an empty src is no picture.
  const element = name === 'image' ? 'img' : name;
  const src = href === null ? '' : strip(href);
  if (src !== '') found.push({ href: src, element, rel: null });
  const srcset = attribute(attributes, 'srcset');
  if (srcset !== null) for (const url of srcsetUrls(srcset)) found.push({ href: url, element, rel: null });
}

function relOf(attributes: Attributes): string | null {
  const rel = attribute(attributes, 'rel');
  return rel === null || rel.length <= REL_CHARACTERS_MAX ? rel : rel.slice(0, REL_CHARACTERS_MAX);
}

/** The first attribute of that name; null where there is none. */
export function attribute(attributes: Attributes, name: string): string | null {
  for (const { name: spelled, value } of attributes) if (spelled === name) return value;
  return null;
}

/** Without ASCII white space at its ends, which is all the white space that HTML knows. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return end - start === text.length ? text : text.slice(start, end);
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d || unit === 0x0c;
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

/**
 * Candidates of the links that are followed, no two with one key, at most `linksMax`; the rest of them is counted.
 * Documents come first, so that no wall of pictures takes their place, and each kind in order of appearance.
 */
export function resolveLinks(
  found: readonly FoundLink[],
  base: URL,
  charset: string,
  linksMax: number,
  followed: FollowedLinks,
): ResolvedLinks {
  const resolving = new Resolving(base.href, charset, linksMax);
  const embeds: FoundLink[] = [];
  const forms: FoundLink[] = [];
  for (const link of found) {
    const kind = linkKind(link.element, link.rel);
    if (!isFollowed(kind, link.rel, followed)) continue;
    if (kind === 'document') resolving.add(link);
    else (kind === 'embed' ? embeds : forms).push(link);
  }
  for (const link of embeds) resolving.add(link);
  for (const link of forms) resolving.add(link);
  return resolving;
}

class Resolving implements ResolvedLinks {
  readonly links: Candidate[] = [];
  refused = 0;
  private readonly spellings = new Set<string>();
  private readonly urls = new Set<string>();

  constructor(
    private readonly baseHref: string,
    private readonly charset: string,
    private readonly linksMax: number,
  ) {}

  add({ href, element, rel }: FoundLink): void {
    if (this.spellings.has(href)) return;
    this.spellings.add(href);
    if (this.links.length >= this.linksMax) {
      this.refused++;
      return;
    }
    const canonical = canonicalise(withLegacyQuery(href, this.charset), this.baseHref);
    if (!canonical.ok) this.refused++;
    else if (!this.urls.has(canonical.url)) {
      this.urls.add(canonical.url);
      this.links.push(candidateOf(canonical, 'link', element, rel));
    }
  }
}
