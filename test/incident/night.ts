/**
 * The night of the incident, in simulated time: a browser service that is alive and does not solve anything stands beside
 * a crawl of hundreds of ordinary hosts.
 *
 * A few hosts show a challenge to whatever is no browser. For them the service is called; while it is ill each call burns
 * its whole time-out, but for one of 49. Then it heals. The production actors and policies run it; what is told here was
 * seen by the simulated servers and the service, not by the crawl.
 */
import type { HostName } from '../../src/domain/host.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import { productionEngine } from '../../src/sim/engine.js';
import type { Host, Landscape, Page } from '../../src/sim/landscape.js';
import type { Call } from '../../src/sim/sidecar.js';
import { runUniverse } from '../../src/sim/universe.js';

export interface NightSettings {
  readonly seed: number;
  readonly ordinaryHosts: number;
  /** Of each ordinary host, its root included. */
  readonly ordinaryPages: number;
  readonly challengedHosts: number;
  readonly challengedPages: number;
  /** From the first moment on. */
  readonly illForMs: number;
  /** Between two requests of a host. */
  readonly delayMs: number;
}

/** `well`: there is no incident; `ill`: there is; `defenceless`: there is, and the breaker is switched off. */
export type NightKind = 'well' | 'ill' | 'defenceless';

export interface Night {
  /** When the last page of an ordinary host, and of a challenged one, was had; seconds from the start. */
  readonly ordinarySeconds: number;
  readonly challengedSeconds: number;
  readonly calls: readonly Call[];
  /** The service's time that was spent in vain. */
  readonly burnedSeconds: number;
  readonly rests: readonly Rest[];
  readonly pages: number;
  readonly pagesExpected: number;
  readonly dead: number;
  /** Rules that were broken, each with how often. */
  readonly violations: ReadonlyMap<string, number>;
  /** Seconds at which pages were had, in order. */
  readonly ordinaryAt: readonly number[];
  readonly challengedAt: readonly number[];
}

/** In a run of failures the service was left alone, from then on. */
export interface Rest {
  readonly atSeconds: number;
  /** In a row, before it. */
  readonly failures: number;
  /** Until the call that came next. */
  readonly lastedSeconds: number;
  /** Calls until the next rest: one, the probe, as long as the service is ill. */
  readonly callsAfter: number;
}

/** Of so many calls one is answered, even on such a night. */
const SPARED_ONE_OF = 49;
/** A call that comes so long after the one before has been waited with. */
const REST_MS_MIN = 60_000;

/** What the service's illness may cost hosts that don't need it. */
const PERCENT_LONGER_MAX = 5;
const FAILURES_MAX = 5;
const REST_SECONDS = 120;
/** The fifth failure begins the rest; another call, which was under way then, may end a moment later. */
const REST_SECONDS_MIN = REST_SECONDS - 1;
/** Its turn, its host's clock: a probe comes so much later than it may. */
const PROBE_LATE_SECONDS_MAX = 15;

export const NIGHT: NightSettings = {
  seed: 1,
  ordinaryHosts: 500,
  ordinaryPages: 20,
  challengedHosts: 12,
  challengedPages: 8,
  illForMs: 30 * 60_000,
  delayMs: 10_000,
};

export async function spendNight(settings: NightSettings, kind: NightKind): Promise<Night> {
  const landscape = landscapeOf(settings);
  const illness = { fromMs: 0, untilMs: settings.illForMs, how: 'hangs', sparesOneOf: SPARED_ONE_OF } as const;
  const result = await runUniverse(
    {
      ...QUIET,
      seed: settings.seed,
      hosts: landscape.hosts.size,
      pages: landscape.pages.size,
      delayMs: settings.delayMs,
    },
    productionEngine(kind === 'defenceless' ? ['browser.breaker=false'] : []),
    { landscape, illnesses: kind === 'well' ? [] : [illness] },
  );
  const { calls, log } = result.evidence;
  const ordinaryAt = pagesHad(log, (host) => host.startsWith('ordinary'));
  const challengedAt = calls.flatMap(({ outcome, endedAtMs }) => (outcome === 'worked' ? [seconds(endedAtMs)] : []));
  const failed = calls.filter(({ outcome }) => outcome === 'failed');
  const violations = new Map<string, number>();
  for (const { rule } of result.violations) violations.set(rule, (violations.get(rule) ?? 0) + 1);
  return {
    ordinarySeconds: ordinaryAt.at(-1) ?? 0,
    challengedSeconds: challengedAt.at(-1) ?? 0,
    calls,
    burnedSeconds: failed.reduce((sum, { beganAtMs, endedAtMs }) => sum + seconds(endedAtMs) - seconds(beganAtMs), 0),
    rests: restsIn(calls),
    pages: result.pages,
    pagesExpected: result.pagesExpected,
    dead: result.dead,
    violations,
    ordinaryAt,
    challengedAt,
  };
}

/** Nothing befalls the crawl but the illness. */
const QUIET = {
  ...{ faults: 0, hostFaults: 0, oddities: 0, walls: 0, lateFaults: 0, delayedShare: 0, skewMsMax: 0 },
  ...{ kills: 0, powerLosses: 0, actorCrashes: 0, stops: 0, freezes: 0, storeErrors: 0 },
  // That there are doors: with what gets through them.
  ...{ doors: 1, eventsMax: 20_000_000, traceLinesKept: 0 },
} as const;

// -- the web ------------------------------------------------------------------------------------------------------

