import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAMAGED_MAX, type Props, recorder } from '../../src/actors/recorder.js';
import type { Part } from '../../src/protocols/commit.js';
import type { Commit, Effect } from '../../src/protocols/effects.js';
import type { Message } from '../../src/protocols/recorder.js';
import { hostPart, receiptOf } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

const PROPS: Props = { batch: 4, groupMs: 10, groupPartsMax: 3, syncEveryMs: 1_000 };

const staged = (props: Partial<Props> = {}) => new Stage(recorder, { ...PROPS, ...props });
const part = (ticket: number, changes: Parameters<typeof hostPart>[2] = {}) => hostPart('a.example', ticket, changes);
const commitsOf = (effects: readonly Effect[]) =>
  of(effects, 'commit').map(({ batch, parts, sync }) => ({ batch, parts: parts.length, sync }));

describe('the recorder groups', () => {
  it('D1: a batch is written when its oldest part has waited its time', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1)] });
    stage.pass(4);
    stage.tell({ type: 'record', parts: [part(2)] });
    stage.pass(5);
    expect(stage.take()).toEqual([]);
    stage.pass(1);
    expect(commitsOf(stage.take())).toEqual([{ batch: 5, parts: 2, sync: false }]);
  });

  it('or when enough have come: at three, not at two; one batch at a time', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1), part(2)] });
    expect(stage.take()).toEqual([]);
    stage.tell({ type: 'record', parts: [part(3)] });
    expect(commitsOf(stage.take())).toEqual([{ batch: 5, parts: 3, sync: false }]);
    stage.tell({ type: 'record', parts: [part(4), part(5), part(6), part(7)] });
    stage.pass(50);
    expect(stage.take()).toEqual([]);
    stage.tell({ type: 'committed', batch: 5, receipt: receiptOf() });
    expect(commitsOf(stage.take())).toEqual([{ batch: 6, parts: 4, sync: false }]);
  });

  it('D7: once a second what was committed is synced, and nothing is when all is', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1)] });
    stage.pass(10);
    stage.tell({ type: 'committed', batch: 5, receipt: receiptOf() });
    stage.take();
    stage.pass(1_000);
    expect(commitsOf(stage.take())).toEqual([{ batch: 6, parts: 0, sync: true }]);
    stage.tell({ type: 'committed', batch: 6, receipt: receiptOf() });
    stage.pass(10_000);
    expect(stage.take()).toEqual([]);
  });

  it('acknowledges to the frontier, to each host once, to the workbench, then the fences', () => {
    const stage = staged();
    const parts: Part[] = [part(1, { permit: 9 }), hostPart('b.example', 1), part(2)];
    stage.tell({ type: 'fence', host: 'c.example', epoch: 2 });
    stage.tell({ type: 'record', parts });
    stage.pass(10);
    stage.take();
    const queue = {
      host: 'a.example',
      ready: [1, 0, 3, 0, 0, 0, 0, 0],
      heads: [],
      waiting: 0,
      parked: 0,
      blocked: 6,
      wakeAtMs: null,
      news: null,
    };
    const receipt = receiptOf({ queues: [queue] });
    stage.tell({ type: 'committed', batch: 5, receipt });
    expect(told(stage.take()).map(({ to, message }) => [to.split('/').at(-1), message])).toEqual([
      ['frontier', { type: 'recorded', parts, receipt }],
      ['a.example', { type: 'recorded', tickets: [1, 2], ready: 4, blocked: 6 }],
      ['b.example', { type: 'recorded', tickets: [1], ready: 0, blocked: 0 }],
      ['workbench', { type: 'closed', visits: [9] }],
      ['c.example', { type: 'fenced', epoch: 2 }],
    ]);
  });

  it('answers of another batch, and openings that nobody asked for, change nothing', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1), part(2), part(3)] });
    stage.take();
    const before = stage.state;
    const strays: Message[] = [
      { type: 'committed', batch: 4, receipt: receiptOf() },
      { type: 'commitFailed', batch: 4, code: 'store_io', detail: 'x' },
      { type: 'reopenDue' },
      { type: 'reopened', batch: 4, nextSequence: 9 },
      { type: 'reopenFailed', code: 'store_io', detail: 'x' },
    ];
    for (const stray of strays) stage.tell(stray);
    expect([stage.state, stage.take()]).toEqual([before, []]);
  });
});

