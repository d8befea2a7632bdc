/**
 * A SOCKS5 server on loopback (RFC 1928, RFC 1929) for a client that can't be told which address to connect to: what it
 * asks for is led to the address of the request's permit, past the guard, and to nothing else (S1).
 *
 * Bytes pass as they are, so that what the server sees is the client's own handshake. A passage is opened for one
 * request, under a name that nobody can guess, and serves one connection: a client that would quietly try again finds
 * the door shut (P1). The passage also knows what the client doesn't tell: what came over the wire, and who hung up.
 *
 * 1. No connection but to the address of the passage, on its port, for its host; vetted once more as it is made.
 * 2. More bytes than the passage's bound are not read; the connection is cut, and says so (S2).
 * 3. Once `close` resolves, no socket of the passage is left, and none will be.
 * 4. The far end hears one request, however often the client would ask.
 */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { openGuarded, type Target, type Trust } from './connect.js';
import { Fault } from './failure.js';
import { canonicalAddress } from './guard.js';
import { OneRequest } from './one-request.js';

export interface PassageTerms {
  /** As in the URL, brackets of an IPv6 literal included. */
  readonly host: string;
  readonly target: Pick<Target, 'address' | 'port'>;
  readonly trust: Trust;
  /** From the far end, as they come over the wire. */
  readonly bytesMax: number;
  /** Called at most once: the passage was cut at its bound. */
  readonly onBound: () => void;
}

/** How the far end of a passage is: not reached, refused or out of reach, connected, hung up properly, or broken off. */
export type FarEnd = 'unreached' | 'failed' | 'open' | 'ended' | 'broken';

export interface Passage {
  /** For the client: with the name under which it is let through. */
  readonly proxyUrl: string;
  readonly farEnd: FarEnd;
  /** Why the far end could not be reached; null where it was, or where nobody asked. */
  readonly fault: Fault | null;
  readonly bytesReceived: number;
  /** Of the far end; empty where it was not reached. */
  readonly remoteAddress: string;
  /** An answer has begun: until then the client is heard with one request alone. */
  answered(): void;
  /** Cuts what is left. @returns when both sockets are closed; nobody is let through any more */
  close(): Promise<void>;
}

