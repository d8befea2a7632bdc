/**
 * What the parser of HTTP/1.1 is spared: it is strict where two readings are a danger, and also where the standard says
 * how an odd thing is to be read. Interim answers that nobody asked for are passed over (RFC 9110 §15.2), and folded
 * fields are unfolded (RFC 9112 §5.2), before it sees them.
 *
 * 1. Only the head of an answer is ever held, and no more of it than its bound; then the bytes go through untouched.
 * 2. What does not begin like HTTP is not held at all.
 * 3. Nothing is added or taken away but interim heads and folds.
 */
import { endOfHead, isInterim } from './heads.js';

const BEGINNING = Buffer.from('HTTP/1.');
const FOLDED = /\r\n[ \t]+/g;
const [SPACE, TAB, LINE_FEED] = [0x20, 0x09, 0x0a] as const;
const NOTHING: Buffer = Buffer.alloc(0);

export class HeadGate {
  readonly #bytesMax: number;
  #isOpen = true;
  #held: Buffer = NOTHING;

  /** @param bytesMax of one head; a longer one is the parser's to refuse */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A request is about to be written: what comes next is a head. */
  begin(): void {
    this.#isOpen = false;
    this.#held = NOTHING;
  }

  /** @returns what the parser is to see of what came so far; null: nothing yet */
  pass(chunk: Buffer): Buffer | null {
    if (this.#isOpen) return chunk;
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (beginsLikeHttp(bytes)) {
      const end = endOfHead(bytes);
      if (end === null) {
        if (bytes.length > this.#bytesMax) break;
        this.#held = bytes;
        return null;
      }
      if (!isInterim(bytes.toString('latin1', 0, INTERIM_OCTETS))) return this.#open(unfolded(bytes, end));
      bytes = bytes.subarray(end);
    }
    // Between an interim answer and the next one there may be nothing yet.
    if (bytes.length === 0) {
      this.#held = bytes;
      return null;
    }
    return this.#open(bytes);
  }

  #open(bytes: Buffer): Buffer {
    this.#isOpen = true;
    this.#held = NOTHING;
    return bytes;
  }
}

/** `HTTP/1.1 100 `: what tells an interim answer. */
const INTERIM_OCTETS = 13;

function beginsLikeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, BEGINNING.length);
  return length > 0 && bytes.compare(BEGINNING, 0, length, 0, length) === 0;
}

/** Behind the status line there is nothing to be folded: what stands there is the parser's to refuse (RFC 9112 §2.2). */
function unfolded(bytes: Buffer, end: number): Buffer {
  const fields = bytes.indexOf(LINE_FEED) + 1;
  if (!hasFold(bytes, fields, end)) return bytes;
  const head = bytes.toString('latin1', fields, end);
  if (/^[ \t]/.test(head)) return bytes;
  return Buffer.concat([
    bytes.subarray(0, fields),
    Buffer.from(head.replace(FOLDED, ' '), 'latin1'),
    bytes.subarray(end),
  ]);
}

function hasFold(bytes: Buffer, start: number, end: number): boolean {
  for (let at = bytes.indexOf(LINE_FEED, start); at !== -1 && at + 1 < end; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (bytes[at + 1] === SPACE || bytes[at + 1] === TAB) return true;
  }
  return false;
}
