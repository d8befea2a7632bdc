/** pages.jsonl: one line a visit that ended in fetched or unchanged. The field names are a contract with its readers. */
import type { PageLine } from '../protocols/commit.js';

export interface WarcPlace {
  /** Whether the body is there, or what the archive held before is referred to. */
  readonly type: 'response' | 'revisit';
  /** Path of the archive file from the data directory. */
  readonly file: string;
  /** Of the member, which can be read by itself. */
  readonly offset: number;
  readonly length: number;
}

/** One line with its line end. */
export function pageLine(page: PageLine, warc: WarcPlace | null): string {
  return `${JSON.stringify({
    url: page.url,
    canonical: page.canonical,
    fetchedAt: page.fetchedAt,
    status: page.status,
    mime: page.mime,
    charset: page.charset,
    title: page.title,
    digest: page.digest,
    simhash: page.simhash,
    declaredCanonical: page.declaredCanonical,
    kind: page.kind,
    links: page.links,
    noindex: page.noindex,
    outcome: page.outcome,
    warc,
  })}\n`;
}

/** Where a line says its archive record lies: null when it lies nowhere, undefined when it is no line of ours. */
export function warcOfPageLine(line: string): Omit<WarcPlace, 'type'> | null | undefined {
  try {
    const page: unknown = JSON.parse(line);
    if (typeof page !== 'object' || page === null || !('warc' in page)) return undefined;
    const warc = page.warc as Partial<WarcPlace> | null;
    if (warc === null) return null;
    const { file, offset, length } = warc;
    if (typeof file !== 'string' || typeof offset !== 'number' || typeof length !== 'number') return undefined;
    return { file, offset, length };
  } catch {
    return undefined;
  }
}
