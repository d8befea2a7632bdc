/** From what the engine tells of a page to the page that a program gets. */
import type { CrawlEvent } from '../protocols/events.js';
import type { Page } from './page.js';

export function pageOf({ line, delivery, place }: Extract<CrawlEvent, { event: 'page' }>): Page {
  const { url, canonical, declaredCanonical, fetchedAt, status, mime, charset, title, kind, noindex } = line;
  const { headers, text, body, links } = delivery;
  return {
    ...{ url, canonical, declaredCanonical, fetchedAt, status, mime, charset, title, kind, noindex },
    headers,
    digest: line.digest,
    simhash: line.simhash,
    outcome: line.outcome,
    warc: place,
    linkCount: line.links,
    links: links === null ? null : links.map(({ url, element, rel }) => ({ url, element, rel })),
    text,
    body,
    data: line.data === undefined ? null : (JSON.parse(line.data) as unknown),
  };
}

const LINK_BYTES = 200;
const FACTS_BYTES = 1_000;

/** About so many bytes of memory. */
export function bytesOf({ text, body, links, headers }: Page): number {
  const held = 2 * (text?.length ?? 0) + (body?.length ?? 0) + LINK_BYTES * (links?.length ?? 0);
  return FACTS_BYTES + held + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}
