/** P3, P9: what a host has asked for outlives the actor that heard it, and then the process. */
import { describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/domain/fetching.js';
import type { Message } from '../../src/protocols/host.js';
import { type HostSnapshot, UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import { NAME } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { grant, live, type LiveStage, load, page, partsIn, types } from './support/live-host.js';
import { headOf } from './support/records.js';
import { responseOf } from './support/responses.js';

const REST_MS = 300_000;
const BUSY = responseOf(503, [['retry-after', '300']]);

const answer = (permit: number, result: FetchResult = BUSY): Message => ({ type: 'fetched', permit, result });

/** A message that changes nothing, for a crash to come with. */
const NOTHING: Message = { type: 'blamed', about: { what: 'name' }, fault: 'ours' };

function comeBack(stage: LiveStage): void {
  stage.tell({ type: 'fenced', epoch: 1 });
  load(stage, { ready: [page(1)] });
}

describe('a host that asked for a rest, and whose actor crashed', () => {
  it('with the answer in hand: the next incarnation stores the rest before it asks for anything', () => {
    const stage = live({ ready: [page(1)] });
    stage.crashOn(answer(grant(stage)), 'drop');
    stage.take();
    comeBack(stage);
    const effects = stage.take();
    expect(partsIn(effects)).toMatchObject([
      { moves: [], snapshot: { closedUntilMs: WALL_AHEAD_MS + REST_MS, throttle: { consecutive: 2 } } },
    ]);
    expect(types(effects)).not.toContain('settle');
  });

  it('after it was told to the gate and before it was stored: so too', () => {
    const stage = live({ ready: [page(1)] });
    stage.tell(answer(grant(stage)));
    stage.crashOn(NOTHING, 'drop');
    stage.take();
    stage.pass(1_000);
    comeBack(stage);
    expect(partsIn(stage.take())).toMatchObject([{ snapshot: { closedUntilMs: WALL_AHEAD_MS + REST_MS } }]);
  });

  it.each(['fencing', 'live'] as const)('the answer comes to an incarnation that is %s: it is stored', (phase) => {
    const stage = live({ ready: [page(1)] });
    const permit = grant(stage);
    stage.crashOn(NOTHING, 'drop');
    if (phase === 'live') comeBack(stage);
    stage.take();
    stage.tell(answer(permit));
    expect(types(stage.take()).filter((type) => type !== 'visited')).toEqual(['settle', 'closed']);
    if (phase === 'fencing') comeBack(stage);
    else return void expect(stage.state).toMatchObject({ snapshot: { closedUntilMs: WALL_AHEAD_MS + REST_MS } });
    expect(partsIn(stage.take())).toMatchObject([{ snapshot: { closedUntilMs: WALL_AHEAD_MS + REST_MS } }]);
  });

  it('a second crash before it was loaded forgets nothing', () => {
    const stage = live({ ready: [page(1)] });
    stage.crashOn(answer(grant(stage)), 'drop');
    stage.crashOn(NOTHING, 'drop');
    stage.tell({ type: 'fenced', epoch: 2 });
    stage.take();
    load(stage, { ready: [page(1)] });
    expect(partsIn(stage.take())).toMatchObject([{ snapshot: { closedUntilMs: WALL_AHEAD_MS + REST_MS } }]);
  });

  it('of two rests the longer one holds, and what the store knows already is not written once more', () => {
    const stage = live({ ready: [page(1)] });
    stage.tell(answer(grant(stage)));
    const [part] = partsIn(stage.take());
    stage.crashOn(NOTHING, 'drop');
    stage.tell({ type: 'fenced', epoch: 1 });
    stage.take();
    const snapshot = part?.snapshot ?? null;
    stage.tell({ type: 'hostLoaded', host: NAME, snapshot, robots: [], summary: null, head: headOf({}) });
    expect(partsIn(stage.take())).toEqual([]);
  });
});

it('P2: how long a robots.txt took that was never read is stored too', () => {
  const stage = live({ ready: [page(1)] }, 'unknown');
  const permit = grant(stage);
  stage.crashOn(answer(permit, { ...responseOf(200, []), durationMs: 4_321 }), 'drop');
  stage.tell({ type: 'fenced', epoch: 1 });
  stage.take();
  load(stage, { ready: [page(1)] }, 'unknown');
  expect(partsIn(stage.take())).toMatchObject([{ snapshot: { lastDurationMs: 4_321 } }]);
});

it('B3: the end of a probe that nobody will ever tell of is stored, or each load would begin another rest', () => {
  const stage = live({ ready: [page(1)] });
  stage.crashOn(NOTHING, 'drop');
  stage.tell({ type: 'fenced', epoch: 1 });
  stage.take();
  const snapshot: HostSnapshot = { ...UNTOUCHED, breaker: { phase: 'half_open', openings: 2 } };
  const head = headOf({ ready: [page(1)] });
  stage.tell({ type: 'hostLoaded', host: NAME, snapshot, robots: [], summary: null, head });
  expect(partsIn(stage.take())).toMatchObject([{ snapshot: { breaker: { phase: 'open', openings: 2 } } }]);
});
