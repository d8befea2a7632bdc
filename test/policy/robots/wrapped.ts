/**
 * The second opinion: the same canonical rules and URL, put to robots-parser through its public interface only.
 *
 * Its own encoding steps must not change anything on the way, so both sides write `/` as `,` and `?` as `!` (canonical
 * octets never hold those raw) behind one `/`: the target is a single path segment without a query, and every pattern
 * is longer by one. It is slow and shares no matching code with the product.
 */
import robotsParser from 'robots-parser';
import { canonicalTarget } from '../../../src/policy/robots/octets.js';
import type { RobotsRules } from '../../../src/policy/robots/rules.js';

interface Parser {
  isAllowed(url: string): boolean | undefined;
}
const parse = robotsParser as unknown as (url: string, contents: string) => Parser;

const disguised = (octets: string): string => `/${octets.replaceAll('/', ',').replaceAll('?', '!')}`;

export function allowedByWrapped(rules: RobotsRules, robotsUrl: string, url: string): boolean | null {
  if (!URL.canParse(url) || new URL(url).origin !== new URL(robotsUrl).origin) return null;
  const { href } = new URL(url);
  const target = (/^[a-z]+:\/\/[^/]*([^#]*)/.exec(href) as RegExpExecArray)[1] as string;
  if (target === '/robots.txt') return true;
  const lines = rules.rules.map((rule) => `${rule.allow ? 'Allow' : 'Disallow'}: ${disguised(rule.pattern)}`);
  const parser = parse('http://wrapped.example/robots.txt', ['User-agent: *', ...lines].join('\n'));
  return parser.isAllowed(`http://wrapped.example${disguised(canonicalTarget(target))}`) ?? null;
}
