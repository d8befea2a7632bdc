/**
 * Plug-in point: what stands in content of some MIME types. A new content type is one file, whose default export is a
 * `ContentHandler`.
 *
 * It is loaded by its path in every parser thread, and called there for each body of its types: it answers at once (a
 * promise is a mistake) and keeps nothing. What it leaves out of its answer stays as the engine read it by itself.
 */

/** A response header, as it came. */
export type ContentHeader = readonly [name: string, value: string];

/** A body without its content coding. */
export interface Content {
  /** Canonical. */
  readonly url: string;
  /** `type/subtype` in lower case, as declared or as sniffed. */
  readonly mime: string;
  readonly headers: readonly ContentHeader[];
  readonly bytes: Uint8Array;
  /** As text: by byte order mark, header, declaration in the content, or guess. */
  text(): string;
}

/** A link as the content has it: relative to the page, or absolute. */
export interface ContentLink {
  readonly href: string;
  /** As in HTML: `nofollow` is obeyed as the configuration says. */
  readonly rel?: string;
}

export interface ContentFacts {
  /** At most 10 000 characters. */
  readonly title?: string | null;
  /** Visible text, for fingerprints and for whoever wants it. */
  readonly text?: string;
  /** In place of the links that the engine found. They are candidates like all others. */
  readonly links?: readonly (string | ContentLink)[];
  /** Of your own: JSON, at most 1 MiB of it. Delivered with the page and kept in pages.jsonl. */
  readonly data?: unknown;
}

export interface ContentHandler<Options = unknown> {
  /** `application/json`, `text/*`, `application/*+json` or `*`+`/*`. The first handler that matches gets the body. */
  readonly types: readonly string[];
  /** @returns null to leave the page as it is. */
  read(content: Content, options: Options): ContentFacts | null;
}
