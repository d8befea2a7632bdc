/**
 * The service as HTTP: `POST /v1` for pages, `GET /health` for whoever watches it, `GET /` for who it is.
 *
 * 1. A connection that its client closes ends the visit. Bounds hold for bodies, connections and time (S2).
 * 2. It listens on loopback; anywhere else only with a token (S3). On loopback without one it answers to the names of
 *    this machine only, so that no page in some browser here comes to it under a name of its own.
 * 3. A visit through another proxy than ours is guarded by whoever runs that one. So it is taken from this machine only,
 *    and must be on it: others could use it to reach what the guard keeps from them (S1).
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Answer, ASKED, type Asked, problemOf, VisitError } from './protocol.js';
import type { BrowserService } from './service.js';
import type { Sessions } from './sessions.js';

export interface ServerOptions {
  readonly service: Pick<BrowserService, 'visit' | 'health' | 'sessions'>;
  readonly host: string;
  readonly port: number;
  /** Asked for as `authorization: Bearer …` where it is set. */
  readonly token: string | null;
  readonly version: string;
}

export interface SidecarServer {
  readonly port: number;
  /** Takes no more connections. Answers that are under way still go out. */
  stopListening(): void;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 256 * 1024;
const CONNECTIONS_MAX = 256;
const LOOPBACK_NAME = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?$/i;
const LOOPBACK_PEER = /^(::ffff:)?127\.|^::1$/;

const STATUS: Readonly<Record<VisitError['code'], number>> = {
  timeout: 500,
  navigation_failed: 500,
  guard_refused: 500,
  browser_gone: 500,
  given_up: 500,
  bound: 500,
  busy: 503,
};

/** Rejects with the system's error when it can't listen. */
export async function openSidecarServer(options: ServerOptions): Promise<SidecarServer> {
  const app = sidecarApp(options);
  await app.listen({ host: options.host, port: options.port });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    port,
    stopListening: () => void app.server.close(),
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** Without listening anywhere. */
export function sidecarApp({ service, token, version }: Omit<ServerOptions, 'host' | 'port'>): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: true,
    requestTimeout: 30_000,
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  app.addHook('onRequest', async (request, reply) => {
    if (token !== null && !isToken(request.headers.authorization, token))
      await reply.code(401).send(failed('a token is needed', Date.now(), version));
    else if (token === null && !LOOPBACK_NAME.test(request.headers.host ?? ''))
      await reply.code(403).send(failed('asked under a name that is none of this machine', Date.now(), version));
  });
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send(failed(error.message, Date.now(), version)),
  );
  app.get('/', async () => ({ msg: 'Orbweaver sidecar is ready', version, userAgent: null }));
  app.get('/health', async (_request, reply) => {
    const health = service.health();
    return reply
      .code(health.browser === 'gone' ? 503 : 200)
      .send({ status: health.browser === 'gone' ? 'gone' : 'ok', ...health });
  });
  app.post('/v1', async (request, reply) => {
    const startTimestamp = Date.now();
    const asked = ASKED.safeParse(request.body);
    if (!asked.success)
      return reply.code(400).send(failed(problemOf(request.body, asked.error), startTimestamp, version));
    if (asked.data.cmd !== 'request.get')
      return reply.send(aboutSessions(asked.data, service.sessions, startTimestamp, version));
    if (!mayUse(asked.data.proxy, request.raw.socket.remoteAddress)) {
      const message = 'proxy.url: only one on this machine is used, for who is on it';
      return reply.code(400).send(failed(message, startTimestamp, version));
    }
    return attend(service, asked.data, { request, reply, startTimestamp, version });
  });
  return app;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly startTimestamp: number;
  readonly version: string;
}

async function attend(
  service: ServerOptions['service'],
  asked: Extract<Asked, { cmd: 'request.get' }>,
  { request, reply, startTimestamp, version }: Exchange,
): Promise<FastifyReply> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  request.raw.socket.once('close', onClose);
  try {
    const solution = await service.visit(asked, gone.signal);
    const message = 'the page was rendered';
    const times = { startTimestamp, endTimestamp: Date.now() };
    return await reply.send({ status: 'ok', message, ...times, version, solution } satisfies Answer);
  } catch (error) {
    if (!(error instanceof VisitError)) throw error;
    return await reply
      .code(STATUS[error.code])
      .send({ ...failed(`${error.message} [${error.code}]`, startTimestamp, version), code: error.code });
  } finally {
    request.raw.socket.removeListener('close', onClose);
  }
}

function aboutSessions(
  asked: Exclude<Asked, { cmd: 'request.get' }>,
  sessions: Sessions,
  startTimestamp: number,
  version: string,
): Answer {
  const nowMs = performance.now();
  const ok = { status: 'ok', message: '', startTimestamp, endTimestamp: Date.now(), version } as const;
  switch (asked.cmd) {
    case 'sessions.create': {
      const session = asked.session ?? randomUUID();
      sessions.create(session, nowMs);
      return { ...ok, session };
    }
    case 'sessions.list':
      return { ...ok, sessions: sessions.list(nowMs) };
    case 'sessions.destroy':
      return sessions.destroy(asked.session)
        ? ok
        : failed(`there is no session ${asked.session}`, startTimestamp, version);
  }
}

function isToken(authorization: string | undefined, token: string): boolean {
  const given = Buffer.from(authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function mayUse(proxy: { readonly url: string } | undefined, peer: string | undefined): boolean {
  if (proxy === undefined) return true;
  return LOOPBACK_NAME.test(new URL(proxy.url).hostname) && LOOPBACK_PEER.test(peer ?? '');
}

function failed(message: string, startTimestamp: number, version: string): Answer {
  return { status: 'error', message, startTimestamp, endTimestamp: Date.now(), version };
}
