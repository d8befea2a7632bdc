/**
 * Hosts, origins, sites and partitions.
 *
 * A host is a name with one clock and one actor, whatever schemes and ports it answers on. Robots rules belong to
 * an origin inside it. A site is the registrable domain; sites are hashed onto a fixed number of partitions, which
 * stand in every store key, so that a later engine on another machine can own some of them.
 */
import { getDomain } from 'tldts';

/** A hostname: A-label, lower case, no trailing dot; an IPv6 literal keeps its brackets. */
export type HostName = string & { readonly __host?: never };

/** `scheme://host[:port]`, the port only where it isn't the scheme's default. */
export type Origin = string & { readonly __origin?: never };

/** How many partitions sites are hashed onto. Stands in store keys: changing it is a schema change. */
export const PARTITIONS = 256;

/** The registrable domain of a host, or the host itself where the public suffix list knows none (an address, a bare name). */
export function siteOf(host: HostName): string {
  return getDomain(host, { allowPrivateDomains: true, validateHostname: false }) ?? host;
}

/** FNV-1a, 32 bits, over the UTF-16 code units of an ASCII string. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** The partition that owns a host: all hosts of a site share it. */
export function partitionOf(host: HostName): number {
  return fnv1a(siteOf(host)) % PARTITIONS;
}

/** What a URL object says of its host. */
export interface ParsedUrl {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

/** The origin whose robots rules speak of a URL: with the name of its host, so that a trailing dot makes none of its own. */
export function originOf(url: ParsedUrl): Origin {
  return `${url.protocol}//${hostOf(url)}${url.port === '' ? '' : `:${url.port}`}`;
}

/** The name under which a URL's host has its clock: lower case comes from the URL parser, the trailing dot goes. */
export function hostOf(url: ParsedUrl): HostName {
  const name = url.hostname;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
