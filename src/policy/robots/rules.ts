/**
 * What is kept of one robots.txt: plain data, small enough to stand in a host's snapshot.
 *
 * A file is read once, for one product token. What is kept is the group that applies to that token, in canonical
 * octets, so that neither the group's choice nor the encoding is ever decided twice. Line numbers and the lines as
 * written stay beside each rule, because an operator who asks why wants to see the site's own words.
 */

/** One Allow or Disallow of the chosen group. */
export interface RobotsRule {
  readonly allow: boolean;
  /** In canonical octets; `*` and a final `$` keep their meaning. Its length is its precedence (RFC 9309 §2.2.2). */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
  /** The line as written, without outer white space. */
  readonly text: string;
}

export interface RobotsRules {
  /** In order of the file. */
  readonly rules: readonly RobotsRule[];
  /** The chosen group's own Crawl-delay, as written; whoever waits by it clamps it. Null where it has none. */
  readonly crawlDelaySeconds: number | null;
  /** Absolute http(s) URLs, in order, no two alike. */
  readonly sitemaps: readonly string[];
  /** Length of what was read, in bytes. */
  readonly bytes: number;
  /** What its site may not have meant; absent where there is nothing to remark on. */
  readonly remark?: RobotsRemark;
}

/**
 * `cut`: it is longer than is read, and what comes after the last line end below the bound does not count. `markup`: it
 * begins as an HTML page does, as where a site answers every path with its start page.
 */
export type RobotsRemark = 'cut' | 'markup';

/** RFC 9309 §2.5 demands at least 500 KiB; what comes after its last line end below that is not read. */
export const ROBOTS_BYTES_MAX = 512_000;

/** A line's octets beyond this are dropped: eight times a URL of 2,083 octets, less one, as the reference matcher does. */
export const ROBOTS_LINE_OCTETS_MAX = 16_663;

/** Sitemaps kept of one file: far above any honest list, far below what half a megabyte of lines can hold. */
export const ROBOTS_SITEMAPS_MAX = 10_000;

/** No rule at all: what a missing file means (RFC 9309 §2.3.1.3). */
export const ALLOW_ALL: RobotsRules = { rules: [], crawlDelaySeconds: null, sitemaps: [], bytes: 0 };