describe('D3 after a failed write', () => {
  function failed() {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1), part(2), part(3)] });
    stage.take();
    stage.tell({ type: 'commitFailed', batch: 5, code: 'store_full', detail: 'no space' });
    return stage;
  }

  it('damage does not heal by waiting: after so many in a row it crashes, and again when it is taken up', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1), part(2), part(3)] });
    const corrupt = { code: 'store_corrupt', detail: 'x' };
    stage.tell({ type: 'commitFailed', batch: 5, ...corrupt });
    for (let n = 2; n < DAMAGED_MAX; n++) {
      stage.tell({ type: 'reopenDue' });
      stage.tell({ type: 'reopenFailed', ...corrupt });
    }
    stage.tell({ type: 'reopenDue' });
    const before = stage.state;
    const last = () => stage.tell({ type: 'reopenFailed', ...corrupt });
    expect(last).toThrow('store_corrupt');
    expect(stage.state).toEqual(before);
    expect(last).toThrow('store_corrupt');
  });

  it('other trouble has no end, and what was damaged before it does not count', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1), part(2), part(3)] });
    stage.tell({ type: 'commitFailed', batch: 5, code: 'store_full', detail: 'x' });
    for (let n = 1; n < 3 * DAMAGED_MAX; n++) {
      stage.tell({ type: 'reopenDue' });
      stage.tell({ type: 'reopenFailed', code: n % DAMAGED_MAX === 0 ? 'store_io' : 'store_corrupt', detail: 'x' });
    }
  });

  it('permits are held, and nothing but an opening follows, then the same batch', () => {
    const stage = failed();
    expect(told(stage.take())).toEqual([{ to: 'workbench', message: { type: 'hold', why: 'store_full: no space' } }]);
    stage.tell({ type: 'record', parts: [part(4), part(5), part(6), part(7)] });
    stage.pass(499);
    expect(stage.take()).toEqual([]);
    stage.pass(1);
    expect(stage.take()).toEqual([{ do: 'reopen', outlives: true }]);
    stage.pass(60_000);
    expect(stage.take()).toEqual([]);
    stage.tell({ type: 'reopened', batch: 5, nextSequence: 9 });
    expect(commitsOf(stage.take())).toEqual([{ batch: 5, parts: 3, sync: false }]);
  });

  it('permits stay held until the write succeeds: an opening alone proves nothing', () => {
    const stage = failed();
    stage.pass(500);
    stage.tell({ type: 'reopened', batch: 4, nextSequence: 9 });
    const before = told(stage.take());
    expect(before.map(({ message }) => message.type)).toEqual(['hold', 'storeReopened']);
    stage.tell({ type: 'committed', batch: 5, receipt: receiptOf() });
    expect(told(stage.take())).toContainEqual({
      to: 'workbench',
      message: { type: 'release', why: 'store_full: no space' },
    });
  });

  it('waits twice as long after each failure, of whichever kind, at most ten seconds', () => {
    const stage = failed();
    const waitsMs: number[] = [];
    for (let n = 0; n < 7; n++) {
      const dueMs = stage.nextAlarmMs() as number;
      waitsMs.push(dueMs - stage.nowMs);
      stage.pass(dueMs - stage.nowMs);
      if (n % 2 === 0) stage.tell({ type: 'reopenFailed', code: 'store_io', detail: 'still' });
      else {
        stage.tell({ type: 'reopened', batch: 4, nextSequence: 9 });
        stage.tell({ type: 'commitFailed', batch: 5, code: 'store_full', detail: 'no space' });
      }
    }
    expect(waitsMs).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('another reason takes the place of the first', () => {
    const stage = failed();
    stage.pass(500);
    stage.tell({ type: 'reopened', batch: 4, nextSequence: 9 });
    stage.take();
    stage.tell({ type: 'commitFailed', batch: 5, code: 'store_io', detail: 'bad sector' });
    expect(told(stage.take()).map(({ message }) => message)).toEqual([
      { type: 'hold', why: 'store_io: bad sector' },
      { type: 'release', why: 'store_full: no space' },
    ]);
  });

  it('a crash while the store is being opened does not open it a second time', () => {
    const stage = failed();
    stage.pass(500);
    stage.take();
    stage.crashOn({ type: 'record', parts: [part(4)] }, 'again');
    stage.pass(60_000);
    expect(of(stage.take(), 'reopen')).toEqual([]);
    stage.tell({ type: 'reopened', batch: 4, nextSequence: 9 });
    expect(commitsOf(stage.take())).toEqual([{ batch: 5, parts: 3, sync: false }]);
  });
});

