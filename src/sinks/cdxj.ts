/**
 * CDXJ, the index beside an archive file: one line a response or revisit record, `SURT timestamp {json}`.
 *
 * The key is a SURT (Sort-friendly URI Reordering Transform) as replay tools look it up: no scheme, no `www.`, host
 * labels reversed, all lower case, query parameters sorted. While an archive file grows, its lines come in the order of
 * appending; afterwards they are sorted by bytes (as by `LC_ALL=C sort`), so that a URL is found by bisection and
 * indexes are merged by `sort -m`. Numbers are strings, as pywb writes them.
 */
import { Buffer } from 'node:buffer';

/** What a line says of a response or a revisit. */
export interface IndexEntry {
  readonly url: string;
  readonly atMs: number;
  /** `warc/revisit` for a revisit; null where the answer does not say. */
  readonly mime: string | null;
  readonly status: number;
  /** With its algorithm in front, which the line does not have. */
  readonly payloadDigest: string;
}

export interface ArchivePlace {
  /** Name of the archive file without its folder, which the index stands in too. */
  readonly filename: string;
  /** Of the member. */
  readonly offset: number;
  readonly length: number;
}

export const REVISIT_MIME = 'warc/revisit';

/** One line with its line end. */
export function cdxjLine({ url, atMs, mime, status, payloadDigest }: IndexEntry, place: ArchivePlace): string {
  const fields = {
    url,
    ...(mime === null ? {} : { mime }),
    status: String(status),
    digest: payloadDigest.slice(payloadDigest.indexOf(':') + 1),
    length: String(place.length),
    offset: String(place.offset),
    filename: place.filename,
  };
  return `${surt(url)} ${timestamp14(atMs)} ${JSON.stringify(fields)}\n`;
}

/** What a repair needs of a line. */
export interface IndexLine {
  readonly url: string;
  /** With its algorithm. */
  readonly payloadDigest: string;
  readonly offset: number;
  readonly length: number;
}

/** Null when it is none of ours. */
export function readCdxjLine(line: string): IndexLine | null {
  try {
    const fields: unknown = JSON.parse(line.slice(line.indexOf(' {') + 1));
    if (typeof fields !== 'object' || fields === null) return null;
    const { url, digest, offset, length } = fields as Record<string, unknown>;
    const place = { offset: Number(offset), length: Number(length) };
    if (typeof url !== 'string' || !Number.isSafeInteger(place.offset) || !Number.isSafeInteger(place.length))
      return null;
    const named = String(digest);
    return { ...place, url, payloadDigest: named.includes(':') ? named : `sha1:${named}` };
  } catch {
    return null;
  }
}

/** The media type that a head declares, without parameters, as other indexers write it; null where there is none. */
export function mimeOfHead(head: string): string | null {
  const declared = [...head.matchAll(/^content-type[ \t]*:([^\r\n]*)/gim)].map(([, value = '']) => value.trim());
  if (declared.every((value) => value === '')) return null;
  return (declared.join(', ').split(';', 1)[0] as string).trim();
}

/** All lines of an index in byte order, which is the order of URLs and then of times. Lines end in a line end. */
export function sortedLines(index: Buffer): Buffer {
  // As Latin-1 text is compared by its code units, so are its bytes.
  const lines = index.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  lines.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
}

/** `com,example)/path?a=1`; what isn't an http URL stays as it is. */
export function surt(url: string): string {
  const parsed = /^https?:/i.test(url) ? parseUrl(url.replace(/^(https?:\/\/)www\d*\./i, '$1').toLowerCase()) : null;
  if (parsed === null) return url;
  const host = parsed.hostname.split('.').reverse().join(',');
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  return `${host}${port})${parsed.pathname}${sortedQuery(parsed.search)}`;
}

/** Parameters in byte order, spelt as they were. */
function sortedQuery(search: string): string {
  return search.includes('&') ? `?${search.slice(1).split('&').sort().join('&')}` : search;
}

function parseUrl(url: string): URL | null {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

/** `YYYYMMDDhhmmss` in UTC. */
export function timestamp14(atMs: number): string {
  const iso = new Date(atMs).toISOString();
  return (
    iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10) + iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19)
  );
}
