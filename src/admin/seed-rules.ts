/** What is known against a seed before its name is resolved. */
import type { FilteredCandidate } from '../actors/frontier-admission.js';
import { contactProblem } from '../config/contact.js';
import type { Config } from '../config/schema.js';
import type { UrlRecord } from '../domain/record.js';
import { guardRules, vet } from '../net/guard.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { type FilterRefusal, filterRefusal } from '../policy/url-filter.js';
import type { Field } from './seeds.js';

/**
 * S1: a seed that spells an address is refused here when the guard would refuse it at the connection. So is one beyond
 * this machine where nobody says who runs the crawl. Either stops no other seed.
 */
export function literalRefusal(config: Config): Field['refusalOf'] {
  const rules = guardRules(config.guard.allow);
  return ({ host }) => {
    const vetting = vet(host, rules);
    if (!vetting.ok && vetting.range !== 'invalid') return 'guard_refused';
    return contactProblem(config.userAgent, [host], config) === null ? null : 'no_contact';
  };
}

/** What the filter of the program that runs the crawl says of a URL that is known already; nothing where there is none. */
export function filteredAsRecorded(
  filter: UrlFilter | undefined,
): (candidate: FilteredCandidate, of: Pick<UrlRecord, 'via' | 'depth'>) => FilterRefusal | null {
  return (candidate, { via, depth }) =>
    filter === undefined ? null : filterRefusal(filter, { ...candidate, depth, via });
}
