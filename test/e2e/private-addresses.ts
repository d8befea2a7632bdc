/**
 * Every spelling of an address that a crawl may not reach, by link, by redirect and by the answer of a name server,
 * and the kernel as witness: what the process connected to is read from its system calls (S1).
 *
 * The page that tempts it stands on 127.0.0.2, which alone is allowed. What is forbidden would answer, where it can:
 * servers wait on 127.0.0.1 and ::1 on the port that all the temptations name. Names are answered by a real name
 * server, among them one that changes its answer while the crawl is under way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UrlRecord } from '../../src/domain/record.js';
import { candidate, isRefused } from '../../src/page/candidate.js';
import { openStore } from '../../src/store/store.js';
import { crawl, type SummaryLine, until } from './crawl-process.js';
import { freePort, isInstalled } from './nginx.js';

/** The one address that is allowed. */
const ALLOWED = '127.0.0.2';

/** Hosts as a page may spell them: WHATWG URL §3.5 and RFC 4291 give many ways to say one thing. */
export const SPELLINGS: readonly string[] = [
  // Loopback, in decimal, hex, octal, fewer parts, full-width and encoded.
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0x7F.0X0.0.1'],
  ...['0177.0.0.1', '0177.1', '017700000001', '127.255.255.254', '127.0.0.3', '0.0.0.0', '0', '0x'],
  ...['127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127%E3%80%820%E3%80%820%E3%80%821'],
  ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', 'www.example.com@127.0.0.1', 'user:secret@127.1'],
  // Cloud metadata.
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518', '169.254.170.2'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '[fd00:ec2::254]', '[fd20:ce::254]'],
  // Private, shared, documentation, benchmarks, multicast, reserved, broadcast.
  ...['10.0.0.5', '10.1', '012.0.0.5', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.257', '100.64.0.1'],
  ...['100.127.255.254', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '0xffffffff'],
  // IPv6, plain and as a disguise of IPv4.
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:FFFF:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001:db8::1]'],
  ...['[100::1]', '[2001:10::1]', '[2001:20::1]', '[3fff::1]', '[5f00::1]'],
  // Names that mean this machine.
  ...['localhost', 'LOCALHOST', 'www.localhost', 'localhost.'],
];

/** What is no URL that could be fetched, and the reason for it. */
export const NO_URLS: Readonly<Record<string, string>> = {
  'http://127.0.0.1.1/': 'url_invalid',
  'http://256.0.0.1/': 'url_invalid',
  'http://0x100000000/': 'url_invalid',
  'http://[fe80::1%25eth0]/': 'url_invalid',
  'http://[::1/': 'url_invalid',
  'http://[::ffff:127.0.0.1.]/': 'url_invalid',
  'http://127.0.0.1%00/': 'url_invalid',
  'http://127.0.0.1:65536/': 'url_invalid',
  'http://127.0.0.1;x/': 'url_host_invalid',
  'file:///etc/passwd': 'url_scheme',
  'ftp://127.0.0.1/': 'url_scheme',
  'gopher://127.0.0.1:6379/_INFO': 'url_scheme',
  'javascript:void(0)': 'url_scheme',
};

/** Names and what the name server says of them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  'private.test': ['10.0.0.5'],
  'private6.test': ['fd00::1'],
  'link-local.test': ['169.254.0.9'],
  'link-local6.test': ['fe80::1'],
  'metadata.google.internal': ['169.254.169.254'],
  'metadata.test': ['169.254.169.254'],
  'unspecified.test': ['0.0.0.0'],
  'shared.test': ['100.64.0.1'],
  'multicast.test': ['224.0.0.1'],
  'broadcast.test': ['255.255.255.255'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  '6to4.test': ['2002:7f00:1::'],
  'teredo.test': ['2001:0:7f00:1::'],
  // Mixed answers: one that is allowed beside one that is not.
  'mixed.test': [ALLOWED, '10.0.0.5'],
  'mixed-reversed.test': ['127.0.0.1', ALLOWED],
  'mixed-families.test': [ALLOWED, '::1'],
};

/** Allowed at first; from its first page on the name server says something else. */
const REBINDING = 'rebinding.test';
const REBOUND_TO = '127.0.0.1';
const REBINDING_PAGES = 14;
/** Its answers are kept for 5 s at least: its pages have to come for longer. */
const REBINDING_DELAY_MS = 600;

/** Allowed, but its robots.txt lies, by redirect, where it must not be asked for. */
const ROBOTS_TRAP = 'robots-trap.test';

