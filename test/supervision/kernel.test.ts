import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { address, type Behaviour, type Crash, type Ref } from '../../src/protocols/actor.js';
import {
  type CommitFailed,
  type Committed,
  type Effect,
  type FetchEnded,
  log,
  type Notice,
  type Pressure,
  send,
  watch,
} from '../../src/protocols/effects.js';
import { StoreError } from '../../src/protocols/ports.js';
import { createKernel, type Kernel, type KernelOptions } from '../../src/supervision/kernel.js';
import {
  actor,
  type GroupSpec,
  group,
  type InboxRule,
  type InHandRule,
  type NodeSpec,
  onDemand,
  pool,
  type Strategy,
} from '../../src/supervision/specification.js';
import { type PortDoubles, portDoubles } from './doubles.js';
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
    liveMax: 1_000,
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
const seenTexts = (): unknown[] => ports.lines.filter((line) => line.event === 'seen').map((line) => line.fields.text);
const events = (event: string): readonly Record<string, unknown>[] =>
  ports.lines.filter((line) => line.event === event).map((line) => line.fields);

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
    expect(ports.lines.map((line) => line.fields.text ?? line.event)).toEqual([
      '1',
      '2',
      '3',
      'actor_crashed',
      'in_hand_dropped',
      'dead_letter',
    ]);
  });

  it('gives every other actor its turn after 512 messages (n), the 513th (n + 1) waits', async () => {
    const kernel = startKernel(root([scribeActor('a'), scribeActor('b')]));
    for (let i = 1; i <= 513; i++) kernel.tell(A, note(String(i)));
    kernel.tell(address<Word>('b'), note('b'));
    await time.settle();
    expect(seenTexts().slice(510)).toEqual(['511', '512', 'b', '513']);
  });

  it('gives every other actor its turn after 4 ms', async () => {
    const kernel = startKernel(root([scribeActor('a'), scribeActor('b')]), {
      trace: (path) => path === 'a' && time.pass(1),
    });
    for (let i = 1; i <= 6; i++) kernel.tell(A, note(String(i)));
    kernel.tell(address<Word>('b'), note('b'));
    await time.settle();
    expect(seenTexts()).toEqual(['1', '2', '3', '4', 'b', '5', '6']);
  });

  it('makes a dead letter of what has no handler, and goes on', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A as Ref<never>, { type: 'gibberish' } as never);
    kernel.tell(A, note('1'));
    await time.settle();
    expect(seenTexts()).toEqual(['1']);
    expect(events('dead_letter')).toMatchObject([{ message: 'gibberish', reason: 'not_understood' }]);
  });

  it('is silent after it was abandoned', async () => {
    const kernel = startKernel(root([scribeActor('a'), hostsOf()]));
    kernel.tell(A, ask({ do: 'schedule', key: 'k', atMonotonicMs: time.monotonicMs() + 5, message: note('later') }));
    await time.settle();
    kernel.tell(A, note('1'));
    kernel.tell(hostAt('h'), note('2'));
    kernel.abandon();
    kernel.tell(hostAt('i'), note('3'));
    await time.advance(100);
    expect([seenTexts(), kernel.counts().timers]).toEqual([[], 0]);
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
    expect(diaryOf('a').restarts).toEqual([
      {
        held: ['1', 'half of boom'],
        crash: { reason: 'Error: boom', inHand: 'burst', lost: { type: 'burst', text: 'boom' } },
      },
    ]);
  });

  it('doubles the back-off with each restart in the window, up to its maximum', async () => {
    const traced: number[] = [];
    const backoff = { firstMs: 10, maxMs: 35 };
    const trace = (): void => void traced.push(time.monotonicMs() - 1_000);
    const kernel = startKernel(root([scribeActor('a')], { backoff }), { trace });
    for (let i = 0; i < 5; i++) kernel.tell(A, burst('boom'));
    kernel.tell(A, note('alive'));
    await time.advance(1_000);
    expect(traced).toEqual([0, 10, 30, 65, 100, 135]);
  });

  it('bears the budget of restarts (n) and fails at one more (n + 1), all stopped in order', async () => {
    const kernel = startKernel(
      root([scribeActor('a'), scribeActor('b')], { budget: { restarts: 2, withinMs: 1_000 } }),
    );
    let failure: unknown = null;
    void kernel.failed.then((reason) => (failure = reason));
    for (let i = 0; i < 2; i++) kernel.tell(A, burst(`boom ${i}`));
    kernel.tell(A, note('alive'));
    await time.advance(100);
    expect([seenTexts(), failure]).toEqual([['alive'], null]);
    kernel.tell(A, burst('last'));
    kernel.tell(A, note('never'));
    await time.advance(0);
    expect(failure).toEqual({ actor: 'a', reason: 'Error: last', restarts: 2, withinMs: 1_000 });
    kernel.tell(address<Word>('b'), note('too late'));
    await time.advance(5_000);
    expect(seenTexts()).toEqual(['alive']);
    expect(kernel.counts().deadLetters).toContainEqual({ under: 'a', message: 'note', count: 1 });
    expect(kernel.counts().deadLetters).toContainEqual({ under: 'b', message: 'note', count: 1 });
  });

  it('forgets restarts that are older than the window', async () => {
    const kernel = startKernel(root([scribeActor('a')], { budget: { restarts: 1, withinMs: 1_000 } }));
    for (let i = 0; i < 4; i++) {
      kernel.tell(A, burst('boom'));
      await time.advance(1_000);
    }
    kernel.tell(A, note('alive'));
    await time.advance(0);
    expect(seenTexts()).toEqual(['alive']);
  });

  it('counts a crash in restart as another, and keeps the earlier state', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, note('1'));
    diaryOf('a').restartsThatThrow = 1;
    kernel.tell(A, burst('boom'));
    await time.advance(9 + 20);
    expect(diaryOf('a').restarts).toHaveLength(1);
    await time.advance(1);
    expect(diaryOf('a').restarts.map(({ held, crash }) => [held, crash.inHand])).toEqual([
      [['1', 'half of boom'], 'burst'],
      [['1', 'half of boom'], null],
    ]);
  });

  it('delivers the message in hand again once, in front, and then sets it aside', async () => {
    const kernel = startKernel(root([scribeActor('a', { inHand: 'deliver-again' })]), {
      faults: [
        { actor: 'a', message: 'note', nth: 2, times: 1 },
        { actor: 'a', message: 'other', nth: 1, times: 2 },
      ],
    });
    for (const text of ['1', '2', '3']) kernel.tell(A, note(text));
    kernel.tell(A, { type: 'other', text: 'poison' });
    kernel.tell(A, note('4'));
    await time.advance(1_000);
    expect(seenTexts()).toEqual(['1', '2', '3', '4']);
    expect(events('set_aside')).toEqual([{ actor: 'a', message: 'other' }]);
    expect(kernel.counts().deadLetters).toEqual([{ under: 'a', message: 'other', count: 1 }]);
    expect(events('fault_injected')).toHaveLength(3);
    expect(kernel.counts().faultsInjected).toBe(3);
  });

  it('tries the same message object again each time that it was sent', async () => {
    const kernel = startKernel(root([scribeActor('a', { inHand: 'deliver-again' })]), {
      faults: [{ actor: 'a', nth: 1, times: 2, every: 2 }],
    });
    const same = note('same');
    kernel.tell(A, same);
    kernel.tell(A, same);
    await time.advance(1_000);
    expect(seenTexts()).toEqual(['same', 'same']);
  });

  it('survives a log, a trace and an announcement that throw', async () => {
    const angry = (): never => {
      throw new Error('no');
    };
    ports = portDoubles({ clock: time, announce: angry });
    const kernel = startKernel(root([scribeActor('a')]), { trace: angry });
    kernel.tell(A, ask({ do: 'announce', event: { event: 'drained' } }, log('info', 'seen', { text: 'after' })));
    await time.settle();
    expect(seenTexts()).toEqual(['after']);
    expect(kernel.counts().strays).toBe(2);
    expect(events('stray_error').map((fields) => fields.where)).toEqual(['trace', 'effect:announce']);
  });
});

