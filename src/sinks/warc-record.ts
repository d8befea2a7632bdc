/**
 * Archive records: WARC/1.1 (ISO 28500:2017), each its own gzip member, so that a reader can begin at any of them.
 *
 * A visit is two records: the request as it was sent, the response as it came. Status line and headers keep their
 * order, case and bytes; the body keeps its content coding. Only the transfer coding is gone before we see the body,
 * so its header is renamed: else a reader would try to undo it again.
 *
 * Invariants:
 * 1. The same visit gives the same bytes: record ids come from what is recorded, not from chance.
 * 2. No header value can end a line early.
 */
import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Header } from '../domain/fetching.js';
import type { ArchiveRecords } from '../domain/parsing.js';
import { sha1Digest } from '../page/digest.js';

export interface ArchivedVisit {
  /** Canonical, so ASCII. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** As received; values read as Latin-1. */
  readonly headers: readonly Header[];
  /** As sent; Host is added where it is missing. */
  readonly requestHeaders: readonly Header[];
  readonly remoteAddress: string;
  /** Without transfer coding, with content coding. */
  readonly body: Uint8Array;
  /** Of `body`, as `sha1:BASE32`. */
  readonly payloadDigest: string;
  readonly cut: boolean;
  readonly fetchedAtMs: number;
}

/** What the first record of a file says of the file. */
export interface Warcinfo {
  readonly filename: string;
  readonly software: string;
  /** Who runs the crawl and how to reach them. */
  readonly operator: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
}

/** More costs much and saves little: HTML is a third smaller at 6 than at 1, and two per cent than at 4. */
const GZIP_LEVEL = 4;
/** For what is compressed already. */
const GZIP_LEVEL_QUICK = 1;

/** The request and the response record of one visit, in that order. */
export function archiveRecords(visit: ArchivedVisit): ArchiveRecords {
  const date = new Date(visit.fetchedAtMs).toISOString();
  const responseId = recordId('response', visit.url, date, visit.payloadDigest);
  const request = requestRecord(visit, date, responseId);
  const response = responseRecord(visit, date, responseId);
  const bytes = new Uint8Array(request.length + response.length);
  bytes.set(request, 0);
  bytes.set(response, request.length);
  return { bytes, responseOffset: request.length, responseLength: response.length, recordId: responseId };
}

/** A `warcinfo` record, the first of a file. */
export function warcinfoRecord(info: Warcinfo): Uint8Array {
  const date = new Date(info.createdAtMs).toISOString();
  const fields: Header[] = [
    ['software', info.software],
    ['format', 'WARC File Format 1.1'],
    ['conformsTo', 'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
    ['operator', info.operator],
    ['http-header-user-agent', info.userAgent],
    ['robots', 'obey'],
  ];
  const block = Buffer.from(lines(fields), 'utf8');
  const named: Header[] = [
    ['WARC-Type', 'warcinfo'],
    ['WARC-Record-ID', `<${recordId('warcinfo', info.filename, date, sha1Digest(block))}>`],
    ['WARC-Date', date],
    ['WARC-Filename', info.filename],
    ['WARC-Block-Digest', sha1Digest(block)],
    ['Content-Type', 'application/warc-fields'],
  ];
  return record(named, block, EMPTY, GZIP_LEVEL);
}

const EMPTY = new Uint8Array(0);

function requestRecord(visit: ArchivedVisit, date: string, responseId: string): Uint8Array {
  const block = Buffer.from(requestHead(visit), 'latin1');
  const named: Header[] = [
    ['WARC-Type', 'request'],
    ['WARC-Record-ID', `<${recordId('request', visit.url, date, visit.payloadDigest)}>`],
    ['WARC-Date', date],
    ['WARC-Target-URI', visit.url],
    ['WARC-IP-Address', visit.remoteAddress],
    ['WARC-Concurrent-To', `<${responseId}>`],
    ['WARC-Block-Digest', sha1Digest(block)],
    ['Content-Type', 'application/http; msgtype=request'],
  ];
  return record(named, block, EMPTY, GZIP_LEVEL_QUICK);
}

function responseRecord(visit: ArchivedVisit, date: string, responseId: string): Uint8Array {
  const head = Buffer.from(responseHead(visit), 'latin1');
  const named: Header[] = [
    ['WARC-Type', 'response'],
    ['WARC-Record-ID', `<${responseId}>`],
    ['WARC-Date', date],
    ['WARC-Target-URI', visit.url],
    ['WARC-IP-Address', visit.remoteAddress],
    ['WARC-Payload-Digest', visit.payloadDigest],
    ['WARC-Block-Digest', sha1Digest(Buffer.concat([head, visit.body]))],
    ['Content-Type', 'application/http; msgtype=response'],
  ];
  if (visit.cut) named.push(['WARC-Truncated', 'length']);
  const isCompressed = visit.headers.some(([name]) => name.toLowerCase() === 'content-encoding');
  return record(named, head, visit.body, isCompressed ? GZIP_LEVEL_QUICK : GZIP_LEVEL);
}

/** One record as one gzip member: version, named fields, a blank line, the block, two line ends (§4 of the standard). */
function record(named: readonly Header[], head: Uint8Array, body: Uint8Array, level: number): Uint8Array {
  const length = String(head.length + body.length);
  const fields = Buffer.from(`WARC/1.1\r\n${lines([...named, ['Content-Length', length]])}\r\n`, 'utf8');
  return gzipSync(Buffer.concat([fields, head, body, END_OF_RECORD]), { level, chunkSize: GZIP_CHUNK_BYTES });
}

const END_OF_RECORD = Buffer.from('\r\n\r\n');
const GZIP_CHUNK_BYTES = 64 * 1024;

/**
 * Older protocols are written as they were spoken. HTTP/2 has no text form; archives write it as 1.1, which is what
 * its headers would have been.
 */
function httpVersion(visit: ArchivedVisit): string {
  return visit.httpVersion === '2' ? '1.1' : visit.httpVersion;
}

function requestHead(visit: ArchivedVisit): string {
  const authority = visit.url.indexOf('//') + 2;
  const target = visit.url.indexOf('/', authority);
  const host: Header = ['Host', visit.url.slice(authority, target)];
  const hasHost = visit.requestHeaders.some(([name]) => name.toLowerCase() === 'host');
  const headers = hasHost ? visit.requestHeaders : [host, ...visit.requestHeaders];
  return `GET ${visit.url.slice(target)} HTTP/${httpVersion(visit)}\r\n${lines(headers)}\r\n`;
}

function responseHead(visit: ArchivedVisit): string {
  const status = `HTTP/${httpVersion(visit)} ${visit.status} ${oneLine(visit.statusText)}`;
  const headers = visit.headers.map(
    ([name, value]): Header => [name.toLowerCase() === 'transfer-encoding' ? `X-Archive-Orig-${name}` : name, value],
  );
  return `${status}\r\n${lines(headers)}\r\n`;
}

function lines(headers: readonly Header[]): string {
  let text = '';
  for (const [name, value] of headers) text += `${oneLine(name)}: ${oneLine(value)}\r\n`;
  return text;
}

function oneLine(text: string): string {
  return /[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]+/g, ' ') : text;
}

/** A UUID of version 8 (RFC 9562 §5.8) out of what tells one record from all others. */
function recordId(type: string, subject: string, date: string, digest: string): string {
  const hex = hash('sha256', `${type}\n${subject}\n${date}\n${digest}`, 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const time = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}`;
  return `urn:uuid:${time}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
