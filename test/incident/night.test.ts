/** The night of the incident, small: what the bench of that name shows at length. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NIGHT, type Night, type NightKind, type NightSettings, spendNight, whatDoesNotHold } from './night.js';

const SMALL: NightSettings = { ...NIGHT, ordinaryHosts: 40, ordinaryPages: 6, challengedHosts: 8, challengedPages: 4 };

describe('a browser service that burns its time-out, beside ordinary hosts', () => {
  const nights = new Map<NightKind, Night>();
  const of = (kind: NightKind): Night => nights.get(kind) as Night;

  beforeAll(async () => {
    for (const kind of ['well', 'ill', 'defenceless'] as const) nights.set(kind, await spendNight(SMALL, kind));
  }, 60_000);

  it('B1, B2: five failures, a rest of two minutes, one probe; nobody else waits, nothing is given up, all is had', () => {
    expect(whatDoesNotHold(of('ill'), of('well'), SMALL.illForMs / 1_000)).toEqual([]);
    expect(of('ill').rests.length).toBeGreaterThan(8);
  });

  it('is caught where the breaker is off: the judge is not blind, and the browser burns many times as long', () => {
    expect(of('defenceless').violations.has('backend')).toBe(true);
    expect(of('defenceless').burnedSeconds).toBeGreaterThan(5 * of('ill').burnedSeconds);
  });

  it('even then nothing is given up, and all is had in the end', () => {
    expect(of('defenceless')).toMatchObject({ dead: 0, pages: of('well').pagesExpected });
  });
});
