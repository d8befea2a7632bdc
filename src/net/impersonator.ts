/**
 * Requests that shake hands as a browser does (tier 2), by a native client that may or may not be installed.
 *
 * Many servers tell clients apart before a word of HTTP is spoken: by the TLS and HTTP/2 handshake. Where an operator has
 * named a site, it is asked with the handshake, the headers and the name of a browser; and with `From`, so that whoever
 * runs the site still knows who asks (RFC 9110 §10.1.2). All else holds as for every request: robots, clocks, bounds, and
 * the guard, as each connection is led through our own tunnel to the address of its permit (S1).
 *
 * 1. The browser is named with its version, and what the client says of itself is compared with that name at the start.
 * 2. A request is a client of its own, on a connection of its own: nothing of one site is known to another.
 * 3. Redirects are results like any other; cookies are kept by nobody.
 * 4. TLS is verified (S4). The client knows its own roots; `caFile` is read beside them when the first one is made.
 */
import { createServer } from 'node:net';
import type { FetchFailure, FetchRequest, FetchResult, Header } from '../domain/fetching.js';
import type { Browser } from '../domain/tier.js';
import { BodyBudget } from './budget.js';
import { secureContextOf, targetOf } from './connect.js';
import { Deadlines } from './deadlines.js';
import type { FailureCode } from './failure.js';
import { type GuardRules, guardRules } from './guard.js';
import { type Answered, Impersonation, wireBytesMax } from './impersonation.js';
import { openTunnel, type Tunnel } from './tunnel.js';

export interface ImpersonatorOptions {
  readonly browser: Browser;
  /** Who asks: a mailbox, or a URL. Null: nothing is said. */
  readonly from: string | null;
  readonly guard: GuardRules;
  /** A PEM file of authorities that are trusted beside the client's own. */
  readonly caFile: string | null;
  readonly clock: { monotonicMs(): number };
  /** Bytes of all bodies held at once, unfinished and unreleased. */
  readonly bodyBudgetBytes: number;
}

export interface Impersonator {
  /** Sends a GET to the request's address. Never rejects; an aborted signal is the failure `interrupted`. */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult>;
  /** Says that a response's body (its `length`) is no longer held. */
  release(bytes: number): void;
  bytesHeld(): number;
  socketsOpen(): number;
  /** Interrupts what is under way. @returns when all sockets are closed; every later fetch is `interrupted` */
  close(): Promise<void>;
}

/** What there is of it here, or a sentence that says why there is nothing. */
export type Opened =
  | { readonly kind: 'available'; readonly impersonator: Impersonator }
  | { readonly kind: 'unavailable'; readonly why: string };

/** What is used of the package. */
interface ClientPackage {
  readonly Impit: new (options: {
    browser: Browser;
    proxyUrl: string;
    followRedirects: false;
    timeout: number;
  }) => Client;
}

interface Client {
  fetch(url: string, init: { headers: [string, string][]; redirect: 'manual' }): Promise<Answered>;
}

/** Never rejects for want of the package, or for what it is not. */
export async function createImpersonator(
  options: ImpersonatorOptions,
  load: () => Promise<ClientPackage> = loadPackage,
): Promise<Opened> {
  let client: ClientPackage;
  try {
    client = await load();
  } catch (error) {
    return unavailable(`the package impit could not be loaded (${firstLine(error)})`);
  }
  const tunnel = await openTunnel();
  const trouble = rootsTrouble(options);
  if (trouble !== null) return close(tunnel, trouble);
  try {
    readRoots(options, client);
    const own = await ownHeaders(client, options.browser, tunnel);
    const name = own.find(([header]) => header === 'user-agent')?.[1] ?? '';
    if (!name.includes(nameOf(options.browser))) {
      return close(tunnel, `the client names itself ${JSON.stringify(name)} for ${options.browser}`);
    }
    return { kind: 'available', impersonator: new TunnelledImpersonator(options, client, tunnel, own) };
  } catch (error) {
    return close(tunnel, `the client answers no trial (${firstLine(error)})`);
  }
}

/** A package that the program can do without: the compiler is not to look for it where it is not installed. */
async function loadPackage(): Promise<ClientPackage> {
  const loaded = (await import('impit')) as unknown as ClientPackage & { readonly default?: ClientPackage };
  return loaded.default ?? loaded;
}

