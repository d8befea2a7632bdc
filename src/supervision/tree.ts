/**
 * The supervision tree, readable as a picture.
 *
 * The order is dependency: each child leans on those above it, starts after them and stops before them. So the
 * recorder, on which all lean, is the last to stop, when there is nothing left to record.
 */
import { fetcher } from '../actors/fetcher.js';
import { frontier, type Props as FrontierProps } from '../actors/frontier.js';
import { host } from '../actors/host.js';
import type { Props as HostProps } from '../actors/host-state.js';
import { parser } from '../actors/parser.js';
import { recorder, type Props as RecorderProps } from '../actors/recorder.js';
import { workbench, type Props as WorkbenchProps } from '../actors/workbench.js';
import { type HostName, PARTITIONS, partitionOf } from '../domain/host.js';
import type { Tier } from '../domain/tier.js';
import * as addresses from '../protocols/addresses.js';
import { actor, type GroupSpec, group, type NodeSpec, onDemand, pool } from './specification.js';

/** What each kind of actor is started with. */
export interface TreePlan {
  readonly recorder: RecorderProps;
  readonly frontier: FrontierProps;
  readonly workbench: WorkbenchProps;
  readonly host: (name: HostName) => HostProps;
  /** Host actors that may be live at once. */
  readonly hostsLiveMax: number;
  readonly fetchers: number;
  /** Of the second tier; null where it is switched off. */
  readonly impersonators: number | null;
  /** Of the third tier; null where no browser service is there. */
  readonly browsers: number | null;
  readonly parsers: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Each child crashes for itself: what they hold for each other outlives their incarnations. */
const ONE_CRAWL: Omit<GroupSpec, 'kind' | 'name' | 'children' | 'stopOrder'> = {
  why: 'one crawl: it ends as a whole when one of its parts can not be kept alive',
  strategy: 'one-for-one',
  budget: { restarts: 10, withinMs: MINUTE },
  backoff: { firstMs: 20, maxMs: 2 * SECOND },
  stopWithinMs: 40 * SECOND,
};

export function engineTree(plan: TreePlan): GroupSpec {
  return group('crawler', ONE_CRAWL, [
    actor('recorder', {
      why: 'the only writer of the store; first here, so that it is the last to stop and can drain',
      behaviour: recorder,
      props: plan.recorder,
      inbox: { bound: 4_096, overflow: 'give-way', tell: addresses.workbench },
      inHand: 'deliver-again',
      stopWithinMs: 20 * SECOND,
    }),
    actor('frontier', {
      why: 'admission and the order of everything; it numbers what the recorder writes',
      behaviour: frontier,
      props: plan.frontier,
      inbox: { bound: 4_096, overflow: 'give-way', tell: addresses.workbench },
      inHand: 'deliver-again',
      stopWithinMs: 5 * SECOND,
    }),
    actor('workbench', {
      why: 'the gates: who may be asked now; apart from the hosts, so that no crash of theirs opens one',
      behaviour: workbench,
      props: plan.workbench,
      inbox: { bound: 65_536, overflow: 'give-way', tell: addresses.workbench },
      inHand: 'deliver-again',
      stopWithinMs: 5 * SECOND,
    }),
    onDemand('hosts', {
      why: 'one actor for each host at work, so that no host can hurt another; a shard is a partition of sites',
      shards: PARTITIONS,
      liveMax: plan.hostsLiveMax,
      shardOf: partitionOf,
      behaviour: host,
      props: plan.host,
      inbox: { bound: 1_024, overflow: 'refuse' },
      inHand: 'drop',
      budget: { restarts: 5, withinMs: MINUTE },
      backoff: { firstMs: 20, maxMs: 5 * SECOND },
      overBudget: 'set-aside',
      tell: [addresses.frontier, addresses.workbench],
      stopWithinMs: 5 * SECOND,
    }),
    ...fetchersOf(1, plan.fetchers, 'one request each, tier 1; a crash costs one request'),
    ...fetchersOf(2, plan.impersonators, "tier 2, with a browser's handshake; apart, so that its slots are its own"),
    ...fetchersOf(3, plan.browsers, 'tier 3, a call of the browser service each; few, as a browser is dear'),
    pool('parsers', plan.parsers, {
      each: 'parser',
      why: 'one worker thread each; what a page does to it stays there',
      behaviour: parser,
      props: (thread) => ({ thread }),
      inbox: { bound: 4_096, overflow: 'refuse' },
      inHand: 'drop',
      budget: { restarts: 20, withinMs: MINUTE },
      backoff: { firstMs: 10, maxMs: SECOND },
      stopWithinMs: 5 * SECOND,
    }),
  ]);
}

/** The same behaviour for each tier: what differs is behind the port. */
function fetchersOf(tier: Tier, count: number | null, why: string): NodeSpec[] {
  if (count === null) return [];
  const each = addresses.FETCHER_NAMES[tier];
  return [
    pool(`${each}s`, count, {
      each,
      why,
      behaviour: fetcher,
      props: (slot) => ({ slot }),
      inbox: { bound: 16, overflow: 'refuse' },
      inHand: 'drop',
      budget: { restarts: 50, withinMs: MINUTE },
      backoff: { firstMs: 10, maxMs: SECOND },
      stopWithinMs: 5 * SECOND,
    }),
  ];
}
