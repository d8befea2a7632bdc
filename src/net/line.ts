/**
 * A line to one origin at one vetted address: an HTTP client with a single socket, lent to one exchange at a time.
 *
 * Where HTTP/2 may be spoken, the server chooses as the socket is opened (RFC 7301), and another library speaks it.
 * The library of HTTP/1.1 speaks its protocol; the line owns the socket under it, and looks at three things that the
 * library doesn't tell or doesn't do safely: the version in the status line, whether any byte of an answer came, and
 * pausing; and a gate spares it what it would refuse although the standard says how it is to be read.
 * (Pausing the library's parser makes a reset connection throw outside of any handler, so the socket is held instead:
 * it reads nothing, and the kernel slows the sender.)
 *
 * 1. A line never leads anywhere but to its target: a name that moved gets another line (S1).
 * 2. One exchange at a time, one request per exchange.
 * 3. A line that failed once is destroyed and never lent again.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { openGuarded, type Target, type Trust } from './connect.js';
import { Fault } from './failure.js';
import { canonicalAddress } from './guard.js';
import { HeadGate } from './head-gate.js';
import { Heads } from './heads.js';
import { type AnswerListener, Http2Speaker } from './http2.js';

export interface LineOptions {
  /** Under which its owner keeps it. */
  readonly key: string;
  readonly origin: string;
  readonly target: Target;
  readonly trust: Trust;
  readonly keepAliveMs: number;
  readonly headerBytesMax: number;
  /** Whether HTTP/2 is offered where TLS is spoken. */
  readonly http2: boolean;
  /** A socket of this line opened (+1) or closed (-1). */
  readonly onSockets: (change: 1 | -1) => void;
  /** The socket of this line closed: nothing is lost if it is forgotten, unless it is lent. */
  readonly onClosed: (line: Line) => void;
  /** The server has chosen HTTP/2 and does not master it. */
  readonly onHttp2Unfit: (line: Line) => void;
}

/** The library of HTTP/1.1 tells one thing more. */
export interface LineListener extends AnswerListener {
  onRequestUpgrade(): void;
}

/** `HTTP/1.1`: enough of a status line to tell its version. */
const VERSION_OCTETS = 8;

