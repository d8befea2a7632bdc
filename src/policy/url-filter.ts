/** What a URL filter's answer means. A filter that fails costs the URL that it was asked about, and nothing else. */
import type { UrlCandidate, UrlFilter } from '../plugins/url-filter.js';

export interface FilterRefusal {
  readonly code: 'filtered' | 'plugin_failed';
  /** The filter's reason, or what went wrong with it. */
  readonly detail: string;
}

const DETAIL_CHARACTERS_MAX = 300;

/** Null: it may enter. */
export function filterRefusal(filter: UrlFilter, candidate: UrlCandidate): FilterRefusal | null {
  let answer: unknown;
  try {
    answer = filter(candidate);
  } catch (error) {
    return failure(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
  if (answer === true) return null;
  if (answer === false) return { code: 'filtered', detail: 'the URL filter left it' };
  if (typeof answer === 'string') return { code: 'filtered', detail: answer.slice(0, DETAIL_CHARACTERS_MAX) };
  return failure(`it answered with ${answer === null ? 'null' : typeof answer} instead of true, false or a reason`);
}

function failure(what: string): FilterRefusal {
  return { code: 'plugin_failed', detail: `urlFilter: ${what}`.slice(0, DETAIL_CHARACTERS_MAX) };
}
