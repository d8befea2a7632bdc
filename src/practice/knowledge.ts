/**
 * What a crawler can be held to know.
 *
 * An answer that ended within the grace before a kill, or during which the kill fell, may never have been stored: the
 * next life may know it or not. Such an answer is *doubtful*, and the judge takes the weaker of both worlds. Everything
 * else that was served whole binds: Retry-After at once, robots.txt until the next good one.
 */
import type { RobotsRules } from './robots-matcher.js';

/** A span of an answer, by the server's clock. */
export interface Span {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The kills of one log, in order. */
export interface Kills {
  readonly count: () => number;
  /** @param graceMs what ended so long before may be forgotten, where it is more than after other kills */
  killed(at: number, graceMs?: number): void;
  booted(at: number): void;
  /** Nothing that a server sends arrives in this time. */
  cut(from: number, until: number): void;
  /** May the crawler know nothing of this answer? */
  doubts(span: Span): boolean;
}

export function openKills(graceMs: number): Kills {
  let count = 0;
  /** What ended from `from` on and began before `until` may be unknown; after a kill the next life itself asks from `until` on. */
  const doubts: { from: number; until: number; isKill: boolean }[] = [];
  return {
    count: () => count,
    killed(at, ownGraceMs = graceMs) {
      count += 1;
      doubts.push({ from: at - Math.max(ownGraceMs, graceMs), until: at + graceMs, isKill: true });
    },
    booted(at) {
      const last = doubts.findLast(({ isKill }) => isKill);
      if (last !== undefined) last.until = Math.min(last.until, at);
    },
    cut: (from, until) => void doubts.push({ from, until, isKill: false }),
    doubts: ({ startedAt, endedAt }) => doubts.some(({ from, until }) => endedAt >= from && startedAt < until),
  };
}

/** The robots.txt answers of one origin that may rule, oldest first; null in the first place: perhaps none is known. */
export interface RobotsKnowledge {
  learned(rules: RobotsRules, span: Span): void;
  /** A 304: the newest answer is as good as new. */
  confirmed(span: Span): void;
  unreachable(at: number): void;
  /** Every answer that may rule now. Empty: none was served. `unknown` stands for a life that may know of none. */
  hypotheses(): readonly (RobotsRules | 'unknown')[];
  /** Time since the newest good answer, unless a try since then failed; null where that says nothing. */
  ageMs(now: number): number | null;
  readonly failedAt: () => number | null;
}

export function openRobotsKnowledge(kills: Kills): RobotsKnowledge {
  let answers: { readonly rules: RobotsRules; readonly span: Span }[] = [];
  let failedAt: number | null = null;

  /** From the newest back to the first that nothing puts in doubt. */
  const possible = (): { certain: boolean; found: typeof answers } => {
    const settled = answers.findLastIndex(({ span }) => !kills.doubts(span));
    return { certain: settled >= 0, found: answers.slice(Math.max(settled, 0)) };
  };

  const learned = (rules: RobotsRules, span: Span): void => {
    // An older answer can only come back while the one before it may yet be put in doubt.
    answers = [...possible().found.slice(-8), { rules, span }];
    failedAt = null;
  };

  return {
    learned,
    confirmed(span) {
      const newest = answers.at(-1);
      if (newest !== undefined) learned(newest.rules, span);
    },
    unreachable(at) {
      failedAt = at;
    },
    hypotheses() {
      if (answers.length === 0) return [];
      const { certain, found } = possible();
      const rules = found.map((answer) => answer.rules);
      return certain ? rules : ['unknown', ...rules];
    },
    ageMs(now) {
      const newest = answers.at(-1);
      return newest === undefined || failedAt !== null ? null : now - newest.span.endedAt;
    },
    failedAt: () => failedAt,
  };
}

/** The floors that Retry-After has set for one host. */
export interface RetryFloors {
  set(until: number, span: Span): void;
  /** The latest time before which no request may start, of those that bind. */
  floorAt(now: number): number | null;
}

export function openRetryFloors(kills: Kills): RetryFloors {
  let floors: { readonly until: number; readonly span: Span }[] = [];
  return {
    set: (until, span) => void floors.push({ until, span }),
    floorAt(now) {
      if (floors.length === 0) return null;
      floors = floors.filter(({ until }) => until > now);
      const binding = floors.filter(({ span }) => !kills.doubts(span)).map(({ until }) => until);
      return binding.length > 0 ? Math.max(...binding) : null;
    },
  };
}
