import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { deflatedMember, storedMember } from '../../src/sinks/gzip-member.js';

describe('gzip members (RFC 1952)', () => {
  it.each([0, 1, 0xffff, 0x10000, 0x1fffe, 0x1ffff, 300_000])(
    '%i bytes come back from a stored and from a deflated one',
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
      expect(gunzipSync(storedMember(bytes)).equals(bytes)).toBe(true);
      expect(gunzipSync(deflatedMember(bytes, 4)).equals(bytes)).toBe(true);
    },
  );

  it('members of both kinds stand in one file', () => {
    const file = Buffer.concat([
      storedMember(Buffer.from('a')),
      deflatedMember(Buffer.from('b'), 1),
      storedMember(Buffer.from('c')),
    ]);
    expect(gunzipSync(file).toString()).toBe('abc');
  });
});
