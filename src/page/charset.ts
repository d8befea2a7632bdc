/**
 * In which encoding a text is written, and the text.
 *
 * Declarations rule in the order of the HTML Standard (§13.2.3.2): byte order mark, Content-Type, meta. Only where
 * nothing is declared is there a guess: valid UTF-8 is UTF-8 (no other encoding looks like it by accident), else the
 * statistics of those words that aren't ASCII. Of those only: markup and English say nothing of the encoding, and
 * they drown what does.
 */
import { isUtf8 } from 'node:buffer';
import { legacyHookDecode, normalizeEncoding } from '@exodus/bytes/encoding.js';
import { detect } from 'chardet';
import sniffDeclared from 'html-encoding-sniffer';

/** Enough words for the statistics. */
const SAMPLE_BYTES = 8 * 1024;

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
  const label = detect(sampleWords(bytes));
  return (label === null ? null : normalizeEncoding(label)) ?? FALLBACK;
}

/**
 * The words with bytes beyond ASCII, a blank after each. A word's bytes are digits and all from 0x40 on: second bytes
 * of the double-byte encodings are among them, what ends a word in markup is not.
 */
function sampleWords(bytes: Uint8Array): Uint8Array {
  const sample = new Uint8Array(SAMPLE_BYTES);
  let sampled = 0;
  let start = 0;
  let isBeyondAscii = false;
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? BLANK;
    if (byte >= 0x40 || (byte >= 0x30 && byte <= 0x39)) {
      isBeyondAscii ||= byte >= 0x80;
      continue;
    }
    if (isBeyondAscii) {
      const word = bytes.subarray(start, Math.min(i, start + SAMPLE_BYTES - sampled));
      sample.set(word, sampled);
      sampled += word.length;
      if (sampled >= SAMPLE_BYTES) break;
      sample[sampled++] = BLANK;
      isBeyondAscii = false;
    }
    start = i + 1;
  }
  return sample.subarray(0, sampled);
}

const BLANK = 0x20;

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
