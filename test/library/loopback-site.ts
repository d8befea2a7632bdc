/** A site of this process: pages that lead to each other in a tree, and what a test adds. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConfigOptions } from '../../src/index.js';

export interface LoopbackSite {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** Paths that were asked for, robots.txt apart. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** @param answer for the paths that it names; every other one of digits is a page of the tree. */
export async function openSite(
  answers: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {},
  pages = 1_000_000,
): Promise<LoopbackSite> {
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(path);
    const answer = answers[path];
    if (answer !== undefined) return void response.setHeader('content-type', answer.type).end(answer.body);
    response.setHeader('content-type', 'text/html; charset=utf-8').end(treePage(Number(path.slice(1)), pages));
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function treePage(number: number, pages: number): string {
  const children = [2 * number + 1, 2 * number + 2].filter((child) => child < pages);
  const links = children.map((child) => `<a href="/${child}" rel="next">page ${child}</a>`).join(' ');
  return `<!doctype html><title>Page ${number}</title><p>Words of page ${number}. ${links}`;
}

/** No delays: the site is ours. */
export const AT_ONCE: ConfigOptions = {
  userAgent: 'ExampleBot/1.0',
  guard: { allow: ['127.0.0.0/8'] },
  politeness: { delayMs: 0, adaptiveFactor: 0, addressDelayMs: 0 },
  page: { threads: 1 },
  waitSeconds: 0,
  seen: { expectedUrls: 1_000 },
};
