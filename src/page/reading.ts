/**
 * From a body without its coding to what stands in it: the reading that a crawl takes its facts from, and that can be
 * looked at as a whole.
 *
 * what is it → in which encoding → links, title, text. Everything is listed here; what is followed is decided when facts
 * are taken (`factsOf`).
 */
import type { Header } from '../domain/fetching.js';
import type {
  ChallengeFinding,
  ChallengeTerms,
  FollowedLinks,
  PageFacts,
  PageKind,
  RobotsMetaTerms,
} from '../domain/parsing.js';
import type { Candidate } from '../domain/url.js';
import { canonicalise } from '../policy/canonical.js';
import { challengeOf, isWorthALook } from '../policy/challenge.js';
import { linkKind, relationsOf } from '../policy/links.js';
import { pageKind } from '../policy/page-kind.js';
import { candidate, isRefused } from './candidate.js';
import { charsetOf, decodeText } from './charset.js';
import { bothDirectives, type Directives, headerDirectives } from './directives.js';
import { simhash } from './fingerprint.js';
import { formLink } from './forms.js';
import { asUtf8, headerValues } from './headers.js';
import { type Alternate, type HtmlContent, readHtml } from './html.js';
import { withLegacyQuery } from './legacy-query.js';
import { parseLinkHeader } from './link-header.js';
import { pageMake } from './make.js';
import { baseOf, type FoundLink, resolveLinks } from './links.js';
import { type MediaType, mediaTypeOf } from './media-type.js';
import { joinSpace } from './words.js';

/** What is asked, beside the bytes. */
export interface Asked {
  /** Where they came from. */
  readonly url: string;
  readonly headers: readonly Header[];
  /** Look for forms as well. */
  readonly forms: boolean;
  readonly productToken: string;
  /** Null where nobody knows it, as of a file. */
  readonly status: number | null;
  readonly challenge: ChallengeTerms;
}

export interface PageReading {
  readonly mime: string;
  /** Null where there is no text. */
  readonly charset: string | null;
  readonly title: string | null;
  /** Visible, white space joined. */
  readonly text: string;
  /** Every link: those of the Link header, then those of the page in document order, then its forms. */
  readonly found: readonly FoundLink[];
  /** What they are resolved against. */
  readonly base: URL;
  readonly canonical: string | null;
  /** The same page for others, URLs canonical; what is no URL is left out. */
  readonly alternates: readonly Alternate[];
  readonly directives: Directives;
  /** Where a meta refresh sends its readers; null where that is the page itself or nowhere. */
  readonly refresh: Candidate | null;
  readonly kind: PageKind;
  /** What stands in the page's place; null: it is one. */
  readonly challenge: ChallengeFinding | null;
  /** The page as text and the count of its scripts; null for what is no markup. */
  readonly markup: { readonly source: string; readonly scripts: number } | null;
}

export function readPage(asked: Asked, bytes: Uint8Array): PageReading {
  const productToken = asked.productToken.toLowerCase();
  const type = mediaTypeOf(asked.headers, bytes);
  const around = readHeaders(asked, productToken);
  if (type.reading === 'nothing') return readNothing(asked, type, around);
  const charset = charsetOf(bytes, type.charsetLabel, type.reading === 'markup');
  const text = decodeText(bytes, charset);
  if (type.reading === 'text') return { ...readNothing(asked, type, around), ...plainText(text), charset };
  const content = readHtml(text, { forms: asked.forms, productToken });
  const page = readMarkupPage(asked, type, charset, content, around, text);
  return { ...page, challenge: challengeIn(asked, page, bytes.length) };
}

// -- around the body --------------------------------------------------------------------------------------------

interface Around {
  readonly directives: Directives;
  readonly links: readonly FoundLink[];
  readonly canonicalHref: string | null;
  readonly alternates: readonly Alternate[];
}

function readHeaders({ url, headers }: Asked, productToken: string): Around {
  const directives = headerDirectives(headers, productToken);
  const values = headerValues(headers, 'link');
  if (values.length === 0) return { directives, links: [], canonicalHref: null, alternates: [] };
  const links: FoundLink[] = [];
  const alternates: Alternate[] = [];
  let canonicalHref: string | null = null;
  for (const { target, rel, hreflang, anchor } of values.flatMap((value) => parseLinkHeader(asUtf8(value)))) {
    if (anchor !== null && !isSamePage(anchor, url)) continue;
    // RFC 8288 §3.1: against the resource that was asked for, whatever the page says of a base.
    const href = absolute(target, url);
    links.push({ href, element: 'header', rel });
    const relations = relationsOf(rel);
    if (relations.includes('canonical')) canonicalHref ??= href;
    if (hreflang !== null && relations.includes('alternate')) alternates.push({ hreflang, href });
  }
  return { directives, links, canonicalHref, alternates };
}

