/**
 * Everything that an actor may ask to have done: a closed union of data, performed by one file.
 *
 * `do` names the effect. Effects of I/O are answered: the answer is a message to the actor that asked, marked with
 * the incarnation that asked, and is dropped when that incarnation is gone, unless the effect says `outlives`.
 * The order, and what a stop does to what is pending, is written in docs/runtime-semantics.md.
 */
import type { FetchRequest, FetchResult, Resolution } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { DeadLetter, PriorityClass, QueueEntry, QueueSummary, UrlRecord } from '../domain/record.js';
import type { DeadFilter } from '../domain/redrive.js';
import type { Tier } from '../domain/tier.js';
import type { Ref, Tagged } from './address.js';
import type { CommitReceipt, Part } from './commit.js';
import type { CrawlEvent } from './events.js';
import type { HostSnapshot, RobotsEntry } from './host-snapshot.js';

// -- effects on actors ------------------------------------------------------------------------------------------

export interface Send {
  readonly do: 'send';
  readonly to: Ref<never>;
  readonly message: Tagged;
}

/** A message to oneself at a monotonic time. One timer a key: a new one replaces the old. Ends with the incarnation. */
export interface Schedule {
  readonly do: 'schedule';
  readonly key: string;
  readonly atMonotonicMs: number;
  readonly message: Tagged;
  /** Where room is wanted for other actors on demand it comes before its time: nothing but its own rest would be disturbed. */
  readonly earlyForRoom?: true;
}

export interface Cancel {
  readonly do: 'cancel';
  readonly key: string;
}

/** Be told (`crashed`, `restarted`, `stopped`) what becomes of another actor, until one's own cell ends. */
export interface Watch {
  readonly do: 'watch';
  readonly whom: Ref<never>;
}

/** End this incarnation and forget its state, if the inbox is empty at the end of this turn; else nothing happens. Only for actors on demand. */
export interface Passivate {
  readonly do: 'passivate';
}

/** The actor that was asked to drain has drained. */
export interface Finish {
  readonly do: 'finish';
}

// -- effects on the outside -------------------------------------------------------------------------------------

export interface Log {
  readonly do: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
}

/** Tell whoever embeds or watches the crawl. */
export interface Announce {
  readonly do: 'announce';
  readonly event: CrawlEvent;
}

/** Give bytes of bodies back to the budget of the tier that they came by. */
export interface Release {
  readonly do: 'release';
  readonly tier: Tier;
  readonly bytes: number;
}

// -- effects that are answered ----------------------------------------------------------------------------------

export interface Resolve {
  readonly do: 'resolve';
  readonly host: HostName;
}
export interface Resolved {
  readonly type: 'resolved';
  readonly host: HostName;
  readonly resolution: Resolution;
}

export interface Fetch {
  readonly do: 'fetch';
  readonly ticket: number;
  readonly request: FetchRequest;
}
export interface FetchEnded {
  readonly type: 'fetchEnded';
  readonly ticket: number;
  readonly tier: Tier;
  readonly result: FetchResult;
}

export interface Parse {
  readonly do: 'parse';
  readonly ticket: number;
  readonly thread: number;
  readonly task: ParseTask;
}
export interface ParseEnded {
  readonly type: 'parseEnded';
  readonly ticket: number;
  readonly result: ParseResult;
}

/** Files first, then one atomic batch. With `sync`, on the disk itself before it is answered. */
export interface Commit {
  readonly do: 'commit';
  readonly outlives: true;
  /** Grows by one a batch. Stored in the batch, so that a doubtful one can be told from one that is whole. */
  readonly batch: number;
  readonly parts: readonly Part[];
  readonly sync: boolean;
}
export interface Committed {
  readonly type: 'committed';
  readonly batch: number;
  readonly receipt: CommitReceipt;
}
export interface CommitFailed {
  readonly type: 'commitFailed';
  readonly batch: number;
  readonly code: string;
  readonly detail: string;
}

/** Close the store and open it again, files cut to their committed lengths. The only thing that may follow a failed commit. */
export interface Reopen {
  readonly do: 'reopen';
  readonly outlives: true;
}
export interface Reopened {
  readonly type: 'reopened';
  /** The newest batch that the store holds. */
  readonly batch: number;
  /** Beyond the sequences of all rows, those that the opening queued again included. */
  readonly nextSequence: number;
}
export interface ReopenFailed {
  readonly type: 'reopenFailed';
  readonly code: string;
  readonly detail: string;
}

/** All that is stored of a host, and the head of its queue. */
export interface LoadHost {
  readonly do: 'loadHost';
  readonly host: HostName;
  readonly limit: number;
}
export interface HostLoaded {
  readonly type: 'hostLoaded';
  readonly host: HostName;
  readonly snapshot: HostSnapshot | null;
  readonly robots: readonly RobotsEntry[];
  readonly summary: QueueSummary | null;
  readonly head: QueueHead;
}

