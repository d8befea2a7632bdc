/**
 * The practice web's server: many hosts on one loopback port, told apart by the Host header, and a witness.
 *
 * It counts the attempts on URLs that fail at first; since it outlives the crawler's kills, a URL that has healed stays
 * healed. Paths that begin with `/__` are the test's own door: truth, counts, log, marks, aimed kills. They are answered
 * on any host and never written down.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv4, type Socket } from 'node:net';
import { type Answer, type Answers, answersOf, conditional } from './answers.js';
import { type Exchange, send } from './exchange.js';
import type { Failure } from './faults.js';
import { type Killer, MOMENTS, type Moment, openKiller, type Series, type Shot } from './killer.js';
import { pageText } from './pages.js';
import { type Truth, truthOf } from './truth.js';
import type { PracticeHost, PracticeWeb } from './web.js';
import { behind, wallOf } from './walls.js';
import { openWitness, type Witness } from './witness.js';

export interface PracticeServerOptions {
  readonly web: PracticeWeb;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Listens on so many addresses in a row from that one on, all with the same port; 1 by default. */
  readonly addresses?: number;
  /** Where the witness writes, begun anew; in memory where left out. */
  readonly logFile?: string;
  /** Lets `POST /__arm` kill processes. Off by default: anyone who reaches the port could. */
  readonly allowKills?: boolean;
  /** Kills from the start on, without being told over HTTP. */
  readonly kills?: Series;
  /** How long a never-ending page drips, in ms; 60 s by default. */
  readonly endlessMs?: number;
}

export interface PracticeServer {
  readonly port: number;
  readonly log: Witness;
  /** Kills without HTTP, whatever `allowKills` says. */
  arm(shot: Shot): void;
  truth(agent?: string): Truth;
  stats(): PracticeStats;
  /** Drops all connections, brings the log to its file. */
  close(): Promise<void>;
}

export interface PracticeStats {
  readonly requests: number;
  readonly open: number;
  readonly connections: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Faults that were really met, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly kills: number;
  readonly killsMissed: number;
}

const NO_SUCH_HOST: Answer = {
  status: 404,
  headers: ['Content-Type', 'text/plain; charset=utf-8'],
  body: Buffer.from('No such host.\n'),
  manner: { kind: 'at-once' },
};

/** Listens, and resolves once the port is known. Rejects where the port is taken or the log can't be opened. */
export async function startPracticeServer(options: PracticeServerOptions): Promise<PracticeServer> {
  const witness = openWitness(options.logFile);
  const killer = openKiller(witness, options.kills);
  const servers: Server[] = [];
  const port = await listenOnAll(servers, options).catch((error: unknown) => {
    for (const server of servers) server.close();
    witness.close();
    throw error;
  });
  const site = openSite(options, port, witness, killer);
  for (const server of servers) server.on('request', site.onRequest);
  return {
    port,
    log: witness,
    arm: killer.arm,
    truth: site.truth,
    stats: site.stats,
    async close() {
      await Promise.all(servers.map(closed));
      witness.close();
    },
  };
}

/** One server an address, told to the list as it comes up; the first decides the port, which is returned. */
async function listenOnAll(servers: Server[], options: PracticeServerOptions): Promise<number> {
  let { port = 0 } = options;
  for (const address of addressesFrom(options.host ?? '127.0.0.1', options.addresses ?? 1)) {
    const server = createServer({ keepAliveTimeout: 30_000, requestTimeout: 0, highWaterMark: 1 << 20 });
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: address, backlog: 4096 }, resolve);
    });
    port = (server.address() as AddressInfo).port;
  }
  return port;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** `first` and those that follow it: 127.0.0.255 is followed by 127.0.1.0. Throws RangeError where they are no IPv4 addresses. */
export function addressesFrom(first: string, count: number): string[] {
  if (count === 1) return [first];
  if (!isIPv4(first)) throw new RangeError(`several addresses in a row start from an IPv4 one, not ${first}`);
  const start = first.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return Array.from({ length: count }, (_, n) =>
    [24, 16, 8, 0].map((bits) => Math.floor((start + n) / 2 ** bits) % 256).join('.'),
  );
}

interface Site {
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  truth(agent?: string): Truth;
  stats(): PracticeStats;
}

function openSite(options: PracticeServerOptions, port: number, witness: Witness, killer: Killer): Site {
  const { web } = options;
  const suffix = port === 80 ? '' : `:${port}`;
  const authority = (host: PracticeHost): string => `${host.name}${suffix}`;
  const answers = answersOf(web, pageText(web, authority), authority);
  const connections = new WeakMap<Socket, number>();
  const tally = {
    requests: 0,
    open: 0,
    connections: 0,
    byStatus: {} as Record<string, number>,
    faults: {} as Record<string, number>,
  };

  const answerTo = openAttempts(web, answers, tally.faults);
  const truths = new Map<string, Truth>();
  const truth = (agent = web.settings.productToken): Truth => {
    const known = truths.get(agent) ?? truthOf(web, authority, agent);
    truths.set(agent, known);
    return known;
  };
  const stats = (): PracticeStats => ({ ...tally, kills: killer.fired(), killsMissed: killer.missed() });
  const control = openControl({ truth, stats, witness, killer, allowKills: options.allowKills ?? false });

  const connectionOf = (socket: Socket): number => {
    const number = connections.get(socket) ?? ++tally.connections;
    connections.set(socket, number);
    return number;
  };

  const visit = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    const hostHeader = request.headers.host ?? '';
    const { socket } = request;
    const id = witness.start(hostHeader, request.method ?? 'GET', path, connectionOf(socket), socket.localAddress);
    tally.requests += 1;
    tally.open += 1;
    const shot = killer.count();
    const answer = forThis(web, request, answerTo(hostHeader, path));
    let ended = false;
    const exchange: Exchange = {
      response,
      withBody: request.method !== 'HEAD',
      halfway: shot?.moment === 'middle' ? () => killer.fire(shot) : undefined,
      endlessMs: options.endlessMs ?? 60_000,
      end(status, how) {
        if (ended) return;
        ended = true;
        tally.open -= 1;
        add(tally.byStatus, String(status ?? 'none'));
        witness.end(id, status, how, how === 'done' ? learned(answer) : {});
      },
    };
    response.on('close', () => {
      exchange.end(response.headersSent ? answer.status : null, 'abort');
      if (shot?.moment === 'after') killer.fire(shot);
    });
    if (shot?.moment === 'request') killer.fire(shot);
    send(answer, exchange);
  };

  return {
    onRequest(request, response) {
      const path = request.url ?? '/';
      if (path.startsWith('/__')) control(request, response);
      else visit(request, response, path);
    },
    truth,
    stats,
  };
}

