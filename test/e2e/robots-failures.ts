/**
 * robots.txt as it goes wrong, on a real web of this process and over four lives of one crawl, whose clock stands two
 * hours, 25 hours and eight days later in the lives after the first (RFC 9309 §2.3.1, §2.4; P4 and P5).
 *
 * Each host is one kind of trouble. What was asked of whom is written down with the number of the life.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Server } from 'node:net';
import type { WhyAnswer } from '../../src/why/answer.js';
import { openBentClock } from './clocks.js';
import { type CrawlReport, crawl, LOOPBACK_SETTINGS, removeDirectory, temporaryDirectory } from './outside.js';

const HOUR_SECONDS = 3_600;

/** How far the clock of each life is ahead of the real one. */
const LIVES_AT_SECONDS = [0, 2 * HOUR_SECONDS, 25 * HOUR_SECONDS, 8 * 24 * HOUR_SECONDS] as const;
export type Life = 1 | 2 | 3 | 4;

/** Ways in which a robots.txt can't be had (RFC 9309 §2.3.1.4, and 429, which is stricter than its letter). */
export const UNREACHABLE = [
  ...(['500', '502', '503', '504', '599', '429', '429-later'] as const),
  ...(['silence', 'reset', 'nonsense', 'tls', 'guarded'] as const),
] as const;

/** Statuses that say that there is none (§2.3.1.3). */
export const UNAVAILABLE = [400, 401, 403, 404, 405, 410, 418, 451] as const;

/** What `429-later` asks for, in real seconds: no step of a clock makes it shorter. */
export const LATER_SECONDS = 6;

/** So long a host of the first lives asks for silence, whatever it is asked for: its pages are still queued in the third. */
const SILENT_SECONDS = 20;

export interface Asked {
  readonly life: Life;
  /** Host header. */
  readonly host: string;
  readonly path: string;
  readonly atMs: number;
}

export interface RobotsFailures {
  readonly asked: readonly Asked[];
  readonly reports: readonly CrawlReport[];
  /** Connections to the address that no one may go to. */
  readonly connectionsToForbidden: number;
  /** What `why` says after a life, by host and path. */
  why(life: Life, host: string, path: string): WhyAnswer;
  url(host: string, path: string): string;
}

interface Ports {
  readonly first: number;
  readonly second: number;
  readonly tls: number;
}

/** The seeds of each life: what is known from an earlier one is not asked for again. */
function seedsOf(life: Life): (readonly [host: string, path: string])[] {
  switch (life) {
    case 1:
      return [
        ...UNREACHABLE.flatMap((kind) => [pair(`u-${kind}.test`, '/ok'), pair(`u-${kind}.test`, '/x/1')]),
        ...UNAVAILABLE.map((status) => pair(`s-${status}.test`, '/1')),
        ...(['r30.test', 'r30.test:second', 'www.r30.test'] as const).map((host) => pair(host, '/1')),
        ...[
          pair('ttl.test', '/ok'),
          pair('lost.test', '/ok'),
          pair('changing.test', '/first'),
          pair('changing.test', '/late/1'),
        ],
        ...['/secret', '/own', '/rules.txt'].flatMap((path) => [pair('from.test', path), pair('to.test', path)]),
        ...['hops-5.test', 'hops-6.test', 'loop.test'].map((host) => pair(host, '/secret')),
      ];
    case 2:
      return [pair('ttl.test', '/a/0'), ...UNAVAILABLE.map((status) => pair(`s-${status}.test`, '/2'))];
    case 3:
      return ['ttl.test', 'lost.test'].flatMap((host) => [pair(host, '/a/1'), pair(host, '/b/1')]);
    case 4:
      return [pair('lost.test', '/c/1')];
  }
}

function pair(host: string, path: string): readonly [string, string] {
  return [host, path];
}

