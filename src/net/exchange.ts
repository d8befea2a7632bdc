/**
 * One request and its answer, on a line that is lent to it.
 *
 * The exchange listens to the HTTP library, counts what comes against its bounds, and ends in exactly one result.
 * Whatever ends it early (deadline, bound, signal, fault) goes one way: the ruling is noted, the line is destroyed,
 * and only when the socket is closed is the result told. So the server sees no request of ours overlap the next (P2).
 *
 * 1. One result, whatever happens, and never a rejection.
 * 2. The first ruling stands: what breaks because we broke it changes nothing.
 * 3. Time spent paused for the budget's sake counts neither against the deadline nor in the duration; it has a bound of
 *    its own, so that whoever gave the permit knows when the request is over at the latest (P1).
 * 4. A request is written once: a library that wanted to send it again is stopped.
 */
import { setMaxListeners } from 'node:events';
import { type FetchRequest, type FetchResult, type Header, PAUSED_MS_MAX } from '../domain/fetching.js';
import { Body } from './body.js';
import type { BodyBudget, Flow } from './budget.js';
import type { Deadlines, Timed } from './deadlines.js';
import { type FailureCode, Fault, isLengthMismatch, type Ruling, rulingOf } from './failure.js';
import type { Line, LineListener } from './line.js';
import { Stopwatch } from './stopwatch.js';

export interface ExchangeParts {
  readonly request: FetchRequest;
  /** What follows the origin in the request's URL, without a fragment. */
  readonly path: string;
  readonly line: Line;
  readonly signal: AbortSignal;
  readonly clock: { monotonicMs(): number };
  readonly deadlines: Deadlines;
  readonly budget: BodyBudget;
  /** `whole`: the line is free for another exchange. Otherwise its socket is closed. */
  readonly onEnd: (result: FetchResult, whole: boolean) => void;
}

interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly Header[];
  readonly body: Body;
}

/** How it ends with the line destroyed: as a failure, or as an answer that is kept, perhaps cut at its bound. */
type Ending = { readonly kind: 'failed'; readonly ruling: Ruling } | { readonly kind: 'kept'; readonly cut: boolean };

