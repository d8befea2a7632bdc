/**
 * The front queues: one first-in-first-out line of hosts for each priority class. A host stands in one line at most.
 *
 * Leaving a line is lazy: the books (`lineOf`) say where a host stands, and an entry that disagrees with them is
 * skipped when it comes to the front.
 */
import type { HostName } from './host.js';
import { PRIORITY_CLASSES, type PriorityClass } from './record.js';

interface Line {
  hosts: HostName[];
  /** Index of the front: the array is cut when half of it has been taken. */
  front: number;
}

export interface ClassQueues {
  readonly lines: readonly Line[];
  readonly lineOf: Map<HostName, PriorityClass>;
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
    lines: Array.from({ length: PRIORITY_CLASSES }, () => ({ hosts: [], front: 0 })),
    lineOf: new Map(),
    sizes: new Array<number>(PRIORITY_CLASSES).fill(0),
  };
}

/** Puts a host at the end of a line; one that stands in another line already leaves it. */
export function joinLine(queues: ClassQueues, host: HostName, priority: PriorityClass): void {
  const now = queues.lineOf.get(host);
  if (now === priority) return;
  if (now !== undefined) queues.sizes[now] = (queues.sizes[now] as number) - 1;
  queues.lineOf.set(host, priority);
  queues.sizes[priority] = (queues.sizes[priority] as number) + 1;
  (queues.lines[priority] as Line).hosts.push(host);
}

export function leaveLine(queues: ClassQueues, host: HostName): void {
  const now = queues.lineOf.get(host);
  if (now === undefined) return;
  queues.lineOf.delete(host);
  queues.sizes[now] = (queues.sizes[now] as number) - 1;
}

/** Takes the host that has stood longest in a line. */
export function takeFront(queues: ClassQueues, priority: PriorityClass): HostName | undefined {
  const line = queues.lines[priority] as Line;
  while (line.front < line.hosts.length) {
    const host = line.hosts[line.front++] as HostName;
    if (line.front > 1024 && line.front * 2 > line.hosts.length) {
      line.hosts = line.hosts.slice(line.front);
      line.front = 0;
    }
    if (queues.lineOf.get(host) === priority) {
      leaveLine(queues, host);
      return host;
    }
  }
  line.hosts = [];
  line.front = 0;
  return undefined;
}
