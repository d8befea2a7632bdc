/**
 * Back queues as they are counted: for each host how many rows each class has, and where a scan of them may begin.
 *
 * The counts are kept beside the rows in every batch, so that nothing ever has to count rows to know whether a host
 * has work. They are changed on a draft, which becomes what is true only when its batch was written.
 *
 * 1. A count is never negative. A draft that would be says so, and its host is counted anew from its rows.
 * 2. A head is a lower bound: no row of the class has a smaller sequence. The host says how far it has come; a row
 *    that is inserted below in the same batch moves it down again. A class that was empty begins at its first row.
 * 3. The rows of a class that are read whole are as many as are counted; where they aren't, the host is counted anew
 *    (`queue-reader.ts`).
 */
import { type HostName, partitionOf } from '../domain/host.js';
import { PRIORITY_CLASSES, type PriorityClass, type QueuePosition, type QueueSummary } from '../domain/record.js';
import type { CommitReceipt } from '../protocols/commit.js';
import type { QueueCounts } from './codec.js';
import { type Database, scanRange } from './database.js';
import { positionOf, queueRange } from './schema.js';

/** A host's counts as of the last batch. Never changed: a new one takes its place. */
export interface HostQueue extends QueueCounts {
  readonly host: HostName;
  readonly partition: number;
}

export function emptyQueue(host: HostName): HostQueue {
  return {
    host,
    partition: partitionOf(host),
    ready: new Array(PRIORITY_CLASSES).fill(0),
    heads: new Array(PRIORITY_CLASSES).fill(0),
    waiting: 0,
    parked: 0,
    blocked: 0,
    wakeAtMs: null,
  };
}

export function summaryOf(queue: HostQueue): QueueSummary {
  const { host, waiting, parked, blocked, wakeAtMs } = queue;
  return { host, ready: queue.ready.slice(), heads: queue.heads.slice(), waiting, parked, blocked, wakeAtMs };
}

/** Lowest class with rows; null without any. */
export function bestClass(ready: readonly number[]): PriorityClass | null {
  for (let i = 0; i < ready.length; i++) {
    if ((ready[i] as number) > 0) return i as PriorityClass;
  }
  return null;
}

/** One host's counts while a batch is being put together. */
export class QueueDraft {
  readonly host: HostName;
  readonly partition: number;
  readonly #before: HostQueue;
  readonly #ready: number[];
  #waiting: number;
  #parked: number;
  #blocked: number;
  #wakeAtMs: number | null;
  #claimed: readonly number[] | null = null;
  /** The lowest sequence that this batch put into each class; absent where it put none. */
  readonly #inserted: (number | undefined)[] = [];
  /** Every row there is, for a host whose counts were not right: then what isn't there can't be taken away. */
  readonly #rows: Set<string> | null;

  constructor(before: HostQueue, rows: Set<string> | null = null) {
    this.#rows = rows;
    this.host = before.host;
    this.partition = before.partition;
    this.#before = before;
    this.#ready = before.ready.slice();
    this.#waiting = before.waiting;
    this.#parked = before.parked;
    this.#blocked = before.blocked;
    this.#wakeAtMs = before.wakeAtMs;
  }

  /** What the host itself says of its queue. */
  claim(heads: readonly number[], wakeAtMs: number | null): void {
    this.#claimed = heads;
    this.#wakeAtMs = wakeAtMs;
  }

