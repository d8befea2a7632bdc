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
import type { FetchedResponse, FetchFailure, FetchRequest, FetchResult, Resolution } from '../domain/fetching.js';
import type { HostName } from '../domain/host.js';
import type { WitnessEvent } from '../practice/witness.js';
import type { FetchPort, ResolvePort } from '../protocols/ports.js';
import { type Owner, type Pending, type Simulation, WORLD } from './events.js';
import type { Death, TieredRequest } from './tiered-request.js';
import {
  type Answer,
  doorAnswer,
  failing,
  headerOf,
  isCookieOf,
  pageAnswer,
  plainStatus,
  robotsAnswer,
} from './answers.js';
import {
  drawLateFailure,
  type Failure,
  usesDelivery,
  type Host,
  type Landscape,
  MENDED_MS,
  type Page,
} from './landscape.js';
import { type Cut, isPlain } from './cut.js';
import type { Random } from './random.js';

export interface SimulatedWeb {
  readonly net: FetchPort;
  readonly names: ResolvePort;
  readonly log: readonly WitnessEvent[];
  /** Requests as they were begun, and how each came out for whoever asked. */
  readonly requests: readonly TieredRequest[];
  /** Of lives that were killed. */
  readonly deaths: ReadonlyMap<Owner, Death>;
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
  /**
   * Marks its death, and ends what it had open. To be called with Simulation.kill.
   * @param graceMs what ended so long before may be forgotten, where the death undoes more than a kill
   */
  killed(owner: Owner, graceMs?: number): void;
  /** Marks that what counts refusals of a host has crashed; null: what had some host's answer in hand. */
  lapsed(host: HostName | null): void;
  /** From now on nothing gets through between crawler and servers, nor to the resolver. Null: it is so already. */
  cut(forMs: number, silent: boolean): Cut | null;
  readonly cuts: readonly Cut[];
  /** Failures of a URL that use a delivery, and that are not its own crawl's: those of plain cuts are. */
  setbacksOf(url: string): number;
}

export interface WebSettings {
  /** On any attempt, for ever; 0 to 1. */
  readonly lateFaults: number;
  /** Of answers that take longer on their way back, so that they overtake each other. */
  readonly delayedShare: number;
}

/** Who answered within this before a cut may still count as reached. */
const REACHED_LATELY_MS = 35_000;
/** A connection that nobody answers is given up after this. */
const CONNECT_MS_MAX = 10_000;
/** A resolver that nobody answers, likewise. */
const RESOLVE_MS_MAX = 5_000;

interface Exchange {
  readonly id: number;
  readonly owner: Owner;
  readonly host: Host;
  readonly path: string;
  readonly request: FetchRequest;
  readonly startedAtMs: number;
  readonly told: TieredRequest;
  readonly pending: Pending[];
  /** Hands the client its result; null once it has one. */
  settle: ((result: FetchResult) => void) | null;
  phase: 'under-way' | 'at-server' | 'over';
  /** Status that was sent before the end. */
  status: number | null;
  /** Nothing gets through to the client any more. */
  isCutOff: boolean;
  /** The part of the crawler that asked has crashed before it arrived. */
  isForgotten: boolean;
}

export function createWeb(simulation: Simulation, landscape: Landscape, settings: WebSettings): SimulatedWeb {
  return new WebAtWork(simulation, landscape, settings);
}

class WebAtWork implements SimulatedWeb {
  readonly log: WitnessEvent[] = [];
  readonly requests: TieredRequest[] = [];
  readonly deaths = new Map<Owner, Death>();
  readonly trespasses: string[] = [];
  readonly faults = new Map<string, number>();
  readonly cuts: Cut[] = [];
  onArrived: (requests: number, url: string) => void = () => {};
  readonly net: FetchPort;
  readonly names: ResolvePort;