describe('the recorder drains', () => {
  it('D1, D7: what waits is written and synced, then it finishes', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1)] });
    stage.drain();
    expect(stage.take()).toMatchObject([{ do: 'commit', batch: 5, sync: true }]);
    stage.tell({ type: 'committed', batch: 5, receipt: receiptOf() });
    expect(stage.take().at(-1)).toEqual({ do: 'finish' });
  });

  it('D7: what was committed and not synced is synced before it finishes', () => {
    const stage = staged();
    stage.tell({ type: 'record', parts: [part(1)] });
    stage.pass(10);
    stage.tell({ type: 'committed', batch: 5, receipt: receiptOf() });
    stage.take();
    stage.drain();
    expect(commitsOf(stage.take())).toEqual([{ batch: 6, parts: 0, sync: true }]);
    stage.tell({ type: 'committed', batch: 6, receipt: receiptOf() });
    expect(stage.take()).toEqual([{ do: 'finish' }]);
  });

  it('with nothing to do it finishes at once', () => {
    const stage = staged();
    stage.drain();
    expect(stage.take()).toEqual([{ do: 'finish' }]);
  });
});

// -- against a model --------------------------------------------------------------------------------------------------

type Step =
  | { do: 'record'; parts: number; crashes: 'no' | 'once' | 'twice' }
  | { do: 'fence'; crashes: boolean }
  | { do: 'answer'; fails: boolean; crashes: boolean }
  | { do: 'pass'; ms: number };

/** What is known from outside: what was wished, and what must have been said of it. */
class Watcher {
  readonly stage = staged();
  wished: (number | `fence ${number}`)[] = [];
  acknowledged: (number | `fence ${number}`)[] = [];
  private hostTickets: number[] = [];
  private closed: number[] = [];
  private asked: 'commit' | 'reopen' | null = null;
  private newest: Commit | null = null;
  private last: 'ok' | 'failed' | 'reopened' = 'ok';
  private readonly holds = new Set<string>();
  finished = false;

  wish(step: Extract<Step, { do: 'record' }>): void {
    const first = this.wished.length;
    const parts = Array.from({ length: step.parts }, (_, n) => part(first + n, { permit: first + n }));
    this.wished.push(...parts.map(({ ticket }) => ticket));
    const message: Message = { type: 'record', parts };
    if (step.crashes === 'no') this.stage.tell(message);
    else if (step.crashes === 'once') this.stage.crashOn(message, 'again');
    else this.stage.crashTwiceOn(message);
  }

  fence(crashes: boolean): void {
    const epoch = this.wished.length;
    this.wished.push(`fence ${epoch}`);
    const message: Message = { type: 'fence', host: 'a.example', epoch };
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
  }