describe('nothing ends the process', () => {
  it('a log that throws is counted', async () => {
    const logs = {
      log: (): never => {
        throw new Error('disk full');
      },
    };
    ports = portDoubles({ clock: time, logs });
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, burst('boom'));
    kernel.tell(A, note('1'));
    await time.advance(10);
    const [a] = kernel.counts().actors;
    expect([a?.messages, a?.restarts]).toEqual([1, 1]);
    expect(kernel.counts().strays).toBeGreaterThan(2);
  });

  it('a clock that throws in a turn costs the turn and no message', async () => {
    let throwsNext = false;
    const monotonicMs = (): number => {
      if (!throwsNext) return time.monotonicMs();
      throwsNext = false;
      throw new Error('no time');
    };
    ports = portDoubles({ clock: { monotonicMs, wallMs: () => 0 } });
    const kernel = startKernel(root([scribeActor('a')]));
    await time.settle();
    kernel.tell(A, note('1'));
    throwsNext = true;
    await time.settle();
    expect([seenTexts(), events('stray_error').map((fields) => fields.where)]).toEqual([['1'], ['turn']]);
  });
});

describe('strategies', () => {
  const expected: Record<Strategy, readonly string[]> = {
    'one-for-one': ['b'],
    'one-for-all': ['a', 'b', 'c'],
    'rest-for-one': ['b', 'c'],
  };
  for (const strategy of Object.keys(expected) as Strategy[]) {
    it(`${strategy}: takes down and brings back ${expected[strategy].join(', ')}, queues kept`, async () => {
      const names = ['a', 'b', 'c'];
      const kernel = startKernel(
        root(
          names.map((name) => scribeActor(name)),
          { strategy },
        ),
      );
      await time.settle();
      kernel.tell(address<Word>('b'), burst('boom'));
      await time.settle();
      for (const name of names) kernel.tell(address<Word>(name), note(name));
      await time.settle();
      expect(seenTexts()).toEqual(names.filter((name) => !expected[strategy].includes(name)));
      await time.advance(10);
      expect(seenTexts().toSorted()).toEqual(names);
      expect(names.filter((name) => diaryOf(name).restarts.length > 0)).toEqual(expected[strategy]);
      for (const name of expected[strategy]) {
        const reason = name === 'b' ? 'Error: boom' : 'sibling';
        const lost = name === 'b' ? { type: 'burst', text: 'boom' } : null;
        expect(diaryOf(name).restarts[0]?.crash).toEqual({ reason, inHand: lost?.type ?? null, lost });
      }
    });
  }

  it('a group over its budget stops, keeps its queues, and is one crash to its parent', async () => {
    const inner = group(
      'inner',
      {
        why: 'x',
        strategy: 'one-for-one',
        budget: { restarts: 0, withinMs: 100 },
        backoff: { firstMs: 1, maxMs: 1 },
        stopWithinMs: 100,
      },
      [scribeActor('x'), scribeActor('y')],
    );
    const kernel = startKernel(root([scribeActor('a'), inner]));
    const x = address<Word>('inner/x');
    await time.settle();
    kernel.tell(x, burst('boom'));
    kernel.tell(x, note('kept'));
    await time.advance(9);
    kernel.tell(address<Word>('inner/y'), note('kept too'));
    expect(seenTexts()).toEqual([]);
    await time.advance(1);
    expect(seenTexts()).toEqual(['kept', 'kept too']);
    expect(diaryOf('y').restarts[0]?.crash.reason).toBe('sibling');
    expect(events('over_restart_budget')).toMatchObject([{ group: 'inner', actor: 'inner/x' }]);
    kernel.tell(A, note('untouched'));
    await time.settle();
    expect(diaryOf('a').restarts).toEqual([]);
  });
});

