/**
 * The ladder (R2): by which tier a URL is fetched, when it goes a step up, and what a host is remembered to need.
 *
 *     1 plain HTTP ──403, challenge──▶ 2 a browser's handshake ──403, challenge──▶ 3 a browser
 *           └──────────────── script shell ─────────────────────────────────────────▲
 *
 * The lowest tier that does is the right one. Two signals lead up and nothing else does; a URL climbs by itself, and what
 * it needed its host is believed to need, for a time. Then one URL is tried a tier lower: content means that the host
 * falls back, another refusal that it is believed for twice as long. What a browser was let in with may do for the tier
 * below it, so that a host that has let us pass is not asked again.
 *
 * Invariants:
 * - R2: only what `stepUp` says leads up, and never to a tier that is not there;
 * - a URL that was retried is asked for by the tier that failed, or a lower one: no failure leads up;
 * - at most one URL of a host is out to try a lower tier.
 */
import type { Attempt, Code } from '../domain/outcome.js';
import type { UrlRecord } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import { type Clearance, isValid } from './clearance.js';

/** What leads up. */
export type Signal = Extract<Code, 'http_forbidden' | 'challenge' | 'script_shell'>;

/** What the crawl has, and the host may be fetched by. */
export interface LadderTerms {
  /** From the lowest on; the plain one is always there. */
  readonly tiers: readonly Tier[];
  /** For so long what a host needed is believed at first. */
  readonly memoryMs: number;
}

export const PLAIN: LadderTerms = { tiers: [1], memoryMs: 6 * 3_600_000 };

/** A need is never believed for longer. */
export const BELIEVED_MS_MAX = 7 * 86_400_000;

/** What a host needed last. */
export interface Need {
  readonly tier: Exclude<Tier, 1>;
  /** Why the tiers below did not do. */
  readonly cause: Signal;
  /** Wall clock. From then on a lower tier is tried. */
  readonly believedUntilMs: number;
  /** How long that was, when it was begun. */
  readonly believedForMs: number;
  /** Whether what a browser was let in with may be shown by the tier below. */
  readonly clearance: 'welcome' | 'spurned';
}

/** What is remembered of a host. */
export interface HostLadder {
  /** Null: nothing but plain HTTP, as far as is known. */
  readonly need: Need | null;
  readonly clearance: Clearance | null;
}

export const ON_THE_GROUND: HostLadder = { need: null, clearance: null };

/** The tier that a request is made by, and what says so. */
export interface Start {
  readonly tier: Tier;
  readonly by: /** Nothing: it is the lowest. */
    | 'default'
    /** What has become of the URL itself. */
    | 'url'
    | 'need'
    /** The need, met a tier lower by what the browser was let in with. */
    | 'clearance'
    /** Whether less would do by now. */
    | 'trial';
}

// -- by which tier ----------------------------------------------------------------------------------------------

/** @param isTrialOut another URL of the host is out to try a lower tier */
export function startOf(
  { ladder, element }: Pick<UrlRecord, 'ladder' | 'element'>,
  { need, clearance }: HostLadder,
  { tiers }: LadderTerms,
  isTrialOut: boolean,
  nowWallMs: number,
): Start {
  if (ladder !== null) return { tier: within(ladder, tiers), by: 'url' };
  if (need === null) return { tier: 1, by: 'default' };
  if (isShown(element))
    return { tier: need.cause === 'script_shell' ? 1 : within(lower(need.tier, 2), tiers), by: 'need' };
  const needed = within(need.tier, tiers);
  if (needed === 1) return { tier: 1, by: 'default' };
  if (nowWallMs >= need.believedUntilMs && !isTrialOut) return { tier: below(needed, need.cause, tiers), by: 'trial' };
  const isWelcome = need.cause !== 'script_shell' && need.clearance === 'welcome' && isValid(clearance, nowWallMs);
  if (needed === 3 && isWelcome && tiers.includes(2)) return { tier: 2, by: 'clearance' };
  return { tier: needed, by: 'need' };
}

/** What a page shows is no page: scripts fill none of it, and a browser would wrap it in a page of its own. */
function isShown(element: string | null): boolean {
  return element === 'img' || element === 'source' || element === 'link';
}

/** R2: the next tier, where the signal leads up to one that is there; else null. A shell has nothing to gain from another handshake. */
export function stepUp(signal: Signal, from: Tier, tiers: readonly Tier[]): Tier | null {
  return tiers.find((tier) => tier > from && (signal !== 'script_shell' || tier === 3)) ?? null;
}

/** The highest that is there up to a tier: what is not there any more is not made up for by a higher one. */
function within(wanted: Tier, tiers: readonly Tier[]): Tier {
  return tiers.findLast((tier) => tier <= wanted) ?? 1;
}

function below(tier: Tier, cause: Signal, tiers: readonly Tier[]): Tier {
  return cause === 'script_shell' ? 1 : (tiers.findLast((lower) => lower < tier) ?? 1);
}

function lower(a: Tier, b: Tier): Tier {
  return a < b ? a : b;
}

// -- what is learned --------------------------------------------------------------------------------------------

/** What led a URL to where it is: the last refusal since it was last content; null where none did. */
export function climbedBy(attempts: readonly Attempt[]): Signal | null {
  for (const { outcome, code } of attempts.toReversed()) {
    if (outcome === 'challenged') return code as Signal;
    if (outcome !== 'failed' && outcome !== 'throttled' && outcome !== 'parked') return null;
  }
  return null;
}

/** Content came. */
export function satisfied(
  host: HostLadder,
  { tier, by }: Start,
  climbed: Signal | null,
  { memoryMs }: LadderTerms,
  nowWallMs: number,
): HostLadder {
  const { need } = host;
  if (by === 'trial' && need !== null) {
    return { ...host, need: tier === 1 ? null : believed(tier, need.cause, memoryMs, nowWallMs) };
  }
  if (by !== 'url' || climbed === null || tier === 1 || (need !== null && need.tier >= tier)) return host;
  return { ...host, need: believed(tier, climbed, memoryMs, nowWallMs) };
}

/** It was refused by a signal that leads up, whether or not there was a tier to go to. */
export function refused(host: HostLadder, { tier, by }: Start, sent: Clearance | null, nowWallMs: number): HostLadder {
  const { need } = host;
  const clearance = sent !== null ? null : host.clearance;
  if (need === null) return { need, clearance };
  if (by === 'trial') {
    const believedForMs = Math.min(BELIEVED_MS_MAX, 2 * need.believedForMs);
    return { need: { ...need, believedForMs, believedUntilMs: nowWallMs + believedForMs }, clearance };
  }
  return { need: sent !== null && tier === 2 ? { ...need, clearance: 'spurned' } : need, clearance };
}

function believed(tier: Exclude<Tier, 1>, cause: Signal, believedForMs: number, nowWallMs: number): Need {
  return { tier, cause, believedForMs, believedUntilMs: nowWallMs + believedForMs, clearance: 'welcome' };
}
