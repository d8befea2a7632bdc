/**
 * Links of pages in an old encoding: their query is sent in the page's encoding (URL Standard §4.4, query state),
 * their path in UTF-8 as everywhere.
 *
 * Done before the URL is parsed: what isn't ASCII in the query is written as escapes of its bytes, and the parser
 * leaves escapes alone.
 */
import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';

type Encode = (text: string) => Uint8Array;

/** @param charset the document's, in lower case. */
export function withLegacyQuery(href: string, charset: string): string {
  const question = href.indexOf('?');
  if (question === -1 || IS_UNICODE.test(charset) || !BEYOND_ASCII.test(href)) return href;
  const hash = href.indexOf('#');
  if (hash !== -1 && hash < question) return href;
  const encode = encoderOf(charset);
  if (encode === null) return href;
  const end = hash === -1 ? href.length : hash;
  const query = href.slice(question, end).replace(BEYOND_ASCII_RUNS, (run) => escapeRun(run, encode, isPlainInQuery));
  return href.slice(0, question) + query + href.slice(end);
}

/** A name or a value of a form as it is sent (URL Standard §5.2, 'urlencoded serializing'). */
export function escapeFormText(text: string, charset: string): string {
  const encode = IS_UNICODE.test(charset) ? null : encoderOf(charset);
  const escaped = text.replace(FORM_ESCAPED, (run) =>
    encode === null ? escapeUtf8(run) : escapeRun(run, encode, isPlainInForm),
  );
  return escaped.replaceAll(' ', '+');
}

const FORM_ESCAPED = /[^A-Za-z0-9*._ -]+/g;

function escapeUtf8(run: string): string {
  return escapeBytes(Buffer.from(run, 'utf8'), isPlainInForm);
}

function isPlainInForm(byte: number): boolean {
  return /[A-Za-z0-9*._-]/.test(String.fromCharCode(byte));
}

/** Encodings whose output encoding is UTF-8 (Encoding Standard §4.3). */
const IS_UNICODE = /^(?:utf-8|utf-16|replacement)/;
const BEYOND_ASCII = /[^\x00-\x7f]/;
const BEYOND_ASCII_RUNS = /[^\x00-\x7f]+/g;

const MULTIBYTE = new Set(['big5', 'euc-jp', 'euc-kr', 'gb18030', 'gbk', 'iso-2022-jp', 'shift_jis']);
const encoders = new Map<string, Encode | null>();

function encoderOf(charset: string): Encode | null {
  let encode = encoders.get(charset);
  if (encode === undefined) {
    encode = makeEncoder(charset);
    encoders.set(charset, encode);
  }
  return encode;
}

function makeEncoder(charset: string): Encode | null {
  try {
    return MULTIBYTE.has(charset) ? createMultibyteEncoder(charset) : createSinglebyteEncoder(charset);
  } catch {
    return null;
  }
}

function escapeRun(run: string, encode: Encode, isSentPlain: (byte: number) => boolean): string {
  try {
    return escapeBytes(encode(run), isSentPlain);
  } catch {
    return Array.from(run, (character) => escapeCharacter(character, encode, isSentPlain)).join('');
  }
}

/** What the encoding lacks is sent as a numeric reference, itself escaped (URL Standard §1.3). */
function escapeCharacter(character: string, encode: Encode, isSentPlain: (byte: number) => boolean): string {
  try {
    return escapeBytes(encode(character), isSentPlain);
  } catch {
    const isLoneSurrogate = character.length === 1 && /[\ud800-\udfff]/.test(character);
    return `%26%23${isLoneSurrogate ? 0xfffd : character.codePointAt(0)}%3B`;
  }
}

/** Bytes that are ASCII and allowed in a query stay: second bytes of double-byte encodings are sent so. */
function isPlainInQuery(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && !QUERY_ESCAPED.has(byte);
}

function escapeBytes(bytes: Uint8Array, isSentPlain: (byte: number) => boolean): string {
  let out = '';
  for (const byte of bytes) {
    out += isSentPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

/** `"`, `#`, `'`, `<`, `>`: the special-query percent-encode set within printable ASCII. */
const QUERY_ESCAPED = new Set([0x22, 0x23, 0x27, 0x3c, 0x3e]);
