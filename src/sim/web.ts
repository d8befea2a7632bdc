/**
 * The simulated web at work: a server and a resolver behind the ports of the engine, in simulated time.
 *
 * Intuition: a request travels, is answered by the world, and its answer travels back. What happens at the server
 * belongs to the world and outlives whoever asked; the last step, the answer's arrival, belongs to the incarnation
 * that asked and dies with it.
 *
 * 1. The server's log is written from the server's side only: a start when the request arrives, an end when the answer
 *    leaves, or when the server learns that the client is gone. It is the witness by which the crawl is judged.
 * 2. How often a URL was asked for is counted by the world, so that its failures survive kills.
 * 3. The way to a host always takes the same time, so what the client keeps (end to start) the server sees kept.
 * 4. A kill ends every exchange of its incarnation with `abort`; a request that is still under way arrives all the
 *    same, or not, by a coin.
 */
import { gzipSync } from 'node:zlib';
import type {
  FetchedResponse,
  FetchFailure,
  FetchRequest,
  FetchResult,
  Header,
  Resolution,
} from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import type { FetchPort, ResolvePort } from '../protocols/ports.js';
import { type Owner, type Pending, type Simulation, WORLD } from './events.js';
import { type Failure, type Host, type Landscape, type Page, robotsText } from './landscape.js';
import type { Random } from './random.js';

/** One line of the server's log, in the format of the witness. */
export type WitnessLine =
  | {
      readonly e: 'S';
      readonly i: number;
      readonly t: number;
      readonly h: string;
      readonly m: string;
      readonly u: string;
      readonly c: number;
    }
  | {
      readonly e: 'E';
      readonly i: number;
      readonly t: number;
      readonly s: number | null;
      readonly how: 'done' | 'reset' | 'abort';
      readonly ra?: number;
      readonly rb?: string;
    }
  | { readonly e: 'K'; readonly t: number }
  | { readonly e: 'B'; readonly t: number };

export interface SimulatedWeb {
  readonly net: FetchPort;
  readonly names: ResolvePort;
  readonly log: readonly WitnessLine[];
  /** What may not happen on the way to the server: a wrong address, a request without a header that must be there. */
  readonly trespasses: readonly string[];
  /** Faults that really happened, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** Called as the n-th request (from 1) arrives. */
  onArrived: (requests: number, url: string) => void;
  /** Of one incarnation: bytes of bodies that were handed out and not given back, and exchanges not over. */
  openOf(owner: Owner): { readonly bytes: number; readonly exchanges: number };
  /** Marks the start of an incarnation in the log. */
  booted(owner: Owner): void;
  /** Marks its death, and ends what it had open. To be called with Simulation.kill. */
  killed(owner: Owner): void;
}

/** Down to the status line: what the server does with one request. */
type Answer =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: readonly Header[];
      readonly body: Uint8Array;
      readonly retryAfterSeconds: number | null;
      readonly robots: string | null;
    }
  /** Breaks off before (`status` null) or in the middle of the body. */
  | { readonly kind: 'broken'; readonly status: number | null }
  /** Never says a word, or drips on (`status`) until the client has enough. */
  | { readonly kind: 'endless'; readonly status: number | null };

interface Exchange {
  readonly id: number;
  readonly owner: Owner;
  readonly host: Host;
  readonly path: string;
  readonly request: FetchRequest;
  readonly startedAtMs: number;
  readonly pending: Pending[];
  /** Hands the client its result; null once it has one. */
  settle: ((result: FetchResult) => void) | null;
  phase: 'under-way' | 'at-server' | 'over';
  /** Status that was sent before the end. */
  status: number | null;
}

export function createWeb(simulation: Simulation, landscape: Landscape): SimulatedWeb {
  return new WebAtWork(simulation, landscape);
}

class WebAtWork implements SimulatedWeb {
  readonly log: WitnessLine[] = [];
  readonly trespasses: string[] = [];
  readonly faults = new Map<string, number>();
  onArrived: (requests: number, url: string) => void = () => {};
  readonly net: FetchPort;
  readonly names: ResolvePort;

