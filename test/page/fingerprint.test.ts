import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha1Digest } from '../../src/page/digest.js';
import { simhash } from '../../src/page/fingerprint.js';

function distance(a: string, b: string): number {
  let bits = BigInt(`0x${simhash(a)}`) ^ BigInt(`0x${simhash(b)}`);
  let count = 0;
  for (; bits > 0n; bits >>= 1n) count += Number(bits & 1n);
  return count;
}

function wordsOf(seed: number, count: number): string[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return `w${state % 5000}`;
  });
}

describe('simhash', () => {
  it('is null without a word and 16 hex digits with one', () => {
    expect(simhash('')).toBeNull();
    expect(simhash(' …, — !')).toBeNull();
    expect(simhash('one')).toMatch(/^[0-9a-f]{16}$/);
    expect(simhash('one two')).not.toBe(simhash('two one'));
    expect(simhash('日本語')).toMatch(/^[0-9a-f]{16}$/);
  });

  it('passes over case, punctuation and white space', () => {
    expect(simhash('The quick, brown  FOX.')).toBe(simhash('the quick brown fox'));
    expect(simhash('the quick brown fox')).not.toBe(simhash('the quick brown dog'));
  });

  it('moves few bits for one word of 800, about half for another text', () => {
    let near = 0;
    let farMin = 64;
    for (let seed = 1; seed <= 100; seed++) {
      const words = wordsOf(seed, 800);
      const changed = words.with(seed * 7, 'changed');
      if (distance(words.join(' '), changed.join(' ')) <= 3) near++;
      farMin = Math.min(farMin, distance(words.join(' '), wordsOf(seed + 1000, 800).join(' ')));
    }
    expect(near).toBeGreaterThan(80);
    expect(farMin).toBeGreaterThan(10);
  });

  it('counts votes as plain addition does', () => {
    // A text of one triple repeated has that triple's hash, whatever the number: every counter is all or nothing.
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (times) => {
        expect(simhash('日'.repeat(times + 2))).toBe(simhash('日日日'));
      }),
    );
  });
});

describe('digest', () => {
  it('is SHA-1 in base 32 (RFC 4648 §6)', () => {
    expect(sha1Digest(new Uint8Array(0))).toBe('sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
    expect(sha1Digest(Buffer.from('abc'))).toBe('sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5');
  });
});