describe('a group that is taken down twice', () => {
  const inner = (): NodeSpec =>
    group(
      'inner',
      {
        why: 'x',
        strategy: 'one-for-one',
        budget: { restarts: 0, withinMs: 100 },
        backoff: { firstMs: 1, maxMs: 1 },
        stopWithinMs: 500,
      },
      [scribeActor('x'), drainer('y', 50, 400)],
    );
  const X = address<Word>('inner/x');
  const Y = address<Word>('inner/y');

  it('by its own failure and by a sibling of its own: comes back once, whole', async () => {
    const kernel = startKernel(root([scribeActor('a'), inner()], { strategy: 'one-for-all' }));
    await time.settle();
    kernel.tell(X, burst('boom'));
    await time.advance(20);
    kernel.tell(A, burst('boom'));
    kernel.tell(X, note('x'));
    kernel.tell(Y, note('y'));
    await time.advance(10);
    expect(seenTexts()).toEqual(['x', 'y y']);
    await time.advance(1_000);
    kernel.tell(Y, note('still here'));
    await time.settle();
    expect(seenTexts()).toEqual(['x', 'y y', 'y still here']);
    expect(diaryOf('x').restarts).toHaveLength(1);
    expect(kernel.counts().timers).toBe(0);
  });

  it('by its own failure and by the stop of all: stops once, and all is ended', async () => {
    const kernel = startKernel(root([scribeActor('a'), inner()]));
    await time.settle();
    kernel.tell(X, burst('boom'));
    await time.advance(20);
    let report: unknown = null;
    void kernel.stop().then((stopped) => (report = stopped));
    await time.advance(1_000);
    expect(report).toEqual({ durationMs: 30, overdue: [], deadLetters: 0 });
    expect(kernel.counts().actors.map((one) => one.live)).toEqual([0, 0, 0]);
  });
});

