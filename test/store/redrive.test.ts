/** R1, D1: redrives in the store, on memory and on a real LevelDB. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack, unpack } from 'msgpackr';
import { afterAll, describe, expect, it } from 'vitest';
import type { Redrive } from '../../src/domain/redrive.js';
import type { Part, RedrivePart } from '../../src/protocols/commit.js';
import type { StorePort } from '../../src/protocols/ports.js';
import { begun } from '../../src/policy/redrive.js';
import { queuedAgain } from '../../src/policy/history.js';
import * as codec from '../../src/store/codec.js';
import { openStore } from '../../src/store/store.js';
import { admission, hostPart, keyOf, NO_HEADS, ready, recordOf, seedPart } from './parts.js';

const folder = mkdtempSync(join(tmpdir(), 'orbweaver-redrive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOST = 'a.test';
const ALL = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null };
const WISH = { filter: ALL, rate: null, way: 'command', who: 'me', matched: 3, untilMs: 1e15 } as const;
const urlOf = (i: number) => `http://${HOST}/${i}`;
const deadRecord = (i: number) => recordOf(urlOf(i), { state: 'dead', deliveries: 8 });

function open(dir: string): Promise<StorePort> {
  return openStore({ dir, warcinfo: () => new Uint8Array(0) });
}

/** A store with so many dead letters, and one URL that is queued. */
async function withDead(name: string, count: number): Promise<StorePort> {
  const store = await open(join(folder, name));
  const urls = Array.from({ length: count }, (_, i) => urlOf(i));
  await store.commit(1, [seedPart([...urls, urlOf(999)].map((url, i) => admission(url, i)))], false);
  const moves = urls.map((_, i) => ({ from: ready(i), to: null, record: deadRecord(i) }));
  const dead = urls.map((url, i) => ({
    ...{ url, key: keyOf(url), host: HOST, cause: 'timeout', code: 'timeout' as const, deliveries: 8 },
    ...{ firstAtMs: 1, lastAtMs: 100 + i, attempts: [] },
  }));
  await store.commit(2, [hostPart(HOST, { moves, dead, heads: NO_HEADS })], false);
  return store;
}

function redrivePart(redrive: Redrive, which: readonly number[], from = 100): RedrivePart {
  const admitted = which.map((i) => ({
    record: queuedAgain(deadRecord(i), deadRecord(i)),
    sequence: from + i,
    ifAbsent: true,
  }));
  const lines = which.map((i) => ({ url: urlOf(i), key: keyOf(urlOf(i)), reason: null }));
  return { kind: 'redrive', command: 1, redrive, lines, admitted, settings: null };
}

