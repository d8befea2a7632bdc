/** The queues of the store against a plain model in memory: any sequence of commits, reads and reopenings. */
import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { describe, expect, it } from 'vitest';
import type { PriorityClass, QueuePosition } from '../../src/domain/record.js';
import type { CommitReceipt, Move } from '../../src/protocols/commit.js';
import type { StorePort } from '../../src/protocols/ports.js';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import type { Database } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { admission, hostPart, keyOf, recordOf, seedPart, warcinfo } from './parts.js';

const HOSTS = ['a.test', 'a.test.example', 'b.test'];

interface Row {
  url: string;
  at: QueuePosition;
}

class Model {
  batch = 0;
  sequence = 0;
  urls = 0;
  known = new Set<string>();
  rows = new Map<string, Row[]>(HOSTS.map((it) => [it, []]));

  of(host: string, queue: QueuePosition['queue']): Row[] {
    const order = (it: QueuePosition) =>
      it.queue === 'ready'
        ? [it.priority, it.sequence]
        : it.queue === 'waiting'
          ? [it.dueAtMs, it.sequence]
          : [it.sequence, 0];
    return (this.rows.get(host) as Row[])
      .filter((it) => it.at.queue === queue)
      .sort(
        (a, b) =>
          (order(a.at)[0] as number) - (order(b.at)[0] as number) ||
          (order(a.at)[1] as number) - (order(b.at)[1] as number),
      );
  }

  ready(host: string): number[] {
    const counts = [0, 0, 0, 0, 0, 0, 0, 0];
    for (const { at } of this.of(host, 'ready'))
      if (at.queue === 'ready') counts[at.priority] = (counts[at.priority] as number) + 1;
    return counts;
  }

  /** Exact: what a host that knows its queue says. */
  heads(host: string): number[] {
    const heads = new Array<number>(8).fill(this.sequence);
    for (const { at } of this.of(host, 'ready'))
      if (at.queue === 'ready') heads[at.priority] = Math.min(heads[at.priority] as number, at.sequence);
    return heads;
  }
}

interface Real {
  store: StorePort;
  open: () => Promise<StorePort>;
}

function checkReceipt(model: Model, receipt: CommitReceipt, before: Map<string, number[]>): void {
  for (const it of receipt.queues) {
    const counts = model.ready(it.host);
    expect(it).toMatchObject({
      ready: counts,
      waiting: model.of(it.host, 'waiting').length,
      parked: model.of(it.host, 'parked').length,
    });
    const best = counts.findIndex((count) => count > 0);
    const bestBefore = (before.get(it.host) as number[]).findIndex((count) => count > 0);
    expect(it.news).toBe(best >= 0 && (bestBefore < 0 || best < bestBefore) ? best : null);
    for (const { at } of model.of(it.host, 'ready'))
      if (at.queue === 'ready') expect(it.heads[at.priority]).toBeLessThanOrEqual(at.sequence);
  }
  const all = HOSTS.flatMap((host) =>
    (['ready', 'waiting', 'parked'] as const).map((queue) => [queue, model.of(host, queue).length] as const),
  );
  const total = (queue: string) => all.filter(([it]) => it === queue).reduce((sum, [, count]) => sum + count, 0);
  expect(receipt.totals).toMatchObject({
    urls: model.urls,
    ready: total('ready'),
    waiting: total('waiting'),
    parked: total('parked'),
  });
}

const countsOf = (model: Model) => new Map(HOSTS.map((it) => [it, model.ready(it)]));

class Admit implements fc.AsyncCommand<Model, Real> {
  constructor(readonly wishes: readonly { host: number; priority: number; again: boolean }[]) {}
  check = () => true;
  async run(model: Model, { store }: Real): Promise<void> {
    const before = countsOf(model);
    const expected: string[] = [];
    const admitted = this.wishes.map(({ host, priority, again }) => {
      const name = HOSTS[host] as string;
      const old = again ? [...model.known].find((it) => new URL(it).hostname === name) : undefined;
      const sequence = model.sequence++;
      const url = old ?? `http://${name}/${sequence}`;
      if (old !== undefined) expected.push(keyOf(url));
      else {
        model.known.add(url);
        model.urls++;
        (model.rows.get(name) as Row[]).push({
          url,
          at: { queue: 'ready', priority: priority as PriorityClass, sequence },
        });
      }
      return admission(url, sequence, { priority: priority as PriorityClass, ifAbsent: again });
    });
    const receipt = await store.commit(++model.batch, [seedPart(admitted)], false);
    expect(receipt.known).toEqual(expected);
    checkReceipt(model, receipt, before);
  }
  toString = () => `admit(${JSON.stringify(this.wishes)})`;
}

