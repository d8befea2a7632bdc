/** W04: revisits are decided in the commit; what they refer to is there; indexes are sorted and made anew. */
import { gunzipSync } from 'node:zlib';
import { MemoryLevel } from 'memory-level';
import { describe, expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import type { ArchiveEntry, HostPart } from '../../src/protocols/commit.js';
import { sortedLines } from '../../src/sinks/cdxj.js';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import type { Database } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import {
  admission,
  archiveOf,
  hostPart,
  keyOf,
  pageOf,
  ready,
  recordOf,
  seedPart,
  visitPart,
  warcinfo,
} from './parts.js';

const WARC = 'archive/orbweaver-00001.warc.gz';
const [A, B] = ['http://a.test/1', 'http://another.example/2'];

function ground() {
  const files = new MemoryFiles();
  const database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const options = { dir: 'memory', open: () => database as unknown as Database, fileSystem: files, warcinfo };
  return { files, options, open: (more = {}) => openStore({ ...options, ...more }) };
}

/** A visit of a URL with this payload, `hours` after the first. */
function visit(url: string, sequence: number, text: string, hours = 0, changes: Partial<ArchiveEntry> = {}): HostPart {
  const fetchedAtMs = Date.UTC(2024, 0, 2, 3 + hours);
  return visitPart(url, sequence, { archive: { ...archiveOf(url, text, { fetchedAtMs }), ...changes } });
}

async function recordsOf(bytes: Uint8Array) {
  const records = [];
  for await (const record of new WARCParser([bytes])) {
    const payload = Buffer.from(await record.readFully(false)).toString();
    const header = (name: string) => record.warcHeaders.headers.get(name) ?? null;
    if (record.warcType === 'response' || record.warcType === 'revisit')
      records.push({ type: record.warcType, url: record.warcTargetURI, payload, header, http: record.httpHeaders });
  }
  return records;
}

async function archivedOf(store: Awaited<ReturnType<typeof openStore>>, url: string) {
  return (await store.readRecord(keyOf(url), new URL(url).hostname))?.archived ?? null;
}

describe('a payload that the archive holds', () => {
  it.each([
    ['the same URL', A, 2],
    ['another URL of another site', B, 2],
    ['the same batch', B, 1],
  ])('W04: of %s becomes a revisit that refers to the response', async (_, url, batches) => {
    const { files, open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1), admission(B, 2)])], false);
    const [first, second] = [visit(A, 1, 'same'), visit(url, 2, 'same', 1)];
    if (batches === 1) await store.commit(2, [first, second], true);
    else {
      await store.commit(2, [first], true);
      await store.commit(3, [second], true);
    }
    const [response, revisit] = await recordsOf(files.bytes(WARC));
    expect([response?.type, revisit?.type]).toEqual(['response', 'revisit']);
    expect(revisit?.url).toBe(url);
    expect(revisit?.payload).toBe('');
    expect(revisit?.http?.statusline).toBe('HTTP/1.1 200 OK');
    expect(revisit?.header('WARC-Profile')).toBe('http://netpreserve.org/warc/1.1/revisit/identical-payload-digest');
    expect(revisit?.header('WARC-Refers-To')).toBe(response?.header('WARC-Record-ID'));
    expect(revisit?.header('WARC-Refers-To-Target-URI')).toBe(A);
    expect(revisit?.header('WARC-Refers-To-Date')).toBe(response?.header('WARC-Date'));
    expect(revisit?.header('WARC-Payload-Digest')).toBe(response?.header('WARC-Payload-Digest'));
    expect(revisit?.header('WARC-Truncated')).toBe('length');
    // A later 304 of either refers to the one response.
    const recordId = first.archive?.records.recordId;
    expect(await archivedOf(store, url)).toMatchObject({ recordId, url: A });
    const told = files
      .bytes('pages.jsonl')
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).warc);
    expect(told.map(({ type }) => type)).toEqual(['response', 'revisit']);
    const { offset, length } = told[1];
    expect(gunzipSync(files.bytes(WARC).subarray(offset, offset + length)).toString()).toContain('WARC-Type: revisit');
    const line = files.bytes('archive/orbweaver-00001.cdxj').toString().split('\n')[1] as string;
    expect(JSON.parse(line.slice(line.indexOf('{')))).toMatchObject({ mime: 'warc/revisit', status: '200' });
    await store.close();
  });

  it('W04: is never the empty one, and never a payload of another kind', async () => {
    const { files, open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1), admission(B, 2)])], false);
    await store.commit(2, [visit(A, 1, ''), visit(B, 2, '', 1), visit(A, 3, 'x', 2), visit(B, 4, 'y', 3)], true);
    expect((await recordsOf(files.bytes(WARC))).map(({ type }) => type)).toEqual(Array(4).fill('response'));
    await store.close();
  });

  it('W04: a 304 becomes a revisit by the server, with its own head', async () => {
    const { files, open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1)])], false);
    await store.commit(2, [visit(A, 1, 'body')], true);
    const archived = await archivedOf(store, A);
    const head = { status: 304, statusText: 'Not Modified', headers: [['ETag', '"1"'] as const] };
    const entry = archiveOf(A, '', { ...head, fetchedAtMs: Date.UTC(2024, 0, 3) });
    await store.commit(3, [visitPart(A, 2, { archive: { ...entry, unmodified: archived } })], true);
    const [response, revisit] = await recordsOf(files.bytes(WARC));
    expect(revisit?.header('WARC-Profile')).toBe('http://netpreserve.org/warc/1.1/revisit/server-not-modified');
    expect(revisit?.header('WARC-Refers-To')).toBe(response?.header('WARC-Record-ID'));
    expect(revisit?.header('WARC-Payload-Digest')).toBe(response?.header('WARC-Payload-Digest'));
    expect(revisit?.header('WARC-Truncated')).toBeNull();
    expect(revisit?.http?.statusline).toBe('HTTP/1.1 304 Not Modified');
    expect(await archivedOf(store, A)).toEqual(archived);
    await store.close();
  });

  it('W04: may lie in a file that its operator has moved elsewhere', async () => {
    const { files, open } = ground();
    const bound = { archiveBytesMax: 1 };
    const store = await open(bound);
    await store.commit(1, [seedPart([admission(A, 1), admission(B, 2)])], false);
    await store.commit(2, [visit(A, 1, 'same'), visit('http://a.test/3', 3, 'other')], true);
    await store.close();
    files.replace(WARC, null);
    files.replace('archive/orbweaver-00001.cdxj', null);
    const after = await open(bound);
    expect(after.opened().notes.join()).toContain('kept elsewhere');
    await after.commit(3, [visit(B, 2, 'same', 1)], true);
    const [revisit] = await recordsOf(files.bytes('archive/orbweaver-00003.warc.gz'));
    expect(revisit?.type).toBe('revisit');
    await after.close();
  });
});

