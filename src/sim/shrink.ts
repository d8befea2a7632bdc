/**
 * Makes a failing universe small: what is left of its settings is what the violation needs.
 *
 * One number after the other is set to nothing, or halved, for as long as a rule is broken that was broken before; then
 * all are tried once more, since what one allows another may need. The seed stays, so each step is a universe that can
 * be seen again.
 */
import { UNIVERSE_DEFAULTS, type UniverseSettings } from './settings.js';
import type { UniverseResult } from './universe.js';

export interface Shrunk {
  readonly result: UniverseResult;
  /** Universes that were looked at. */
  readonly tried: number;
}

type Count = { [K in keyof UniverseSettings]: UniverseSettings[K] extends number ? K : never }[keyof UniverseSettings];

/** In the order in which a story gets simpler by them. */
const TO_NOTHING: readonly Count[] = [
  'cuts',
  'powerLosses',
  'storeErrors',
  'actorCrashes',
  'exclusions',
  'pauses',
  'sowings',
  'freezes',
  'clockJumps',
  'stops',
  'kills',
  'oddities',
  'hostFaults',
  'faults',
  'lateFaults',
  'delayedShare',
  'walls',
  'doors',
  'illnesses',
  'skewMsMax',
  'revisitMs',
  'adaptiveFactor',
  'addressDelayMs',
];
const TO_LESS: readonly Count[] = ['hosts', 'pages', 'kills', 'exclusions', 'sowings', 'actorCrashes', 'storeErrors'];

/** @param triesMax universes at most; each may take as long as the first one did */
export async function shrink(
  failing: UniverseResult,
  run: (settings: UniverseSettings) => Promise<UniverseResult>,
  triesMax = 120,
): Promise<Shrunk> {
  const rules = new Set(failing.violations.map(({ rule }) => rule));
  let best = failing;
  let tried = 0;
  const isKept = async (change: Partial<UniverseSettings>): Promise<boolean> => {
    if (tried >= triesMax) return false;
    tried += 1;
    const result = await run({ ...UNIVERSE_DEFAULTS, ...best.evidence.settings, ...change });
    if (!result.violations.some(({ rule }) => rules.has(rule))) return false;
    best = result;
    return true;
  };
  for (let again = true; again && tried < triesMax; ) {
    again = false;
    for (const change of smaller(() => best.evidence.settings)) again = (await isKept(change)) || again;
  }
  return { result: best, tried };
}

function* smaller(settings: () => UniverseSettings): Iterable<Partial<UniverseSettings>> {
  for (const key of ['again', 'openings', 'logins'] as const) if (settings()[key]) yield { [key]: false };
  for (const key of TO_NOTHING) if (settings()[key] > 0) yield { [key]: 0 };
  for (const key of TO_LESS) {
    for (let less = half(settings()[key]); less < settings()[key]; less = half(settings()[key])) {
      const before = settings()[key];
      yield { [key]: less };
      if (settings()[key] === before) break;
    }
  }
  for (const key of TO_LESS) if (settings()[key] > 1) yield { [key]: settings()[key] - 1 };
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}
