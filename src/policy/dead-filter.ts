/**
 * Which dead letters are meant: pure, so that a listing and whatever acts on it mean the same ones.
 *
 * What a filter does not name it does not ask about; an empty one means every letter.
 */
import type { DeadLetter } from '../domain/record.js';
import type { DeadFilter } from '../domain/redrive.js';

export function meets(letter: DeadLetter, { host, cause, code, beforeMs, sinceMs }: DeadFilter): boolean {
  return (
    (host === null || letter.host === host) &&
    (code === null || letter.code === code) &&
    (cause === null || letter.cause.toLowerCase().includes(cause.toLowerCase())) &&
    (beforeMs === null || letter.lastAtMs < beforeMs) &&
    (sinceMs === null || letter.lastAtMs >= sinceMs)
  );
}
