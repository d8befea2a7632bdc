/**
 * A chain: the redirects that have led to a URL which is to be asked for, and the cookies that they gave for it (P6).
 *
 * It stands in the record of a URL that is still to be asked for on its behalf, goes on with each redirect to the next
 * one, and is gone when it leads no further. A URL that is asked for by itself has none.
 */
import type { UrlKey } from './url.js';

export interface Chain {
  /** What was asked for, from the page that began it to the URL that it stands beside. At least two. */
  readonly steps: readonly ChainStep[];
  /**
   * Given by the origin of the URL that it stands beside, in the order in which they came. Null: they have passed their
   * bound, and no more are kept for the rest of the chain.
   */
  readonly cookies: readonly ChainCookie[] | null;
}

export interface ChainStep {
  readonly key: UrlKey;
  /** Tells apart the cookies that it is asked for with; nothing can be read out of it. */
  readonly cookies: number;
}

/** A cookie as RFC 6265 §5.3 stores it, but for the times that only matter to a browser. */
export interface ChainCookie {
  readonly name: string;
  readonly value: string;
  /** Lower case. */
  readonly domain: string;
  /** For that very host; otherwise for hosts below it too. */
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** Wall clock; null: as long as the chain. */
  readonly expiresAtMs: number | null;
}
