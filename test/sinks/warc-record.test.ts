import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import { EMPTY_DIGEST, sha1Digest } from '../../src/sinks/digest.js';
import type { Candidate } from '../../src/domain/url.js';
import { type ArchivedVisit, archiveRecords, METADATA_BYTES_MAX, warcinfoRecord } from '../../src/sinks/warc-record.js';

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

  it('hold heads as they went over the wire, but for the name of a transfer coding', async () => {
    const rawHead =
      'HTTP/1.1 200  OK\r\nA:b\r\ntransfer-ENCODING : chunked\r\nX: Transfer-Encoding: no\r\n folded\r\n\r\n';
    const sentHead = 'GET /a?b HTTP/1.1\r\nhost: site.example:8080\r\nconnection: keep-alive\r\n\r\n';
    const records = archiveRecords(visitOf('x', { rawHead, sentHead }));
    const { bytes, responseOffset, head } = records;
    const expected = rawHead.replace('transfer-ENCODING', 'X-Archive-Orig-transfer-ENCODING');
    expect(blockOf(bytes.subarray(responseOffset)).toString('latin1')).toBe(`${expected}x`);
    expect(head).toBe(expected);
    expect(blockOf(bytes.subarray(0, responseOffset)).toString('latin1')).toBe(sentHead);
    expect((await readAll(bytes))[1]?.payload.toString()).toBe('x');
  });

  const linkTo = (url: string, element: string): Candidate => ({
    ...{ url, element, rel: null, source: 'link', key: '', host: '', origin: '' },
  });

  it('say how a page was found and what it links to (metadata)', async () => {
    const metadata = {
      via: 'http://site.example/',
      hopPath: 'LR',
      durationMs: 12.4,
      charset: 'utf-8',
      links: [
        linkTo('http://site.example/c', 'a'),
        { ...linkTo('http://site.example/d', 'meta'), source: 'redirect' as const },
      ],
    };
    const records = archiveRecords(visitOf('x', { metadata }));
    const [, response, told] = await readAll(records.bytes);
    expect(told?.type).toBe('metadata');
    expect(told?.header('Content-Type')).toBe('application/warc-fields');
    expect(told?.header('WARC-Concurrent-To')).toBe(response?.header('WARC-Record-ID'));
    expect(told?.header('WARC-Target-URI')).toBe('http://site.example:8080/a?b');
    expect(told?.payload.toString()).toBe(
      'via: http://site.example/\r\nhopsFromSeed: LR\r\nfetchTimeMs: 12\r\ncharset: utf-8\r\n' +
        'outlink: http://site.example/c L a\r\noutlink: http://site.example/d R meta\r\n',
    );
    expect(response?.length).toBe(records.responseLength);
  });

  it('leave out the links that are too many, and say how many (n and n+1)', async () => {
    // A line of them has a kilobyte.
    const links = Array.from({ length: 258 }, (_, i) => linkTo(`http://x/${'p'.repeat(997)}${100 + i}`, 'a'));
    const linesOf = async (count: number) => {
      const metadata = { via: null, hopPath: '', durationMs: 0, charset: null, links: links.slice(0, count) };
      const text = (await readAll(archiveRecords(visitOf('x', { metadata })).bytes))[2]?.payload.toString() ?? '';
      return text.split('\r\n').slice(0, -1);
    };
    const fitting = Math.floor(METADATA_BYTES_MAX / 1_024) - 1;
    expect(await linesOf(fitting)).toHaveLength(1 + fitting);
    const cut = await linesOf(fitting + 3);
    expect([cut.length, cut.at(-1)]).toEqual([1 + fitting + 1, 'outlinksLeftOut: 3']);
  });

  it('name the digest of nothing', () => {
    expect(sha1Digest(new Uint8Array(0))).toBe(EMPTY_DIGEST);
  });
});
