/**
 * In which encoding a text is written, and the text.
 *
 * Declarations rule in the order of the HTML Standard (§13.2.3.2): byte order mark, Content-Type, meta. Only where
 * nothing is declared is there a guess: valid UTF-8 is UTF-8 (no other encoding looks like it by accident), else
 * the statistics of a sample around the first byte that isn't ASCII.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { legacyHookDecode, normalizeEncoding } from '@exodus/bytes/encoding.js';
import { detect } from 'chardet';
import sniffDeclared from 'html-encoding-sniffer';

/** What the guess may look at: a window around the first byte that isn't ASCII. */
const SAMPLE_BYTES = 16 * 1024;
const SAMPLE_BYTES_BEFORE = 1024;

/** What a text without any hint is on the web. */
const FALLBACK = 'windows-1252';

/**
 * @param label what Content-Type says, if anything; unknown labels are passed over.
 * @param isMarkup look for a meta element and an XML declaration.
 * @returns an encoding's name in lower case (Encoding Standard §4.2).
 */
export function charsetOf(bytes: Uint8Array, label: string | null, isMarkup: boolean): string {
  const declared = sniffDeclared(bytes, {
    xml: !isMarkup,
    transportLayerEncodingLabel: label ?? undefined,
    defaultEncoding: null,
  });
  if (declared !== null) return declared.toLowerCase();
  return (isMarkup ? xmlDeclaration(bytes) : null) ?? guess(bytes);
}

/** Bytes to text; what can't be read becomes U+FFFD, a byte order mark goes. Never throws. */
export function decodeText(bytes: Uint8Array, charset: string): string {
  return legacyHookDecode(bytes, charset);
}

const XML_DECLARATION = /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/;

/** XML 1.0 §4.3.3: XHTML says its encoding in its first line. One that could be read there is no UTF-16. */
function xmlDeclaration(bytes: Uint8Array): string | null {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x3f) return null;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  const label = XML_DECLARATION.exec(head)?.[1];
  const name = label === undefined ? null : normalizeEncoding(label);
  return name?.startsWith('utf-16') ? 'utf-8' : name;
}

function guess(bytes: Uint8Array): string {
  if (isUtf8(withoutCutSequence(bytes))) return 'utf-8';
  const from = Math.max(0, firstHighByte(bytes) - SAMPLE_BYTES_BEFORE);
  const label = detect(bytes.subarray(from, from + SAMPLE_BYTES));
  return (label === null ? null : normalizeEncoding(label)) ?? FALLBACK;
}

/** Without a UTF-8 sequence that the end of the bytes cuts off. */
function withoutCutSequence(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < needed ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

/** Blocks are skipped by the fast test, so that a long ASCII beginning costs little. */
function firstHighByte(bytes: Uint8Array): number {
  const block = 4096;
  let start = 0;
  while (start < bytes.length && isAscii(bytes.subarray(start, start + block))) start += block;
  for (let i = start; i < bytes.length; i++) if ((bytes[i] ?? 0) >= 0x80) return i;
  return 0;
}