function absolute(target: string, url: string): string {
  return URL.canParse(target, url) ? new URL(target, url).href : target;
}

function isSamePage(anchor: string, url: string): boolean {
  return absolute(anchor, url).replace(/#.*$/, '') === new URL(url).href.replace(/#.*$/, '');
}

// -- the body ---------------------------------------------------------------------------------------------------

function readNothing({ url, status, headers, challenge }: Asked, { mime }: MediaType, around: Around): PageReading {
  return {
    mime,
    charset: null,
    title: null,
    text: '',
    found: around.links,
    base: new URL(url),
    canonical: canonicalOf(around.canonicalHref, url),
    alternates: around.alternates.flatMap((alternate) => resolved(alternate, url)),
    directives: around.directives,
    refresh: null,
    kind: 'other',
    challenge: challengeOf({ status, headers, title: null, text: '', markupBytes: 0, make: null }, challenge),
    markup: null,
  };
}

function challengeIn({ status, headers, challenge }: Asked, page: PageReading, markupBytes: number) {
  const { title, text, found, markup } = page;
  const source = markup?.source ?? '';
  const make = isWorthALook({ title, text, links: found.length, source }, challenge) ? pageMake(source) : null;
  return challengeOf({ status, headers, title, text, markupBytes, make }, challenge);
}

function plainText(source: string): Pick<PageReading, 'text' | 'kind'> {
  const text = joinSpace(source);
  const measures = { textLength: text.length, linkTextLength: 0, links: 0, isPassing: false };
  return { text, kind: pageKind({ reading: 'text', ...measures }) };
}

function readMarkupPage(
  { url }: Asked,
  { mime }: MediaType,
  charset: string,
  content: HtmlContent,
  around: Around,
  source: string,
): PageReading {
  const base = baseOf(url, content.baseHref, charset);
  const directives = bothDirectives(around.directives, content.directives);
  const forms = content.forms.map((form) => formLink(form, url, charset));
  const refresh = refreshOf(content.refreshHref, url, base, charset);
  const { title, text } = content;
  const ofPage =
    content.canonicalHref === null ? null : canonicalOf(withLegacyQuery(content.canonicalHref, charset), base);
  return {
    mime,
    charset,
    title,
    text,
    found: around.links.length + forms.length === 0 ? content.links : [...around.links, ...content.links, ...forms],
    base,
    canonical: ofPage ?? canonicalOf(around.canonicalHref, url),
    alternates: [...content.alternates, ...around.alternates].flatMap((alternate) => resolved(alternate, base)),
    directives,
    refresh,
    kind: kindOf(content, directives.noindex || refresh !== null),
    challenge: null,
    markup: { source, scripts: content.scripts },
  };
}

function kindOf({ text, linkTextLength, links }: HtmlContent, isPassing: boolean): PageKind {
  let documents = 0;
  for (const { element, rel } of links) if (linkKind(element, rel) === 'document' && element !== 'link') documents++;
  return pageKind({ reading: 'markup', textLength: text.length, linkTextLength, links: documents, isPassing });
}

function canonicalOf(href: string | null, base: URL | string): string | null {
  const canonical = href === null ? null : canonicalise(href, base);
  return canonical?.ok ? canonical.url : null;
}

function resolved({ hreflang, href }: Alternate, base: URL | string): Alternate[] {
  const url = canonicalOf(href, base);
  return url === null ? [] : [{ hreflang, href: url }];
}

function refreshOf(href: string | null, url: string, base: URL, charset: string): Candidate | null {
  if (href === null) return null;
  const target = candidate(withLegacyQuery(href, charset), base, 'redirect', 'meta');
  return isRefused(target) || target.url === url ? null : target;
}

// -- facts ------------------------------------------------------------------------------------------------------

export interface FactsTerms {
  readonly linksMax: number;
  readonly links: FollowedLinks;
  readonly robotsMeta: RobotsMetaTerms;
}

/** What a crawl keeps of a reading, with the links that it follows. */
export function factsOf(reading: PageReading, { linksMax, links: followed, robotsMeta }: FactsTerms): PageFacts {
  const { mime, charset, title, text, base, canonical, kind, challenge, directives } = reading;
  const found = directives.nofollow && robotsMeta.obeyed ? [] : reading.found;
  const { links, refused } = resolveLinks(found, base, charset ?? 'utf-8', linksMax, followed);
  return {
    mime,
    charset,
    title,
    textLength: text.length,
    simhash: charset === null && text === '' ? null : simhash(text),
    canonical,
    kind,
    challenge,
    links,
    linksRefused: refused,
    noindex: directives.noindex,
    nofollow: directives.nofollow,
  };
}
