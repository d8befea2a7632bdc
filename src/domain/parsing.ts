/** A body to be read, and what was in it: what travels between host and parser. Structured-cloneable, all of it. */
import type { Code } from './outcome.js';
import type { Candidate } from './url.js';
import type { Header } from './fetching.js';

/** Which of the links of a page are followed. */
export interface FollowedLinks {
  /** What a page shows: pictures, style sheets, icons. */
  readonly embeds: boolean;
  /** What a form that asks by GET leads to when it is sent as it stands. */
  readonly forms: boolean;
  /** Links whose author asks not to be taken as recommending them (`rel=nofollow`). */
  readonly nofollow: 'skip' | 'follow';
}

/** What becomes of a page's own wishes (meta robots, X-Robots-Tag). */
export interface RobotsMetaTerms {
  /** A `nofollow` of the whole page is obeyed. */
  readonly obeyed: boolean;
  /** Wishes may name one crawler; those are ours that name this one, in any case. */
  readonly productToken: string;
}

/** By what doors in front of pages, and scripts' empty shells, are told from pages; what is added to what is known. */
export interface ChallengeTerms {
  readonly byHeaders: boolean;
  readonly byMarkers: boolean;
  readonly byDensity: boolean;
  /** Parts of addresses, scripts and names in markup, in any case. */
  readonly markers: readonly string[];
  /** `name` or `name: value`, in any case. */
  readonly headers: readonly string[];
  /** A larger page is looked at for what little it says. */
  readonly densityMarkupBytes: number;
  /** What says less than that, in UTF-16 units of visible text, says little. */
  readonly densityTextCharacters: number;
}

/** A door that wants to know who asks, or what shows nothing before its scripts have run. */
export type ChallengeKind = 'challenge' | 'script_shell';

export interface ChallengeFinding {
  readonly kind: ChallengeKind;
  /** One sentence for each thing that speaks for it; at least one. */
  readonly reasons: readonly string[];
}

/** A page worth its links only, an index, real content, or nothing of these. */
export type PageKind = 'lead' | 'listing' | 'document' | 'other';

export interface ParseTask {
  readonly url: string;
  /** Where a browser had come to with it; absent where none was sent. */
  readonly finalUrl?: string;
  /** `page`: links, text, digests. `robots`: only the decoded bytes. */
  readonly want: 'page' | 'robots';
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  readonly headers: readonly Header[];
  readonly requestHeaders: readonly Header[];
  /** The heads of answer and request as they went over the wire; null where they have to be built anew. */
  readonly rawHead: string | null;
  readonly sentHead: string | null;
  readonly remoteAddress: string;
  /** Transferred: the sender must not touch it again. */
  readonly body: Uint8Array;
  /** The body was cut at its bound before it ended. */
  readonly cut: boolean;
  readonly fetchedAtMs: number;
  /** After every content coding. */
  readonly decodedBytesMax: number;
  readonly linksMax: number;
  readonly links: FollowedLinks;
  readonly robotsMeta: RobotsMetaTerms;
  readonly challenge: ChallengeTerms;
  /** Make the archive records. */
  readonly archive: boolean;
  /** Among them one that says how the page was found and what it links to; null: none. */
  readonly metadata: FoundBy | null;
  /** Parts of the content that go on to whoever embeds the crawl; absent where nobody asks. */
  readonly keep?: KeptParts;
  /** A plug-in took the thread with it when it was read before: it is read without them. */
  readonly withoutPlugIns?: true;
}

export interface KeptParts {
  readonly text: boolean;
  /** Without its content coding. */
  readonly body: boolean;
}

/** How a page came to be asked for. */
export interface FoundBy {
  readonly via: string | null;
  /** One letter a hop. */
  readonly hopPath: string;
  readonly durationMs: number;
}

/** Links and what is known of a page. */
export interface PageFacts {
  readonly mime: string;
  readonly charset: string | null;
  readonly title: string | null;
  /** Of the visible text, in UTF-16 units after white space was joined. */
  readonly textLength: number;
  /** 64 bits in 16 hex digits; null where there is no text to take it of. */
  readonly simhash: string | null;
  /** The URL that the page itself, or its Link header, names as its own; canonical. Null where it names none. */
  readonly canonical: string | null;
  readonly kind: PageKind;
  /** It is no page but what stands in its place; null: it is one. */
  readonly challenge: ChallengeFinding | null;
  /** Those that are followed: documents in order of appearance, then embeds, then forms; no two with one key. */
  readonly links: readonly Candidate[];
  /** Links that were left out, by bound or as no URL. */
  readonly linksRefused: number;
  /** meta robots and X-Robots-Tag, whether obeyed or not. */
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

/** One visit's archive records, already compressed, one gzip member each: request, response and perhaps metadata. */
export interface ArchiveRecords {
  readonly bytes: Uint8Array;
  /** Where the response member begins in `bytes`, and how long it is. */
  readonly responseOffset: number;
  readonly responseLength: number;
  /** Of the response, or of the revisit that may come to stand in its place. */
  readonly recordId: string;
  /** `sha1:` and base 32: of the body as it came. */
  readonly payloadDigest: string;
  /** What the response record holds before the body, an octet a character: all that a revisit keeps of it. */
  readonly head: string;
}

export interface ParsedPage {
  readonly kind: 'parsed';
  /** `sha1:` and base 32: of the body as it came (its content coding still on), as archives count it. */
  readonly payloadDigest: string;
  /** `sha1:` and base 32: of the body after its content coding. What 'the same content' means. */
  readonly contentDigest: string;
  /** Decoded length in bytes. */
  readonly decodedBytes: number;
  readonly page: PageFacts | null;
  /** For a 3xx with Location, or a meta refresh that asks for another URL. */
  readonly redirect: Candidate | null;
  /** For `want: 'robots'`. */
  readonly decoded: Uint8Array | null;
  readonly archive: ArchiveRecords | null;
  readonly parseMicros: number;
  /** As asked for by `keep`; null what was not. */
  readonly kept?: { readonly text: string | null; readonly body: Uint8Array | null };
  /** What a content handler made of it, as JSON text. */
  readonly data?: string;
  /** Which plug-in failed on it, and how. The rest of the answer is as it would be without. */
  readonly plugInFault?: string;
}

export interface UnparsedPage {
  readonly kind: 'unparsed';
  readonly code: Extract<Code, 'undecodable' | 'bomb' | 'worker_crashed' | 'plugin_failed' | 'interrupted'>;
  readonly detail: string;
  readonly archive: ArchiveRecords | null;
}

export type ParseResult = ParsedPage | UnparsedPage;