describe('on demand', () => {
  it('brings a child to life by its first message, at the shard that its name has', async () => {
    const kernel = startKernel(root([hostsOf()]));
    kernel.tell(hostAt('[::1]'), note('six'));
    kernel.tell(hostAt('example.com'), note('name'));
    kernel.tell(address<Word>('hosts/p001/example.com'), note('wrong shard'));
    kernel.tell(address<Word>('nobody'), note('nobody'));
    await time.settle();
    expect(seenTexts()).toEqual(['six', 'name']);
    expect(kernel.counts().actors).toEqual([
      { path: 'hosts', kind: 'onDemand', turns: 2, messages: 2, restarts: 0, inbox: 0, live: 2 },
    ]);
    expect(events('dead_letter').map((fields) => fields.reason)).toEqual(['wrong_shard', 'no_such_actor']);
  });

  it('passivates with an empty inbox only, and loses no message that is sent in the same tick (2000 times)', async () => {
    const kernel = startKernel(root([hostsOf()]));
    const host = hostAt('h');
    let sent = 0;
    ports = Object.assign(ports, { announce: () => kernel.tell(host, note(String(++sent))) });
    // Announce runs within the performing of effects: before and after the passivation takes hold.
    for (let i = 0; i < 1_000; i++) {
      kernel.tell(host, ask({ do: 'announce', event: { event: 'drained' } }, { do: 'passivate' }));
      await time.settle(1);
      kernel.tell(host, ask({ do: 'passivate' }, { do: 'announce', event: { event: 'drained' } }));
      await time.settle(1);
    }
    await time.settle();
    expect(seenTexts()).toEqual(Array.from({ length: 2_000 }, (_, i) => String(i + 1)));
  });

  it('a passivated child starts anew, its state forgotten', async () => {
    const kernel = startKernel(root([hostsOf()]));
    const host = hostAt('h');
    kernel.tell(host, note('1'));
    kernel.tell(host, ask({ do: 'passivate' }));
    await time.settle();
    expect(kernel.counts().actors[0]?.live).toBe(0);
    kernel.tell(host, note('2'));
    await time.settle();
    expect([diaryOf('h').starts, kernel.counts().actors[0]?.live]).toEqual([2, 1]);
  });

  describe('room for only so many', () => {
    const rest = (text: string): Effect => ({
      do: 'schedule',
      key: 'rest',
      atMonotonicMs: 10_000,
      message: ask(log('info', 'seen', { text }), { do: 'passivate' }),
      earlyForRoom: true,
    });
    const live = (kernel: Kernel) => kernel.counts().actors[0]?.live;

    it('at three, three are live; the fourth sends the one home that has rested longest, and nobody else', async () => {
      const kernel = startKernel(root([hostsOf({ liveMax: 3 })]));
      for (const name of ['a', 'b', 'c']) {
        kernel.tell(hostAt(name), ask(rest(`${name} goes`)));
        await time.settle();
      }
      // What rests and is told something rests on, in its place in the line; so does what renews its rest, at the end.
      kernel.tell(hostAt('b'), note('b goes on'));
      kernel.tell(hostAt('a'), ask(rest('a goes late')));
      await time.settle();
      expect([live(kernel), seenTexts()]).toEqual([3, ['b goes on']]);
      kernel.tell(hostAt('d'), note('d comes'));
      await time.settle();
      expect([live(kernel), seenTexts()]).toEqual([3, ['b goes on', 'b goes', 'd comes']]);
      await time.advance(10_000);
      expect([live(kernel), seenTexts().slice(3)]).toEqual([1, ['c goes', 'a goes late']]);
    });

    it('who works is left alone, though more are live than there is room for; whoever rests then goes first', async () => {
      const kernel = startKernel(root([hostsOf({ liveMax: 2 })]));
      for (const name of ['a', 'b', 'c', 'd']) kernel.tell(hostAt(name), note(name));
      await time.settle();
      expect(live(kernel)).toBe(4);
      for (const name of ['a', 'b', 'c']) kernel.tell(hostAt(name), ask(rest(`${name} goes`)));
      await time.settle();
      // A rest that was broken off is none.
      kernel.tell(hostAt('a'), ask({ do: 'cancel', key: 'rest' }));
      await time.settle();
      kernel.tell(hostAt('e'), note('e'));
      await time.settle();
      expect([live(kernel), seenTexts().slice(4)]).toEqual([3, ['b goes', 'c goes', 'e']]);
    });

    it('a crash ends a rest; nothing is lost on the way home', async () => {
      const kernel = startKernel(root([hostsOf({ liveMax: 1 })]));
      kernel.tell(hostAt('a'), ask(rest('a goes')));
      await time.settle();
      kernel.tell(hostAt('a'), burst('boom'));
      await time.advance(10);
      kernel.tell(hostAt('b'), note('b'));
      await time.settle();
      expect([live(kernel), seenTexts()]).toEqual([2, ['b']]);
      kernel.tell(hostAt('b'), ask(rest('b goes')));
      await time.settle();
      // Whoever is told something in the turn in which it would go stays.
      kernel.tell(hostAt('b'), ask({ do: 'cancel', key: 'rest' }));
      kernel.tell(hostAt('c'), note('c'));
      kernel.tell(hostAt('b'), note('b again'));
      await time.advance(20_000);
      expect([live(kernel), diaryOf('b').starts, seenTexts()]).toEqual([3, 1, ['b', 'b goes', 'b again', 'c']]);
    });
  });

  it('does not passivate when a later message of the same turn was handled', async () => {
    const kernel = startKernel(root([hostsOf()]));
    kernel.tell(hostAt('h'), ask({ do: 'passivate' }));
    kernel.tell(hostAt('h'), note('after'));
    await time.settle();
    expect([diaryOf('h').starts, kernel.counts().actors[0]?.live]).toEqual([1, 1]);
  });

  it('passivates although a cancelled timer still lies in the inbox', async () => {
    const kernel = startKernel(root([hostsOf()]));
    const dueNow: Effect = { do: 'schedule', key: 'k', atMonotonicMs: 0, message: note('rang') };
    kernel.tell(hostAt('h'), ask(dueNow, { do: 'cancel', key: 'k' }, { do: 'passivate' }));
    await time.settle();
    expect([seenTexts(), kernel.counts().actors[0]?.live]).toEqual([[], 0]);
  });

  it('sets a child over its budget aside (n + 1), cools its address, then starts it afresh; others are untouched', async () => {
    const kernel = startKernel(root([hostsOf()]));
    const [bad, good] = [hostAt('bad'), hostAt('good')];
    kernel.tell(bad, burst('1'));
    kernel.tell(bad, note('between'));
    await time.advance(10);
    expect(seenTexts()).toEqual(['between']);
    kernel.tell(bad, burst('2'));
    kernel.tell(bad, note('waiting'));
    kernel.tell(good, note('good'));
    await time.settle();
    expect(events('actor_set_aside')).toMatchObject([{ actor: 'hosts/p002/bad', reason: 'Error: 2' }]);
    await time.advance(59_999);
    kernel.tell(bad, note('refused'));
    await time.settle();
    expect(seenTexts()).toEqual(['between', 'good']);
    await time.advance(1);
    kernel.tell(bad, note('afresh'));
    await time.settle();
    expect([seenTexts(), diaryOf('bad').starts]).toEqual([['between', 'good', 'afresh'], 2]);
    expect(events('dead_letter').map((fields) => fields.reason)).toContain('cooling');
  });
});

