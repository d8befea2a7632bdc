/**
 * HTTP/2 on a socket whose server has chosen it (RFC 9113): a session that carries one request at a time, as hosts are
 * asked (P1), and tells of it in the words of the other HTTP library.
 *
 * What the session hides is looked at here. A stream that is reset without an error, or goes with its connection, ends
 * like a whole one: only the flag of the last frame says that it is whole. Bytes are counted by whoever listens; nothing
 * here holds more of them than a window.
 *
 * 1. Each request ends in exactly one of `onResponseEnd` and `onResponseError`, unless the session was destroyed first.
 * 2. A session that has seen an error, or is told to go away, carries no further request.
 * 3. Header lists have the bound of header blocks, interim answers included; nothing is pushed.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { FailureCode } from './failure.js';
import { Fault } from './failure.js';

export interface Http2Options {
  readonly origin: string;
  readonly headerBytesMax: number;
  readonly keepAliveMs: number;
}

/** What is told of a request and its answer; the methods are those of the other library's handlers. */
export interface AnswerListener {
  onRequestStart(): void;
  onResponseStart(head: { readonly rawHeaders?: unknown }, status: number, headers: unknown, text?: string): void;
  onResponseData(head: unknown, piece: Buffer): void;
  onResponseEnd(): void;
  onResponseError(head: unknown, error: Error): void;
}

/** The most that comes of a paused answer. The connection carries one stream: both windows are this large. */
const WINDOW_BYTES = 256 * 1024;
/** A field of an empty name and value is told all the same; what its entry takes (RFC 9113 §6.5.2). */
const ENTRY_BYTES = 32;
const FIELDS_MIN = 128;

export class Http2Speaker {
  readonly #session: ClientHttp2Session;
  readonly #options: Http2Options;
  #stream: ClientHttp2Stream | null = null;
  #answerBegan = false;
  #idling: ReturnType<typeof setTimeout> | null = null;

  constructor(socket: Socket, options: Http2Options) {
    this.#options = options;
    const { headerBytesMax } = options;
    this.#session = connect(options.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: headerBytesMax },
      maxHeaderListPairs: Math.max(FIELDS_MIN, Math.ceil(headerBytesMax / ENTRY_BYTES)),
    });
    // The stream under way is told of it; without a listener it would be fatal.
    this.#session.on('error', () => {});
    this.#session.once('connect', () => this.#session.setLocalWindowSize(WINDOW_BYTES));
    this.#session.on('goaway', () => this.#session.close());
  }

  /** Whether another request may be written on it. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether anything came in answer to the last request. */
  get answerBegan(): boolean {
    return this.#answerBegan;
  }

  dispatch(path: string, headers: readonly string[], listener: AnswerListener): void {
    if (this.#idling !== null) clearTimeout(this.#idling);
    this.#answerBegan = false;
    listener.onRequestStart();
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(fieldsOf(path, this.#options.origin, headers), { endStream: true });
    } catch (error) {
      // It went between its last answer and this request.
      return listener.onResponseError(null, new Fault('connection_reset', (error as Error).message));
    }
    this.#stream = stream;
    new StreamAnswer(stream, listener, this.#options.headerBytesMax, () => {
      this.#answerBegan = true;
    }).listen(() => this.#rest(stream));
  }

  hold(): void {
    this.#stream?.pause();
  }

  flow(): void {
    this.#stream?.resume();
  }

  /** Ends the request under way, if any; the socket closes. */
  destroy(fault: Fault): void {
    if (this.#idling !== null) clearTimeout(this.#idling);
    this.#session.destroy(fault);
  }

  #rest(stream: ClientHttp2Stream): void {
    if (this.#stream === stream) this.#stream = null;
    if (!this.isUsable) return;
    this.#idling = setTimeout(() => this.#session.close(), this.#options.keepAliveMs);
    this.#idling.unref();
  }
}

/** One stream, from its first field to its end. */
class StreamAnswer {
  readonly #stream: ClientHttp2Stream;
  readonly #listener: AnswerListener;
  readonly #headerBytesMax: number;
  readonly #begun: () => void;
  #isWhole = false;
  #isOver = false;
  #hasHead = false;
  #declared: number | null = null;
  #received = 0;
  #interimBytes = 0;

  constructor(stream: ClientHttp2Stream, listener: AnswerListener, headerBytesMax: number, begun: () => void) {
    this.#stream = stream;
    this.#listener = listener;
    this.#headerBytesMax = headerBytesMax;
    this.#begun = begun;
  }

  /** @param over the stream has ended whole, and the session may rest */
  listen(over: () => void): void {
    const stream = this.#stream;
    this.#watchEnd();
    stream.on('headers', (_headers, _flags, ...more: unknown[]) => this.#interim(rawIn(more)));
    stream.on('response', (headers, _flags, ...more: unknown[]) => this.#head(Number(headers[':status']), rawIn(more)));
    stream.on('data', (piece: Buffer) => {
      this.#received += piece.length;
      this.#listener.onResponseData(null, piece);
    });
    stream.on('end', () => {
      // A reset without an error ends it too, and so does a connection that closes.
      if (this.#isOver || !this.#isWhole || !this.#hasHead || isFaulty(stream)) return;
      this.#isOver = true;
      over();
      this.#listener.onResponseEnd();
    });
    stream.on('error', (error) => this.#fail(this.#faultOf(error)));
    stream.on('close', () => this.#fail(this.#faultOf(null)));
  }

  /**
   * The last frame's flag ends the reading side while the stream is open; a reset or a lost connection ends it when the
   * stream is closed already. No event tells one from the other.
   */
  #watchEnd(): void {
    const stream = this.#stream;
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk === null && !stream.closed) this.#isWhole = true;
      return push(chunk, encoding);
    };
  }

  #interim(raw: string[]): void {
    this.#begun();
    this.#interimBytes += bytesOf(raw);
    if (this.#interimBytes > this.#headerBytesMax) this.#fail(this.#overflow());
  }

  #head(status: number, raw: string[]): void {
    this.#begun();
    this.#hasHead = true;
    const rawHeaders = raw.slice(2 * pseudoFieldsIn(raw));
    if (bytesOf(rawHeaders) > this.#headerBytesMax) return this.#fail(this.#overflow());
    this.#declared = lengthIn(rawHeaders);
    this.#listener.onResponseStart({ rawHeaders }, status, null);
  }

  #fail(fault: Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onResponseError(null, fault);
  }

  #overflow(): Fault {
    return new Fault('header_overflow', `more than ${this.#headerBytesMax} bytes of header fields`);
  }

  /** What broke. Null: the stream closed without a word. */
  #faultOf(error: Error | null): Fault {
    if (error instanceof Fault) return error;
    const { rstCode = 0 } = this.#stream;
    const detail = error?.message ?? `the stream was closed with ${nameOf(rstCode)}`;
    return new Fault(this.#codeOf((error as NodeJS.ErrnoException | null)?.code ?? '', rstCode), detail);
  }

  #codeOf(code: string, rstCode: number): FailureCode {
    const cutShort = this.#hasHead ? 'truncated' : 'connection_reset';
    if (code === 'ERR_HTTP2_SESSION_ERROR' || code === '') return cutShort;
    if (!code.startsWith('ERR_HTTP2_')) return code === 'EPROTO' ? 'protocol_error' : 'connection_reset';
    if (code !== 'ERR_HTTP2_STREAM_ERROR') return 'protocol_error';
    if (this.#declared !== null && this.#received < this.#declared) return 'truncated';
    return MISSPOKEN.has(rstCode) ? 'protocol_error' : cutShort;
  }
}

/** With these one side tells the other that it can't be understood (RFC 9113 §7). */
const MISSPOKEN: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_STREAM_CLOSED,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
  constants.NGHTTP2_HTTP_1_1_REQUIRED,
]);

