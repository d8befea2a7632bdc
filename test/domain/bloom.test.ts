import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBloom } from '../../src/domain/bloom.js';

const keyOf = (n: number) => createHash('sha256').update(`https://example.com/${n}`).digest('hex').slice(0, 32);

describe('the Bloom filter in front of the registry', () => {
  it('finds everything that was added, and takes about one new key in a hundred for seen', () => {
    const keys = 100_000;
    const bloom = createBloom(keys);
    for (let i = 0; i < keys; i++) bloom.add(keyOf(i));
    let missed = 0;
    let wrong = 0;
    for (let i = 0; i < keys; i++) {
      if (!bloom.has(keyOf(i))) missed++;
      if (bloom.has(keyOf(keys + i))) wrong++;
    }
    expect(missed).toBe(0);
    expect(wrong / keys).toBeLessThan(0.0115);
    expect(wrong).toBeGreaterThan(0);
  });

  it('takes between 9.6 and 10.6 bits a key', () => {
    const bits = (createBloom(1_000_000).bytes * 8) / 1_000_000;
    expect(bits).toBeGreaterThanOrEqual(9.6);
    expect(bits).toBeLessThan(10.6);
  });

  it('knows nothing when it is new, and works for one key', () => {
    const bloom = createBloom(0);
    expect(bloom.has(keyOf(1))).toBe(false);
    bloom.add(keyOf(1));
    expect(bloom.has(keyOf(1))).toBe(true);
  });
});
