/** A page as a program gets it: what stands of it in pages.jsonl, and what was asked for beside. */

/** What comes with each page beside its facts. What is not asked for costs nothing. */
export interface Want {
  /** Visible text, white space joined. */
  readonly text?: boolean;
  /** Bytes without their content coding. */
  readonly body?: boolean;
  /** The links that the crawl follows. */
  readonly links?: boolean;
}

export interface PageLink {
  /** Canonical. */
  readonly url: string;
  /** The element that carried it: `a`, `img`, `header` (a Link header), `plugin` … */
  readonly element: string | null;
  /** As written. */
  readonly rel: string | null;
}

/** Where the record of a page lies in the archive. */
export interface WarcPlace {
  /** `revisit` where the same body was archived before. */
  readonly type: 'response' | 'revisit';
  /** From the data directory. */
  readonly file: string;
  /** Bytes. The record is a gzip member that can be read by itself. */
  readonly offset: number;
  readonly length: number;
}

/** A page whose visit is committed. After a 304 only what the 304 says is there; the rest is null or empty. */
export interface Page {
  readonly url: string;
  /** The URL that it is known by. */
  readonly canonical: string;
  /** The URL that it names as its own; null where it names none. */
  readonly declaredCanonical: string | null;
  /** When the visit began: ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** Of HTTP. */
  readonly status: number;
  /** `type/subtype`. */
  readonly mime: string | null;
  readonly charset: string | null;
  readonly title: string | null;
  readonly kind: 'document' | 'listing' | 'lead' | 'other' | null;
  readonly noindex: boolean | null;
  /** Response headers as they came, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `sha1:` and base 32, of the content. */
  readonly digest: string;
  /** 64 bits in 16 hex digits; null where there is no text. */
  readonly simhash: string | null;
  readonly outcome: 'fetched' | 'unchanged';
  /** Null where nothing was archived, or after a disk error where it lies is not known. */
  readonly warc: WarcPlace | null;
  /** Links that are followed. */
  readonly linkCount: number;
  /** Null where they were not wanted. */
  readonly links: readonly PageLink[] | null;
  readonly text: string | null;
  readonly body: Uint8Array | null;
  /** What a content handler made of it; null without one. */
  readonly data: unknown;
}
