/**
 * How an answer is kept: whole, or as a revisit of what the archive holds already.
 *
 * Decided inside the commit, where the digests of all that came before are known exactly, those of the same batch
 * included. The members were compressed elsewhere; a revisit is its head and a few lines, and takes the place of the
 * response between its request and its metadata.
 *
 * 1. A revisit refers to a response that is kept whole, never to another revisit.
 * 2. An empty payload is never revisited: all empty payloads are alike, and say nothing of each other.
 */
import type { Archived } from '../domain/record.js';
import type { ArchiveEntry } from '../protocols/commit.js';
import { type IndexEntry, mimeOfHead, REVISIT_MIME } from '../sinks/cdxj.js';
import { EMPTY_DIGEST } from '../sinks/digest.js';
import { type Revisit, revisitRecord } from '../sinks/warc-record.js';

/** What is appended to an archive file for one answer. */
export interface Kept {
  readonly record: 'response' | 'revisit';
  readonly chunks: readonly Uint8Array[];
  /** Where the response or revisit member begins in the chunks, and how long it is. */
  readonly offset: number;
  readonly length: number;
  readonly index: IndexEntry;
  /** Where the payload lies: here, or where it was kept before. Null for a 304 of which nothing is known. */
  readonly archived: Archived | null;
}

/** Whether a later answer with the same payload may refer to this one. */
export function isOriginal({ status, records: { payloadDigest } }: ArchiveEntry): boolean {
  return payloadDigest !== EMPTY_DIGEST && status !== NOT_MODIFIED;
}

const NOT_MODIFIED = 304;

/** @param original the newest response with the same payload; null: there is none */
export function keep(entry: ArchiveEntry, original: Archived | null): Kept {
  const { url, atMs, status, unmodified, records } = entry;
  if (unmodified !== null) return keptAsRevisit(entry, 'server-not-modified', unmodified);
  if (original !== null) return keptAsRevisit(entry, 'identical-payload-digest', original);
  const { bytes, responseOffset, responseLength, recordId, payloadDigest, head } = records;
  return {
    record: 'response',
    chunks: [bytes],
    offset: responseOffset,
    length: responseLength,
    index: { url, atMs, status, mime: mimeOfHead(head), payloadDigest },
    archived: status === NOT_MODIFIED ? null : { url, atMs, recordId, payloadDigest },
  };
}

function keptAsRevisit(entry: ArchiveEntry, why: Revisit['why'], original: Archived): Kept {
  const { url, atMs, status, remoteAddress, records } = entry;
  const { bytes, responseOffset, responseLength, recordId, head } = records;
  const revisit = revisitRecord({ url, atMs, remoteAddress, recordId, head, why, original });
  return {
    record: 'revisit',
    chunks: [bytes.subarray(0, responseOffset), revisit, bytes.subarray(responseOffset + responseLength)],
    offset: responseOffset,
    length: revisit.length,
    index: { url, atMs, status, mime: REVISIT_MIME, payloadDigest: original.payloadDigest },
    archived: original,
  };
}
