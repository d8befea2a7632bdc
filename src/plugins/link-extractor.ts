/**
 * Plug-in point: links that the engine does not see by itself, as in attributes or scripts of a site. One file, whose
 * default export is a `LinkExtractor`; it runs where content handlers do, after them and under the same rules.
 */
import type { ContentLink } from './content-handler.js';

/** A page as text. */
export interface TextPage {
  /** Canonical. */
  readonly url: string;
  readonly mime: string;
  /** Decoded. */
  readonly text: string;
}

export interface LinkExtractor<Options = unknown> {
  /** As for a content handler; HTML and XHTML where it is left out. */
  readonly types?: readonly string[];
  /** Links beside those that were found already. */
  links(page: TextPage, options: Options): readonly (string | ContentLink)[];
}
