/**
 * The last look at a URL before its request: the rules in force at that moment decide, not those of its admission.
 *
 * P4: nothing that robots disallow is asked for. P5: nothing is asked for before robots.txt is known; while it can't
 * be, its URLs are parked. A copy that is about to run out is renewed first.
 */
import type { RobotsEvidence } from '../domain/record.js';
import { due, type OriginRobots, pages, type RobotsCopy } from './robots/freshness.js';
import type { RobotsMatcher } from './robots/match.js';

export type Look =
  | { readonly look: 'go'; readonly robots: RobotsEvidence | null }
  | { readonly look: 'robots_first' }
  | { readonly look: 'blocked'; readonly robots: RobotsEvidence }
  | { readonly look: 'parked'; readonly untilMs: number };

export function lookAt(
  url: string,
  state: OriginRobots,
  matcherOf: (copy: RobotsCopy) => RobotsMatcher,
  nowWallMs: number,
): Look {
  if (due(state, nowWallMs)) return { look: 'robots_first' };
  const answer = pages(state, nowWallMs);
  if (answer.may === 'wait_for_robots') return { look: 'robots_first' };
  if (answer.may !== 'ask') return { look: 'parked', untilMs: answer.may.parkedUntil };
  const { copy } = answer;
  const decision = matcherOf(copy).decide(url);
  const evidence: RobotsEvidence | null =
    decision.rule === null
      ? null
      : { rule: decision.rule.text, line: decision.rule.line, fetchedAtMs: copy.fetchedAtMs };
  if (decision.allowed === true) return { look: 'go', robots: evidence };
  return {
    look: 'blocked',
    robots: evidence ?? { rule: 'too costly to match', line: 0, fetchedAtMs: copy.fetchedAtMs },
  };
}
