/**
 * The URL record: everything that is known of one canonical URL, and the rows that stand for it in queues.
 *
 * Records are values: a visit builds the next one, the commit writes it whole. Times are wall-clock milliseconds.
 */
import type { Chain } from './chain.js';
import type { HostName } from './host.js';
import type { Attempt, Code } from './outcome.js';
import type { Tier } from './tier.js';
import type { Source, UrlKey } from './url.js';

export type UrlState =
  | 'queued'
  | 'waiting'
  | 'parked'
  | 'active'
  | 'redirected'
  | 'soft_missing'
  | 'gone_candidate'
  | 'refused'
  | 'blocked_by_robots'
  | 'dead';

/** How many lines of its history a record keeps: the newest. */
export const ATTEMPTS_KEPT = 8;

/** What robots.txt said of a URL when it was decided last: which line of which copy, allowed or not. */
export interface RobotsEvidence {
  /**
   * The line that decided: 1-based, and as written, but for the end of a long one. Null where none speaks of the URL;
   * beside a URL that is blocked: where finding out would have cost too much.
   */
  readonly rule: { readonly line: number; readonly text: string } | null;
  /** When the copy was read, or confirmed by a 304. */
  readonly fetchedAtMs: number;
  /** That the copy came with: 2xx a file, 4xx that there is none. Null where it was not kept. */
  readonly status: number | null;
  /** `last_good`: the file could not be read any more, and the copy of before held on. */
  readonly copy: 'current' | 'last_good';
}

/** A full response record in the archive, as later records refer to it. */
export interface Archived {
  /** Of the response: another one than the record's where the same payload had come from there before. */
  readonly url: string;
  readonly recordId: string;
  readonly atMs: number;
  /** `sha1:` and base 32, of the payload with its content coding. */
  readonly payloadDigest: string;
}
/** Of a rule's line that evidence keeps. Lines may be 16 KB long, and evidence stands beside every URL. */
export const RULE_CHARACTERS_KEPT = 200;

export interface UrlRecord {
  readonly url: string;
  readonly key: UrlKey;
  readonly host: HostName;
  readonly state: UrlState;
  readonly source: Source;
  /** What carried the link it was found by (`a`, `iframe`, …, `location` for a redirect); null for a seed. */
  readonly element: string | null;
  /** The page it came from; null for a seed. */
  readonly via: string | null;
  /** One letter a hop from the seed: L a link, R a redirect. Empty for a seed. */
  readonly hopPath: string;
  /** Links (not redirects) between it and a seed. */
  readonly depth: number;
  /** 0 (first) to 7. */
  readonly priority: PriorityClass;
  readonly discoveredAtMs: number;
  /** Deliveries used since it was last admitted. */
  readonly deliveries: number;
  /** Worker crashes since the last completed visit. */
  readonly workerCrashes: number;
  /** Deaths of the process while it was being parsed, since the last completed visit. */
  readonly processDeaths: number;
  readonly attempts: readonly Attempt[];
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** `sha1:` and base 32, of the content of the last stored body; null before the first. */
  readonly digest: string | null;
  /** Where the archive holds that body; null where it does not. Set by the store, which alone knows. */
  readonly archived: Archived | null;
  readonly robots: RobotsEvidence | null;
  /** Of redirects, on whose behalf it is to be asked for; null where it is asked for by itself, and once it was. */
  readonly chain: Chain | null;
  /** The way in which it is to be fetched next: a step up, or a retry of the same kind. Null: as its host needs. */
  readonly ladder: Tier | null;
}

/** Front queue class of a host, and ready class of a URL: 0 is drawn most often. */
export type PriorityClass = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;
export const PRIORITY_CLASSES = 8;

/** Where an entry stands in its host's back queue. The sequence is given by the frontier, once, and never changes. */
export type QueuePosition =
  | { readonly queue: 'ready'; readonly priority: PriorityClass; readonly sequence: number }
  | { readonly queue: 'waiting'; readonly dueAtMs: number; readonly sequence: number }
  | { readonly queue: 'parked'; readonly sequence: number }
  /** Disallowed by robots.txt: no work, but there to be looked at again when the rules change. */
  | { readonly queue: 'blocked'; readonly sequence: number };

/** A row of a back queue as it is read: its place, and the record it stands for. */
export interface QueueEntry {
  readonly at: QueuePosition;
  readonly record: UrlRecord;
}

/** Where a queued URL stands among the rows of its host. */
export interface Standing {
  /** Null: behind more rows than were looked at. */
  readonly at: QueuePosition | null;
  /** Rows of the same queue that come first; as many as were looked at where it was not found among them. */
  readonly before: number;
}

/** What the recorder keeps of one host's back queue. Never part of the host's own snapshot. */
export interface QueueSummary {
  readonly host: HostName;
  /** Rows in ready, a count a class. */
  readonly ready: readonly number[];
  /** Lower bound of the sequences in ready, a class each: where a scan may begin. */
  readonly heads: readonly number[];
  readonly waiting: number;
  readonly parked: number;
  readonly blocked: number;
  /** When the host should be looked at again though nothing new came: a retry, its robots, its breaker. */
  readonly wakeAtMs: number | null;
}

export interface DeadLetter {
  readonly url: string;
  readonly key: UrlKey;
  readonly host: HostName;
  readonly cause: string;
  readonly code: Code;
  readonly deliveries: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly attempts: readonly Attempt[];
}