describe('R1 a redrive in the store', () => {
  it('letters go, records are queued and the audit stands in one commit; counts are of what entered', async () => {
    const store = await withDead('one', 3);
    expect(store.opened().lastRedrive).toBe(0);
    const receipt = await store.commit(3, [redrivePart({ ...begun(WISH, 1, 5), stage: 'done' }, [0, 2])], false);
    expect(receipt.redrives).toMatchObject([{ number: 1, stage: 'done', queued: 2, blocked: 0 }]);
    expect(receipt.totals).toMatchObject({ dead: 1, ready: 3, urls: 4 });
    expect(await store.readDead(keyOf(urlOf(0)), HOST)).toBeNull();
    expect(await store.readDead(keyOf(urlOf(1)), HOST)).not.toBeNull();
    expect(await store.readRecord(keyOf(urlOf(2)), HOST)).toMatchObject({ state: 'queued', deliveries: 0 });
    expect(await store.listRedrives(null, 10)).toEqual(receipt.redrives);
    await store.close();
  });

  it('D2: what is no dead letter any more is known, and is neither queued twice nor counted', async () => {
    const store = await withDead('twice', 2);
    const both: Part[] = [redrivePart(begun(WISH, 1, 5), [0]), redrivePart(begun(WISH, 2, 5), [0, 1], 200)];
    const receipt = await store.commit(3, both, false);
    expect(receipt.redrives?.map(({ queued }) => queued)).toEqual([1, 1]);
    expect(receipt.known).toEqual([keyOf(urlOf(0))]);
    expect(receipt.totals).toMatchObject({ dead: 0, ready: 3 });
    const again = await store.commit(4, [redrivePart(begun(WISH, 3, 5), [0, 1], 300)], false);
    expect(again.redrives).toMatchObject([{ queued: 0 }]);
    expect(again.totals).toMatchObject({ dead: 0, ready: 3 });
    await store.close();
  });

  it('D1: the next opening tells what still goes on, as it was stored, and the number of the newest', async () => {
    const rate = { letters: 10, perMs: 1_000 };
    const going: Redrive = { ...begun({ ...WISH, rate }, 4, 5), after: '00ff', dueAtMs: 77, left: { excluded: 2 } };
    const store = await withDead('opening', 2);
    await store.commit(
      3,
      [redrivePart(going, [0]), redrivePart({ ...begun(WISH, 5, 6), stage: 'cancelled' }, [])],
      true,
    );
    await store.close();
    const next = await open(join(folder, 'opening'));
    expect(next.opened()).toMatchObject({ redrives: [{ ...going, queued: 1 }], lastRedrive: 5 });
    expect((await next.listRedrives(5, 10)).map(({ number }) => number)).toEqual([4]);
    expect((await next.listRedrives(null, 1)).map(({ number }) => number)).toEqual([5]);
    await next.close();
  });

  it('a batch in doubt that is there already says how far its redrive has come', async () => {
    const store = await withDead('doubt', 1);
    const part = redrivePart(begun(WISH, 1, 5), [0]);
    const first = await store.commit(3, [part], false);
    const again = await store.commit(3, [part], false);
    expect(again.redrives).toEqual(first.redrives);
    await store.close();
  });

  it('pages of any size bring each letter that is meant once, and end', async () => {
    const store = await withDead('pages', 23);
    const filter = { ...ALL, sinceMs: 105 };
    for (const limit of [1, 4, 500]) {
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page = await store.readRedrivable({ filter, untilMs: 120, after, limit });
        expect(page.letters.length).toBeLessThanOrEqual(limit);
        for (const { letter, record } of page.letters) {
          expect(record).toMatchObject({ url: letter.url, state: 'dead' });
          seen.push(letter.url);
        }
        after = page.next;
        if (after === null) break;
      }
      expect(seen.sort()).toEqual(Array.from({ length: 15 }, (_, i) => urlOf(i + 5)).sort());
    }
    await store.close();
  });
});

describe('D6 the row of a redrive', () => {
  const whole: Redrive = {
    ...begun({ ...WISH, rate: { letters: 3, perMs: 60_000 }, filter: { ...ALL, host: HOST, code: 'timeout' } }, 9, 5),
    ...{ after: 'ab', left: { excluded: 2, queued_already: 1 }, queued: 3, blocked: 1 },
  };

  it('is read as it was written', () => {
    expect(codec.decodeRedrive(codec.encodeRedrive(whole), 9)).toEqual(whole);
    const bare = begun(WISH, 1, 5);
    expect(codec.decodeRedrive(codec.encodeRedrive(bare), 1)).toEqual(bare);
  });

  it('is poison where a field does not fit', () => {
    const row = unpack(codec.encodeRedrive(whole)) as unknown[];
    const decoded = (changed: unknown) => codec.decodeRedrive(Buffer.from(pack(changed)), 9);
    expect(decoded(row)).toEqual(whole);
    for (const at of row.keys()) expect(decoded(row.with(at, true)), `field ${at}`).toBeInstanceOf(codec.Poison);
    const [wish, progress] = [row[2] as unknown[], row[5] as unknown[]];
    for (const at of [0, 1, 2]) expect(decoded(row.with(2, wish.with(at, 'x')))).toBeInstanceOf(codec.Poison);
    expect(decoded(row.with(2, wish.with(1, [0, 1_000])))).toBeInstanceOf(codec.Poison);
    for (const at of progress.keys()) {
      if (at !== 2) expect(decoded(row.with(5, progress.with(at, 'x'))), `progress ${at}`).toBeInstanceOf(codec.Poison);
    }
    expect(decoded(row.with(5, progress.with(6, [['no_such_code', 1]])))).toBeInstanceOf(codec.Poison);
  });

  it('that can not be read stops no start, and is told', async () => {
    const store = await withDead('poison', 1);
    await store.commit(3, [redrivePart(begun(WISH, 1, 5), [])], true);
    await store.close();
    const { levelDatabase, RowBatch } = await import('../../src/store/database.js');
    const { redriveKey } = await import('../../src/store/schema.js');
    const raw = levelDatabase(join(folder, 'poison', 'store'));
    await raw.open();
    const rows = new RowBatch(raw);
    rows.put(redriveKey(1), Buffer.from('spoilt'));
    await rows.write(true);
    await raw.close();
    const next = await open(join(folder, 'poison'));
    expect(next.opened()).toMatchObject({ redrives: [], lastRedrive: 1 });
    expect(next.opened().notes.join()).toContain('set aside row v');
    await next.close();
  });
});
