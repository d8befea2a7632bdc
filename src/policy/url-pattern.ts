/**
 * Patterns of URLs, as operators write them to include and exclude.
 *
 * They read like the rules of a robots.txt, which whoever runs a crawler knows: `*` stands for any characters, a pattern
 * need not reach the end of what it is matched against, and a `$` at its end says that it must.
 *
 * | pattern | is matched against |
 * |---|---|
 * | `/private/` | path and query of any host |
 * | `example.org`, `*.example.org` | a whole host name |
 * | `example.org/private/` | host (with its port, if it has one), path and query |
 * | `https://example.org/`, `*.png$` | the whole URL |
 * | `regex:\.(zip|iso)$` | the whole URL, anywhere in it, as a regular expression |
 *
 * Invariant: every pattern is decided in time linear in the URL, for each star or state of it: nothing backtracks, as
 * the URLs come from strangers. Regular expressions are those of RE2, which has no look-around and no back-references.
 */
import { RE2JS } from 're2js';

export interface UrlPattern {
  /** As it was written. */
  readonly text: string;
  readonly matches: (url: string) => boolean;
}

/** Why something is no pattern. */
export interface PatternProblem {
  readonly problem: string;
}

export const PATTERN_CHARACTERS_MAX = 2_048;

/** A pattern, or what is wrong with it. */
export function patternOf(text: string): UrlPattern | PatternProblem {
  if (text.length === 0) return { problem: 'an empty pattern' };
  if (text.length > PATTERN_CHARACTERS_MAX) return { problem: `longer than ${PATTERN_CHARACTERS_MAX} characters` };
  if (text.startsWith(REGEX)) return regexPattern(text);
  if (/\s/.test(text)) return { problem: 'it holds white space, which no URL has' };
  if (text.startsWith('/')) return wildcard(text, text, pathOf);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return wildcard(text, text, (url) => url);
  if (text.includes('/')) return wildcard(text, text, hostAndPathOf);
  // No host ends in it: what is meant is how the URL ends.
  if (text.endsWith('$')) return wildcard(text, text, (url) => url);
  // A host alone is meant whole: `example.org` is not the beginning of `example.organic`.
  return wildcard(text, `${text}$`, hostnameOf);
}

export function isProblem(pattern: UrlPattern | PatternProblem): pattern is PatternProblem {
  return 'problem' in pattern;
}

/** The first of them that matches; null when none does. */
export function firstMatch(patterns: readonly UrlPattern[], url: string): UrlPattern | null {
  for (const pattern of patterns) if (pattern.matches(url)) return pattern;
  return null;
}

const REGEX = 'regex:';

function regexPattern(text: string): UrlPattern | PatternProblem {
  try {
    const regex = RE2JS.compile(text.slice(REGEX.length));
    return { text, matches: (url) => regex.matcher(url).find() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function wildcard(text: string, rule: string, partOf: (url: string) => string): UrlPattern {
  const isWhole = rule.endsWith('$');
  const pieces = (isWhole ? rule.slice(0, -1) : rule).split('*');
  return { text, matches: (url) => piecesMatch(pieces, isWhole, partOf(url)) };
}

/** Each piece is looked for where the one before it ended: the leftmost place is never worse than a later one. */
function piecesMatch(pieces: readonly string[], isWhole: boolean, subject: string): boolean {
  const first = pieces[0] as string;
  if (!subject.startsWith(first)) return false;
  if (pieces.length === 1) return !isWhole || subject.length === first.length;
  let at = first.length;
  const lastIndex = pieces.length - 1;
  for (let i = 1; i < lastIndex; i++) {
    const piece = pieces[i] as string;
    const found = subject.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  const last = pieces[lastIndex] as string;
  if (!isWhole) return subject.indexOf(last, at) >= 0;
  return subject.length - last.length >= at && subject.endsWith(last);
}

// -- parts of a canonical URL -----------------------------------------------------------------------------------

function afterScheme(url: string): number {
  return url.indexOf('://') + 3;
}

function pathOf(url: string): string {
  return url.slice(url.indexOf('/', afterScheme(url)));
}

function hostAndPathOf(url: string): string {
  return url.slice(afterScheme(url));
}

function hostnameOf(url: string): string {
  const from = afterScheme(url);
  const host = url.slice(from, url.indexOf('/', from));
  return host.replace(/:\d+$/, '').replace(/\.$/, '');
}
