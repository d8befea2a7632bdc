import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import { sha1Digest } from '../../src/sinks/digest.js';
import { type ArchivedVisit, archiveRecords, warcinfoRecord } from '../../src/sinks/warc-record.js';

function visitOf(body: string | Uint8Array, changes: Partial<ArchivedVisit> = {}): ArchivedVisit {
  const bytes = typeof body === 'string' ? new Uint8Array(Buffer.from(body)) : body;
  return {
    url: 'http://site.example:8080/a?b',
    status: 200,
    statusText: 'Fine \xe9',
    httpVersion: '1.1',
    headers: [
      ['content-TYPE', 'text/html'],
      ['X-Twice', 'one'],
      ['x-twice', 'two'],
      ['Transfer-Encoding', 'chunked'],
    ],
    requestHeaders: [['User-Agent', 'TestBot/1.0']],
    rawHead: null,
    sentHead: null,
    remoteAddress: '192.0.2.7',
    body: bytes,
    payloadDigest: sha1Digest(bytes),
    cut: false,
    fetchedAtMs: Date.UTC(2026, 10, 30, 12, 0, 0, 7),
    metadata: null,
    ...changes,
  };
}

interface ReadRecord {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly header: (name: string) => string | null;
  readonly httpHeaders: Map<string, string>;
  readonly statusLine: string;
  readonly payload: Buffer;
}

/** Reads a file with warcio, which checks nothing by itself: digests are recomputed by the tests. */
async function readAll(bytes: Uint8Array): Promise<ReadRecord[]> {
  const parser = new WARCParser([bytes], { keepHeadersCase: true });
  const read: ReadRecord[] = [];
  for await (const record of parser) {
    const payload = Buffer.from(await record.readFully(false));
    await record.skipFully();
    read.push({
      type: record.warcType ?? '',
      offset: parser.offset,
      length: parser.recordLength,
      header: (name) => record.warcHeaders.headers.get(name) ?? null,
      httpHeaders: new Map(record.httpHeaders?.headers ?? []),
      statusLine: record.httpHeaders?.statusline ?? '',
      payload,
    });
  }
  return read;
}

/** The block of a member, by the format's own rule: after the first blank line, Content-Length bytes. */
function blockOf(member: Uint8Array): Buffer {
  const plain = gunzipSync(member);
  const end = plain.indexOf('\r\n\r\n') + 4;
  const length = Number(/Content-Length: (\d+)\r\n/.exec(plain.subarray(0, end).toString('latin1'))?.[1]);
  expect(plain.subarray(end + length).toString('latin1')).toBe('\r\n\r\n');
  return plain.subarray(end, end + length);
}

