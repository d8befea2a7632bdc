/**
 * What does a browser service that burns its time-out on 48 of 49 calls cost the hosts that do not need it?
 *
 * The night of the incident in simulated time, three times: without the incident, with it, and with it while the breaker
 * of the service is switched off. All times are simulated and the same on every machine; what must hold of them is held
 * against the bench. `--hosts` is the number of ordinary hosts, `--pages` of each. `incident-real` is the same for once
 * with real processes.
 */
import { NIGHT, type Night, type NightKind, spendNight, whatDoesNotHold } from '../test/incident/night.js';
import { type Curve, plotCurves } from './plot.js';
import { round } from './measure.js';
import type { Bench, BenchResult, Figures } from './result.js';

const KINDS: Readonly<Record<NightKind, string>> = {
  well: 'without',
  ill: 'with it',
  defenceless: 'breaker off',
};
export const run: Bench = ({ hosts, pages }) => {
  const settings = {
    ...NIGHT,
    ordinaryHosts: hosts ?? NIGHT.ordinaryHosts,
    ordinaryPages: pages ?? NIGHT.ordinaryPages,
  };
  return compareNights({
    name: 'incident',
    spend: (kind) => spendNight(settings, kind),
    unit: 'simulated seconds',
    ordinaryHosts: settings.ordinaryHosts,
    challengedHosts: settings.challengedHosts,
    healsAtSeconds: settings.illForMs / 1_000,
    isTimed: true,
  });
};

export interface NightsToCompare {
  readonly name: string;
  readonly spend: (kind: NightKind) => Promise<Night>;
  readonly unit: string;
  readonly ordinaryHosts: number;
  readonly challengedHosts: number;
  readonly healsAtSeconds: number;
  /** Whether times are the same on every machine, and may be held against it. */
  readonly isTimed: boolean;
}

export async function compareNights(compared: NightsToCompare): Promise<BenchResult> {
  const { name, spend, unit, ordinaryHosts, challengedHosts, healsAtSeconds, isTimed } = compared;
  const nights = new Map<NightKind, Night>();
  for (const kind of Object.keys(KINDS) as NightKind[]) nights.set(kind, await spend(kind));
  const well = nights.get('well') as Night;
  const subjects = Object.fromEntries(
    [...nights].map(([kind, night]) => [KINDS[kind], { figures: figuresOf(night, well) }]),
  );
  return {
    name,
    figures: {
      ordinaryHosts,
      challengedHosts,
      pagesInAll: well.pagesExpected,
      [`healsAfter, ${unit}`]: healsAtSeconds,
    },
    subjects,
    broken: whatDoesNotHold(nights.get('ill') as Night, well, isTimed ? healsAtSeconds : null),
    plot: plotCurves(
      {
        title: 'Pages had while the browser service is ill',
        x: unit,
        y: 'pages, % of all of their kind',
        marks: [{ at: healsAtSeconds, name: 'it heals' }],
      },
      [...nights].flatMap(([kind, night]) => curvesOf(KINDS[kind], night)),
    ),
  };
}

function figuresOf(night: Night, well: Night): Figures {
  const { ordinarySeconds, challengedSeconds, calls, burnedSeconds, rests, pages, pagesExpected, dead } = night;
  return {
    'ordinary hosts done, s': round(ordinarySeconds, 1),
    'longer than without, %': round((ordinarySeconds / well.ordinarySeconds - 1) * 100, 2),
    'challenged hosts done, s': round(challengedSeconds, 1),
    'calls of the service': calls.length,
    'failed calls': calls.filter(({ outcome }) => outcome === 'failed').length,
    "browser's time burned, s": round(burnedSeconds, 0),
    'rests of the service': rests.length,
    'failures before the first rest': rests[0]?.failures ?? 0,
    'shortest rest, s': rests.length === 0 ? 0 : round(Math.min(...rests.map(({ lastedSeconds }) => lastedSeconds)), 1),
    'longest rest, s': rests.length === 0 ? 0 : round(Math.max(...rests.map(({ lastedSeconds }) => lastedSeconds)), 1),
    'pages had': pages,
    'pages missing': pagesExpected - pages,
    'dead letters': dead,
    'rules broken': [...night.violations.values()].reduce((sum, count) => sum + count, 0),
  };
}

function curvesOf(name: string, { ordinaryAt, challengedAt }: Night): Curve[] {
  const shares = (at: readonly number[]) => at.map((x, n) => [x, ((n + 1) / at.length) * 100] as const);
  return [
    { name: `ordinary, ${name}`, points: shares(ordinaryAt) },
    { name: `challenged, ${name}`, points: shares(challengedAt), isDashed: true },
  ];
}
