/**
 * Content codings (RFC 9110 §8.4): from the bytes that came to the bytes that were meant.
 *
 * The danger is not in what comes but in what it grows to, so every coding is undone under a bound on its *output*,
 * which zlib checks chunk by chunk. Synchronous on purpose: this runs in a parser thread, where a trip through the
 * thread pool costs more than the work.
 *
 * Invariants:
 * 1. No more than the bound (and one zlib chunk) is ever held of what a coding grows to.
 * 2. Beyond 1 MiB the output is at most 100 times what came.
 * 3. Nothing throws.
 */
import * as zlib from 'node:zlib';
import type { Header } from '../domain/fetching.js';
import { headerValues } from './headers.js';

const { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } = zlib;

/** More codings than these come from bombs only. */
export const CODINGS_MAX = 2;
export const RATIO_MAX = 100;
/** Below this a high ratio proves nothing: a page of spaces. */
export const RATIO_FREE_BYTES = 1024 * 1024;

export type Decoded =
  | { readonly kind: 'decoded'; readonly bytes: Uint8Array }
  | { readonly kind: 'bomb' | 'undecodable'; readonly detail: string };

type Coding = (bytes: Uint8Array, outputBytesMax: number, cut: boolean) => Uint8Array;

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotli],
  // RFC 8878, where the runtime has it; it is asked for nowhere.
  ...('zstdDecompressSync' in zlib ? [['zstd', zstd] as const] : []),
]);

/**
 * Undoes every coding that the headers name, the last applied first.
 *
 * @param cut the body ended before its end: what can be decoded of it counts as whole.
 */
export function decodeBody(
  body: Uint8Array,
  headers: readonly Header[],
  decodedBytesMax: number,
  cut: boolean,
): Decoded {
  const codings = codingsOf(headers);
  const outputBytesMax = Math.min(decodedBytesMax, Math.max(RATIO_FREE_BYTES, body.length * RATIO_MAX));
  return undo(body, codings, outputBytesMax, cut);
}

/**
 * The beginning of a body, at most `headBytesMax` of it, however much it grows to. For files that are read up to a
 * bound and used as far as they go (robots.txt, RFC 9309 §2.5).
 */
export function decodeHead(body: Uint8Array, headers: readonly Header[], headBytesMax: number, cut: boolean): Decoded {
  const codings = codingsOf(headers);
  if (codings.length === 0) return { kind: 'decoded', bytes: body.subarray(0, headBytesMax) };
  // Where the whole grows past the bound, half of it may not: each try is bounded, and their number is logarithmic.
  for (let taken = body.length; ; taken = taken >> 1) {
    const isWhole = taken === body.length;
    const decoded = undo(body.subarray(0, taken), codings, headBytesMax * HEAD_SLACK, cut || !isWhole);
    if (decoded.kind === 'decoded') return { kind: 'decoded', bytes: decoded.bytes.subarray(0, headBytesMax) };
    if (decoded.kind === 'undecodable' || taken === 0) return decoded;
  }
}

/** How much more than the head may be decoded at once: room, so that a plain long file is decoded in one try. */
const HEAD_SLACK = 8;

