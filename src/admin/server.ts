/**
 * The HTTP server of the control interface: bounds, errors, and no route of its own.
 *
 * Nothing leans on it. It shares the process with the crawl, so what it takes is bounded: bodies, headers, connections,
 * time. Every error is `{error: {code, message, where, advice}}`.
 */
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { type LogPort, StoreError } from '../protocols/ports.js';
import { ControlError } from './control.js';
import { listenOn, SOCKET_NAME, type SocketAddress, socketAddress } from './socket.js';

/** A hundred thousand seeds of three hundred bytes, and room. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
export const HEADER_BYTES_MAX = 16 * 1024;
const CONNECTIONS_MAX = 64;
const REQUEST_MS_MAX = 60_000;
const IDLE_MS_MAX = 10_000;

export type ControlApp = FastifyInstance<
  import('node:http').Server,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  import('fastify').FastifyBaseLogger,
  ZodTypeProvider
>;

/** Adds its routes to an app. */
export type Routes = (app: ControlApp) => void;

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly where: string | null;
    readonly advice: string | null;
  };
}

/** Without listening anywhere. */
export function controlApp(routes: readonly Routes[], log: LogPort): ControlApp {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    connectionTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    http: { maxHeaderSize: HEADER_BYTES_MAX },
    routerOptions: { maxParamLength: 300 },
    forceCloseConnections: true,
    // What is refused before any route is found, or before there is a request, is answered in the same words.
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply, log),
    clientErrorHandler: refuseUnread,
  }).withTypeProvider<ZodTypeProvider>() as unknown as ControlApp;
  app.server.maxConnections = CONNECTIONS_MAX;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const known: { method: string; parts: readonly string[] }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) known.push({ method: one, parts: url.split('/') });
  });
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply, log));
  app.setNotFoundHandler((request, reply) => notFound(known, request, reply));
  for (const add of routes) add(app);
  return app;
}

export interface ControlServer {
  /** Where it can be reached. */
  readonly path: string;
  /** Never rejects. Cuts what is under way; once, however often it is asked. */
  close(): Promise<void>;
}

/** Listens in a data directory whose lock this process holds. Rejects with ControlError or the system's error. */
export async function openControlServer(
  dataDir: string,
  routes: readonly Routes[],
  log: LogPort,
): Promise<ControlServer> {
  const address: SocketAddress = socketAddress(dataDir);
  const app = controlApp(routes, log);
  try {
    await app.ready();
    await listenOn(app.server, address);
  } catch (error) {
    await app.close();
    address.release();
    throw error;
  }
  // A connection that breaks is its peer's affair, a server that does costs the control alone.
  app.server.on('error', (error) => log.log('warn', 'control_failed', { reason: error.message }));
  const close = async () => {
    app.server.closeAllConnections();
    await app.close().catch((error: unknown) => log.log('warn', 'control_not_closed', { reason: String(error) }));
    address.release();
  };
  let closed: Promise<void> | null = null;
  return { path: join(dataDir, SOCKET_NAME), close: () => (closed ??= close()) };
}

// -- errors -----------------------------------------------------------------------------------------------------

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, log: LogPort): FastifyReply {
  const refusal = refusalOf(error, request);
  if (refusal.status >= 500 && refusal.code === 'internal') {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.log('error', 'control_request_failed', { route: `${request.method} ${request.url.slice(0, 200)}`, reason });
  }
  return send(reply, refusal);
}

function refusalOf(error: unknown, request: FastifyRequest): ControlError {
  if (error instanceof ControlError) return error;
  if (error instanceof StoreError) {
    return new ControlError(error.code, error.message, 503, error.where, error.advice);
  }
  const { statusCode, code, message, validation, validationContext } = error as FastifyError;
  if (validation !== undefined) {
    const [first] = validation;
    const where = `${validationContext ?? 'request'}${first?.instancePath ?? ''}`;
    return new ControlError('request_invalid', first?.message ?? message, 400, where, null);
  }
  if (statusCode === 413) {
    return new ControlError(
      'body_too_large',
      `a body has at most ${BODY_BYTES_MAX} bytes`,
      413,
      null,
      'send it in parts',
    );
  }
  if (statusCode === 415) {
    return new ControlError('media_type', 'a body is JSON', 415, 'content-type', 'send content-type: application/json');
  }
  if (statusCode !== undefined && statusCode < 500) {
    return new ControlError('request_invalid', message, statusCode, code ?? null);
  }
  return new ControlError('internal', 'this is a fault of the program', 500, request.url.slice(0, 200), 'see its log');
}

/** What came is not read as a request: there is no reply to answer by, only the socket. */
function refuseUnread(error: NodeJS.ErrnoException, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = tooLong ? 431 : late ? 408 : 400;
  const message = tooLong
    ? `the head of a request has at most ${HEADER_BYTES_MAX} bytes`
    : late
      ? `a request comes within ${REQUEST_MS_MAX / 1000} s`
      : 'this is no HTTP request';
  const body: ErrorBody = { error: { code: 'request_invalid', message, where: null, advice: null } };
  const json = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

function notFound(
  known: readonly { method: string; parts: readonly string[] }[],
  { method, url }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const parts = (url.split('?')[0] ?? '').split('/');
  const fits = known.filter(
    (route) =>
      route.parts.length === parts.length &&
      route.parts.every((part, index) => part.startsWith(':') || part === parts[index]),
  );
  const where = `${method} ${url.slice(0, 200)}`;
  if (fits.length === 0) return send(reply, new ControlError('no_such_route', 'there is nothing here', 404, where));
  const allowed = [...new Set(fits.map((route) => route.method))].join(', ');
  reply.header('allow', allowed);
  return send(reply, new ControlError('method_not_allowed', `it takes ${allowed}`, 405, where));
}

function send(reply: FastifyReply, { status, code, message, where, advice }: ControlError): FastifyReply {
  const body: ErrorBody = { error: { code, message, where, advice } };
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}
