/**
 * What a body is, from its Content-Type and, where that says nothing or lies, from its first bytes (MIME Sniffing
 * Standard §7).
 *
 * A declared type is believed with one exception: bytes that begin like a picture, an archive or a PDF are not text,
 * whatever the header says. An absent type is sniffed.
 */
import { MIMEType } from 'whatwg-mimetype';
import type { Header } from '../domain/fetching.js';
import { headerValues } from './headers.js';

export interface MediaType {
  /** `type/subtype` in lower case, as declared or, where nothing was, as sniffed. */
  readonly mime: string;
  /** The label in the header's `charset`; null without one. */
  readonly charsetLabel: string | null;
  /** What can be read of it. */
  readonly reading: 'markup' | 'text' | 'nothing';
}

/** As far as signatures are looked for. */
const HEAD_BYTES = 1445;

export function mediaTypeOf(headers: readonly Header[], bytes: Uint8Array): MediaType {
  const declared = declaredType(headers);
  const head = bytes.subarray(0, HEAD_BYTES);
  const mime = declared?.essence ?? sniff(head);
  const charsetLabel = declared?.parameters.get('charset') ?? null;
  return { mime, charsetLabel, reading: binarySignature(head) === null ? readingOf(mime, head) : 'nothing' };
}

function readingOf(mime: string, head: Uint8Array): MediaType['reading'] {
  if (mime === 'text/html' || mime === 'application/xhtml+xml') return 'markup';
  if (mime === 'text/plain') return hasBinaryBytes(head) && !hasUtf16Mark(head) ? 'nothing' : 'text';
  return 'nothing';
}

/** The last usable Content-Type counts (Fetch Standard, 'extract a MIME type'). */
function declaredType(headers: readonly Header[]): MIMEType | null {
  let last: MIMEType | null = null;
  for (const value of headerValues(headers, 'content-type')) {
    const type = MIMEType.parse(value);
    if (type !== null && !SAYS_NOTHING.has(type.essence)) last = type;
  }
  return last;
}

const SAYS_NOTHING = new Set(['*/*', 'unknown/unknown', 'application/unknown']);

function sniff(head: Uint8Array): string {
  if (hasUtf16Mark(head)) return 'text/plain';
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  const start = text.replace(/^\xef\xbb\xbf/, '').trimStart();
  if (HTML_SIGNATURE.test(start)) return 'text/html';
  if (start.startsWith('<?xml')) return XHTML_SIGNATURE.test(start) ? 'application/xhtml+xml' : 'text/xml';
  return binarySignature(head) ?? (hasBinaryBytes(head) ? 'application/octet-stream' : 'text/plain');
}

/** MIME Sniffing Standard §7.1, the table for HTML. */
const HTML_SIGNATURE =
  /^<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|body|br|b|p)[\t\n\f\r >])/i;

/** What the table leaves out: XHTML under an XML declaration, of which the Web is full. */
const XHTML_SIGNATURE = /^<\?xml[^>]*>\s*(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html)[\s>]/i;

/** First bytes that no text has (MIME Sniffing Standard §6 and §7.1). */
const BINARY_SIGNATURES: readonly (readonly [signature: string, mime: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['\x00\x00\x01\x00', 'image/x-icon'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['OggS\x00', 'application/ogg'],
  ['ID3', 'audio/mpeg'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07', 'application/x-rar-compressed'],
  ['7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
  ['\x7fELF', 'application/octet-stream'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/octet-stream'],
];

function binarySignature(head: Uint8Array): string | null {
  for (const [signature, mime] of BINARY_SIGNATURES) if (beginsWith(head, signature, 0)) return mime;
  if (beginsWith(head, 'RIFF', 0)) {
    if (beginsWith(head, 'WEBPVP', 8)) return 'image/webp';
    if (beginsWith(head, 'WAVE', 8)) return 'audio/wave';
    if (beginsWith(head, 'AVI ', 8)) return 'video/avi';
  }
  return beginsWith(head, 'ftyp', 4) ? 'video/mp4' : null;
}

function beginsWith(head: Uint8Array, signature: string, at: number): boolean {
  for (let i = 0; i < signature.length; i++) if (head[at + i] !== signature.charCodeAt(i)) return false;
  return true;
}

/** MIME Sniffing Standard §3: a binary data byte. */
function hasBinaryBytes(head: Uint8Array): boolean {
  return head.some(
    (byte) => byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f),
  );
}

function hasUtf16Mark(head: Uint8Array): boolean {
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
}
