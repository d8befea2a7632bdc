/**
 * From a response to what a visit needs of it: the one function that parser threads run, and that a simulation runs
 * in their place.
 *
 * decode → read → facts → archive records. Pure but for the clock that measures it.
 *
 * Invariants:
 * 1. It answers for any bytes; nothing is thrown. A fault of its own is answered as `worker_crashed`.
 * 2. The buffers in its answer are whole and belong to the answer, so that they can be transferred.
 */
import type { ArchiveRecords, PageFacts, ParsedPage, ParseResult, ParseTask, UnparsedPage } from '../domain/parsing.js';
import type { Candidate } from '../domain/url.js';
import { isElsewhere } from '../policy/rendered.js';
import { sha1Digest } from '../sinks/digest.js';
import { archiveRecords } from '../sinks/warc-record.js';
import { candidate, isRefused } from './candidate.js';
import { decodeBody, decodeHead } from './decode.js';
import { asUtf8, firstHeader } from './headers.js';
import { NO_PLUG_INS, type PlugIns } from './plug-ins.js';
import { type PluggedReading, readPlugged } from './plugged-reading.js';
import { type Asked, factsOf } from './reading.js';

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** It has no body, and what its headers say is of one that came earlier. */
const NOT_MODIFIED = 304;

/** @param nowMs a clock for `parseMicros`. */
export function parse(task: ParseTask, nowMs: () => number = monotonicMs, plugIns: PlugIns = NO_PLUG_INS): ParseResult {
  const startedAtMs = nowMs();
  try {
    return parseBody(task, task.withoutPlugIns ? NO_PLUG_INS : plugIns, () =>
      Math.round((nowMs() - startedAtMs) * 1000),
    );
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { kind: 'unparsed', code: 'worker_crashed', detail, archive: null };
  }
}

function monotonicMs(): number {
  return performance.now();
}

function parseBody(task: ParseTask, plugIns: PlugIns, elapsedMicros: () => number): ParseResult {
  const { body, headers, cut } = task;
  const payloadDigest = sha1Digest(body);
  const decode = task.want === 'robots' ? decodeHead : decodeBody;
  const decoded = decode(body, headers, task.decodedBytesMax, cut);
  if (decoded.kind !== 'decoded')
    return unparsed(decoded.kind, decoded.detail, archiveOf(task, payloadDigest, null, null));

  const { bytes } = decoded;
  const isRedirect = REDIRECT_STATUSES.has(task.status);
  const isPage = task.want === 'page' && !isRedirect && task.status !== NOT_MODIFIED;
  const plugged = isPage ? readPlugged(askedOf(task), bytes, plugIns) : null;
  const reading = plugged?.reading ?? null;
  const page = reading === null ? null : factsOf(reading, task);
  const redirect = isRedirect ? locationOf(task) : (awayOf(task) ?? reading?.refresh ?? null);
  return {
    kind: 'parsed',
    payloadDigest,
    contentDigest: bytes === body ? payloadDigest : sha1Digest(bytes),
    decodedBytes: bytes.length,
    page,
    redirect,
    decoded: task.want === 'robots' ? new Uint8Array(bytes) : null,
    archive: archiveOf(task, payloadDigest, page, redirect),
    parseMicros: elapsedMicros(),
    ...(plugged === null ? {} : extrasOf(task, plugged, bytes)),
  } satisfies ParsedPage;
}

/** What only some crawls ask for. */
function extrasOf(
  { keep, withoutPlugIns }: ParseTask,
  { reading, data, fault }: PluggedReading,
  bytes: Uint8Array,
): Pick<ParsedPage, 'kept' | 'data' | 'plugInFault'> {
  const failed = withoutPlugIns === true ? 'read without plug-ins: one of them ended its thread before' : fault;
  return {
    ...(keep === undefined
      ? {}
      : { kept: { text: keep.text ? reading.text : null, body: keep.body ? bytes.slice() : null } }),
    ...(data === null ? {} : { data }),
    ...(failed === null ? {} : { plugInFault: failed }),
  };
}

function askedOf({ url, finalUrl, status, headers, links, robotsMeta, challenge }: ParseTask): Asked {
  const { forms } = links;
  const from = finalUrl !== undefined && URL.canParse(finalUrl) ? finalUrl : url;
  return { url: from, status, headers, challenge, forms, productToken: robotsMeta.productToken };
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

/** Where a browser was led to another host: that page's own URL. Null where it was not, or where no crawl could follow. */
function awayOf({ url, finalUrl }: ParseTask): Candidate | null {
  if (finalUrl === undefined || !URL.canParse(finalUrl) || !isElsewhere(url, finalUrl)) return null;
  const target = candidate(finalUrl, url, 'redirect', 'location');
  return isRefused(target) ? null : target;
}

/** RFC 9110 §10.2.2. Its bytes are UTF-8 where they can be. Null where there is none that a crawl could follow. */
function locationOf(task: ParseTask): Candidate | null {
  const location = firstHeader(task.headers, 'location');
  if (location === null) return null;
  const target = candidate(asUtf8(location), task.url, 'redirect', 'location');
  return isRefused(target) ? null : target;
}