  readonly #simulation: Simulation;
  readonly #landscape: Landscape;
  readonly #random: Random;
  readonly #open = new Set<Exchange>();
  readonly #attempts = new Map<string, number>();
  readonly #lookups = new Map<HostName, number>();
  readonly #held = new Map<Owner, number>();
  readonly #connected = new Set<string>();
  #begun = 0;
  #arrived = 0;

  constructor(simulation: Simulation, landscape: Landscape) {
    this.#simulation = simulation;
    this.#landscape = landscape;
    this.#random = simulation.random.fork('web');
    this.net = {
      fetch: (request, signal) => this.#fetch(request, signal),
      release: (bytes) => this.#hold(simulation.owner, -bytes),
    };
    this.names = { resolve: (host, signal) => this.#resolve(host, signal) };
  }

  openOf(owner: Owner): { readonly bytes: number; readonly exchanges: number } {
    const exchanges = [...this.#open].filter((exchange) => exchange.owner === owner && exchange.settle !== null).length;
    return { bytes: this.#held.get(owner) ?? 0, exchanges };
  }

  booted(owner: Owner): void {
    this.log.push({ e: 'B', t: this.#simulation.nowMs });
    this.#simulation.note('boot', String(owner));
  }

  killed(owner: Owner): void {
    this.log.push({ e: 'K', t: this.#simulation.nowMs });
    this.#held.delete(owner);
    for (const exchange of [...this.#open]) {
      if (exchange.owner === owner)
        this.#clientIsGone(exchange, exchange.phase === 'at-server' || this.#random.chance(0.5));
    }
  }

  // -- the way there ----------------------------------------------------------------------------------------------

  #fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    const url = new URL(request.url);
    const host = this.#landscape.hosts.get(url.hostname);
    this.#inspect(request, url, host);
    if (host === undefined) return Promise.resolve(failure('connect_failed', 'no such host', 0));
    return new Promise((resolve) => this.#begin(request, url, host, signal, resolve));
  }

  /** What a real network would not forgive, and what the engine promised. */
  #inspect(request: FetchRequest, url: URL, host: Host | undefined): void {
    if (host?.address !== request.address.address)
      this.trespasses.push(`${request.url} was asked of ${request.address.address}`);
    if (request.origin !== url.origin) this.trespasses.push(`${request.url} was asked as of ${request.origin}`);
    if (url.hash !== '') this.trespasses.push(`${request.url} was asked with its fragment`);
    if (headerOf(request.headers, 'user-agent') === null)
      this.trespasses.push(`${request.url} was asked without a user agent`);
  }

  #begin(
    request: FetchRequest,
    url: URL,
    host: Host,
    signal: AbortSignal,
    resolve: (result: FetchResult) => void,
  ): void {
    const { owner, nowMs } = this.#simulation;
    const pending: Pending[] = [];
    const settle = (result: FetchResult): void => {
      exchange.settle = null;
      for (const event of pending) event.cancel();
      signal.removeEventListener('abort', interrupt);
      resolve(result);
    };
    const path = url.pathname + url.search;
    const exchange: Exchange = {
      id: ++this.#begun,
      owner,
      host,
      path,
      request,
      startedAtMs: nowMs,
      pending,
      settle,
      phase: 'under-way',
      status: null,
    };
    const interrupt = (): void => this.#giveUp(exchange, 'interrupted');
    if (signal.aborted) return resolve(failure('interrupted', 'interrupted before it began', 0));
    signal.addEventListener('abort', interrupt);
    this.#open.add(exchange);
    if (this.#refusesConnection(exchange)) return;
    pending.push(
      this.#simulation.after(request.deadlineMs, () => this.#giveUp(exchange, 'deadline'), {
        owner,
        label: `deadline ${request.url}`,
      }),
    );
    this.#simulation.after(host.pathMs, () => this.#arrive(exchange), { owner: WORLD, label: `arrive ${request.url}` });
  }

  /** A host that is down, or an idle connection that was closed at the far end: nothing arrives at the server. */
  #refusesConnection(exchange: Exchange): boolean {
    const { host, owner, request } = exchange;
    const { nowMs } = this.#simulation;
    const isDown = host.outage !== null && nowMs >= host.outage.fromMs && nowMs < host.outage.untilMs;
    const connection = `${owner} ${host.name}`;
    const isStale = !isDown && this.#connected.has(connection) && this.#nextFailure(exchange)?.kind === 'stale';
    if (!isDown && !isStale) {
      this.#connected.add(connection);
      return false;
    }
    exchange.phase = 'over';
    this.#open.delete(exchange);
    this.#connected.delete(connection);
    this.#count(isDown ? 'outage' : 'stale');
    if (isStale) this.#countAttempt(request.url);
    const result = isDown
      ? failure('connect_failed', 'connection refused', host.pathMs)
      : { ...failure('connection_reset', 'closed while idle', host.pathMs), reusedConnection: true };
    exchange.pending.push(
      this.#simulation.after(host.pathMs, () => exchange.settle?.(result), { owner, label: `refuse ${request.url}` }),
    );
    return true;
  }

  // -- at the server ----------------------------------------------------------------------------------------------

  #arrive(exchange: Exchange): void {
    if (exchange.phase === 'over') return;
    exchange.phase = 'at-server';
    this.log.push({
      e: 'S',
      i: exchange.id,
      t: this.#simulation.nowMs,
      h: exchange.host.name,
      m: 'GET',
      u: exchange.path,
      c: exchange.id,
    });
    this.onArrived(++this.#arrived, exchange.request.url);
    if (!this.#simulation.isAlive(exchange.owner)) return this.#end(exchange, null, 'abort');
    const page = this.#landscape.pages.get(exchange.request.url);
    const answer = this.#answer(exchange, page);
    if (answer.kind === 'endless') {
      if (answer.status !== null) this.#count('drip');
      exchange.status = answer.status;
      return;
    }
    const thinkMs = page?.thinkMs ?? 5;
    this.#simulation.after(thinkMs, () => this.#leave(exchange, answer), {
      owner: WORLD,
      label: `answer ${exchange.request.url}`,
    });
  }

  #leave(exchange: Exchange, answer: Exclude<Answer, { kind: 'endless' }>): void {
    if (exchange.phase === 'over') return;
    this.#end(exchange, answer.status, answer.kind === 'whole' ? 'done' : 'reset', answer);
    if (exchange.settle === null) return;
    const deliver = (): void => {
      const durationMs = this.#simulation.nowMs - exchange.startedAtMs;
      const result = this.#resultOf(exchange, answer, durationMs);
      if (result.kind === 'response') this.#hold(exchange.owner, result.body.length);
      exchange.settle?.(result);
    };
    const scheduling = { owner: exchange.owner, label: `deliver ${exchange.request.url}` };
    exchange.pending.push(this.#simulation.after(exchange.host.pathMs, deliver, scheduling));
  }

  #end(exchange: Exchange, status: number | null, how: 'done' | 'reset' | 'abort', answer?: Answer): void {
    exchange.phase = 'over';
    this.#open.delete(exchange);
    const more: { ra?: number; rb?: string } = {};
    if (answer?.kind === 'whole' && answer.retryAfterSeconds !== null) more.ra = answer.retryAfterSeconds;
    if (answer?.kind === 'whole' && answer.robots !== null) more.rb = answer.robots;
    this.log.push({ e: 'E', i: exchange.id, t: this.#simulation.nowMs, s: status, how, ...more });
  }

  #answer(exchange: Exchange, page: Page | undefined): Answer {
    const fault = this.#nextFailure(exchange);
    this.#countAttempt(exchange.request.url);
    if (fault !== null) {
      this.#count(fault.kind === 'status' ? `status ${fault.status}` : fault.kind);
      return failing(fault);
    }
    if (exchange.path === '/robots.txt') {
      return robotsAnswer(exchange.host, this.#simulation.nowMs, exchange.request.headers, (what) => this.#count(what));
    }
    return page === undefined ? plainStatus(404) : pageAnswer(page, exchange.request.headers);
  }

  #nextFailure({ request, host, path }: Exchange): Failure | null {
    const failures =
      path === '/robots.txt' ? host.robotsFailures : (this.#landscape.pages.get(request.url)?.failures ?? []);
    return failures[this.#attempts.get(request.url) ?? 0] ?? null;
  }

  // -- the way back -----------------------------------------------------------------------------------------------

  #resultOf(exchange: Exchange, answer: Exclude<Answer, { kind: 'endless' }>, durationMs: number): FetchResult {
    const { request } = exchange;
    if (answer.kind === 'broken') {
      const code = answer.status === null ? 'connection_reset' : 'truncated';
      return { ...failure(code, 'the connection broke', durationMs), status: answer.status };
    }
    const { status, headers, body } = answer;
    const isCut = body.length > request.bodyBytesMax;
    if (isCut && !request.cutAtBound)
      return { ...failure('too_large', `more than ${request.bodyBytesMax} bytes`, durationMs), status };
    const response: FetchedResponse = {
      kind: 'response',
      status,
      statusText: '',
      httpVersion: '1.1',
      headers,
      rawHead: null,
      sentHead: null,
      body: body.slice(0, request.bodyBytesMax),
      cut: isCut,
      durationMs,
      remoteAddress: exchange.host.address,
    };
    return response;
  }

  /** The client has waited long enough, or is stopping. */
  #giveUp(exchange: Exchange, why: 'deadline' | 'interrupted'): void {
    const code = why === 'interrupted' ? why : exchange.status === null ? 'timeout' : 'too_slow';
    exchange.settle?.({
      ...failure(code, why, this.#simulation.nowMs - exchange.startedAtMs),
      status: exchange.status,
    });
    this.#clientIsGone(exchange, true);
  }

  /** The server learns of it one way later; a request that was under way arrives before that, or not at all. */
  #clientIsGone(exchange: Exchange, arrives: boolean): void {
    if (exchange.phase === 'over') return;
    if (!arrives) {
      exchange.phase = 'over';
      this.#open.delete(exchange);
      return;
    }
    const learn = (): void => {
      if (exchange.phase !== 'over') this.#end(exchange, exchange.status, 'abort');
    };
    this.#simulation.after(exchange.host.pathMs, learn, { owner: WORLD, label: `abort ${exchange.request.url}` });
  }

  // -- names ------------------------------------------------------------------------------------------------------

  #resolve(name: HostName, signal: AbortSignal): Promise<Resolution> {
    const random = this.#random.fork(`name ${name} ${this.#lookups.get(name) ?? 0}`);
    const resolution = this.#resolutionOf(name, random);
    return new Promise((resolve) => {
      const { owner } = this.#simulation;
      const interrupt = (): void => {
        answer.cancel();
        resolve({ kind: 'failed', code: 'dns_failed', detail: 'interrupted', expiresInMs: 0 });
      };
      const deliver = (): void => {
        signal.removeEventListener('abort', interrupt);
        resolve(resolution);
      };
      const answer = this.#simulation.after(random.span(0.2, 60), deliver, { owner, label: `resolve ${name}` });
      signal.addEventListener('abort', interrupt, { once: true });
    });
  }

  #resolutionOf(name: HostName, random: Random): Resolution {
    const host = this.#landscape.hosts.get(name);
    const lookups = this.#lookups.get(name) ?? 0;
    this.#lookups.set(name, lookups + 1);
    if (host === undefined || host.nameFailures === null) {
      this.#count('dns_not_found');
      return { kind: 'failed', code: 'dns_not_found', detail: 'NXDOMAIN', expiresInMs: 3_600_000 };
    }
    if (lookups < host.nameFailures) {
      this.#count('dns_failed');
      return { kind: 'failed', code: 'dns_failed', detail: 'SERVFAIL', expiresInMs: random.between(5_000, 30_000) };
    }
    return {
      kind: 'addresses',
      addresses: [{ address: host.address, family: 4 }],
      expiresInMs: random.between(5_000, 3_600_000),
    };
  }

  // -- counts -----------------------------------------------------------------------------------------------------

  #countAttempt(url: string): void {
    this.#attempts.set(url, (this.#attempts.get(url) ?? 0) + 1);
  }

