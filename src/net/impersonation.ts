/**
 * One request with a browser's handshake, and its answer: a client that is made for it, led through a passage of the
 * tunnel.
 *
 * The client decodes, negotiates and shakes hands by itself and tells little. So the bounds, the deadline and the end
 * are ours: whatever ends the exchange early closes the passage, and the client fails for want of a connection. What the
 * passage saw decides what a failure of the client is called.
 *
 * 1. One result, whatever happens, and never a rejection; the first ruling stands.
 * 2. When it is told, the sockets are closed (P2): nothing is kept for another request.
 * 3. What came over the wire has the bound of the body and of the headers; so has what it is decoded to (S2).
 * 4. The body is told decoded, and so the headers speak of no coding and of no length.
 */
import { setMaxListeners } from 'node:events';
import { type FetchRequest, type FetchResult, type Header, PAUSED_MS_MAX } from '../domain/fetching.js';
import { Body } from './body.js';
import type { BodyBudget, Flow } from './budget.js';
import type { Deadlines, Timed } from './deadlines.js';
import type { FailureCode, Ruling } from './failure.js';
import { Stopwatch } from './stopwatch.js';
import type { Passage } from './tunnel.js';

/** What is used of the answer that the client gives. */
export interface Answered {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
}

export interface ImpersonationParts {
  readonly request: FetchRequest;
  /** All that is sent, in this order. */
  readonly headers: readonly Header[];
  /** Makes the request, once. */
  readonly ask: (headers: readonly Header[]) => Promise<Answered>;
  readonly passage: Passage;
  readonly signal: AbortSignal;
  readonly clock: { monotonicMs(): number };
  readonly deadlines: Deadlines;
  readonly budget: BodyBudget;
}

/** Of TLS records and frames around a body: what a server that wastes no bytes needs, and more. */
const WRAPPING_BYTES_MAX = 128 * 1024;
const WRAPPING_SHARE = 1 / 32;
/** Beyond 1 MiB a body may grow to so much more than came; the same as where we decode ourselves. */
const RATIO_MAX = 100;
const RATIO_FREE_BYTES = 1024 * 1024;

/** What may come through the passage of a request. */
export function wireBytesMax({ bodyBytesMax, headerBytesMax }: FetchRequest): number {
  return Math.ceil(bodyBytesMax * (1 + WRAPPING_SHARE)) + headerBytesMax + WRAPPING_BYTES_MAX;
}

export class Impersonation implements Timed, Flow {
  readonly #parts: ImpersonationParts;
  readonly #watch: Stopwatch;
  readonly #onAbort = () => this.interrupt('given up');
  readonly #broken: Promise<never>;
  #break: (reason: unknown) => void = () => {};
  #ruling: Ruling | null = null;
  #wayOn: Promise<void> = Promise.resolve();
  #openWay: () => void = () => {};
  #answer: { status: number; statusText: string; headers: readonly Header[]; body: Body; isCoded: boolean } | null =
    null;