const REQUEST = { tier: 1 } as never;
const RESPONSE = { kind: 'response', body: new Uint8Array(7) } as never;

describe('answers', () => {
  it('come to the incarnation that asked; a stale one is forgotten and its bytes are given back', async () => {
    const waiting: ((result: never) => void)[] = [];
    const signals: AbortSignal[] = [];
    const fetch = (_request: unknown, signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      return new Promise((resolve) => waiting.push(resolve));
    };
    ports = portDoubles({ clock: time, net: { fetch } });
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, ask({ do: 'fetch', ticket: 1, request: REQUEST }, { do: 'fetch', ticket: 2, request: REQUEST }));
    await time.settle();
    waiting[0]?.(RESPONSE);
    await time.settle();
    expect(seenTexts()).toEqual(['fetched 1']);
    expect(signals[1]?.aborted).toBe(false);
    kernel.tell(A, burst('boom'));
    await time.settle();
    expect(signals[1]?.aborted).toBe(true);
    await time.advance(10);
    waiting[1]?.(RESPONSE);
    await time.settle();
    expect(seenTexts()).toEqual(['fetched 1']);
    expect([kernel.counts().staleAnswers, ports.released]).toEqual([1, [7]]);
  });

  it('that lie in the inbox when the incarnation ends are forgotten too', async () => {
    ports = portDoubles({ clock: time, net: { fetch: () => Promise.resolve(RESPONSE) } });
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, ask(send(A, burst('boom')), { do: 'fetch', ticket: 1, request: REQUEST }));
    await time.advance(10);
    expect([seenTexts(), kernel.counts().staleAnswers, ports.released]).toEqual([[], 1, [7]]);
  });

  it('of a commit outlive the incarnation that asked', async () => {
    let commit = (): void => undefined;
    const store = { commit: () => new Promise<never>((resolve) => (commit = () => resolve('receipt' as never))) };
    ports = portDoubles({ clock: time, store });
    const kernel = startKernel(root([writerActor()]));
    kernel.tell(address<Word>('writer'), ask({ do: 'commit', outlives: true, batch: 7, parts: [], sync: true }));
    await time.settle();
    kernel.tell(address<Word>('writer'), burst('boom'));
    await time.settle();
    commit();
    await time.settle();
    expect(seenTexts()).toEqual([]);
    await time.advance(10);
    expect(seenTexts()).toEqual(['committed 7']);
  });

  it('are made up, in the right shape, for a port that rejects or throws', async () => {
    const fetch = (): never => {
      throw new Error('synchronously');
    };
    const commit = (): Promise<never> => Promise.reject(new StoreError('store_full', 'no room'));
    ports = portDoubles({ clock: time, net: { fetch }, store: { commit } });
    const kernel = startKernel(root([writerActor(), scribeActor('a')]));
    kernel.tell(A, ask({ do: 'fetch', ticket: 3, request: REQUEST }));
    kernel.tell(address<Word>('writer'), ask({ do: 'commit', outlives: true, batch: 7, parts: [], sync: true }));
    await time.settle();
    expect(seenTexts().toSorted()).toEqual(['commitFailed store_full', 'fetched 3']);
    expect(events('stray_error').map((fields) => fields.where)).toEqual(['port:fetch']);
  });
});

