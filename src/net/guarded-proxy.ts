/**
 * A forward proxy on loopback for clients that look up names themselves: what they ask for passes the guard here (S1).
 *
 * A browser, or a client with a browser's handshake, can't be told which address to connect to. It is given this proxy
 * instead, one for each visit: it resolves with our resolver, vets what comes of it, and connects to that very address.
 * The host that the visit is about is connected to at the address of its permit.
 *
 * 1. No connection but to a vetted address; what is refused is noted, and its connection closed without an answer.
 * 2. Connections and bytes are counted and bounded (S2): over a bound everything of the visit is cut.
 * 3. Through a tunnel goes TLS and nothing else: what a client has to say in the open it says as a request.
 * 4. `close` leaves no socket open.
 */
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Resolution, VettedAddress } from '../domain/fetching.js';
import { openGuarded, type Target, type Trust } from './connect.js';
import type { Resolver } from './dns.js';
import { Fault } from './failure.js';

export interface GuardedProxyOptions {
  readonly trust: Trust;
  readonly names: Pick<Resolver, 'resolve'>;
  /** The host that has a permit, and the address that it names. */
  readonly pinned?: { readonly host: string; readonly address: VettedAddress };
  readonly connectionsMax: number;
  /** To the client, over all connections, as they come over the wire. */
  readonly bytesMax: number;
}

export interface GuardedProxy {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** What was refused and why, the first few. */
  readonly refusals: readonly string[];
  spent(): { readonly connections: number; readonly bytes: number };
  /** Cuts what is under way; resolves when no socket is left. */
  close(): Promise<void>;
}

const REFUSALS_KEPT = 20;
const HEADER_BYTES_MAX = 64 * 1024;
/** The type of a record that every client begins with (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;
/** Only this connection's own business (RFC 9110 §7.6.1), and what is said to proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Listens on a free port of 127.0.0.1. Rejects with the system's error. */
export async function openGuardedProxy(options: GuardedProxyOptions): Promise<GuardedProxy> {
  const proxy = new ProxyAtWork(options);
  await proxy.listen();
  return proxy;
}

class ProxyAtWork implements GuardedProxy {
  readonly refusals: string[] = [];
  readonly #options: GuardedProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #over = new AbortController();
  #connections = 0;
  #bytes = 0;
  #port = 0;

