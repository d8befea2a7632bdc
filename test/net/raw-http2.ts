/** A server that speaks HTTP/2 frame by frame (RFC 9113), as wrongly as it is told to. */
import { createServer, type Server } from 'node:tls';
import type { Socket } from 'node:net';
import type { Identity } from './identity.js';

export const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] = [
  0, 1, 3, 4, 6, 7, 8, 9,
] as const;
export const [END_STREAM, ACK, END_HEADERS, PADDED] = [1, 1, 4, 8] as const;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** RFC 7541 §6.2.2, without Huffman coding: names and values under 127 octets, or longer ones as integers say. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** RFC 7541 §5.1, with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const octets = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) + 128);
  octets.push(rest);
  return Buffer.from(octets);
}

export function fields(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(headers).map(([name, value]) => field(name, value)));
}

export const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Status 200 and what else is given, whole in one frame. */
export function answer(stream: number, headers: Readonly<Record<string, string>> = {}, flags = 0): Buffer {
  return frame(HEADERS, END_HEADERS | flags, stream, fields({ ':status': '200', ...headers }));
}

/** What it does with the request on that stream, the `count`th of all. */
export type Http2Misbehaviour = (socket: Socket, stream: number, count: number) => void;

export class RawHttp2Server {
  readonly open = new Set<Socket>();
  /** Frames that came, in order, settings and their acknowledgements left out. */
  readonly frames: { type: number; flags: number; stream: number; payload: Buffer }[] = [];
  requests = 0;
  connections = 0;
  readonly #server: Server;

  private constructor(identity: Identity, misbehave: Http2Misbehaviour, greeting: Buffer | null) {
    this.#server = createServer({ ...identity, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      this.connections++;
      this.open.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => this.open.delete(socket));
      socket.on('error', () => undefined);
      if (greeting !== null) socket.write(greeting);
      let bytes = Buffer.alloc(0);
      let skipped = false;
      socket.on('data', (piece: Buffer) => {
        bytes = Buffer.concat([bytes, piece]);
        if (!skipped && bytes.length >= 24) {
          bytes = bytes.subarray(24);
          skipped = true;
        }
        while (skipped && bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
          const length = bytes.readUIntBE(0, 3);
          const [type = 0, flags = 0] = [bytes[3], bytes[4]];
          const stream = bytes.readUInt32BE(5);
          const payload = Buffer.from(bytes.subarray(9, 9 + length));
          bytes = bytes.subarray(9 + length);
          if (type !== SETTINGS) this.frames.push({ type, flags, stream, payload });
          else if ((flags & ACK) === 0 && greeting !== null) socket.write(frame(SETTINGS, ACK, 0));
          if (type === HEADERS) misbehave(socket, stream, ++this.requests);
        }
      });
    });
    this.#server.on('tlsClientError', () => undefined);
  }

  /** @param greeting its SETTINGS, or what it sends instead of them; null: nothing */
  static async start(
    identity: Identity,
    misbehave: Http2Misbehaviour,
    greeting: Buffer | null = frame(SETTINGS, 0, 0),
    host = '127.0.0.1',
  ): Promise<RawHttp2Server> {
    const raw = new RawHttp2Server(identity, misbehave, greeting);
    await new Promise<void>((resolve) => raw.#server.listen(0, host, resolve));
    return raw;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async deserted(): Promise<void> {
    while (this.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
