/** D3: opening the store again may have queued rows again; the frontier learns of them by listing the hosts anew. */
import { describe, expect, it } from 'vitest';
import { frontier, type Props } from '../../src/actors/frontier.js';
import { createBloom } from '../../src/domain/bloom.js';
import type { Message } from '../../src/protocols/frontier.js';
import type { Part } from '../../src/protocols/commit.js';
import { candidateOf, NO_TOTALS, settingsOf } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

type Listed = Extract<Message, { type: 'hostsListed' }>;

const PROPS: Props = {
  ...settingsOf(),
  seen: createBloom(1_000),
  totals: NO_TOTALS,
  nextSequence: 0,
  redrives: [],
  lastRedrive: 0,
  activeMin: 2,
  activeMax: 2,
  pagesMax: null,
  waitMs: 1_000,
};

const listed = (hosts: Listed['hosts']): Listed => ({
  type: 'hostsListed',
  hosts,
  complete: true,
  notes: [],
  failure: null,
});
const withWork = (host: string) => ({ host, best: 0 as const, wakeAtMs: null });

/** `busy` is at work, `resting` was and has come to rest. */
function crawling() {
  const stage = new Stage(frontier, PROPS);
  stage.tell(listed([withWork('busy'), withWork('resting')]));
  const wakes = wakesOf(stage);
  stage.tell({ type: 'rested', host: 'resting', wake: wakes.get('resting') ?? 0, left: null, wakeAtMs: null });
  stage.take();
  return { stage, busyWake: wakes.get('busy') ?? 0 };
}

function wakesOf(stage: ReturnType<typeof crawling>['stage']): Map<string, number> {
  return new Map(told(stage.take()).map(({ to, message }) => [to.split('/').at(-1) ?? to, Number(message['wake'])]));
}

describe('D3 after the store was opened again', () => {
  it('hosts are listed, and those with rows are woken: at work, at rest, or never heard of', () => {
    const { stage } = crawling();
    stage.tell({ type: 'storeReopened', nextSequence: 0 });
    expect(stage.take()).toEqual([{ do: 'listHosts', after: null, limit: 1_000 }]);
    stage.tell(listed([withWork('busy'), withWork('resting'), withWork('unheard')]));
    const first = [...wakesOf(stage).keys()];
    expect(first).toContain('busy');
    // Two may be at work; the third has its turn when one of them rests.
    expect(first).toHaveLength(2);
  });

  it('the crawl does not end before they are listed', () => {
    const { stage, busyWake } = crawling();
    stage.tell({ type: 'storeReopened', nextSequence: 0 });
    stage.tell({ type: 'rested', host: 'busy', wake: busyWake, left: null, wakeAtMs: null });
    expect(of(stage.take(), 'announce')).toEqual([]);
    stage.tell(listed([]));
    expect(of(stage.take(), 'announce')).toMatchObject([{ event: { event: 'ended', reason: 'done' } }]);
  });

  it('a crawl that has ended lists nothing', () => {
    const { stage, busyWake } = crawling();
    stage.tell({ type: 'rested', host: 'busy', wake: busyWake, left: null, wakeAtMs: null });
    stage.take();
    stage.tell({ type: 'storeReopened', nextSequence: 0 });
    expect(stage.take()).toEqual([]);
  });

  it('what is numbered then stands behind all that was queued again', () => {
    const { stage } = crawling();
    stage.tell({ type: 'storeReopened', nextSequence: 2 ** 32 + 7 });
    stage.tell({ type: 'seed', command: 1, again: false, candidates: [candidateOf('http://busy/new')], refused: [] });
    const parts = told(stage.take()).flatMap(({ message }) => (message['parts'] ?? []) as Part[]);
    expect(parts.flatMap(({ admitted }) => admitted.map(({ sequence }) => sequence))).toEqual([2 ** 32 + 7]);
  });
});
