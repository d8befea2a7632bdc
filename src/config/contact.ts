/**
 * Whoever runs a site must be able to reach whoever crawls it. A crawl that may leave this machine needs a URL or an
 * address in its User-Agent; one that can only reach loopback needs none.
 */
import ipaddr from 'ipaddr.js';
import { type HostName, siteOf } from '../domain/host.js';
import type { Config } from './schema.js';

/** As in `ExampleBot/1.0 (+https://bot.example/)` or `ExampleBot/1.0 (crawler@bot.example)`. */
const CONTACT = /\bhttps?:\/\/[^\s()<>;,]+|[^\s()<>;,:@]+@[^\s()<>;,:@]+\.[^\s()<>;,:@]+/i;

export interface ContactProblem {
  readonly message: string;
  readonly where: string;
  readonly advice: string;
}

const SAY_WHO = "give a URL or an address, as in --set userAgent='ExampleBot/1.0 (+https://bot.example/)'";

/** Whom to write to, as the user agent says: a URL or an address; null where it says neither. */
export function contactOf(userAgent: string): string | null {
  return CONTACT.exec(userAgent)?.[0] ?? null;
}

/** What leads beyond this machine, and what to do about it; null where nothing is wrong. */
export function contactProblem(
  userAgent: string,
  seedHosts: readonly HostName[],
  { scope, dns }: Pick<Config, 'scope' | 'dns'>,
): ContactProblem | null {
  if (CONTACT.test(userAgent)) return null;
  const beyond = seedHosts.find((host) => !staysOnLoopback(host, scope, dns.hosts));
  const message = 'a crawl beyond this machine must say who runs it';
  if (beyond !== undefined) {
    return { message, where: `seed ${beyond}, userAgent ${userAgent}`, advice: SAY_WHO };
  }
  if (scope !== 'any' || allOnLoopback(dns.hosts)) return null;
  return {
    message: `${message}, and with scope any links lead there`,
    where: `scope any, userAgent ${userAgent}`,
    advice: `${SAY_WHO}, or stay here with --scope site`,
  };
}

/** Names that no public resolver answers (RFC 6761). */
const RESERVED = /(^|\.)(test|invalid|example|localhost)$/;

/** Whatever name a link has, a rule keeps it on this machine. */
function allOnLoopback(rules: Config['dns']['hosts']): boolean {
  return rules['*'] !== undefined && Object.values(rules).every(isLoopback);
}

/** This host is on this machine, and with scope `site` all of its site. With scope `any` links are another question. */
function staysOnLoopback(host: HostName, scope: Config['scope'], rules: Config['dns']['hosts']): boolean {
  if (isLoopback(host) || /(^|\.)localhost$/.test(host)) return true;
  const rule = ruleFor(host, Object.keys(rules));
  if (rule === null || !isLoopback(rules[rule] as string)) return false;
  return scope !== 'site' || RESERVED.test(host) || coversSite(rule, siteOf(host));
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
