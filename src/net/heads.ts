/**
 * The heads of a request and of its answer as they go over the wire, an octet a character.
 *
 * The HTTP library tells headers, not bytes: what an archive is to hold is taken from the socket, beside it. Interim
 * answers (1xx) are passed over; the head of the last one is kept up to its blank line and with it (RFC 9112 §2.1).
 *
 * Invariant: what passes the bound, or is not whole, is null; nothing is ever cut.
 */
import { Buffer } from 'node:buffer';

type Collected =
  | { readonly phase: 'idle' }
  /** `bytes` came and hold no whole head. */
  | { readonly phase: 'collecting'; readonly bytes: Buffer }
  | { readonly phase: 'whole'; readonly head: string }
  | { readonly phase: 'beyond' };

const NOTHING = Buffer.alloc(0);

export class Heads {
  readonly #bytesMax: number;
  #sent: string | null = null;
  #answer: Collected = { phase: 'idle' };

  /** @param bytesMax of the head of one answer */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A request is about to be written. */
  begin(): void {
    this.#sent = null;
    this.#answer = { phase: 'collecting', bytes: NOTHING };
  }

  /** What is written: the head of a request without a body comes in one piece. */
  send(chunk: unknown): void {
    if (this.#answer.phase === 'collecting' && this.#sent === null && typeof chunk === 'string') this.#sent = chunk;
  }

  /** What is read, in order. The piece is held until the head is whole. */
  receive(chunk: Buffer): void {
    if (this.#answer.phase !== 'collecting') return;
    const { bytes } = this.#answer;
    this.#answer = this.#collect(bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]));
  }

  #collect(all: Buffer): Collected {
    let bytes = all;
    for (;;) {
      const end = endOfHead(bytes);
      if ((end ?? bytes.length) > this.#bytesMax) return { phase: 'beyond' };
      if (end === null) return { phase: 'collecting', bytes };
      const head = bytes.toString('latin1', 0, end);
      if (!isInterim(head)) return { phase: 'whole', head };
      bytes = bytes.subarray(end);
    }
  }

  /** Of the answer; null where it is not whole, or too long. */
  get received(): string | null {
    return this.#answer.phase === 'whole' ? this.#answer.head : null;
  }

  get sent(): string | null {
    return this.#sent;
  }
}

/** Behind the first blank line; null when there is none. A line may end without CR (RFC 9112 §2.2). */
export function endOfHead(bytes: Buffer): number | null {
  const usual = bytes.indexOf('\n\r\n');
  const bare = (usual < 0 ? bytes : bytes.subarray(0, usual)).indexOf('\n\n');
  if (bare >= 0) return bare + 2;
  return usual < 0 ? null : usual + 3;
}

/** 101 is no interim answer: after it HTTP is no longer spoken. */
export function isInterim(head: string): boolean {
  return /^HTTP\/\d\.\d 1(?!01)\d\d(?!\d)/.test(head);
}
