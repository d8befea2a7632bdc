/**
 * Reads what `--cpu-prof` wrote: which part of a thread's busy time was spent on behalf of which stage.
 *
 * A sample counts for the innermost frame of ours on its stack, so that what a library or the runtime does for a
 * module is the module's. Stacks without a frame of ours are the runtime's own: sockets, promises, timers, streams.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The first that a module's path contains says its stage. */
const STAGES: readonly (readonly [path: string, stage: string])[] = [
  ['/src/actors/', 'actors'],
  ['/src/policy/canonical', 'links: resolve, canonical form'],
  ['/src/policy/', 'actors'],
  ['/src/domain/', 'actors'],
  ['/src/protocols/', 'actors'],
  ['/src/supervision/', 'kernel'],
  ['/src/net/', 'network'],
  ['/node_modules/undici/', 'network'],
  ['/src/store/', 'commit and reads'],
  ['/src/sinks/warc-record', 'archive records'],
  ['/src/sinks/gzip-member', 'archive records'],
  ['/src/sinks/digest', 'digests'],
  ['/src/sinks/', 'commit and reads'],
  ['/src/page/parser-pool', 'exchange with threads'],
  ['/src/page/worker', 'exchange with threads'],
  ['/src/page/links', 'links: resolve, canonical form'],
  ['/src/page/candidate', 'links: resolve, canonical form'],
  ['/src/page/legacy-query', 'links: resolve, canonical form'],
  ['/src/page/fingerprint', 'simhash'],
  ['/src/page/charset', 'charset and decoding'],
  ['/src/page/decode', 'charset and decoding'],
  ['/src/page/', 'reading of HTML'],
  ['/node_modules/abstract-level/', 'commit and reads'],
  ['/node_modules/classic-level/', 'commit and reads'],
  ['/node_modules/nact/', 'kernel'],
];

const RUNTIME = 'runtime: sockets, promises, streams';
const COLLECTOR = 'garbage collection';

export interface Shares {
  readonly main: ReadonlyMap<string, number>;
  /** Of all threads but the main one together. */
  readonly workers: ReadonlyMap<string, number>;
}

/** The shares of each stage in the busy time of the main thread and of the others, the largest first. */
export function sharesOf(folder: string): Shares {
  const main = new Map<string, number>();
  const workers = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.cpuprofile')) continue;
    // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
    const thread = name.split('.').at(-3);
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile;
    addMicros(profile, thread === '0' ? main : workers);
  }
  return { main: asShares(main), workers: asShares(workers) };
}

function addMicros({ nodes, samples, timeDeltas }: Profile, micros: Map<string, number>): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stageOfNode = new Map<number, string | null>();
  const visit = (node: ProfileNode, outer: string | null): void => {
    const stage = stageOf(node.callFrame, outer);
    stageOfNode.set(node.id, stage);
    for (const child of node.children ?? []) visit(byId.get(child) as ProfileNode, stage);
  };
  visit(nodes[0] as ProfileNode, null);
  samples.forEach((id, i) => {
    const node = byId.get(id) as ProfileNode;
    if (node.callFrame.functionName === '(idle)') return;
    const stage = stageOfNode.get(id) ?? RUNTIME;
    micros.set(stage, (micros.get(stage) ?? 0) + (timeDeltas[i] ?? 0));
  });
}

function stageOf({ functionName, url }: ProfileNode['callFrame'], outer: string | null): string | null {
  if (functionName === '(garbage collector)') return COLLECTOR;
  return STAGES.find(([path]) => url.includes(path))?.[1] ?? outer;
}

function asShares(micros: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const total = [...micros.values()].reduce((sum, part) => sum + part, 0);
  return new Map([...micros].sort(([, a], [, b]) => b - a).map(([stage, part]) => [stage, part / total]));
}
