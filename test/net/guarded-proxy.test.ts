/** S1, S2: what a browser connects to goes through the guard, to the very address that was vetted, within bounds. */
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Resolution } from '../../src/domain/fetching.js';
import { secureContextOf } from '../../src/net/connect.js';
import { guardRules } from '../../src/net/guard.js';
import { type GuardedProxy, type GuardedProxyOptions, openGuardedProxy } from '../../src/net/guarded-proxy.js';

const HERE: Resolution = { kind: 'addresses', addresses: [{ address: '127.0.0.1', family: 4 }], expiresInMs: 1_000 };
const trust = { guard: guardRules(['127.0.0.1/32']), secureContext: secureContextOf(undefined) };

interface Told {
  readonly status: number | null;
  readonly body: string;
}

describe('guarded proxy', () => {
  let site: Server;
  let port: number;
  let seen: IncomingMessage[];
  const open: GuardedProxy[] = [];

  beforeEach(async () => {
    seen = [];
    site = createServer((asked, answer) => {
      seen.push(asked);
      answer.setHeader('x-site', 'here').end(asked.url === '/big' ? Buffer.alloc(200_000, 'x') : 'hello');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    port = (site.address() as AddressInfo).port;
  });

  afterEach(async () => {
    for (const proxy of open.splice(0)) await proxy.close();
    site.closeAllConnections();
    site.close();
  });

  async function proxied(answers: Record<string, Resolution> = {}, changes: Partial<GuardedProxyOptions> = {}) {
    const names = {
      resolve: async (host: string): Promise<Resolution> =>
        answers[host] ?? { kind: 'failed', code: 'dns_not_found', detail: 'no such name', expiresInMs: 0 },
    };
    const proxy = await openGuardedProxy({ trust, names, connectionsMax: 5, bytesMax: 100_000, ...changes });
    open.push(proxy);
    return proxy;
  }

  function get(proxy: GuardedProxy, url: string, headers: Record<string, string> = {}): Promise<Told> {
    return new Promise((resolve) => {
      const { hostname, port: proxyPort } = new URL(proxy.url);
      const asked = request({
        host: hostname,
        port: proxyPort,
        path: url,
        headers: { host: new URL(url).host, ...headers },
      });
      asked.on('error', () => resolve({ status: null, body: '' }));
      asked.on('response', (response) => {
        let body = '';
        const told = (): void => resolve({ status: response.statusCode ?? null, body });
        response.setEncoding('latin1').on('data', (text: string) => (body += text));
        response.on('end', told).on('error', () => resolve({ status: null, body }));
      });
      asked.end();
    });
  }

  /** The proxy's status to a CONNECT that it does not open. */
  function tunnel(proxy: GuardedProxy, authority: string): Promise<Told> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
      let text = '';
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
      });
      socket.on('error', () => {});
      socket.on('close', () =>
        resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) || null, body: text }),
      );
    });
  }

  it('passes a request on to the address that the name stands for, without what is said to proxies', async () => {
    const proxy = await proxied({ 'a.test': HERE });
    const told = await get(proxy, `http://a.test:${port}/x?y=1`, {
      'proxy-authorization': 'Basic eA==',
      cookie: 'a=1',
    });
    expect(told).toEqual({ status: 200, body: 'hello' });
    expect(seen[0]?.url).toBe('/x?y=1');
    expect(seen[0]?.headers).toMatchObject({ host: `a.test:${port}`, cookie: 'a=1' });
    expect(seen[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(proxy.spent()).toEqual({ connections: 1, bytes: 5 });
  });

  /** A site that says back what it hears, and a client that says all of `said` after or with its CONNECT. */
  async function echoed(said: string, isAtOnce = false): Promise<{ proxy: GuardedProxy; heard: string; body: string }> {
    let heard = '';
    const echo = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        heard += bytes.toString('latin1');
        socket.end(bytes);
      });
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const proxy = await proxied({ 'a.test': HERE });
    const opening = `CONNECT a.test:${(echo.address() as AddressInfo).port} HTTP/1.1\r\n\r\n`;
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    let body = '';
    socket.write(isAtOnce ? opening + said : opening, 'latin1');
    socket.once('data', () => void (isAtOnce || socket.write(said, 'latin1')));
    socket.on('error', () => {}).on('data', (bytes) => (body += bytes.toString('latin1')));
    await new Promise((resolve) => socket.on('close', resolve));
    echo.close();
    return { proxy, heard, body };
  }

  it.each([
    ['after the answer', false],
    ['with the request', true],
  ])('opens tunnels for TLS, said %s, and counts what comes through them', async (_when, isAtOnce) => {
    const hello = '\x16\x03\x01 a hello';
    const { proxy, heard, body } = await echoed(hello, isAtOnce);
    expect(body).toMatch(/^HTTP\/1\.1 200 /);
    expect(heard).toBe(hello);
    expect(body.endsWith(`\r\n\r\n${hello}`)).toBe(true);
    expect(proxy.spent()).toEqual({ connections: 1, bytes: hello.length });
  });

  it('S1: nothing else goes through a tunnel: no socket of a page’s script, no other protocol', async () => {
    const { proxy, heard } = await echoed('GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n\r\n');
    expect(heard).toBe('');
    expect(proxy.refusals).toEqual(['a.test: a tunnel for something else than TLS']);
  });

  it.each(['http://127.0.0.2:80/', 'http://169.254.169.254/latest', 'http://[::1]/', 'http://10.0.0.1/'])(
    'S1: %s is refused, without an answer that could be taken for the site’s',
    async (url) => {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      const family = host.includes(':') ? 6 : 4;
      const proxy = await proxied({
        [host]: { kind: 'addresses', addresses: [{ address: host, family }], expiresInMs: 1 },
      });
      expect(await get(proxy, url)).toEqual({ status: null, body: '' });
      expect(proxy.refusals).toHaveLength(1);
    },
  );

  it('S1: a name that the resolver refuses is refused, in tunnels too; one that is not there is none of the guard’s', async () => {
    const proxy = await proxied({ 'in.test': { kind: 'refused', detail: 'private', expiresInMs: 1 } });
    expect((await tunnel(proxy, 'in.test:443')).status).toBe(403);
    expect(proxy.refusals).toEqual(['in.test: private']);
    expect((await tunnel(proxy, 'gone.test:443')).status).toBe(502);
    expect(proxy.refusals).toHaveLength(1);
  });

  it('the host of the visit is connected to at the address of its permit, whatever its name stands for now', async () => {
    const pinned = { host: 'a.test', address: { address: '127.0.0.1', family: 4 } as const };
    const proxy = await proxied({ 'a.test': { kind: 'refused', detail: 'moved', expiresInMs: 1 } }, { pinned });
    expect((await get(proxy, `http://a.test:${port}/`)).status).toBe(200);
  });

  it.each([
    ['at the bound all pass', 2, 2],
    ['one beyond it is refused', 1, 1],
  ])('S2: connections: %s', async (_what, connectionsMax, passed) => {
    const proxy = await proxied({ 'a.test': HERE }, { connectionsMax });
    const told = [await get(proxy, `http://a.test:${port}/`), await get(proxy, `http://a.test:${port}/`)];
    expect(told.filter(({ status }) => status === 200)).toHaveLength(passed);
    expect(proxy.refusals).toHaveLength(2 - passed);
  });

  it('S2: over its bytes the whole visit is cut', async () => {
    const proxy = await proxied({ 'a.test': HERE });
    const { status, body } = await get(proxy, `http://a.test:${port}/big`);
    expect(status).toBeNull();
    expect(body.length).toBeLessThan(200_000);
    expect(proxy.refusals[0]).toContain('100000 bytes');
    expect(await get(proxy, `http://a.test:${port}/`)).toEqual({ status: null, body: '' });
    expect(seen).toHaveLength(1);
  });

  it.each(['', 'a.test', 'a.test:0', 'a.test:65536', 'user@a.test:80', 'a.test:80:80', '[::1:80'])(
    'a tunnel to %j is a bad request',
    async (authority) => {
      const proxy = await proxied({ 'a.test': HERE });
      expect([400, null]).toContain((await tunnel(proxy, authority)).status);
      expect(proxy.spent().connections).toBe(0);
    },
  );

  it('what is under way ends with it', async () => {
    const proxy = await proxied({ 'a.test': HERE });
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    await proxy.close();
    await closed;
    expect(seen).toEqual([]);
  });
});
