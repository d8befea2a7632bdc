import { describe, expect, it } from 'vitest';
import { host } from '../../src/actors/host.js';
import type { Props } from '../../src/actors/host-state.js';
import type { QueueEntry } from '../../src/domain/record.js';
import { ALLOW_ALL } from '../../src/policy/robots/rules.js';
import type { HostPart } from '../../src/protocols/commit.js';
import type { QueueHead } from '../../src/protocols/effects.js';
import { type HostSnapshot, UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import type { DeliveryKind, Permit } from '../../src/protocols/workbench.js';
import { ADDRESSES, NAME, PROPS } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { ANY_RULES, entryAt, headOf, readyEntry } from './support/records.js';
import { Stage, told } from './support/stage.js';

const ORIGIN = `http://${NAME}`;
const OPEN = { phase: 'fresh', rules: ALLOW_ALL, status: 200, fetchedAtMs: WALL_AHEAD_MS, validators: null } as const;
const TERMS = { share: 0.5, perMinute: 6 };
/** Six a minute: the next after ten seconds. */
const USED_UP = { left: 0, atMs: WALL_AHEAD_MS };

const retry = (sequence: number, dueInMs: number): QueueEntry =>
  entryAt({ queue: 'waiting', dueAtMs: WALL_AHEAD_MS + dueInMs, sequence }, `${ORIGIN}/${sequence}`, {
    state: 'waiting',
    deliveries: 1,
  });
const page = (sequence: number) => readyEntry(`${ORIGIN}/${sequence}`, sequence);

function live(head: Partial<QueueHead>, snapshot: Partial<HostSnapshot> = {}, props: Partial<Props> = {}) {
  const stage = new Stage(host, { ...PROPS, retryBudget: TERMS, ...props });
  stage.tell({ type: 'wake', wake: 1 });
  const robots = [{ origin: ORIGIN, state: OPEN }];
  const loaded = { host: NAME, snapshot: { ...UNTOUCHED, ...snapshot }, robots, summary: null, head: headOf(head) };
  stage.take();
  stage.tell({ type: 'hostLoaded', ...loaded });
  stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
  return stage;
}
type Live = ReturnType<typeof live>;

function grant(stage: Live, number: number, delivery: DeliveryKind | null): void {
  const address = { address: '192.0.2.1', family: 4 } as const;
  const times = { expiresAtMs: stage.nowMs + 5_000, deadlineMs: stage.nowMs + 25_000 };
  const permit: Permit = { number, host: NAME, address, tier: 1, fetcher: 0, delivery, rules: ANY_RULES, ...times };
  stage.tell({ type: 'granted', permit });
}

const messages = (stage: Live) => told(stage.take()).map(({ message }) => message);
const askIn = (stage: Live) =>
  messages(stage).find(({ type }) => type === 'settle')?.['ask'] as { delivery: string } | undefined;
const failed = {
  kind: 'failure',
  code: 'truncated',
  status: 200,
  reusedConnection: false,
  detail: '',
  durationMs: 5,
} as const;
const parts = (stage: Live) =>
  messages(stage).flatMap((message) => (message.type === 'visited' ? [message['part'] as unknown as HostPart] : []));

describe('R1 a host and its budget of retries', () => {
  it('asks for a retry as one, and for what is new as new', () => {
    expect(askIn(live({ waiting: [retry(1, -5)] }))?.delivery).toBe('retry');
    expect(askIn(live({ ready: [page(1)] }))?.delivery).toBe('first');
  });

  it('used up: retries are passed over and stay where they are, and new pages go on', () => {
    const stage = live({ waiting: [retry(1, -5)], ready: [page(2)] }, { retryBudget: USED_UP });
    expect(askIn(stage)?.delivery).toBe('first');
    grant(stage, 1, 'first');
    const started = messages(stage).find(({ type }) => type === 'start') as unknown as { request: { url: string } };
    expect(started.request.url).toBe(`${ORIGIN}/2`);
  });

  it('used up, and nothing else to do: it rests until one is earned, and asks then, not before', () => {
    const stage = live({ waiting: [retry(1, -5)] }, { retryBudget: USED_UP });
    const rested = messages(stage).find(({ type }) => type === 'rested');
    expect(rested).toMatchObject({ wakeAtMs: WALL_AHEAD_MS + 10_000, left: null });
    stage.nowMs = 9_999;
    stage.tell({ type: 'wake', wake: 2 });
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ waiting: [retry(1, -5)] }) });
    expect(askIn(stage) ?? null).toBeNull();
    stage.nowMs = 10_000;
    stage.tell({ type: 'wake', wake: 3 });
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ waiting: [retry(1, -5)] }) });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    expect(askIn(stage)?.delivery).toBe('retry');
  });

  it('a due time that is later than the budget stays the due time', () => {
    const stage = live({ waiting: [retry(1, 60_000)] }, { retryBudget: USED_UP });
    expect(messages(stage).find(({ type }) => type === 'rested')).toMatchObject({ wakeAtMs: WALL_AHEAD_MS + 60_000 });
  });

  it('what waits for something else than a retry is not held', () => {
    const put = entryAt({ queue: 'waiting', dueAtMs: WALL_AHEAD_MS - 5, sequence: 1 }, `${ORIGIN}/1`, {
      state: 'waiting',
    });
    expect(askIn(live({ waiting: [retry(2, -9), put] }, { retryBudget: USED_UP }))?.delivery).toBe('first');
  });

  it('a retry is taken from the budget with its request, and is part of the commit of its outcome', () => {
    const stage = live({ waiting: [retry(1, -5)] }, { retryBudget: { left: 3, atMs: WALL_AHEAD_MS } });
    stage.take();
    grant(stage, 1, 'retry');
    stage.take();
    stage.tell({ type: 'fetched', permit: 1, result: failed });
    expect(parts(stage)[0]?.snapshot.retryBudget).toEqual({ left: 2, atMs: WALL_AHEAD_MS });
  });

  it('a first attempt adds its share once, when it is over', () => {
    const stage = live({ ready: [page(1)] }, { retryBudget: { left: 3, atMs: WALL_AHEAD_MS } });
    stage.take();
    grant(stage, 1, 'first');
    stage.take();
    stage.tell({ type: 'fetched', permit: 1, result: failed });
    expect(parts(stage)[0]?.snapshot.retryBudget).toEqual({ left: 3.5, atMs: WALL_AHEAD_MS });
  });

  it('a retry that falls due while a permit for something new is on its way does not take it', () => {
    const stage = live({ waiting: [retry(1, 1_000)], ready: [page(2)] });
    stage.take();
    stage.nowMs = 2_000;
    grant(stage, 1, 'first');
    const started = messages(stage).find(({ type }) => type === 'start') as unknown as { request: { url: string } };
    expect(started.request.url).toBe(`${ORIGIN}/2`);
  });

  it('told that all hosts together have used theirs up, it does what else there is, and asks again then', () => {
    const stage = live({ waiting: [retry(1, -5)] });
    stage.take();
    stage.tell({ type: 'retriesHeld', untilMs: 7_000 });
    expect(messages(stage).find(({ type }) => type === 'rested')).toMatchObject({ wakeAtMs: WALL_AHEAD_MS + 7_000 });
    stage.nowMs = 7_000;
    stage.tell({ type: 'wake', wake: 2 });
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ waiting: [retry(1, -5)] }) });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    expect(askIn(stage)?.delivery).toBe('retry');
  });
});