describe('what a repair takes from the archive', () => {
  it('D7: is forgotten with its digest, so that its repetition is whole', async () => {
    const { files, open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1)])], true);
    await store.commit(2, [visit(A, 1, 'lost')], false);
    files.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    await expect(store.commit(3, [], true)).rejects.toMatchObject({ code: 'store_io' });
    await store.reopen();
    expect(await archivedOf(store, A)).toBeNull();
    await store.commit(3, [visit(A, 2, 'lost', 1)], true);
    expect((await recordsOf(files.bytes(WARC))).map(({ type, payload }) => [type, payload])).toEqual([
      ['response', 'lost'],
    ]);
    await store.close();
  });

  it('is forgotten with its digest when a damaged end is cut off, and the index goes with it', async () => {
    const { files, open } = ground();
    const store = await open();
    const urls = ['http://z.test/', 'http://a.test/', 'http://m.test/'];
    await store.commit(1, [seedPart(urls.map((url, i) => admission(url, i)))], true);
    for (const [i, url] of urls.entries()) await store.commit(i + 2, [visit(url, i, `body ${i}`, i)], true);
    // A clean stop sorts: the last line is not the last record.
    await store.close();
    files.replace(WARC, files.bytes(WARC).subarray(0, -20));
    const after = await open();
    expect(after.opened().notes.join()).toContain('1 visits are queued again');
    const index = files.bytes('archive/orbweaver-00001.cdxj').toString();
    expect(index.match(/"url":"[^"]+"/g)).toEqual(['"url":"http://a.test/"', '"url":"http://z.test/"']);
    await after.commit(5, [visit('http://m.test/', 7, 'body 2', 9)], true);
    const records = await recordsOf(files.bytes(WARC));
    expect(records.map(({ type, url }) => [type, url])).toEqual(urls.map((url) => ['response', url]));
    await after.close();
  });

  it('makes an index anew: the lines that were written with the records', async () => {
    const { files, open } = ground();
    const store = await open({ archiveBytesMax: 6_000 });
    await store.commit(1, [seedPart([])], true);
    for (let i = 0; i < 12; i++)
      await store.commit(i + 2, [visit(`http://h${i % 5}.test/${i}`, i, `body ${i % 9}`, i)], true);
    await store.close();
    const indexes = files.names().filter((name) => name.endsWith('.cdxj'));
    expect(indexes.length).toBeGreaterThan(2);
    const before = indexes.map((name) => files.bytes(name));
    for (const index of before) expect(sortedLines(index).equals(index)).toBe(true);
    for (const name of indexes) files.replace(name, null);
    const after = await open({ archiveBytesMax: 6_000 });
    expect(indexes.map((name) => files.bytes(name).toString())).toEqual(before.map(String));
    await after.close();
  });

  it('an index that could not be sorted when its archive was full is sorted at the next opening', async () => {
    const { files, open } = ground();
    const store = await open({ archiveBytesMax: 2_500 });
    await store.commit(1, [seedPart([])], true);
    await store.commit(2, [visit('http://z.test/', 1, 'one'), visit('http://a.test/', 2, 'two')], true);
    files.failNext('rewrite', new Error('no space left on device'));
    await store.commit(3, [visit('http://b.test/', 3, 'three')], true);
    const index = () => files.bytes('archive/orbweaver-00001.cdxj');
    expect(sortedLines(index()).equals(index())).toBe(false);
    const after = await open({ archiveBytesMax: 2_500 });
    expect(sortedLines(index()).equals(index())).toBe(true);
    await after.close();
  });
});

