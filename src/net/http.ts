/**
 * The plain HTTP client (tier 1): one request in, one result out, every fault as data.
 *
 * Lines are kept by origin *and* vetted address: a kept connection can never serve a name that has moved since (S1).
 * A line is idle here or lent to one exchange; one that failed is gone. Deadlines and the byte budget are shared by
 * all exchanges.
 *
 * 1. `fetch` never rejects.
 * 2. When it resolves, its exchange is over at the socket: the answer was read to its end, or the socket is closed.
 * 3. Idle lines give way, the least recently used first, so that sockets stay within `socketsMax`. Lent ones never do:
 *    `socketsMax` must be at least the number of fetches that the caller has open at once.
 * 4. Redirects are results like any other; codings are neither asked for nor undone.
 */
import type { FetchFailure, FetchRequest, FetchResult } from '../domain/fetching.js';
import { BodyBudget } from './budget.js';
import { secureContextOf, targetOf, type Trust } from './connect.js';
import { Deadlines } from './deadlines.js';
import { Exchange } from './exchange.js';
import { Fault, type FailureCode } from './failure.js';
import type { GuardRules } from './guard.js';
import { Line } from './line.js';

export interface HttpClientOptions {
  readonly guard: GuardRules;
  /** `ca`: PEM certificates that are trusted beside the platform's roots. */
  readonly tls?: { readonly ca?: string };
  /** Whether HTTP/2 is offered where TLS is spoken; it is where nothing is said. */
  readonly http2?: boolean;
  readonly socketsMax: number;
  readonly keepAliveMs: number;
  readonly clock: { monotonicMs(): number };
  /** Bytes of all bodies held at once, unfinished and unreleased. */
  readonly bodyBudgetBytes: number;
}

export interface HttpClient {
  /** Sends a GET to the request's address. Never rejects; an aborted signal is the failure `interrupted`. */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult>;
  /** Says that a response's body (its `length`) is no longer held. */
  release(bytes: number): void;
  bytesHeld(): number;
  socketsOpen(): number;
  /** Interrupts what is under way. @returns when all sockets are closed; every later fetch is `interrupted` */
  close(): Promise<void>;
}

/** @throws Error when `tls.ca` is no PEM certificate */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new LineClient(options);
}

class LineClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #trust: Trust;
  readonly #deadlines: Deadlines;
  readonly #budget: BodyBudget;
  /** By key, the least recently used first. */
  readonly #idle = new Map<string, Line>();
  readonly #lent = new Set<Line>();
  readonly #dying = new Set<Line>();
  /** Keys of lines whose servers chose HTTP/2 and do not master it, the oldest first. */
  readonly #unfit = new Set<string>();
  #socketsOpen = 0;
  #closing = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#trust = { guard: options.guard, secureContext: secureContextOf(options.tls?.ca) };
    this.#deadlines = new Deadlines(options.clock);
    this.#budget = new BodyBudget(options.bodyBudgetBytes);
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    if (this.#closing || signal.aborted) return Promise.resolve(failed('interrupted', 'given up before it began'));
    if (!/^https?:\/\//.test(request.origin)) return Promise.resolve(failed('unsupported_scheme', request.origin));
    const path = pathOf(request);
    if (path === null) return Promise.resolve(failed('guard_refused', `${request.url} is not of ${request.origin}`));
    return new Promise((resolve) => {
      const line = this.#borrow(request);
      const { clock } = this.#options;
      const onEnd = (result: FetchResult, whole: boolean) => {
        this.#giveBack(line, whole);
        resolve(result);
      };
      const shared = { deadlines: this.#deadlines, budget: this.#budget, clock };
      new Exchange({ request, path, line, signal, onEnd, ...shared }).start();
    });
  }

  release(bytes: number): void {
    this.#budget.release(bytes);
  }

  bytesHeld(): number {
    return this.#budget.bytesHeld;
  }

  socketsOpen(): number {
    return this.#socketsOpen;
  }

  async close(): Promise<void> {
    this.#closing = true;
    const lines = [...this.#idle.values(), ...this.#lent, ...this.#dying];
    this.#idle.clear();
    await Promise.all(lines.map((line) => line.destroy(new Fault('interrupted', 'the client is closing'))));
  }

  #borrow(request: FetchRequest): Line {
    const key = `${request.origin} ${request.address.address} ${request.headerBytesMax}`;
    const kept = this.#idle.get(key);
    this.#idle.delete(key);
    if (kept !== undefined && !kept.isUsable) this.#discard(kept, 'it takes no further request');
    const usable = kept?.isUsable === true ? kept : null;
    if (usable === null) this.#makeRoom();
    const line = usable ?? this.#open(request, key);
    this.#lent.add(line);
    return line;
  }

  #giveBack(line: Line, whole: boolean): void {
    this.#lent.delete(line);
    if (!whole) return;
    if (this.#closing || !line.isUsable || this.#idle.has(line.key)) this.#discard(line, 'not needed any more');
    else this.#idle.set(line.key, line);
  }

  #open(request: FetchRequest, key: string): Line {
    return new Line({
      key,
      origin: request.origin,
      target: targetOf(request.origin, request.address),
      trust: this.#trust,
      keepAliveMs: this.#options.keepAliveMs,
      headerBytesMax: request.headerBytesMax,
      http2: this.#options.http2 !== false && !this.#unfit.has(key),
      onHttp2Unfit: () => this.#remember(key),
      onSockets: (change) => {
        this.#socketsOpen += change;
      },
      onClosed: (line) => this.#forget(line),
    });
  }

  #remember(unfit: string): void {
    for (const oldest of this.#unfit) {
      if (this.#unfit.size < UNFIT_MAX) break;
      this.#unfit.delete(oldest);
    }
    this.#unfit.add(unfit);
  }

  #makeRoom(): void {
    for (const [key, line] of this.#idle) {
      if (this.#idle.size + this.#lent.size < this.#options.socketsMax) return;
      this.#idle.delete(key);
      this.#discard(line, 'gave way to another');
    }
  }

  #forget(line: Line): void {
    if (this.#idle.get(line.key) !== line) return;
    this.#idle.delete(line.key);
    this.#discard(line, 'its socket is closed');
  }

  #discard(line: Line, why: string): void {
    this.#dying.add(line);
    void line.destroy(new Fault('interrupted', why)).then(() => this.#dying.delete(line));
  }
}

/** Servers that are remembered for their HTTP/2; who is forgotten is merely tried once more. */
const UNFIT_MAX = 10_000;

/** The request target (RFC 9112 §3.2.1), byte for byte as the URL has it; null when the URL is not of the origin. */
function pathOf(request: FetchRequest): string | null {
  const { url, origin } = request;
  const fragment = url.indexOf('#');
  const whole = fragment === -1 ? url : url.slice(0, fragment);
  if (whole.startsWith(origin) && whole[origin.length] === '/') return whole.slice(origin.length);
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  return parsed.origin === new URL(origin).origin ? parsed.pathname + parsed.search : null;
}

function failed(code: FailureCode, detail: string): FetchFailure {
  return { kind: 'failure', code, detail, status: null, durationMs: 0, reusedConnection: false };
}