class TunnelledImpersonator implements Impersonator {
  readonly #options: ImpersonatorOptions;
  readonly #client: ClientPackage;
  readonly #tunnel: Tunnel;
  readonly #own: readonly Header[];
  readonly #trust: { readonly guard: GuardRules; readonly secureContext: ReturnType<typeof secureContextOf> };
  readonly #deadlines: Deadlines;
  readonly #budget: BodyBudget;
  readonly #running = new Map<Impersonation, Promise<FetchResult>>();
  #isClosing = false;

  constructor(options: ImpersonatorOptions, client: ClientPackage, tunnel: Tunnel, own: readonly Header[]) {
    this.#options = options;
    this.#client = client;
    this.#tunnel = tunnel;
    this.#own = own;
    this.#trust = { guard: options.guard, secureContext: secureContextOf(undefined) };
    this.#deadlines = new Deadlines(options.clock);
    this.#budget = new BodyBudget(options.bodyBudgetBytes);
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    if (this.#isClosing || signal.aborted) return failed('interrupted', 'given up before it began');
    if (!/^https?:\/\//.test(request.origin)) return failed('unsupported_scheme', request.origin);
    if (!URL.canParse(request.url) || new URL(request.url).origin !== new URL(request.origin).origin) {
      return failed('guard_refused', `${request.url} is not of ${request.origin}`);
    }
    const impersonation = this.#begin(request, signal);
    const running = impersonation.run();
    this.#running.set(impersonation, running);
    return running.finally(() => this.#running.delete(impersonation));
  }

  release(bytes: number): void {
    this.#budget.release(bytes);
  }

  bytesHeld(): number {
    return this.#budget.bytesHeld;
  }

  socketsOpen(): number {
    return this.#tunnel.socketsOpen();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const impersonation of this.#running.keys()) impersonation.interrupt('the client is closing');
    await Promise.all(this.#running.values());
    await this.#tunnel.close();
  }

  #begin(request: FetchRequest, signal: AbortSignal): Impersonation {
    const { browser, clock } = this.#options;
    const passage = this.#tunnel.open({
      host: new URL(request.origin).hostname,
      target: targetOf(request.origin, request.address),
      trust: this.#trust,
      bytesMax: wireBytesMax(request),
      onBound: () => impersonation.exceed(),
    });
    const impersonation: Impersonation = new Impersonation({
      request,
      headers: dressed(this.#own, request.headers, this.#options.from),
      ask: (headers) => {
        const all = [...headers, ...withheld(this.#own, headers)];
        return ask(this.#client, browser, passage.proxyUrl, withoutFragment(request.url), all);
      },
      passage,
      signal,
      clock,
      deadlines: this.#deadlines,
      budget: this.#budget,
    });
    return impersonation;
  }
}

/** Deadlines are ours; its own is only there so that nothing of it is left for ever. */
const CLIENT_MS_MAX = 600_000;

async function ask(
  { Impit }: ClientPackage,
  browser: Browser,
  proxyUrl: string,
  url: string,
  headers: readonly Header[],
): Promise<Answered> {
  const client = new Impit({ browser, proxyUrl, followRedirects: false, timeout: CLIENT_MS_MAX });
  return client.fetch(url, { headers: headers.map(([name, value]) => [name, value]), redirect: 'manual' });
}

/**
 * What is sent: what the browser sends by itself, in its order, and what this request adds, before the last of them,
 * where a browser has its cookies. Under another browser's name nothing is said that only its own would say of itself.
 */
export function dressed(own: readonly Header[], added: readonly Header[], from: string | null): readonly Header[] {
  const shown = added.find(([name]) => name.toLowerCase() === 'user-agent')?.[1] ?? null;
  const extras = added.filter(([name]) => name.toLowerCase() !== 'user-agent');
  const named = own.flatMap(([name, value]): Header[] => {
    if (shown === null) return [[name, value]];
    if (name.startsWith('sec-ch-ua')) return [];
    return [[name, name === 'user-agent' ? shown : value]];
  });
  const signed: readonly Header[] = from === null ? [] : [['from', from]];
  const place = named.findIndex(([name]) => name === 'priority');
  return place === -1
    ? [...named, ...signed, ...extras]
    : [...named.slice(0, place), ...signed, ...extras, ...named.slice(place)];
}

/** What the client would send by itself and is not to: to it, an empty value says so. */
function withheld(own: readonly Header[], headers: readonly Header[]): readonly Header[] {
  return own.flatMap(([name]): Header[] => (headers.some(([other]) => other === name) ? [] : [[name, '']]));
}

// -- what the client says of itself -----------------------------------------------------------------------------

const TRIAL_MS_MAX = 10_000;
const OWN_BYTES_MAX = 16 * 1024;

/** The headers that the client sends by itself, in their order: it is asked for a page of ours. */
async function ownHeaders(client: ClientPackage, browser: Browser, tunnel: Tunnel): Promise<readonly Header[]> {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece) => {
      heard += piece.toString('latin1');
      if (heard.includes('\r\n\r\n') || heard.length > OWN_BYTES_MAX) socket.end('HTTP/1.1 204 None\r\n\r\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = { address: '127.0.0.1', family: 4 } as const;
  const { port } = server.address() as { port: number };
  const passage = tunnel.open({
    host: '127.0.0.1',
    target: { address, port },
    trust: { guard: guardRules(['127.0.0.1']), secureContext: secureContextOf(undefined) },
    bytesMax: OWN_BYTES_MAX,
    onBound: () => {},
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TRIAL_MS_MAX} ms`)), TRIAL_MS_MAX);
  });
  try {
    const asked = ask(client, browser, passage.proxyUrl, `http://127.0.0.1:${port}/`, []);
    asked.catch(() => {});
    await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
    await passage.close();
    await new Promise((resolve) => server.close(resolve));
  }
  return headersIn(heard);
}

function headersIn(head: string): readonly Header[] {
  const lines = head.slice(0, head.indexOf('\r\n\r\n')).split('\r\n').slice(1);
  return lines.flatMap((line): Header[] => {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    return name === 'host' ? [] : [[name, line.slice(colon + 1).trim()]];
  });
}

/** As it stands in the User-Agent: `Chrome/151.`. */
function nameOf(browser: Browser): string {
  const [, name = '', version = ''] = /^([a-z]+)(\d+)$/.exec(browser) ?? [];
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}/${version}.`;
}

// -- trust ------------------------------------------------------------------------------------------------------

/** Which file the roots of each browser were read with; the client reads them once in a process. */
const rootsRead = new Map<Browser, string | null>();

function rootsTrouble({ browser, caFile }: ImpersonatorOptions): string | null {
  const read = rootsRead.get(browser);
  if (read === undefined || read === caFile) return null;
  return `the client has read its roots already, with tls.ca ${read ?? 'unset'}; another needs another process`;
}

/**
 * The client looks for further authorities in the file of SSL_CERT_FILE, when the first of a browser is made; it has no
 * option for them. The variable is set for that moment only, so that nothing else in the process sees it.
 */
function readRoots({ browser, caFile }: ImpersonatorOptions, { Impit }: ClientPackage): void {
  const before = process.env['SSL_CERT_FILE'];
  if (caFile !== null) process.env['SSL_CERT_FILE'] = caFile;
  try {
    new Impit({ browser, proxyUrl: '', followRedirects: false, timeout: CLIENT_MS_MAX });
    rootsRead.set(browser, caFile);
  } finally {
    if (caFile !== null && before === undefined) delete process.env['SSL_CERT_FILE'];
    else if (caFile !== null) process.env['SSL_CERT_FILE'] = before;
  }
}

// -- small things -----------------------------------------------------------------------------------------------

function unavailable(why: string): Opened {
  return { kind: 'unavailable', why: `tier 2 is not available: ${why}` };
}

async function close(tunnel: Tunnel, why: string): Promise<Opened> {
  await tunnel.close();
  return unavailable(why);
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n')[0]?.trim() ?? '';
}

function withoutFragment(url: string): string {
  const fragment = url.indexOf('#');
  return fragment === -1 ? url : url.slice(0, fragment);
}

function failed(code: FailureCode, detail: string): FetchFailure {
  return { kind: 'failure', code, detail, status: null, durationMs: 0, reusedConnection: false };
}