describe('seeds that are given again', () => {
  const again = (url: string, sequence: number) => ({
    ...seedPart([admission(url, sequence, { ifAbsent: true, priority: 0 })]),
    again: true,
  });

  it('D1: are queued once more with all that is known of them, if they stand in no queue', async () => {
    const { open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1), admission(B, 2)])], false);
    await store.commit(2, [visit(A, 1, 'body')], false);
    const receipt = await store.commit(3, [again(A, 3), again(B, 4)], true);
    expect(receipt.known).toEqual([keyOf(B)]);
    expect(receipt.totals).toMatchObject({ urls: 2, ready: 2 });
    const { head } = await store.loadHost('a.test', 9);
    expect(head.ready.map(({ at, record }) => [at, record])).toEqual([
      [{ queue: 'ready', priority: 0, sequence: 3 }, expect.objectContaining({ state: 'queued', etag: '"1"' })],
    ]);
    expect(head.ready[0]?.record.archived).not.toBeNull();
    // Given once more, it stands in a queue.
    expect((await store.commit(4, [again(A, 5)], true)).known).toEqual([keyOf(A)]);
    await store.close();
  });

  it('are no dead letters any longer', async () => {
    const { open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1)])], false);
    const record = recordOf(A, { state: 'dead', deliveries: 8 });
    const letter = { url: A, key: record.key, host: record.host, cause: 'x', code: 'timeout', deliveries: 8 } as const;
    const dead = [{ ...letter, firstAtMs: 1, lastAtMs: 2, attempts: [] }];
    await store.commit(2, [hostPart(record.host, { moves: [{ from: ready(1), to: null, record }], dead })], false);
    const receipt = await store.commit(3, [again(A, 2)], true);
    expect(receipt.totals).toMatchObject({ dead: 0, ready: 1, urls: 1 });
    const { head } = await store.loadHost(record.host, 9);
    expect(head.ready[0]?.record).toMatchObject({ state: 'queued', deliveries: 0 });
    await store.close();
  });

  it('of a plain command are left as they are', async () => {
    const { open } = ground();
    const store = await open();
    await store.commit(1, [seedPart([admission(A, 1)])], false);
    await store.commit(2, [visitPart(A, 1, { page: pageOf(A) })], false);
    expect((await store.commit(3, [{ ...again(A, 2), again: false }], true)).known).toEqual([keyOf(A)]);
    await store.close();
  });
});
