/** Hosts by pattern, as options name them: a host, all names below one (`*.example.org`, at any depth), or all (`*`). */
import type { HostName } from '../domain/host.js';

export function isAmong(host: HostName, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => pattern === host || covers(pattern, host));
}

/** Whether a pattern that stands for more than one name stands for this one. */
export function covers(pattern: string, host: HostName): boolean {
  return pattern === '*' || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)));
}
