/**
 * What no option can say alone: bounds that must stand in a relation to each other.
 *
 * A bound that is no option lives with its reason in the file whose promise it is; the relations between those are
 * asserted by the tests of limits.
 */
import type { Config } from './schema.js';

export interface Contradiction {
  /** The options that can not both hold. */
  readonly keys: readonly string[];
  readonly message: string;
}

/** Options whose values exclude each other, though each is within its own bounds. */
export function contradictions(config: Config): Contradiction[] {
  const { fetch, egress, hosts } = config;
  const found: Contradiction[] = [];
  if (fetch.bytesMax * 2 > fetch.bodyBudgetBytes) {
    found.push({
      keys: ['fetch.bytesMax', 'fetch.bodyBudgetBytes'],
      message: `fetch.bodyBudgetBytes (${fetch.bodyBudgetBytes}) must hold two bodies of fetch.bytesMax (${fetch.bytesMax}), or one large page stops the crawl`,
    });
  }
  if (fetch.socketsMax < fetch.slots) {
    found.push({
      keys: ['fetch.socketsMax', 'fetch.slots'],
      message: `fetch.socketsMax (${fetch.socketsMax}) must be at least fetch.slots (${fetch.slots}): each request needs a connection`,
    });
  }
  if (egress.hostsMin > egress.hostsMax) {
    found.push({
      keys: ['egress.hostsMin', 'egress.hostsMax'],
      message: `egress.hostsMin (${egress.hostsMin}) must be at most egress.hostsMax (${egress.hostsMax}): no more hosts are looked at`,
    });
  }
  if (hosts.liveMax < fetch.slots) {
    found.push({
      keys: ['hosts.liveMax', 'fetch.slots'],
      message: `hosts.liveMax (${hosts.liveMax}) must be at least fetch.slots (${fetch.slots}): each request is of another host`,
    });
  }
  return found;
}
