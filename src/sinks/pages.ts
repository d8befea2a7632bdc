/** pages.jsonl: one line a visit that ended in fetched or unchanged. The field names are a contract with its readers. */
import type { ArchivePlace, PageLine } from '../protocols/commit.js';

export type WarcPlace = ArchivePlace;

/** One line with its line end. */
export function pageLine(page: PageLine, warc: WarcPlace | null): string {
  const line = JSON.stringify({
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
  });
  return page.data === undefined ? `${line}\n` : `${line.slice(0, -1)},"data":${page.data}}\n`;
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
