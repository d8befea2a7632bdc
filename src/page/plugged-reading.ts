/**
 * A reading with what plug-ins make of it: the handler of its type first, then link extractors.
 *
 * A plug-in that fails leaves the reading as it was before it, with a note; the page is never lost by it.
 */
import { pageKind } from '../policy/page-kind.js';
import { charsetOf, decodeText } from './charset.js';
import type { FoundLink } from './links.js';
import { mediaTypeOf } from './media-type.js';
import { type HandledContent, type PlugIns, PlugInFault } from './plug-ins.js';
import { type Asked, type PageReading, readPage } from './reading.js';
import { joinSpace } from './words.js';

export interface PluggedReading {
  readonly reading: PageReading;
  /** JSON text; null without any. */
  readonly data: string | null;
  /** Which plug-in failed, and how; null where none did. */
  readonly fault: string | null;
}

export function readPlugged(asked: Asked, bytes: Uint8Array, plugIns: PlugIns): PluggedReading {
  const read = readPage(asked, bytes);
  const handle = plugIns.handlerOf(read.mime);
  const extract = plugIns.extractorOf(read.mime);
  if (handle === null && extract === null) return { reading: read, data: null, fault: null };
  const { url, headers } = asked;
  const { mime } = read;
  const text = lazily(() => read.markup?.source ?? textOf(asked, bytes, read));
  const handled = handle === null ? NOTHING : trusted(() => handle({ url, mime, headers, bytes, text }), {});
  const reading = handled.answer === null ? read : withFacts(read, handled.answer);
  const found: Outcome<readonly FoundLink[]> =
    extract === null ? NOTHING : trusted(() => extract({ url, mime, text: text() }), []);
  return {
    reading: found.answer === null ? reading : { ...reading, found: [...reading.found, ...found.answer] },
    data: handled.answer?.data ?? null,
    fault: handled.fault ?? found.fault,
  };
}

interface Outcome<T> {
  readonly answer: T | null;
  readonly fault: string | null;
}

const NOTHING = { answer: null, fault: null } as const;

function trusted<T>(run: () => T, otherwise: T): Outcome<T> {
  try {
    return { answer: run(), fault: null };
  } catch (error) {
    if (!(error instanceof PlugInFault)) throw error;
    return { answer: otherwise, fault: error.message };
  }
}

function withFacts(read: PageReading, { title, text, links }: HandledContent): PageReading {
  const plugged = { ...read, title: title === undefined ? read.title : title, found: links ?? read.found };
  if (text === undefined) return plugged;
  const joined = joinSpace(text);
  const measures = { textLength: joined.length, linkTextLength: 0, links: 0, isPassing: false };
  const kind = read.kind === 'other' ? pageKind({ reading: 'text', ...measures }) : read.kind;
  return { ...plugged, text: joined, kind };
}

function textOf({ headers }: Asked, bytes: Uint8Array, { charset }: PageReading): string {
  return decodeText(bytes, charset ?? charsetOf(bytes, mediaTypeOf(headers, bytes).charsetLabel, false));
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
