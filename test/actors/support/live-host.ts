/** A host's actor on a stage: loaded, with these rows, its name resolved; and what it says, picked apart. */
import { host } from '../../../src/actors/host.js';
import { ALLOW_ALL } from '../../../src/policy/robots/rules.js';
import type { HostPart } from '../../../src/protocols/commit.js';
import type { Effect, QueueHead } from '../../../src/protocols/effects.js';
import type { Permit } from '../../../src/protocols/workbench.js';
import { ADDRESSES, NAME, PROPS } from './host-world.js';
import { WALL_AHEAD_MS } from './instants.js';
import { ANY_RULES, headOf, readyEntry } from './records.js';
import { Stage, told } from './stage.js';

export const ORIGIN = `http://${NAME}`;
export const OPEN = {
  phase: 'fresh',
  rules: ALLOW_ALL,
  status: 200,
  fetchedAtMs: WALL_AHEAD_MS,
  validators: null,
} as const;

export const page = (sequence: number, deliveries = 0) => readyEntry(`${ORIGIN}/${sequence}`, sequence, { deliveries });

export function live(
  head: Partial<QueueHead>,
  robots: 'known' | 'unknown' = 'known',
  name: 'resolved' | 'new' = 'resolved',
) {
  const stage = new Stage(host, PROPS);
  stage.tell({ type: 'wake', wake: 1 });
  load(stage, head, robots);
  if (name === 'resolved') stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
  stage.take();
  return stage;
}
export type LiveStage = ReturnType<typeof live>;

/** As the store answers that knows nothing of the host but its rows, and its robots.txt perhaps. */
export function load(
  stage: { tell: LiveStage['tell'] },
  head: Partial<QueueHead>,
  robots: 'known' | 'unknown' = 'known',
): void {
  const entries = robots === 'known' ? [{ origin: ORIGIN, state: OPEN }] : [];
  stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots: entries, summary: null, head: headOf(head) });
}

let permits = 0;
/** @returns its number */
export function grant(stage: LiveStage): number {
  const number = ++permits;
  const { nowMs } = stage;
  const address = { address: '192.0.2.1', family: 4 } as const;
  const times = { expiresAtMs: nowMs + 5_000, deadlineMs: nowMs + 25_000 };
  const permit: Permit = {
    number,
    host: NAME,
    address,
    tier: 1,
    fetcher: 0,
    delivery: 'retry',
    rules: ANY_RULES,
    ...times,
  };
  stage.tell({ type: 'granted', permit });
  stage.take();
  return number;
}

export const messages = (effects: readonly Effect[]) => told(effects).map(({ message }) => message);
export const types = (effects: readonly Effect[]) => messages(effects).map(({ type }) => type);
export const partsIn = (effects: readonly Effect[]): HostPart[] =>
  messages(effects).flatMap((message) => (message.type === 'visited' ? [message['part'] as unknown as HostPart] : []));
export const snapshotOf = (stage: LiveStage) => {
  if (stage.state.phase !== 'live') throw new Error('it is not live');
  return stage.state.snapshot;
};
