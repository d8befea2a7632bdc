/**
 * Serves a canned web over plain keep-alive HTTP from a process of its own, on another core than the client's.
 * Pages are made before the first request, so that serving costs a look-up. Tells its parent the port, and on the
 * parent's word what it saw; ends with it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CannedWeb, htmlOf, pageOf } from './canned-web.js';

/** What a server can testify of its client. */
export interface Testimony {
  readonly requests: number;
  /** Requests to one host at once, at most: from the first byte of the request to the last of the answer. */
  readonly inFlightMax: number;
}

const web = JSON.parse(process.argv[2] ?? 'null') as CannedWeb;
const inFlight = new Map<string, number>();
let bodies: readonly Buffer[] = [];
let requests = 0;
let inFlightMax = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const host = request.headers.host ?? '';
  const before = inFlight.get(host) ?? 0;
  inFlight.set(host, before + 1);
  requests += 1;
  inFlightMax = Math.max(inFlightMax, before + 1);
  response.on('finish', () => inFlight.set(host, (inFlight.get(host) ?? 1) - 1));
  const page = pageOf(request.url ?? '');
  const body = page === null ? undefined : bodies[page];
  if (body === undefined) response.writeHead(404, { 'content-length': 0 }).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length }).end(body);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  bodies = Array.from({ length: web.pages }, (_, page) => htmlOf(web, page, port));
  process.send?.({ port });
});
process.on('message', () => {
  process.send?.({ requests, inFlightMax } satisfies Testimony);
  requests = 0;
  inFlightMax = 0;
});
process.on('disconnect', () => process.exit(0));