type WriterWord = Word | Committed | CommitFailed;

function writerActor(): NodeSpec {
  const behaviour: Behaviour<string, string[], WriterWord> = {
    start: () => [[], []],
    on: {
      ...(scribe.on as Behaviour<string, string[], Word>['on']),
      committed: (state, { batch }) => [state, seen(state, `committed ${batch}`)],
      commitFailed: (state, { code }) => [state, seen(state, `commitFailed ${code}`)],
    },
  };
  return actor('writer', {
    why: 'x',
    behaviour,
    props: 'writer',
    inbox: { bound: 9, overflow: 'refuse' },
    inHand: 'drop',
    stopWithinMs: 9,
  });
}

describe('timers of actors', () => {
  const at = (key: string, inMs: number, text: string): Effect => ({
    do: 'schedule',
    key,
    atMonotonicMs: time.monotonicMs() + inMs,
    message: note(text),
  });

  it('one a key: a new one replaces the old, a cancelled one never comes, though system timers fire early', async () => {
    time.earlyMs = 0.9;
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(
      A,
      ask(at('x', 50, 'old'), at('x', 20, 'new'), at('y', 30, 'cancelled'), at('z', 40, 'kept'), {
        do: 'cancel',
        key: 'y',
      }),
    );
    await time.advance(19.5);
    expect(seenTexts()).toEqual([]);
    await time.advance(1);
    expect(seenTexts()).toEqual(['new']);
    await time.advance(100);
    expect(seenTexts()).toEqual(['new', 'kept']);
  });

  it('end with the incarnation', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    kernel.tell(A, ask(at('x', 50, 'ghost')));
    kernel.tell(A, burst('boom'));
    await time.advance(1_000);
    expect([seenTexts(), kernel.counts().timers]).toEqual([[], 0]);
  });
});

describe('overflow', () => {
  it('refuse: n wait, n + 1 is a dead letter', async () => {
    const kernel = startKernel(root([scribeActor('a', { inbox: { bound: 3, overflow: 'refuse' } })]));
    for (const text of ['1', '2', '3']) kernel.tell(A, note(text));
    expect(kernel.counts().deadLetters).toEqual([]);
    kernel.tell(A, note('4'));
    await time.settle();
    expect(seenTexts()).toEqual(['1', '2', '3']);
    expect(kernel.counts().deadLetters).toEqual([{ under: 'a', message: 'note', count: 1 }]);
  });

  it('drop-oldest: at n + 1 the oldest is a dead letter', async () => {
    const kernel = startKernel(root([scribeActor('a', { inbox: { bound: 3, overflow: 'drop-oldest' } })]));
    for (const text of ['1', '2', '3', '4']) kernel.tell(A, note(text));
    await time.settle();
    expect(seenTexts()).toEqual(['2', '3', '4']);
    expect(events('dead_letter').map((fields) => fields.reason)).toEqual(['oldest_dropped']);
  });

  it('give-way: nothing is dropped; pressed once at n + 1, relieved below half', async () => {
    const told: string[] = [];
    const listener: Behaviour<null, null, Pressure> = {
      start: () => [null, []],
      on: {
        pressed: (state, { who }) => {
          told.push(`pressed ${who}`);
          return [state, []];
        },
        relieved: (state, { who }) => {
          told.push(`relieved ${who}`);
          return [state, []];
        },
      },
    };
    const ear = actor('ear', {
      why: 'x',
      behaviour: listener,
      props: null,
      inbox: { bound: 1, overflow: 'refuse' },
      inHand: 'drop',
      stopWithinMs: 9,
    });
    const tell = address<Pressure>('ear');
    const kernel = startKernel(root([ear, scribeActor('a', { inbox: { bound: 4, overflow: 'give-way', tell } })]));
    for (const text of ['1', '2', '3', '4']) kernel.tell(A, note(text));
    await time.settle();
    expect(told).toEqual([]);
    for (const text of ['5', '6', '7', '8', '9', '10']) kernel.tell(A, note(text));
    await time.settle();
    expect(told).toEqual(['pressed a', 'relieved a']);
    expect(seenTexts()).toHaveLength(10);
  });

  it('dead letters are logged ten times, then at powers of two', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    for (let i = 0; i < 100; i++) kernel.tell(address<Word>('nobody'), note('x'));
    expect(events('dead_letter').map((fields) => fields.count)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64]);
    expect(kernel.counts().deadLetters).toEqual([{ under: 'nobody', message: 'note', count: 100 }]);
  });
});

