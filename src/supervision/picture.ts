/** The tree as text: what `orbweaver tree` prints, and what ARCHITECTURE.md shows. */
import type { KernelCounts } from './counts.js';
import { childPath, type GroupSpec, type NodeSpec } from './specification.js';

/** One line a child: its name, how it is kept, why it stands there; with counts also what it has done. Ends without a line break. */
export function drawTree(tree: GroupSpec, counts?: KernelCounts): string {
  const lines: Line[] = [];
  collect(tree, '', '', '', lines, counts);
  const nameWidth = Math.max(...lines.map((line) => line.name.length));
  const keptWidth = Math.max(...lines.map((line) => line.kept.length));
  return lines
    .map(({ name, kept, why, done }) => `${name.padEnd(nameWidth)}  ${kept.padEnd(keptWidth)}  ${why}${done}`.trimEnd())
    .join('\n');
}

interface Line {
  readonly name: string;
  readonly kept: string;
  readonly why: string;
  readonly done: string;
}

function collect(spec: NodeSpec, path: string, own: string, below: string, lines: Line[], counts?: KernelCounts): void {
  lines.push({ name: `${own}${titleOf(spec)}`, kept: keptHow(spec), why: spec.why, done: doneBy(spec, path, counts) });
  if (spec.kind !== 'group' || spec.stopOrder === 'together') return;
  spec.children.forEach((child, index) => {
    const isLast = index === spec.children.length - 1;
    const branch = `${below}${isLast ? '└─ ' : '├─ '}`;
    collect(child, childPath(path, child.name), branch, `${below}${isLast ? '   ' : '│  '}`, lines, counts);
  });
}

/** The children of a pool are equals: they are one line. */
function titleOf(spec: NodeSpec): string {
  switch (spec.kind) {
    case 'actor':
      return spec.name;
    case 'group':
      return spec.stopOrder === 'together' ? `${spec.name} × ${spec.children.length}` : spec.name;
    case 'onDemand':
      return `${spec.name} × any, in ${spec.shards} shards`;
  }
}

function keptHow(spec: NodeSpec): string {
  const stop = `stops within ${duration(spec.stopWithinMs)}`;
  switch (spec.kind) {
    case 'actor':
      return stop;
    case 'group':
      return `${spec.strategy}, ${budgetOf(spec.budget)}, ${stop}`;
    case 'onDemand':
      return `each by itself, ${budgetOf(spec.budget)}, then set aside for ${duration(spec.coolingMs)}, ${stop}`;
  }
}

function budgetOf({ restarts, withinMs }: GroupSpec['budget']): string {
  return `${restarts} ${restarts === 1 ? 'restart' : 'restarts'} in ${duration(withinMs)}`;
}

function doneBy(spec: NodeSpec, path: string, counts: KernelCounts | undefined): string {
  if (counts === undefined) return '';
  const isHere = (other: string): boolean => other === path || path === '' || other.startsWith(`${path}/`);
  const actors = counts.actors.filter((actor) => isHere(actor.path));
  const sum = (pick: (actor: (typeof actors)[number]) => number): number =>
    actors.reduce((n, actor) => n + pick(actor), 0);
  const live = spec.kind === 'actor' ? '' : `${sum((actor) => actor.live)} live, `;
  return `  [${live}${sum((actor) => actor.messages)} messages, ${sum((actor) => actor.inbox)} waiting, ${sum((actor) => actor.restarts)} restarts]`;
}

function duration(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}
