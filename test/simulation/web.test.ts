import { describe, expect, it } from 'vitest';
import type { FetchRequest } from '../../src/domain/fetching.js';
import { createSimulation } from '../../src/sim/events.js';
import { drawLandscape, type Host, type Landscape, truthOf } from '../../src/sim/landscape.js';
import { createWeb } from '../../src/sim/web.js';

const QUIET = {
  seed: 4,
  hosts: 4,
  pages: 30,
  faults: 0,
  hostFaults: 0,
  oddities: 0,
  openings: false,
  mending: 0,
  walls: 0,
  doors: 0,
  logins: false,
  skewMsMax: 0,
};
const UNSTOPPED = new AbortController().signal;

function requestOf(landscape: Landscape, url: string, more: Partial<FetchRequest> = {}): FetchRequest {
  const { origin, hostname } = new URL(url);
  const { address } = landscape.hosts.get(hostname) as Host;
  const bounds = { deadlineMs: 20_000, bodyBytesMax: 1 << 20, headerBytesMax: 1 << 16, cutAtBound: false };
  return {
    url,
    tier: 1,
    origin,
    address: { address, family: 4 },
    headers: [['User-Agent', 'test']],
    ...bounds,
    ...more,
  };
}

function stage(partial: Partial<typeof QUIET> = {}) {
  const simulation = createSimulation({ seed: 4 });
  const landscape = drawLandscape({ ...QUIET, ...partial });
  return {
    simulation,
    landscape,
    web: createWeb(simulation, landscape, { lateFaults: 0, delayedShare: 0 }),
    seed: landscape.seeds[0] as string,
  };
}

describe('the simulated web', () => {
  it('answers with bytes that hold the links of the page, and logs start and end at the server', async () => {
    const { simulation, landscape, web, seed } = stage();
    const result = await simulation.run(() => web.net.fetch(requestOf(landscape, seed), UNSTOPPED));
    if (result.kind !== 'response') throw new Error(result.detail);
    const html = new TextDecoder().decode(result.body);
    for (const link of landscape.pages.get(seed)?.links ?? []) expect(html).toContain(new URL(link).pathname);
    expect(web.log.map(({ e }) => e)).toEqual(['S', 'E']);
    expect(web.openOf(0)).toEqual({ bytes: result.body.length, exchanges: 0 });
    expect(web.trespasses).toEqual([]);
  });

  it('bounds a body at n bytes and refuses it at n - 1, or cuts it where that is asked for', async () => {
    const { simulation, landscape, web, seed } = stage();
    await simulation.run(async () => {
      const whole = await web.net.fetch(requestOf(landscape, seed), UNSTOPPED);
      const length = whole.kind === 'response' ? whole.body.length : 0;
      expect(await web.net.fetch(requestOf(landscape, seed, { bodyBytesMax: length }), UNSTOPPED)).toMatchObject({
        cut: false,
      });
      expect(await web.net.fetch(requestOf(landscape, seed, { bodyBytesMax: length - 1 }), UNSTOPPED)).toMatchObject({
        code: 'too_large',
      });
      expect(
        await web.net.fetch(requestOf(landscape, seed, { bodyBytesMax: 10, cutAtBound: true }), UNSTOPPED),
      ).toMatchObject({ cut: true });
    });
  });

  it('ends what was in flight at a kill with abort, and hands the dead nothing', async () => {
    const { simulation, landscape, web, seed } = stage();
    let heard = false;
    await simulation.run(async () => {
      simulation.as(1, async () => {
        await web.net.fetch(requestOf(landscape, seed), UNSTOPPED);
        heard = true;
      });
      await simulation.sleep((landscape.hosts.get(new URL(seed).hostname) as Host).pathMs + 0.1);
      simulation.kill(1);
      web.killed(1);
      await simulation.sleep(60_000);
    });
    expect(heard).toBe(false);
    expect(web.log.map((line) => (line.e === 'E' ? line.how : line.e)).slice(0, 2)).toEqual(['S', 'K']);
    expect(web.log.filter(({ e }) => e === 'E')).toHaveLength(1);
    expect(web.openOf(1).exchanges).toBe(0);
  });

  it('gives way to a deadline and to an interrupt, once', async () => {
    const { simulation, landscape, web, seed } = stage();
    await simulation.run(async () => {
      expect(await web.net.fetch(requestOf(landscape, seed, { deadlineMs: 0.1 }), UNSTOPPED)).toMatchObject({
        code: 'timeout',
      });
      const stop = new AbortController();
      simulation.after(0.1, () => stop.abort());
      expect(await web.net.fetch(requestOf(landscape, seed), stop.signal)).toMatchObject({ code: 'interrupted' });
      await simulation.sleep(60_000);
    });
    expect(web.openOf(0)).toEqual({ bytes: 0, exchanges: 0 });
    expect(web.log.filter(({ e }) => e === 'S').length).toBe(web.log.filter(({ e }) => e === 'E').length);
  });

  it('is drawn from its seed alone, and all that can be had of a quiet one is in reach', () => {
    const drawn = () =>
      JSON.stringify([...drawLandscape({ ...QUIET, faults: 0.5, oddities: 0.3, hostFaults: 0.5 }).pages.values()]);
    expect(drawn()).toBe(drawn());
    const { landscape } = stage();
    const { committed, reachable } = truthOf(landscape, landscape.seeds);
    expect(committed).toEqual(reachable);
    expect(reachable.size).toBeGreaterThan(10);
  });
});
