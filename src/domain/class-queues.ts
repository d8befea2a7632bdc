/**
 * The front queues: one first-in-first-out line of hosts for each priority class. A host stands in one line at most.
 *
 * Leaving a line is lazy: the books say in which line a host stands and with which ticket; an entry with another
 * ticket is skipped when it comes to the front. So whoever leaves and comes back stands at the end. Entries that
 * nobody stands behind are swept out when they are the most of a line.
 */
import type { HostName } from './host.js';
import { PRIORITY_CLASSES, type PriorityClass } from './record.js';

interface Entry {
  readonly host: HostName;
  readonly ticket: number;
}

interface Line {
  entries: Entry[];
  /** Index of the front: the array is cut when most of it has been taken or left. */
  front: number;
}

export interface ClassQueues {
  readonly lines: readonly Line[];
  readonly lineOf: Map<HostName, PriorityClass>;
  readonly ticketOf: Map<HostName, number>;
  lastTicket: number;
  /** How many stand in each line. */
  readonly sizes: number[];
}

/** One bit for each line in which somebody stands. */
export function nonEmptyLines(queues: ClassQueues): number {
  let bits = 0;
  for (let priority = 0; priority < PRIORITY_CLASSES; priority++) {
    if ((queues.sizes[priority] as number) > 0) bits |= 1 << priority;
  }
  return bits;
}

export function createClassQueues(): ClassQueues {
  return {
    lines: Array.from({ length: PRIORITY_CLASSES }, () => ({ entries: [], front: 0 })),
    lineOf: new Map(),
    ticketOf: new Map(),
    lastTicket: 0,
    sizes: new Array<number>(PRIORITY_CLASSES).fill(0),
  };
}

/** Puts a host at the end of a line; one that stands in another line already leaves it. */
export function joinLine(queues: ClassQueues, host: HostName, priority: PriorityClass): void {
  const now = queues.lineOf.get(host);
  if (now === priority) return;
  if (now !== undefined) queues.sizes[now] = (queues.sizes[now] as number) - 1;
  queues.lineOf.set(host, priority);
  queues.ticketOf.set(host, ++queues.lastTicket);
  const size = (queues.sizes[priority] as number) + 1;
  queues.sizes[priority] = size;
  const line = queues.lines[priority] as Line;
  line.entries.push({ host, ticket: queues.lastTicket });
  if (line.entries.length > SWEPT_FROM && line.entries.length > 2 * size) sweep(queues, line);
}

export function leaveLine(queues: ClassQueues, host: HostName): void {
  const now = queues.lineOf.get(host);
  if (now === undefined) return;
  queues.lineOf.delete(host);
  queues.ticketOf.delete(host);
  queues.sizes[now] = (queues.sizes[now] as number) - 1;
}

/** Takes the host that has stood longest in a line. */
export function takeFront(queues: ClassQueues, priority: PriorityClass): HostName | undefined {
  const line = queues.lines[priority] as Line;
  while (line.front < line.entries.length) {
    const { host, ticket } = line.entries[line.front++] as Entry;
    if (queues.ticketOf.get(host) !== ticket) continue;
    leaveLine(queues, host);
    return host;
  }
  line.entries = [];
  line.front = 0;
  return undefined;
}

/** Shorter lines are not worth it. */
const SWEPT_FROM = 1_024;

function sweep(queues: ClassQueues, line: Line): void {
  const left = line.entries.slice(line.front);
  line.entries = left.filter(({ host, ticket }) => queues.ticketOf.get(host) === ticket);
  line.front = 0;
}