  #count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  #hold(owner: Owner, bytes: number): void {
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes);
  }
}

// -- answers --------------------------------------------------------------------------------------------------------

function failing(fault: Failure): Answer {
  switch (fault.kind) {
    case 'status':
      return plainStatus(fault.status, fault.retryAfterSeconds);
    case 'reset':
    case 'stale':
      return { kind: 'broken', status: null };
    case 'truncated':
      return { kind: 'broken', status: 200 };
    case 'silent':
      return { kind: 'endless', status: null };
  }
}

function robotsAnswer(
  host: Host,
  nowMs: number,
  requestHeaders: readonly Header[],
  count: (what: string) => void,
): Answer {
  const text = robotsText(host, nowMs);
  if (text === null) return plainStatus(host.robots === 'forbidden' ? 403 : 404);
  const etag = `"${text.length}"`;
  // What a 304 confirms is told to the witness whole: it rules from now on as if it had been sent.
  if (headerOf(requestHeaders, 'if-none-match') === etag) {
    count('robots not modified');
    return { ...whole(304, [['ETag', etag]], new Uint8Array(0)), robots: text };
  }
  const headers: Header[] = [
    ['Content-Type', 'text/plain'],
    ['ETag', etag],
  ];
  return { ...whole(200, headers, bytesOf(text)), robots: text };
}

