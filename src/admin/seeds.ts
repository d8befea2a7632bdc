/**
 * Seeds as somebody wrote them, one a line or one an argument: what each means, and what became of it.
 *
 * One bad line stops nobody: the good ones enter together, in one commit, and each gets its verdict. The same wish once
 * more queues nothing twice.
 */
import type { Code } from '../domain/outcome.js';
import type { Candidate, RefusedSeed } from '../domain/url.js';
import { withoutCredentials } from '../domain/credentials.js';
import { candidate, isRefused } from '../page/candidate.js';
import type { SeedReport, SeedWish } from './control.js';

/** A scheme, but not the port of a host: `localhost:8080`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))/i;
/** What http may be assumed for: a name with a dot, an address, or this machine. */
const HOST = /^(?:localhost|\[[^\]]*\]|[^/?#:]*\.[^/?#:]*)(?:[:/?#]|$)/i;

/** A URL, or a host for which http is assumed. */
export function readSeed(text: string): Candidate | { readonly refusal: Code } {
  const hasScheme = SCHEME.test(text);
  if (!hasScheme && !HOST.test(text)) return { refusal: 'url_invalid' };
  return candidate(hasScheme ? text : `http://${text}`, null, 'seed', null);
}

/** What the engine made of candidates: URLs that were queued, and URLs that it knew already. */
export interface Sown {
  readonly queued: readonly string[];
  readonly known: readonly string[];
  /** What the rules of the crawl don't let in. */
  readonly refused: readonly RefusedSeed[];
}

/** The engine, or a store without one. */
export interface Field {
  /** Why this one may not be asked for at all, whatever its name resolves to; null where nothing is known against it. */
  refusalOf(candidate: Candidate): Code | null;
  /** All in one commit; resolves after it. */
  sow(candidates: readonly Candidate[], again: boolean): Promise<Sown>;
}

/** Candidates that are made in one go: some milliseconds. */
const MADE_AT_ONCE = 500;

/** Sows what can be sown; rejects only where the field does. */
export async function sowAll({ urls, again }: SeedWish, field: Field): Promise<SeedReport> {
  const lines: { input: string; url: string | null; code: Code | null }[] = [];
  const candidates = new Map<string, Candidate>();
  for (let from = 0; from < urls.length; from += MADE_AT_ONCE) {
    // The crawl shares this thread: a hundred thousand seeds leave it room.
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const input of urls.slice(from, from + MADE_AT_ONCE)) {
      const made = readSeed(input.trim());
      const code = isRefusal(made) ? made.refusal : field.refusalOf(made);
      lines.push({ input: shown(input), url: isRefusal(made) ? null : made.url, code });
      if (!isRefusal(made) && code === null && !candidates.has(made.url)) candidates.set(made.url, made);
    }
  }
  const sown = candidates.size === 0 ? NOTHING : await field.sow([...candidates.values()], again);
  const refused = new Map(sown.refused.map((refusal) => [refusal.url, refusal]));
  const judged = lines.map((line) => {
    const refusal = line.code === null ? refused.get(line.url ?? '') : undefined;
    return refusal === undefined ? line : { ...line, ...refusal };
  });
  return reportOf(judged, new Set(sown.queued));
}

const NOTHING: Sown = { queued: [], known: [], refused: [] };

/** Of the same URL twice the first is the one that was queued. */
function reportOf(
  lines: readonly { input: string; url: string | null; code: Code | null; detail?: string }[],
  queued: Set<string>,
): SeedReport {
  const counts = { queued: 0, known: 0, refused: 0 };
  const seeds = lines.map(({ input, url, code, detail }) => {
    const verdict = code !== null || url === null ? 'refused' : queued.delete(url) ? 'queued' : 'known';
    counts[verdict] += 1;
    return { input, url, verdict, code, ...(detail === undefined ? {} : { detail }) } as const;
  });
  return { ...counts, seeds };
}

const SHOWN_MAX = 200;

/** Whoever sent three megabytes, or a password, knows it already. */
function shown(input: string): string {
  const text = withoutCredentials(input);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${input.length} characters)`;
}

function isRefusal(made: Candidate | { readonly refusal: Code }): made is { readonly refusal: Code } {
  return isRefused(made as Candidate);
}
