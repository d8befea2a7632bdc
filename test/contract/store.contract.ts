/**
 * What every store must do, whatever it stands on: run on LevelDB with real files and on memory with memory files.
 */
import { NO_SETTINGS } from '../../src/domain/crawl-settings.js';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { partitionOf } from '../../src/domain/host.js';
import type { PriorityClass, UrlRecord } from '../../src/domain/record.js';
import type { HostPart } from '../../src/protocols/commit.js';
import type { StorePort } from '../../src/protocols/ports.js';
import { encodeRecord } from '../../src/store/codec.js';
import type { Database } from '../../src/store/database.js';
import * as schema from '../../src/store/schema.js';
import {
  admission,
  hostPart,
  keyOf,
  NO_HEADS,
  pageOf,
  ready,
  recordOf,
  SNAPSHOT,
  seedPart,
  visitPart,
} from '../store/parts.js';

/** One place on a disk, real or not, that outlives the stores opened on it. */
export interface StoreGround {
  open(options?: { archiveBytesMax?: number }): Promise<StorePort>;
  /** The raw database while no store has it open. */
  raw(work: (database: Database) => Promise<void>): Promise<void>;
  /** Ends as kill -9 does, so far as one process can: the store is let go without a word. */
  kill(store: StorePort): Promise<void>;
  size(name: string): Promise<number | null>;
  bytes(name: string): Promise<Buffer>;
  replace(name: string, bytes: Buffer | null): Promise<void>;
  clean(): Promise<void>;
}

const WARC = 'archive/orbweaver-00001.warc.gz';
const CDXJ = 'archive/orbweaver-00001.cdxj';
const PAGES = 'pages.jsonl';