describe('records (WARC 1.1)', () => {
  it('are read by warcio: request and response, each a member, digests right', async () => {
    const visit = visitOf('<p>body');
    const records = archiveRecords(visit);
    expect(records.bytes.buffer.byteLength).toBe(records.bytes.length);
    const [request, response] = await readAll(records.bytes);
    expect(request?.type).toBe('request');
    expect(request?.statusLine).toBe('GET /a?b HTTP/1.1');
    expect(request?.httpHeaders).toEqual(
      new Map([
        ['Host', 'site.example:8080'],
        ['User-Agent', 'TestBot/1.0'],
      ]),
    );
    expect(request?.header('WARC-Concurrent-To')).toBe(response?.header('WARC-Record-ID'));
    expect(response).toMatchObject({
      type: 'response',
      offset: records.responseOffset,
      length: records.responseLength,
      statusLine: expect.stringMatching(/^HTTP\/1\.1 200 Fine /),
    });
    expect(response?.payload.toString()).toBe('<p>body');
    expect(response?.header('WARC-Record-ID')).toBe(`<${records.recordId}>`);
    expect(response?.header('WARC-Date')).toBe('2026-11-30T12:00:00.007Z');
    expect(response?.header('WARC-Target-URI')).toBe(visit.url);
    expect(response?.header('WARC-IP-Address')).toBe('192.0.2.7');
    expect(response?.header('WARC-Payload-Digest')).toBe(sha1Digest(Buffer.from('<p>body')));
    expect(response?.header('Content-Type')).toBe('application/http; msgtype=response');
    const member = records.bytes.subarray(records.responseOffset, records.responseOffset + records.responseLength);
    expect(response?.header('WARC-Block-Digest')).toBe(sha1Digest(blockOf(member)));
    expect(request?.header('WARC-Block-Digest')).toBe(
      sha1Digest(blockOf(records.bytes.subarray(0, records.responseOffset))),
    );
  });

  it('keep order, case and bytes of headers, and rename the transfer coding', () => {
    const { bytes, responseOffset } = archiveRecords(
      visitOf('x', {
        headers: [
          ['b-Two', '\xe9'],
          ['A-one', ''],
          ['transfer-encoding', 'chunked'],
          ['b-Two', '2'],
        ],
      }),
    );
    expect(blockOf(bytes.subarray(responseOffset)).toString('latin1')).toBe(
      'HTTP/1.1 200 Fine \xe9\r\nb-Two: \xe9\r\nA-one: \r\nX-Archive-Orig-transfer-encoding: chunked\r\nb-Two: 2\r\n\r\nx',
    );
  });

  it('keep the content coding, so that the payload digest is of what came', async () => {
    const body = new Uint8Array(gzipSync('compressed page'));
    const records = archiveRecords(visitOf(body, { headers: [['Content-Encoding', 'gzip']] }));
    const block = blockOf(records.bytes.subarray(records.responseOffset));
    expect(block.subarray(block.indexOf('\r\n\r\n') + 4)).toEqual(Buffer.from(body));
    const [, response] = await readAll(records.bytes);
    expect(response?.header('WARC-Payload-Digest')).toBe(sha1Digest(body));
  });

  it('say when a body was cut', async () => {
    const truncated = async (cut: boolean) =>
      (await readAll(archiveRecords(visitOf('x', { cut })).bytes))[1]?.header('WARC-Truncated') ?? null;
    expect(await truncated(true)).toBe('length');
    expect(await truncated(false)).toBeNull();
  });

  it('are the same bytes for the same visit, and have other ids for another', () => {
    const id = (changes: Partial<ArchivedVisit>) => archiveRecords(visitOf('x', changes)).recordId;
    expect(archiveRecords(visitOf('x'))).toEqual(archiveRecords(visitOf('x')));
    const ids = new Set([
      id({}),
      id({ url: 'http://other.example/' }),
      id({ fetchedAtMs: 1 }),
      archiveRecords(visitOf('y')).recordId,
    ]);
    expect(ids.size).toBe(4);
    for (const made of ids)
      expect(made).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('let no header value end a line early (W06)', async () => {
    const records = archiveRecords(visitOf('x', { headers: [['a\r\n', 'b\r\n\r\nc\0']], statusText: 'OK\r\nX: y' }));
    const [, response] = await readAll(records.bytes);
    expect(response?.payload.toString()).toBe('x');
  });

  it('of an empty body and of HTTP/2', async () => {
    const [, response] = await readAll(archiveRecords(visitOf('', { httpVersion: '2', statusText: '' })).bytes);
    expect(response?.payload).toHaveLength(0);
    expect(response?.statusLine).toBe('HTTP/1.1 200');
  });

  it('follow a warcinfo record in one file', async () => {
    const info = warcinfoRecord({
      filename: 'a.warc.gz',
      software: 'orbweaver/0.1.0',
      operator: 'Ops <ops@bot.example>',
      userAgent: 'TestBot/1.0',
      createdAtMs: 0,
    });
    const visits = ['one', 'two', 'three'].map((body) => archiveRecords(visitOf(body)).bytes);
    const read = await readAll(Buffer.concat([info, ...visits]));
    expect(read.map((record) => record.type)).toEqual(['warcinfo', ...Array(3).fill(['request', 'response']).flat()]);
    expect(read[0]?.payload.toString()).toContain('operator: Ops <ops@bot.example>\r\n');
    expect(read[0]?.header('WARC-Filename')).toBe('a.warc.gz');
    expect(read.filter((record) => record.type === 'response').map((record) => record.payload.toString())).toEqual([
      'one',
      'two',
      'three',
    ]);
  });
});
