/**
 * Which dead letters are meant: pure, so that a listing and whatever acts on it mean the same ones.
 *
 * What a filter does not name it does not ask about; an empty one means every letter.
 */
import type { HostName } from '../domain/host.js';
import type { Code } from '../domain/outcome.js';
import type { DeadLetter } from '../domain/record.js';

export interface DeadFilter {
  readonly host: HostName | null;
  /** Occurs in the cause, whatever the case of its letters. */
  readonly cause: string | null;
  readonly code: Code | null;
  /** Given up before this instant, wall clock. */
  readonly beforeMs: number | null;
  /** Given up at this instant or later, wall clock. */
  readonly sinceMs: number | null;
}

export function meets(letter: DeadLetter, { host, cause, code, beforeMs, sinceMs }: DeadFilter): boolean {
  return (
    (host === null || letter.host === host) &&
    (code === null || letter.code === code) &&
    (cause === null || letter.cause.toLowerCase().includes(cause.toLowerCase())) &&
    (beforeMs === null || letter.lastAtMs < beforeMs) &&
    (sinceMs === null || letter.lastAtMs >= sinceMs)
  );
}