  constructor(options: GuardedProxyOptions) {
    this.#options = options;
    this.#server = createServer(
      { maxHeaderSize: HEADER_BYTES_MAX },
      (asked, answer) => void this.#forward(asked, answer),
    );
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('connect', (asked, client, head) => void this.#tunnel(asked, client, head));
    this.#server.on('clientError', (_error, client) => client.destroy());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        this.#server.removeListener('error', reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  spent(): { readonly connections: number; readonly bytes: number } {
    return { connections: this.#connections, bytes: this.#bytes };
  }

  close(): Promise<void> {
    this.#over.abort(new Fault('interrupted', 'the visit is over'));
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  /** `CONNECT host:port` (RFC 9110 §9.3.6): bytes both ways from here on. `head`: what the client did not wait to say. */
  async #tunnel(asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#keep(client);
    const place = placeOf(asked.url ?? '');
    if (place === null) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    try {
      const socket = await this.#connect(place.host, place.port);
      if (client.destroyed) return void socket.destroy();
      client.once('close', () => socket.destroy());
      socket.once('close', () => client.destroy());
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) client.unshift(head);
      client.once('data', (first: Buffer) => {
        client.pause();
        if (first[0] !== TLS_HANDSHAKE) {
          this.#refused('guard_refused', `${place.host}: a tunnel for something else than TLS`);
          return void client.destroy();
        }
        socket.write(first);
        socket.on('data', (bytes: Buffer) => this.#count(bytes.length));
        socket.pipe(client);
        client.pipe(socket);
      });
    } catch (error) {
      client.end(`HTTP/1.1 ${statusOf(error)} ${(error as Error).name}\r\n\r\n`);
    }
  }

  /** A request in absolute form (RFC 9112 §3.2.2): one exchange, on a connection of its own. */
  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url as string) : null;
    if (url?.protocol !== 'http:') return void answer.writeHead(400).end();
    try {
      const socket = await this.#connect(hostIn(url.hostname), url.port === '' ? 80 : Number(url.port));
      this.#exchange(asked, answer, url, socket);
    } catch {
      // An answer of ours would be taken for the site's.
      answer.destroy();
    }
  }

  #exchange(asked: IncomingMessage, answer: ServerResponse, url: URL, socket: Socket): void {
    const fail = (): void => void answer.destroy();
    const onward = requestHttp({
      method: asked.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      headers: onlyEndToEnd(asked.rawHeaders),
      setHost: false,
      createConnection: () => socket,
    });
    onward.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.statusMessage ?? '', onlyEndToEnd(response.rawHeaders));
      response.on('data', (bytes: Buffer) => this.#count(bytes.length));
      response.on('error', fail);
      response.pipe(answer);
    });
    onward.on('error', fail);
    answer.once('close', () => socket.destroy());
    asked.pipe(onward);
  }

  /** Rejects with Fault. */
  async #connect(host: string, port: number): Promise<Socket> {
    const { trust, connectionsMax, bytesMax } = this.#options;
    if (this.#bytes > bytesMax) throw new Fault('too_large', `${host}: more than ${bytesMax} bytes in one visit`);
    if (++this.#connections > connectionsMax)
      throw this.#refused('too_large', `${host}: more than ${connectionsMax} connections in one visit`);
    const address = await this.#addressOf(host);
    const target: Target = { address, port, secure: false, serverName: null };
    return new Promise((resolve, reject) => {
      const opening = {
        opened: resolve,
        failed: (fault: Fault) =>
          reject(fault.code === 'guard_refused' ? this.#refused(fault.code, fault.detail) : fault),
      };
      openGuarded(target, trust, (socket) => this.#keep(socket), opening);
    });
  }

  async #addressOf(host: string): Promise<VettedAddress> {
    const { pinned, names } = this.#options;
    if (pinned !== undefined && pinned.host === host) return pinned.address;
    const resolution: Resolution = await names.resolve(host, this.#over.signal);
    switch (resolution.kind) {
      case 'addresses':
        return resolution.addresses[0] as VettedAddress;
      case 'refused':
        throw this.#refused('guard_refused', `${host}: ${resolution.detail}`);
      case 'failed':
        throw new Fault('connect_failed', `${host}: ${resolution.detail}`);
    }
  }

  #refused(code: 'guard_refused' | 'too_large', detail: string): Fault {
    if (this.refusals.length < REFUSALS_KEPT) this.refusals.push(detail);
    return new Fault(code, detail);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#options.bytesMax) return;
    this.#refused('too_large', `more than ${this.#options.bytesMax} bytes in one visit`);
    for (const socket of this.#sockets) socket.destroy();
  }

  #keep(socket: Duplex): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#over.signal.aborted) socket.destroy();
  }
}

/** `host:port`, the host perhaps an IPv6 literal in brackets. */
function placeOf(authority: string): { readonly host: string; readonly port: number } | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:/?#@\s]+):(\d{1,5})$/.exec(authority);
  if (match === null) return null;
  const port = Number(match[2]);
  return port < 1 || port > 65_535 ? null : { host: hostIn(match[1] as string), port };
}

function hostIn(name: string): string {
  const bare = name.startsWith('[') ? name.slice(1, -1) : name;
  return isIP(bare) === 0 ? bare.toLowerCase().replace(/\.$/, '') : bare;
}

function onlyEndToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1] as string);
  }
  return kept;
}

function statusOf(error: unknown): number {
  return error instanceof Fault && (error.code === 'guard_refused' || error.code === 'too_large') ? 403 : 502;
}