/** Answered by a wildcard and by an alias. */
const FURTHER_NAMES = ['any.depth.wild.test', 'alias.test'];

export interface Refusal {
  readonly url: string;
  /** How it was met. */
  readonly by: 'link' | 'redirect' | 'refresh' | 'name';
  /** From the registry; null where it is not known there. */
  readonly record: UrlRecord | null;
}

export interface PrivateAddressesReport {
  readonly refusals: readonly Refusal[];
  /** Links that are no URLs: why, by the rule that refused them. */
  readonly noUrls: Readonly<Record<string, string | null>>;
  /** Pages whose redirect led to no URL. */
  readonly deadEnds: readonly { readonly url: string; readonly record: UrlRecord | null }[];
  readonly rebinding: { readonly fetched: number; readonly refused: number };
  readonly robotsTrap: UrlRecord | null;
  /** Every `address:port` that the process connected or sent to, with how often. */
  readonly connected: ReadonlyMap<string, number>;
  readonly site: string;
  readonly nameServer: string;
  /** Connections that came to what must not be reached. */
  readonly victims: number;
  readonly summary: SummaryLine;
}

/** Why it can't be done here; null when it can. */
export function whatIsMissing(): string | null {
  for (const program of ['strace', 'dnsmasq']) if (!isInstalled(program)) return `${program} is not installed`;
  return null;
}

/** Crawls the page of temptations under strace. */
export async function temptCrawl(): Promise<PrivateAddressesReport> {
  return withStage(async ({ folder, site, victims, port, names }) => {
    const temptations = temptationsTo(victims.port);
    site.serve(temptations);
    const { summary } = await crawl({
      seeds: [`http://${ALLOWED}:${port}/`],
      dataDir: join(folder, 'data'),
      under: straced(folder),
      words: ['--scope', 'any', '--wait', '3', '--max-seconds', '50'],
      settings: {
        ...settingsOf(names.port, ['127.0.0.2/32']),
        'politeness.hostDelaysMs': { [REBINDING]: REBINDING_DELAY_MS },
      },
    });
    const records = await registryOf(join(folder, 'data'));
    const onSite = (path: string) => `http://${ALLOWED}:${port}${path}`;
    const rebinding = await Promise.all(
      numbers(REBINDING_PAGES).map((page) => records.get(`http://${REBINDING}:${port}/rebinding/${page}`)),
    );
    const report: PrivateAddressesReport = {
      refusals: await Promise.all(
        temptations.urls.map(async ({ url, by }) => ({ url, by, record: await records.get(url) })),
      ),
      noUrls: Object.fromEntries(Object.keys(NO_URLS).map((url) => [url, refusalOf(url)])),
      deadEnds: await Promise.all(
        Object.keys(NO_URLS).map(async (_, i) => ({
          url: onSite(`/dead-end/${i}`),
          record: await records.get(onSite(`/dead-end/${i}`)),
        })),
      ),
      rebinding: {
        fetched: rebinding.filter((record) => record?.state === 'active').length,
        refused: rebinding.filter((record) => lastCode(record) === 'guard_refused').length,
      },
      robotsTrap: await records.get(`http://${ROBOTS_TRAP}:${port}/trapped`),
      connected: connectedIn(readFileSync(join(folder, 'calls'), 'utf8')),
      site: `${ALLOWED}:${port}`,
      nameServer: `127.0.0.1:${names.port}`,
      victims: victims.connections(),
      summary,
    };
    await records.close();
    return report;
  });
}

/** The same eyes on a crawl that may reach loopback: they must see it do so, or they see nothing. */
export async function temptCrawlThatMay(): Promise<Pick<PrivateAddressesReport, 'connected' | 'victims'>> {
  return withStage(async ({ folder, site, victims, port, names }) => {
    site.serve({ links: [`http://2130706433:${victims.port}/link`], urls: [], redirects: [], refreshes: [] });
    await crawl({
      seeds: [`http://${ALLOWED}:${port}/`],
      dataDir: join(folder, 'data'),
      under: straced(folder),
      words: ['--scope', 'any', '--wait', '0', '--max-seconds', '20'],
      settings: settingsOf(names.port, ['127.0.0.0/8']),
    });
    const connected = connectedIn(readFileSync(join(folder, 'calls'), 'utf8'));
    return { connected, victims: victims.connections() };
  });
}

/** The last thing that was said of a URL. */
export function lastCode(record: UrlRecord | null | undefined): string | null {
  return record?.attempts.at(-1)?.code ?? null;
}