/** The next answer to a URL. Only URLs that fail at first are counted: a web without faults needs no memory. */
function openAttempts(
  web: PracticeWeb,
  answers: Answers,
  faults: Record<string, number>,
): (hostHeader: string, path: string) => Answer {
  const attempts = new Map<string, number>();
  return (hostHeader, path) => {
    const host = hostIn(web, hostHeader);
    if (host === undefined) return NO_SUCH_HOST;
    const failures = answers.failuresOf(host, path);
    if (failures.length === 0) return answers.answerTo(host, path, 0);
    const url = `${host.name}${path}`;
    const attempt = attempts.get(url) ?? 0;
    attempts.set(url, attempt + 1);
    const failure = failures[attempt];
    if (failure !== undefined) add(faults, nameOf(failure));
    return answers.answerTo(host, path, attempt);
  };
}

function nameOf(failure: Failure): string {
  if (failure.kind !== 'status') return failure.kind;
  const { status, retryAfter } = failure;
  return retryAfter === undefined ? String(status) : `${status} ${retryAfter.form}`;
}

/** What the client knows once it has the whole answer. */
function learned({ retryAfterSeconds, robotsText }: Answer): { ra?: number; rb?: string } {
  return {
    ...(retryAfterSeconds === undefined ? {} : { ra: retryAfterSeconds }),
    ...(robotsText === undefined ? {} : { rb: robotsText }),
  };
}

interface ControlParts {
  readonly truth: (agent?: string) => Truth;
  readonly stats: () => PracticeStats;
  readonly witness: Witness;
  readonly killer: Killer;
  readonly allowKills: boolean;
}

/** `GET /__truth[?agent=NAME]`, `/__stats`, `/__log`; `POST /__mark?e=K|B`, `/__arm?pid=N|pidFile=F&requests=N&moment=M`, `/__disarm`. */
function openControl(parts: ControlParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { witness, killer } = parts;
  const answer = (method: string, url: URL): [status: number, body: unknown] => {
    const query = url.searchParams;
    switch (`${method} ${url.pathname}`) {
      case 'GET /__truth':
        return [200, parts.truth(query.get('agent') ?? undefined)];
      case 'GET /__stats':
        return [200, parts.stats()];
      case 'GET /__log':
        return [200, witness.text()];
      case 'POST /__mark': {
        const e = query.get('e');
        if (e !== 'K' && e !== 'B') return [400, { error: 'e must be K or B' }];
        witness.mark(e);
        witness.flush();
        return [200, { marked: e }];
      }
      case 'POST /__arm': {
        if (!parts.allowKills) return [403, { error: 'this server was not started with kills allowed' }];
        const shot = toShot(query);
        if (shot === undefined)
          return [400, { error: `needs pid or pidFile, requests from 1, moment ${MOMENTS.join(' | ')}` }];
        killer.arm(shot);
        return [200, { armed: shot }];
      }
      case 'POST /__disarm':
        killer.disarm();
        return [200, { armed: null }];
      default:
        return [404, { error: 'no such control' }];
    }
  };
  return (request, response) => {
    const [status, body] = answer(request.method ?? 'GET', new URL(request.url ?? '/', 'http://practice.test'));
    const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
    response.writeHead(status, { 'Content-Type': type });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

function toShot(query: URLSearchParams): Shot | undefined {
  const pid = Number(query.get('pid') ?? Number.NaN);
  const pidFile = query.get('pidFile');
  const requests = Number(query.get('requests') ?? 1);
  const moment = query.get('moment') ?? 'request';
  if (!isMoment(moment) || !(requests >= 1)) return undefined;
  if (pidFile !== null) return { victim: { pidFile }, requests, moment };
  return pid > 1 ? { victim: { pid }, requests, moment } : undefined;
}

function isMoment(word: string): word is Moment {
  return (MOMENTS as readonly string[]).includes(word);
}

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** What its conditions and its cookies make of the answer. */
function forThis(web: PracticeWeb, { headers }: IncomingMessage, answer: Answer): Answer {
  const wall = wallOf(web, hostIn(web, headers.host ?? ''));
  return behind(wall, conditional(answer, headers['if-none-match']), headers.cookie);
}

/** Of a Host header: with a port or not, and a dot at its end or not. */
function hostIn(web: PracticeWeb, hostHeader: string): PracticeHost | undefined {
  return web.hostNamed(hostHeader.replace(/\.?(:\d*)?$/, '').toLowerCase());
}
