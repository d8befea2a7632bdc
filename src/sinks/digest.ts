/** SHA-1 as archives write it: `sha1:` and 32 characters of base 32 (RFC 4648 §6). Names content, guards nothing. */
import { hash } from 'node:crypto';

export function sha1Digest(bytes: Uint8Array): string {
  return `sha1:${base32(hash('sha1', bytes, 'buffer'))}`;
}

/** Of no bytes at all. */
export const EMPTY_DIGEST = 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Whole groups of five bytes only: a SHA-1 has four. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >>> bits) & 31];
    }
  }
  return text;
}
