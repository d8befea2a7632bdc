/** What goes beside a page's line to whoever embeds the crawl: from the host, through the commit, to the listener. */
import type { Header } from './fetching.js';
import type { Candidate } from './url.js';

/** What is asked for. */
export interface DeliveryTerms {
  readonly text: boolean;
  readonly body: boolean;
  readonly links: boolean;
}

export interface Delivery {
  readonly headers: readonly Header[];
  /** Null what was not asked for, or is not there after a 304. */
  readonly text: string | null;
  readonly body: Uint8Array | null;
  readonly links: readonly Candidate[] | null;
}
