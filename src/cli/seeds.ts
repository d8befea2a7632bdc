/**
 * Seeds: from what somebody typed to candidates, and what became of each.
 *
 * A link that leads nowhere is the web's affair and a figure in the summary. A seed that does is the user's: each is
 * named, with why and what to do about it.
 */
import { withoutCredentials } from '../domain/credentials.js';
import { readSeed } from '../admin/seeds.js';
import { type Code, CODES, type OutcomeKind } from '../domain/outcome.js';
import type { Candidate } from '../domain/url.js';
import type { CrawlEvent } from '../protocols/events.js';
import { CommandError, EXIT } from './terminal.js';

/** A seed that brought nothing, and that no later run is going to ask for by itself. */
export interface LostSeed {
  readonly url: string;
  readonly outcome: OutcomeKind;
  readonly code: Code;
  /** Where it redirects to, if that is what may not be fetched. */
  readonly target?: string;
}

/** Throws CommandError. */
export function seedOf(text: string): Candidate {
  const made = readSeed(text);
  if (!('refusal' in made)) return made;
  const { refusal } = made;
  const shown = withoutCredentials(text.slice(0, 200));
  const isWord = refusal === 'url_invalid' && !/[.:/]/.test(text);
  const what = isWord ? `neither a URL nor a host: ${shown}` : `${CODES[refusal]}: ${shown}`;
  const advice = isWord ? 'write a URL, as in https://example.org/' : 'give an http or https URL';
  throw new CommandError(refusal, what, EXIT.usage, 'seed', advice);
}

/** Ends of a visit after which nothing more comes of a URL: what was challenged is tried in other ways, or later. */
const LOST: ReadonlySet<OutcomeKind> = new Set(['refused', 'missing', 'gone', 'blocked_by_robots', 'dead']);

/** Hears what the crawl tells, and remembers what concerns its seeds. */
export class SeedFates {
  readonly #pending: Set<string>;
  readonly #lost = new Map<string, LostSeed>();

  constructor(seeds: readonly Candidate[]) {
    this.#pending = new Set(seeds.map(({ url }) => url));
  }

  hear(event: CrawlEvent): void {
    if (event.event === 'seeded') {
      for (const { url, code } of event.refused) this.#lose({ url, outcome: 'refused', code });
    } else if (event.event === 'redirect_refused' && this.#pending.has(event.url)) {
      const { url, target, code } = event;
      this.#lose({ url, outcome: 'refused', code, target });
    } else if (event.event === 'visit' && LOST.has(event.outcome) && this.#pending.has(event.url)) {
      const { url, outcome, code } = event;
      this.#lose({ url, outcome, code });
    }
  }

  lost(): readonly LostSeed[] {
    return [...this.#lost.values()];
  }

  /** Not one is left from which anything came, or still may. */
  areAllLost(): boolean {
    return this.#pending.size === 0 && this.#lost.size > 0;
  }

  #lose(seed: LostSeed): void {
    this.#pending.delete(seed.url);
    this.#lost.set(seed.url, seed);
  }
}

/** `http://10.0.0.1/: the address is not one that a crawl may reach [guard_refused]`. */
export function formatLostSeed({ url, code, target }: LostSeed): string {
  const way = target === undefined ? url : `${url} redirects to ${target}`;
  return `${way}: ${CODES[code]} [${code}]`;
}

/** What to do about a seed that was lost for this reason; null where only its owner can. */
export function adviceFor({ code, url }: LostSeed): string | null {
  switch (code) {
    case 'guard_refused':
      return `allow its network if it is meant, as in --set guard.allow='["${networkOf(url)}"]'`;
    case 'robots_disallowed':
      return 'begin with a URL that its robots.txt allows';
    case 'out_of_scope':
      return 'give where it redirects to as a seed, or widen the scope';
    case 'http_not_found':
    case 'http_gone':
      return 'check the URL';
    default:
      return null;
  }
}

/** The address alone where the URL has one, else loopback as an example. */
function networkOf(url: string): string {
  const host = new URL(url).hostname;
  if (host.startsWith('[')) return `${host.slice(1, -1)}/128`;
  return /^[\d.]+$/.test(host) && !host.startsWith('127.') ? `${host}/32` : '127.0.0.0/8';
}
