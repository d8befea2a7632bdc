/** What one run came to. Counts are of this run, except where it says otherwise. */
export interface CrawlSummary {
  /** All, those for robots.txt included. */
  readonly requests: number;
  /** Visits by outcome. */
  readonly fetched: number;
  readonly unchanged: number;
  readonly redirected: number;
  readonly missing: number;
  readonly gone: number;
  readonly throttled: number;
  readonly parked: number;
  /** Deliveries that failed; a URL can have several. */
  readonly failed: number;
  /** URLs that were given up in this run. */
  readonly died: number;
  readonly blockedByRobots: number;
  readonly refused: number;
  readonly challenged: number;
  /** URLs in the store, of all runs. */
  readonly deadLettered: number;
  readonly discovered: number;
  readonly queued: number;
  readonly durationSeconds: number;
  readonly reason: 'done' | 'only-waiting' | 'unreachable' | 'max-pages' | 'max-seconds' | 'interrupted' | 'crashed';
  /** Why it crashed; null when it did not. */
  readonly failure: string | null;
  /** Hosts that are due later; wall-clock milliseconds. */
  readonly waiting: readonly { readonly host: string; readonly wakeAtMs: number }[];
  /** Paths of the archive files. */
  readonly archive: readonly string[];
  readonly dataDir: string;
}
