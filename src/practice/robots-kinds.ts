/**
 * The robots.txt files of the practice web, one kind a host.
 *
 * The paths they name are those that only leaves bear (`sections` in the web's description), so that a rule hides the
 * pages it names and no others. `closed` shuts a whole site and is given only to hosts that no other hangs from.
 */
import type { Failure } from './faults.js';

export type RobotsKindName =
  | 'none'
  | 'allow'
  | 'prefixes'
  | 'wildcards'
  | 'crawl-delay'
  | 'decimal-delay'
  | 'garbage-delay'
  | 'capped-delay'
  | 'groups'
  | 'unavailable-once'
  | 'throttled-once'
  | 'forbidden'
  | 'closed';

/** What `/robots.txt` of a host answers, after its failures. */
export interface RobotsFile {
  readonly kind: RobotsKindName;
  readonly failures: readonly Failure[];
  readonly final:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'refused'; readonly status: 403 | 404 };
}

export const QUIET_ROBOTS: readonly RobotsKindName[] = ['allow'];
export const ORDINARY_ROBOTS: readonly RobotsKindName[] = [
  'none',
  'prefixes',
  'wildcards',
  'crawl-delay',
  'groups',
  'allow',
  'closed',
];
export const FAULTY_ROBOTS: readonly RobotsKindName[] = [
  ...(['none', 'prefixes', 'unavailable-once', 'wildcards', 'crawl-delay'] as const),
  ...(['groups', 'forbidden', 'throttled-once', 'allow', 'closed'] as const),
];

/** Of patient sites: delays in every way in which they are written. */
export const DEMANDING_ROBOTS: readonly RobotsKindName[] = [
  ...(['none', 'prefixes', 'decimal-delay', 'wildcards', 'crawl-delay', 'garbage-delay', 'groups'] as const),
];
/** A minute of waiting each, and more: only for webs that take longer than that in any case. */
export const SLOW_ROBOTS: readonly RobotsKindName[] = ['unavailable-once', 'capped-delay', 'throttled-once'];

const PREFIXES = 'User-agent: *\nDisallow: /private/\nAllow: /private/open-\n';

/** `pageCount` chooses the Crawl-delay: a large site with a long one would only make a crawl long. */
export function robotsFile(kind: RobotsKindName, productToken: string, pageCount: number): RobotsFile {
  switch (kind) {
    case 'none':
      return { kind, failures: [], final: { kind: 'refused', status: 404 } };
    case 'forbidden':
      return { kind, failures: [], final: { kind: 'refused', status: 403 } };
    case 'allow':
      return served(kind, '# Come in.\nUser-agent: *\nDisallow:\n');
    case 'prefixes':
      return served(kind, PREFIXES);
    case 'wildcards':
      return served(kind, 'User-agent: *\nDisallow: /*.tmp$\nDisallow: /*?id=\nDisallow: /chain/*/2\n');
    case 'crawl-delay':
      return served(kind, `User-agent: *\nCrawl-delay: ${suitableDelaySeconds(pageCount)}\nDisallow: /archive/\n`);
    case 'decimal-delay':
      return served(kind, 'User-agent: *\nCrawl-delay: .45\nCrawl-delay: 0.35\nDisallow: /archive/\n');
    case 'garbage-delay':
      return served(kind, 'User-agent: *\nCrawl-delay: a while\nCrawl-delay: -5\nDisallow: /private/\n');
    case 'capped-delay':
      // Only the front page, so that the longest delay there is has to be waited for once.
      return served(kind, 'User-agent: *\nCrawl-delay: 86400\nDisallow: /\nAllow: /$\n');
    case 'groups':
      return served(kind, groups(productToken));
    case 'unavailable-once':
      return served(kind, PREFIXES, [{ kind: 'status', status: 503, retryAfterSeconds: null }]);
    case 'throttled-once':
      return served(kind, PREFIXES, [{ kind: 'status', status: 429, retryAfterSeconds: 1 }]);
    case 'closed':
      return served(kind, 'User-agent: *\nDisallow: /\n');
  }
}

function served(kind: RobotsKindName, text: string, failures: readonly Failure[] = []): RobotsFile {
  return { kind, failures, final: { kind: 'text', text } };
}

function suitableDelaySeconds(pageCount: number): number {
  if (pageCount <= 8) return 1;
  return pageCount <= 30 ? 0.3 : 0.05;
}

/** The crawler's rules stand in two groups of its own, between ones that are none of its business. */
function groups(productToken: string): string {
  return [
    'User-agent: OtherBot\nDisallow: /\n',
    `User-agent: ${productToken}\nUser-agent: SecondBot\nDisallow: /private/\n`,
    'User-agent: *\nDisallow: /search\nDisallow: /news/\n',
    `User-agent: ${productToken.toUpperCase()}\nCrawl-delay: 0.05\nDisallow: /archive/ # old\n`,
  ].join('\n');
}
