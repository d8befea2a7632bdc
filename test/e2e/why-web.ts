/**
 * A web in which every fate of a URL happens once, and a crawl of it: what `why` is asked about.
 *
 * Each host is named by what it does. All of them are one server on loopback; names lead there by `dns.hosts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Control } from '../../src/admin/control.js';
import { reachControl } from '../../src/admin/client.js';
import { crawl, startCrawl, until } from './crawl-process.js';

export interface WhyWeb {
  readonly port: number;
  readonly dataDir: string;
  /** With the port of the web put in. */
  url(spelling: string): string;
  /** Asks a crawl that runs, while its one request hangs. */
  whileRunning(ask: (control: Control) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Opens the web, and crawls it twice: the second time with patience, so that what fails then still waits. */
export async function crawledWeb(): Promise<WhyWeb> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dataDir = mkdtempSync(join(tmpdir(), 'orbweaver-why-'));
  const url = (spelling: string) => spelling.replace(/^(https?:\/\/[^/?#]+\.test)(?=[/?#]|$)/i, `$1:${port}`);
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const first = ['http://garden.test/', 'http://ruin.test/', 'http://cellar.test/'];
    await crawlFrom(first.map(url), dataDir, [0.01]);
    const second = ['http://leaky.test/', 'http://busy.test/', 'http://silent.test/page'];
    await crawlFrom([...first, ...second].map(url), dataDir, [3_600]);
  } catch (error) {
    await close();
    throw error;
  }
  return { port, dataDir, url, whileRunning: (ask) => whileRunning(url, join(dataDir, 'running'), ask), close };
}

const PAGES: Readonly<Record<string, string>> = {
  'garden.test/': [
    '/tulips',
    '/old-tulips',
    '/gate',
    '/weeds',
    '/compost',
    '/private/keys',
    '/maze/left/left/left/left/left',
    '/shop/basket',
    'http://neighbour.test/',
  ]
    .map((link) => `<a href="${link}">${link}</a>`)
    .join(' '),
  'garden.test/tulips': '<a href="/tulips/red">red ones</a>',
  'garden.test/tulips/red': 'Red tulips.',
  'busy.test/': Array.from({ length: 4 }, (_, index) => `<a href="/queue/${index + 1}">${index + 1}</a>`).join(' '),
};

const STATUS: Readonly<Record<string, number>> = {
  'garden.test/weeds': 404,
  'garden.test/compost': 410,
  'ruin.test/': 500,
  'leaky.test/': 500,
  'silent.test/robots.txt': 500,
};

const ROBOTS = 'User-agent: *\nCrawl-delay: 0.01\n\n# The keys are not for visitors.\nDisallow: /private/\n';

function answer(request: IncomingMessage, response: ServerResponse): void {
  const name = `${(request.headers.host ?? '').split(':')[0]}${request.url}`;
  const status = STATUS[name];
  if (status !== undefined) response.writeHead(status).end();
  else if (name.startsWith('slow.test/page/')) hanging.push(response);
  else if (name === 'garden.test/robots.txt') response.end(ROBOTS);
  else if (name === 'garden.test/old-tulips') response.writeHead(301, { location: '/tulips' }).end();
  else if (name === 'garden.test/gate') response.writeHead(302, { location: '/gatekeeper' }).end();
  else if (name === 'garden.test/gatekeeper') response.writeHead(302, { location: '/gate' }).end();
  else if (name.startsWith('busy.test/queue/')) response.writeHead(503, { 'retry-after': '3600' }).end();
  else if (PAGES[name] !== undefined) {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${name}</title>${PAGES[name]}`);
  } else response.writeHead(404).end();
}

const SETTINGS = {
  'dns.hosts': { 'cellar.test': '10.0.0.5', '*': '127.0.0.1' },
  'guard.allow': ['127.0.0.1/32'],
  'politeness.delayMs': 10,
  'politeness.adaptiveFactor': 0,
  'politeness.addressDelayMs': 0,
  'breaker.failures': 100,
  'page.threads': 1,
  exclude: ['/shop/'],
} as const;

/** Answers that are not given yet. */
const hanging: ServerResponse[] = [];

async function whileRunning(
  url: WhyWeb['url'],
  dataDir: string,
  ask: (control: Control) => Promise<void>,
): Promise<void> {
  const seeds = ['http://slow.test/page/1', 'http://slow.test/page/2', 'http://slow.test/page/3'];
  const running = startCrawl({ seeds: seeds.map(url), dataDir, words: ['--wait', '0'], settings: SETTINGS });
  try {
    await until('a request hangs', () => hanging.length > 0);
    const control = await controlOf(dataDir);
    const asked = url('http://slow.test/page/1');
    await until('its robots.txt is in the store', async () => (await control.why(asked)).robots.status !== null);
    await ask(control);
  } finally {
    running.kill();
    await running.ended;
    for (const response of hanging.splice(0)) response.end();
  }
}

/** It listens a little later than it crawls. */
async function controlOf(dataDir: string): Promise<Control> {
  const found: Control[] = [];
  await until('the running crawl listens', async () => {
    const control = await reachControl(dataDir);
    if (control !== null) found.push(control);
    return control !== null;
  });
  return found[0] as Control;
}

async function crawlFrom(seeds: readonly string[], dataDir: string, delaysSeconds: readonly number[]): Promise<void> {
  await crawl({
    seeds,
    dataDir,
    words: ['--scope', 'host', '--wait', '1'],
    settings: { ...SETTINGS, 'retry.delaysSeconds': delaysSeconds },
  });
}