  constructor(parts: ImpersonationParts) {
    this.#parts = parts;
    this.#watch = new Stopwatch(parts.clock, parts.request.deadlineMs);
    this.#broken = new Promise((_, reject) => {
      this.#break = reject;
    });
    // Where nothing waits for it, it is no fault.
    this.#broken.catch(() => {});
  }

  get deadlineAtMs(): number {
    return this.#watch.deadlineAtMs;
  }

  expire(): void {
    if (this.#watch.isPaused) {
      return this.#breakOff('interrupted', `paused for ${PAUSED_MS_MAX} ms, as too many bodies were in memory`);
    }
    const late = this.#answer !== null && this.#answer.body.length > 0;
    this.#breakOff(late ? 'too_slow' : 'timeout', `no end within ${this.#parts.request.deadlineMs} ms`);
  }

  pause(): void {
    this.#watch.pause();
    this.#wayOn = new Promise((resolve) => {
      this.#openWay = resolve;
    });
  }

  resume(): void {
    this.#watch.resume();
    this.#openWay();
  }

  interrupt(why: string): void {
    this.#breakOff('interrupted', why);
  }

  /** The passage was cut at its bound. */
  exceed(): void {
    this.#breakOff('too_large', `more than ${wireBytesMax(this.#parts.request)} bytes over the wire`);
  }

  /** Never rejects. */
  async run(): Promise<FetchResult> {
    const { passage, signal, deadlines } = this.#parts;
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    deadlines.add(this);
    let isCut = false;
    try {
      isCut = await this.#exchange();
    } catch (error) {
      this.#ruling ??= this.#rulingOf(error);
    }
    deadlines.delete(this);
    signal.removeEventListener('abort', this.#onAbort);
    this.#watch.resume();
    const { durationMs } = this.#watch;
    await passage.close();
    return this.#result(isCut, durationMs);
  }

  /** @returns whether the body was cut at its bound, where the request lets it be */
  async #exchange(): Promise<boolean> {
    const { request, headers, ask, passage } = this.#parts;
    const answered = await this.#unlessBroken(ask(headers));
    passage.answered();
    if (answered.status < 200) {
      this.#breakOff('protocol_error', 'the server changed the protocol unasked');
      return false;
    }
    const received = headersOf(answered.headers);
    const isCoded = answered.headers.has('content-encoding');
    this.#answer = {
      status: answered.status,
      statusText: answered.statusText,
      headers: isCoded ? received.filter(([name]) => !OF_THE_CODING.has(name)) : received,
      body: new Body(isCoded ? null : lengthIn(answered.headers)),
      isCoded,
    };
    const bytes = received.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (bytes > request.headerBytesMax) {
      this.#breakOff('header_overflow', `${bytes} bytes of headers, ${request.headerBytesMax} is the bound`);
    }
    const reader = answered.body.getReader();
    for (;;) {
      const { done, value } = await this.#unlessBroken(reader.read());
      if (done) {
        this.#compare(this.#answer.body, isCoded ? null : lengthIn(answered.headers));
        return false;
      }
      if (this.#keep(this.#answer.body, value, isCoded)) return true;
      await this.#unlessBroken(this.#wayOn);
    }
  }

  /** The client takes some resets of a stream for its end; the length that was declared tells, where there is one. */
  #compare({ length }: Body, declared: number | null): void {
    const status = this.#answer?.status;
    if (declared === null || length >= declared || status === 204 || status === 304) return;
    this.#breakOff('truncated', `${length} bytes of ${declared} came`);
  }

  /** @returns whether it is cut here */
  #keep(body: Body, piece: Uint8Array, isCoded: boolean): boolean {
    const { request, passage, budget } = this.#parts;
    const room = request.bodyBytesMax - body.length;
    const isTooMuch = piece.length > room;
    if (isTooMuch && !request.cutAtBound) {
      this.#breakOff(isCoded ? 'bomb' : 'too_large', `more than ${request.bodyBytesMax} bytes`);
      return false;
    }
    const grown = body.length + piece.length;
    if (isCoded && grown > Math.max(RATIO_FREE_BYTES, RATIO_MAX * passage.bytesReceived)) {
      this.#breakOff('bomb', `${passage.bytesReceived} bytes grow past ${grown}`);
      return false;
    }
    const kept = isTooMuch ? piece.subarray(0, room) : piece;
    body.append(kept);
    if (kept.length > 0) budget.take(this, kept.length);
    return isTooMuch;
  }

  async #unlessBroken<T>(promise: Promise<T>): Promise<T> {
    // It may fail long after it was given up.
    promise.catch(() => {});
    if (this.#ruling !== null) throw this.#ruling;
    return Promise.race([promise, this.#broken]);
  }

  #breakOff(code: FailureCode, detail: string): void {
    if (this.#ruling !== null) return;
    this.#ruling = { code, detail };
    void this.#parts.passage.close();
    this.#openWay();
    this.#break(this.#ruling);
  }

  /** What the client's failure means, by what the passage has seen. */
  #rulingOf(error: unknown): Ruling {
    const { passage } = this.#parts;
    const detail = summaryOf(error);
    if (passage.fault !== null) return { code: passage.fault.code, detail: passage.fault.detail };
    if (this.#answer !== null) return { code: codeInBody(passage, this.#answer.isCoded, detail), detail };
    return { code: codeBeforeAnswer(passage, detail), detail };
  }

  #result(isCut: boolean, durationMs: number): FetchResult {
    const { request, headers, passage, budget } = this.#parts;
    const answer = this.#answer;
    if (this.#ruling !== null || answer === null) {
      budget.drop(this);
      const { code, detail } = this.#ruling ?? { code: 'protocol_error' as const, detail: 'an end without an answer' };
      return {
        kind: 'failure',
        code,
        detail,
        status: answer?.status ?? null,
        ...(answer === null ? {} : { headers: answer.headers }),
        durationMs,
        reusedConnection: false,
      };
    }
    budget.finish(this);
    return {
      kind: 'response',
      status: answer.status,
      statusText: answer.statusText,
      // The client does not tell which it was; a head is written down as that of HTTP/1.1 in any case.
      httpVersion: '1.1',
      headers: answer.headers,
      rawHead: null,
      sentHead: headSent(request, headers),
      body: answer.body.bytes(),
      cut: isCut,
      durationMs,
      remoteAddress: passage.remoteAddress,
    };
  }
}

/** These speak of a body that the client has decoded. */
const OF_THE_CODING: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

// The client has one class of errors for most things; its messages tell them apart, and a test holds each of them.

function codeBeforeAnswer({ farEnd }: Passage, detail: string): FailureCode {
  if (farEnd === 'unreached') return 'interrupted';
  // The connection went, and the client wanted another one: there is one for a request.
  if (detail.includes('SocksConnect')) return 'connection_reset';
  if (/\( Connect,/.test(detail)) return /eof|reset|broken ?pipe/i.test(detail) ? 'connect_failed' : 'tls_failed';
  if (/\bTooLarge\b/.test(detail)) return 'header_overflow';
  if (/\bParse\(/.test(detail) || farEnd === 'open') return 'protocol_error';
  return 'connection_reset';
}

/** While the body came: a connection that broke, one that ended too soon, or a coding that is broken in itself. */
function codeInBody({ farEnd }: Passage, isCoded: boolean, detail: string): FailureCode {
  if (farEnd === 'broken') return 'connection_reset';
  const isOfTransfer = detail.includes('source: hyper::Error(Body');
  if (!isOfTransfer) return isCoded ? 'undecodable' : 'truncated';
  return /kind: Invalid(?:Input|Data)/.test(detail) ? 'protocol_error' : 'truncated';
}

function headersOf(headers: Headers): Header[] {
  return [...headers].map(([name, value]) => [name, value] as const);
}

function lengthIn(headers: Headers): number | null {
  const declared = headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(declared) ? Number(declared) : null;
}

/** As it would read in HTTP/1.1, whatever was spoken (RFC 9112 §3). */
function headSent({ url, origin }: FetchRequest, headers: readonly Header[]): string {
  const { pathname, search } = new URL(url);
  const { host } = new URL(origin);
  const lines = [...headers, ['host', host] as const].map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const DETAIL_CHARACTERS_MAX = 300;

/** Its messages are printed structures over many lines: one line says the same. */
function summaryOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, DETAIL_CHARACTERS_MAX);
}
