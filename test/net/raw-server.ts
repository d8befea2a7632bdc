/** A server that answers with raw bytes, and knows which sockets it still has: the other side's view of the client. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export type Misbehaviour = (socket: Socket, request: string, count: number) => void;

export class RawServer {
  /** Every request head that came, in order. */
  readonly requests: string[] = [];
  readonly open = new Set<Socket>();
  connections = 0;
  readonly #server: Server;

  private constructor(server: Server, event: string, onRequest: Misbehaviour, onConnection?: (socket: Socket) => void) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.open.add(socket);
      socket.on('close', () => this.open.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on(event, (socket: Socket) => {
      socket.on('error', () => undefined);
      onConnection?.(socket);
      let buffered = '';
      socket.on('data', (chunk: Buffer) => {
        buffered += chunk.toString('latin1');
        for (let end = buffered.indexOf('\r\n\r\n'); end !== -1; end = buffered.indexOf('\r\n\r\n')) {
          const request = buffered.slice(0, end);
          buffered = buffered.slice(end + 4);
          this.requests.push(request);
          onRequest(socket, request, this.requests.length);
        }
      });
    });
    server.on('tlsClientError', () => undefined);
  }

  static async start(
    onRequest: Misbehaviour,
    options: { onConnection?: (socket: Socket) => void; host?: string } = {},
  ): Promise<RawServer> {
    const raw = new RawServer(createServer({ noDelay: true }), 'connection', onRequest, options.onConnection);
    await raw.#listen(options.host ?? '127.0.0.1');
    return raw;
  }

  static async startTls(onRequest: Misbehaviour, identity: { key: string; cert: string }): Promise<RawServer> {
    const raw = new RawServer(createTlsServer(identity), 'secureConnection', onRequest);
    await raw.#listen('127.0.0.1');
    return raw;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Resolves when the client has no socket left here; the test's own limit is what fails it otherwise. */
  async deserted(): Promise<void> {
    while (this.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  #listen(host: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, host, resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