describe('watching', () => {
  it('tells crashed, restarted and stopped; who has no handler for them never watches', async () => {
    const told: string[] = [];
    const tellOf = (state: null, notice: Notice): readonly [null, readonly Effect[]] => {
      told.push(`${notice.type} ${notice.who}`);
      return [state, []];
    };
    const warden: Behaviour<null, null, Notice> = {
      start: () => [null, [watch(A), watch(hostAt('h'))]],
      on: { crashed: tellOf, restarted: tellOf, stopped: tellOf },
    };
    const eye = actor('eye', {
      why: 'x',
      behaviour: warden,
      props: null,
      inbox: { bound: 1, overflow: 'refuse' },
      inHand: 'drop',
      stopWithinMs: 9,
    });
    const kernel = startKernel(root([eye, scribeActor('a'), hostsOf()]));
    await time.settle();
    kernel.tell(A, burst('boom'));
    await time.advance(10);
    kernel.tell(hostAt('h'), ask({ do: 'passivate' }));
    kernel.tell(A, ask(watch(hostAt('h'))));
    await time.settle();
    expect(told).toEqual(['crashed a', 'restarted a', 'stopped hosts/p002/h']);
    expect(events('watch_unheard')).toEqual([{ actor: 'a', whom: 'hosts/p002/h' }]);
  });
});

/** Drains for so long, or for ever; says what it does. */
function drainer(name: string, drainsMs: number | null, stopWithinMs: number): NodeSpec {
  type Done = { readonly type: 'done' };
  const behaviour: Behaviour<string, null, Word | Done> = {
    start: () => [null, []],
    on: {
      ...({} as Behaviour<string, null, Word>['on']),
      note: (state, { text }) => [state, [log('info', 'seen', { text: `${name} ${text}` })]],
      done: (state) => [state, [{ do: 'finish' }, log('info', 'seen', { text: `${name} done` })]],
    },
    drain: (state, now) => [
      state,
      drainsMs === null
        ? []
        : [{ do: 'schedule', key: 'done', atMonotonicMs: now.monotonicMs + drainsMs, message: { type: 'done' } }],
    ],
  };
  return actor(name, {
    why: 'x',
    behaviour,
    props: name,
    inbox: { bound: 9, overflow: 'refuse' },
    inHand: 'drop',
    stopWithinMs,
  });
}

