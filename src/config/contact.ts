/**
 * Whoever runs a site must be able to reach whoever crawls it. A crawl that may leave this machine needs a URL or an
 * address in its User-Agent; one that can only reach loopback needs none.
 */
import ipaddr from 'ipaddr.js';
import { type HostName, siteOf } from '../domain/host.js';
import type { Config } from './schema.js';

/** As in `ExampleBot/1.0 (+https://bot.example/)` or `ExampleBot/1.0 (crawler@bot.example)`. */
const CONTACT = /\bhttps?:\/\/[^\s()<>;,]+|[^\s()<>;,:@]+@[^\s()<>;,:@]+\.[^\s()<>;,:@]+/i;

/** What is wrong, and what to do about it; null where nothing is. */
export function contactProblem(
  userAgent: string,
  seedHosts: readonly HostName[],
  config: Pick<Config, 'scope' | 'dns'>,
): string | null {
  if (CONTACT.test(userAgent) || staysOnLoopback(seedHosts, config)) return null;
  return (
    'a crawl beyond this machine must say who runs it: set userAgent to a name with a URL or an address, ' +
    "as in --set userAgent='ExampleBot/1.0 (+https://bot.example/)'"
  );
}

/** Names that no public resolver answers (RFC 6761). */
const RESERVED = /(^|\.)(test|invalid|example|localhost)$/;

/**
 * Every host that the crawl can come to is on this machine. With scope `host` or `site` the seeds decide it; with
 * `any` only a rule for every name can.
 */
function staysOnLoopback(seedHosts: readonly HostName[], { scope, dns }: Pick<Config, 'scope' | 'dns'>): boolean {
  if (scope === 'any') return dns.hosts['*'] !== undefined && Object.values(dns.hosts).every(isLoopback);
  return seedHosts.every((host) => {
    if (isLoopback(host) || /(^|\.)localhost$/.test(host)) return true;
    const rule = ruleFor(host, Object.keys(dns.hosts));
    if (rule === null || !isLoopback(dns.hosts[rule] as string)) return false;
    return scope === 'host' || RESERVED.test(host) || coversSite(rule, siteOf(host));
  });
}

/** The name itself, or else the longest pattern above it. */
function ruleFor(host: HostName, patterns: readonly string[]): string | null {
  if (patterns.includes(host)) return host;
  const above = patterns.filter((pattern) => pattern.startsWith('*') && host.endsWith(pattern.slice(1)));
  return above.reduce<string | null>((best, next) => (best !== null && best.length >= next.length ? best : next), null);
}

/** Links within a site lead to its other hosts too. */
function coversSite(rule: string, site: string): boolean {
  return rule === '*' || (rule.startsWith('*.') && `.${site}`.endsWith(rule.slice(1)));
}

function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}
