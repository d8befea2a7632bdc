/**
 * What a host's actor holds of its back queue: a window on the rows in the store, and the rows that it has taken.
 *
 * The store is the queue; this is a head of it, read in pieces. A row that was taken stays in the store until the
 * commit that settles it, so every read may bring it again: `taken` keeps it from being offered twice. The window is
 * replaced by each read, never patched, so that it can't drift from the store.
 *
 * Invariants: no sequence is offered while it is taken; `headsOf` is never above a row that is still in the store.
 */
import { PRIORITY_CLASSES, type PriorityClass, type QueueEntry } from '../domain/record.js';

export interface BackQueue {
  /** Ready rows in the order of visiting: class, then sequence. */
  ready: QueueEntry[];
  /** Nothing lies behind the window. */
  readyComplete: boolean;
  /** Waiting rows, the earliest due first. */
  waiting: QueueEntry[];
  waitingComplete: boolean;
  parked: QueueEntry[];
  parkedComplete: boolean;
  /** Rows that are out: being visited, or in a part that is not yet acknowledged. By sequence. */
  readonly taken: Map<number, QueueEntry>;
  /** Lower bounds of what is left in the store, a class each: what was last certain. */
  readonly floors: number[];
}

/** The rows as a read brings them. */
export interface ReadRows {
  readonly ready: readonly QueueEntry[];
  readonly readyComplete: boolean;
  readonly waiting: readonly QueueEntry[];
  readonly waitingComplete: boolean;
  readonly parked: readonly QueueEntry[];
  readonly parkedComplete: boolean;
}

export function emptyQueue(): BackQueue {
  return {
    ready: [],
    readyComplete: false,
    waiting: [],
    waitingComplete: false,
    parked: [],
    parkedComplete: false,
    taken: new Map(),
    floors: new Array<number>(PRIORITY_CLASSES).fill(0),
  };
}

/** Replaces the window by what was read. */
export function refill(queue: BackQueue, rows: ReadRows): void {
  const isFree = (entry: QueueEntry) => !queue.taken.has(entry.at.sequence);
  queue.ready = rows.ready.filter(isFree);
  queue.readyComplete = rows.readyComplete;
  queue.waiting = rows.waiting.filter(isFree);
  queue.waitingComplete = rows.waitingComplete;
  queue.parked = rows.parked.filter(isFree);
  queue.parkedComplete = rows.parkedComplete;
}

/** Something new is in the store, perhaps of a better class than what the window shows: it has to be read again. */
export function outdate(queue: BackQueue): void {
  queue.ready = [];
  queue.readyComplete = false;
}

/** What comes next, first retries whose time has come, then ready rows; undefined when the window has nothing. */
export function peek(queue: BackQueue, nowWallMs: number): QueueEntry | undefined {
  const due = queue.waiting[0];
  if (due?.at.queue === 'waiting' && due.at.dueAtMs <= nowWallMs) return due;
  return queue.ready[0];
}

/** Takes a row of the window out of it. */
export function take(queue: BackQueue, entry: QueueEntry): void {
  const rows = entry.at.queue === 'waiting' ? 'waiting' : entry.at.queue === 'ready' ? 'ready' : 'parked';
  const index = queue[rows].indexOf(entry);
  if (index < 0) throw new Error(`row ${entry.at.sequence} is not in the window`);
  if (index === 0) queue[rows].shift();
  else queue[rows].splice(index, 1);
  queue.taken.set(entry.at.sequence, entry);
}

/** Its part is in the store, or was given up: the next read may bring the row where it then stands. */
export function letGo(queue: BackQueue, sequence: number): void {
  queue.taken.delete(sequence);
}

/** Puts a row back where it came from: nothing was done with it. */
export function putBack(queue: BackQueue, entry: QueueEntry): void {
  queue.taken.delete(entry.at.sequence);
  if (entry.at.queue === 'ready') queue.ready.unshift(entry);
  else if (entry.at.queue === 'waiting') queue.waiting.unshift(entry);
  else queue.parked.unshift(entry);
}

/** Whether the store may hold ready rows that the window does not show. */
export function mayHoldMore(queue: BackQueue): boolean {
  return queue.ready.length === 0 && !queue.readyComplete;
}

/**
 * Lower bounds of the ready rows that stay in the store when the rows in `leaving` have left it, a class each.
 * What is certain is the least sequence of a class in the window or taken; a class that shows none keeps its floor.
 */
export function headsOf(queue: BackQueue, leaving: ReadonlySet<number>): readonly number[] {
  const heads = queue.floors;
  const least = new Map<PriorityClass, number>();
  const see = (entry: QueueEntry) => {
    if (entry.at.queue !== 'ready' || leaving.has(entry.at.sequence)) return;
    const before = least.get(entry.at.priority);
    if (before === undefined || entry.at.sequence < before) least.set(entry.at.priority, entry.at.sequence);
  };
  for (const entry of queue.ready) see(entry);
  for (const entry of queue.taken.values()) see(entry);
  for (const [priority, sequence] of least) heads[priority] = Math.max(heads[priority] as number, sequence);
  return heads.slice();
}

/** When the earliest waiting row of the window falls due; null when it shows none. */
export function nextDueMs(queue: BackQueue): number | null {
  const first = queue.waiting[0];
  return first?.at.queue === 'waiting' ? first.at.dueAtMs : null;
}

/** The best class of the ready rows that are left; null when none are. */
export function bestLeft(queue: BackQueue): PriorityClass | null {
  const first = queue.ready[0];
  if (first?.at.queue === 'ready') return first.at.priority;
  return queue.readyComplete ? null : 7;
}

/** A row has come to stand at a new place: shows it where the window reaches that far. */
export function place(queue: BackQueue, entry: QueueEntry): void {
  switch (entry.at.queue) {
    case 'ready':
      queue.floors[entry.at.priority] = Math.min(queue.floors[entry.at.priority] as number, entry.at.sequence);
      insert(queue.ready, entry, comesBefore, queue.readyComplete);
      return;
    case 'waiting':
      insert(queue.waiting, entry, fallsDueBefore, queue.waitingComplete);
      return;
    case 'parked':
      insert(queue.parked, entry, (a, b) => a.at.sequence < b.at.sequence, queue.parkedComplete);
  }
}

function insert(
  rows: QueueEntry[],
  entry: QueueEntry,
  before: (a: QueueEntry, b: QueueEntry) => boolean,
  complete: boolean,
): void {
  let index = rows.length;
  while (index > 0 && before(entry, rows[index - 1] as QueueEntry)) index -= 1;
  // Past the end of an incomplete window there may be others before it.
  if (index === rows.length && !complete) return;
  rows.splice(index, 0, entry);
}

function comesBefore(a: QueueEntry, b: QueueEntry): boolean {
  if (a.at.queue !== 'ready' || b.at.queue !== 'ready') return false;
  return a.at.priority - b.at.priority < 0 || (a.at.priority === b.at.priority && a.at.sequence < b.at.sequence);
}

function fallsDueBefore(a: QueueEntry, b: QueueEntry): boolean {
  if (a.at.queue !== 'waiting' || b.at.queue !== 'waiting') return false;
  return a.at.dueAtMs < b.at.dueAtMs;
}