/** The next rows of a host's queue, from the given lower bounds on. */
export interface ReadQueue {
  readonly do: 'readQueue';
  readonly host: HostName;
  /** Lowest ready sequence wanted, a class each. */
  readonly from: readonly number[];
  readonly limit: number;
}
export interface QueueRead {
  readonly type: 'queueRead';
  readonly host: HostName;
  readonly head: QueueHead;
}

/** What was read of a queue: at most `limit` rows of each kind, in the order in which they are to be visited. */
export interface QueueHead {
  readonly ready: readonly QueueEntry[];
  readonly readyComplete: boolean;
  readonly waiting: readonly QueueEntry[];
  readonly waitingComplete: boolean;
  readonly parked: readonly QueueEntry[];
  readonly parkedComplete: boolean;
  /** Rows that were set aside as they can't be read: for the log. */
  readonly notes: readonly string[];
  /** Nothing could be read at all: why. */
  readonly failure: string | null;
}

/** Rows of a host that robots.txt disallowed, from a sequence on: to be looked at by new rules. */
export interface ReadBlocked {
  readonly do: 'readBlocked';
  readonly host: HostName;
  readonly from: number;
  readonly limit: number;
}
export interface BlockedRead {
  readonly type: 'blockedRead';
  readonly host: HostName;
  readonly rows: BlockedRows;
}

export interface BlockedRows {
  /** At most `limit`, in the order of their sequences. */
  readonly entries: readonly QueueEntry[];
  /** None lie behind them. */
  readonly complete: boolean;
  readonly notes: readonly string[];
  /** Nothing could be read at all: why. */
  readonly failure: string | null;
}

/** Hosts that have work in the store, in pages, for the start. */
export interface ListHosts {
  readonly do: 'listHosts';
  readonly after: HostName | null;
  readonly limit: number;
}
export interface HostsListed {
  readonly type: 'hostsListed';
  readonly hosts: readonly {
    readonly host: HostName;
    readonly best: PriorityClass | null;
    readonly wakeAtMs: number | null;
  }[];
  readonly complete: boolean;
  readonly notes: readonly string[];
  readonly failure: string | null;
}

export interface RedrivableQuery {
  readonly filter: DeadFilter;
  readonly untilMs: number;
  readonly after: string | null;
  readonly limit: number;
}

export interface RedrivablePage {
  /** `record`: null where it can't be read. */
  readonly letters: readonly { readonly letter: DeadLetter; readonly record: UrlRecord | null }[];
  /** Of the hosts of these letters. */
  readonly robots: ReadonlyMap<HostName, readonly RobotsEntry[]>;
  /** Where to go on, after what; null when there is nothing more. Opaque, hexadecimal. */
  readonly next: string | null;
}

/** Dead letters that a redrive takes up next. */
export interface ReadRedrivable {
  readonly do: 'readRedrivable';
  /** Its number. */
  readonly redrive: number;
  readonly query: RedrivableQuery;
}
export interface RedrivableRead {
  readonly type: 'redrivableRead';
  readonly redrive: number;
  /** Of the query. */
  readonly after: string | null;
  /** Or why nothing could be read. */
  readonly page: RedrivablePage | { readonly failure: string };
}

export type Effect =
  | Send
  | Schedule
  | Cancel
  | Watch
  | Passivate
  | Finish
  | Log
  | Announce
  | Release
  | Resolve
  | Fetch
  | Parse
  | Commit
  | Reopen
  | LoadHost
  | ReadQueue
  | ReadBlocked
  | ReadRedrivable
  | ListHosts;

/** What a watcher is told. */
export type Notice =
  | { readonly type: 'crashed'; readonly who: string; readonly reason: string }
  | { readonly type: 'restarted'; readonly who: string }
  | { readonly type: 'stopped'; readonly who: string };

/** What an inbox's overflow rule `give-way` tells. */
export type Pressure =
  | { readonly type: 'pressed'; readonly who: string }
  | { readonly type: 'relieved'; readonly who: string };

/** What the owner of an on-demand group is told of a child that was set aside: it is not there until it has cooled down. */
export interface SetAside {
  readonly type: 'setAside';
  readonly name: string;
  readonly coolingMs: number;
}

// -- constructors -----------------------------------------------------------------------------------------------

/** The only way to make a Send: refuses at compile time what the address does not understand. */
export function send<M extends Tagged>(to: Ref<M>, message: NoInfer<M>): Send {
  return { do: 'send', to: to as Ref<never>, message };
}

export function watch<M extends Tagged>(whom: Ref<M>): Watch {
  return { do: 'watch', whom: whom as Ref<never> };
}

/** A message to oneself, later; sooner where room is wanted. */
export function scheduleRest<M extends Tagged>(key: string, atMonotonicMs: number, message: M): Schedule {
  return { do: 'schedule', key, atMonotonicMs, message, earlyForRoom: true };
}

/** A message to oneself, later. */
export function schedule<M extends Tagged>(key: string, atMonotonicMs: number, message: M): Schedule {
  return { do: 'schedule', key, atMonotonicMs, message };
}

export function log(level: Log['level'], event: string, fields: Log['fields'] = {}): Log {
  return { do: 'log', level, event, fields };
}