export class Line {
  readonly #client: Client;
  readonly #options: LineOptions;
  #socket: Socket | null = null;
  #closed: Promise<void> = Promise.resolve();
  #remoteAddress = '';
  #requestsOnSocket = 0;
  #held = false;
  #broken = false;
  #statusLine = '';
  readonly #heads: Heads;
  readonly #gate: HeadGate;
  /** Once it is known. */
  #http2: Http2Speaker | null = null;
  /** Opened, and not yet with the library of HTTP/1.1. */
  #opened: Socket | null = null;
  #isChosen: boolean;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#isChosen = !options.http2 || !options.target.secure;
    this.#heads = new Heads(options.headerBytesMax);
    this.#gate = new HeadGate(options.headerBytesMax);
    this.#client = new Client(options.origin, {
      connect: (_options, callback) => this.#connect(callback),
      pipelining: 1,
      // Deadlines are ours; the library's own have a resolution of a second and forgive a dripping body.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      // What a server says of its keep-alive may shorten ours, never lengthen it.
      keepAliveMaxTimeout: options.keepAliveMs,
      // The library refuses at its bound, ours is the largest size that passes.
      maxHeaderSize: options.headerBytesMax + 1,
    });
    // Only emitted when the library fails in reporting a failure; without a listener it would be fatal.
    (this.#client as EventEmitter).on(
      'error',
      (error: Error) => void this.destroy(new Fault('protocol_error', error.message)),
    );
    this.#client.on('disconnect', () => options.onClosed(this));
  }

  get key(): string {
    return this.#options.key;
  }

  /** The address that the socket is in fact connected to. */
  get remoteAddress(): string {
    return this.#remoteAddress;
  }

  /** How many requests were written on this very socket. */
  get requestsOnSocket(): number {
    return this.#requestsOnSocket;
  }

  /** Whether any byte came since the last request was written. */
  get answerBegan(): boolean {
    return this.#http2 === null ? this.#statusLine !== '' : this.#http2.answerBegan;
  }

  /** Whether the peer broke the connection, rather than closing it. */
  get isBroken(): boolean {
    // With HTTP/2 the last frame says that an answer is whole, whatever becomes of the connection.
    return this.#broken && this.#http2 === null;
  }

  /** Whether another request may go this way. */
  get isUsable(): boolean {
    return this.#http2 === null || this.#http2.isUsable;
  }

  /** Whether the answer began with `HTTP/1.`: without that much of a status line nothing is HTTP. */
  get speaksHttp(): boolean {
    return /^HTTP\/1\.\d/.test(this.#statusLine);
  }

  get httpVersion(): '1.0' | '1.1' | '2' {
    if (this.#http2 !== null) return '2';
    return this.#statusLine.startsWith('HTTP/1.0') ? '1.0' : '1.1';
  }

  /** Of the last answer and of its request, as they went over the wire; null where they can't be had. */
  get rawHead(): string | null {
    return this.#http2 === null ? this.#heads.received : null;
  }

  get sentHead(): string | null {
    return this.#http2 === null ? this.#heads.sent : null;
  }

  dispatch(path: string, headers: string[], listener: LineListener): void {
    if (this.#isChosen) return this.#speak(path, headers, listener);
    this.#open(['h2', 'http/1.1'], (socket, fault) => {
      if (socket === null) return listener.onResponseError(null, fault);
      this.#isChosen = true;
      if ((socket as TLSSocket).alpnProtocol === 'h2') this.#http2 = new Http2Speaker(socket, this.#options);
      else this.#opened = socket;
      this.#speak(path, headers, listener);
    });
  }

  #speak(path: string, headers: string[], listener: LineListener): void {
    if (this.#http2 === null) this.#client.dispatch({ method: 'GET', path, headers }, listener);
    else this.#http2.dispatch(path, headers, this.#heeding(listener));
  }

  /** A server that chooses HTTP/2 and can't be understood is asked in HTTP/1.1 from then on. */
  #heeding(listener: AnswerListener): AnswerListener {
    return {
      onRequestStart: () => listener.onRequestStart(),
      onResponseStart: (...told) => listener.onResponseStart(...told),
      onResponseData: (...told) => listener.onResponseData(...told),
      onResponseEnd: () => listener.onResponseEnd(),
      onResponseError: (head, error) => {
        if (error instanceof Fault && error.code === 'protocol_error') this.#options.onHttp2Unfit(this);
        listener.onResponseError(head, error);
      },
    };
  }

  /** To be called when a request is about to be written. */
  requestStarts(): void {
    this.#requestsOnSocket++;
    this.#statusLine = '';
    this.#heads.begin();
    this.#gate.begin();
  }

  /** Stops reading; what the peer sends fills the kernel's buffer and then waits with him. */
  hold(): void {
    this.#held = true;
    this.#http2?.hold();
  }

  flow(): void {
    this.#held = false;
    if (this.#http2 !== null) return this.#http2.flow();
    queueMicrotask(() => this.#socket?.emit('readable'));
  }

  /** Ends the exchange under way, if any, with the fault. @returns when the socket is closed */
  async destroy(fault: Fault): Promise<void> {
    this.#held = false;
    void this.#client.destroy(fault);
    this.#http2?.destroy(fault);
    // While it is still connecting the library doesn't know the socket yet.
    this.#socket?.destroy(fault);
    await this.#closed;
  }

  #connect(callback: (...result: [null, Socket] | [Error, null]) => void): void {
    const opened = this.#opened;
    this.#opened = null;
    // The library asks for a socket in the middle of its own work, and expects none before that is done.
    if (opened !== null && !opened.destroyed) return queueMicrotask(() => callback(null, opened));
    this.#open(['http/1.1'], (socket, fault) => (socket === null ? callback(fault, null) : callback(null, socket)));
  }

  #open(
    protocols: readonly ('h2' | 'http/1.1')[],
    done: (...result: [socket: Socket, fault: null] | [socket: null, fault: Fault]) => void,
  ): void {
    const { target, trust } = this.#options;
    openGuarded({ ...target, protocols }, trust, (socket) => this.#adopt(socket), {
      opened: (socket) => {
        this.#remoteAddress = canonicalAddress(socket.remoteAddress ?? '') ?? '';
        done(socket, null);
      },
      failed: (fault) => done(null, fault),
    });
  }

  #adopt(socket: Socket): void {
    this.#socket = socket;
    this.#requestsOnSocket = 0;
    this.#broken = false;
    this.#held = false;
    this.#options.onSockets(1);
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        if (this.#socket === socket) this.#socket = null;
        this.#options.onSockets(-1);
        if (this.#http2 !== null) this.#options.onClosed(this);
        resolve();
      });
    });
    socket.once('error', () => {
      this.#broken = true;
    });
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      if (this.#held && size !== 0) return null;
      for (;;) {
        const chunk: Buffer | null = read(size);
        if (chunk === null) return null;
        if (this.#statusLine.length < VERSION_OCTETS) this.#noteStatusLine(chunk);
        this.#heads.receive(chunk);
        const seen = this.#gate.pass(chunk);
        if (seen !== null) return seen;
      }
    };
    const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
    socket.write = (...given: unknown[]) => {
      this.#heads.send(given[0]);
      return write(...given);
    };
  }

  #noteStatusLine(chunk: Buffer): void {
    this.#statusLine += chunk.toString('latin1', 0, VERSION_OCTETS - this.#statusLine.length);
  }
}