export class Exchange implements LineListener, Timed, Flow {
  readonly #parts: ExchangeParts;
  readonly #watch: Stopwatch;
  readonly #onAbort = () => this.#breakOff('interrupted', 'given up');
  #written = false;
  #onUsedSocket = false;
  #answer: Answer | null = null;
  #ending: Ending | null = null;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#watch = new Stopwatch(parts.clock, parts.request.deadlineMs);
  }

  get deadlineAtMs(): number {
    return this.#watch.deadlineAtMs;
  }

  start(): void {
    const { request, path, line, signal, deadlines } = this.#parts;
    // One signal is shared by all exchanges of a caller: many listeners are no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    deadlines.add(this);
    const headers: string[] = [];
    for (const [name, value] of request.headers) headers.push(name, value);
    line.dispatch(path, headers, this);
  }

  expire(): void {
    if (this.#watch.isPaused) {
      return this.#breakOff('interrupted', `paused for ${PAUSED_MS_MAX} ms, as too many bodies were in memory`);
    }
    const late = this.#bytesReceived() > 0;
    this.#breakOff(late ? 'too_slow' : 'timeout', `no end within ${this.#parts.request.deadlineMs} ms`);
  }

  pause(): void {
    this.#watch.pause();
    this.#parts.line.hold();
  }

  resume(): void {
    this.#watch.resume();
    if (this.#ending !== null) return;
    this.#parts.line.flow();
  }

  onRequestStart(): void {
    if (this.#written) return this.#breakOff('connection_reset', 'the connection went before the request was answered');
    this.#written = true;
    this.#onUsedSocket = this.#parts.line.requestsOnSocket > 0;
    this.#parts.line.requestStarts();
  }

  onRequestUpgrade(): void {
    this.#breakOff('protocol_error', 'the server changed the protocol unasked');
  }

  onResponseStart(head: { readonly rawHeaders?: unknown }, status: number, _headers: unknown, text?: string): void {
    if (status === 101) return this.#breakOff('protocol_error', 'the server changed the protocol unasked');
    if (status < 200 || this.#ending !== null) return;
    const headers = headersOf(head.rawHeaders);
    const declared = isBodiless(status) ? null : declaredLength(headers);
    this.#answer = { status, statusText: text ?? '', headers, body: new Body(declared) };
    const { bodyBytesMax, cutAtBound } = this.#parts.request;
    if (declared !== null && declared > bodyBytesMax && !cutAtBound) {
      this.#breakOff('too_large', `${declared} bytes are declared, ${bodyBytesMax} is the bound`);
    }
  }

  onResponseData(_head: unknown, piece: Buffer): void {
    if (this.#ending !== null || this.#answer === null) return;
    const { bodyBytesMax, cutAtBound } = this.#parts.request;
    const room = bodyBytesMax - this.#answer.body.length;
    if (piece.length <= room) {
      this.#keep(this.#answer.body, piece);
    } else if (cutAtBound) {
      this.#keep(this.#answer.body, piece.subarray(0, room));
      this.#end({ kind: 'kept', cut: true }, new Fault('too_large', 'cut at the bound'));
    } else {
      this.#breakOff('too_large', `more than ${bodyBytesMax} bytes`);
    }
  }

  onResponseEnd(): void {
    if (this.#ending !== null) return;
    // A body that ends with its connection is whole when the peer closes, and not when the connection breaks.
    if (this.#parts.line.isBroken) return this.#breakOff('connection_reset', 'the connection broke in the body');
    this.#tell(this.#answer, false, true);
  }

  onResponseError(_head: unknown, error: Error): void {
    // The Content-Length of a 304 is that of the body it doesn't have (RFC 9110 §8.6); the library takes it for a promise.
    if (isLengthMismatch(error) && this.#answer !== null && isBodiless(this.#answer.status)) {
      return this.#end({ kind: 'kept', cut: false }, new Fault('truncated', 'no body'));
    }
    const { code, detail } = rulingOf(error, {
      answered: this.#answer !== null,
      speaksHttp: this.#parts.line.speaksHttp,
    });
    this.#breakOff(code, detail);
  }

  #keep(body: Body, piece: Uint8Array): void {
    if (piece.length === 0) return;
    body.append(piece);
    this.#parts.budget.take(this, piece.length);
  }

  #breakOff(code: FailureCode, detail: string): void {
    this.#end({ kind: 'failed', ruling: { code, detail } }, new Fault(code, detail));
  }

  #end(ending: Ending, fault: Fault): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#watch.resume();
    const { durationMs } = this.#watch;
    void this.#parts.line.destroy(fault).then(() => {
      if (ending.kind === 'kept') this.#tell(this.#answer, ending.cut, false, durationMs);
      else this.#tellFailure(ending.ruling, durationMs);
    });
  }

  #tell(answer: Answer | null, cut: boolean, whole: boolean, durationMs = this.#watch.durationMs): void {
    if (answer === null)
      return this.#tellFailure({ code: 'protocol_error', detail: 'an end without an answer' }, durationMs);
    const { line, budget } = this.#parts;
    this.#leave();
    budget.finish(this);
    const response: FetchResult = {
      kind: 'response',
      status: answer.status,
      statusText: answer.statusText,
      httpVersion: line.httpVersion,
      headers: answer.headers,
      rawHead: headOf(line.rawHead, answer.status),
      sentHead: line.sentHead,
      body: answer.body.bytes(),
      cut,
      durationMs,
      remoteAddress: line.remoteAddress,
    };
    this.#parts.onEnd(response, whole);
  }

  #tellFailure(ruling: Ruling, durationMs: number): void {
    this.#leave();
    this.#parts.budget.drop(this);
    const failure: FetchResult = {
      kind: 'failure',
      code: ruling.code,
      detail: ruling.detail,
      status: this.#answer?.status ?? null,
      ...(this.#answer === null ? {} : { headers: this.#answer.headers }),
      durationMs,
      reusedConnection: this.#written && this.#onUsedSocket && !this.#parts.line.answerBegan,
    };
    this.#parts.onEnd(failure, false);
  }

  #leave(): void {
    this.#parts.deadlines.delete(this);
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
  }

  #bytesReceived(): number {
    return this.#answer?.body.length ?? 0;
  }
}

/** RFC 9112 §6.3: these end with their header block. */
function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** Only if it is that of the answer: the library and we may have read the bytes differently. */
function headOf(raw: string | null, status: number): string | null {
  return raw?.startsWith('HTTP/') && Number(raw.slice(9, 12)) === status ? raw : null;
}

function headersOf(raw: unknown): Header[] {
  const headers: Header[] = [];
  if (!Array.isArray(raw)) return headers;
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([latin1(raw[i]), latin1(raw[i + 1])]);
  return headers;
}

function latin1(octets: Buffer | string | undefined): string {
  return typeof octets === 'string' ? octets : (octets?.toString('latin1') ?? '');
}

function declaredLength(headers: readonly Header[]): number | null {
  const declared = headers.find(([name]) => name.length === 14 && name.toLowerCase() === 'content-length');
  return declared !== undefined && /^\d{1,15}$/.test(declared[1]) ? Number(declared[1]) : null;
}
