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

/** Lets go of the far end of the window: what is asked for seldom need not be held. */
export function trim(queue: BackQueue, rowsMax: number): void {
  queue.readyComplete &&= queue.ready.length <= rowsMax;
  queue.waitingComplete &&= queue.waiting.length <= rowsMax;
  queue.parkedComplete &&= queue.parked.length <= rowsMax;
  queue.ready = queue.ready.slice(0, rowsMax);
  queue.waiting = queue.waiting.slice(0, rowsMax);
  queue.parked = queue.parked.slice(0, rowsMax);
}

/** Something new is in the store, perhaps of a better class than what the window shows: it has to be read again. */
export function outdate(queue: BackQueue): void {
  queue.ready = [];
  queue.readyComplete = false;
}

/**
 * Holds the window against what the store counts. Rows that came while others were out are told by this alone: the
 * frontier tells of news only where nothing was ready before.
 */
export function compare(queue: BackQueue, readyInStore: number): void {
  let known = queue.ready.length;
  for (const entry of queue.taken.values()) if (entry.at.queue === 'ready') known += 1;
  if (known < readyInStore) queue.readyComplete = false;
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

/** Takes a row that the window does not show: one that was blocked. */
export function hold(queue: BackQueue, entry: QueueEntry): void {
  queue.taken.set(entry.at.sequence, entry);
}

/** Its part is in the store, or was given up: the next read may bring the row where it then stands. */
export function letGo(queue: BackQueue, sequence: number): void {
  queue.taken.delete(sequence);
}

/** Whether the store may hold rows of a kind of which the window shows none. */
export function mayHoldMore(queue: BackQueue): boolean {
  return (
    (queue.ready.length === 0 && !queue.readyComplete) ||
    (queue.waiting.length === 0 && !queue.waitingComplete) ||
    (queue.parked.length === 0 && !queue.parkedComplete)
  );
}

/**
 * Lower bounds of the ready rows that stay in the store when the rows in `leaving` have left it, a class each.
 *
 * A class of which the window shows a row is shown from its beginning, but for what is taken: the least of these is
 * certain. So it is for every class where nothing lies behind the window. Of the others only what was certain before
 * is known. A parked or blocked row that is out may be on its way to its class, and is counted there.
 */
export function headsOf(queue: BackQueue, leaving: ReadonlySet<number>): readonly number[] {
  const least = new Map<PriorityClass, number>();
  const see = (priority: PriorityClass, sequence: number) => {
    const before = least.get(priority);
    if (before === undefined || sequence < before) least.set(priority, sequence);
  };
  const shown = new Set<PriorityClass>();
  for (const { at } of queue.ready) {
    if (at.queue !== 'ready') continue;
    shown.add(at.priority);
    see(at.priority, at.sequence);
  }
  for (const { at, record } of queue.taken.values()) {
    if (at.queue === 'parked' || at.queue === 'blocked') see(record.priority, at.sequence);
    else if (at.queue === 'ready' && !leaving.has(at.sequence)) see(at.priority, at.sequence);
  }
  const { floors } = queue;
  for (const [priority, sequence] of least) {
    const before = floors[priority] as number;
    if (sequence < before || queue.readyComplete || shown.has(priority)) floors[priority] = sequence;
  }
  return floors.slice();
}

/** When the earliest waiting row of the window falls due; null when it shows none. */
export function nextDueMs(queue: BackQueue): number | null {
  const first = queue.waiting[0];
  return first?.at.queue === 'waiting' ? first.at.dueAtMs : null;
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
      return;
    case 'blocked':
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
