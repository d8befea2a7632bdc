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
}

export interface QuietWeb {
  readonly net: FetchPort;
  readonly names: ResolvePort;
  seenOf(host: HostName): Seen;
}

export function createQuietWeb(simulation: Simulation, siteOf: (host: HostName) => Site): QuietWeb {
  const seen = new Map<HostName, Seen>();
  const seenOf = (host: HostName): Seen => {
    const known = seen.get(host) ?? {
      requests: 0,
      pages: 0,
      inFlight: 0,
      inFlightMost: 0,
      endedAtMs: null,
      gapMsLeast: null,
      heldMs: 0,
    };
    seen.set(host, known);
    return known;
  };
  return {
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
        arrive(server, simulation.nowMs);
        return after(simulation, site.answerMs, () => {
          leave(server, simulation.nowMs, site.answerMs);
          return answer(site, server, url, request);
        });
      },
      release: () => {},
    },
  };
}

function after<T>(simulation: Simulation, delayMs: number, give: () => T): Promise<T> {
  return new Promise((resolve) => void simulation.after(delayMs, () => resolve(give())));
}

function arrive(server: Seen, nowMs: number): void {
  server.requests += 1;
  server.inFlight += 1;
  server.inFlightMost = Math.max(server.inFlightMost, server.inFlight);
  if (server.endedAtMs === null) return;
  const gapMs = nowMs - server.endedAtMs;
  server.gapMsLeast = Math.min(server.gapMsLeast ?? gapMs, gapMs);
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
