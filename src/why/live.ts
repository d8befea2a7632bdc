/** What a running crawl adds to the facts of a URL: requests under way, the gate of its host, why nothing is asked for. */
import type { HostName } from '../domain/host.js';
import type { LiveFacts } from './facts.js';

/** Requests under way: each URL with the time at which it was begun. */
export type InFlight = ReadonlyMap<string, number>;

export interface LiveMoment {
  readonly inFlight: InFlight;
  /** When the gate of the URL's host opens; null when it is open, or not known. */
  readonly gateOpensAtMs: number | null;
  readonly waits: LiveFacts['waits'];
  readonly browserRestsUntilMs: number | null;
  readonly retriesWaitUntilMs: number | null;
  readonly paused: boolean;
  readonly holds: readonly string[];
}

export function liveFacts(url: string, host: HostName, moment: LiveMoment): LiveFacts {
  const { inFlight, gateOpensAtMs, waits, browserRestsUntilMs, retriesWaitUntilMs, paused, holds } = moment;
  const inFlightSinceMs = inFlight.get(url) ?? null;
  return {
    inFlightSinceMs,
    hostBusyWith: inFlightSinceMs === null ? otherOf(host, inFlight) : null,
    gateOpensAtMs,
    waits,
    browserRestsUntilMs,
    retriesWaitUntilMs,
    paused,
    held: holds[0] ?? null,
  };
}

/** As many are under way as there are slots: few enough to look through. */
function otherOf(host: HostName, inFlight: InFlight): string | null {
  for (const url of inFlight.keys()) {
    const { hostname } = new URL(url);
    if (hostname === host || hostname === `${host}.`) return url;
  }
  return null;
}
