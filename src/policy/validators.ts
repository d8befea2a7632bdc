/**
 * Validators: what a page said of its version, and what is sent along when it is asked for again (RFC 9110 §8.8, §13).
 *
 * Intuition: whoever has the body asks 'only if it is another one by now'. An answer to that is either the page or
 * 304 without it; so a validator is only worth sending where the body that it stands for is kept.
 *
 * What a server said is looked at when it is stored and again when it is sent: nothing that is no validator by the
 * grammar is ever sent back, and nothing that is longer than any honest one.
 */
import type { Header } from '../domain/fetching.js';
import type { UrlRecord } from '../domain/record.js';
import { httpDateMsOf } from './throttle.js';

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Hashes with a size and a time in front have some hundred characters. */
export const ETAG_CHARACTERS_MAX = 512;

/** RFC 9110 §8.8.3. No space, no control character; obs-text as it came. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** The validators of an answer; null where there is none that could be sent back. */
export function validatorsOf(headers: readonly Header[], nowWallMs: number): Validators {
  return {
    etag: etagOf(headerOf(headers, 'etag')),
    lastModified: lastModifiedOf(headerOf(headers, 'last-modified'), nowWallMs),
  };
}

/** A 304 may say that what it confirms has another name by now (RFC 9111 §4.3.4); what it does not say stays. */
export function refreshed(known: Validators, told: Validators): Validators {
  return { etag: told.etag ?? known.etag, lastModified: told.lastModified ?? known.lastModified };
}

/**
 * The headers that make a request conditional; none where nothing is known, or where the body is not kept.
 * @param isArchived whether bodies are kept in an archive, so that a body must be there
 */
export function conditionsOf(
  record: Pick<UrlRecord, 'etag' | 'lastModified' | 'digest' | 'archived'>,
  isArchived: boolean,
  nowWallMs: number,
): Header[] {
  if (record.digest === null || (isArchived && record.archived === null)) return [];
  return conditionsBy(record, nowWallMs);
}

/** The same of whatever is kept. */
export function conditionsBy(known: Validators, nowWallMs: number): Header[] {
  const conditions: Header[] = [];
  const etag = etagOf(known.etag);
  const lastModified = lastModifiedOf(known.lastModified, nowWallMs);
  if (etag !== null) conditions.push(['if-none-match', etag]);
  if (lastModified !== null) conditions.push(['if-modified-since', lastModified]);
  return conditions;
}

export function isConditional(headers: readonly Header[]): boolean {
  return headers.some(([name]) => name === 'if-none-match' || name === 'if-modified-since');
}

function etagOf(value: string | null): string | null {
  const text = value?.trim() ?? '';
  return text.length <= ETAG_CHARACTERS_MAX && ETAG.test(text) ? text : null;
}

/** As it was spelled: servers compare it with their own (§13.1.3). One in the future says nothing (§8.8.2.1). */
function lastModifiedOf(value: string | null, nowWallMs: number): string | null {
  const text = value?.trim() ?? '';
  const atMs = httpDateMsOf(text, nowWallMs);
  return atMs !== null && atMs <= nowWallMs ? text : null;
}

function headerOf(headers: readonly Header[], name: string): string | null {
  return headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1] ?? null;
}
