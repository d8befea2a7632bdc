import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { address, type Behaviour, type Crash, type Ref } from '../../src/protocols/actor.js';
import { log, send, watch, type Effect, type FetchEnded, type Notice, type Pressure } from '../../src/protocols/effects.js';
import { createKernel, type Kernel, type KernelOptions } from '../../src/supervision/kernel.js';
import { actor, group, onDemand, pool, type GroupSpec, type InboxRule, type InHandRule, type NodeSpec, type Strategy } from '../../src/supervision/specification.js';
import { portDoubles, type PortDoubles } from './doubles.js';
import { VirtualTime } from './virtual-time.js';

type Word =
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'burst'; readonly text: string }
  | { readonly type: 'ask'; readonly effects: readonly Effect[] }
  | { readonly type: 'other'; readonly text: string };

/** What one scripted actor has seen, through all of its incarnations. */
interface Diary {
  readonly seen: string[];
  starts: number;
  readonly restarts: { readonly held: string[]; readonly crash: Crash }[];
  /** So many of the next restarts throw. */
  restartsThatThrow: number;
}

const diaries = new Map<string, Diary>();
function diaryOf(name: string): Diary {
  const diary = diaries.get(name) ?? { seen: [], starts: 0, restarts: [], restartsThatThrow: 0 };
  diaries.set(name, diary);
  return diary;
}

/** Writes down what it is told; crashes at `burst`; asks for what it is told to ask. */
const scribe: Behaviour<string, string[], Word | FetchEnded> = {
  start: (name) => {
    diaryOf(name).starts += 1;
    return [[], []];
  },
  restart: (name, held, crash) => {
    const diary = diaryOf(name);
    diary.restarts.push({ held: [...held], crash });
    if (diary.restartsThatThrow-- > 0) throw new Error('restart burst');
    return [held, []];
  },
  on: {
    note: (state, { text }) => [state.concat(text), seen(state, text)],
    other: (state, { text }) => [state.concat(text), seen(state, text)],
    burst: (state, { text }) => {
      state.push(`half of ${text}`);
      throw new Error(text);
    },
    ask: (state, { effects }) => [state, effects],
    fetchEnded: (state, { ticket }) => [state.concat(`fetched ${ticket}`), seen(state, `fetched ${ticket}`)],
  },
};

/** The diary is kept by effect, so that it tells what was performed and not only what was decided. */
function seen(_state: string[], text: string): readonly Effect[] {
  return [log('info', 'seen', { text })];
}

const note = (text: string): Word => ({ type: 'note', text });
const burst = (text: string): Word => ({ type: 'burst', text });
const ask = (...effects: readonly Effect[]): Word => ({ type: 'ask', effects });

let time: VirtualTime;
let ports: PortDoubles;
let kernels: Kernel[];

beforeEach(() => {
  time = new VirtualTime();
  time.install();
  ports = portDoubles({ clock: time });
  kernels = [];
  diaries.clear();
});
afterEach(() => {
  for (const kernel of kernels) kernel.abandon();
  time.uninstall();
});

interface Tuning {
  readonly inbox?: InboxRule;
  readonly inHand?: InHandRule;
}

function scribeActor(name: string, { inbox, inHand }: Tuning = {}): NodeSpec {
  return actor(name, {
    why: 'writes',
    behaviour: scribe,
    props: name,
    inbox: inbox ?? { bound: 1_000, overflow: 'refuse' },
    inHand: inHand ?? 'drop',
    stopWithinMs: 100,
  });
}

function root(children: readonly NodeSpec[], over: Partial<GroupSpec> = {}): GroupSpec {
  const options = {
    why: 'a test',
    strategy: 'one-for-one' as Strategy,
    budget: { restarts: 5, withinMs: 10_000 },
    backoff: { firstMs: 10, maxMs: 1_000 },
    stopWithinMs: 1_000,
  };
  return group('root', { ...options, ...over }, children);
}

function startKernel(tree: GroupSpec, options: KernelOptions = {}): Kernel {
  const kernel = createKernel(tree, ports, options);
  kernels.push(kernel);
  kernel.start();
  return kernel;
}

function hostsOf(over: Partial<Parameters<typeof onDemand<string, string[], Word | FetchEnded>>[1]> = {}): NodeSpec {
  return onDemand('hosts', {
    why: 'many',
    shards: 4,
    shardOf: () => 2,
    behaviour: scribe,
    props: (name) => name,
    inbox: { bound: 1_000, overflow: 'refuse' },
    inHand: 'drop',
    budget: { restarts: 1, withinMs: 1_000 },
    backoff: { firstMs: 10, maxMs: 10 },
    overBudget: 'set-aside',
    coolingMs: 60_000,
    stopWithinMs: 100,
    ...over,
  });
}

const A = address<Word>('a');
const hostAt = (name: string): Ref<Word> => address(`hosts/p002/${name}`);
const seenTexts = (): unknown[] => ports.lines.filter((line) => line.event === 'seen').map((line) => line.fields['text']);
const events = (event: string): readonly Record<string, unknown>[] => ports.lines.filter((line) => line.event === event).map((line) => line.fields);

describe('messages and turns', () => {
  it('handles messages in order', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    for (let i = 0; i < 2_000; i++) kernel.tell(A, note(String(i)));
    await time.settle();
    // 1000 fit the bound
    expect(seenTexts()).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)));
    expect(kernel.counts().deadLetters).toEqual([{ under: 'a', message: 'note', count: 1_000 }]);
  });

  it('performs the effects of a turn together and in order, before the crash of a later message is reported', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, ask(log('info', 'seen', { text: '1' }), log('info', 'seen', { text: '2' })));
    kernel.tell(A, note('3'));
    kernel.tell(A, burst('boom'));
    await time.settle();
    expect(ports.lines.map((line) => line.fields['text'] ?? line.event)).toEqual(['1', '2', '3', 'actor_crashed', 'in_hand_dropped', 'dead_letter']);
  });
});

describe('crash', () => {
  it('waits for the back-off, keeps the queue, and restarts with what the crashed one held', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, note('1'));
    kernel.tell(A, burst('boom'));
    kernel.tell(A, note('2'));
    await time.advance(9);
    expect(seenTexts()).toEqual(['1']);
    await time.advance(1);
    expect(seenTexts()).toEqual(['1', '2']);
    expect(diaryOf('a').restarts).toEqual([{ held: ['1', 'half of boom'], crash: { reason: 'Error: boom', inHand: 'burst' } }]);
  });
});
