/**
 * A web without accidents, for questions of scale: every site answers, each after its own time, in simulated time.
 *
 * It remembers what servers see of the crawl's manners: how many requests each had at once, how long after the end of one
 * the next began, and how long slots were held. No log is kept, so that a million requests cost no memory.
 */
import type { FetchRequest, FetchResult, Header } from '../../src/domain/fetching.js';
import type { HostName } from '../../src/domain/host.js';
import type { ParseTask } from '../../src/domain/parsing.js';
import { parse } from '../../src/page/parse.js';
import type { FetchPort, ParsePort, ResolvePort } from '../../src/protocols/ports.js';
import type { Simulation } from '../../src/sim/events.js';

export interface Site {
  /** In lines of a page, absolute or relative URLs; null: there is no such page. */
  linksOf(path: string): readonly string[] | null;
  readonly answerMs: number;
  readonly address: string;
  /** Instead of an answer, for the first so many requests for pages. */
  readonly throttled?: { readonly requests: number; readonly retryAfterSeconds: number };
  readonly robots?: string;
}

/** What a server has seen. */
export interface Seen {
  requests: number;
  pages: number;
  inFlight: number;
  inFlightMost: number;
  endedAtMs: number | null;
  /** Between the end of an answer and the next request; null before there were two. */
  gapMsLeast: number | null;
  /** Time that its requests have held a slot. */
  heldMs: number;
  /** When it last said that it is asked too often, until it is asked again. */
  throttledAtMs: number | null;
  /** How long it was left alone after that, at least. */
  throttledGapMsLeast: number | null;
}

export interface QuietWeb {
  readonly net: FetchPort;
  readonly names: ResolvePort;
  seenOf(host: HostName): Seen;
  /** Of all names that stand on it. */
  seenAt(address: string): Seen;
}

export function createQuietWeb(simulation: Simulation, siteOf: (host: HostName) => Site): QuietWeb {
  const byHost = new Map<HostName, Seen>();
  const byAddress = new Map<string, Seen>();
  const seenOf = (host: HostName) => seenIn(byHost, host);
  const seenAt = (address: string) => seenIn(byAddress, address);
  return {
    seenAt,
    seenOf,
    names: {
      resolve: (host) =>
        after(simulation, 10, () => ({
          kind: 'addresses',
          addresses: [{ address: siteOf(host).address, family: 4 }],
          expiresInMs: 3_600_000,
        })),
    },
    net: {
      fetch: (request) => {
        const url = new URL(request.url);
        const site = siteOf(url.hostname);
        const server = seenOf(url.hostname);
        const machine = seenAt(request.address.address);
        for (const one of [server, machine]) arrive(one, simulation.nowMs);
        return after(simulation, site.answerMs, () => {
          for (const one of [server, machine]) leave(one, simulation.nowMs, site.answerMs);
          return answer(site, server, url, request);
        });
      },
      release: () => {},
    },
  };
}

function seenIn(all: Map<string, Seen>, name: string): Seen {
  const known = all.get(name) ?? {
    requests: 0,
    pages: 0,
    inFlight: 0,
    inFlightMost: 0,
    endedAtMs: null,
    gapMsLeast: null,
    heldMs: 0,
    throttledAtMs: null,
    throttledGapMsLeast: null,
  };
  all.set(name, known);
  return known;
}

function after<T>(simulation: Simulation, delayMs: number, give: () => T): Promise<T> {
  return new Promise((resolve) => void simulation.after(delayMs, () => resolve(give())));
}

function arrive(server: Seen, nowMs: number): void {
  server.requests += 1;
  server.inFlight += 1;
  server.inFlightMost = Math.max(server.inFlightMost, server.inFlight);
  if (server.throttledAtMs !== null) {
    const gapMs = between(server.throttledAtMs, nowMs);
    server.throttledGapMsLeast = Math.min(server.throttledGapMsLeast ?? gapMs, gapMs);
    server.throttledAtMs = null;
  }
  if (server.endedAtMs === null) return;
  const gapMs = between(server.endedAtMs, nowMs);
  server.gapMsLeast = Math.min(server.gapMsLeast ?? gapMs, gapMs);
}

/** To the nanosecond: sums of fractions are no more exact than that. */
function between(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) * 1e6) / 1e6;
}

function leave(server: Seen, nowMs: number, heldMs: number): void {
  server.inFlight -= 1;
  server.endedAtMs = nowMs;
  server.heldMs += heldMs;
}

function answer(site: Site, server: Seen, url: URL, { address }: FetchRequest): FetchResult {
  const respond = (status: number, headers: readonly Header[], text: string): FetchResult => ({
    kind: 'response',
    status,
    statusText: '',
    httpVersion: '1.1',
    headers,
    rawHead: null,
    sentHead: null,
    body: new TextEncoder().encode(text),
    cut: false,
    durationMs: site.answerMs,
    remoteAddress: address.address,
  });
  if (url.pathname === '/robots.txt') {
    return site.robots === undefined
      ? respond(404, [], '')
      : respond(200, [['content-type', 'text/plain']], site.robots);
  }
  server.pages += 1;
  if (site.throttled !== undefined && server.pages <= site.throttled.requests) {
    server.throttledAtMs = server.endedAtMs;
    return respond(429, [['retry-after', String(site.throttled.retryAfterSeconds)]], '');
  }
  const links = site.linksOf(url.pathname);
  if (links === null) return respond(404, [], '');
  const lines = links.map((href) => `<a href="${href}">x</a>`).join('\n');
  return respond(200, [['content-type', 'text/html']], `<!doctype html><title>${url.pathname}</title>${lines}`);
}

/** The real parsing; each thread takes one page after the other, for a time that grows with the page. */
export function createQuietParsers(simulation: Simulation): ParsePort {
  const busyUntilMs: number[] = [];
  return {
    parse: (thread, task) => {
      const fromMs = Math.max(simulation.nowMs, busyUntilMs[thread] ?? 0);
      busyUntilMs[thread] = fromMs + durationMs(task);
      return after(simulation, busyUntilMs[thread] - simulation.nowMs, () => parse(task, () => 0));
    },
  };
}

const PARSE_MS = 0.3;
const PARSE_BYTES_PER_MS = 10_000;

function durationMs({ body }: ParseTask): number {
  return PARSE_MS + body.byteLength / PARSE_BYTES_PER_MS;
}
