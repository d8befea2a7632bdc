/**
 * The looks at a URL by the rules of robots.txt. The last one is just before its request: the rules in force at that
 * moment decide, not those of its admission. The first is on its admission, where they are known already: what they
 * disallow needs no place among what is to be asked for.
 *
 * P4: nothing that robots disallow is asked for. P5: nothing is asked for before robots.txt is known; while it can't
 * be, its URLs are parked. A copy that is about to run out is renewed first.
 */
import type { Origin } from '../domain/host.js';
import { type RobotsEvidence, RULE_CHARACTERS_KEPT } from '../domain/record.js';
import { due, type OriginRobots, pages, type RobotsCopy } from './robots/freshness.js';
import type { RobotsDecision, RobotsMatcher } from './robots/match.js';

export type Decided =
  | { readonly look: 'go'; readonly robots: RobotsEvidence }
  | { readonly look: 'blocked'; readonly robots: RobotsEvidence };

export type Look = Decided | { readonly look: 'robots_first' } | { readonly look: 'parked'; readonly untilMs: number };

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
  return lookBy(url, answer.copy, state, matcherOf);
}

/** The look at what is not to be asked for at once, by the rules that are in force; null while none are. */
export function lookNow(
  url: string,
  state: OriginRobots,
  matcherOf: (copy: RobotsCopy) => RobotsMatcher,
  nowWallMs: number,
): Decided | null {
  const answer = pages(state, nowWallMs);
  return answer.may === 'ask' ? lookBy(url, answer.copy, state, matcherOf) : null;
}

function lookBy(
  url: string,
  copy: RobotsCopy,
  state: OriginRobots,
  matcherOf: (copy: RobotsCopy) => RobotsMatcher,
): Decided {
  const { allowed, rule } = matcherOf(copy).decide(url);
  const robots = evidenceOf(rule, copy, standingOf(state));
  return allowed === true ? { look: 'go', robots } : { look: 'blocked', robots };
}

/** The rules of an origin while they are in force. */
export interface RulesInForce {
  readonly origin: Origin;
  readonly copy: RobotsCopy;
  readonly is: RobotsEvidence['copy'];
  readonly matcher: RobotsMatcher;
}

/** Those of an origin; null where none are known, or where nothing is disallowed. */
export function rulesInForce(
  origin: Origin,
  state: OriginRobots,
  matcherOf: (copy: RobotsCopy) => RobotsMatcher,
  nowWallMs: number,
): RulesInForce | null {
  const answer = pages(state, nowWallMs);
  if (answer.may !== 'ask') return null;
  const { copy } = answer;
  const matcher = matcherOf(copy);
  return matcher.disallowsSome ? { origin, copy, is: standingOf(state), matcher } : null;
}

/** The look on admission (P4): the evidence where a URL is disallowed; null where it is allowed, or nothing is known. */
export function disallowedBy(rules: readonly RulesInForce[], url: string, origin: Origin): RobotsEvidence | null {
  for (const { origin: theirs, copy, is, matcher } of rules) {
    if (theirs !== origin) continue;
    const { allowed, rule } = matcher.decide(url);
    return allowed === true ? null : evidenceOf(rule, copy, is);
  }
  return null;
}

function standingOf(state: OriginRobots): RobotsEvidence['copy'] {
  return state.phase === 'unreachable' ? 'last_good' : 'current';
}

/** What is kept beside a URL of how it was decided. */
function evidenceOf(
  rule: RobotsDecision['rule'],
  { fetchedAtMs, status }: RobotsCopy,
  copy: RobotsEvidence['copy'],
): RobotsEvidence {
  return { rule: rule === null ? null : { line: rule.line, text: shortened(rule.text) }, fetchedAtMs, status, copy };
}

function shortened(text: string): string {
  return text.length <= RULE_CHARACTERS_KEPT ? text : `${text.slice(0, RULE_CHARACTERS_KEPT - 1)}…`;
}
