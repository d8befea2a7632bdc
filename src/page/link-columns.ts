/**
 * A page's links on their way between threads: columns instead of a list.
 *
 * A list of forty links is cloned in three times the time, as the names of all fields travel with every link, and the
 * same few hosts again and again. Here each field is a column, and what many links share stands in it once: their host,
 * and what carried them.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { ParseResult } from '../domain/parsing.js';
import type { Candidate, Source, UrlKey } from '../domain/url.js';

interface LinkColumns {
  readonly urls: readonly string[];
  readonly keys: readonly UrlKey[];
  /** Of each link: which of the places, which of the carriers. */
  readonly placeOf: readonly number[];
  readonly carrierOf: readonly number[];
  readonly places: readonly Place[];
  readonly carriers: readonly Carrier[];
}

type Place = readonly [host: HostName, origin: Origin];
type Carrier = readonly [source: Source, element: string | null, rel: string | null];

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
  const places = new Dictionary<Place>();
  const carriers = new Dictionary<Carrier>();
  return {
    urls: links.map(({ url }) => url),
    keys: links.map(({ key }) => key),
    placeOf: links.map(({ host, origin }) => places.numberOf(origin, () => [host, origin])),
    carrierOf: links.map(({ source, element, rel }) =>
      carriers.numberOf(rel === null ? `${source} ${element}` : `${source} ${element} ${rel}`, () => [
        source,
        element,
        rel,
      ]),
    ),
    places: places.values,
    carriers: carriers.values,
  };
}

class Dictionary<T> {
  readonly values: T[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(name: string, value: () => T): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.values.push(value()) - 1;
    this.numbers.set(name, number);
    return number;
  }
}

function linksOf({ urls, keys, placeOf, carrierOf, places, carriers }: LinkColumns): Candidate[] {
  return urls.map((url, i) => {
    const [host, origin] = places[placeOf[i] as number] as Place;
    const [source, element, rel] = carriers[carrierOf[i] as number] as Carrier;
    return { url, key: keys[i] as UrlKey, host, origin, source, element, rel };
  });
}
