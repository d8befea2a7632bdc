/**
 * From a response to what a visit needs of it: the one function that parser threads run, and that a simulation runs
 * in their place.
 *
 * decode → what is it → in which encoding → links, title, text → fingerprints → archive records. Pure but for the
 * clock that measures it.
 *
 * Invariants:
 * 1. It answers for any bytes; nothing is thrown. A fault of its own is answered as `worker_crashed`.
 * 2. The buffers in its answer are whole and belong to the answer, so that they can be transferred.
 */
import type { Candidate } from '../domain/url.js';
import type { ArchiveRecords, PageFacts, ParsedPage, ParseResult, ParseTask, UnparsedPage } from '../domain/parsing.js';
import { archiveRecords } from '../sinks/warc-record.js';
import { candidate, isRefused } from './candidate.js';
import { charsetOf, decodeText } from './charset.js';
import { decodeBody, decodeHead } from './decode.js';
import { sha1Digest } from '../sinks/digest.js';
import { bothDirectives, type Directives, headerDirectives } from './directives.js';
import { simhash } from './fingerprint.js';
import { asUtf8, firstHeader } from './headers.js';
import { type HtmlContent, readHtml } from './html.js';
import { withLegacyQuery } from './legacy-query.js';
import { baseOf, resolveLinks } from './links.js';
import { type MediaType, mediaTypeOf } from './media-type.js';
import { joinSpace } from './words.js';

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** It has no body, and what its headers say is of one that came earlier. */
const NOT_MODIFIED = 304;

/** @param nowMs a clock for `parseMicros`. */
export function parse(task: ParseTask, nowMs: () => number = monotonicMs): ParseResult {
  const startedAtMs = nowMs();
  try {
    return parseBody(task, () => Math.round((nowMs() - startedAtMs) * 1000));
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { kind: 'unparsed', code: 'worker_crashed', detail, archive: null };
  }
}

function monotonicMs(): number {
  return performance.now();
}

function parseBody(task: ParseTask, elapsedMicros: () => number): ParseResult {
  const { body, headers, cut } = task;
  const payloadDigest = sha1Digest(body);
  const decode = task.want === 'robots' ? decodeHead : decodeBody;
  const decoded = decode(body, headers, task.decodedBytesMax, cut);
  if (decoded.kind !== 'decoded')
    return unparsed(decoded.kind, decoded.detail, archiveOf(task, payloadDigest, null, null));

  const { bytes } = decoded;
  const isRedirect = REDIRECT_STATUSES.has(task.status);
  const isPage = task.want === 'page' && !isRedirect && task.status !== NOT_MODIFIED;
  const reading = isPage ? readPage(task, bytes) : null;
  const redirect = isRedirect ? locationOf(task) : (reading?.refresh ?? null);
  return {
    kind: 'parsed',
    payloadDigest,
    contentDigest: bytes === body ? payloadDigest : sha1Digest(bytes),
    decodedBytes: bytes.length,
    page: reading?.page ?? null,
    redirect,
    decoded: task.want === 'robots' ? new Uint8Array(bytes) : null,
    archive: archiveOf(task, payloadDigest, reading?.page ?? null, redirect),
    parseMicros: elapsedMicros(),
  } satisfies ParsedPage;
}

function unparsed(code: UnparsedPage['code'], detail: string, archive: ArchiveRecords | null): UnparsedPage {
  return { kind: 'unparsed', code, detail, archive };
}

function archiveOf(
  task: ParseTask,
  payloadDigest: string,
  page: PageFacts | null,
  redirect: Candidate | null,
): ArchiveRecords | null {
  if (!task.archive) return null;
  const links = [...(redirect === null ? [] : [redirect]), ...(page?.links ?? [])];
  const metadata = task.metadata === null ? null : { ...task.metadata, charset: page?.charset ?? null, links };
  return archiveRecords({ ...task, payloadDigest, metadata });
}

/** RFC 9110 §10.2.2. Its bytes are UTF-8 where they can be. Null where there is none that a crawl could follow. */
function locationOf(task: ParseTask): Candidate | null {
  const location = firstHeader(task.headers, 'location');
  if (location === null) return null;
  const target = candidate(asUtf8(location), task.url, 'redirect', 'location');
  return isRefused(target) ? null : target;
}

interface Reading {
  readonly page: PageFacts;
  readonly refresh: Candidate | null;
}

function readPage(task: ParseTask, bytes: Uint8Array): Reading {
  const type = mediaTypeOf(task.headers, bytes);
  const asked = headerDirectives(task.headers);
  if (type.reading === 'nothing') return { page: factsWithoutText(type, asked), refresh: null };
  const charset = charsetOf(bytes, type.charsetLabel, type.reading === 'markup');
  const text = decodeText(bytes, charset);
  if (type.reading === 'markup') return readMarkupPage(task, type, charset, readHtml(text), asked);
  const joined = joinSpace(text);
  const page = { ...factsWithoutText(type, asked), charset, textLength: joined.length, simhash: simhash(joined) };
  return { page, refresh: null };
}

function factsWithoutText(type: MediaType, asked: Directives): PageFacts {
  return {
    mime: type.mime,
    charset: null,
    title: null,
    textLength: 0,
    simhash: null,
    links: [],
    linksRefused: 0,
    noindex: asked.noindex,
    nofollow: asked.nofollow,
  };
}

function readMarkupPage(
  task: ParseTask,
  type: MediaType,
  charset: string,
  content: HtmlContent,
  asked: Directives,
): Reading {
  const directives = bothDirectives(asked, content.directives);
  const base = baseOf(task.url, content.baseHref, charset);
  const found = directives.nofollow ? [] : content.links;
  const { links, refused } = resolveLinks(found, base, charset, task.linksMax);
  const page: PageFacts = {
    mime: type.mime,
    charset,
    title: content.title,
    textLength: content.text.length,
    simhash: simhash(content.text),
    links,
    linksRefused: refused,
    noindex: directives.noindex,
    nofollow: directives.nofollow,
  };
  return { page, refresh: refreshOf(task, content, base, charset) };
}

/** Where a meta refresh leads; null where that is the page itself (a reload) or nowhere. */
function refreshOf(task: ParseTask, content: HtmlContent, base: URL, charset: string): Candidate | null {
  if (content.refreshHref === null) return null;
  const target = candidate(withLegacyQuery(content.refreshHref, charset), base, 'redirect', 'meta');
  return isRefused(target) || target.url === task.url ? null : target;
}
