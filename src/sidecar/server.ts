/**
 * The service as HTTP: `POST /v1` for pages, `GET /health` for whoever watches it, `GET /` for who it is.
 *
 * A connection that its client closes ends the visit. Bounds hold for bodies, connections and time (S2). It listens on
 * loopback; anywhere else only with a token (S3).
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Answer, ASKED, type Asked, VisitError } from './protocol.js';
import type { BrowserService } from './service.js';

export interface ServerOptions {
  readonly service: BrowserService;
  readonly host: string;
  readonly port: number;
  /** Asked for as `authorization: Bearer …` where it is set. */
  readonly token: string | null;
  readonly version: string;
}

export interface SidecarServer {
  readonly port: number;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 256 * 1024;
const CONNECTIONS_MAX = 256;
const SESSIONS_MAX = 1_000;

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
  const sessions = new Set<string>();
  if (token !== null) {
    app.addHook('onRequest', async (request, reply) => {
      if (request.headers.authorization !== `Bearer ${token}`)
        await reply.code(401).send({ error: 'a token is needed' });
    });
  }
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
    if (!asked.success) return reply.code(400).send(failed(problemOf(asked.error.issues), startTimestamp, version));
    if (asked.data.cmd !== 'request.get')
      return reply.send(aboutSessions(asked.data, sessions, startTimestamp, version));
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
  service: BrowserService,
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
      .send(failed(`${error.message} [${error.code}]`, startTimestamp, version));
  } finally {
    request.raw.socket.removeListener('close', onClose);
  }
}

/** Each visit has a context of its own here, so a session is a name that is taken, and nothing is kept under it. */
function aboutSessions(
  asked: Exclude<Asked, { cmd: 'request.get' }>,
  sessions: Set<string>,
  startTimestamp: number,
  version: string,
): Answer {
  const ok = { status: 'ok', message: '', startTimestamp, endTimestamp: Date.now(), version } as const;
  switch (asked.cmd) {
    case 'sessions.create': {
      if (sessions.size >= SESSIONS_MAX)
        return failed(`there are ${SESSIONS_MAX} sessions already`, startTimestamp, version);
      const session = asked.session ?? `session-${startTimestamp}-${sessions.size}`;
      sessions.add(session);
      return { ...ok, session };
    }
    case 'sessions.list':
      return { ...ok, sessions: [...sessions] };
    case 'sessions.destroy':
      return sessions.delete(asked.session)
        ? ok
        : failed(`there is no session ${asked.session}`, startTimestamp, version);
  }
}

function problemOf(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string {
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? 'the body' : first.path.map(String).join('.');
  return `${where}: ${first?.message ?? 'not understood'}`;
}

function failed(message: string, startTimestamp: number, version: string): Answer {
  return { status: 'error', message, startTimestamp, endTimestamp: Date.now(), version };
}