  readonly #simulation: Simulation;
  readonly #landscape: Landscape;
  readonly #settings: WebSettings;
  readonly #random: Random;
  readonly #open = new Set<Exchange>();
  readonly #attempts = new Map<string, number>();
  readonly #lookups = new Map<HostName, number>();
  readonly #held = new Map<Owner, number>();
  readonly #connected = new Set<string>();
  /** When a host's answer came last. */
  readonly #reachedAtMs = new Map<HostName, number>();
  readonly #setbacks = new Map<string, number>();
  /** In cuts: which of them are plain is known in the end. */
  readonly #cutBacks: { readonly url: string; readonly cut: Cut }[] = [];
  #begun = 0;
  #arrived = 0;

  constructor(simulation: Simulation, landscape: Landscape, settings: WebSettings) {
    this.#simulation = simulation;
    this.#landscape = landscape;
    this.#settings = settings;
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
    const cut = this.#cutNow();
    if (cut !== null) cut.boots += 1;
    this.#simulation.note('boot', String(owner));
  }

  killed(owner: Owner, graceMs?: number): void {
    const mark = { e: 'K', t: this.#simulation.nowMs } as const;
    this.log.push(graceMs === undefined ? mark : { ...mark, g: graceMs });
    this.#held.delete(owner);
    this.deaths.set(owner, { atMs: this.#simulation.nowMs, graceMs: graceMs ?? 0 });
    for (const exchange of [...this.#open]) {
      if (exchange.owner === owner)
        this.#clientIsGone(exchange, exchange.phase === 'at-server' || this.#random.chance(0.5));
    }
  }

  lapsed(host: HostName | null): void {
    this.log.push({ e: 'C', t: this.#simulation.nowMs, h: host });
    for (const exchange of this.#open)
      if (exchange.host.name === host && exchange.phase === 'under-way') exchange.isForgotten = true;
  }

  cut(forMs: number, silent: boolean): Cut | null {
    const { nowMs } = this.#simulation;
    if (this.#cutNow() !== null) return null;
    const reachedBefore = new Set<HostName>();
    for (const [host, atMs] of this.#reachedAtMs) if (atMs > nowMs - REACHED_LATELY_MS) reachedBefore.add(host);
    const cut: Cut = { fromMs: nowMs, untilMs: nowMs + forMs, silent, tries: [], boots: 0, reachedBefore };
    this.cuts.push(cut);
    this.log.push({ e: 'X', t: nowMs, until: nowMs + forMs });
    for (const exchange of [...this.#open]) this.#cutOff(exchange, silent);
    return cut;
  }

  #cutNow(): Cut | null {
    const last = this.cuts.at(-1);
    return last !== undefined && this.#simulation.nowMs < last.untilMs ? last : null;
  }

  /** Its client hears no more of it: it learns so at once, or by its own deadline. What was on its way never arrives. */
  #cutOff(exchange: Exchange, silent: boolean): void {
    exchange.isCutOff = true;
    for (const event of exchange.pending.slice(silent ? 1 : 0)) event.cancel();
    this.#forget(exchange);
    if (silent) return;
    const broken = failure('connection_reset', 'the network is down', this.#simulation.nowMs - exchange.startedAtMs);
    const { owner, status } = { ...exchange };
    this.#simulation.after(1, () => exchange.settle?.({ ...broken, status }), { owner, label: 'cut off' });
  }

  /** The server gives it up at once, as the crawler does; of what never arrived it knows nothing. */
  #forget(exchange: Exchange): void {
    if (exchange.phase === 'at-server') return this.#end(exchange, exchange.status, 'reset');
    exchange.phase = 'over';
    this.#open.delete(exchange);
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
    const cookie = headerOf(request.headers, 'cookie');
    if (cookie !== null && !cookie.split('; ').every((pair) => isCookieOf(url.origin, pair)))
      this.trespasses.push(`${request.url} was asked with ${cookie}`);
    // A browser has a name of its own.
    if (request.tier === 1 && headerOf(request.headers, 'user-agent') === null)
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
    const told = begunAt(nowMs, owner, request);
    this.requests.push(told);
    const settle = (result: FetchResult): void => {
      told.answer = answerTold(result);
      told.endedAtMs = this.#simulation.nowMs;
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
      told,
      pending,
      settle,
      phase: 'under-way',
      status: null,
      isCutOff: false,
      isForgotten: false,
    };
    const interrupt = (): void => this.#giveUp(exchange, 'interrupted');
    if (signal.aborted) return resolve(failure('interrupted', 'interrupted before it began', 0));
    signal.addEventListener('abort', interrupt);
    this.#open.add(exchange);
    if (this.#isCut(exchange) || this.#refusesConnection(exchange)) return;
    pending.push(
      this.#simulation.after(request.deadlineMs, () => this.#giveUp(exchange, 'deadline'), {
        owner,
        label: `deadline ${request.url}`,
      }),
    );
    this.#simulation.after(host.pathMs, () => this.#arrive(exchange), { owner: WORLD, label: `arrive ${request.url}` });
  }

  /** Nothing gets through: it can't even be begun. */
  #isCut(exchange: Exchange): boolean {
    const cut = this.#cutNow();
    if (cut === null) return false;
    const { owner, request, host } = exchange;
    const afterMs = cut.silent ? Math.min(CONNECT_MS_MAX, request.deadlineMs) : 1;
    cut.tries.push({ atMs: this.#simulation.nowMs, host: host.name, forMs: afterMs });
    this.#cutBacks.push({ url: request.url, cut });
    this.#forget(exchange);
    this.#count('cut');
    const result = failure('connect_failed', 'the network is down', afterMs);
    exchange.pending.push(
      this.#simulation.after(afterMs, () => exchange.settle?.(result), { owner, label: `cut ${request.url}` }),
    );
    return true;
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
    if (isDown) this.#setBack(request.url);
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
      a: exchange.host.address,
    });
    if (exchange.isForgotten) this.log.push({ e: 'C', t: this.#simulation.nowMs, h: exchange.host.name });
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
    const status = answer.kind === 'whole' ? answer.status : (answer.head?.status ?? null);
    const wayMs = exchange.host.pathMs + this.#delayMs();
    this.#end(exchange, status, answer.kind === 'whole' ? 'done' : 'reset', answer, wayMs);
    if (exchange.settle === null || exchange.isCutOff) return;
    const deliver = (): void => {
      const durationMs = this.#simulation.nowMs - exchange.startedAtMs;
      const result = this.#resultOf(exchange, answer, durationMs);
      if (result.kind === 'response') this.#hold(exchange.owner, result.body.length);
      this.#reachedAtMs.set(exchange.host.name, this.#simulation.nowMs);
      exchange.settle?.(result);
    };
    const scheduling = { owner: exchange.owner, label: `deliver ${exchange.request.url}` };
    exchange.pending.push(this.#simulation.after(wayMs, deliver, scheduling));
  }

  /** Most come by the shortest way. */
  #delayMs(): number {
    if (!this.#random.chance(this.#settings.delayedShare)) return 0;
    this.#count('delayed');
    return this.#random.logUniform(5, 3_000);
  }

  #end(
    exchange: Exchange,
    status: number | null,
    how: 'done' | 'reset' | 'abort',
    answer?: Answer,
    wayMs?: number,
  ): void {
    exchange.phase = 'over';
    this.#open.delete(exchange);
    const more: { ra?: number; rb?: string; d?: number } = wayMs === undefined ? {} : { d: wayMs };
    const head = answer?.kind === 'whole' ? answer : answer?.kind === 'broken' ? answer.head : null;
    if (head?.retryAfterSeconds != null) more.ra = head.retryAfterSeconds;
    if (answer?.kind === 'whole' && answer.robots !== null) more.rb = answer.robots;
    this.log.push({ e: 'E', i: exchange.id, t: this.#simulation.nowMs, s: status, how, ...more });
  }

  #answer(exchange: Exchange, page: Page | undefined): Answer {
    const fault = this.#nextFailure(exchange);
    this.#countAttempt(exchange.request.url);
    if (fault !== null) {
      this.#count(fault.kind === 'status' ? `status ${fault.status}` : fault.kind);
      if (usesDelivery(fault)) this.#setBack(exchange.request.url);
      if (usesDelivery(fault)) exchange.told.isFailure = true;
      return failing(fault, this.#simulation.wallMs + exchange.host.skewMs);
    }
    if (exchange.path === '/robots.txt') {
      return robotsAnswer(exchange.host, this.#simulation.nowMs, exchange.request.headers, (what) => this.#count(what));
    }
    if (page === undefined) return plainStatus(404);
    const { door } = exchange.host;
    if (door !== null && page.final.kind === 'page' && exchange.request.tier < door.passes) {
      this.#count(`door ${door.kind}`);
      exchange.told.isDoor = true;
      return doorAnswer(door);
    }
    const { nowMs } = this.#simulation;
    const isFailing = page.final.kind === 'failing' || (page.final.kind === 'mending' && nowMs < MENDED_MS);
    if (isFailing) exchange.told.isFailure = true;
    return pageAnswer(page, exchange.request.headers, nowMs);
  }

  #nextFailure({ request, host, path }: Exchange): Failure | null {
    const failures =
      path === '/robots.txt' ? host.robotsFailures : (this.#landscape.pages.get(request.url)?.failures ?? []);
    const attempt = this.#attempts.get(request.url) ?? 0;
    const planned = failures[attempt];
    const { lateFaults } = this.#settings;
    if (planned !== undefined || lateFaults === 0) return planned ?? null;
    return drawLateFailure(lateFaults, this.#random.fork(`late ${request.url} ${attempt}`));
  }

  // -- the way back -----------------------------------------------------------------------------------------------

  #resultOf(exchange: Exchange, answer: Exclude<Answer, { kind: 'endless' }>, durationMs: number): FetchResult {
    const { request } = exchange;
    if (answer.kind === 'broken') {
      const { head } = answer;
      const code = head === null ? 'connection_reset' : 'truncated';
      const { status = null, headers = [] } = head ?? {};
      return { ...failure(code, 'the connection broke', durationMs), status, headers };
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
    const cut = this.#cutNow();
    const resolution = cut === null ? this.#resolutionOf(name, random) : this.#unresolved(cut, name);
    const takesMs = cut?.silent === true ? RESOLVE_MS_MAX : random.span(0.2, 60);
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
      const answer = this.#simulation.after(takesMs, deliver, { owner, label: `resolve ${name}` });
      signal.addEventListener('abort', interrupt, { once: true });
    });
  }

  #unresolved(cut: Cut, name: HostName): Resolution {
    cut.tries.push({ atMs: this.#simulation.nowMs, host: name, forMs: cut.silent ? RESOLVE_MS_MAX : 60 });
    this.#cutBacks.push({ url: `http://${name}/`, cut });
    this.#count('cut');
    return { kind: 'failed', code: 'dns_failed', detail: 'the network is down', expiresInMs: 5_000 };
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
      this.#setBack(`http://${name}/`);
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

  #setBack(url: string): void {
    this.#setbacks.set(url, (this.#setbacks.get(url) ?? 0) + 1);
  }

  setbacksOf(url: string): number {
    // A name that is not found costs one of its host's URLs, whichever: each of them may be meant.
    const urls = new Set([url, `${new URL(url).origin}/`]);
    const unplain = new Set(this.cuts.filter((cut) => !isPlain(cut)));
    const cut = this.#cutBacks.filter((back) => urls.has(back.url) && unplain.has(back.cut)).length;
    let own = 0;
    for (const it of urls) own += this.#setbacks.get(it) ?? 0;
    return own + cut;
  }

  #count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  #hold(owner: Owner, bytes: number): void {
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes);
  }
}

function begunAt(beganAtMs: number, owner: Owner, { url, tier }: FetchRequest): TieredRequest {
  return { owner, url, tier, beganAtMs, answer: null, endedAtMs: null, isDoor: false, isFailure: false };
}

/** What is known of it to whoever asked; null: nothing, as it was given up. */
function answerTold(result: FetchResult): TieredRequest['answer'] {
  if (result.kind === 'response') return result.status;
  if (result.kind === 'failure' && (result.code === 'interrupted' || result.reusedConnection)) return null;
  return (result.kind === 'failure' ? result.status : null) ?? 'none';
}

function failure(code: FetchFailure['code'], detail: string, durationMs: number): FetchFailure {
  return { kind: 'failure', code, detail, status: null, durationMs, reusedConnection: false };
}