/** Runs all lives. `whyOf` names what is asked about after each. */
export async function crawlThroughFailures(
  whyOf: Readonly<Record<Life, readonly (readonly [host: string, path: string])[]>>,
): Promise<RobotsFailures> {
  const directory = temporaryDirectory();
  const site = await openSite(directory);
  try {
    const clock = openBentClock(join(directory, 'clock'));
    const reports: CrawlReport[] = [];
    const answers = new Map<string, WhyAnswer>();
    let atSeconds = 0;
    for (const life of [1, 2, 3, 4] as const) {
      const seconds = LIVES_AT_SECONDS[life - 1] as number;
      clock.step(seconds - atSeconds);
      atSeconds = seconds;
      site.begin(life);
      const seeds = seedsOf(life).map(([host, path]) => site.url(host, path));
      const dataDir = join(directory, 'data');
      const options = ['--wait', String(life === 3 ? SILENT_SECONDS + 5 : LATER_SECONDS + 2)];
      reports.push(
        await crawl({ seeds, dataDir, settings: SETTINGS, options, environment: clock.environment, secondsMax: 90 }),
      );
      const wanted = whyOf[life].map(([host, path]) => site.url(host, path));
      for (const [index, answer] of why(dataDir, wanted, clock.environment).entries()) {
        answers.set(`${life} ${wanted[index]}`, answer);
      }
    }
    return {
      asked: site.asked,
      reports,
      connectionsToForbidden: site.connectionsToForbidden(),
      url: site.url,
      why(life, host, path) {
        const answer = answers.get(`${life} ${site.url(host, path)}`);
        if (answer === undefined) throw new Error(`nobody asked about ${host}${path} after life ${life}`);
        return answer;
      },
    };
  } finally {
    await site.close();
    removeDirectory(directory);
  }
}

/** One address is not allowed, and one name leads there. */
const SETTINGS = {
  ...LOOPBACK_SETTINGS,
  'dns.hosts': { '*.test': '127.0.0.1', 'forbidden.test': '127.0.0.9' },
  'guard.allow': ['127.0.0.1/32'],
  'politeness.delayMs': 0,
  'robots.timeoutMs': 700,
  'retry.delaysSeconds': [0.1, 0.2],
};

function why(dataDir: string, urls: readonly string[], environment: Readonly<Record<string, string>>): WhyAnswer[] {
  if (urls.length === 0) return [];
  const program = join(process.cwd(), 'dist/cli/main.js');
  const output = execFileSync(process.execPath, [program, 'why', ...urls, '--data', dataDir, '--json'], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as WhyAnswer);
}

// -- the web ----------------------------------------------------------------------------------------------------

interface Site {
  readonly asked: readonly Asked[];
  begin(life: Life): void;
  /** `HOST:second` stands for the same name on another port. */
  url(host: string, path: string): string;
  connectionsToForbidden(): number;
  close(): Promise<void>;
}

async function openSite(directory: string): Promise<Site> {
  const asked: Asked[] = [];
  let life: Life = 1;
  let connectionsToForbidden = 0;
  const ports = { first: 0, second: 0, tls: 0 };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const host = hostOf(request, ports);
    const path = request.url ?? '/';
    asked.push({ life, host, path, atMs: performance.now() });
    if (path === '/robots.txt' || path.startsWith('/hop/')) answerRobots(host, path, life, ports, response);
    else if (host === 'changing.test' && life < 3) {
      response.setHeader('Retry-After', String(SILENT_SECONDS));
      text(response, 429, 'Later.');
    } else if (host === 'to.test' && path === '/rules.txt') text(response, 200, disallow('/secret'));
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>A page.');
  };
  const servers: Server[] = [
    createServer(answer),
    createServer(answer),
    createTlsServer(selfSigned(directory), answer),
  ];
  const forbidden = createServer((_request, response) => void response.end()).on('connection', () => {
    connectionsToForbidden += 1;
  });
  const [first = 0, second = 0, tls = 0] = await Promise.all(servers.map((server) => listen(server, 0, '127.0.0.1')));
  Object.assign(ports, { first, second, tls });
  await listen(forbidden, first, '127.0.0.9');
  return {
    asked,
    begin(next) {
      life = next;
    },
    url(host, path) {
      if (host === 'u-tls.test') return `https://${host}:${tls}${path}`;
      return `http://${host.replace(':second', '')}:${host.endsWith(':second') ? second : first}${path}`;
    },
    connectionsToForbidden: () => connectionsToForbidden,
    async close() {
      for (const server of [...servers, forbidden]) {
        if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      }
    },
  };
}