export interface Tunnel {
  open(terms: PassageTerms): Passage;
  socketsOpen(): number;
  /** Cuts all passages. */
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. Rejects with the system's error. */
export async function openTunnel(): Promise<Tunnel> {
  const tunnel = new LoopbackTunnel();
  await tunnel.listen();
  return tunnel;
}

// RFC 1928 §3 to §6, RFC 1929 §2.
const VERSION = 5;
const METHOD_NAMED = 2;
const NO_METHOD = 0xff;
const NAMING_VERSION = 1;
const CONNECT = 1;
const [BY_IPV4, BY_NAME, BY_IPV6] = [1, 3, 4] as const;
const [GRANTED, FAILED, NOT_ALLOWED] = [0, 1, 2] as const;
/** The longest of its messages: a name of 255 octets. */
const GREETING_BYTES_MAX = 600;
const NAME_BYTES = 16;

class LoopbackTunnel implements Tunnel {
  readonly #server: Server = createServer({ noDelay: true, pauseOnConnect: false }, (client) => this.#greet(client));
  readonly #passages = new Map<string, OpenPassage>();
  readonly #clients = new Set<Socket>();
  #port = 0;

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        this.#server.off('error', reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        // What is under way keeps the process alive, not that something could be.
        this.#server.unref();
        resolve();
      });
    });
  }

  open(terms: PassageTerms): Passage {
    const name = randomBytes(NAME_BYTES).toString('hex');
    const proxyUrl = `socks5h://${name}:x@127.0.0.1:${this.#port}`;
    const passage = new OpenPassage(terms, proxyUrl, () => this.#passages.delete(name));
    this.#passages.set(name, passage);
    return passage;
  }

  socketsOpen(): number {
    let open = 0;
    for (const { farEnd } of this.#passages.values()) if (farEnd === 'open') open++;
    return open;
  }

  async close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all([...this.#passages.values()].map((passage) => passage.close()));
    for (const client of this.#clients) client.destroy();
    await stopped;
  }

  #greet(client: Socket): void {
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    client.on('error', () => client.destroy());
    let passage: OpenPassage | null = null;
    let step: 'methods' | 'name' | 'wish' = 'methods';
    const heard = new Heard();
    const listen = (piece: Buffer): void => {
      heard.add(piece);
      for (let moved = true; moved; ) {
        moved = false;
        if (step === 'methods') {
          const methods = methodsIn(heard);
          if (methods === null) break;
          if (!methods.includes(METHOD_NAMED)) return void client.end(Buffer.from([VERSION, NO_METHOD]));
          client.write(Buffer.from([VERSION, METHOD_NAMED]));
          [step, moved] = ['name', true];
        } else if (step === 'name') {
          const name = nameIn(heard);
          if (name === null) break;
          passage = this.#passages.get(name) ?? null;
          if (passage === null) return void client.end(Buffer.from([NAMING_VERSION, FAILED]));
          client.write(Buffer.from([NAMING_VERSION, GRANTED]));
          [step, moved] = ['wish', true];
        } else {
          const wish = wishIn(heard);
          if (wish === null) break;
          client.off('data', listen);
          client.pause();
          return passage?.lead(client, wish, heard.rest());
        }
      }
      if (heard.length > GREETING_BYTES_MAX) client.destroy();
    };
    client.on('data', listen);
  }
}

interface Wish {
  readonly command: number;
  readonly host: string;
  readonly port: number;
}

class OpenPassage implements Passage {
  readonly proxyUrl: string;
  readonly #terms: PassageTerms;
  readonly #forget: () => void;
  readonly #sockets = new Set<Socket>();
  #farEnd: FarEnd = 'unreached';
  #fault: Fault | null = null;
  #bytesReceived = 0;
  #remoteAddress = '';
  #isClosed = false;
  readonly #heard = new OneRequest(() => this.#askedTwice());
  #whenEmpty: () => void = () => {};

  constructor(terms: PassageTerms, proxyUrl: string, forget: () => void) {
    this.#terms = terms;
    this.proxyUrl = proxyUrl;
    this.#forget = forget;
  }

  get farEnd(): FarEnd {
    return this.#farEnd;
  }

  get fault(): Fault | null {
    return this.#fault;
  }

  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  get remoteAddress(): string {
    return this.#remoteAddress;
  }

  answered(): void {
    this.#heard.answered();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#forget();
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
    for (const socket of this.#sockets) socket.destroy();
    if (this.#sockets.size === 0) this.#whenEmpty();
    return empty;
  }

  /** The client has said where to. `early` is what it said behind that. */
  lead(client: Socket, wish: Wish, early: Buffer): void {
    this.#keep(client);
    if (this.#isClosed || this.#farEnd !== 'unreached') return refuse(client, NOT_ALLOWED);
    const { host, target, trust } = this.#terms;
    if (wish.command !== CONNECT || wish.port !== target.port || bareName(wish.host) !== bareName(host)) {
      this.#fail(client, NOT_ALLOWED, new Fault('guard_refused', `${wish.host}:${wish.port} was not asked for`));
      return;
    }
    this.#farEnd = 'failed';
    const plain: Target = { ...target, secure: false, serverName: null };
    let far: Socket | null = null;
    openGuarded(
      plain,
      trust,
      (socket) => {
        far = socket;
        this.#keep(socket);
      },
      {
        opened: (socket) => this.#join(client, socket, early),
        failed: (fault) => this.#fail(client, fault.code === 'guard_refused' ? NOT_ALLOWED : FAILED, fault),
      },
    );
    client.once('close', () => far?.destroy(new Fault('interrupted', 'nobody waits for it any more')));
  }

  #join(client: Socket, far: Socket, early: Buffer): void {
    this.#farEnd = 'open';
    this.#remoteAddress = canonicalAddress(far.remoteAddress ?? '') ?? '';
    // What the far end does once the client has hung up is an answer to that.
    let clientIsThere = true;
    const is = (end: FarEnd) => () => {
      if (this.#farEnd === 'open' && clientIsThere) this.#farEnd = end;
    };
    client.once('end', () => {
      clientIsThere = false;
    });
    client.once('close', () => {
      clientIsThere = false;
    });
    far.once('end', is('ended'));
    far.once('error', is('broken'));
    far.once('close', () => client.destroySoon());
    client.write(answer(GRANTED));
    if (early.length > 0) this.#heard.write(early);
    // Whoever speaks first here is the client; it takes no more from a read than the answer that it waits for.
    client.once('data', () => {
      far.on('data', (piece: Buffer) => {
        this.#heard.spokenTo();
        this.#count(piece.length);
      });
      far.pipe(client);
    });
    client.pipe(this.#heard).pipe(far);
  }

  /** Of what the server refused unread the client would ask at once, and past the gate. */
  #askedTwice(): void {
    this.#fault = new Fault('connection_reset', 'the request was refused unread; it is not asked again at once');
    for (const socket of this.#sockets) socket.destroy();
  }

  #fail(client: Socket, reply: number, fault: Fault): void {
    this.#farEnd = 'failed';
    this.#fault = fault;
    refuse(client, reply);
  }

  #count(bytes: number): void {
    const before = this.#bytesReceived;
    this.#bytesReceived += bytes;
    const { bytesMax, onBound } = this.#terms;
    if (before > bytesMax || this.#bytesReceived <= bytesMax) return;
    for (const socket of this.#sockets) socket.destroy();
    onBound();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0 && this.#isClosed) this.#whenEmpty();
    });
    if (this.#isClosed) socket.destroy();
  }
}

/** RFC 1928 §6: whose address was bound is nobody's business. */
function answer(reply: number): Buffer {
  return Buffer.from([VERSION, reply, 0, BY_IPV4, 0, 0, 0, 0, 0, 0]);
}

function refuse(client: Socket, reply: number): void {
  client.end(answer(reply));
}

/** What came and is not yet understood. */
class Heard {
  #bytes: Buffer = Buffer.alloc(0);

  get length(): number {
    return this.#bytes.length;
  }

  add(piece: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece]);
  }

  at(index: number): number | undefined {
    return this.#bytes[index];
  }

  /** Null while there are fewer; otherwise they are gone from here. */
  take(count: number): Buffer | null {
    if (this.#bytes.length < count) return null;
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  rest(): Buffer {
    return this.take(this.#bytes.length) as Buffer;
  }
}

/** `05 count methods…` */
function methodsIn(heard: Heard): readonly number[] | null {
  const count = heard.at(1);
  const message = count === undefined ? null : heard.take(2 + count);
  if (message === null) return null;
  return message[0] === VERSION ? [...message.subarray(2)] : [];
}

/** `01 length name length password`; the name is all that counts. */
function nameIn(heard: Heard): string | null {
  const nameLength = heard.at(1);
  const wordLength = nameLength === undefined ? undefined : heard.at(2 + nameLength);
  if (nameLength === undefined || wordLength === undefined) return null;
  const message = heard.take(3 + nameLength + wordLength);
  return message === null ? null : message.toString('latin1', 2, 2 + nameLength);
}

/** `05 command 00 kind address port` */
function wishIn(heard: Heard): Wish | null {
  const kind = heard.at(3);
  const nameLength = heard.at(4);
  if (kind === undefined || nameLength === undefined) return null;
  const length = kind === BY_IPV4 ? 4 : kind === BY_IPV6 ? 16 : kind === BY_NAME ? 1 + nameLength : 0;
  const message = heard.take(4 + length + 2);
  if (message === null) return null;
  const address = message.subarray(4, 4 + length);
  return { command: message[1] ?? 0, host: spelled(kind, address), port: message.readUInt16BE(4 + length) };
}

function spelled(kind: number, address: Buffer): string {
  if (kind === BY_NAME) return address.toString('latin1', 1);
  if (kind === BY_IPV4) return [...address].join('.');
  const groups = Array.from({ length: address.length / 2 }, (_, i) => address.readUInt16BE(2 * i).toString(16));
  return groups.join(':');
}

/** A name without its trailing dot, an address in its one spelling. */
function bareName(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return canonicalAddress(bare) ?? bare.toLowerCase();
}