function pageAnswer(page: Page, requestHeaders: readonly Header[]): Answer {
  const { final } = page;
  switch (final.kind) {
    case 'page':
    case 'poison':
      return documentAnswer(page, final.kind === 'page' && final.coding === 'gzip', requestHeaders);
    case 'binary':
      return whole(
        200,
        [['Content-Type', 'application/octet-stream']],
        Uint8Array.from({ length: 256 }, (_, index) => index),
      );
    case 'redirect':
      return whole(final.status, [['Location', final.target]], bytesOf('moved'));
    case 'missing':
      return plainStatus(404);
    case 'gone':
      return plainStatus(410);
    case 'failing':
      return plainStatus(500);
    case 'endless':
      return { kind: 'endless', status: 200 };
  }
}

function documentAnswer(page: Page, gzip: boolean, requestHeaders: readonly Header[]): Answer {
  const etag = `"${page.path}"`;
  if (headerOf(requestHeaders, 'if-none-match') === etag) return whole(304, [['ETag', etag]], new Uint8Array(0));
  const html = bytesOf(htmlOf(page));
  const headers: Header[] = [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['ETag', etag],
  ];
  if (!gzip) return whole(200, headers, html);
  return whole(200, [...headers, ['Content-Encoding', 'gzip']], Uint8Array.from(gzipSync(html)));
}

