/**
 * How long a host is left alone after a response has ended (P2).
 *
 * The operator's delay is a floor that nothing lowers. The site's Crawl-delay and the adaptive delay (a host that
 * answers slowly is given more time) may raise it, each up to a cap: a Crawl-delay of a day would else be a ban that
 * robots.txt has better words for, and one slow answer would park a host.
 */

import type { HostName } from '../domain/host.js';
import { covers } from './host-pattern.js';

/** Above a minute, a site that means "rarely" should say so with Retry-After, which knows no such cap. */
export const DELAY_CAP_MS = 60_000;

export interface DelayTerms {
  readonly configuredMs: number;
  /** As robots.txt has it; null where it has none. */
  readonly crawlDelaySeconds: number | null;
  /** 0 switches the adaptive delay off. */
  readonly adaptiveFactor: number;
  /** From the request's start to its end; null before the first response. */
  readonly lastDurationMs: number | null;
  readonly capMs?: number;
}

/** Milliseconds from the end of one response to the start of the next request. */
export function delayAfter(terms: DelayTerms): number {
  const { configuredMs, crawlDelaySeconds, adaptiveFactor, lastDurationMs, capMs = DELAY_CAP_MS } = terms;
  const asked = Math.min(capMs, (crawlDelaySeconds ?? 0) * 1000);
  const adaptive = Math.min(capMs, adaptiveFactor * (lastDurationMs ?? 0));
  return Math.max(configuredMs, asked, adaptive);
}

/** The configured delay of a host: its own by the longest pattern that names it (`*.` stands for any depth), or else that of all. */
export function hostDelayMs(
  host: HostName,
  politeness: { readonly delayMs: number; readonly hostDelaysMs: Readonly<Record<string, number>> },
): number {
  const own = politeness.hostDelaysMs[host];
  if (own !== undefined) return own;
  let best: { readonly length: number; readonly delayMs: number } | null = null;
  for (const [pattern, delayMs] of Object.entries(politeness.hostDelaysMs)) {
    if (covers(pattern, host) && pattern.length > (best?.length ?? 0)) best = { length: pattern.length, delayMs };
  }
  return best?.delayMs ?? politeness.delayMs;
}
