/**
 * The night of the incident for once with real processes: the practice web, a crawl from the command line, and the
 * sidecar with a real Chromium behind a front that is ill on purpose.
 *
 * The front answers as the service of that night did: it takes each call, burns the whole time-out, and says that it could
 * not solve the challenge; one call of 49 it hands on. When its time has come it hands on all of them. Of ordinary pages
 * their server tells, and of calls the front; how many pages were had, and when walled ones were, the crawl says itself. Every
 * fourth walled host has no wall.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge } from '../../src/practice/judge.js';
import { type PracticeServer, startPracticeServer } from '../../src/practice/server.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import { practiceWeb } from '../../src/practice/web.js';
import { PRODUCT_TOKEN, startCrawl } from '../e2e/crawl-process.js';
import { type Sidecar, startSidecar } from '../e2e/sidecar.js';
import { type Night, type NightKind, pagesHad, restsIn } from './night.js';

export interface RealNightSettings {
  readonly ordinaryHosts: number;
  readonly ordinaryPages: number;
  readonly walledHosts: number;
  readonly walledPages: number;
  readonly illForMs: number;
  readonly delayMs: number;
  /** Of a call of the service. */
  readonly timeoutMs: number;
}

/** A rest of two minutes and its probe fit in, and the whole in some minutes. */
export const REAL_NIGHT: RealNightSettings = {
  ordinaryHosts: 500,
  ordinaryPages: 10,
  walledHosts: 12,
  walledPages: 4,
  illForMs: 200_000,
  delayMs: 5_000,
  timeoutMs: 5_000,
};

const SPARED_ONE_OF = 49;
const SAMPLE_MS = 250;

interface FrontCall {
  readonly beganAtMs: number;
  endedAtMs: number | null;
  outcome: 'worked' | 'failed' | null;
}

interface Front {
  readonly endpoint: string;
  readonly calls: readonly FrontCall[];
  close(): void;
}

