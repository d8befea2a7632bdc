/**
 * What is done to a crawl in one universe, and when: kills, losses of power, stops, freezes, jumps of the wall clock,
 * disk errors, crashes of actors, times in which nothing gets through to the web.
 *
 * Moments spread evenly over time almost never fall into the few milliseconds between two writes, where the mistakes
 * are. So most are aimed: a few milliseconds after the k-th commit, or after the k-th request arrived, with k drawn
 * log-uniformly, since the first writes are as interesting as all that come after.
 */
import type { FaultPlan } from '../supervision/faults.js';
import type { Random } from './random.js';
import type { Illness } from './sidecar.js';

export interface PlanSettings {
  readonly pages: number;
  /** kill -9. */
  readonly kills: number;
  /** Deaths of the whole machine: what was not forced to the disk may be gone. */
  readonly powerLosses: number;
  /** Crashes of actors, in each life. */
  readonly actorCrashes: number;
  /** Times in which the crawl's own network is down. */
  readonly cuts: number;
  /** How long these last at most. */
  readonly cutMsMax: number;
  /** Asked to stop, and left to drain. */
  readonly stops: number;
  /** SIGSTOP for a while. */
  readonly freezes: number;
  /** Jumps of the wall clock; only back where power is lost, as nobody could tell of a forward one then. */
  readonly clockJumps: number;
  /** How far these go at most. */
  readonly clockJumpMsMax: number;
  /** Paused by command, and resumed by another after a while. */
  readonly pauses: number;
  /** Parts of the web that are excluded by command, and admitted by another after a while. */
  readonly exclusions: number;
  /** Seeds that are brought while it runs. */
  readonly sowings: number;
  /** Times at which all dead letters are to be brought back, at once or at a rate. */
  readonly redrives: number;
  /** Commits that the disk refuses. */
  readonly storeErrors: number;
  /** Times in which the browser service is ill. */
  readonly illnesses: number;
  /** Deeds that come at a time of their own come within this. */
  readonly horizonMs: number;
  /** Those that come after a commit or a request come after one of so many; 0: of as many as there are pages. */
  readonly horizonVisits: number;
}

export type Deed =
  | { readonly kind: 'kill' | 'power-loss'; readonly downMs: number }
  | { readonly kind: 'cut'; readonly forMs: number; readonly silent: boolean }
  | { readonly kind: 'stop'; readonly downMs: number }
  | { readonly kind: 'freeze'; readonly forMs: number }
  | { readonly kind: 'pause' | 'exclude'; readonly forMs: number }
  | { readonly kind: 'sow' }
  | { readonly kind: 'redrive' }
  | { readonly kind: 'clock-jump'; readonly byMs: number };

export type Trigger =
  | { readonly on: 'commit' | 'request'; readonly count: number; readonly thenMs: number }
  | { readonly on: 'time'; readonly atMs: number };

export interface Planned {
  readonly deed: Deed;
  readonly trigger: Trigger;
}

export interface Plan {
  readonly deeds: readonly Planned[];
  /** Numbers of the commits that fail. */
  readonly failingCommits: ReadonlySet<number>;
  /** Of the browser service: the world's, whether or not a crawl runs meanwhile. */
  readonly illnesses: readonly Illness[];
}

