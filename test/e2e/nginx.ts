/**
 * An nginx of the test's own: folders of real files on loopback, with its configuration, log and temporary files in a
 * prefix directory, in the foreground, ended by its process id. Its log is the witness.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './crawl-process.js';

export interface Site {
  /** A loopback address of its own, so that each site is a host. */
  readonly address: string;
  /** Absolute. */
  readonly folder: string;
  readonly robots: string;
}

export interface Place {
  /** A free one when left out. */
  readonly port?: number;
  /** Put before every command: another network namespace, for one. */
  readonly under?: readonly string[];
}

/** One line of the access log: what the judge reads, and who asked for what. */
export interface AccessLine {
  readonly host: string;
  readonly request_uri: string;
  readonly status: number;
  /** When it was over, in seconds. */
  readonly msec: number;
  readonly content_type: string;
  readonly user_agent: string;
  readonly referer: string;
}

export interface Nginx {
  readonly port: number;
  /** The access log's lines, as written. */
  lines(): string[];
  /** Resolves when each request that was answered before is in the log: the one worker writes it before it serves anew. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts it, and resolves once every site answers. */
export async function startNginx(prefix: string, sites: readonly Site[], place: Place = {}): Promise<Nginx> {
  mkdirSync(join(prefix, 'temporary'), { recursive: true });
  const port = place.port ?? (await freePort());
  const under = place.under ?? [];
  const [configuration, log] = [join(prefix, 'nginx.conf'), join(prefix, 'access.log')];
  writeFileSync(configuration, configurationOf(prefix, port, sites));
  const words = ['nginx', '-p', prefix, '-c', configuration, '-e', join(prefix, 'error.log')];
  const [program, ...rest] = [...under, ...words];
  const child = spawn(program as string, rest, { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => ended(child);
  try {
    for (const { address } of sites)
      await until(`nginx on ${address}:${port}`, () => answers(address, port, under), 10_000);
  } catch (error) {
    await stop();
    throw error;
  }
  // What it was tried with is no part of what it witnesses.
  const before = readFileSync(log, 'utf8').length;
  return {
    port,
    stop,
    lines: () => readFileSync(log, 'utf8').slice(before).split('\n').filter(Boolean),
    settled: async () => {
      for (const { address } of sites.slice(0, 1)) await answers(address, port, under);
    },
  };
}

/**
 * Whose request a line is about is told by the line, not by when it was read: it is written once the answer is sent,
 * which a client that has ended by then does not wait for.
 */
export function isOfWget(line: string): boolean {
  return (JSON.parse(line) as AccessLine).user_agent.startsWith('Wget/');
}

function configurationOf(prefix: string, port: number, sites: readonly Site[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${prefix}/temporary/${kind};`)
    .join(' ');
  // As root its workers would else run as somebody who can't see the prefix.
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${prefix}/nginx.pid; error_log ${prefix}/error.log;
events { worker_connections 256; }
http {
  include /etc/nginx/mime.types; default_type application/octet-stream; ${temporary}
  log_format witness escape=json '{"msec":$msec,"request_time":$request_time,"host":"$host",'
    '"request_method":"$request_method","request_uri":"$request_uri","status":$status,"connection":$connection,'
    '"request_completion":"$request_completion","retry_after":"$sent_http_retry_after",'
    '"content_type":"$sent_http_content_type","user_agent":"$http_user_agent","referer":"$http_referer"}';
  access_log ${prefix}/access.log witness; gzip on; etag on; keepalive_timeout 75s;
${sites.map((site) => serverOf(site, port)).join('\n')}
}
`;
}

function serverOf({ address, folder, robots }: Site, port: number): string {
  const text = robots.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `  server { listen ${address}:${port}; root ${folder}; index index.html;
    location = /robots.txt { default_type text/plain; return 200 "${text}"; } }`;
}

async function answers(address: string, port: number, under: readonly string[]): Promise<boolean> {
  const words = [
    'wget',
    '--quiet',
    '--no-proxy',
    '--tries=1',
    '-O',
    '/dev/null',
    `http://${address}:${port}/robots.txt`,
  ];
  const [program, ...rest] = [...under, ...words];
  const [code] = await once(spawn(program as string, rest, { stdio: 'ignore' }), 'exit');
  return code === 0;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
