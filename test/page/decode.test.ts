import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeBody, decodeHead, RATIO_FREE_BYTES, RATIO_MAX } from '../../src/page/decode.js';
import type { Header } from '../../src/domain/fetching.js';

const LARGE = 64 * 1024 * 1024;
const TEXT = Buffer.from('some text that is long enough to be worth a coding '.repeat(50));

function coded(...names: string[]): Header[] {
  return names.map((name) => ['content-Encoding', name]);
}

function decode(body: Uint8Array, headers: Header[], boundBytes = LARGE, cut = false): string | Buffer {
  const decoded = decodeBody(body, headers, boundBytes, cut);
  return decoded.kind === 'decoded' ? Buffer.from(decoded.bytes) : decoded.kind;
}

describe('content codings (RFC 9110 §8.4.1)', () => {
  it.each<[string, Uint8Array, Header[]]>([
    ['gzip', gzipSync(TEXT), coded('gzip')],
    ['x-gzip', gzipSync(TEXT), coded('X-GZIP')],
    ['deflate with zlib header', deflateSync(TEXT), coded('deflate')],
    ['raw deflate', deflateRawSync(TEXT), coded('deflate')],
    ['br', brotliCompressSync(TEXT), coded('br')],
    ['identity', TEXT, coded('identity')],
    ['no header', TEXT, []],
    ['two in one header', brotliCompressSync(gzipSync(TEXT)), coded('gzip, br')],
    ['two in two headers', brotliCompressSync(gzipSync(TEXT)), coded('gzip', 'br')],
    ['two members (RFC 1952 §2.2)', Buffer.concat([gzipSync(TEXT.subarray(0, 100)), gzipSync(TEXT.subarray(100))]), coded('gzip')],
    ['512 bytes of zero padding', Buffer.concat([gzipSync(TEXT), Buffer.alloc(512)]), coded('gzip')],
  ])('%s', (_, body, headers) => {
    expect(decode(body, headers)).toEqual(TEXT);
  });

  it.each(['gzip', 'deflate', 'br', 'gzip, br'])('an empty body under %s is empty', (name) => {
    expect(decode(new Uint8Array(0), coded(name))).toEqual(Buffer.alloc(0));
  });

  it('refuses unknown codings, a third one, and what is broken', () => {
    expect(decode(TEXT, coded('zstd'))).toBe('undecodable');
    expect(decode(TEXT, coded('gzip'))).toBe('undecodable');
    expect(decode(TEXT, coded('deflate'))).toBe('undecodable');
    expect(decode(TEXT, coded('br'))).toBe('undecodable');
    expect(decode(gzipSync(gzipSync(TEXT)), coded('gzip, gzip'))).toEqual(TEXT);
    expect(decode(gzipSync(gzipSync(gzipSync(TEXT))), coded('gzip, gzip, gzip'))).toBe('undecodable');
  });

  it.each<[string, Uint8Array]>([
    ['gzip', gzipSync(TEXT, { level: 0 })],
    ['deflate', deflateSync(TEXT, { level: 0 })],
  ])('a %s body that ends early is undecodable, unless it was cut on purpose', (name, whole) => {
    const half = whole.subarray(0, whole.length >> 1);
    expect(decode(half, coded(name))).toBe('undecodable');
    const begun = decode(half, coded(name), LARGE, true);
    expect(begun.length).toBeGreaterThan(TEXT.length / 3);
    expect(begun).toEqual(TEXT.subarray(0, begun.length));
  });

  it('a br body that was cut gives its beginning', () => {
    const noise = Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * i * 31) >> (i % 7)));
    const whole = brotliCompressSync(noise);
    const begun = decode(whole.subarray(0, whole.length - 50), coded('br'), LARGE, true);
    expect(begun).toEqual(noise.subarray(0, begun.length));
    expect(decode(whole.subarray(0, whole.length - 50), coded('br'))).toBe('undecodable');
  });
});

describe('bombs', () => {
  it('bounds the output at n, not at n + 1', () => {
    const body = gzipSync(TEXT);
    expect(decode(body, coded('gzip'), TEXT.length)).toEqual(TEXT);
    expect(decode(body, coded('gzip'), TEXT.length - 1)).toBe('bomb');
    expect(decode(TEXT, [], TEXT.length)).toEqual(TEXT);
    expect(decode(TEXT, [], TEXT.length - 1)).toBe('bomb');
  });

  it('lets a high ratio pass up to 1 MiB, and no byte further', () => {
    expect(RATIO_MAX * gzipSync(Buffer.alloc(RATIO_FREE_BYTES)).length).toBeLessThan(RATIO_FREE_BYTES);
    expect(decode(gzipSync(Buffer.alloc(RATIO_FREE_BYTES)), coded('gzip')).length).toBe(RATIO_FREE_BYTES);
    expect(decode(gzipSync(Buffer.alloc(RATIO_FREE_BYTES + 1)), coded('gzip'))).toBe('bomb');
  });

  it.each<[string, Uint8Array]>([
    ['gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ['br', brotliCompressSync(Buffer.alloc(64 * 1024 * 1024))],
    ['deflate', deflateRawSync(Buffer.alloc(64 * 1024 * 1024))],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(64 * 1024 * 1024)))],
  ])('stops a bomb of %s', (name, body) => {
    expect(decode(body, coded(name))).toBe('bomb');
  });

  it('reads the head of a file however much it grows to (RFC 9309 §2.5)', () => {
    const head = (body: Uint8Array, headBytes: number) => decodeHead(body, coded('gzip'), headBytes, false);
    const lines = Buffer.from(Array.from({ length: 40_000 }, (_, i) => `Disallow: /${i}\n`).join(''));
    const read = head(gzipSync(lines), 1000);
    expect(read.kind === 'decoded' && Buffer.from(read.bytes).equals(lines.subarray(0, 1000))).toBe(true);
    const zeros = head(gzipSync(Buffer.alloc(32 * 1024 * 1024)), 512_000);
    expect(zeros.kind === 'decoded' && zeros.bytes.length).toBe(512_000);
    const plain = decodeHead(lines, [], 512, false);
    expect(plain.kind === 'decoded' && plain.bytes.length).toBe(512);
    expect(head(TEXT, 512).kind).toBe('undecodable');
  });
});
