/**
 * What a page asks of robots: `<meta name=robots>` and X-Robots-Tag.
 *
 * Directives add up and the strictest holds. Those that name one crawler are not ours to follow.
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

/** `name: ` before a directive makes it and those after it in that line another crawler's. These are no crawlers. */
const DIRECTIVES_WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

export function headerDirectives(headers: readonly Header[]): Directives {
  let all = NO_DIRECTIVES;
  for (const value of headerValues(headers, 'x-robots-tag')) {
    for (const part of value.split(',')) {
      const name = /^\s*([^\s:]+)\s*:/.exec(part)?.[1]?.toLowerCase();
      if (name !== undefined && !DIRECTIVES_WITH_VALUE.has(name)) break;
      all = bothDirectives(all, parseDirectives(part));
    }
  }
  return all;
}