describe('stop', () => {
  it('last child first, each when it has drained; a later one is ended at its deadline and named', async () => {
    const kernel = startKernel(root([drainer('a', 10, 100), drainer('b', null, 50), drainer('c', 20, 100)]));
    kernel.tell(A, note('before'));
    await time.settle();
    let report: unknown = null;
    void kernel.stop().then((stopped) => (report = stopped));
    kernel.tell(address<Word>('c'), note('waits before the drain'));
    await time.advance(79);
    expect(report).toBe(null);
    await time.advance(1);
    expect(seenTexts()).toEqual(['a before', 'c waits before the drain', 'c done', 'a done']);
    expect(report).toEqual({ durationMs: 80, overdue: ['b'], deadLetters: 0 });
    expect(kernel.stop()).toBe(kernel.stop());
  });

  it('ends whoever has not drained at the deadline (n), not before (n - 1)', async () => {
    const kernel = startKernel(root([drainer('a', 99, 100), drainer('b', 100, 100)]));
    let overdue: unknown = null;
    void kernel.stop().then((report) => (overdue = report.overdue));
    await time.advance(500);
    expect(overdue).toEqual(['b']);
    expect(seenTexts()).toEqual(['a done']);
  });

  it("the group's deadline ends all that is left", async () => {
    const kernel = startKernel(root([drainer('a', 500, 5_000), drainer('b', 900, 5_000)], { stopWithinMs: 1_000 }));
    let report: unknown = null;
    void kernel.stop().then((stopped) => (report = stopped));
    await time.advance(1_000);
    expect(report).toEqual({ durationMs: 1_000, overdue: [''], deadLetters: 0 });
    expect(seenTexts()).toEqual(['b done']);
  });

  it('a crash while draining is restarted and drains again', async () => {
    const kernel = startKernel(root([drainer('a', 5, 100)]), {
      faults: [{ actor: 'a', message: 'done', nth: 1, times: 1 }],
    });
    await time.settle();
    let report: unknown = null;
    void kernel.stop().then((stopped) => (report = stopped));
    await time.advance(19);
    expect(report).toBe(null);
    await time.advance(1);
    expect(report).toMatchObject({ durationMs: 20, overdue: [] });
    expect(seenTexts()).toEqual(['a done']);
  });

  it('whoever waits for a restart when the stop comes is restarted, to drain, though another crashes meanwhile', async () => {
    const children = [drainer('a', 5, 100), drainer('b', 5, 100), drainer('c', 5, 100)];
    const faults = ['a', 'b'].map((name) => ({ actor: name, message: 'note', nth: 1, times: 1 }));
    const kernel = startKernel(root(children, { strategy: 'rest-for-one' }), { faults });
    await time.settle();
    kernel.tell(address<Word>('b'), note('crashes'));
    await time.settle();
    let report: unknown = null;
    void kernel.stop().then((stopped) => (report = stopped));
    await time.settle();
    kernel.tell(A, note('crashes too'));
    await time.advance(34);
    expect(report).toBe(null);
    await time.advance(1);
    expect(report).toMatchObject({ durationMs: 35, overdue: [] });
    expect(seenTexts()).toEqual(['c done', 'b done', 'a done']);
  });

  it('children on demand stop together, nobody new is born, what waits is counted', async () => {
    const kernel = startKernel(root([drainer('a', 10, 100), hostsOf()]));
    kernel.tell(hostAt('h'), note('1'));
    await time.settle();
    void kernel.stop();
    await time.settle();
    kernel.tell(hostAt('late'), note('2'));
    await time.advance(100);
    expect(seenTexts()).toEqual(['1', 'a done']);
    expect(events('dead_letter').map((fields) => fields.reason)).toEqual(['stopping']);
  });

  it('may be asked from within a turn', async () => {
    const kernel = startKernel(root([scribeActor('a')]));
    let report: unknown = null;
    Object.assign(ports, { announce: () => void kernel.stop().then((stopped) => (report = stopped)) });
    kernel.tell(A, ask({ do: 'announce', event: { event: 'drained' } }, log('info', 'seen', { text: 'after' })));
    await time.advance(10);
    expect([seenTexts(), report]).toEqual([['after'], { durationMs: 0, overdue: [], deadLetters: 0 }]);
  });

  it('a pool numbers its members and stops them together', async () => {
    const members = pool('scribes', 3, {
      why: 'many hands',
      each: 'scribe',
      behaviour: scribe,
      props: (index) => `number ${index}`,
      inbox: { bound: 9, overflow: 'refuse' },
      inHand: 'drop',
      budget: { restarts: 1, withinMs: 10 },
      backoff: { firstMs: 1, maxMs: 1 },
      stopWithinMs: 10,
    });
    const kernel = startKernel(root([members]));
    kernel.tell(address<Word>('scribes/scribe-2'), note('hello'));
    await time.settle();
    expect([diaryOf('number 0').starts, diaryOf('number 2').starts, seenTexts()]).toEqual([1, 1, ['hello']]);
  });
});

describe('types', () => {
  it('refuse what an address does not understand, and props that a behaviour does not take', () => {
    const kernel = startKernel(root([scribeActor('a')]));
    // @ts-expect-error no such message
    expect(send(A, { type: 'shout', text: 'x' }).do).toBe('send');
    // @ts-expect-error a field is missing
    expect(send(A, { type: 'note' }).do).toBe('send');
    // @ts-expect-error no such message
    kernel.tell(A, { type: 'shout' });
    const rest = { why: 'x', inbox: { bound: 1, overflow: 'refuse' }, inHand: 'drop', stopWithinMs: 1 } as const;
    // @ts-expect-error props are a string
    expect(actor('x', { behaviour: scribe, props: 5, ...rest }).name).toBe('x');
    // @ts-expect-error an address that understands less can not stand for one that understands pressure
    const wrong: Ref<Pressure> = A;
    expect(wrong.path).toBe('a');
  });
});