export function storeContract(name: string, makeGround: () => Promise<StoreGround>): void {
  describe(`store on ${name}`, () => {
    let ground: StoreGround;
    let store: StorePort;

    beforeEach(async () => {
      ground = await makeGround();
      store = await ground.open();
    });

    afterEach(async () => {
      await store.close().catch(() => {});
      await ground.clean();
    });

    const again = async (options?: { archiveBytesMax?: number }) => {
      await store.close();
      store = await ground.open(options);
    };
    const lines = async (file: string) => (await ground.bytes(file)).toString().split('\n').slice(0, -1);

    it('D1: settings are in the store with the part that changes them, and only then', async () => {
      const change = { exclusions: ['/x', 'regex:y$'], paused: true, scopeHosts: ['a.test', 'b.test'] };
      await store.commit(1, [{ ...seedPart([admission('http://a.test/', 0)]), settings: change }], true);
      const command = { kind: 'settings', command: 2, result: NO_SETTINGS, admitted: [] } as const;
      await store.commit(2, [{ ...command, settings: { paused: false, scopeHosts: ['c.test'] } }], false);
      await again();
      const { settings } = store.opened();
      expect(settings).toMatchObject({ exclusions: ['/x', 'regex:y$'], paused: false });
      expect(settings.scopeHosts.toSorted()).toEqual(['a.test', 'b.test', 'c.test']);
    });

    it('begins empty, and says so', () => {
      expect(store.opened()).toEqual({
        totals: { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 },
        batch: 0,
        nextSequence: 0,
        settings: NO_SETTINGS,
        redrives: [],
        lastRedrive: 0,
        unclean: false,
        notes: [],
      });
    });

    it('admits into registry and ready queue in one commit, and tells counts, heads and news (D1)', async () => {
      const receipt = await store.commit(
        1,
        [seedPart([admission('http://a.test/1', 10), admission('http://a.test/2', 11)])],
        false,
      );
      expect(receipt.known).toEqual([]);
      expect(receipt.totals).toMatchObject({ urls: 2, ready: 2 });
      expect(receipt.queues).toMatchObject([{ host: 'a.test', ready: [0, 0, 0, 2, 0, 0, 0, 0], news: 3 }]);
      expect(receipt.queues[0]?.heads[3]).toBe(10);
      const { head } = await store.loadHost('a.test', 10);
      expect(head.ready.map((it) => it.record.url)).toEqual(['http://a.test/1', 'http://a.test/2']);
      expect(head).toMatchObject({ readyComplete: true, waitingComplete: true, parkedComplete: true, failure: null });
      expect(await store.readRecord(keyOf('http://a.test/2'), 'a.test')).toEqual(recordOf('http://a.test/2'));
      expect(await store.readRecord(keyOf('http://a.test/3'), 'a.test')).toBeNull();
    });

    it('lists the counts of all hosts in pages, those with nothing queued too', async () => {
      expect(await store.listSummaries(null, 10)).toEqual({ summaries: [], complete: true });
      const urls = ['a', 'b', 'c', 'd', 'e'].map((name) => `http://${name}.test/`);
      await store.commit(1, [seedPart(urls.map((url, i) => admission(url, i + 1)))], false);
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const { summaries, complete } = await store.listSummaries(after, 2);
        expect(summaries.length).toBeLessThanOrEqual(2);
        for (const summary of summaries) expect(summary).toEqual(await store.readSummary(summary.host));
        seen.push(...summaries.map(({ host }) => host));
        after = summaries.at(-1)?.host ?? after;
        if (complete) break;
      }
      expect(seen.toSorted()).toEqual(['a.test', 'b.test', 'c.test', 'd.test', 'e.test']);
      expect((await store.listSummaries(null, 5)).summaries).toHaveLength(5);
    });

    it('tells news only of a class better than any that had rows', async () => {
      const commit = async (batch: number, priority: 1 | 3 | 5) => {
        const receipt = await store.commit(
          batch,
          [seedPart([admission(`http://a.test/${batch}`, batch, { priority })])],
          false,
        );
        return receipt.queues[0]?.news;
      };
      expect(await commit(1, 3)).toBe(3);
      expect(await commit(2, 3)).toBeNull();
      expect(await commit(3, 5)).toBeNull();
      expect(await commit(4, 1)).toBe(1);
    });

    it('asks the registry for ifAbsent admissions, also within one batch', async () => {
      const asks = { ifAbsent: true };
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)])], false);
      const parts = [
        seedPart([admission('http://a.test/1', 2, asks), admission('http://a.test/2', 3, asks)]),
        seedPart([admission('http://a.test/2', 4, asks)]),
      ];
      const receipt = await store.commit(2, parts, false);
      expect(receipt.known).toEqual([keyOf('http://a.test/1'), keyOf('http://a.test/2')]);
      expect(receipt.totals).toMatchObject({ urls: 2, ready: 2 });
      expect((await store.readSummary('a.test'))?.ready[3]).toBe(2);
    });

    it('admits a seed again that was refused without having been asked for, and no other', async () => {
      const [refused, missing, linked] = ['refused', 'missing', 'linked'].map((name) => `http://a.test/${name}`) as [
        string,
        string,
        string,
      ];
      await store.commit(1, [seedPart([refused, missing, linked].map((url, i) => admission(url, i + 1)))], false);
      const attempt = { atMs: 1, outcome: 'refused', code: 'guard_refused', tier: 1, durationMs: 0 } as const;
      const settled = (url: string, sequence: number, status: number | null) => ({
        from: ready(sequence),
        to: null,
        record: { ...recordOf(url), state: 'refused' as const, attempts: [{ ...attempt, status }] },
      });
      const moves = [settled(refused, 1, null), settled(missing, 2, 403), settled(linked, 3, null)];
      await store.commit(2, [hostPart('a.test', { moves })], false);
      const again = [refused, missing].map((url, i) => admission(url, i + 4, { ifAbsent: true }));
      const found = hostPart('a.test', { admitted: [admission(linked, 6, { ifAbsent: true })] });
      const receipt = await store.commit(3, [seedPart(again), found], false);
      expect(receipt.known).toEqual([keyOf(missing), keyOf(linked)]);
      expect(receipt.totals).toMatchObject({ urls: 3, ready: 1 });
      const { head } = await store.loadHost('a.test', 5);
      expect(head.ready.map(({ record }) => [record.url, record.state])).toEqual([[refused, 'queued']]);
    });

    it('P6: a chain of redirects comes back to a URL at rest: the same record, once, and to no other', async () => {
      const [first, login, waiting, fresh] = ['first', 'login', 'waiting', 'fresh'].map(
        (name) => `http://a.test/${name}`,
      ) as [string, string, string, string];
      const cookie = { value: '1', domain: 'a.test', hostOnly: true, path: '/', secure: false, expiresAtMs: null };
      const chainOf = (...urls: string[]) => ({
        steps: urls.map((url, cookies) => ({ key: keyOf(url), cookies })),
        cookies: [{ name: 's', ...cookie }],
      });
      const back = (url: string, sequence: number, chain: UrlRecord['chain']) => {
        const found = recordOf(url, { source: 'redirect', via: login, hopPath: 'RR', depth: 0, priority: 1, chain });
        return { record: found, sequence, ifAbsent: true };
      };
      const known = { state: 'redirected', depth: 4, hopPath: 'LLLL', etag: '"1"', digest: 'sha1:X' } as const;
      const moves = [{ from: ready(1), to: null, record: recordOf(first, known) }];
      await store.commit(1, [seedPart([first, login, waiting].map((url, i) => admission(url, i + 1)))], false);
      await store.commit(2, [hostPart('a.test', { moves })], false);
      const settled = { from: ready(2), to: null, record: recordOf(login, { state: 'redirected' }) };
      const chain = chainOf(first, login, first);
      const admitted = [
        back(first, 4, chain),
        // Once in a commit; not what stands in the queue; not what the chain has never been at.
        back(first, 5, chain),
        back(waiting, 6, chainOf(waiting, login, waiting)),
        back(login, 7, chainOf(first, login)),
        back(fresh, 8, chainOf(first, fresh)),
      ];
      const receipt = await store.commit(3, [hostPart('a.test', { moves: [settled], admitted })], true);
      expect(receipt.known).toEqual([first, waiting, login].map(keyOf));
      expect(receipt.totals).toMatchObject({ urls: 4, ready: 3 });
      await again();
      const { head } = await store.loadHost('a.test', 9);
      expect(head.ready.map(({ at, record }) => [at.sequence, record.url, record.chain])).toEqual([
        [4, first, chain],
        [8, fresh, chainOf(first, fresh)],
        [3, waiting, null],
      ]);
      const { via, depth, hopPath, etag, state } = head.ready[0]?.record ?? recordOf(first);
      expect({ via, depth, hopPath, etag, state }).toEqual({
        ...{ via: null, depth: 4, hopPath: 'LLLL', etag: '"1"', state: 'queued' },
      });
    });

    it('P4: blocked rows are counted apart, keep their order, and go back to ready', async () => {
      const blocked = (path: string, sequence: number) => {
        const { record, ...rest } = admission(`http://a.test/${path}`, sequence);
        return { ...rest, record: { ...record, state: 'blocked_by_robots' as const } };
      };
      const first = await store.commit(1, [seedPart([blocked('1', 1), blocked('2', 2), blocked('3', 3)])], true);
      expect(first.totals).toMatchObject({ urls: 3, ready: 0, waiting: 0, parked: 0 });
      expect(first.queues[0]).toMatchObject({ blocked: 3, news: null });
      expect((await store.listHosts(null, 5)).hosts).toEqual([{ host: 'a.test', best: null, wakeAtMs: null }]);
      await again();
      const read = async (from: number, limit: number) => {
        const { rows } = await store.readBlocked('a.test', from, limit);
        return [rows.entries.map(({ at }) => at.sequence), rows.complete];
      };
      expect(await read(0, 2)).toEqual([[1, 2], false]);
      expect(await read(3, 2)).toEqual([[3], true]);
      expect(await read(4, 2)).toEqual([[], true]);
      expect((await store.loadHost('a.test', 5)).summary?.blocked).toBe(3);
      const { rows } = await store.readBlocked('a.test', 2, 1);
      const record = { ...(rows.entries[0]?.record ?? recordOf('http://a.test/2')), state: 'queued' as const };
      const to = { queue: 'ready', priority: record.priority, sequence: 2 } as const;
      const snapshot = { ...SNAPSHOT, recheckFrom: 3 };
      const part = hostPart('a.test', { snapshot, moves: [{ from: { queue: 'blocked', sequence: 2 }, to, record }] });
      const moved = await store.commit(2, [part], false);
      expect(moved.queues[0]).toMatchObject({ blocked: 2, news: record.priority });
      expect(moved.totals.ready).toBe(1);
      const loaded = await store.loadHost('a.test', 5);
      expect(loaded.snapshot?.recheckFrom).toBe(3);
      expect(loaded.head.ready.map(({ at }) => at.sequence)).toEqual([2]);
      expect(await read(0, 5)).toEqual([[1, 3], true]);
    });

    it('moves rows between ready, waiting and parked, and out', async () => {
      const url = 'http://a.test/1';
      await store.commit(1, [seedPart([admission(url, 1)])], false);
      const move = (batch: number, from: HostPart['moves'][0]['from'], to: HostPart['moves'][0]['to']) =>
        store.commit(
          batch,
          [hostPart('a.test', { moves: [{ from, to, record: recordOf(url) }], wakeAtMs: 99 })],
          false,
        );
      const waiting = { queue: 'waiting', dueAtMs: 1_700_000_000_123, sequence: 1 } as const;
      const parked = { queue: 'parked', sequence: 1 } as const;
      expect((await move(2, ready(1), waiting)).totals).toMatchObject({ ready: 0, waiting: 1, parked: 0 });
      expect((await store.loadHost('a.test', 5)).head.waiting).toEqual([{ at: waiting, record: recordOf(url) }]);
      expect((await move(3, waiting, parked)).totals).toMatchObject({ ready: 0, waiting: 0, parked: 1 });
      expect((await store.loadHost('a.test', 5)).head.parked).toEqual([{ at: parked, record: recordOf(url) }]);
      expect((await move(4, parked, ready(1))).queues[0]).toMatchObject({ news: 3, wakeAtMs: 99 });
      expect((await move(5, ready(1), ready(1))).totals).toMatchObject({ ready: 1, waiting: 0, parked: 0 });
      expect((await move(6, ready(1), null)).totals).toMatchObject({ urls: 1, ready: 0, waiting: 0, parked: 0 });
      expect((await store.loadHost('a.test', 5)).head.ready).toEqual([]);
    });

    it('reads heads with a limit, the best class first, from cursors', async () => {
      const urls = [1, 2, 3, 4, 5].map((i) => admission(`http://a.test/${i}`, i, { priority: i % 2 === 0 ? 2 : 4 }));
      await store.commit(1, [seedPart(urls)], false);
      const sequences = async (from: readonly number[], limit: number) => {
        const { head } = await store.readQueue('a.test', from, limit);
        return [head.ready.map((it) => it.at.sequence), head.readyComplete];
      };
      expect(await sequences(NO_HEADS, 10)).toEqual([[2, 4, 1, 3, 5], true]);
      expect(await sequences(NO_HEADS, 3)).toEqual([[2, 4, 1], false]);
      // A cursor is a lower bound. One that is too high hides nothing, as fewer rows follow it than are counted.
      expect(await sequences([0, 0, 3, 0, 2, 0, 0, 0], 10)).toEqual([[2, 4, 1, 3, 5], true]);
    });

    it('lists hosts that have work, in pages', async () => {
      const hosts = Array.from({ length: 7 }, (_, i) => `h${i}.test`);
      await store.commit(1, [seedPart(hosts.map((it, i) => admission(`http://${it}/`, i)))], false);
      const to = { queue: 'waiting', dueAtMs: 50, sequence: 0 } as const;
      const record = recordOf('http://h0.test/');
      await store.commit(2, [hostPart('h0.test', { moves: [{ from: ready(0), to, record }], wakeAtMs: 50 })], false);
      await store.commit(3, [visitPart('http://h1.test/', 1)], false);
      await again();
      const listed: string[] = [];
      let after: string | null = null;
      for (let complete = false; !complete; ) {
        const page = await store.listHosts(after, 2);
        expect(page.failure).toBeNull();
        listed.push(...page.hosts.map((it) => it.host));
        after = page.hosts.at(-1)?.host ?? after;
        complete = page.complete;
        for (const it of page.hosts)
          expect([it.best, it.wakeAtMs]).toEqual(it.host === 'h0.test' ? [null, 50] : [3, null]);
      }
      expect(listed.sort()).toEqual(hosts.filter((it) => it !== 'h1.test'));
    });

    it('gives every key of the registry', async () => {
      const urls = ['http://a.test/', 'http://b.test/', 'http://c.test/x'];
      await store.commit(1, [seedPart(urls.map((it, i) => admission(it, i)))], false);
      const keys: string[] = [];
      await store.eachKey((key) => keys.push(key));
      expect(keys.sort()).toEqual(urls.map(keyOf).sort());
    });

    it('keeps snapshots, sequences, totals and counts over a stop', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 41), admission('http://a.test/2', 42)])], false);
      await store.commit(2, [visitPart('http://a.test/1', 41)], true);
      const totals = { urls: 2, ready: 1, waiting: 0, parked: 0, dead: 0, pages: 1 };
      await again();
      expect(store.opened()).toEqual({
        totals,
        batch: 2,
        nextSequence: 43,
        settings: NO_SETTINGS,
        redrives: [],
        lastRedrive: 0,
        unclean: false,
        notes: [],
      });
      const loaded = await store.loadHost('a.test', 5);
      expect(loaded.snapshot).toEqual(SNAPSHOT);
      expect(loaded.summary?.ready[3]).toBe(1);
      expect(loaded.head.ready.map((it) => it.at.sequence)).toEqual([42]);
    });

    it('appends archive, index and page line at the offsets it says', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1), admission('http://a.test/2', 2)])], false);
      await store.commit(2, [visitPart('http://a.test/1', 1), visitPart('http://a.test/2', 2)], false);
      const warc = await ground.bytes(WARC);
      expect(gunzipSync(warc).toString()).toMatch(
        /^WARC\/1\.1\r\nWARC-Type: warcinfo\r\n[\s\S]*WARC-Filename: orbweaver-00001\.warc\.gz\r\n/,
      );
      const pages = (await lines(PAGES)).map((it) => JSON.parse(it));
      const index = (await lines(CDXJ)).map((it) => JSON.parse(it.slice(it.indexOf('{'))));
      expect(pages).toHaveLength(2);
      pages.forEach((page, i) => {
        const { type, file, offset, length } = page.warc;
        expect([type, file]).toEqual(['response', WARC]);
        expect(gunzipSync(warc.subarray(offset, offset + length)).toString()).toMatch(
          new RegExp(`^WARC/1.1\r\nWARC-Type: response\r\n[\\s\\S]*WARC-Target-URI: http://a.test/${i + 1}\r\n`),
        );
        expect(index[i]).toMatchObject({
          offset: String(offset),
          length: String(length),
          filename: 'orbweaver-00001.warc.gz',
        });
      });
      expect((await lines(CDXJ))[0]).toMatch(/^test,a\)\/1 20240102030405 \{/);
    });

    it('begins a new archive file before one grows beyond its bound (n and n+1)', async () => {
      const part = visitPart('http://a.test/1', 1);
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)]), part], false);
      const size = (await ground.size(WARC)) as number;
      const next = visitPart('http://a.test/2', 2);
      const room = next.archive?.records.bytes.length as number;
      await again({ archiveBytesMax: size + room });
      await store.commit(2, [seedPart([admission('http://a.test/2', 2)]), next], false);
      expect(await ground.size(WARC)).toBe(size + room);
      expect(await ground.size('archive/orbweaver-00002.warc.gz')).toBeNull();
      const third = visitPart('http://a.test/3', 3);
      await again({ archiveBytesMax: size + room + (third.archive?.records.bytes.length as number) - 1 });
      await store.commit(3, [seedPart([admission('http://a.test/3', 3)]), third], false);
      expect(await ground.size(WARC)).toBe(size + room);
      expect(gunzipSync(await ground.bytes('archive/orbweaver-00002.warc.gz')).toString()).toContain(
        'WARC-Filename: orbweaver-00002',
      );
      await again({ archiveBytesMax: 1 });
      expect(store.opened().notes).toEqual([]);
    });

    it('counts dead letters once a key, and pages by lines', async () => {
      const url = 'http://a.test/1';
      const letter = {
        url,
        key: keyOf(url),
        host: 'a.test',
        cause: 'gave up',
        code: 'timeout',
        deliveries: 8,
        firstAtMs: 1,
        lastAtMs: 2,
        attempts: [],
      } as const;
      await store.commit(1, [seedPart([admission(url, 1)])], false);
      const buried = await store.commit(
        2,
        [
          hostPart('a.test', {
            moves: [{ from: ready(1), to: null, record: recordOf(url, { state: 'dead' }) }],
            dead: [letter],
          }),
        ],
        false,
      );
      expect(buried.totals.dead).toBe(1);
      expect(await store.readDead(keyOf(url), 'a.test')).toEqual(letter);
      expect(await store.readDead(keyOf(url), 'b.test')).toBeNull();
      expect(await store.readDead(keyOf('http://a.test/2'), 'a.test')).toBeNull();
      const page = await store.listDead(null, 1);
      expect(page.letters).toEqual([letter]);
      expect(await store.listDead(page.next, 1)).toEqual({ letters: [], next: null });
      expect(await store.listDead(null, 2)).toEqual({ letters: [letter], next: null });
      expect(
        (await store.commit(3, [hostPart('a.test', { dead: [letter], page: pageOf(url) })], false)).totals,
      ).toMatchObject({ dead: 1, pages: 1 });
    });

    it('tells where a URL stands: behind better classes, by sequence, and up to a bound', async () => {
      const urls = [1, 2, 3].map((number) => `http://a.test/${number}`);
      const admitted = urls.map((url, index) => admission(url, index + 10));
      await store.commit(1, [seedPart([admission('http://a.test/0', 5, { priority: 1 }), ...admitted])], false);
      const last = recordOf('http://a.test/3');
      expect(await store.readStanding(last, 3)).toEqual({ at: ready(12), before: 3 });
      expect(await store.readStanding(last, 2)).toEqual({ at: null, before: 3 });
      expect(await store.readStanding(recordOf('http://a.test/4'), 9)).toBeNull();
      expect(await store.readStanding(recordOf('http://b.test/'), 9)).toBeNull();

      const to = { queue: 'waiting', dueAtMs: 1_700_000_000_000, sequence: 12 } as const;
      const waiting = recordOf('http://a.test/3', { state: 'waiting' });
      await store.commit(2, [hostPart('a.test', { moves: [{ from: ready(12), to, record: waiting }] })], false);
      expect(await store.readStanding(waiting, 9)).toEqual({ at: to, before: 0 });
      expect(await store.readStanding(last, 9)).toBeNull();
      expect(await store.readStanding(recordOf('http://a.test/3', { state: 'active' }), 9)).toBeNull();
    });

    it('keeps what the last run was told', async () => {
      expect(await store.lastRun()).toBeNull();
      await store.noteRun('{"a":1}');
      await store.noteRun('{"a":2}');
      await ground.kill(store);
      store = await ground.open();
      expect(await store.lastRun()).toBe('{"a":2}');
    });

    it('says that the last process did not stop (D2), and loses nothing that was acknowledged (D1)', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)])], false);
      await ground.kill(store);
      store = await ground.open();
      expect(store.opened()).toMatchObject({ unclean: true, batch: 1, nextSequence: 2 });
      expect((await store.loadHost('a.test', 5)).head.ready).toHaveLength(1);
      await again();
      expect(store.opened().unclean).toBe(false);
    });

    it('cuts what no commit vouches for off the files (D4)', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)]), visitPart('http://a.test/1', 1)], false);
      await ground.kill(store);
      const whole = new Map<string, Buffer>();
      for (const file of [WARC, CDXJ, PAGES]) {
        whole.set(file, await ground.bytes(file));
        await ground.replace(file, Buffer.concat([whole.get(file) as Buffer, Buffer.from('half a rec')]));
      }
      store = await ground.open();
      expect(store.opened().notes).toHaveLength(3);
      for (const [file, bytes] of whole) expect((await ground.bytes(file)).equals(bytes)).toBe(true);
    });

    it('queues again the visits whose unsynced bytes are lost, files whole to one batch (D7)', async () => {
      await store.commit(1, [seedPart([1, 2, 3].map((i) => admission(`http://a.test/${i}`, i)))], true);
      await store.commit(2, [visitPart('http://a.test/1', 1)], true);
      const good = await Promise.all([WARC, CDXJ, PAGES].map((it) => ground.bytes(it)));
      await store.commit(3, [visitPart('http://a.test/2', 2)], false);
      await store.commit(4, [visitPart('http://a.test/3', 3)], false);
      await ground.kill(store);
      // The archive lost a byte of batch 3, the other files nothing: all go back to batch 2.
      const cut = (await ground.bytes(WARC)).subarray(0, (good[0] as Buffer).length + 10);
      await ground.replace(WARC, cut);
      store = await ground.open();
      expect(store.opened().notes.join()).toContain('2 visits are queued again');
      expect(store.opened()).toMatchObject({ batch: 4, nextSequence: 6, totals: { ready: 2, pages: 1 } });
      const { head } = await store.loadHost('a.test', 9);
      expect(head.ready.map((it) => it.record.url).sort()).toEqual(['http://a.test/2', 'http://a.test/3']);
      // No validators: a 304 would leave the body lost.
      expect(head.ready.every((it) => it.record.etag === null && it.record.state === 'queued')).toBe(true);
      const now = await Promise.all([WARC, CDXJ, PAGES].map((it) => ground.bytes(it)));
      now.forEach((bytes, i) => expect(bytes.equals(good[i] as Buffer)).toBe(true));
      await again();
      expect(store.opened().notes).toEqual([]);
    });

    it.each([undefined, 0x0a])('takes zeros in the tail for what they are, last byte %s (D7)', async (lastByte) => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)]), visitPart('http://a.test/1', 1)], false);
      await ground.kill(store);
      const bytes = await ground.bytes(PAGES);
      const zeros = Buffer.alloc(bytes.length);
      if (lastByte !== undefined) zeros[zeros.length - 1] = lastByte;
      await ground.replace(PAGES, zeros);
      store = await ground.open();
      expect((await store.loadHost('a.test', 9)).head.ready).toHaveLength(1);
      expect(await ground.size(PAGES)).toBe(0);
      expect(await ground.size(WARC)).toBe(0);
      await store.commit(2, [visitPart('http://a.test/1', 2)], false);
      expect(gunzipSync(await ground.bytes(WARC)).toString()).toContain('warcinfo');
    });

    it('D1: closing waits for the commit that is being written', async () => {
      const written = store.commit(1, [seedPart([admission('http://a.test/1', 1)])], false);
      await store.close();
      expect((await written).totals).toMatchObject({ ready: 1 });
      store = await ground.open();
      expect(store.opened()).toMatchObject({ unclean: false, notes: [], totals: { ready: 1 } });
    });

    it.each([WARC, PAGES])('queues again what a damaged %s lost beyond the last sync', async (file) => {
      await store.commit(1, [seedPart([1, 2, 3].map((i) => admission(`http://a.test/${i}`, i)))], true);
      for (const i of [1, 2, 3]) await store.commit(i + 1, [visitPart(`http://a.test/${i}`, i)], true);
      await store.close();
      const bytes = await ground.bytes(file);
      await ground.replace(file, bytes.subarray(0, bytes.length - 5));
      store = await ground.open();
      expect(store.opened().notes.join()).toContain('1 visits are queued again');
      const { head } = await store.loadHost('a.test', 9);
      expect(head.ready.map((it) => it.record.url)).toEqual(['http://a.test/3']);
      expect(await lines(PAGES)).toHaveLength(2);
      expect(store.opened().totals).toMatchObject({ ready: 1, pages: 2 });
      const next = head.ready[0]?.at.sequence as number;
      await store.commit(5, [visitPart('http://a.test/3', next)], true);
      await again();
      expect(store.opened()).toMatchObject({ notes: [], totals: { ready: 0, pages: 3 } });
      const members = gunzipSync(await ground.bytes(WARC)).toString();
      expect(members.match(/WARC-Type: response\r\n/g)).toHaveLength(3);
      expect(members).toContain('\r\n\r\nbody of http://a.test/3\r\n');
    });

    it.each(['{not json', 'null', '7'])('repairs an archive beside a page line that is %s', async (garbage) => {
      await store.commit(1, [seedPart([1, 2, 3].map((i) => admission(`http://a.test/${i}`, i)))], true);
      for (const i of [1, 2, 3]) await store.commit(i + 1, [visitPart(`http://a.test/${i}`, i)], true);
      await store.close();
      const pages = (await ground.bytes(PAGES)).toString().split('\n');
      pages[1] = garbage.padEnd((pages[1] as string).length);
      await ground.replace(PAGES, Buffer.from(pages.join('\n')));
      await ground.replace(WARC, (await ground.bytes(WARC)).subarray(0, 10));
      store = await ground.open();
      const { head } = await store.loadHost('a.test', 9);
      expect(head.ready.map((it) => it.record.url).sort()).toEqual([1, 2, 3].map((i) => `http://a.test/${i}`));
      expect(store.opened().totals).toMatchObject({ ready: 3, pages: 0 });
    });

    it('makes a damaged index anew from its archive, and says so', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)]), visitPart('http://a.test/1', 1)], true);
      await store.close();
      const bytes = await ground.bytes(CDXJ);
      for (const damaged of [bytes.subarray(0, 20), null]) {
        await ground.replace(CDXJ, damaged);
        store = await ground.open();
        expect(store.opened().notes.join()).toContain('made anew from its archive: 1 lines');
        expect(await ground.bytes(CDXJ)).toEqual(bytes);
        await store.close();
      }
      store = await ground.open();
      expect(store.opened().notes).toEqual([]);
    });

    it('sets a poison record aside, counts its row out, and goes on (D6)', async () => {
      await store.commit(1, [seedPart([1, 2].map((i) => admission(`http://a.test/${i}`, i)))], true);
      await store.close();
      const partition = partitionOf('a.test');
      const rowKey = schema.registryKey(partition, keyOf('http://a.test/1'));
      await ground.raw((database) => database.put(rowKey, Buffer.from([0x93, 1, 2])));
      store = await ground.open();
      const { head } = await store.loadHost('a.test', 5);
      expect(head.notes.join()).toContain('set aside');
      expect(head.ready.map((it) => it.record.url)).toEqual(['http://a.test/2']);
      const receipt = await store.commit(2, [hostPart('a.test')], false);
      expect(receipt.totals).toMatchObject({ urls: 1, ready: 1 });
      expect(receipt.queues[0]?.ready[3]).toBe(1);
      expect((await store.loadHost('a.test', 5)).head).toMatchObject({ notes: [], failure: null });
      await store.close();
      await ground.raw(async (database) => {
        expect(await database.get(rowKey)).toBeUndefined();
        expect(await database.get(schema.poisonKey(rowKey))).toBeDefined();
      });
      store = await ground.open();
    });

    it('refuses a record of another host as poison (D6)', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)])], true);
      await store.close();
      const rowKey = schema.registryKey(partitionOf('a.test'), keyOf('http://a.test/1'));
      await ground.raw((database) => database.put(rowKey, encodeRecord(recordOf('http://evil.test/'))));
      store = await ground.open();
      expect((await store.loadHost('a.test', 5)).head.ready).toEqual([]);
    });

    it('counts a host anew whose summary is poison, and forgets a poison snapshot (D6)', async () => {
      await store.commit(
        1,
        [seedPart([1, 2].map((i) => admission(`http://a.test/${i}`, i))), hostPart('a.test')],
        true,
      );
      await store.close();
      const partition = partitionOf('a.test');
      await ground.raw(async (database) => {
        await database.put(schema.summaryKey(partition, 'a.test'), Buffer.from('rubbish'));
        await database.put(schema.snapshotKey(partition, 'a.test'), Buffer.from('rubbish'));
      });
      store = await ground.open();
      const listed = await store.listHosts(null, 10);
      expect(listed.hosts).toEqual([{ host: 'a.test', best: 3, wakeAtMs: null }]);
      expect(listed.notes.join()).toContain('set aside');
      const loaded = await store.loadHost('a.test', 5);
      expect(loaded.snapshot).toBeNull();
      expect(loaded.head.ready).toHaveLength(2);
      await store.commit(2, [seedPart([admission('http://b.test/', 3)])], false);
      expect((await store.readSummary('a.test'))?.ready[3]).toBe(2);
      expect((await store.loadHost('a.test', 5)).head).toMatchObject({ notes: [], failure: null });
    });

    it('reads beside commits: each answer is of one moment, and no count is doubted', async () => {
      const suspicious: string[] = [];
      for (let batch = 1; batch <= 40; batch++) {
        // Each batch brings rows of a class that was empty, so that counts from before it would pass them over.
        const part = seedPart([admission(`http://a.test/${batch}`, batch, { priority: (batch % 8) as PriorityClass })]);
        const reads: Promise<unknown>[] = [];
        let isWritten = false;
        const commit = store.commit(batch, [part], false).then(() => (isWritten = true));
        while (!isWritten) {
          const loading = store.loadHost('a.test', 100).then(({ head, summary }) => {
            suspicious.push(...head.notes);
            const counted = summary?.ready.reduce((sum, it) => sum + it, 0) ?? 0;
            expect(head.ready.length).toBeGreaterThanOrEqual(counted);
          });
          reads.push(loading);
          await Promise.race([commit, new Promise((resolve) => setImmediate(resolve))]);
        }
        await Promise.all([commit, ...reads]);
        expect((await store.loadHost('a.test', 100)).head.ready).toHaveLength(batch);
      }
      expect(suspicious).toEqual([]);
    });

    it('finds rows below a head that was claimed too high, and counts never go below zero', async () => {
      await store.commit(1, [seedPart([1, 2].map((i) => admission(`http://a.test/${i}`, i)))], false);
      const heads = [0, 0, 0, 1000, 0, 0, 0, 0];
      await store.commit(2, [hostPart('a.test', { heads })], false);
      expect((await store.loadHost('a.test', 5)).head.ready).toHaveLength(2);
      const ghosts = [7, 8, 9].map((i) => ({ from: ready(i), to: null, record: recordOf(`http://a.test/${i}`) }));
      const receipt = await store.commit(3, [hostPart('a.test', { moves: ghosts })], false);
      expect(receipt.queues[0]?.ready[3]).toBe(2);
      expect(receipt.totals.ready).toBe(2);
    });

    it('moves a head down to what is inserted below it in the same batch, whatever the host claims', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/20', 20)])], false);
      const heads = [0, 0, 0, 20, 0, 0, 0, 0];
      const admitted = [admission('http://a.test/12', 12)];
      const receipt = await store.commit(2, [hostPart('a.test', { heads, admitted })], false);
      expect(receipt.queues[0]?.heads[3]).toBe(12);
      await again();
      expect(store.opened().nextSequence).toBe(21);
    });

    it('keeps what it knows of unsynced bytes only until a sync commit vouches for them', async () => {
      const unsynced = async () => {
        await ground.kill(store);
        let rows = 0;
        await ground.raw(async (database) => {
          rows = (await database.keys(schema.kindRange(schema.KIND.unsynced)).all()).length;
        });
        store = await ground.open();
        return rows;
      };
      await store.commit(1, [seedPart([1, 2, 3].map((i) => admission(`http://a.test/${i}`, i)))], false);
      await store.commit(2, [visitPart('http://a.test/1', 1)], false);
      await store.commit(3, [visitPart('http://a.test/2', 2)], false);
      expect(await unsynced()).toBe(2);
      await store.commit(4, [visitPart('http://a.test/3', 3)], true);
      expect(await unsynced()).toBe(0);
    });

    it('writes over what a batch that never came to be left in the next archive file (D4)', async () => {
      const next = 'archive/orbweaver-00002.warc.gz';
      await store.commit(
        1,
        [seedPart([1, 2].map((i) => admission(`http://a.test/${i}`, i))), visitPart('http://a.test/1', 1)],
        true,
      );
      await store.close();
      await ground.replace(next, Buffer.alloc(100_000, 7));
      store = await ground.open({ archiveBytesMax: 1 });
      await store.commit(2, [visitPart('http://a.test/2', 2)], false);
      expect(gunzipSync(await ground.bytes(next)).toString()).toContain('body of http://a.test/2');
      expect(await ground.size(next)).toBeLessThan(2_500);
    });

    it('refuses a newer schema with a clear message (D5)', async () => {
      await store.close();
      await ground.raw(async (database) => {
        const value = Buffer.from((await database.get(schema.META.schema)) as Buffer);
        value[value.length - 1] = schema.SCHEMA_VERSION + 1;
        await database.put(schema.META.schema, value);
      });
      await expect(ground.open()).rejects.toMatchObject({ code: 'store_newer_schema' });
    });

    it('never starts empty beside old files (F03)', async () => {
      await store.commit(1, [seedPart([admission('http://a.test/1', 1)]), visitPart('http://a.test/1', 1)], true);
      await store.close();
      await ground.raw(async (database) => database.clear());
      const before = await ground.size(PAGES);
      await expect(ground.open()).rejects.toMatchObject({ code: 'store_corrupt' });
      expect(await ground.size(PAGES)).toBe(before);
    });

    it('takes one commit at a time, and none after close', async () => {
      const first = store.commit(1, [seedPart([admission('http://a.test/1', 1)])], false);
      await expect(store.commit(2, [], false)).rejects.toThrow('one commit at a time');
      await first;
      await store.close();
      await expect(store.commit(3, [], false)).rejects.toMatchObject({ code: 'store_io' });
      expect((await store.loadHost('a.test', 1)).head.failure).toContain('closed');
    });

    it('answers the newest batch again and does not write it again (D2)', async () => {
      const parts = [
        seedPart([admission('http://a.test/1', 1)]),
        hostPart('a.test', { page: pageOf('http://a.test/1') }),
      ];
      await store.commit(4, parts, false);
      const bytes = await ground.size(PAGES);
      const again = await store.commit(4, parts, false);
      expect(again.totals).toMatchObject({ urls: 1, ready: 1, pages: 1 });
      expect(again.queues).toMatchObject([{ host: 'a.test', news: 3 }]);
      expect((await store.commit(4, [], true)).queues).toEqual([]);
      expect(await ground.size(PAGES)).toBe(bytes);
      expect((await store.commit(5, [], false)).totals.urls).toBe(1);
    });

    it('counts a death of the process against URLs that are still queued, and no others', async () => {
      const [one, two] = [1, 2].map((i) => `http://a.test/${i}`);
      await store.commit(1, [seedPart([admission(one as string, 1), admission(two as string, 2)])], false);
      await store.commit(2, [visitPart(two as string, 2)], false);
      const urls = [one, two, 'http://a.test/never'].map((url) => ({ key: keyOf(url as string), host: 'a.test' }));
      expect((await store.countDeaths(urls)).map(({ url, processDeaths }) => [url, processDeaths])).toEqual([[one, 1]]);
      await store.countDeaths(urls);
      const { head } = await store.loadHost('a.test', 5);
      expect(head.ready.map(({ record }) => record.processDeaths)).toEqual([2]);
    });

    it('refuses a batch that is older than the newest (D2)', async () => {
      await store.commit(4, [], false);
      await expect(store.commit(3, [], false)).rejects.toThrow('batch 3 after batch 4');
    });

    it('leaves the store as it was when a part can not be written', async () => {
      const broken = { ...admission('http://a.test/1', 1), sequence: -1 };
      await expect(store.commit(1, [seedPart([broken])], false)).rejects.toThrow('no place in a key');
      expect((await store.commit(1, [seedPart([admission('http://a.test/1', 1)])], false)).totals.urls).toBe(1);
    });
  });
}
