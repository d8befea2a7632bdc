import { describe, expect, it } from 'vitest';
import { ADDRESSES, HostWorld, PROPS } from './support/host-world.js';

const HOUR_MS = 3_600_000;

/** Whatever it waits for comes, and its pages are answered so. */
function live(world: HostWorld, answer: 'later' | 'throttled', forMs: number): void {
  for (let passedMs = 0; passedMs < forMs; passedMs += 10_000) {
    for (let i = 0; i < 6; i++) {
      world.wakeIfDue();
      world.answerStore(false);
      world.resolve(ADDRESSES);
      world.grant();
      const isRobots = world.flight?.request.url.endsWith('/robots.txt') === true;
      world.land(isRobots ? 'missing' : answer);
      world.parse(0, 'well', false);
      world.commit(3);
    }
    world.pass(10_000);
  }
}

describe('C05: a host that asks to be left alone, with ten thousand URLs', () => {
  it.each([
    // 24 hours of an hour each, and the robots.txt twice; back-off from 2 s to an hour: 11 steps, then one an hour.
    ['later', 30],
    ['throttled', 45],
  ] as const)('%s: writes a row for each answer, and leaves all others where they stand', (answer, requestsMax) => {
    const world = new HostWorld();
    world.fill(10_000);
    live(world, answer, 24 * HOUR_MS);
    expect(world.requests).toBeGreaterThan(20);
    expect(world.requests).toBeLessThanOrEqual(requestsMax);
    expect(world.written).toBeLessThanOrEqual(world.requests);
    expect(world.shown).toBeLessThanOrEqual((2 + world.requests) * (PROPS.window + PROPS.openMax));
    // No delivery is used, none has moved.
    const rows = [...world.rows.values()];
    expect(rows).toHaveLength(10_000);
    expect(rows.filter(({ at, record }) => at.queue !== 'ready' || record.deliveries > 0)).toEqual([]);
    expect(world.left).toEqual([]);
  });
});