class Moves implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly host: number,
    readonly wishes: readonly {
      row: number;
      to: 'ready' | 'waiting' | 'parked' | null;
      priority: number;
      dueAtMs: number;
    }[],
    readonly sync: boolean,
  ) {}
  check = (model: Readonly<Model>) => (model.rows.get(HOSTS[this.host] as string) as Row[]).length > 0;
  async run(model: Model, { store }: Real): Promise<void> {
    const host = HOSTS[this.host] as string;
    const before = countsOf(model);
    const moves: Move[] = [];
    for (const wish of this.wishes) {
      const rows = model.rows.get(host) as Row[];
      if (rows.length === 0) break;
      const row = rows[wish.row % rows.length] as Row;
      const { sequence } = row.at;
      const priority = wish.priority as PriorityClass;
      const to: QueuePosition | null =
        wish.to === null
          ? null
          : wish.to === 'ready'
            ? { queue: 'ready', priority, sequence }
            : wish.to === 'waiting'
              ? { queue: 'waiting', dueAtMs: wish.dueAtMs, sequence }
              : { queue: 'parked', sequence };
      moves.push({ from: row.at, to, record: recordOf(row.url, { priority }) });
      if (to === null) rows.splice(rows.indexOf(row), 1);
      else row.at = to;
    }
    const part = hostPart(host, { moves, heads: model.heads(host), wakeAtMs: model.batch });
    const receipt = await store.commit(++model.batch, [part], this.sync);
    checkReceipt(model, receipt, before);
    expect(receipt.queues[0]?.wakeAtMs).toBe(model.batch - 1);
  }
  toString = () => `moves(${this.host}, ${JSON.stringify(this.wishes)})`;
}

class Read implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly host: number,
    readonly limit: number,
  ) {}
  check = () => true;
  async run(model: Model, { store }: Real): Promise<void> {
    const host = HOSTS[this.host] as string;
    const { head } = await store.loadHost(host, this.limit);
    expect(head.failure).toBeNull();
    for (const queue of ['ready', 'waiting', 'parked'] as const) {
      const rows = model.of(host, queue);
      expect(head[queue].map((it) => [it.at, it.record.url])).toEqual(
        rows.slice(0, this.limit).map((it) => [it.at, it.url]),
      );
      if (head[`${queue}Complete`]) expect(rows.length).toBeLessThanOrEqual(this.limit);
      else expect(rows.length).toBeGreaterThanOrEqual(this.limit);
    }
    const heads = model.heads(host);
    const cursor = await store.readQueue(host, heads, 100);
    expect(cursor.head.ready.map((it) => it.record.url)).toEqual(model.of(host, 'ready').map((it) => it.url));
  }
  toString = () => `read(${this.host}, ${this.limit})`;
}

class Reopen implements fc.AsyncCommand<Model, Real> {
  constructor(readonly how: 'close' | 'reopen') {}
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    if (this.how === 'reopen') expect((await real.store.reopen()).batch).toBe(model.batch);
    else {
      await real.store.close();
      real.store = await real.open();
    }
    expect(real.store.opened()).toMatchObject({ batch: model.batch, notes: [], unclean: false });
    const { hosts } = await real.store.listHosts(null, 100);
    for (const host of HOSTS) {
      const best = model.ready(host).findIndex((it) => it > 0);
      const listed = hosts.find((it) => it.host === host);
      if (best >= 0) expect(listed?.best).toBe(best);
      else expect(listed?.best ?? null).toBeNull();
    }
  }
  toString = () => this.how;
}

describe('back queues', () => {
  it('agree with a plain model after any sequence of commits, reads and reopenings', async () => {
    const host = fc.nat({ max: HOSTS.length - 1 });
    const priority = fc.nat({ max: 7 });
    const commands = [
      fc
        .array(fc.record({ host, priority, again: fc.boolean() }), { minLength: 1, maxLength: 6 })
        .map((it) => new Admit(it)),
      fc
        .tuple(
          host,
          fc.array(
            fc.record({
              row: fc.nat({ max: 50 }),
              to: fc.constantFrom('ready', 'waiting', 'parked', null),
              priority,
              dueAtMs: fc.constantFrom(5, 255, 256, 65_536, 2 ** 32 - 1, 2 ** 32, 1_700_000_000_000),
            }),
            { minLength: 1, maxLength: 4 },
          ),
          fc.boolean(),
        )
        .map((it) => new Moves(...it)),
      fc.tuple(host, fc.integer({ min: 1, max: 5 })).map((it) => new Read(...it)),
      fc.constantFrom('close' as const, 'reopen' as const).map((it) => new Reopen(it)),
    ];
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 40 }), async (run) => {
        const files = new MemoryFiles();
        const database = new MemoryLevel<Buffer, Buffer>({
          keyEncoding: 'buffer',
          valueEncoding: 'buffer',
        }) as unknown as Database;
        // A cache of one host: counts come from rows as often as from memory.
        const open = () =>
          openStore({ dir: 'memory', open: () => database, fileSystem: files, warcinfo, cachedHostsMax: 1 });
        await fc.asyncModelRun(async () => ({ model: new Model(), real: { store: await open(), open } }), run);
      }),
      { numRuns: 150, seed: 20 },
    );
  }, 60_000);
});
