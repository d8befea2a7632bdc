/**
 * What a client says through a passage, up to its one request and no further (P1, P2).
 *
 * A client that asks again by itself, where a server refuses its HTTP/2 stream unread, does so on the connection that it
 * has, inside of TLS. Lengths of TLS records are there for all to see, and they are enough: before an answer begins a
 * client owes its server acknowledgements only, each of them shorter than any request. A longer record is held; one that
 * no sum of acknowledgements comes to is another request, and nobody hears of it.
 *
 *     opening ──a record as long as a request──▶ asking ──the server speaks──▶ asked ──an answer begins──▶ answered
 *
 * All passes but in `asked`: what comes before the server has spoken is of the same request, in however many records.
 *
 * What is not TLS passes as it is: HTTP/1.1 has one connection for each attempt, and a passage has one connection.
 */
import { Transform, type TransformCallback } from 'node:stream';

// RFC 8446 §5.1, B.1; lengths in octets.
const HEAD_BYTES = 5;
const [CHANGE_CIPHER, HANDSHAKE, DATA] = [20, 22, 23] as const;
const KINDS: ReadonlySet<number> = new Set([CHANGE_CIPHER, 21, HANDSHAKE, DATA]);
/** TLS 1.3: a tag, and the kind. TLS 1.2 has other ones, known by its last message of the handshake, which has 16 octets. */
const SEALING_BYTES = 17;
const FINISHED_BYTES = 16;
/** A record of the handshake that is longer is a greeting, said once more in clear. */
const SEALED_FINISHED_BYTES_MAX = 100;

/** Behind the handshake come a preface and settings, 122 octets at most; a browser's header fields are more than that. */
const REQUEST_BYTES_MIN = 200;
/** RFC 9113 §6.5, §6.7: acknowledgements of settings and of a ping. */
const SETTINGS_ACK_BYTES = 9;
const PING_ACK_BYTES = 17;
/** A second request of few, wholly indexed fields has 24. */
const PASSING_BYTES_MAX = 22;
/** A server says what its settings are, and perhaps once more. */
const SETTINGS_MAX = 2;
const PINGS_MAX = 8;

export class OneRequest extends Transform {
  readonly #onAnother: () => void;
  #stage: 'opening' | 'asking' | 'asked' | 'answered' = 'opening';
  #heard: Buffer = Buffer.alloc(0);
  #held: Buffer[] = [];
  #sealingBytes = SEALING_BYTES;
  #hasChangedCipher = false;
  #isAnother = false;

  /** @param onAnother called at most once: another request was on its way, and it and all behind it are dropped */
  constructor(onAnother: () => void) {
    super();
    this.#onAnother = onAnother;
  }

  /** The far end has said something, whatever it is. */
  spokenTo(): void {
    if (this.#stage === 'asking') this.#stage = 'asked';
  }

  /** What the client says now is about its answer. */
  answered(): void {
    this.#stage = 'answered';
    for (const record of this.#held.splice(0)) this.push(record);
    this.#passOn();
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#heard = this.#heard.length === 0 ? piece : Buffer.concat([this.#heard, piece]);
    while (this.#stage !== 'answered') {
      const record = this.#nextRecord();
      if (record === null) return done();
      this.#pass(record);
    }
    this.#passOn();
    done();
  }

  /** What is held when the client hangs up is for nobody any more. */
  override _flush(done: TransformCallback): void {
    this.#stage = 'answered';
    this.#held = [];
    this.#heard = Buffer.alloc(0);
    done();
  }

  #passOn(): void {
    if (this.#heard.length > 0) this.push(this.#heard);
    this.#heard = Buffer.alloc(0);
  }

  /** Null: there is none yet; or none at all, as it is not TLS that is spoken. */
  #nextRecord(): Buffer | null {
    if (this.#heard.length < HEAD_BYTES) return null;
    if (!KINDS.has(this.#heard[0] as number) || this.#heard[1] !== 3) {
      this.answered();
      return null;
    }
    const length = HEAD_BYTES + this.#heard.readUInt16BE(3);
    if (this.#heard.length < length) return null;
    const record = this.#heard.subarray(0, length);
    this.#heard = this.#heard.subarray(length);
    return record;
  }

  #pass(record: Buffer): void {
    const kind = record[0] as number;
    const length = record.length - HEAD_BYTES;
    if (kind === CHANGE_CIPHER) this.#hasChangedCipher = true;
    else if (kind === HANDSHAKE && this.#hasChangedCipher && length <= SEALED_FINISHED_BYTES_MAX)
      this.#sealingBytes = length - FINISHED_BYTES;
    const said = kind === DATA ? length - this.#sealingBytes : 0;
    if (this.#stage === 'opening' && said >= REQUEST_BYTES_MIN) this.#stage = 'asking';
    if (this.#stage === 'asked' && (said > PASSING_BYTES_MAX || this.#held.length > 0)) this.#hold(record, said);
    else this.push(record);
  }

  #hold(record: Buffer, said: number): void {
    this.#held.push(record);
    if (this.#isAnother || said <= PASSING_BYTES_MAX || mayAcknowledge(said)) return;
    this.#isAnother = true;
    this.#onAnother();
  }
}

/** Whether it may be acknowledgements of settings and pings that were sent together. */
function mayAcknowledge(bytes: number): boolean {
  for (let settings = 0; settings <= SETTINGS_MAX; settings++) {
    const pings = (bytes - settings * SETTINGS_ACK_BYTES) / PING_ACK_BYTES;
    if (Number.isInteger(pings) && pings <= PINGS_MAX) return true;
  }
  return false;
}
