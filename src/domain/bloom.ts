/**
 * The seen set's front: a Bloom filter that says 'surely new' or 'probably seen' of a URL key.
 *
 * Blocked: a key's seven bits lie in one block of 512 bits, one cache line, so that a look-up misses the cache once
 * instead of seven times. A key is 128 bits of a SHA-256 already, so nothing is hashed here: its first word picks the
 * block, the next three give seven numbers of nine bits that are independent of it and of each other.
 *
 * 1. What was added is found: no false negatives, ever.
 * 2. At the expected number of keys about one new key in a hundred is taken for seen (blocks fill unevenly, so the
 *    filter pays 10.5 bits a key for what an unblocked one gets from 9.6).
 */
import type { UrlKey } from './url.js';

export const BLOOM_BITS_PER_KEY = 10.5;
const BLOCK_WORDS = 16;
const BLOCK_BITS = BLOCK_WORDS * 32;

export interface Bloom {
  add(key: UrlKey): void;
  has(key: UrlKey): boolean;
  /** Memory that the bits take. */
  readonly bytes: number;
}

/** @param expectedKeys how many keys the rate of false positives is meant for; more only raise it. */
export function createBloom(expectedKeys: number): Bloom {
  return new BlockedBloom(Math.max(1, Math.ceil((expectedKeys * BLOOM_BITS_PER_KEY) / BLOCK_BITS)));
}

class BlockedBloom implements Bloom {
  readonly #words: Uint32Array;
  /** Blocks for each unit of the key's first word: multiplying by it is cheaper than a remainder, and as even. */
  readonly #blocksPerUnit: number;

  constructor(blocks: number) {
    this.#words = new Uint32Array(blocks * BLOCK_WORDS);
    this.#blocksPerUnit = blocks / 2 ** 32;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  add(key: UrlKey): void {
    const words = this.#words;
    const block = Math.floor(wordAt(key, 0) * this.#blocksPerUnit) * BLOCK_WORDS;
    const second = wordAt(key, 8);
    const third = wordAt(key, 16);
    setBit(words, block, second);
    setBit(words, block, second >>> 9);
    setBit(words, block, second >>> 18);
    setBit(words, block, third);
    setBit(words, block, third >>> 9);
    setBit(words, block, third >>> 18);
    setBit(words, block, wordAt(key, 24));
  }

  has(key: UrlKey): boolean {
    const words = this.#words;
    const block = Math.floor(wordAt(key, 0) * this.#blocksPerUnit) * BLOCK_WORDS;
    const second = wordAt(key, 8);
    if (!(isSet(words, block, second) && isSet(words, block, second >>> 9) && isSet(words, block, second >>> 18))) {
      return false;
    }
    const third = wordAt(key, 16);
    return (
      isSet(words, block, third) &&
      isSet(words, block, third >>> 9) &&
      isSet(words, block, third >>> 18) &&
      isSet(words, block, wordAt(key, 24))
    );
  }
}

/** The lower nine bits of `number` name a bit of the block. */
function setBit(words: Uint32Array, block: number, number: number): void {
  const at = block + ((number >>> 5) & 15);
  words[at] = (words[at] as number) | (1 << (number & 31));
}

function isSet(words: Uint32Array, block: number, number: number): boolean {
  return ((words[block + ((number >>> 5) & 15)] as number) & (1 << (number & 31))) !== 0;
}

/** Eight hex digits from `start` as an unsigned number. */
function wordAt(key: UrlKey, start: number): number {
  let word = 0;
  for (let i = start; i < start + 8; i++) {
    const code = key.charCodeAt(i);
    word = (word << 4) | (code <= 57 ? code - 48 : code - 87);
  }
  return word >>> 0;
}