export async function spendRealNight(settings: RealNightSettings, kind: NightKind): Promise<Night> {
  const { ordinaryHosts, ordinaryPages, walledHosts, walledPages } = settings;
  const directory = mkdtempSync(join(tmpdir(), 'orbweaver-night-'));
  const ordinary = await startPracticeServer({
    web: practiceWeb({
      ...{ profile: 'wide', hosts: ordinaryHosts, pages: ordinaryHosts * ordinaryPages, seedHosts: ordinaryHosts },
      ...{ pageBytes: 4_000, linksPerPage: 12, branching: 10, hostPattern: 'ordinary-*.test' },
    }),
  });
  const walled = await startPracticeServer({
    web: practiceWeb({
      ...{ profile: 'walled', hosts: walledHosts, pages: walledHosts * walledPages, seedHosts: walledHosts },
      hostPattern: 'walled-*.test',
    }),
  });
  const sidecar = await startSidecar();
  const front = await openFront(sidecar, kind === 'well' ? 0 : settings.illForMs);
  try {
    return await crawlThrough({ settings, kind, ordinary, walled, front, directory });
  } finally {
    front.close();
    await sidecar.end('SIGTERM');
    await Promise.all([ordinary.close(), walled.close()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Stage {
  readonly settings: RealNightSettings;
  readonly kind: NightKind;
  readonly ordinary: PracticeServer;
  readonly walled: PracticeServer;
  readonly front: Front;
  readonly directory: string;
}

async function crawlThrough({ settings, kind, ordinary, walled, front, directory }: Stage): Promise<Night> {
  const truths = [ordinary.truth(), walled.truth()];
  const startedMs = Date.now();
  const crawling = startCrawl({
    seeds: truths.flatMap(({ seeds }) => seeds),
    dataDir: join(directory, 'data'),
    command: [process.execPath, join(process.cwd(), 'dist/cli/main.js'), 'crawl'],
    words: ['--wait', '900', '--scope', 'any'],
    settings: {
      'guard.allow': ['127.0.0.0/8'],
      'dns.hosts': { '*.test': '127.0.0.1' },
      'politeness.delayMs': settings.delayMs,
      'politeness.adaptiveFactor': 0,
      'politeness.addressDelayMs': 0,
      'archive.enabled': false,
      'browser.endpoint': front.endpoint,
      'browser.timeoutMs': settings.timeoutMs,
      'browser.breaker': kind !== 'defenceless',
    },
  });
  const challengedAt: number[] = [];
  const sampling = setInterval(() => {
    const had = crawling.visits.filter(({ url, outcome }) => url.includes('//walled-') && outcome === 'fetched').length;
    while (challengedAt.length < had) challengedAt.push((Date.now() - startedMs) / 1_000);
  }, SAMPLE_MS);
  const end = await crawling.ended.finally(() => clearInterval(sampling));
  if (end.code !== 0 || end.summary === null) throw new Error(`the crawl ended with ${end.code}: ${end.errors}`);
  const lines = ordinary.log.text().split('\n').filter(Boolean);
  const log = lines.map((line) => JSON.parse(line) as WitnessEvent);
  const since = (at: number): number => at - startedMs / 1_000;
  const ordinaryAt = pagesHad(log, () => true).map(since);
  const calls = front.calls.map(({ beganAtMs, endedAtMs, outcome }) => ({
    ...{ owner: 1, url: '', outcome, beganAtMs: beganAtMs - startedMs },
    endedAtMs: endedAtMs === null ? null : endedAtMs - startedMs,
  }));
  const violations = new Map<string, number>();
  const { delayMs } = settings;
  for (const { rule } of judge(log, { productToken: PRODUCT_TOKEN, delayMs, clockToleranceMs: 2 }).violations)
    violations.set(rule, (violations.get(rule) ?? 0) + 1);
  const burnedMs = calls.map((call) => (call.outcome === 'failed' ? (call.endedAtMs ?? 0) - call.beganAtMs : 0));
  return {
    ordinarySeconds: ordinaryAt.at(-1) ?? 0,
    challengedSeconds: challengedAt.at(-1) ?? 0,
    calls,
    burnedSeconds: burnedMs.reduce((sum, ms) => sum + ms, 0) / 1_000,
    rests: restsIn(calls),
    pages: end.summary.fetched,
    pagesExpected: truths.reduce((sum, { pages }) => sum + pages.length, 0),
    dead: end.summary.deadLettered,
    violations,
    ordinaryAt,
    challengedAt,
  };
}

/** @param illForMs from now on */
async function openFront(sidecar: Sidecar, illForMs: number): Promise<Front> {
  const calls: FrontCall[] = [];
  const healsAtMs = Date.now() + illForMs;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call: FrontCall = { beganAtMs: Date.now(), endedAtMs: null, outcome: null };
    const nth = calls.push(call);
    const asked = await textOf(request);
    const isIll = call.beganAtMs < healsAtMs && nth % SPARED_ONE_OF !== 0;
    const told = isIll ? await burn(asked) : await handOn(sidecar, asked);
    call.endedAtMs = Date.now();
    call.outcome = isIll || told.status !== 200 ? 'failed' : 'worked';
    response.writeHead(told.status, { 'content-type': 'application/json' }).end(told.body);
  };
  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { endpoint: `http://127.0.0.1:${port}/v1`, calls, close };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece as string;
  return text;
}

interface Told {
  readonly status: number;
  readonly body: string;
}

async function burn(asked: string): Promise<Told> {
  const { maxTimeout } = JSON.parse(asked) as { maxTimeout: number };
  await new Promise((resolve) => setTimeout(resolve, maxTimeout));
  const message = `Error: Error solving the challenge. Timeout after ${maxTimeout / 1_000} seconds.`;
  return { status: 500, body: JSON.stringify({ status: 'error', message }) };
}

async function handOn({ endpoint }: Sidecar, asked: string): Promise<Told> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(endpoint, { method: 'POST', headers, body: asked });
  return { status: answer.status, body: await answer.text() };
}
