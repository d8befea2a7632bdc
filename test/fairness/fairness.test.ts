/** P7 in simulated time: production actors over a quiet web. No real time is asserted; simulated time is the same each time. */
import { describe, expect, it } from 'vitest';
import { type FairnessSettings, smallHostsAlone, smallHostsBesideTheTwo } from './hot-and-slow.js';

const SETTINGS: FairnessSettings = {
  seed: 7,
  hosts: 500,
  pagesPerHost: 4,
  hotUrls: 20_000,
  hotLinksPerPage: 1_000,
  slowPages: 100,
};

describe('P7 one hot and one slow host beside five hundred small ones', () => {
  it('the small ones take at most a tenth longer than without the two', async () => {
    const alone = await smallHostsAlone(SETTINGS);
    const beside = await smallHostsBesideTheTwo(SETTINGS);
    console.log(alone, beside);
    expect([alone.pages, beside.pages]).toEqual([2_000, 2_000]);
    expect(beside.hotQueued).toBeGreaterThanOrEqual(20_000);
    expect(beside.seconds).toBeLessThanOrEqual(1.1 * alone.seconds);
    expect([beside.hot.inFlightMost, beside.slow.inFlightMost]).toEqual([1, 1]);
  }, 120_000);
});
