/**
 * A min-heap of names by time: who falls due first. Entries are never searched or removed from the middle; a caller
 * that changes its mind pushes the newer time and, on popping, compares with its own books (lazy deletion).
 */
export interface Due {
  readonly atMs: number;
  readonly name: string;
}

export interface DueHeap {
  readonly entries: Due[];
}

export function createDueHeap(): DueHeap {
  return { entries: [] };
}

export function pushDue(heap: DueHeap, due: Due): void {
  const { entries } = heap;
  let at = entries.length;
  entries.push(due);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = entries[parent] as Due;
    if (above.atMs <= due.atMs) break;
    entries[at] = above;
    at = parent;
  }
  entries[at] = due;
}

export function peekDue(heap: DueHeap): Due | undefined {
  return heap.entries[0];
}

export function popDue(heap: DueHeap): Due | undefined {
  const { entries } = heap;
  const first = entries[0];
  const last = entries.pop();
  if (first === undefined || last === undefined || entries.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= entries.length) break;
    const right = child + 1;
    if (right < entries.length && (entries[right] as Due).atMs < (entries[child] as Due).atMs) child = right;
    const below = entries[child] as Due;
    if (below.atMs >= last.atMs) break;
    entries[at] = below;
    at = child;
  }
  entries[at] = last;
  return first;
}
