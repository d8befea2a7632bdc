/**
 * Plug-in point: which URLs a crawl lets in, beside its scope, bounds and patterns.
 *
 * Asked once for each URL that those let in and that is not known yet, in the turn that admits it: so it answers at
 * once, from what it is given alone. The same URL may be asked about again after a crash.
 */

/** A URL that is about to be admitted. */
export interface UrlCandidate {
  /** Canonical. */
  readonly url: string;
  /** A-label, lower case. */
  readonly host: string;
  /** Links between it and a seed; 0 for a seed. */
  readonly depth: number;
  readonly source: 'seed' | 'link' | 'redirect';
  /** The element that carried it (`a`, `img`, `header`, `location` …); null for a seed. */
  readonly element: string | null;
  /** The relation that stands with it, as written; null where there is none. */
  readonly rel: string | null;
  /** The page that it was found on; null for a seed. */
  readonly via: string | null;
}

/**
 * `true` lets it in, `false` leaves it, a text leaves it and says why. What is left is counted as `filtered`; a throw
 * or any other answer leaves it as `plugin_failed`, and the crawl goes on.
 */
export type UrlFilter = (candidate: UrlCandidate) => boolean | string;
