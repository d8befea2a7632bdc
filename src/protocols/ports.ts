/**
 * What the performer needs from the outside: one interface an adapter, so that production, tests and simulated time
 * differ only here. Every method that returns a promise may take real time; none may reject for what the web sends.
 */
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { FetchRequest, FetchResult, Resolution } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { DeadLetter, QueueSummary, Standing, UrlRecord } from '../domain/record.js';
import type { Redrive } from '../domain/redrive.js';
import type { UrlKey } from '../domain/url.js';
import type {
  BlockedRead,
  HostLoaded,
  HostsListed,
  Log,
  QueueRead,
  RedrivablePage,
  RedrivableQuery,
} from './effects.js';
import type { CommitReceipt, Part, Totals } from './commit.js';
import type { CrawlEvent } from './events.js';

export interface Clock {
  /** Milliseconds from an arbitrary start; never runs backwards. */
  monotonicMs(): number;
  wallMs(): number;
}

/** Numbers in [0, 1). */
export type Chance = () => number;

/** What helps to act on a store error. */
export interface StoreErrorContext extends ErrorOptions {
  /** The file or folder. */
  readonly where?: string;
  readonly advice?: string;
}

/** A store error that an operator can act on. */
export class StoreError extends Error {
  /** Null where none can be named. */
  readonly where: string | null;
  readonly advice: string | null;

  constructor(
    /** Stable: `store_locked`, `store_newer_schema`, `store_corrupt`, `store_full`, `store_read_only`, `store_blocked`, `store_io`. */
    readonly code: string,
    message: string,
    { where, advice, ...options }: StoreErrorContext = {},
  ) {
    super(message, options);
    this.where = where ?? null;
    this.advice = advice ?? null;
    this.name = 'StoreError';
  }
}

export interface StorePort {
  /**
   * Rejects with StoreError. At most one at a time; after a rejection only `reopen` or `close` may follow. A batch
   * that is the newest in the store already is answered and not written again.
   */
  commit(batch: number, parts: readonly Part[], sync: boolean): Promise<CommitReceipt>;
  /** Resolves to what is in the store then. What it queued again has sequences below its `nextSequence`. */
  reopen(): Promise<StoreOpening>;
  loadHost(host: HostName, limit: number): Promise<Omit<HostLoaded, 'type'>>;
  readQueue(host: HostName, from: readonly number[], limit: number): Promise<Omit<QueueRead, 'type'>>;
  /** Rows that robots.txt disallowed, in the order of their sequences from `from` on. */
  readBlocked(host: HostName, from: number, limit: number): Promise<Omit<BlockedRead, 'type'>>;
  listHosts(after: HostName | null, limit: number): Promise<Omit<HostsListed, 'type'>>;
  /** Every key of the registry, for filling the seen set at the start. */
  eachKey(visit: (key: UrlKey) => void): Promise<void>;
  /** Of one URL, for `why`; null when never seen. */
  readRecord(key: UrlKey, host: HostName): Promise<UrlRecord | null>;
  /**
   * Counts a death of the process against URLs that were in hand at that moment, if they are still queued. On the disk
   * when it resolves; resolves to their records as they are now.
   */
  countDeaths(urls: readonly { readonly key: UrlKey; readonly host: HostName }[]): Promise<readonly UrlRecord[]>;
  readSummary(host: HostName): Promise<QueueSummary | null>;
  /** Where a URL stands in the queue that its state names; null when it is in none. Looks at `rowsMax` rows at most. */
  readStanding(record: UrlRecord, rowsMax: number): Promise<Standing | null>;
  /** What is kept of a URL that was given up; null when it was not. */
  readDead(key: UrlKey, host: HostName): Promise<DeadLetter | null>;
  /** Every URL that was given up, in pages, in the order of the store. `after`: as a page said. Rejects with StoreError. */
  listDead(after: string | null, limit: number): Promise<DeadPage>;
  /**
   * Dead letters that a redrive means, after the one that it came to, with what is known of their URLs and of the robots
   * rules of their hosts. May hold fewer than `limit`, and still not be the last. Rejects with StoreError.
   */
  readRedrivable(query: RedrivableQuery): Promise<RedrivablePage>;
  /** Every redrive that there was, the newest first, in pages. `before`: a number, or null for all. Rejects with StoreError. */
  listRedrives(before: number | null, limit: number): Promise<readonly Redrive[]>;
  /** What the run that begins was told, as text: of the last one only. On the disk when it resolves. */
  noteRun(told: string): Promise<void>;
  /** Null where no run has said. */
  lastRun(): Promise<string | null>;
  /** Counts of every host that was ever queued for, in pages, in the order of the store. Rejects with StoreError. */
  listSummaries(after: HostName | null, limit: number): Promise<SummaryPage>;
  /** What the operators of the crawl wish, as of the newest commit. */
  readSettings(): Promise<CrawlSettings>;
  /** What the store held when it was opened. */
  opened(): StoreOpening;
  /** Waits for the commit that is being written. */
  close(): Promise<void>;
}

export interface DeadPage {
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins, after what; null when there is none. Opaque, hexadecimal. */
  readonly next: string | null;
}

export interface SummaryPage {
  readonly summaries: readonly QueueSummary[];
  readonly complete: boolean;
}

export interface StoreOpening {
  readonly totals: Totals;
  /** The newest batch, 0 in a new store. */
  readonly batch: number;
  /** The first sequence that no row has had. */
  readonly nextSequence: number;
  readonly settings: CrawlSettings;
  /** Redrives that go on. */
  readonly redrives: readonly Redrive[];
  /** The number of the newest redrive that there was; 0 where there was none. */
  readonly lastRedrive: number;
  /** The last process did not say that it stopped: what was in flight is unknown. */
  readonly unclean: boolean;
  /** Poison rows that were set aside, repairs of files: for the log. */
  readonly notes: readonly string[];
}

export interface FetchPort {
  /** Never rejects. When it resolves the exchange is over: the socket is idle, or destroyed. */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult>;
  release(bytes: number): void;
}

export type TierPorts = { readonly 1: FetchPort } & { readonly [tier in 2 | 3]?: FetchPort };

export interface ResolvePort {
  resolve(host: HostName, signal: AbortSignal): Promise<Resolution>;
}

export interface ParsePort {
  /** Never rejects. */
  parse(thread: number, task: ParseTask): Promise<ParseResult>;
}

export interface LogPort {
  log(level: Log['level'], event: string, fields: Log['fields']): void;
}

export interface Ports {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly store: StorePort;
  /** What fetches, a tier each; a tier that the crawl does not have is absent. */
  readonly tiers: TierPorts;
  readonly names: ResolvePort;
  readonly parsers: ParsePort;
  readonly logs: LogPort;
  readonly announce: (event: CrawlEvent) => void;
}