function landscapeOf(settings: NightSettings): Landscape {
  const hosts = new Map<HostName, Host>();
  const pages = new Map<string, Page>();
  const seeds: string[] = [];
  const { ordinaryHosts, ordinaryPages, challengedHosts, challengedPages } = settings;
  for (let n = 0; n < ordinaryHosts + challengedHosts; n++) {
    const isOrdinary = n < ordinaryHosts;
    const host = hostOf(isOrdinary ? `ordinary${n}.test` : `challenged${n - ordinaryHosts}.test`, n, isOrdinary);
    hosts.set(host.name, host);
    seeds.push(`${host.origin}/`);
    for (const page of pagesOf(host, isOrdinary ? ordinaryPages : challengedPages)) pages.set(page.url, page);
  }
  return { seeds, hosts, pages };
}

function hostOf(name: HostName, n: number, isOrdinary: boolean): Host {
  return {
    name,
    origin: `http://${name}`,
    address: `198.18.${n >> 8}.${n & 255}`,
    ...{ robots: 'none', crawlDelaySeconds: 0, robotsFailures: [], skewMs: 0, nameFailures: 0, outage: null },
    pathMs: 5 + (n % 40),
    door: isOrdinary ? null : { kind: 'challenge', passes: 3 },
  };
}

/** The root links to all others. */
function pagesOf(host: Host, count: number): Page[] {
  const paths = Array.from({ length: count }, (_, n) => (n === 0 ? '/' : `/page/${n}`));
  return paths.map((path, n) => ({
    url: host.origin + path,
    host,
    path,
    ...{ failures: [], final: { kind: 'page', coding: 'identity' } },
    links: n === 0 ? paths.slice(1).map((other) => host.origin + other) : [],
    thinkMs: 20 + (n % 7) * 15,
  }));
}

// -- what was seen ------------------------------------------------------------------------------------------------

export function pagesHad(log: readonly WitnessEvent[], isOf: (host: HostName) => boolean): number[] {
  const open = new Set<number>();
  const had: number[] = [];
  for (const event of log) {
    if (event.e === 'S' && isOf(event.h) && event.u !== '/robots.txt') open.add(event.i);
    if (event.e === 'E' && open.delete(event.i) && event.s === 200) had.push(seconds(event.t));
  }
  return had;
}

/** In the order in which they began. */
export function restsIn(calls: readonly Pick<Call, 'beganAtMs' | 'endedAtMs' | 'outcome'>[]): Rest[] {
  const rests: { atSeconds: number; failures: number; lastedSeconds: number; callsAfter: number }[] = [];
  const ends = [...calls].sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0));
  for (const call of calls) {
    const ended = ends.filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs <= call.beganAtMs);
    const last = ended.at(-1)?.endedAtMs ?? null;
    if (last === null || call.beganAtMs - last < REST_MS_MIN) {
      const current = rests.at(-1);
      if (current !== undefined) current.callsAfter += 1;
      continue;
    }
    const worked = ended.findLastIndex(({ outcome }) => outcome === 'worked');
    rests.push({
      atSeconds: seconds(last),
      failures: ended.length - 1 - worked,
      lastedSeconds: seconds(call.beganAtMs) - seconds(last),
      callsAfter: 1,
    });
  }
  return rests;
}

function seconds(ms: number | null): number {
  return Math.round(ms ?? 0) / 1_000;
}

// -- what must hold -----------------------------------------------------------------------------------------------

/**
 * What does not hold of the night that it should hold of (B1, B2).
 * @param healsAtSeconds null where times may not be held against it
 */
export function whatDoesNotHold(ill: Night, well: Night, healsAtSeconds: number | null): string[] {
  const rules = (night: Night) => [...night.violations.keys()].join(', ');
  const checks: (readonly [boolean, string])[] = [
    // Another call may have been under way when the fifth one failed.
    [
      [FAILURES_MAX, FAILURES_MAX + 1].includes(ill.rests[0]?.failures ?? 0),
      'the breaker did not open after five failures',
    ],
    [ill.rests.slice(0, -1).every(({ callsAfter }) => callsAfter === 1), 'there was more than one probe after a rest'],
    [ill.dead === 0, `${ill.dead} URLs were given up`],
    [ill.pages === ill.pagesExpected, `${ill.pagesExpected - ill.pages} pages are missing`],
    [ill.violations.size === 0, `rules were broken: ${rules(ill)}`],
    [well.violations.size === 0, `rules were broken without an incident: ${rules(well)}`],
    ...(healsAtSeconds === null ? [] : timesOf(ill, well, healsAtSeconds)),
  ];
  return checks.flatMap(([holds, what]) => (holds ? [] : [what]));
}

function timesOf(ill: Night, well: Night, healsAtSeconds: number): (readonly [boolean, string])[] {
  const percent = (ill.ordinarySeconds / well.ordinarySeconds - 1) * 100;
  const isTwoMinutes = (seconds: number) =>
    seconds >= REST_SECONDS_MIN && seconds < REST_SECONDS + PROBE_LATE_SECONDS_MAX;
  return [
    [percent <= PERCENT_LONGER_MAX, `the ordinary hosts took ${percent.toFixed(2)} % longer`],
    [ill.rests.every(({ lastedSeconds }) => isTwoMinutes(lastedSeconds)), 'a rest did not last two minutes'],
    [ill.challengedSeconds > healsAtSeconds, 'the challenged pages were had while the service was ill'],
  ];
}