function isFaulty({ rstCode = 0 }: ClientHttp2Stream): boolean {
  return rstCode !== constants.NGHTTP2_NO_ERROR;
}

function nameOf(rstCode: number): string {
  const [name] =
    Object.entries(constants).find(
      ([key, value]) => key.startsWith('NGHTTP2_') && value === rstCode && ERROR_NAME.test(key),
    ) ?? [];
  return name?.slice('NGHTTP2_'.length) ?? `error ${rstCode}`;
}

const ERROR_NAME =
  /_(?:NO_ERROR|PROTOCOL_ERROR|INTERNAL_ERROR|FLOW_CONTROL_ERROR|SETTINGS_TIMEOUT|STREAM_CLOSED|FRAME_SIZE_ERROR|REFUSED_STREAM|CANCEL|COMPRESSION_ERROR|CONNECT_ERROR|ENHANCE_YOUR_CALM|INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)$/;

/** RFC 9113 §8.3.1: the pseudo-header fields come first; names are in lower case. */
function fieldsOf(path: string, origin: string, headers: readonly string[]): Record<string, string | string[]> {
  const { host } = new URL(origin);
  const fields: Record<string, string | string[]> = {
    ':method': 'GET',
    ':scheme': 'https',
    ':authority': host,
    ':path': path,
  };
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    const value = headers[i + 1] as string;
    const before = fields[name];
    fields[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return fields;
}

/** Node tells names and values as they came, an octet a character, behind what it makes of them. */
function rawIn(more: readonly unknown[]): string[] {
  const [raw] = more;
  return Array.isArray(raw) ? (raw as string[]) : [];
}

function pseudoFieldsIn(raw: readonly string[]): number {
  let count = 0;
  while (raw[2 * count]?.startsWith(':') === true) count++;
  return count;
}

function bytesOf(raw: readonly string[]): number {
  return raw.reduce((sum, text) => sum + text.length, 0);
}

function lengthIn(raw: readonly string[]): number | null {
  const place = raw.findIndex((name, i) => i % 2 === 0 && name === 'content-length');
  const declared = place === -1 ? '' : (raw[place + 1] ?? '');
  return /^\d{1,15}$/.test(declared) ? Number(declared) : null;
}