function straced(folder: string): string[] {
  return ['strace', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=connect,sendto,sendmsg', '-o', join(folder, 'calls')];
}

function settingsOf(namesPort: number, allow: readonly string[]): Record<string, unknown> {
  return {
    'guard.allow': allow,
    'dns.servers': [`127.0.0.1:${namesPort}`],
    'politeness.delayMs': 10,
    'politeness.adaptiveFactor': 0,
    'politeness.addressDelayMs': 0,
    'retry.delaysSeconds': [1],
    'retry.deliveriesMax': 2,
  };
}

// -- what it is tempted with ------------------------------------------------------------------------------------

interface Temptations {
  /** On the first page, as spelled. */
  readonly links: readonly string[];
  /** What each of these must end as. */
  readonly urls: readonly { readonly url: string; readonly by: Refusal['by'] }[];
  /** Targets of `/redirect/0`, … */
  readonly redirects: readonly string[];
  readonly refreshes: readonly string[];
}

function temptationsTo(port: number): Temptations {
  const names = [...Object.keys(NAMES), ...FURTHER_NAMES];
  const urlsOf = (hosts: readonly string[], path: string) => hosts.map((host) => `http://${host}:${port}/${path}`);
  const byLink = [
    ...urlsOf(SPELLINGS, 'link'),
    `//127.1:${port}/without-scheme`,
    `http:\\\\127.0.0.1:${port}\\backslashes`,
    `ht\ntp://127.0.\t0.1:${port}/white-space`,
    `https://127.1:${port}/secure`,
  ];
  const [byName, redirects] = [urlsOf(names, 'name'), urlsOf([...SPELLINGS, ...names], 'redirect')];
  const refreshes = urlsOf(['127.1', '[::1]', '169.254.169.254', 'loopback.test'], 'refresh');
  return {
    links: [...byLink, ...byName],
    redirects,
    refreshes,
    urls: [
      ...byLink.map((url) => ({ url, by: 'link' as const })),
      ...byName.map((url) => ({ url, by: 'name' as const })),
      ...redirects.map((url) => ({ url, by: 'redirect' as const })),
      ...refreshes.map((url) => ({ url, by: 'refresh' as const })),
    ],
  };
}

function refusalOf(url: string): string | null {
  const made = candidate(url, `http://${ALLOWED}/`, 'link', 'a');
  return isRefused(made) ? made.refusal : null;
}

// -- the stage --------------------------------------------------------------------------------------------------

interface Stage {
  readonly folder: string;
  /** Of the site. */
  readonly port: number;
  readonly site: { serve(temptations: Temptations): void };
  readonly victims: { readonly port: number; connections(): number };
  readonly names: NameServer;
}

async function withStage<T>(play: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-private-addresses-'));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const victims = await startVictims();
    closing.push(victims.close);
    const names = await startNameServer(folder);
    closing.push(names.stop);
    let temptations: Temptations = { links: [], urls: [], redirects: [], refreshes: [] };
    const server = createServer((request, response) => answer(request, response, temptations, names, victims.port));
    server.listen(0, ALLOWED);
    await once(server, 'listening');
    closing.push(() => closed(server));
    const { port } = server.address() as AddressInfo;
    const site = { serve: (those: Temptations) => (temptations = those) };
    return await play({ folder, port, site, victims, names });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function answer(
  { url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  temptations: Temptations,
  names: NameServer,
  victimPort: number,
): void {
  const [, kind = '', number = ''] = url.split('/');
  const [host = ''] = (headers.host ?? '').split(':');
  const redirectTo = (target: string) =>
    // A header is bytes: what lies beyond ASCII is sent as UTF-8.
    response.writeHead(302, { Location: Buffer.from(target, 'utf8').toString('latin1') }).end();
  const page = (body: string) =>
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>${body}`);
  if (url === '/robots.txt' && host === ROBOTS_TRAP) redirectTo(`http://127.0.0.1:${victimPort}/robots.txt`);
  else if (url === '/robots.txt') response.writeHead(404).end();
  else if (kind === 'redirect') redirectTo(temptations.redirects[Number(number)] as string);
  else if (kind === 'dead-end') redirectTo(Object.keys(NO_URLS)[Number(number)] as string);
  else if (kind === 'refresh')
    page(`<meta http-equiv=refresh content="0;url=${temptations.refreshes[Number(number)]}"><p>Wait`);
  else if (kind === 'rebinding') {
    names.rebind();
    page(`<p>Page ${number}`);
  } else if (url === '/') page(linksOf(temptations, headers.host?.split(':')[1] ?? ''));
  else page('<p>A page');
}

function linksOf({ links, redirects, refreshes }: Temptations, port: string): string {
  const all = [
    ...links,
    ...redirects.map((_, i) => `/redirect/${i}`),
    ...refreshes.map((_, i) => `/refresh/${i}`),
    ...Object.keys(NO_URLS),
    ...Object.keys(NO_URLS).map((_, i) => `/dead-end/${i}`),
    ...(links.length > 1 ? numbers(REBINDING_PAGES).map((i) => `http://${REBINDING}:${port}/rebinding/${i}`) : []),
    ...(links.length > 1 ? [`http://${ROBOTS_TRAP}:${port}/trapped`] : []),
  ];
  return all.map((url) => `<a href="${url}">x</a>`).join('\n');
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Whoever connects is counted, and answered, so that a slip is not mistaken for a failure. */
async function startVictims() {
  let connections = 0;
  const handler = (_request: IncomingMessage, response: ServerResponse) => response.end('secret');
  const [v4, v6] = [createServer(handler), createServer(handler)];
  for (const server of [v4, v6]) server.on('connection', () => connections++);
  v4.listen(0, '127.0.0.1');
  await once(v4, 'listening');
  const { port } = v4.address() as AddressInfo;
  const open: Server[] = [v4];
  try {
    v6.listen(port, '::1');
    await once(v6, 'listening');
    open.push(v6);
  } catch {
    // A machine without IPv6: the system calls tell all the same.
  }
  return { port, connections: () => connections, close: () => Promise.all(open.map(closed)) };
}

async function closed(server: Server): Promise<void> {
  if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
  server.close();
  await once(server, 'close');
}

interface NameServer {
  readonly port: number;
  /** From now on the rebinding name stands for something else. */
  rebind(): void;
  stop(): Promise<void>;
}

async function startNameServer(folder: string): Promise<NameServer> {
  const port = await freePort();
  const file = join(folder, 'hosts');
  const write = (rebinding: string) => {
    const all = { ...NAMES, [REBINDING]: [rebinding], [ROBOTS_TRAP]: [ALLOWED] };
    const lines = Object.entries(all).flatMap(([name, addresses]) => addresses.map((address) => `${address} ${name}`));
    writeFileSync(file, `${lines.join('\n')}\n`);
  };
  write(ALLOWED);
  const words = [
    ...['--keep-in-foreground', '--conf-file=/dev/null', '--pid-file=', '--log-facility=/dev/null'],
    ...['--no-resolv', '--no-hosts', '--local-ttl=1', `--addn-hosts=${file}`, `--port=${port}`],
    ...['--listen-address=127.0.0.1', '--bind-interfaces', '--address=/wild.test/127.0.0.1'],
    ...['--cname=alias.test,loopback.test', ...(process.getuid?.() === 0 ? ['--user=root'] : [])],
  ];
  const child = spawn('dnsmasq', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  await until('the name server listens', () => listens(port, child), 10_000);
  let rebound = false;
  return {
    port,
    rebind() {
      if (rebound) return;
      rebound = true;
      write(REBOUND_TO);
      child.kill('SIGHUP');
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** It serves TCP on the same port: a port that can't be had any more is one that it has. */
async function listens(port: number, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`dnsmasq ended with ${child.exitCode}`);
  const probe = createTcpServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(true));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(false)));
  });
}

// -- what came of it --------------------------------------------------------------------------------------------

async function registryOf(dir: string) {
  const store = await openStore({ dir, warcinfo: () => new Uint8Array() });
  return {
    /** By any spelling. */
    async get(url: string): Promise<UrlRecord | null> {
      const made = candidate(url, `http://${ALLOWED}/`, 'link', 'a');
      return isRefused(made) ? null : store.readRecord(made.key, made.host);
    },
    close: () => store.close(),
  };
}

/** `address:port` of every connect, sendto and sendmsg that names one. Unix and netlink sockets name none. */
export function connectedIn(calls: string): Map<string, number> {
  const found = new Map<string, number>();
  const v4 = /sa_family=AF_INET, sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"\)/g;
  const v6 = /sa_family=AF_INET6, sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]+)"/g;
  for (const [, port, address] of [...calls.matchAll(v4), ...calls.matchAll(v6)]) {
    const peer = `${address}:${port}`;
    found.set(peer, (found.get(peer) ?? 0) + 1);
  }
  return found;
}
