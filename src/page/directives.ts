/**
 * What a page asks of robots: `<meta name=robots>` and X-Robots-Tag.
 *
 * Directives add up and the strictest holds. Those that name one crawler are ours where they name us.
 */
import type { Header } from '../domain/fetching.js';
import { headerValues } from './headers.js';

export interface Directives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

export const NO_DIRECTIVES: Directives = { noindex: false, nofollow: false };

export function bothDirectives(a: Directives, b: Directives): Directives {
  return { noindex: a.noindex || b.noindex, nofollow: a.nofollow || b.nofollow };
}

/** The `content` of a robots meta element: words between commas. */
export function parseDirectives(content: string): Directives {
  const words = content.toLowerCase().split(/[\s,]+/);
  const isNone = words.includes('none');
  return { noindex: isNone || words.includes('noindex'), nofollow: isNone || words.includes('nofollow') };
}

/** Does a meta element of this name speak to us? `productToken` is in lower case. */
export function speaksToUs(name: string | null, productToken: string): boolean {
  if (name === null) return false;
  const asked = name.trim().toLowerCase();
  return asked === 'robots' || asked === productToken;
}

/** Words before a colon that are no crawler's name. */
const DIRECTIVES_WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/**
 * X-Robots-Tag. `name: ` before a directive makes it and those after it that crawler's, until another name comes: lines
 * of several names are joined by caches on the way. A new line begins with all crawlers again.
 *
 * @param productToken in lower case.
 */
export function headerDirectives(headers: readonly Header[], productToken: string): Directives {
  let all = NO_DIRECTIVES;
  for (const value of headerValues(headers, 'x-robots-tag')) {
    let isOurs = true;
    for (const part of value.split(',')) {
      const [whole = '', name = ''] = /^\s*([a-z][^\s:]*)\s*:/i.exec(part) ?? [];
      const isName = name !== '' && !DIRECTIVES_WITH_VALUE.has(name.toLowerCase());
      if (isName) isOurs = name.toLowerCase() === productToken;
      if (isOurs) all = bothDirectives(all, parseDirectives(isName ? part.slice(whole.length) : part));
    }
  }
  return all;
}
