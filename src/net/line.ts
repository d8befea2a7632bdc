/**
 * A line to one origin at one vetted address: an HTTP client with a single socket, lent to one exchange at a time.
 *
 * The HTTP library speaks the protocol; the line owns the socket under it, and looks at three things that the library
 * doesn't tell or doesn't do safely: the version in the status line, whether any byte of an answer came, and pausing.
 * (Pausing the library's parser makes a reset connection throw outside of any handler, so the socket is held instead:
 * it reads nothing, and the kernel slows the sender.)
 *
 * 1. A line never leads anywhere but to its target: a name that moved gets another line (S1).
 * 2. One exchange at a time, one request per exchange.
 * 3. A line that failed once is destroyed and never lent again.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { openGuarded, type Target, type Trust } from './connect.js';
import { Fault } from './failure.js';
import { canonicalAddress } from './guard.js';
import { Heads } from './heads.js';

export interface LineOptions {
  /** Under which its owner keeps it. */
  readonly key: string;
  readonly origin: string;
  readonly target: Target;
  readonly trust: Trust;
  readonly keepAliveMs: number;
  readonly headerBytesMax: number;
  /** A socket of this line opened (+1) or closed (-1). */
  readonly onSockets: (change: 1 | -1) => void;
  /** The socket of this line closed: nothing is lost if it is forgotten, unless it is lent. */
  readonly onClosed: (line: Line) => void;
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

  constructor(options: LineOptions) {
    this.#options = options;
    this.#heads = new Heads(options.headerBytesMax);
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
    return this.#statusLine !== '';
  }

  /** Whether the peer broke the connection, rather than closing it. */
  get isBroken(): boolean {
    return this.#broken;
  }

  /** Whether the answer began with `HTTP/1.`: without that much of a status line nothing is HTTP. */
  get speaksHttp(): boolean {
    return /^HTTP\/1\.\d/.test(this.#statusLine);
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.#statusLine.startsWith('HTTP/1.0') ? '1.0' : '1.1';
  }

  /** Of the last answer and of its request, as they went over the wire; null where they can't be had. */
  get rawHead(): string | null {
    return this.#heads.received;
  }

  get sentHead(): string | null {
    return this.#heads.sent;
  }

  dispatch(path: string, headers: string[], handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch({ method: 'GET', path, headers }, handler);
  }

  /** To be called when a request is about to be written. */
  requestStarts(): void {
    this.#requestsOnSocket++;
    this.#statusLine = '';
    this.#heads.begin();
  }

  /** Stops reading; what the peer sends fills the kernel's buffer and then waits with him. */
  hold(): void {
    this.#held = true;
  }

  flow(): void {
    this.#held = false;
    queueMicrotask(() => this.#socket?.emit('readable'));
  }

  /** Ends the exchange under way, if any, with the fault. @returns when the socket is closed */
  async destroy(fault: Fault): Promise<void> {
    this.#held = false;
    void this.#client.destroy(fault);
    // While it is still connecting the library doesn't know the socket yet.
    this.#socket?.destroy(fault);
    await this.#closed;
  }

  #connect(callback: (...result: [null, Socket] | [Error, null]) => void): void {
    openGuarded(this.#options.target, this.#options.trust, (socket) => this.#adopt(socket), {
      opened: (socket) => {
        this.#remoteAddress = canonicalAddress(socket.remoteAddress ?? '') ?? '';
        callback(null, socket);
      },
      failed: (fault) => callback(fault, null),
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
        resolve();
      });
    });
    socket.once('error', () => {
      this.#broken = true;
    });
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      if (this.#held && size !== 0) return null;
      const chunk: Buffer | null = read(size);
      if (chunk === null) return null;
      if (this.#statusLine.length < VERSION_OCTETS) this.#noteStatusLine(chunk);
      this.#heads.receive(chunk);
      return chunk;
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
