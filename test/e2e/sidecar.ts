/**
 * `orbweaver sidecar` as a process, looked at from outside: what it answers, and what it leaves behind.
 *
 * Processes and folders are found by the name that every one of them carries, not by what the service says of itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findChromium } from '../../src/sidecar/chromium.js';
import type { Answer } from '../../src/sidecar/protocol.js';
import type { Health } from '../../src/sidecar/service.js';
import { until } from './crawl-process.js';

export const CHROMIUM = findChromium(undefined);

export interface Sidecar {
  readonly pid: number;
  readonly endpoint: string;
  ask(asked: object): Promise<Answer>;
  health(): Promise<Health>;
  /** Ends it with the signal; resolves when it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** @param port 0 takes a free one */
export async function startSidecar(port = 0, more: readonly string[] = []): Promise<Sidecar> {
  const settings = { 'guard.allow': ['127.0.0.1/32'], 'dns.hosts': { '*.test': '127.0.0.1' } };
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`]);
  const words = [
    join(process.cwd(), 'dist/cli/main.js'),
    'sidecar',
    '--port',
    String(port),
    '--json',
    ...sets,
    ...more,
  ];
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = once(child, 'exit');
  const early = gone.then(([code]) => Promise.reject(new Error(`the sidecar ended at once, with ${code}`)));
  early.catch(() => {});
  const told = once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([told, early]);
  const { endpoint } = JSON.parse(line) as { endpoint: string };
  const headers = { 'content-type': 'application/json' };
  return {
    pid: child.pid as number,
    endpoint,
    ask: async (asked) => {
      const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(asked) });
      return (await answer.json()) as Answer;
    },
    health: async () => (await (await fetch(new URL('/health', endpoint))).json()) as Health,
    end: async (signal) => {
      child.kill(signal);
      await gone;
    },
  };
}

/** By sidecar: the sessions of its browsers, as far as they were seen. */
const sessionsOf = new Map<number, Set<string>>();

/** Browsers' processes of one sidecar: those that name its folder, and all that are or were of a session with such. */
export function browserProcesses({ pid }: Pick<Sidecar, 'pid'>): number[] {
  const sessions = sessionsOf.get(pid) ?? new Set<string>();
  sessionsOf.set(pid, sessions);
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const name of names) if (isOf(name, pid)) sessions.add(sessionOf(name));
  return names.filter((name) => sessions.has(sessionOf(name))).map(Number);
}

/** Empty for what has ended. */
function sessionOf(process: string): string {
  try {
    const [state, , , session = ''] = readFileSync(`/proc/${process}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' ? '' : session;
  } catch {
    return '';
  }
}

function isOf(process: string, sidecar: number): boolean {
  try {
    return readFileSync(`/proc/${process}/environ`, 'latin1').includes(`TMPDIR=${folderOf(sidecar)}`);
  } catch {
    return false;
  }
}

export function folders({ pid }: Pick<Sidecar, 'pid'>): string[] {
  return readdirSync(tmpdir()).filter((name) => join(tmpdir(), name).startsWith(folderOf(pid)));
}

function folderOf(pid: number): string {
  return join(tmpdir(), `orbweaver-sidecar-${pid}-`);
}

