/**
 * An index made anew from its archive: what a repair does when the index is lost.
 *
 * Each record is a gzip member of its own, so the archive is walked member by member; where one ends, only its
 * decompression tells. Lines are those that were written with the records, in the order of the records.
 */
import type { Buffer } from 'node:buffer';
import { inflateRawSync } from 'node:zlib';
import { cdxjLine, mimeOfHead, REVISIT_MIME } from './cdxj.js';
import type { FileSystem } from './files.js';

/** @param length of the archive: what comes after it is not looked at */
export async function* indexLinesOf(
  files: FileSystem,
  archive: string,
  filename: string,
  length: number,
): AsyncGenerator<string> {
  for await (const member of membersOf(files, archive, length)) {
    const line = lineOf(member, filename);
    if (line !== null) yield line;
  }
}

interface Member {
  readonly offset: number;
  readonly length: number;
  /** Decompressed. */
  readonly bytes: Buffer;
}

const READ_BYTES = 4 << 20;
/** As they are written: without name, comment or extra field (RFC 1952 §2.3). */
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

/** The whole members from the beginning on, up to the first that can't be read. */
async function* membersOf(files: FileSystem, name: string, length: number): AsyncGenerator<Member> {
  let window: Uint8Array = new Uint8Array(0);
  let start = 0;
  for (let offset = 0, wanted = READ_BYTES; offset < length; ) {
    const member = memberAt(window.subarray(offset - start));
    if (member !== null && offset + member.length <= length) {
      yield { ...member, offset };
      offset += member.length;
      wanted = READ_BYTES;
      continue;
    }
    // Either it reaches beyond what was read, or it is broken.
    if (start === offset && window.length >= length - offset) return;
    if (start === offset && window.length > 0) wanted *= 2;
    window = await files.read(name, offset, Math.min(wanted, length - offset));
    start = offset;
    if (window.length === 0) return;
  }
}

function memberAt(bytes: Uint8Array): Omit<Member, 'offset'> | null {
  if (bytes.length < HEADER_BYTES || bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[3] !== 0) return null;
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(HEADER_BYTES), { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return { bytes: buffer, length: HEADER_BYTES + engine.bytesWritten + TRAILER_BYTES };
  } catch {
    return null;
  }
}

/** Null for a record that the index leaves out. */
function lineOf({ offset, length, bytes }: Member, filename: string): string | null {
  const blockAt = bytes.indexOf('\r\n\r\n') + 4;
  const fields = fieldsOf(bytes.toString('utf8', 0, blockAt));
  const type = fields.get('warc-type');
  const url = fields.get('warc-target-uri');
  const payloadDigest = fields.get('warc-payload-digest');
  const atMs = Date.parse(fields.get('warc-date') ?? '');
  if ((type !== 'response' && type !== 'revisit') || url === undefined || payloadDigest === undefined) return null;
  if (Number.isNaN(atMs)) return null;
  const head = headOf(bytes.subarray(blockAt));
  const mime = type === 'revisit' ? REVISIT_MIME : mimeOfHead(head);
  return cdxjLine({ url, atMs, mime, status: Number(head.slice(9, 12)), payloadDigest }, { filename, offset, length });
}

function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields;
}

function headOf(block: Buffer): string {
  const ends = [block.indexOf('\n\r\n'), block.indexOf('\n\n')].filter((at) => at >= 0);
  return block.toString('latin1', 0, ends.length === 0 ? block.length : Math.min(...ends));
}
