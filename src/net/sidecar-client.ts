/**
 * The browser tier (tier 3): a client of a service that drives browsers and speaks the FlareSolverr v1 protocol.
 *
 * It looks like any other way to fetch. What the service answers with a rendered page is a response, whatever its
 * status; all else is a failure of the service (B1) and says nothing of the host. But for one thing: a service that
 * knows why a page could not be had, as ours does, may say that it is the page's doing; then it is a failure as of any
 * other fetch, so that no page can make the service look ill, nor be asked for without end.
 *
 * 1. `fetch` never rejects. When it resolves the connection to the service is closed or idle; one that was given up is
 *    closed, by which a good service knows that nobody waits any more.
 * 2. What the service's browser loads passes our guard (S1): each visit has a proxy of its own, which the service is
 *    told to use. Where `trusted` says so it is not told, and guards by itself.
 * 3. The answer is bounded (S2), and so is its time: the request's deadline holds for all of it.
 */
import { Agent, request as ask } from 'undici';
import { z } from 'zod';
import type {
  BackendFailure,
  FetchedResponse,
  FetchFailure,
  FetchRequest,
  FetchResult,
  Header,
} from '../domain/fetching.js';
import type { FetchPort } from '../protocols/ports.js';
import { type GuardedProxy, type GuardedProxyOptions, openGuardedProxy } from './guarded-proxy.js';

export interface SidecarClientOptions extends Pick<GuardedProxyOptions, 'trust' | 'names'> {
  /** As in `http://127.0.0.1:8191/v1`. */
  readonly endpoint: string;
  /** Shown to the service with each call; null: it asks for none. */
  readonly token: string | null;
  /** The service guards its own connections, or none are wanted. */
  readonly trusted: boolean;
  readonly clock: { monotonicMs(): number };
}

export interface SidecarClient extends FetchPort {
  /** Gives up what is under way. */
  close(): Promise<void>;
}

/** Markup, cookies and headers of one page, as JSON. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const DETAIL_CHARACTERS_MAX = 300;
/** Of what one page loads (S2). */
const PAGE_BYTES_MAX = 32 * 1024 * 1024;
const CONNECTIONS_MAX = 120;
/** The service is told to be done so long before we give up, so that its word is heard. */
const HEADROOM_MS = 1_000;

const ANSWER = z.looseObject({
  status: z.string(),
  message: z.string().default(''),
  code: z.string().optional(),
  solution: z
    .looseObject({
      url: z.string(),
      status: z.number().int(),
      headers: z.record(z.string(), z.unknown()).default({}),
      response: z.string().nullish(),
      cookies: z
        .array(
          z.looseObject({
            name: z.string(),
            value: z.string(),
            domain: z.string().default(''),
            path: z.string().default('/'),
            expires: z.number().nullish(),
            expiry: z.number().nullish(),
          }),
        )
        .default([]),
      userAgent: z.string().default(''),
    })
    .nullish(),
});

type Solution = NonNullable<z.infer<typeof ANSWER>['solution']>;

/** Of the answer that the browser has undone already, or that speak of its own bytes. */
const SPENT_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'content-type',
]);
/** A request's headers that a browser is asked to send; it has its own for the rest. */
const PASSED_HEADERS: ReadonlySet<string> = new Set(['from']);

/** Chromium's names, as of `net::ERR_CONNECTION_RESET`. */
const NETWORK_FAULTS: readonly (readonly [RegExp, FetchFailure['code']])[] = [
  [/ERR_(CERT|SSL)_/, 'tls_failed'],
  [/ERR_(NAME_|ADDRESS_|CONNECTION_REFUSED|CONNECTION_FAILED|TUNNEL_|INTERNET_)/, 'connect_failed'],
  [/ERR_(CONNECTION_|EMPTY_RESPONSE|SOCKET_|NETWORK_CHANGED)/, 'connection_reset'],
  [/ERR_TIMED_OUT/, 'timeout'],
  [/ERR_(CONTENT_LENGTH_MISMATCH|INCOMPLETE_)/, 'truncated'],
];

export function createSidecarClient(options: SidecarClientOptions): SidecarClient {
  return new Client(options);
}

/** Why nothing was rendered: the code, and what is known. */
class Sick extends Error {
  constructor(
    readonly code: BackendFailure['code'],
    detail: string,
  ) {
    super(detail);
  }
}

/** It is the page's fault, or its host's. */
class Unrendered extends Error {
  constructor(
    readonly code: FetchFailure['code'],
    detail: string,
  ) {
    super(detail);
  }
}

