/**
 * What is held against a crawl's retries, by what the simulated servers have seen alone (R1).
 *
 * `retry-budget`: a host is asked again for what has failed no more often than it is granted: so many a minute, and a
 * minute's worth at once. What a death has made the crawl forget, a failure or a retry, counts for neither side.
 *
 * It is looked at only where nothing else asks for a URL once more: the rules of such universes are those of one pass.
 */
import type { Landscape } from './landscape.js';
import type { UniverseSettings } from './settings.js';
import type { Accuse } from './verdict.js';
import { isForgotten } from './tiered-request.js';
import type { SimulatedWeb } from './web.js';

const MINUTE_MS = 60_000;

export function judgeRetries(
  { requests, deaths }: Pick<SimulatedWeb, 'requests' | 'deaths'>,
  settings: UniverseSettings,
  { hosts }: Landscape,
  accuse: Accuse,
): void {
  const { retriesPerMinute } = settings;
  if (retriesPerMinute === 0 || !isOnePass(settings)) return;
  const failed = new Set<string>();
  const levels = new Map<string, { level: number; atMs: number }>();
  for (const request of requests) {
    if (isForgotten(request, deaths)) continue;
    const { url, beganAtMs, isFailure } = request;
    const isRetry = failed.has(url);
    if (isFailure) failed.add(url);
    const { hostname } = new URL(url);
    // What was parked for its robots.txt in the middle comes back beside the budget.
    if (!isRetry || url.endsWith('/robots.txt') || (hosts.get(hostname)?.robotsFailures.length ?? 0) > 0) continue;
    const before = levels.get(hostname) ?? { level: 0, atMs: beganAtMs };
    const drained = ((beganAtMs - before.atMs) / MINUTE_MS) * retriesPerMinute;
    const level = Math.max(0, before.level - drained) + 1;
    levels.set(hostname, { level, atMs: beganAtMs });
    if (level > retriesPerMinute + 1)
      accuse('retry-budget', `${url} is asked for again, ${Math.ceil(level)} retries of its host beside each other`);
  }
}

function isOnePass(settings: UniverseSettings): boolean {
  const {
    again,
    actorCrashes,
    revisitMs,
    redrives,
    mending,
    exclusions,
    sowings,
    doors,
    cuts,
    powerLosses,
    lateFaults,
  } = settings;
  const others =
    actorCrashes + revisitMs + redrives + mending + exclusions + sowings + doors + cuts + powerLosses + lateFaults;
  return !again && others + settings.clockJumps === 0;
}
