/**
 * Archive records: WARC/1.1 (ISO 28500:2017), each its own gzip member, so that a reader can begin at any of them.
 *
 * A visit is a request as it was sent, a response as it came, and metadata: how the page was found and what it links
 * to. The heads are the bytes that went over the wire; the body keeps its content coding. Only the transfer coding is
 * gone before we see the body, so the name of its header is lengthened: else a reader would try to undo it again.
 *
 * A response whose payload is in the archive already gives way to a revisit: the same head, and where the payload
 * lies. A revisit has the id that the response would have had, so that request and metadata refer to it.
 *
 * Invariants:
 * 1. The same visit gives the same bytes: record ids come from what is recorded, not from chance.
 * 2. No header value can end a line early, but in a head that came so.
 */
import { hash } from 'node:crypto';
import type { Header } from '../domain/fetching.js';
import type { ArchiveRecords, FoundBy } from '../domain/parsing.js';
import type { Archived } from '../domain/record.js';
import type { Candidate } from '../domain/url.js';
import { sha1Digest } from './digest.js';
import { deflatedMember, storedMember } from './gzip-member.js';

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
  /** The heads as they went over the wire, an octet a character; else they are built of the headers. */
  readonly rawHead: string | null;
  readonly sentHead: string | null;
  readonly remoteAddress: string;
  /** Without transfer coding, with content coding. */
  readonly body: Uint8Array;
  /** Of `body`, as `sha1:BASE32`. */
  readonly payloadDigest: string;
  readonly cut: boolean;
  readonly fetchedAtMs: number;
  readonly metadata: PageMetadata | null;
}

