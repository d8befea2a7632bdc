/**
 * Gzip members (RFC 1952), the units of a compressed archive file.
 *
 * What is compressed already, or tiny, is stored: such a member costs a checksum, a deflated one the set-up of a
 * compressor, and the bytes come out no fewer.
 */
import { crc32, gzipSync } from 'node:zlib';

const CHUNK_BYTES = 64 * 1024;

/** @param level 1 (quick) to 9 (small). */
export function deflatedMember(bytes: Uint8Array, level: number): Uint8Array {
  return gzipSync(bytes, { level, chunkSize: CHUNK_BYTES });
}

/** No flags, no time, unknown system (RFC 1952 §2.3). */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** Of a stored block's content (RFC 1951 §3.2.4). */
const BLOCK_BYTES_MAX = 0xffff;
const BLOCK_HEAD_BYTES = 5;
const TRAILER_BYTES = 8;

export function storedMember(bytes: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(bytes.length / BLOCK_BYTES_MAX));
  const member = new Uint8Array(HEADER.length + blocks * BLOCK_HEAD_BYTES + bytes.length + TRAILER_BYTES);
  const view = new DataView(member.buffer);
  member.set(HEADER);
  let at = HEADER.length;
  for (let block = 0; block < blocks; block++) {
    const content = bytes.subarray(block * BLOCK_BYTES_MAX, (block + 1) * BLOCK_BYTES_MAX);
    view.setUint8(at, block === blocks - 1 ? 1 : 0);
    view.setUint16(at + 1, content.length, true);
    view.setUint16(at + 3, ~content.length, true);
    member.set(content, at + BLOCK_HEAD_BYTES);
    at += BLOCK_HEAD_BYTES + content.length;
  }
  view.setUint32(at, crc32(bytes), true);
  view.setUint32(at + 4, bytes.length, true);
  return member;
}
