/**
 * Messages that nobody handled: each is counted, and said aloud as long as saying it helps.
 *
 * Counted by the first name of the path and the type of the message; logged for the first ten of such a pair and then
 * at powers of two, so that a flood of millions is two dozen lines.
 */
import type { DeadLetterCount, DeathOfLetter } from './counts.js';
import type { LogPort } from '../protocols/ports.js';

const LOGGED_FIRST = 10;

export class DeadLetters {
  private readonly counted = new Map<string, Map<string, number>>();
  total = 0;

  constructor(private readonly log: LogPort['log']) {}

  add(path: string, messageType: string, reason: DeathOfLetter): void {
    const under = firstName(path);
    const types = this.counted.get(under) ?? new Map<string, number>();
    this.counted.set(under, types);
    const count = (types.get(messageType) ?? 0) + 1;
    types.set(messageType, count);
    this.total += 1;
    if (isWorthALine(count)) this.log('warn', 'dead_letter', { actor: path, message: messageType, reason, count });
  }

  /** Of all paths that begin with one first name. */
  under(name: string): number {
    let sum = 0;
    for (const count of this.counted.get(name)?.values() ?? []) sum += count;
    return sum;
  }

  counts(): readonly DeadLetterCount[] {
    return [...this.counted].flatMap(([under, types]) =>
      [...types].map(([message, count]) => ({ under, message, count })),
    );
  }
}

function firstName(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? path : path.slice(0, slash);
}

function isWorthALine(count: number): boolean {
  return count <= LOGGED_FIRST || Number.isInteger(Math.log2(count));
}