  add(at: QueuePosition): void {
    if (this.#rows?.has(nameOf(at))) return;
    this.#rows?.add(nameOf(at));
    this.#count(at, 1);
    if (at.queue !== 'ready') return;
    const lowest = this.#inserted[at.priority];
    if (lowest === undefined || at.sequence < lowest) this.#inserted[at.priority] = at.sequence;
  }

  remove(at: QueuePosition): void {
    if (this.#rows !== null && !this.#rows.delete(nameOf(at))) return;
    this.#count(at, -1);
  }

  /** Invariant 1. */
  get miscounted(): boolean {
    return this.#waiting < 0 || this.#parked < 0 || this.#blocked < 0 || this.#ready.some((it) => it < 0);
  }

  after(): HostQueue {
    const { host, partition } = this;
    const ready = this.#ready;
    return {
      host,
      partition,
      ready,
      heads: this.#heads(),
      waiting: this.#waiting,
      parked: this.#parked,
      blocked: this.#blocked,
      wakeAtMs: this.#wakeAtMs,
    };
  }

  /** What is told of it: `news` is the best class, if it is better than any that had rows before. */
  receipt(after: HostQueue): CommitReceipt['queues'][number] {
    const best = bestClass(after.ready);
    const bestBefore = bestClass(this.#before.ready);
    const isNews = best !== null && (bestBefore === null || best < bestBefore);
    return { ...summaryOf(after), news: isNews ? best : null };
  }

  #count(at: QueuePosition, by: 1 | -1): void {
    if (at.queue === 'ready') this.#ready[at.priority] = (this.#ready[at.priority] as number) + by;
    else if (at.queue === 'waiting') this.#waiting += by;
    else if (at.queue === 'parked') this.#parked += by;
    else this.#blocked += by;
  }

  /** Invariant 2. */
  #heads(): number[] {
    const heads = this.#before.heads.slice();
    for (let i = 0; i < heads.length; i++) {
      const inserted = this.#inserted[i];
      const claimed = this.#claimed?.[i];
      if (claimed !== undefined) heads[i] = Math.min(claimed, Number.MAX_SAFE_INTEGER);
      if (inserted === undefined) continue;
      if (this.#before.ready[i] === 0 || inserted < (heads[i] as number)) heads[i] = inserted;
    }
    return heads;
  }
}

/** A position as the name of its row, within one host. */
function nameOf(at: QueuePosition): string {
  switch (at.queue) {
    case 'ready':
      return `r${at.priority}:${at.sequence}`;
    case 'waiting':
      return `w${Math.floor(at.dueAtMs)}:${at.sequence}`;
    case 'parked':
      return `p${at.sequence}`;
    case 'blocked':
      return `l${at.sequence}`;
  }
}

// -- counting anew ----------------------------------------------------------------------------------------------

export interface QueueRow {
  readonly rowKey: Buffer;
  readonly at: QueuePosition;
  /** The URL key as it stands in the row: unchecked. */
  readonly value: Buffer;
}

/** Every row of a host's queues, for the rare cases in which the counts can't be believed. */
export async function* scanHost(database: Database, partition: number, host: HostName): AsyncGenerator<QueueRow> {
  for (const queue of ['ready', 'waiting', 'parked', 'blocked'] as const) {
    for await (const rows of scanRange(database, queueRange(queue, partition, host))) {
      for (const [rowKey, value] of rows) {
        const at = positionOf(rowKey);
        if (at !== null) yield { rowKey, at, value };
      }
    }
  }
}

/**
 * Counts a host from its rows. The wake time is kept where it is known; else it is the first due time, or, for rows
 * that are only parked or blocked, at once.
 */
export async function recount(database: Database, host: HostName, known: HostQueue | null): Promise<Recounted> {
  const rows = new Set<string>();
  const draft = new QueueDraft(emptyQueue(host), rows);
  let firstDueMs: number | null = null;
  for await (const row of scanHost(database, draft.partition, host)) {
    draft.add(row.at);
    if (row.at.queue === 'waiting') firstDueMs ??= row.at.dueAtMs;
  }
  const counted = draft.after();
  const wakeAtMs = known?.wakeAtMs ?? firstDueMs ?? (counted.parked + counted.blocked > 0 ? 0 : null);
  return { queue: { ...counted, wakeAtMs }, rows };
}

export interface Recounted {
  readonly queue: HostQueue;
  /** For a draft that checks each row. */
  readonly rows: Set<string>;
}
