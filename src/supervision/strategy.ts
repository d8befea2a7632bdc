/** Who goes down with a child that crashed, in declared order, the child included. */
import type { Strategy } from './specification.js';

export function affected<Child>(strategy: Strategy, children: readonly Child[], crashed: Child): readonly Child[] {
  switch (strategy) {
    case 'one-for-one':
      return [crashed];
    case 'one-for-all':
      return children;
    case 'rest-for-one':
      return children.slice(children.indexOf(crashed));
  }
}