  answer(fails: boolean, crashes: boolean): void {
    if (this.asked === null || this.newest === null) return;
    const wasCommit = this.asked === 'commit';
    this.asked = null;
    this.last = fails ? 'failed' : wasCommit ? 'ok' : 'reopened';
    const { batch } = this.newest;
    const failure = { code: 'store_io', detail: `at ${batch}` };
    const message: Message = wasCommit
      ? fails
        ? { type: 'commitFailed', batch, ...failure }
        : { type: 'committed', batch, receipt: receiptOf() }
      : fails
        ? { type: 'reopenFailed', ...failure }
        : { type: 'reopened', batch: batch - 1, nextSequence: 0 };
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
  }

  look(): void {
    const effects = this.stage.take();
    for (const effect of effects) {
      if (effect.do === 'commit') this.committing(effect);
      else if (effect.do === 'reopen') {
        expect([this.asked, this.last]).toEqual([null, 'failed']);
        this.asked = 'reopen';
      } else if (effect.do === 'finish') this.finished = true;
    }
    for (const { message } of told(effects)) this.hear(message);
    if (this.last !== 'ok') expect(this.holds.size).toBe(1);
    else expect(this.holds.size).toBe(0);
  }

  private committing(effect: Commit): void {
    expect(this.asked).toBeNull();
    expect(this.last).not.toBe('failed');
    if (this.last === 'reopened') expect(effect).toEqual(this.newest);
    else expect(effect.batch).toBe((this.newest?.batch ?? PROPS.batch) + 1);
    this.asked = 'commit';
    this.newest = effect;
  }

  private hear(message: ReturnType<typeof told>[number]['message']): void {
    if (message.type === 'recorded' && 'parts' in message) {
      this.acknowledged.push(...(message['parts'] as { ticket: number }[]).map(({ ticket }) => ticket));
    } else if (message.type === 'recorded') this.hostTickets.push(...(message['tickets'] as number[]));
    else if (message.type === 'closed') this.closed.push(...(message['visits'] as number[]));
    else if (message.type === 'fenced') this.acknowledged.push(`fence ${message['epoch'] as number}`);
    else if (message.type === 'hold') this.holds.add(message['why'] as string);
    else if (message.type === 'release') this.holds.delete(message['why'] as string);
  }

  verdict(): void {
    const numbers = (all: readonly (number | string)[]) => all.filter((one) => typeof one === 'number');
    expect(numbers(this.acknowledged)).toEqual(numbers(this.wished));
    expect([this.hostTickets, this.closed]).toEqual([numbers(this.wished), numbers(this.wished)]);
    expect([...this.acknowledged].sort()).toEqual([...this.wished].sort());
    // Never before what was wished earlier.
    for (const [index, one] of this.wished.entries()) {
      if (typeof one === 'number') continue;
      const said = this.acknowledged.indexOf(one);
      for (const earlier of this.wished.slice(0, index)) expect(this.acknowledged.indexOf(earlier)).toBeLessThan(said);
    }
  }
}

describe('D1, D2, D3, B4 recorder against a model', () => {
  it('acknowledges each part once and in order, whatever fails and crashes', () => {
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('record' as const),
          parts: fc.integer({ min: 1, max: 4 }),
          crashes: fc.constantFrom('no', 'no', 'once', 'twice'),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('fence' as const), crashes: fc.boolean() }) },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('answer' as const), fails: fc.boolean(), crashes: fc.boolean() }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 10, 600, 2_000) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const watcher = new Watcher();
        for (const one of steps) {
          if (one.do === 'record') watcher.wish(one);
          else if (one.do === 'fence') watcher.fence(one.crashes);
          else if (one.do === 'answer') watcher.answer(one.fails, one.crashes);
          else watcher.stage.pass(one.ms);
          watcher.look();
        }
        watcher.stage.drain();
        watcher.look();
        for (let n = 0; n < 20 && !watcher.finished; n++) {
          watcher.answer(false, false);
          watcher.stage.pass(10_000);
          watcher.look();
        }
        expect(watcher.finished).toBe(true);
        watcher.verdict();
      }),
      { numRuns: 300 },
    );
  });
});
