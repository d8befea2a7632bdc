/**
 * What an HTTP/2 client says first (RFC 9113 §3.4): its settings in their order, its window, and its first request with
 * the order of its fields. The bytes are read between the TLS layer and an ordinary server, which answers.
 */
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface Http2Opening {
  readonly settings: readonly (readonly [id: number, value: number])[];
  /** By which the window of the connection is enlarged; null where it is not. */
  readonly windowUpdate: number | null;
  /** Whether the first HEADERS carry a priority (RFC 9113 §5.3.2), and which weight. */
  readonly weight: number | null;
  /** Names of the first request's fields, in order. */
  readonly fields: readonly string[];
  /** Names and values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface Http2Listener {
  readonly port: number;
  /** Of the next connection that asks for something. */
  next(): Promise<Http2Opening>;
  stop(): Promise<void>;
}

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const [HEADERS, SETTINGS, WINDOW_UPDATE] = [1, 4, 8] as const;
const PRIORITY_FLAG = 0x20;
const PADDED_FLAG = 0x08;

/** In the usual short form: settings, window, priority of streams, order of pseudo-header fields. */
export function shortForm({ settings, windowUpdate, fields }: Http2Opening): string {
  const pseudo = fields.filter((name) => name.startsWith(':')).map((name) => name.charAt(1));
  return [settings.map(([id, value]) => `${id}:${value}`).join(';'), windowUpdate ?? '00', '0', pseudo.join(',')].join(
    '|',
  );
}

export async function listenForHttp2(identity: { key: string; cert: string }): Promise<Http2Listener> {
  const waiting: ((opening: Http2Opening) => void)[] = [];
  const openings = new Map<number, Buffer[]>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const plain = createHttp2Server();
  plain.on('session', (session) => session.on('error', () => undefined));
  plain.on('stream', (stream, _headers, _flags, ...more: unknown[]) => {
    stream.on('error', () => undefined);
    const port = stream.session?.socket.remotePort ?? 0;
    const raw = more[0] as string[];
    stream.respond({ ':status': 200, 'content-type': 'text/html' });
    stream.end('<title>x</title>');
    waiting.shift()?.({ ...framesIn(Buffer.concat(openings.get(port) ?? [])), ...fieldsIn(raw) });
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port: plainPort } = plain.address() as AddressInfo;
  const secure = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (client) => {
    keep(client);
    const onward = connect(plainPort, '127.0.0.1', () => {
      const heard: Buffer[] = [];
      openings.set(onward.localPort ?? 0, heard);
      client.on('data', (piece: Buffer) => heard.push(piece));
      client.pipe(onward).pipe(client);
    });
    keep(onward);
    client.on('close', () => onward.destroy());
  });
  secure.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  return {
    port: (secure.address() as AddressInfo).port,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => secure.close(resolve));
      await new Promise((resolve) => plain.close(resolve));
    },
  };
}

function framesIn(bytes: Buffer): Pick<Http2Opening, 'settings' | 'windowUpdate' | 'weight'> {
  let settings: [number, number][] = [];
  let windowUpdate: number | null = null;
  for (let at = PREFACE_BYTES; at + FRAME_HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const [type, flags] = [bytes[at + 3], bytes[at + 4] ?? 0];
    const stream = bytes.readUInt32BE(at + 5);
    const payload = bytes.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + length);
    if (type === SETTINGS && (flags & 1) === 0) settings = settingsIn(payload);
    if (type === WINDOW_UPDATE && stream === 0) windowUpdate ??= payload.readUInt32BE(0);
    if (type === HEADERS) {
      const start = (flags & PADDED_FLAG) === 0 ? 0 : 1;
      return { settings, windowUpdate, weight: (flags & PRIORITY_FLAG) === 0 ? null : (payload[start + 4] ?? 0) + 1 };
    }
    at += FRAME_HEAD_BYTES + length;
  }
  return { settings, windowUpdate, weight: null };
}

function settingsIn(payload: Buffer): [number, number][] {
  const settings: [number, number][] = [];
  for (let at = 0; at + 6 <= payload.length; at += 6)
    settings.push([payload.readUInt16BE(at), payload.readUInt32BE(at + 2)]);
  return settings;
}

function fieldsIn(raw: readonly string[]): Pick<Http2Opening, 'fields' | 'headers'> {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] as string, raw[i + 1] as string]);
  return { headers, fields: headers.map(([name]) => name) };
}