class Client implements SidecarClient {
  readonly #options: SidecarClientOptions;
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: 64, pipelining: 1 });
  readonly #closing = new AbortController();

  constructor(options: SidecarClientOptions) {
    this.#options = options;
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    const { clock } = this.#options;
    const beganAtMs = clock.monotonicMs();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), request.deadlineMs);
    const given = AbortSignal.any([signal, this.#closing.signal, deadline.signal]);
    let proxy: GuardedProxy | null = null;
    try {
      if (!this.#options.trusted) proxy = await this.#openProxy(request);
      const solution = await this.#solve(request, proxy, given);
      return responseOf(request, solution, clock.monotonicMs() - beganAtMs);
    } catch (error) {
      const durationMs = clock.monotonicMs() - beganAtMs;
      if (signal.aborted || this.#closing.signal.aborted) return failed('interrupted', 'given up', durationMs);
      if (error instanceof Unrendered) return failed(error.code, error.message, durationMs);
      if (deadline.signal.aborted) {
        return failure(new Sick('backend_timeout', `no answer within ${request.deadlineMs} ms`), durationMs);
      }
      return failure(error, durationMs);
    } finally {
      clearTimeout(timer);
      await proxy?.close();
    }
  }

  /** Bodies are not of the byte budget: at most as many are held as pages are rendered at once. */
  release(): void {}

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  #openProxy({ url, address }: FetchRequest): Promise<GuardedProxy> {
    const { trust, names } = this.#options;
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    const bounds = { connectionsMax: CONNECTIONS_MAX, bytesMax: PAGE_BYTES_MAX };
    return openGuardedProxy({ trust, names, pinned: { host, address }, ...bounds });
  }

  async #solve(request: FetchRequest, proxy: GuardedProxy | null, signal: AbortSignal): Promise<Solution> {
    const body = JSON.stringify({
      cmd: 'request.get',
      url: request.url,
      maxTimeout: Math.max(1_000, request.deadlineMs - HEADROOM_MS),
      // P6: ours does not follow them; of one that does, what it came to is known by its URL.
      redirects: 'told',
      ...askedOf(request.headers),
      ...(proxy === null ? {} : { proxy: { url: proxy.url } }),
    });
    const { token } = this.#options;
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const answer = await ask(this.#options.endpoint, {
      method: 'POST',
      dispatcher: this.#agent,
      headers,
      body,
      signal,
    });
    const text = await readBounded(answer.body, ANSWER_BYTES_MAX);
    return solutionIn(text, answer.statusCode);
  }
}

/** What the service is to send: cookies that let it pass, the user agent that earned them, who we are. */
function askedOf(headers: readonly Header[]) {
  const asked = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const cookies = (asked.get('cookie') ?? '').split('; ').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [{ name: pair.slice(0, at), value: pair.slice(at + 1) }] : [];
  });
  const userAgent = asked.get('user-agent');
  const passed = Object.fromEntries([...asked].filter(([name]) => PASSED_HEADERS.has(name)));
  return {
    ...(cookies.length === 0 ? {} : { cookies }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(Object.keys(passed).length === 0 ? {} : { headers: passed }),
  };
}

async function readBounded(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  bytesMax: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      body.destroy();
      throw new Sick('backend_failed', `its answer has more than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Throws Sick. A status of 0 means that the browser has none: nothing was rendered (B1). */
function solutionIn(text: string, httpStatus: number): Solution {
  const parsed = ANSWER.safeParse(jsonOf(text));
  if (!parsed.success) throw new Sick('backend_failed', `HTTP ${httpStatus}, and no answer of its protocol`);
  const { status, message, code, solution } = parsed.data;
  if (status !== 'ok') {
    const pagesFault = pagesFaultIn(code, message);
    if (pagesFault !== null) throw new Unrendered(pagesFault, message);
    const isTimeout = /time(d)?[ -]?out/i.test(message);
    throw new Sick(isTimeout ? 'backend_timeout' : 'backend_failed', message === '' ? `it says ${status}` : message);
  }
  if (solution === null || solution === undefined) throw new Sick('backend_failed', 'it says ok and has no page');
  if (solution.status < 100 || solution.status > 999)
    throw new Sick('backend_failed', `the page has the status ${solution.status}`);
  if (!URL.canParse(solution.url)) throw new Sick('backend_failed', 'the page has no URL');
  return solution;
}

/** Null: the service's own. By its word, and by the browser's name for what went wrong. */
function pagesFaultIn(code: string | undefined, message: string): FetchFailure['code'] | null {
  switch (code) {
    case 'guard_refused':
      return 'guard_refused';
    case 'bound':
      return 'too_large';
    case 'navigation_failed':
      return NETWORK_FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'protocol_error';
    default:
      return null;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function responseOf(request: FetchRequest, solution: Solution, durationMs: number): FetchedResponse {
  const { status, url: finalUrl, userAgent, cookies } = solution;
  const markup = new TextEncoder().encode(solution.response ?? '');
  // One line each of a header that came more than once, as cookies do.
  const kept: Header[] = Object.entries(solution.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !SPENT_HEADERS.has(name.toLowerCase())
      ? value.split('\n').map((line) => [name, line] as const)
      : [],
  );
  return {
    kind: 'response',
    status,
    statusText: '',
    httpVersion: '1.1',
    headers: [...kept, ['content-type', 'text/html; charset=utf-8']],
    rawHead: null,
    sentHead: null,
    body: markup.byteLength > request.bodyBytesMax ? markup.slice(0, request.bodyBytesMax) : ownBuffer(markup),
    cut: markup.byteLength > request.bodyBytesMax,
    durationMs,
    remoteAddress: request.address.address,
    rendered: {
      finalUrl,
      userAgent,
      cookies: cookies.map(({ name, value, domain, path, expires, expiry }) => {
        const seconds = expires ?? expiry ?? -1;
        return { name, value, domain, path, expiresAtMs: seconds > 0 ? seconds * 1_000 : null };
      }),
    },
  };
}

/** Bodies are transferred: each has its buffer to itself. */
function ownBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

function failure(error: unknown, durationMs: number): BackendFailure {
  const { message } = error as Error;
  const cause = (error as Error).cause instanceof Error ? `: ${((error as Error).cause as Error).message}` : '';
  const code = error instanceof Sick ? error.code : 'backend_failed';
  return { kind: 'backend_failure', code, detail: `${message}${cause}`.slice(0, DETAIL_CHARACTERS_MAX), durationMs };
}

function failed(code: FetchFailure['code'], detail: string, durationMs: number): FetchFailure {
  const kept = detail.slice(0, DETAIL_CHARACTERS_MAX);
  return { kind: 'failure', code, detail: kept, status: null, durationMs, reusedConnection: false };
}
