/**
 * What a TLS client says first (RFC 8446 §4.1.2), and JA4, the fingerprint that is made of it: written from the published
 * description, for trials that hold a handshake against the one that it should be.
 *
 * Values that clients make up so that servers get used to unknown ones (GREASE, RFC 8701) count in nothing.
 */
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface ClientHello {
  readonly legacyVersion: number;
  readonly ciphers: readonly number[];
  /** In the order in which they were sent. */
  readonly extensions: readonly { readonly type: number; readonly data: Buffer }[];
  readonly serverName: string | null;
  readonly alpn: readonly string[];
  readonly groups: readonly number[];
  readonly keyShares: readonly number[];
  readonly signatureAlgorithms: readonly number[];
  readonly versions: readonly number[];
  readonly certificateCompressions: readonly number[];
}

const [SERVER_NAME, GROUPS, SIGNATURES, ALPN, COMPRESSION, VERSIONS, KEY_SHARES] = [0, 10, 13, 16, 27, 43, 51] as const;

export function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff);
}

/** The first handshake message in these records; null while it is not whole. Throws on anything else. */
export function clientHelloIn(bytes: Buffer): ClientHello | null {
  const message: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    if (bytes[at] !== 22) throw new Error(`a record of type ${bytes[at]}`);
    const length = bytes.readUInt16BE(at + 3);
    message.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  const whole = Buffer.concat(message);
  if (whole.length < 4) return null;
  if (whole[0] !== 1) throw new Error(`a handshake message of type ${whole[0]}`);
  const length = whole.readUIntBE(1, 3);
  return whole.length < 4 + length ? null : parsed(whole.subarray(4, 4 + length));
}

function parsed(body: Buffer): ClientHello {
  const cursor = new Cursor(body);
  const legacyVersion = cursor.number(2);
  cursor.take(32);
  cursor.vector(1);
  const ciphers = cursor.vector(2).numbers(2);
  cursor.vector(1);
  const list = cursor.vector(2);
  const extensions: { type: number; data: Buffer }[] = [];
  while (!list.isAtEnd) extensions.push({ type: list.number(2), data: list.vector(2).rest() });
  const inside = (type: number): Cursor | null => {
    const found = extensions.find((extension) => extension.type === type);
    return found === undefined ? null : new Cursor(found.data);
  };
  return {
    legacyVersion,
    ciphers,
    extensions,
    serverName: nameIn(inside(SERVER_NAME)),
    alpn: inside(ALPN)?.vector(2).texts(1) ?? [],
    groups: inside(GROUPS)?.vector(2).numbers(2) ?? [],
    keyShares: sharesIn(inside(KEY_SHARES)),
    signatureAlgorithms: inside(SIGNATURES)?.vector(2).numbers(2) ?? [],
    versions: inside(VERSIONS)?.vector(1).numbers(2) ?? [],
    certificateCompressions: inside(COMPRESSION)?.vector(1).numbers(2) ?? [],
  };
}

function nameIn(extension: Cursor | null): string | null {
  const list = extension?.vector(2);
  if (list === undefined || list.isAtEnd) return null;
  list.number(1);
  return list.vector(2).rest().toString('latin1');
}

function sharesIn(extension: Cursor | null): number[] {
  const list = extension?.vector(2);
  const groups: number[] = [];
  while (list !== undefined && !list.isAtEnd) {
    groups.push(list.number(2));
    list.vector(2);
  }
  return groups;
}

/** JA4 of a client over TCP: what it offers, sorted where clients shuffle. */
export function ja4Of(hello: ClientHello): string {
  const ciphers = hello.ciphers.filter((it) => !isGrease(it));
  const extensions = hello.extensions.map(({ type }) => type).filter((it) => !isGrease(it));
  const signatures = hello.signatureAlgorithms.filter((it) => !isGrease(it));
  const summary = [
    't',
    versionOf(hello),
    hello.serverName === null ? 'i' : 'd',
    twoDigits(ciphers.length),
    twoDigits(extensions.length),
    endsOf(hello.alpn[0] ?? ''),
  ].join('');
  const sorted = extensions.filter((type) => type !== SERVER_NAME && type !== ALPN);
  const offered = [hexes(sorted).sort().join(','), ...(signatures.length === 0 ? [] : [hexes(signatures).join(',')])];
  return [summary, shortHash(hexes(ciphers).sort().join(',')), shortHash(offered.join('_'))].join('_');
}

const VERSION_NAMES: ReadonlyMap<number, string> = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
  [0x0300, 's3'],
]);

function versionOf({ versions, legacyVersion }: ClientHello): string {
  const highest = Math.max(...versions.filter((it) => !isGrease(it)), 0);
  return VERSION_NAMES.get(highest === 0 ? legacyVersion : highest) ?? '00';
}

/** First and last character of the first protocol; of its hexadecimal form where they are neither letter nor digit. */
function endsOf(protocol: string): string {
  if (protocol === '') return '00';
  const ends = `${protocol.at(0)}${protocol.at(-1)}`;
  if (/^[0-9A-Za-z]{2}$/.test(ends)) return ends;
  const hex = Buffer.from(protocol, 'latin1').toString('hex');
  return `${hex.at(0)}${hex.at(-1)}`;
}

function twoDigits(count: number): string {
  return String(Math.min(count, 99)).padStart(2, '0');
}

export function hexes(values: readonly number[]): string[] {
  return values.map((value) => value.toString(16).padStart(4, '0'));
}

function shortHash(text: string): string {
  return text === '' ? '0'.repeat(12) : createHash('sha256').update(text).digest('hex').slice(0, 12);
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new Error('it ends too soon');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }

  number(width: number): number {
    return this.take(width).readUIntBE(0, width);
  }

  /** What follows its own length. */
  vector(lengthWidth: number): Cursor {
    return new Cursor(this.take(this.number(lengthWidth)));
  }

  numbers(width: number): number[] {
    const values: number[] = [];
    while (!this.isAtEnd) values.push(this.number(width));
    return values;
  }

  texts(lengthWidth: number): string[] {
    const values: string[] = [];
    while (!this.isAtEnd) values.push(this.vector(lengthWidth).rest().toString('latin1'));
    return values;
  }
}

export interface HelloListener {
  readonly port: number;
  /** The next one that comes. Rejects where something else does. */
  next(): Promise<ClientHello>;
  stop(): Promise<void>;
}

/** Listens on loopback, reads what comes first, and hangs up. */
export async function listenForHellos(): Promise<HelloListener> {
  const waiting: { resolve: (hello: ClientHello) => void; reject: (error: unknown) => void }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      try {
        const hello = clientHelloIn(bytes);
        if (hello === null) return;
        waiting.shift()?.resolve(hello);
      } catch (error) {
        waiting.shift()?.reject(error);
      }
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    next: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