function hostOf(request: IncomingMessage, { second }: Ports): string {
  const [name = '', port] = (request.headers.host ?? '').split(':');
  return Number(port) === second ? `${name}:second` : name;
}

function answerRobots(host: string, path: string, life: Life, ports: Ports, response: ServerResponse): void {
  const unreachable = /^u-(.+)\.test$/.exec(host)?.[1];
  const status = /^s-(\d+)\.test$/.exec(host)?.[1];
  if (unreachable !== undefined) {
    // 429 with its time to wait is over as soon as that is; the others heal in the last life.
    const isHealed = unreachable === '429-later' ? life > 1 : life === 4;
    if (isHealed) text(response, 200, disallow('/x'));
    else fail(unreachable, ports, response);
    return;
  }
  if (status !== undefined) return text(response, Number(status), 'User-agent: *\nDisallow: /\n');
  const hops = /^\/hop\/(.+)\/(\d+)$/.exec(path) ?? /^(hops-\d\.test)(0?)$/.exec(host);
  if (hops !== null) return hop(hops[1] ?? '', Number(hops[2]), ports, response);
  switch (host) {
    case 'r30.test':
      return text(response, 200, disallow('/'));
    case 'ttl.test':
      return text(response, 200, disallow(life < 3 ? '/a' : '/b'));
    case 'lost.test':
      return life === 1 ? text(response, 200, disallow('/a')) : text(response, 503, 'Down.');
    case 'changing.test':
      return text(response, 200, life === 1 ? disallow('/other') : disallow('/late'));
    case 'from.test':
      return redirect(response, `http://to.test:${ports.first}/rules.txt`);
    case 'to.test':
      return text(response, 200, `${disallow('/own')}Disallow: /rules.txt\n`);
    case 'loop.test':
      return redirect(response, `http://loop.test:${ports.first}/robots.txt`);
    default:
      return text(response, 200, 'User-agent: *\nDisallow:\n');
  }
}

/** As many redirects as the name of the host says, to another host and back in turn, then rules. */
function hop(host: string, step: number, { first }: Ports, response: ServerResponse): void {
  if (step >= Number(/\d/.exec(host)?.[0])) return text(response, 200, disallow('/secret'));
  const next = step + 1;
  redirect(response, `http://${next % 2 === 1 ? 'via.test' : host}:${first}/hop/${host}/${next}`);
}

function fail(kind: string, { first }: Ports, response: ServerResponse): void {
  switch (kind) {
    case '429-later':
      response.setHeader('Retry-After', String(LATER_SECONDS));
      return text(response, 429, disallow('/x'));
    case 'silence':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'nonsense':
      response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
      return;
    case 'guarded':
      return redirect(response, `http://forbidden.test:${first}/robots.txt`);
    default:
      return text(response, Number(kind), 'User-agent: *\nDisallow:\n');
  }
}

function disallow(path: string): string {
  return `User-agent: *\nDisallow: ${path}\n`;
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(body);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { Location: location }).end();
}

/** Nobody vouches for it: what a crawl must not talk to (S4). */
function selfSigned(directory: string): { readonly key: Buffer; readonly cert: Buffer } {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  const more = ['-subj', '/CN=u-tls.test', '-addext', 'subjectAltName=DNS:u-tls.test', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...words, ...more], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
