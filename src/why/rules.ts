/** What the rules of a crawl say of a URL, as facts. */
import { configuredRules } from '../config/rules.js';
import type { Config } from '../config/schema.js';
import type { CrawlSettings } from '../domain/crawl-settings.js';
import { siteOf } from '../domain/host.js';
import type { Candidate } from '../domain/url.js';
import { type CrawlRules, refusalOf, rulesOf } from '../policy/admission.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { type FilterRefusal, filterRefusal } from '../policy/url-filter.js';
import { inScope } from '../policy/scope.js';
import type { RuleFacts } from './facts.js';

/** What the run was told, and what its operators wish. */
export function rulesInForce(config: Config, settings: CrawlSettings): CrawlRules {
  return rulesOf(configuredRules(config), settings);
}

/** Of a URL that lies so many links away from a seed. */
export function judge(
  rules: CrawlRules,
  { url, host, source }: Pick<Candidate, 'url' | 'host' | 'source'>,
  depth: number,
  filter?: UrlFilter,
): RuleFacts {
  const { scope } = rules;
  return {
    scope,
    inScope: inScope(scope, host),
    judgedBy: scope.kind === 'site' ? siteOf(host) : host,
    refusal: refusalOf(rules, { url, host, depth, source }) ?? refusalBy(filter, url, host, depth),
  };
}

/** Asked as if a plain link of nobody's had led there. */
function refusalBy(filter: UrlFilter | undefined, url: string, host: string, depth: number): FilterRefusal | null {
  if (filter === undefined) return null;
  return filterRefusal(filter, { url, host, depth, source: 'link', element: 'a', rel: null, via: null });
}
