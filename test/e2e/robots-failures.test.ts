/** robots.txt as it goes wrong, on a real web and over days of a bent clock. Needs the built command line in `dist`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { whyNoFakeTime } from './clocks.js';
import {
  crawlThroughFailures,
  LATER_SECONDS,
  type Life,
  type RobotsFailures,
  UNAVAILABLE,
  UNREACHABLE,
} from './robots-failures.js';

const LIVES = [1, 2, 3, 4] as const;
const missing = whyNoFakeTime();

describe.skipIf(missing !== null)(`robots.txt under failure${missing === null ? '' : ` (${missing})`}`, () => {
  let told: RobotsFailures;

  beforeAll(async () => {
    const unreachable = UNREACHABLE.flatMap((kind) => ['/ok', '/x/1'].map((path) => [`u-${kind}.test`, path] as const));
    told = await crawlThroughFailures({
      1: [...unreachable, ['from.test', '/secret'], ['from.test', '/own'], ['to.test', '/own'], ['r30.test', '/1']],
      2: [['ttl.test', '/a/0']],
      3: [
        ['lost.test', '/a/1'],
        ['changing.test', '/late/1'],
        ['ttl.test', '/b/1'],
      ],
      4: [...unreachable, ['lost.test', '/c/1']],
    });
  }, 120_000);

  /** Paths that were asked of a host in a life, in order. */
  const asked = (host: string, life: Life): string[] =>
    told.asked.filter((one) => one.host === host && one.life === life).map(({ path }) => path);
  const pagesOf = (host: string, life: Life): string[] =>
    asked(host, life)
      .filter((path) => path !== '/robots.txt')
      .sort();

  const heals = UNREACHABLE.filter((kind) => kind !== 'tls');
  const later = UNREACHABLE.filter((kind) => kind !== '429-later');

  it('R39: each life ends in its time although some robots.txt can never be had, and says what waits', () => {
    for (const { exitCode, summary, seconds } of told.reports) {
      expect(exitCode).toBe(0);
      expect(summary.reason).toBe('only-waiting');
      expect(summary.queued).toBeGreaterThan(0);
      expect(summary.deadLettered).toBe(0);
      expect(seconds).toBeLessThan(80);
    }
  });

  it.each(later)('P5, R25: %s: no page before the file is known, one try at it a life, nothing lost', (kind) => {
    const host = `u-${kind}.test`;
    for (const life of [1, 2, 3] as const) {
      expect(pagesOf(host, life)).toEqual([]);
      expect(asked(host, life).length).toBe(kind === 'tls' ? 0 : 1);
    }
  });

  it.each(later)('P5: %s: its URLs are parked, a state with its reason: no failure, no delivery used', (kind) => {
    for (const path of ['/ok', '/x/1']) {
      const answer = told.why(1, `u-${kind}.test`, path);
      expect(answer).toMatchObject({ state: 'parked', robots: { allowed: null } });
      expect(answer.visits.every(({ outcome }) => outcome === 'parked')).toBe(true);
      expect(answer.explanation.join(' ')).toMatch(
        /robots\.txt can not be read[\s\S]*No earlier copy exists[\s\S]*asked for again in/,
      );
    }
  });

  it.each(heals)('R25: %s: once it is read, it rules: one page is fetched, the other one blocked', (kind) => {
    const host = `u-${kind}.test`;
    const life = kind === '429-later' ? 2 : 4;
    expect(asked(host, life)).toEqual(['/robots.txt', '/ok']);
    expect(told.why(4, host, '/ok')).toMatchObject({ state: 'active', robots: { allowed: true } });
    expect(told.why(4, host, '/x/1')).toMatchObject({
      state: 'blocked_by_robots',
      robots: { allowed: false, rule: { line: 2, text: 'Disallow: /x' } },
    });
  });

  it('R27: 429 with Retry-After: nothing of the host before it is over, not even robots.txt, whatever its clock says', () => {
    const times = told.asked.filter(({ host, life }) => host === 'u-429-later.test' && life < 4);
    expect(times.map(({ life, path }) => [life, path])).toEqual([
      [1, '/robots.txt'],
      [2, '/robots.txt'],
      [2, '/ok'],
    ]);
    const [first, second] = times;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(LATER_SECONDS * 1_000);
  });

  it('S1, P5: a robots.txt that redirects to where no one may go can not be had, and nobody goes there', () => {
    expect(told.connectionsToForbidden).toBe(0);
  });

  it.each(UNAVAILABLE)('R28: %i: there is none, all is allowed, and it is asked for once a day', (status) => {
    const host = `s-${status}.test`;
    expect(LIVES.map((life) => asked(host, life))).toEqual([['/robots.txt', '/1'], ['/2'], [], []]);
  });

  it('R30: each origin has its own file: another port, another name', () => {
    expect(LIVES.flatMap((life) => pagesOf('r30.test', life))).toEqual([]);
    expect(asked('r30.test:second', 1)).toEqual(['/robots.txt', '/1']);
    expect(asked('www.r30.test', 1)).toEqual(['/robots.txt', '/1']);
    expect(told.why(1, 'r30.test', '/1').state).toBe('blocked_by_robots');
  });

  it('R38: rules hold for a day, then those that are served then', () => {
    expect(asked('ttl.test', 1)).toEqual(['/robots.txt', '/ok']);
    expect(asked('ttl.test', 2)).toEqual([]);
    expect(told.why(2, 'ttl.test', '/a/0').state).toBe('blocked_by_robots');
    // What the old rules had blocked is looked at again by the new ones.
    expect(asked('ttl.test', 3)[0]).toBe('/robots.txt');
    expect(pagesOf('ttl.test', 3)).toEqual(['/a/0', '/a/1']);
    expect(told.why(3, 'ttl.test', '/b/1')).toMatchObject({ state: 'blocked_by_robots' });
  });

  it('R38: while the file is lost its last good copy rules on, for a week and no longer', () => {
    expect(asked('lost.test', 3)).toEqual(['/robots.txt', '/b/1']);
    const blocked = told.why(3, 'lost.test', '/a/1');
    expect(blocked).toMatchObject({ state: 'blocked_by_robots', robots: { rule: { text: 'Disallow: /a' } } });
    expect(pagesOf('lost.test', 4)).toEqual([]);
    expect(told.why(4, 'lost.test', '/c/1').state).toBe('parked');
  });

  it('P4: what was queued under rules of yesterday is looked at again before it is asked for', () => {
    const before = [...asked('changing.test', 1), ...asked('changing.test', 2)];
    expect(before.slice(0, 2)).toEqual(['/robots.txt', '/first']);
    expect(asked('changing.test', 3)).toEqual(['/robots.txt', '/first']);
    expect(told.why(3, 'changing.test', '/late/1')).toMatchObject({
      state: 'blocked_by_robots',
      robots: { rule: { text: 'Disallow: /late' } },
    });
  });

  it('RFC 9309 §2.3.1.2: rules behind a redirect to another host are those of the first, and of it alone', () => {
    expect(pagesOf('from.test', 1)).toEqual(['/own', '/rules.txt']);
    expect(told.why(1, 'from.test', '/secret')).toMatchObject({
      state: 'blocked_by_robots',
      robots: { rule: { text: 'Disallow: /secret' } },
    });
    // The file itself was asked for although the host that has it disallows it to pages: it is no page (P6).
    expect(pagesOf('to.test', 1)).toEqual(['/rules.txt', '/secret']);
    expect(told.why(1, 'to.test', '/own').state).toBe('blocked_by_robots');
  });

  it('RFC 9309 §2.3.1.2: five hops are followed, over hosts in turn; a sixth means that there is no file', () => {
    const hops = (host: string) =>
      told.asked.filter(({ path, life }) => life === 1 && path.startsWith(`/hop/${host}/`)).length;
    expect([hops('hops-5.test'), pagesOf('hops-5.test', 1).filter((path) => path === '/secret').length]).toEqual([
      5, 0,
    ]);
    expect([hops('hops-6.test'), pagesOf('hops-6.test', 1).filter((path) => path === '/secret').length]).toEqual([
      5, 1,
    ]);
    expect(asked('loop.test', 1)).toEqual([...Array<string>(6).fill('/robots.txt'), '/secret']);
  });
});

it.runIf(process.env.PACKAGES_INSTALLED !== undefined)('continuous integration can bend the clock', () => {
  expect(missing).toBeNull();
});
