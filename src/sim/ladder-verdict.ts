/**
 * What is held against a crawl on the ladder, by what the simulated servers and the browser service have seen alone.
 *
 * `rung`: R2, what has shown a door to one tier is not asked for again by that one or a lower one before it was had: where
 * a URL stands is kept through kills. `ladder`: R2, a URL whose last answer was an error of the server's, or none, is not asked for by a higher tier than that
 * one. `robots-tier`: a robots.txt is asked for as what we are. `backend`: B1, after five failures in a row no call for two
 * minutes, then one at a time until one has worked.
 */
import type { Owner } from './events.js';
import type { Call } from './sidecar.js';
import { type Death, isForgotten, type TieredRequest } from './tiered-request.js';
import type { Accuse } from './verdict.js';

const FAILURES_MAX = 5;
const REST_MS = 120_000;

/**
 * @param deaths of lives that did not stop of their own accord
 * @param roundsAtMs when all pages were asked for again: each has its ladder anew then
 * @param isForgetful what an answer was may be known to nobody: actors crash, power is lost, operators let a URL start afresh
 */
export function judgeRequests(
  requests: readonly TieredRequest[],
  deaths: ReadonlyMap<Owner, Death>,
  roundsAtMs: readonly number[],
  isForgetful: boolean,
  accuse: Accuse,
): void {
  const last = new Map<string, TieredRequest>();
  for (const request of requests) {
    const { url, tier } = request;
    if (tier > 1 && url.endsWith('/robots.txt')) accuse('robots-tier', `${url} was asked for by tier ${tier}`);
    const before = last.get(url);
    last.set(url, request);
    if (before === undefined || isForgetful || before.answer === null || isForgotten(before, deaths)) continue;
    const isTop = before.tier === 3;
    const endedAtMs = before.endedAtMs ?? before.beganAtMs;
    const isAnew = roundsAtMs.some((atMs) => endedAtMs <= atMs && atMs <= request.beganAtMs);
    // A door that the server showed and nobody saw, as nothing got through, is none.
    const hasSeenDoor = before.isDoor && before.answer !== 'none';
    if (hasSeenDoor && !isTop && !isAnew && tier <= before.tier)
      accuse('rung', `${url} was asked for by tier ${tier} after tier ${before.tier} had met a door`);
    const failed = before.answer === 'none' || before.answer >= 500 || before.answer === 429;
    if (failed && tier > before.tier)
      accuse('ladder', `${url} went up from tier ${before.tier} to ${tier} after ${before.answer}`);
  }
}

/** @param graceMs a call may have been granted so long before it began */
export function judgeCalls(calls: readonly Call[], graceMs: number, accuse: Accuse): void {
  for (const owner of new Set(calls.map((call) => call.owner)))
    judgeLife(
      calls.filter((call) => call.owner === owner),
      graceMs,
      accuse,
    );
}

/** Calls of one life in the order in which they began; a new one knows nothing of the service. */
function judgeLife(calls: readonly Call[], graceMs: number, accuse: Accuse): void {
  const ends = calls.filter(({ outcome }) => outcome !== null).sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0));
  let inARow = 0;
  let restedAtMs: number | null = null;
  let next = 0;
  for (const call of calls) {
    for (; next < ends.length && ((ends[next] as Call).endedAtMs ?? 0) <= call.beganAtMs; next++) {
      const { outcome, beganAtMs, endedAtMs } = ends[next] as Call;
      // Of what was called before it was given a rest nothing is heard.
      if (restedAtMs !== null && beganAtMs < restedAtMs + graceMs) continue;
      inARow = outcome === 'failed' ? inARow + 1 : 0;
      if (restedAtMs !== null && outcome === 'worked') restedAtMs = null;
      else if (restedAtMs !== null || inARow === FAILURES_MAX) {
        restedAtMs = endedAtMs;
        inARow = 0;
      }
    }
    if (restedAtMs === null || call.beganAtMs < restedAtMs + graceMs) continue;
    if (call.beganAtMs < restedAtMs + REST_MS)
      accuse('backend', `${call.url} was called for ${Math.round(call.beganAtMs - restedAtMs)} ms after it failed`);
    const probe = calls.find(
      (other) => other !== call && isOut(other, call.beganAtMs) && other.beganAtMs >= (restedAtMs as number) + graceMs,
    );
    if (probe !== undefined) accuse('backend', `${call.url} was called for beside ${probe.url}, the probe`);
  }
}

function isOut({ beganAtMs, endedAtMs }: Call, atMs: number): boolean {
  return beganAtMs <= atMs && endedAtMs !== null && endedAtMs > atMs;
}