/** To all of its processes, but those that end meanwhile: with their parents, or with their page. */
export function signalBrowser(of: Pick<Sidecar, 'pid'>, signal: 'SIGKILL' | 'SIGSTOP'): void {
  for (const pid of browserProcesses(of)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Rejects when something is left after a while. */
export function leavesNothing(sidecar: Pick<Sidecar, 'pid'>): Promise<void> {
  const isClean = (): boolean => browserProcesses(sidecar).length === 0 && folders(sidecar).length === 0;
  return until('nothing is left of the sidecar', isClean, 15_000);
}

export interface OddSite {
  readonly port: number;
  readonly asked: readonly string[];
  readonly cookies: readonly (string | undefined)[];
  /** WebSockets that were asked for. */
  sockets(): number;
  /** What came where nothing may: by datagram to this machine, and to an address of it that the guard refuses. */
  strays(): { readonly datagrams: number; readonly connections: number };
  close(): void;
}

/** Pages that hang, that open things, and that reach for what they should not. */
export async function openOddSite(): Promise<OddSite> {
  const asked: string[] = [];
  const cookies: (string | undefined)[] = [];
  let sockets = 0;
  const strays = await openStrays();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.test');
    asked.push(pathname);
    cookies.push(request.headers.cookie);
    if (pathname === '/never') return;
    const page = PAGES[pathname]?.replaceAll('PORT', String(port)).replaceAll('STRAY', String(strays.port));
    if (page === undefined && pathname.startsWith('/part')) return void response.end('x');
    if (pathname === '/file') {
      return void response.writeHead(200, { 'content-disposition': 'attachment; filename=a.bin' }).end('bytes');
    }
    if (pathname.startsWith('/door-') && !request.headers.cookie?.includes('pass=1')) {
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      return void response.writeHead(403, headers).end(doorOf(Number(pathname.slice('/door-'.length))));
    }
    if (pathname.startsWith('/door-')) return void response.setHeader('content-type', 'text/html').end('<p>the page');
    if (pathname === '/nothing') return void response.writeHead(204).end();
    if (pathname === '/moved') return void response.writeHead(301, { location: '/' }).end();
    if (pathname === '/moved-away') {
      return void response.writeHead(302, { location: `http://other.test:${port}/elsewhere#part` }).end();
    }
    if (pathname === '/round') return void response.writeHead(302, { location: '/round' }).end();
    const headers = { 'content-type': 'text/html; charset=utf-8', 'set-cookie': ['a=1; path=/', 'b=2; path=/'] };
    response.writeHead(page === undefined ? 404 : 200, headers).end(page);
  };
  const server: Server = createServer(answer);
  server.on('upgrade', (_request, socket) => {
    sockets += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    cookies,
    sockets: () => sockets,
    strays: () => ({ datagrams: strays.datagrams(), connections: strays.connections() }),
    close: () => {
      server.closeAllConnections();
      server.close();
      strays.close();
    },
  };
}

/** Listens where nothing may come. Its port is the same for datagrams and connections. */
async function openStrays() {
  let datagrams = 0;
  let connections = 0;
  const udp = createSocket('udp4').on('message', () => {
    datagrams += 1;
  });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.2', resolve));
  const { port } = udp.address();
  const tcp = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => tcp.once('error', reject).listen(port, '127.0.0.2', resolve));
  return {
    port,
    datagrams: () => datagrams,
    connections: () => connections,
    close: () => {
      udp.close();
      tcp.close();
    },
  };
}

/** Lets through who has run its script, which takes its time. */
function doorOf(opensAfterMs: number): string {
  return `<title>Just a moment...</title><p>Checking your browser<script src="/cdn-cgi/challenge-platform/x.js"></script>
    <script>window._cf_chl_opt = {};
    setTimeout(() => { document.cookie = 'pass=1'; location.reload(); }, ${opensAfterMs});</script>`;
}

/** Goes on adding to the page for so long, so that it is not told before. */
const BUSY =
  'let n = 0; const busy = setInterval(() => ++n > 20 ? clearInterval(busy) : document.body.append("x"), 50);';

const PAGES: Readonly<Record<string, string>> = {
  '/': '<title>A page</title><p>Grüße',
  '/script': '<div id=root></div><script>root.innerHTML = "<a href=/two>two</a>"</script>',
  '/hang': '<p>on<script>for (;;) {}</script>',
  '/hang-later': '<p>on<script>setTimeout(() => { for (;;) {} }, 50)</script>',
  '/alert': '<script>alert(1); confirm(2); document.title = "after"</script>',
  '/popup': '<script>for (let i = 0; i < 20; i++) open("/")</script><p>on',
  '/many': `<p>on${Array.from({ length: 60 }, (_, n) => `<img src="/part${n}">`).join('')}`,
  '/reach': `<p>on<img src="http://127.0.0.2:STRAY/x"><img src="http://10.0.0.1/x"><iframe src="file:///etc/passwd"></iframe>
    <link rel="preconnect" href="http://127.0.0.2:STRAY"><link rel="prefetch" href="http://127.0.0.2:STRAY/p">
    <script>fetch("http://127.0.0.2:STRAY/f").catch(() => {}); navigator.sendBeacon("http://127.0.0.2:STRAY/b");
    new Worker(URL.createObjectURL(new Blob(["fetch('http://127.0.0.2:STRAY/w').catch(() => {})"]))); ${BUSY}</script>`,
  '/datagrams': `<p>on<script>const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.2:STRAY" }] });
    peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); ${BUSY}</script>`,
  '/socket': `<p>on<script>new WebSocket("ws://site.test:PORT/"); ${BUSY}</script>`,
  '/worker-socket': `<p>on<script>const code = 'for (let i = 0; i < 200; i++) fetch("http://site.test:PORT/part-w" + i).catch(() => {});' +
    'new WebSocket("ws://site.test:PORT/")'; new Worker(URL.createObjectURL(new Blob([code]))); ${BUSY}</script>`,
  '/missing-part': '<p>all of the text<img src="/never">',
  '/restless': '<p>on<script>setInterval(() => document.body.append("x"), 20)</script>',
  '/again': '<p>on<script>setTimeout(() => location.reload(), 10)</script>',
  '/cookie': '<p>on',
  '/script-away': '<p>on<script>location.href = "http://other.test:PORT/elsewhere"</script>',
  '/refresh-away': '<meta http-equiv="refresh" content="0; url=http://other.test:PORT/elsewhere"><p>on',
  '/script-on': '<p>on<script>setTimeout(() => location.replace("/two?x=1"), 50)</script>',
  '/form-away': `<form method="post" action="http://other.test:PORT/elsewhere"></form>
    <script>document.forms[0].submit()</script>`,
  '/to-itself': `<p>on<script>if (!document.cookie.includes("been")) { document.cookie = "been=1";
    location.href = location.pathname + "?__cf_chl_tk=x"; }</script>`,
  '/huge': '<p>on<script>document.body.append("x".repeat(17 * 1024 * 1024))</script>',
  '/grow': `<p>on<img src="/never"><script>const kept = [];
    setInterval(() => kept.push(new Uint8Array(16e6).fill(7)), 20)</script>`,
};