/** What is known of a page beside its bytes. */
export interface PageMetadata extends FoundBy {
  readonly charset: string | null;
  readonly links: readonly Candidate[];
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

/** HTML comes out 7 % smaller than at 1 and 3 % larger than at 6, which takes half as long again. */
const GZIP_LEVEL = 4;

/** A metadata record has so much to say at most: links that are left out are counted. */
export const METADATA_BYTES_MAX = 256 * 1024;
/** Below, what a compressor saves is not worth its set-up. */
const DEFLATED_BYTES_MIN = 512;

/** The records of one visit, in this order: request, response, metadata. */
export function archiveRecords(visit: ArchivedVisit): ArchiveRecords {
  const { url, payloadDigest } = visit;
  const date = new Date(visit.fetchedAtMs).toISOString();
  const responseId = recordId('response', url, date, payloadDigest);
  const head = responseHead(visit);
  const request = requestRecord(visit, date, responseId);
  const response = responseRecord(visit, date, responseId, head);
  const metadata = visit.metadata === null ? EMPTY : metadataRecord(visit, visit.metadata, date, responseId);
  const bytes = new Uint8Array(request.length + response.length + metadata.length);
  bytes.set(request, 0);
  bytes.set(response, request.length);
  bytes.set(metadata, request.length + response.length);
  return {
    bytes,
    responseOffset: request.length,
    responseLength: response.length,
    recordId: responseId,
    payloadDigest,
    head,
  };
}

/** An answer whose payload is in the archive already. */
export interface Revisit {
  readonly url: string;
  readonly atMs: number;
  readonly remoteAddress: string;
  readonly recordId: string;
  /** As `ArchiveRecords` has it. */
  readonly head: string;
  readonly why: 'identical-payload-digest' | 'server-not-modified';
  readonly original: Archived;
}

/** A `revisit` record (§6.7 of the standard), one gzip member. Its payload digest is the original's. */
export function revisitRecord({ url, atMs, remoteAddress, recordId, head, why, original }: Revisit): Uint8Array {
  const block = Buffer.from(head, 'latin1');
  const named: Header[] = [
    ['WARC-Type', 'revisit'],
    ['WARC-Record-ID', `<${recordId}>`],
    ['WARC-Date', new Date(atMs).toISOString()],
    ['WARC-Target-URI', url],
    ['WARC-IP-Address', remoteAddress],
    ['WARC-Profile', `http://netpreserve.org/warc/1.1/revisit/${why}`],
    ['WARC-Refers-To', `<${original.recordId}>`],
    ['WARC-Refers-To-Target-URI', original.url],
    ['WARC-Refers-To-Date', new Date(original.atMs).toISOString()],
    ['WARC-Payload-Digest', original.payloadDigest],
    ['WARC-Block-Digest', sha1Digest(block)],
    ['Content-Type', 'application/http; msgtype=response'],
  ];
  // A 304 has no body that could be left out.
  if (why === 'identical-payload-digest') named.push(['WARC-Truncated', 'length']);
  return storedMember(record(named, block, EMPTY));
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
  return storedMember(record(named, block, EMPTY));
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
  return storedMember(record(named, block, EMPTY));
}

function responseRecord(visit: ArchivedVisit, date: string, responseId: string, headText: string): Uint8Array {
  const head = Buffer.from(headText, 'latin1');
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
  const plain = record(named, head, visit.body);
  return isCompressed ? storedMember(plain) : deflatedMember(plain, GZIP_LEVEL);
}

/** As the standard names its fields, and as other crawlers write links: URL, hop, what carried it. */
function metadataRecord(visit: ArchivedVisit, page: PageMetadata, date: string, responseId: string): Uint8Array {
  const block = Buffer.from(metadataText(page), 'utf8');
  const named: Header[] = [
    ['WARC-Type', 'metadata'],
    ['WARC-Record-ID', `<${recordId('metadata', visit.url, date, visit.payloadDigest)}>`],
    ['WARC-Date', date],
    ['WARC-Target-URI', visit.url],
    ['WARC-Concurrent-To', `<${responseId}>`],
    ['WARC-Block-Digest', sha1Digest(block)],
    ['Content-Type', 'application/warc-fields'],
  ];
  const plain = record(named, block, EMPTY);
  return block.length < DEFLATED_BYTES_MIN ? storedMember(plain) : deflatedMember(plain, GZIP_LEVEL);
}

/** Everything in it is a URL, a number or a name of ours, and so ASCII. */
function metadataText({ via, hopPath, durationMs, charset, links }: PageMetadata): string {
  const fields: Header[] = [];
  if (via !== null) fields.push(['via', via]);
  if (hopPath !== '') fields.push(['hopsFromSeed', hopPath]);
  fields.push(['fetchTimeMs', String(Math.round(durationMs))]);
  if (charset !== null) fields.push(['charset', charset]);
  let text = lines(fields);
  for (const [index, { url, source, element }] of links.entries()) {
    const line = `outlink: ${url} ${source === 'redirect' ? 'R' : 'L'} ${element ?? '-'}\r\n`;
    if (text.length + line.length > METADATA_BYTES_MAX) return `${text}outlinksLeftOut: ${links.length - index}\r\n`;
    text += line;
  }
  return text;
}

/** One record: version, named fields, a blank line, the block, two line ends (§4 of the standard). */
function record(named: readonly Header[], head: Uint8Array, body: Uint8Array): Uint8Array {
  const length = String(head.length + body.length);
  const fields = Buffer.from(`WARC/1.1\r\n${lines([...named, ['Content-Length', length]])}\r\n`, 'utf8');
  return Buffer.concat([fields, head, body, END_OF_RECORD]);
}

const END_OF_RECORD = Buffer.from('\r\n\r\n');

/**
 * Older protocols are written as they were spoken. HTTP/2 has no text form; archives write it as 1.1, which is what
 * its headers would have been.
 */
function httpVersion(visit: ArchivedVisit): string {
  return visit.httpVersion === '2' ? '1.1' : visit.httpVersion;
}

function requestHead(visit: ArchivedVisit): string {
  if (visit.sentHead !== null) return visit.sentHead;
  const authority = visit.url.indexOf('//') + 2;
  const target = visit.url.indexOf('/', authority);
  const host: Header = ['Host', visit.url.slice(authority, target)];
  const hasHost = visit.requestHeaders.some(([name]) => name.toLowerCase() === 'host');
  const headers = hasHost ? visit.requestHeaders : [host, ...visit.requestHeaders];
  return `GET ${visit.url.slice(target)} HTTP/${httpVersion(visit)}\r\n${lines(headers)}\r\n`;
}

/** The head as it came, but for the name of a header that is no longer true of the body. */
function responseHead(visit: ArchivedVisit): string {
  if (visit.rawHead !== null) return visit.rawHead.replace(/^transfer-encoding(?=[ \t]*:)/gim, 'X-Archive-Orig-$&');
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
