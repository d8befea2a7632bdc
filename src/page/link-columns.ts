/**
 * A page's links on their way between threads: columns instead of a list.
 *
 * A list of forty links is cloned in three times the time, as the names of all fields travel with every link, and the
 * same few hosts again and again. Here each field is a column, and a host stands in it once.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { ParseResult } from '../domain/parsing.js';
import type { Candidate, Source, UrlKey } from '../domain/url.js';

/** The first five are of one length. */
interface LinkColumns {
  readonly urls: readonly string[];
  readonly keys: readonly UrlKey[];
  readonly elements: readonly (string | null)[];
  readonly sources: readonly Source[];
  /** Of each link: where its host and origin stand. */
  readonly places: readonly number[];
  readonly hosts: readonly HostName[];
  readonly origins: readonly Origin[];
}

/** An answer as it crosses: its page without the links, and the links; null where there is no page. */
export interface PackedResult {
  readonly result: ParseResult;
  readonly links: LinkColumns | null;
}

export function packed(result: ParseResult): PackedResult {
  if (result.kind !== 'parsed' || result.page === null) return { result, links: null };
  return { result: { ...result, page: { ...result.page, links: [] } }, links: columnsOf(result.page.links) };
}

export function unpacked({ result, links }: PackedResult): ParseResult {
  if (links === null || result.kind !== 'parsed' || result.page === null) return result;
  return { ...result, page: { ...result.page, links: linksOf(links) } };
}

function columnsOf(links: readonly Candidate[]): LinkColumns {
  const hosts: HostName[] = [];
  const origins: Origin[] = [];
  const placeOf = new Map<Origin, number>();
  const places = links.map(({ host, origin }) => {
    const known = placeOf.get(origin);
    if (known !== undefined) return known;
    placeOf.set(origin, origins.length);
    hosts.push(host);
    return origins.push(origin) - 1;
  });
  return {
    urls: links.map(({ url }) => url),
    keys: links.map(({ key }) => key),
    elements: links.map(({ element }) => element),
    sources: links.map(({ source }) => source),
    places,
    hosts,
    origins,
  };
}

function linksOf({ urls, keys, elements, sources, places, hosts, origins }: LinkColumns): Candidate[] {
  return urls.map((url, i) => {
    const place = places[i] as number;
    return {
      url,
      key: keys[i] as UrlKey,
      host: hosts[place] as HostName,
      origin: origins[place] as Origin,
      source: sources[i] as Source,
      element: elements[i] as string | null,
    };
  });
}
