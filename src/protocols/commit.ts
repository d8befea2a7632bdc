/**
 * What a commit is made of. A part is the wish of one actor, whole: either all of it is in the store or none.
 *
 * The frontier adds what was admitted to it, the recorder groups parts into batches, the store turns a batch into
 * rows. Links are admitted in the same part as the visit that found them, so that neither can be without the other.
 */
import type { CrawlSettings, SettingsChange } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import type { Attempt } from '../domain/outcome.js';
import type { Delivery } from '../domain/delivery.js';
import type { ArchiveRecords, PageKind } from '../domain/parsing.js';
import type { Archived, DeadLetter, PriorityClass, QueuePosition, QueueSummary, UrlRecord } from '../domain/record.js';
import type { Redrive, RedriveLine } from '../domain/redrive.js';
import type { RefusedSeed, UrlKey } from '../domain/url.js';
import type { HostSnapshot, RobotsEntry } from './host-snapshot.js';

/** A URL that enters the registry and its host's ready queue, or the blocked one where its record says that robots.txt disallows it. */
export interface Admission {
  readonly record: UrlRecord;
  readonly sequence: number;
  /** Ask the registry first and do nothing if the key is there: for what must not trust the Bloom filter. */
  readonly ifAbsent: boolean;
}

/** One row's way through its queue, with the record that goes with it. */
export interface Move {
  readonly from: QueuePosition;
  /** Null: it leaves the queue. */
  readonly to: QueuePosition | null;
  readonly record: UrlRecord;
}

/** One line of pages.jsonl, but for where its archive record came to lie. */
export interface PageLine {
  readonly url: string;
  readonly canonical: string;
  readonly fetchedAt: string;
  readonly status: number;
  /** Null where a 304 does not say. */
  readonly mime: string | null;
  readonly charset: string | null;
  readonly title: string | null;
  readonly digest: string;
  readonly simhash: string | null;
  /** The URL that the page names as its own; null where it names none, and after a 304. */
  readonly declaredCanonical: string | null;
  /** Null after a 304. */
  readonly kind: PageKind | null;
  /** Those that were followed. */
  readonly links: number;
  /** It asks not to be indexed; null after a 304. */
  readonly noindex: boolean | null;
  readonly outcome: 'fetched' | 'unchanged';
  /** What a content handler made of it, as JSON text; absent without one. */
  readonly data?: string;
}

/** Where a page's record lies in the archive. */
export interface ArchivePlace {
  /** Whether the body is there, or what the archive held before is referred to. */
  readonly type: 'response' | 'revisit';
  /** Path of the archive file from the data directory. */
  readonly file: string;
  /** Of the member, which can be read by itself. */
  readonly offset: number;
  readonly length: number;
}

/** What one answer leaves in the archive. The store decides whether it is kept whole or as a revisit. */
export interface ArchiveEntry {
  readonly url: string;
  readonly atMs: number;
  readonly status: number;
  readonly remoteAddress: string;
  readonly records: ArchiveRecords;
  /** What a 304 says has not changed; null for any other answer, or where the archive does not hold it. */
  readonly unmodified: Archived | null;
}

/** One attempt on a URL as it is told to the outside once it is in the store. */
export interface VisitSummary {
  readonly record: Pick<UrlRecord, 'url' | 'host'>;
  readonly attempt: Attempt;
  readonly bytes: number;
}

/** What one host wishes to be recorded: a visit, rows that were settled without a request, or just its snapshot. */
export interface HostPart {
  readonly kind: 'host';
  readonly host: HostName;
  /** Names the wish to the host that made it; its own counter. */
  readonly ticket: number;
  /** The visit that ends with this part, as the workbench counts it. */
  readonly permit: number | null;
  readonly moves: readonly Move[];
  readonly snapshot: HostSnapshot;
  /** Origins whose rules changed with it. */
  readonly robots: readonly RobotsEntry[];
  /** Lower bounds of the ready sequences that are left, a class each: no row below. */
  readonly heads: readonly number[];
  readonly wakeAtMs: number | null;
  readonly visits: readonly VisitSummary[];
  readonly page: PageLine | null;
  /** Of that page, for whoever embeds the crawl: not stored. Absent where nobody asks. */
  readonly delivery?: Delivery;
  readonly archive: ArchiveEntry | null;
  readonly dead: readonly DeadLetter[];
  /** Added by the frontier. */
  readonly admitted: readonly Admission[];
  /** Added by the frontier where a seed's redirect widened the scope. */
  readonly settings: SettingsChange | null;
}

/** All that one command seeds. */
export interface SeedPart {
  readonly kind: 'seed';
  readonly command: number;
  /** Those that are known and stand in no queue are queued once more, with all that is known of them. */
  readonly again: boolean;
  readonly seeds: readonly { readonly url: string; readonly key: UrlKey }[];
  readonly refused: readonly RefusedSeed[];
  readonly admitted: readonly Admission[];
  /** Hosts that they widened the scope to. */
  readonly settings: SettingsChange | null;
}

/** What one command changes of the crawl's settings. */
export interface SettingsPart {
  readonly kind: 'settings';
  readonly command: number;
  readonly settings: SettingsChange;
  /** What the settings come to with it: the answer to the command. */
  readonly result: CrawlSettings;
  readonly admitted: readonly never[];
}

/** A portion of a redrive: its letters' URLs enter, the letters go, and the redrive has come so far, all in one. */
export interface RedrivePart {
  readonly kind: 'redrive';
  /** The command that is answered by it; null where nobody waits. */
  readonly command: number | null;
  /** As it is afterwards, but for what enters: the store counts that, as it alone knows. */
  readonly redrive: Redrive;
  readonly lines: readonly RedriveLine[];
  /** Records of URLs that are dead: they enter only if they still are. */
  readonly admitted: readonly Admission[];
  readonly settings: null;
}

export type Part = HostPart | SeedPart | SettingsPart | RedrivePart;

/** What a batch did. */
export interface CommitReceipt {
  /** Keys of `ifAbsent` admissions that were there already. */
  readonly known: readonly UrlKey[];
  /** The queues of the hosts that the batch touched, as they are now. */
  readonly queues: readonly (QueueSummary & {
    /** The best class that got its first row, or a better one than the host had; null when no news. */
    readonly news: PriorityClass | null;
  })[];
  readonly totals: Totals;
  /** Redrives that the batch has brought forward, as they are stored now. */
  readonly redrives?: readonly Redrive[];
  /** Of parts with a delivery: where their records came to lie. A batch that was there already does not say. */
  readonly places?: ReadonlyMap<Part, ArchivePlace>;
}

/** Over the whole store. */
export interface Totals {
  readonly urls: number;
  readonly ready: number;
  readonly waiting: number;
  readonly parked: number;
  readonly dead: number;
  readonly pages: number;
}
