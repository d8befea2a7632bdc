/**
 * Seeded chance.
 *
 * A generator is sfc32 (Doty-Humphrey's "small fast counting" generator, 128 bits of state). `fork(label)` makes a
 * child from the *seed and the path of labels*, never from the state: a draw more in one place shifts nothing in
 * another, so that a universe stays recognisable while the code that draws in it changes.
 */
import { createHash } from 'node:crypto';

export interface Random {
  /** In [0, 1), 32 bits of it. */
  next(): number;
  /** A whole number in [0, 2^32). */
  bits(): number;
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  /** A real number in [low, high). */
  span(low: number, high: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
  /** Low and high are met alike on a logarithmic scale: small numbers as often as large ones. Whole, both included. */
  logUniform(low: number, high: number): number;
  /** The same label of the same parent is always the same generator, at its beginning. */
  fork(label: string): Random;
}

export function createRandom(seed: number | string): Random {
  return generator(String(seed));
}

function generator(path: string): Random {
  const bits = sfc32(path);
  const next = (): number => bits() / 0x1_0000_0000;
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    bits,
    between,
    span: (low, high) => low + next() * (high - low),
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[between(0, items.length - 1)] as (typeof items)[number];
    },
    logUniform: (low, high) => Math.min(high, Math.floor(low * ((high + 1) / low) ** next())),
    fork: (label) => generator(`${path}/${label}`),
  };
}

/** sfc32 seeded with 128 bits of the path's SHA-256. */
function sfc32(path: string): () => number {
  const digest = createHash('sha256').update(path).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
}
