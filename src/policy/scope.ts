/**
 * Which hosts a crawl may enter: those of its seeds, those of the seeds' sites, or any.
 *
 * A scope is plain data, stored with the crawl. Its names are kept sorted: a look-up is a few comparisons even with a
 * hundred thousand seeds, and two scopes of the same seeds are equal.
 */
import type { ScopeKind } from '../domain/crawl-settings.js';
import { type HostName, siteOf } from '../domain/host.js';

export type Scope =
  | { readonly kind: 'any' }
  /** Host names for `host`, registrable domains for `site`; sorted by code unit, no two alike. */
  | { readonly kind: 'host' | 'site'; readonly names: readonly string[] };

export function scopeOf(kind: ScopeKind, seeds: readonly HostName[]): Scope {
  if (kind === 'any') return { kind };
  const names = new Set(seeds.map((host) => nameOf(kind, host)));
  return { kind, names: [...names].sort() };
}

export function inScope(scope: Scope, host: HostName): boolean {
  if (scope.kind === 'any') return true;
  const name = nameOf(scope.kind, host);
  return scope.names[placeOf(scope.names, name)] === name;
}

/** The scope with one more host in it, or with its site: a new seed, or where a seed redirects to (P6). Itself if nothing changes. */
export function widen(scope: Scope, host: HostName): Scope {
  if (scope.kind === 'any' || inScope(scope, host)) return scope;
  const name = nameOf(scope.kind, host);
  return { kind: scope.kind, names: scope.names.toSpliced(placeOf(scope.names, name), 0, name) };
}

/** The same for many at once. */
export function widenAll(scope: Scope, hosts: readonly HostName[]): Scope {
  if (scope.kind === 'any') return scope;
  // A hundred thousand names are not sorted anew for one more.
  if (hosts.length <= FEW_HOSTS) return hosts.reduce(widen, scope);
  const { kind } = scope;
  const names = new Set([...scope.names, ...hosts.map((host) => nameOf(kind, host))]);
  return names.size === scope.names.length ? scope : { kind, names: [...names].sort() };
}

const FEW_HOSTS = 8;

function nameOf(kind: 'host' | 'site', host: HostName): string {
  return kind === 'host' ? host : siteOf(host);
}

/** Where a name stands, or would stand, among sorted names. */
function placeOf(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
