/**
 * Universes drawn at random: each has some kinds of trouble and not others, so that every pair of them meets somewhere
 * and none drowns the rest.
 *
 * In *liveness* mode the trouble is finite: the crawl goes on until nothing is left, and then all that may be had must
 * have been had, once. In *safety* mode it never ends, and neither does the crawl: after a while it is cut short, and
 * held only against what it has done.
 */
import { createRandom, type Random } from './random.js';
import type { UniverseSettings } from './settings.js';

export type Mode = 'liveness' | 'safety';

const HOUR_MS = 3_600_000;

export function drawSwarm(seed: number, mode: Mode): Partial<UniverseSettings> & { readonly seed: number } {
  const random = createRandom(seed).fork(`swarm ${mode}`);
  const common = { seed, ...drawWeb(random.fork('web')), ...drawTrouble(random.fork('trouble')) };
  if (mode === 'liveness') {
    const again = random.chance(0.3);
    // Who comes to a login by itself, or again because power has taken its visit, is not led back to what is behind it: it is known, and need not be asked again.
    return {
      ...common,
      openings: random.chance(0.3),
      again,
      logins: !again && common.exclusions + common.powerLosses === 0,
    };
  }
  const forMs = random.logUniform(HOUR_MS / 6, 12 * HOUR_MS);
  return {
    ...common,
    forMs,
    horizonMs: forMs,
    lateFaults: random.chance(0.7) ? random.span(0.05, 0.5) : 0,
    revisitMs: random.chance(0.3) ? random.logUniform(forMs / 8, forMs / 2) : 0,
  };
}

/**
 * One crawl that runs on for days, and asks for all pages again and again: two hours apart in a day, a week in a season.
 * Faults of every kind come evenly over the whole time.
 */
export function longRun(
  seed: number,
  days: number,
  hosts: number,
): Partial<UniverseSettings> & { readonly seed: number } {
  const forMs = days * 24 * HOUR_MS;
  const pages = 50 * hosts;
  return {
    seed,
    hosts,
    pages,
    horizonVisits: 6 * pages,
    forMs,
    horizonMs: forMs,
    revisitMs: Math.max(2 * HOUR_MS, Math.round(forMs / 13)),
    delayMs: 30_000,
    addressDelayMs: 1_000,
    adaptiveFactor: 10,
    lateFaults: 0.02,
    delayedShare: 0.05,
    kills: 20 + Math.min(70, days),
    powerLosses: 5,
    actorCrashes: 2,
    cuts: 6,
    stops: 4,
    freezes: 8,
    clockJumps: 4,
    pauses: 4,
    exclusions: 0,
    sowings: 4,
    redrives: 4,
    storeErrors: 12,
    doors: 0.2,
    illnesses: 3,
    mending: 0,
    openings: false,
  };
}

function drawWeb(random: Random) {
  const hosts = random.logUniform(1, 16);
  return {
    hosts,
    pages: hosts * random.logUniform(2, 12),
    faults: maybe(random, () => random.span(0.05, 0.6), 0),
    hostFaults: maybe(random, () => random.span(0.1, 0.6), 0),
    oddities: maybe(random, () => random.span(0.05, 0.4), 0),
    walls: maybe(random, () => random.span(0.02, 0.3), 0),
    doors: drawDoors(random.fork('doors')),
    mending: drawMending(random.fork('mending')),
    retriesPerMinute: drawBudget(random.fork('budget')),
    skewMsMax: maybe(random, () => random.logUniform(1_000, 86_400_000), 0),
    delayedShare: maybe(random, () => random.span(0.01, 0.3), 0),
    delayMs: random.pick([0, 50, 1_000, 1_000, 5_000, 30_000]),
    addressDelayMs: maybe(random, () => random.pick([100, 500, 3_000]), 0),
    adaptiveFactor: maybe(random, () => random.pick([1, 5, 10]), 0),
  };
}

/** One in three has none of the ordinary kinds, so that the others are seen alone. */
function drawTrouble(random: Random) {
  return {
    kills: maybe(random, () => random.between(1, 6), 0),
    powerLosses: sometimes(random, () => random.between(1, 3), 0),
    actorCrashes: sometimes(random, () => random.between(1, 3), 0),
    cuts: sometimes(random, () => random.between(1, 2), 0),
    stops: sometimes(random, () => random.between(1, 3), 0),
    freezes: sometimes(random, () => random.between(1, 3), 0),
    clockJumps: sometimes(random, () => random.between(1, 2), 0),
    pauses: sometimes(random, () => random.between(1, 2), 0),
    exclusions: sometimes(random, () => random.between(1, 4), 0),
    sowings: sometimes(random, () => random.between(1, 4), 0),
    storeErrors: sometimes(random, () => random.between(1, 4), 0),
    illnesses: drawIllnesses(random.fork('illnesses')),
    redrives: drawRedrives(random.fork('redrives')),
  };
}

/** From a fork, so that what else is drawn stays as it was. */
function drawDoors(random: Random): number {
  return sometimes(random, () => random.span(0.2, 0.9), 0);
}

function drawMending(random: Random): number {
  return random.chance(0.25) ? random.span(0.05, 0.4) : 0;
}

function drawBudget(random: Random): number {
  return random.chance(0.25) ? random.pick([2, 10, 30]) : 0;
}

function drawRedrives(random: Random): number {
  return random.chance(0.25) ? random.between(1, 3) : 0;
}

function drawIllnesses(random: Random): number {
  return maybe(random, () => random.between(1, 3), 0);
}

function maybe(random: Random, draw: () => number, otherwise: number): number {
  return random.chance(0.6) ? draw() : otherwise;
}

function sometimes(random: Random, draw: () => number, otherwise: number): number {
  return random.chance(0.35) ? draw() : otherwise;
}