/** The codings in the order in which they were applied; `identity` is none. */
function codingsOf(headers: readonly Header[]): string[] {
  return headerValues(headers, 'content-encoding')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

function undo(body: Uint8Array, codings: readonly string[], outputBytesMax: number, cut: boolean): Decoded {
  if (codings.length > CODINGS_MAX) return { kind: 'undecodable', detail: `${codings.length} content codings` };
  let bytes = body;
  for (const name of codings.toReversed()) {
    const coding = CODINGS.get(name);
    if (coding === undefined) return { kind: 'undecodable', detail: `unknown content coding ${name.slice(0, 40)}` };
    if (bytes.length === 0) break;
    try {
      bytes = coding(bytes, outputBytesMax, cut);
    } catch (error) {
      return isOverBound(error)
        ? { kind: 'bomb', detail: `${body.length} bytes of ${name} grow past ${outputBytesMax}` }
        : { kind: 'undecodable', detail: `${name}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  if (bytes.length > outputBytesMax) return { kind: 'bomb', detail: `${bytes.length} bytes, bound ${outputBytesMax}` };
  return { kind: 'decoded', bytes };
}

function isOverBound(error: unknown): boolean {
  return error instanceof RangeError && (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}

/** Large steps: a page is out in one or two. */
const CHUNK_BYTES = 64 * 1024;

function zlibOptions(outputBytesMax: number, cut: boolean) {
  return {
    chunkSize: CHUNK_BYTES,
    maxOutputLength: Math.max(1, outputBytesMax),
    finishFlush: cut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH,
  };
}

/** RFC 1952, several members and zero padding included; what stands behind the last member and is none is left. */
function gunzip(bytes: Uint8Array, outputBytesMax: number, cut: boolean): Uint8Array {
  const options = zlibOptions(outputBytesMax, cut);
  try {
    return gunzipSync(bytes, options);
  } catch (error) {
    if (isOverBound(error)) throw error;
    const end = endOfMembers(bytes, options);
    if (end === 0 || end === bytes.length || bytes[end] === GZIP_MAGIC[0]) throw error;
    return gunzipSync(bytes.subarray(0, end), options);
  }
}

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const GZIP_TRAILER_BYTES = 8;
/** An engine is made for each that is looked at: bodies of more members, with something behind them, are not for people. */
const MEMBERS_SEARCHED_MAX = 1_000;

/** Where the last whole member ends. Each is undone once for it, under the same bound. */
function endOfMembers(bytes: Uint8Array, options: ReturnType<typeof zlibOptions>): number {
  let end = 0;
  let members = 0;
  for (let start = startOfDeflated(bytes, 0); start !== null; start = startOfDeflated(bytes, end)) {
    if (++members > MEMBERS_SEARCHED_MAX) return 0;
    const behind = start + deflatedBytesAt(bytes.subarray(start), options) + GZIP_TRAILER_BYTES;
    if (behind > bytes.length) return end;
    end = behind;
  }
  return end;
}

/** How much of it is deflated. @throws Error when the stream is broken, or ends too soon */
function deflatedBytesAt(bytes: Uint8Array, options: ReturnType<typeof zlibOptions>): number {
  // With `info` the engine comes beside the output, and knows how much it has read; the types don't say so.
  const { engine } = inflateRawSync(bytes, { ...options, info: true }) as unknown as {
    readonly engine: { readonly bytesWritten: number };
  };
  return engine.bytesWritten;
}

/** Behind the header of the member that begins there (RFC 1952 §2.3); null where none does. */
function startOfDeflated(bytes: Uint8Array, start: number): number | null {
  if (bytes[start] !== GZIP_MAGIC[0] || bytes[start + 1] !== GZIP_MAGIC[1] || bytes[start + 2] !== 8) return null;
  const flags = bytes[start + 3] ?? 0;
  let at = start + 10;
  if ((flags & 4) !== 0) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero === -1) return null;
    at = zero + 1;
  }
  if ((flags & 2) !== 0) at += 2;
  return at < bytes.length ? at : null;
}

/** RFC 9110 §8.4.1.2 says zlib (RFC 1950); the raw form (RFC 1951) comes as well. */
function inflate(bytes: Uint8Array, outputBytesMax: number, cut: boolean): Uint8Array {
  const options = zlibOptions(outputBytesMax, cut);
  if (!hasZlibHeader(bytes)) return inflateRawSync(bytes, options);
  try {
    return inflateSync(bytes, options);
  } catch (error) {
    if (isOverBound(error)) throw error;
    return inflateRawSync(bytes, options);
  }
}

/** RFC 1950 §2.2: method 8, and the first two bytes a multiple of 31. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const method = bytes[0] ?? 0;
  return (method & 0x0f) === 8 && ((method << 8) | (bytes[1] ?? 0)) % 31 === 0;
}

function brotli(bytes: Uint8Array, outputBytesMax: number, cut: boolean): Uint8Array {
  return brotliDecompressSync(bytes, {
    chunkSize: CHUNK_BYTES,
    maxOutputLength: Math.max(1, outputBytesMax),
    finishFlush: cut ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH,
  });
}

function zstd(bytes: Uint8Array, outputBytesMax: number, cut: boolean): Uint8Array {
  const { zstdDecompressSync, constants: all } = zlib as unknown as ZstdInRuntime;
  return zstdDecompressSync(bytes, {
    chunkSize: CHUNK_BYTES,
    maxOutputLength: Math.max(1, outputBytesMax),
    finishFlush: cut ? all.ZSTD_e_flush : all.ZSTD_e_end,
  });
}

/** Later runtimes have it; the types are those of the oldest that is supported. */
interface ZstdInRuntime {
  zstdDecompressSync(bytes: Uint8Array, options: object): Uint8Array;
  readonly constants: { readonly ZSTD_e_flush: number; readonly ZSTD_e_end: number };
}
