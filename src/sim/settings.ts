/** What a universe is made of, as plain numbers: whoever has them sees the same history again. */
import type { LandscapeSettings } from './landscape.js';
import type { PlanSettings } from './plan.js';
import type { WebSettings } from './web.js';

export interface UniverseSettings extends LandscapeSettings, PlanSettings, WebSettings {
  /** The crawl's configured delay, from the end of an answer to the next request of a host. */
  readonly delayMs: number;
  /** Retries that a host may make in a minute, without any share of first attempts; 0: as the crawl does when it is not told. */
  readonly retriesPerMinute: number;
  /** Of the clock of addresses; 0: it has none. */
  readonly addressDelayMs: number;
  /** A host is left alone for so many times as long as its last answer took; 0: it is not. */
  readonly adaptiveFactor: number;
  /** The crawl runs for so long, and is judged for what it has done and not for what it has left; 0: until nothing is left. */
  readonly forMs: number;
  /** All pages are asked for again after each such time, by a crawl that runs on; 0: they are not. */
  readonly revisitMs: number;
  /** Ask for every page once more when nothing is left to do. */
  readonly again: boolean;
  /** Over memory, or over a real LevelDB and real files. */
  readonly medium: 'memory' | 'disk';
  readonly simulatedMsMax: number;
  readonly eventsMax: number;
  /** Lines of the trace to keep for a story. */
  readonly traceLinesKept: number;
}

export const UNIVERSE_DEFAULTS: UniverseSettings = {
  seed: 1,
  hosts: 6,
  pages: 60,
  faults: 0.25,
  hostFaults: 0.3,
  oddities: 0.15,
  openings: false,
  walls: 0.05,
  mending: 0,
  doors: 0,
  logins: false,
  skewMsMax: 3_600_000,
  lateFaults: 0,
  delayedShare: 0.05,
  kills: 3,
  powerLosses: 0,
  actorCrashes: 0,
  cuts: 0,
  cutMsMax: 900_000,
  stops: 0,
  freezes: 0,
  clockJumps: 0,
  clockJumpMsMax: 3_600_000,
  pauses: 0,
  exclusions: 0,
  sowings: 0,
  redrives: 0,
  storeErrors: 0,
  illnesses: 0,
  horizonMs: 600_000,
  horizonVisits: 0,
  delayMs: 1_000,
  retriesPerMinute: 0,
  addressDelayMs: 0,
  adaptiveFactor: 0,
  forMs: 0,
  revisitMs: 0,
  again: false,
  medium: 'memory',
  simulatedMsMax: 30 * 86_400_000,
  eventsMax: 3_000_000,
  traceLinesKept: 400,
};
