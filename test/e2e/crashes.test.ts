import { beforeAll, describe, expect, it } from 'vitest';
import {
  caseOfAll,
  type CrashReport,
  crawlWithCrashes,
  faultsIn,
  linesNamed,
  MESSAGES,
  nameOf,
  type PlannedCrash,
} from './crashes.js';

const PARALLEL = 2;

/** A page that kills its parser thread whenever it is read; told apart from the planned crashes. */
const CRASHING_PAGE = 'a page that crashes its reader';

const ONCE = Object.keys(MESSAGES).flatMap((actor) => casesWithin(actor, 1));
const TWICE = Object.keys(MESSAGES).flatMap((actor) => casesWithin(actor, 2));

/**
 * Few enough crashes in a crawl to stay within the budgets of restarts, wherever they fall: those of hosts may all fall
 * on one, which would be set aside for a minute. `npm run e2e:crashes` has each by itself.
 */
function casesWithin(actor: string, times: number): { name: string; crashes: readonly PlannedCrash[] }[] {
  const crashesMax = actor === 'hosts/' ? 5 : 9;
  return chunks(caseOfAll(actor, times), crashesMax).map((crashes) => ({
    name: crashes.map(nameOf).join(' '),
    crashes,
  }));
}

const reports = new Map<string, CrashReport>();

beforeAll(async () => {
  const queue: { name: string; crashes: readonly PlannedCrash[] }[] = [
    { name: CRASHING_PAGE, crashes: [] },
    ...ONCE,
    ...TWICE,
  ];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      reports.set(next.name, await crawlWithCrashes(next.crashes, next.name === CRASHING_PAGE));
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}, 600_000);

function reportOf(name: string): CrashReport {
  const report = reports.get(name);
  if (report === undefined) throw new Error(`no report of ${name}`);
  return report;
}

describe('B4: a crash with work in hand loses nothing and is said', () => {
  it.each(ONCE)('$name', ({ name, crashes }) => {
    expect(faultsIn(reportOf(name), crashes)).toEqual([]);
  });
});

describe('B4: a second crash in the same place, where a message that is delivered again is set aside', () => {
  it.each(TWICE)('$name', ({ name, crashes }) => {
    expect(faultsIn(reportOf(name), crashes)).toEqual([]);
  });

  it('the log names what was set aside, and what was taken up by the restart', () => {
    const setAside = TWICE.flatMap(({ name }) => linesNamed(reportOf(name), 'set_aside'));
    const takenUp = TWICE.flatMap(({ name }) => linesNamed(reportOf(name), 'taken_up'));
    for (const [actor, message] of [
      ['recorder', 'record'],
      ['recorder', 'committed'],
      ['frontier', 'seed'],
      ['frontier', 'recorded'],
      ['workbench', 'settle'],
    ]) {
      expect(setAside).toContainEqual(expect.objectContaining({ actor, message }));
      expect(takenUp).toContainEqual(expect.objectContaining({ actor, message }));
    }
  });
});

describe('a page that crashes its reader every time', () => {
  it('is a dead letter after two crashes, and everything else is there', () => {
    const report = reportOf(CRASHING_PAGE);
    expect(report.truth.crashing).toHaveLength(1);
    expect(faultsIn(report, [])).toEqual([]);
    expect(report.crawl.summary.deadLettered).toBe(1);
    const [url] = report.truth.crashing;
    const deaths = linesNamed(report, 'parser_thread_died');
    expect(deaths).toHaveLength(2);
    for (const death of deaths) expect(death.url).toBe(url);
    const attempts = report.crawl.visits.filter((visit) => visit.url === url);
    expect(attempts.map(({ code }) => code)).toEqual(['worker_crashed', 'worker_crashed']);
  });
});

/** In order, as many as fit beside each other. */
function chunks(crashes: readonly PlannedCrash[], timesMax: number): PlannedCrash[][] {
  const parts: PlannedCrash[][] = [[]];
  let times = 0;
  for (const crash of crashes) {
    times += crash.times;
    if (times > timesMax) {
      parts.push([]);
      times = crash.times;
    }
    parts.at(-1)?.push(crash);
  }
  return parts;
}
