/**
 * What stands for a URL inside the engine: its canonical spelling and its key.
 *
 * The canonical spelling is made once, where a URL enters (a seed, a link, a redirect target), and is what is stored
 * and sent. The key is the first 128 bits of its SHA-256 in hex: what the registry, the seen set and queues use.
 */
import type { HostName, Origin } from './host.js';
import type { Code } from './outcome.js';

/** 32 hex digits. */
export type UrlKey = string & { readonly __urlKey?: never };

/** How a URL was found. */
export type Source = 'seed' | 'link' | 'redirect';

/** A URL on its way to admission. Everything that costs a parse or a hash is already done. */
export interface Candidate {
  readonly url: string;
  readonly key: UrlKey;
  readonly host: HostName;
  readonly origin: Origin;
  readonly source: Source;
  /** The element that carried it (`a`, `img`, …), `header` for a Link header, `location` for a redirect, null for a seed. */
  readonly element: string | null;
  /** The relation that stands with it (`next`, `stylesheet`), as written; null where there is none. */
  readonly rel: string | null;
}

/** A seed that is not let in. */
export interface RefusedSeed {
  readonly url: string;
  readonly code: Code;
  /** What exactly, where more is known than the code says. */
  readonly detail?: string;
}

/** Why something that was meant as a URL is no candidate. */
export type UrlRefusal = 'url_invalid' | 'url_scheme' | 'url_too_long' | 'url_host_invalid';