/** Links in turn absolute and relative where that is possible, so that both are read. */
function htmlOf(page: Page): string {
  const anchors = page.links.map((link, index) => {
    const isOwn = link.startsWith(`${page.host.origin}/`);
    const href = isOwn && index % 2 === 0 ? link.slice(page.host.origin.length) : link;
    return `<li><a href="${href}">${index}</a></li>`;
  });
  return `<!doctype html><html lang="en"><head><title>${page.path} of ${page.host.name}</title></head>
<body><h1>Page ${page.path}</h1><p>This is ${page.url}, and it says so in a few words.</p><ul>${anchors.join('')}</ul></body></html>\n`;
}

function plainStatus(status: number, retryAfterSeconds: number | null = null): Answer {
  const headers: Header[] = [['Content-Type', 'text/plain']];
  if (retryAfterSeconds !== null) headers.push(['Retry-After', String(retryAfterSeconds)]);
  return { ...whole(status, headers, bytesOf(`status ${status}\n`)), retryAfterSeconds };
}

function whole(status: number, headers: readonly Header[], body: Uint8Array): Extract<Answer, { kind: 'whole' }> {
  const measured: Header[] = [...headers, ['Content-Length', String(body.length)]];
  return { kind: 'whole', status, headers: measured, body, retryAfterSeconds: null, robots: null };
}

function failure(code: FetchFailure['code'], detail: string, durationMs: number): FetchFailure {
  return { kind: 'failure', code, detail, status: null, durationMs, reusedConnection: false };
}

function headerOf(headers: readonly Header[], name: string): string | null {
  return headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1] ?? null;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
