/**
 * A site of the test's own on loopback: linked pages with validators, some in chunks, some compressed, two alike, and
 * heads that no library would write. `touch` changes all validators and no content.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { TrialSite } from './archive-trial.js';

export interface ChangingSite extends TrialSite {
  stop(): Promise<void>;
}

export async function startChangingSite(pages: number): Promise<ChangingSite> {
  let version = 1;
  const server = createServer((request, response) => answer(request, response, pages, version));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seed: `http://127.0.0.1:${(server.address() as AddressInfo).port}/page/0`,
    touch: () => version++,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, pages: number, version: number): void {
  const number = /^\/page\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (number === undefined || Number(number) >= pages) {
    response.writeHead(404).end('not here');
    return;
  }
  const etag = `"${number}-${version}"`;
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, [['ETag', etag]] as never).end();
    return;
  }
  const isCompressed = Number(number) % 3 === 0;
  const text = Buffer.from(pageText(Number(number), pages));
  const body = isCompressed ? gzipSync(text) : text;
  const headers: [string, string][] = [
    ['conTENT-type', 'text/html; charset=utf-8'],
    ['ETag', etag],
    ['X-Twice', 'one'],
    ['x-twice', 'two'],
  ];
  if (isCompressed) headers.push(['Content-Encoding', 'gzip']);
  // Without a length it goes in chunks.
  if (Number(number) % 2 === 0) headers.push(['Content-Length', String(body.length)]);
  response.writeHead(200, headers.flat() as never);
  response.end(body);
}

/** The last two pages are alike. */
function pageText(number: number, pages: number): string {
  const last = pages - 2;
  const own = Math.min(number, last);
  const links = [own * 2 + 1, own * 2 + 2].filter((to) => to < pages);
  const words = Array.from({ length: 400 }, (_, i) => `word${(own * 7919 + i * i * 31) % 9973}`).join(' ');
  const more = own === last ? [] : [pages - 1];
  const anchors = [...links, ...more].map((to) => `<a href="/page/${to}">${to}</a>`);
  return `<!doctype html><title>${own}</title><p>${words}</p>${anchors.join(' ')}`;
}
