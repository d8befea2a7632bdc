/**
 * Serves the canned web over plain keep-alive HTTP from a process of its own, on another core than the client's.
 * Pages are made before the first request, so that serving costs a look-up. Tells its parent the port, ends with it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CANNED_WEB, htmlOf, pageOf } from './canned-web.js';

let bodies: readonly Buffer[] = [];

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const page = pageOf(request.url ?? '');
  const body = page === null ? undefined : bodies[page];
  if (body === undefined) response.writeHead(404, { 'content-length': 0 }).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length }).end(body);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  bodies = Array.from({ length: CANNED_WEB.pages }, (_, page) => htmlOf(CANNED_WEB, page, port));
  process.send?.({ port });
});
process.on('disconnect', () => process.exit(0));
