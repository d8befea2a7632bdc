/**
 * CDXJ, the index beside an archive file: one line a response record, `SURT timestamp {json}`.
 *
 * The key is a SURT (Sort-friendly URI Reordering Transform) as replay tools look it up: no scheme, no `www.`, host
 * labels reversed, all lower case, query parameters sorted. Lines come in the order of appending; who needs them
 * sorted sorts bytes (`LC_ALL=C sort`). Numbers are strings, as pywb writes them.
 */
import type { ArchiveEntry } from '../protocols/commit.js';

export interface ArchivePlace {
  /** Name of the archive file without its folder, which the index stands in too. */
  readonly filename: string;
  /** Of the response member. */
  readonly offset: number;
  readonly length: number;
}

/** One line with its line end. */
export function cdxjLine(entry: ArchiveEntry, place: ArchivePlace): string {
  const fields = {
    url: entry.url,
    mime: entry.mime,
    status: String(entry.status),
    digest: entry.payloadDigest,
    length: String(place.length),
    offset: String(place.offset),
    filename: place.filename,
  };
  return `${surt(entry.url)} ${timestamp14(entry.atMs)} ${JSON.stringify(fields)}\n`;
}

/** What a repair needs of a line; null when it is none of ours. */
export function readCdxjLine(
  line: string,
): { readonly url: string; readonly offset: number; readonly length: number } | null {
  try {
    const fields: unknown = JSON.parse(line.slice(line.indexOf(' {') + 1));
    if (typeof fields !== 'object' || fields === null) return null;
    const { url, offset, length } = fields as Record<string, unknown>;
    const place = { url, offset: Number(offset), length: Number(length) };
    if (typeof url !== 'string' || !Number.isSafeInteger(place.offset) || !Number.isSafeInteger(place.length))
      return null;
    return { ...place, url };
  } catch {
    return null;
  }
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
