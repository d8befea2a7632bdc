/**
 * What is held against a crawl's retries, by what the simulated servers have seen alone (R1).
 *
 * `retry-budget`: a host is asked again for what has failed no more often than it is granted: so many a minute, and a
 * minute's worth at once. A death may have forgotten as many failures as a host can have visits open: what was asked for
 * again after it was then asked for the first time, as far as the crawl could know.
 *
 * It is looked at only where nothing else asks for a URL once more: the rules of such universes are those of one pass.
 */
import type { Landscape } from './landscape.js';
import type { UniverseSettings } from './settings.js';
import type { Accuse } from './verdict.js';
import type { SimulatedWeb } from './web.js';

/** Visits of one host that may be open at once. */
const OPEN_MAX = 8;
const MINUTE_MS = 60_000;

export function judgeRetries(
  web: Pick<SimulatedWeb, 'requests' | 'deaths' | 'firstFailedAtMs'>,
  settings: UniverseSettings,
  { hosts }: Landscape,
  actorCrashes: number,
  accuse: Accuse,
): void {
  const { retriesPerMinute } = settings;
  if (retriesPerMinute === 0 || !isOnePass(settings)) return;
  const forgiven = OPEN_MAX * (web.deaths.size + actorCrashes);
  const levels = new Map<string, { level: number; atMs: number }>();
  for (const { url, beganAtMs } of web.requests) {
    const failedAtMs = web.firstFailedAtMs.get(url);
    if (failedAtMs === undefined || failedAtMs >= beganAtMs || url.endsWith('/robots.txt')) continue;
    const { hostname } = new URL(url);
    // What was parked for its robots.txt in the middle comes back beside the budget.
    if ((hosts.get(hostname)?.robotsFailures.length ?? 0) > 0) continue;
    const before = levels.get(hostname) ?? { level: 0, atMs: beganAtMs };
    const drained = ((beganAtMs - before.atMs) / MINUTE_MS) * retriesPerMinute;
    const level = Math.max(0, before.level - drained) + 1;
    levels.set(hostname, { level, atMs: beganAtMs });
    if (level > retriesPerMinute + forgiven + 1)
      accuse('retry-budget', `${url} is asked for again, ${Math.ceil(level)} retries of its host beside each other`);
  }
}

function isOnePass(settings: UniverseSettings): boolean {
  const { again, revisitMs, redrives, mending, exclusions, sowings, doors, cuts, powerLosses, lateFaults } = settings;
  const others = revisitMs + redrives + mending + exclusions + sowings + doors + cuts + powerLosses + lateFaults;
  return !again && others + settings.clockJumps === 0;
}
