/** The tree as it is declared, without a crawl: for looking at it, and for naming its actors. */
import type { Config } from '../config/schema.js';
import { createBloom } from '../domain/bloom.js';
import { NO_SETTINGS } from '../domain/crawl-settings.js';
import { planTree } from '../plan.js';
import type { GroupSpec, NodeSpec } from '../supervision/specification.js';
import { engineTree } from '../supervision/tree.js';

export function declaredTree(config: Config): GroupSpec {
  const totals = { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 };
  const nothing = {
    totals,
    batch: 0,
    nextSequence: 1,
    settings: NO_SETTINGS,
    redrives: [],
    lastRedrive: 0,
    unclean: false,
  };
  const opened = { ...nothing, seen: createBloom(1_000), startedAtMs: 0 };
  return engineTree(planTree({ config, pagesMax: null }, 'Orbweaver', opened));
}

/** What is declared of a node: its place, its why and its bounds, without what it is started with. */
export function declarationOf(node: NodeSpec): object {
  const { name, kind, why, stopWithinMs } = node;
  const own = { name, kind, why, stopWithinMs };
  switch (node.kind) {
    case 'actor':
      return { ...own, inbox: inboxOf(node), inHand: node.inHand };
    case 'group': {
      const { strategy, budget, backoff, stopOrder, children } = node;
      return { ...own, strategy, budget, backoff, stopOrder, children: children.map(declarationOf) };
    }
    case 'onDemand': {
      const { shards, inHand, budget, backoff, overBudget, coolingMs } = node;
      return { ...own, shards, inbox: inboxOf(node), inHand, budget, backoff, overBudget, coolingMs };
    }
  }
}

function inboxOf({ inbox: { bound, overflow } }: Exclude<NodeSpec, GroupSpec>) {
  return { bound, overflow };
}

/** Why no fault can strike this actor at this message; null where one can. */
export function faultProblem(tree: GroupSpec, actor: string, message: string | null): string | null {
  const [first = '', ...below] = actor.split('/');
  const child = tree.children.find(({ name }) => name === first);
  if (child === undefined) return `no actor is named ${first}`;
  if ((child.kind === 'actor') !== (below.length === 0)) {
    return child.kind === 'actor' ? `${first} has no children` : `${first} holds actors: ${first}/ means all of them`;
  }
  const rest = below.join('/');
  const one = child.kind === 'group' ? child.children.find(({ name }) => rest === '' || name === rest) : child;
  if (one === undefined) return `no actor is named ${actor}`;
  if (one.kind === 'group' || message === null || Object.hasOwn(one.behaviour.on, message)) return null;
  return `${first} takes no message ${message}; it takes ${Object.keys(one.behaviour.on).sort().join(', ')}`;
}
