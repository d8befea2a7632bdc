/**
 * What the engine sees in a page, for people to look at: the reading of a parser thread, with every link and whether a
 * crawl would follow it.
 */
import type {
  ChallengeFinding,
  ChallengeKind,
  ChallengeTerms,
  FollowedLinks,
  PageKind,
  RobotsMetaTerms,
} from '../domain/parsing.js';
import { canonicalise } from '../policy/canonical.js';
import { isFollowed, linkKind } from '../policy/links.js';
import { sha1Digest } from '../sinks/digest.js';
import type { Directives } from './directives.js';
import { simhash } from './fingerprint.js';
import type { Alternate } from './html.js';
import { withLegacyQuery } from './legacy-query.js';
import type { FoundLink } from './links.js';
import { type Asked, type PageReading, readPage } from './reading.js';

export interface InspectedLink {
  /** Canonical. */
  readonly url: string;
  readonly element: string;
  readonly rel: string | null;
  readonly followed: boolean;
}

/** Whether something else stands in the page's place; the reasons are empty where it is one. */
export interface InspectedChallenge {
  readonly verdict: boolean;
  readonly kind: ChallengeKind | null;
  readonly reasons: readonly string[];
}

export interface Inspection {
  readonly url: string;
  readonly mime: string;
  readonly charset: string | null;
  readonly title: string | null;
  readonly kind: PageKind;
  /** Of the visible text, in UTF-16 units after white space was joined. */
  readonly textLength: number;
  readonly text: string;
  /** All that are there, in document order; no two alike. */
  readonly links: readonly InspectedLink[];
  /** Links that lead to no URL a crawl could fetch (`mailto:`, `javascript:`). */
  readonly linksRefused: number;
  readonly canonical: string | null;
  readonly alternates: readonly Alternate[];
  readonly robotsMeta: Directives;
  readonly baseUrl: string;
  /** Where a meta refresh sends its readers. */
  readonly refresh: string | null;
  readonly challenge: InspectedChallenge;
  /** `sha1:` and base 32, of the bytes. */
  readonly digest: string;
  readonly simhash: string | null;
}

export interface InspectionTerms {
  readonly links: FollowedLinks;
  readonly robotsMeta: RobotsMetaTerms;
  readonly challenge: ChallengeTerms;
}

/** @param asked.url canonical. @param bytes without a content coding. */
export function inspectPage(
  asked: Pick<Asked, 'url' | 'status' | 'headers'>,
  bytes: Uint8Array,
  terms: InspectionTerms,
): Inspection {
  const { productToken } = terms.robotsMeta;
  const reading = readPage({ ...asked, forms: true, productToken, challenge: terms.challenge }, bytes);
  const { mime, charset, title, kind, text, canonical, alternates, directives, base, refresh } = reading;
  const { links, refused } = listed(reading, terms);
  return {
    url: asked.url,
    mime,
    charset,
    title,
    kind,
    textLength: text.length,
    text,
    links,
    linksRefused: refused,
    canonical,
    alternates,
    robotsMeta: directives,
    baseUrl: base.href,
    refresh: refresh?.url ?? null,
    challenge: inspected(reading.challenge),
    digest: sha1Digest(bytes),
    simhash: charset === null ? null : simhash(text),
  };
}

function listed(
  { found, base, charset, directives, refresh }: PageReading,
  { links: followed, robotsMeta }: InspectionTerms,
): { links: InspectedLink[]; refused: number } {
  const isObeyed = directives.nofollow && robotsMeta.obeyed;
  const links = new Map<string, InspectedLink>();
  let refused = 0;
  const list = ({ href, element, rel }: FoundLink, isGone: boolean) => {
    const canonical = canonicalise(withLegacyQuery(href, charset ?? 'utf-8'), base);
    if (!canonical.ok) {
      refused++;
      return;
    }
    const { url } = canonical;
    const key = JSON.stringify([url, element, rel]);
    if (!links.has(key)) links.set(key, { url, element, rel, followed: isGone });
  };
  if (refresh !== null) list({ href: refresh.url, element: 'meta', rel: null }, true);
  for (const link of found) {
    list(link, !isObeyed && isFollowed(linkKind(link.element, link.rel), link.rel, followed));
  }
  return { links: [...links.values()], refused };
}

function inspected(finding: ChallengeFinding | null): InspectedChallenge {
  return finding === null ? { verdict: false, kind: null, reasons: [] } : { verdict: true, ...finding };
}
