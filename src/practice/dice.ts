/**
 * Chance without a sequence.
 *
 * Everything about the practice web is drawn from `(seed, host, page, salt)` by a hash, never from a generator that
 * moves on: what a page is like does not depend on who asked for what before, and a web of a million pages needs no
 * table. The salt keeps two questions about one page independent of each other.
 */

/** 32 well-mixed bits for a point (the finaliser of MurmurHash3 after one multiply per word). */
export function mix(seed: number, host: number, page: number, salt: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ host, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13) ^ page, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 16) ^ salt, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The same as a number in [0, 1). */
export function chance(seed: number, host: number, page: number, salt: number): number {
  return mix(seed, host, page, salt) / 0x1_0000_0000;
}

/** An element of a list that is never empty. */
export function pick<T>(list: readonly T[], bits: number): T {
  const chosen = list[bits % list.length];
  if (chosen === undefined) throw new Error('picked from an empty list');
  return chosen;
}