export function drawPlan(settings: PlanSettings, random: Random): Plan {
  const deeds: Planned[] = [];
  const add = (count: number, label: string, draw: (random: Random) => Deed): void => {
    for (let index = 0; index < count; index++) {
      const own = random.fork(`${label} ${index}`);
      deeds.push({ deed: draw(own), trigger: drawTrigger(own, settings) });
    }
  };
  add(settings.kills, 'kill', (own) => ({ kind: 'kill', downMs: drawDownMs(own) }));
  add(settings.powerLosses, 'power', (own) => ({ kind: 'power-loss', downMs: drawDownMs(own) }));
  add(settings.cuts, 'cut', (own) => ({
    kind: 'cut',
    forMs: own.logUniform(1_000, settings.cutMsMax),
    silent: own.chance(0.5),
  }));
  add(settings.stops, 'stop', (own) => ({ kind: 'stop', downMs: drawDownMs(own) }));
  add(settings.freezes, 'freeze', (own) => ({ kind: 'freeze', forMs: own.logUniform(10, 30_000) }));
  add(settings.clockJumps, 'clock', (own) => ({
    kind: 'clock-jump',
    byMs: (settings.powerLosses === 0 && own.chance(0.5) ? 1 : -1) * own.logUniform(100, settings.clockJumpMsMax),
  }));
  add(settings.pauses, 'pause', (own) => ({ kind: 'pause', forMs: own.logUniform(10, 120_000) }));
  add(settings.exclusions, 'exclude', (own) => ({ kind: 'exclude', forMs: own.logUniform(10, 600_000) }));
  add(settings.sowings, 'sow', () => ({ kind: 'sow' }));
  add(settings.redrives, 'redrive', () => ({ kind: 'redrive' }));
  const failing = random.fork('failing');
  const failingCommits = new Set(
    Array.from({ length: settings.storeErrors }, () => failing.logUniform(1, settings.horizonVisits || settings.pages)),
  );
  const illnesses = Array.from({ length: settings.illnesses }, (_, index) =>
    drawIllness(random.fork(`illness ${index}`), settings.horizonMs),
  );
  return { deeds, failingCommits, illnesses };
}

function drawIllness(random: Random, horizonMs: number): Illness {
  const fromMs = random.chance(0.5) ? 0 : random.logUniform(1_000, horizonMs);
  const how = random.pick(['errors', 'hangs'] as const);
  return { fromMs, untilMs: fromMs + random.logUniform(60_000, 4 * 3_600_000), how };
}

/** Kills of a crawl that comes back after days to see what has changed: most of them while it still looks. */
export function drawRevisit(settings: PlanSettings, commitsBefore: number, random: Random): readonly Planned[] {
  return Array.from({ length: Math.min(2, settings.kills) }, (_, index) => {
    const own = random.fork(`revisit ${index}`);
    const count = commitsBefore + own.logUniform(1, Math.max(2, settings.pages / 4));
    return {
      deed: { kind: 'kill', downMs: drawDownMs(own) },
      trigger: { on: 'commit', count, thenMs: own.span(0, 9) },
    };
  });
}

/** Where a life's planned crashes strike. Workers only where `workers` says so: a page is borne with one such death. */
export function drawCrashes(settings: PlanSettings, workers: boolean, random: Random): FaultPlan {
  const actors = new Set<string>(
    Array.from({ length: settings.actorCrashes }, () =>
      random.pick(['recorder', 'frontier', 'workbench', 'hosts/', 'hosts/', 'hosts/', 'workers'] as const),
    ),
  );
  if (actors.delete('workers') && workers) actors.add(random.pick(['fetchers/', 'parsers/'] as const));
  return [...actors].map((actor) => ({ actor, nth: random.logUniform(1, 4 * settings.pages), times: 1 }));
}

function drawTrigger(random: Random, { pages, horizonMs, horizonVisits }: PlanSettings): Trigger {
  const on = random.pick(['commit', 'commit', 'commit', 'request', 'time'] as const);
  if (on === 'time')
    return { on, atMs: horizonVisits === 0 ? random.logUniform(10, horizonMs) : random.span(10, horizonMs) };
  const count = horizonVisits === 0 ? random.logUniform(1, Math.max(2, pages)) : random.between(1, horizonVisits);
  return { on, count, thenMs: random.span(0, 9) };
}

/** Mostly a supervisor that starts it again at once; sometimes an operator, after hours. */
function drawDownMs(random: Random): number {
  return random.chance(0.1) ? random.span(60_000, 8 * 3_600_000) : random.logUniform(20, 20_000);
}
