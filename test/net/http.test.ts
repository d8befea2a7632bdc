import { PAUSED_MS_MAX } from '../../src/domain/fetching.js';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { guardRules } from '../../src/net/guard.js';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../src/net/http.js';
import type { FetchedResponse, FetchFailure, FetchRequest, FetchResult } from '../../src/domain/fetching.js';
import { judgeTransport } from '../../src/policy/judgement.js';
import { type Misbehaviour, RawServer } from './raw-server.js';

const signal = new AbortController().signal;
const clock = { monotonicMs: () => performance.now() };
const uncaught: unknown[] = [];
const noteUncaught = (error: unknown) => uncaught.push(error);

beforeAll(() => {
  process.on('uncaughtException', noteUncaught);
  process.on('unhandledRejection', noteUncaught);
});
afterEach(() => expect(uncaught.splice(0)).toEqual([]));
afterAll(() => {
  process.off('uncaughtException', noteUncaught);
  process.off('unhandledRejection', noteUncaught);
});

function clientWith(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({
    guard: guardRules(['127.0.0.0/8', '::1']),
    socketsMax: 64,
    keepAliveMs: 4000,
    clock,
    bodyBudgetBytes: 64 * 1024 * 1024,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

async function serverWith(
  onRequest: Misbehaviour,
  options: Parameters<typeof RawServer.start>[1] = {},
): Promise<RawServer> {
  const server = await RawServer.start(onRequest, options);
  onTestFinished(() => server.stop());
  return server;
}

function requestTo(
  server: { port: number },
  change: Partial<FetchRequest> & { path?: string; host?: string } = {},
): FetchRequest {
  const { path = '/', host = 'site.test', ...fields } = change;
  const origin = `http://${host}:${server.port}`;
  return {
    url: origin + path,
    tier: 1,
    origin,
    address: { address: '127.0.0.1', family: 4 },
    headers: [['User-Agent', 'test']],
    deadlineMs: 2000,
    bodyBytesMax: 1024 * 1024,
    headerBytesMax: 64 * 1024,
    cutAtBound: false,
    ...fields,
  };
}

const textOf = (result: FetchResult) => Buffer.from((result as FetchedResponse).body).toString('latin1');
const response = (result: FetchResult): FetchedResponse => {
  expect(result).toMatchObject({ kind: 'response' });
  return result as FetchedResponse;
};
const failure = (result: FetchResult): FetchFailure => {
  expect(result).toMatchObject({ kind: 'failure' });
  return result as FetchFailure;
};
const tick = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ok = (body: string, more = '') => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

describe('an honest exchange', () => {
  it('sends the target and headers as given, and answers with everything as it came', async () => {
    const server = await serverWith((socket) =>
      socket.write('HTTP/1.1 200 Fine enough\r\nX-A: 1\r\nx-a: \xe9\r\nContent-Length: 5\r\n\r\nhello', 'latin1'),
    );
    const client = clientWith();
    const headers = [
      ['User-Agent', 'A/1'],
      ['Accept', '*/*'],
      ['X-Custom', 'caf\xe9'],
    ] as const;
    const result = response(await client.fetch(requestTo(server, { path: '/a%zz/../b?q=%20|#frag', headers }), signal));
    expect(server.requests[0]?.split('\r\n')).toEqual([
      'GET /a%zz/../b?q=%20| HTTP/1.1',
      `host: site.test:${server.port}`,
      'connection: keep-alive',
      'User-Agent: A/1',
      'Accept: */*',
      'X-Custom: caf\xe9',
    ]);
    expect(result).toMatchObject({
      status: 200,
      statusText: 'Fine enough',
      httpVersion: '1.1',
      cut: false,
      remoteAddress: '127.0.0.1',
    });
    expect(result.headers).toEqual([
      ['X-A', '1'],
      ['x-a', '\xe9'],
      ['Content-Length', '5'],
    ]);
    expect(textOf(result)).toBe('hello');
    expect(result.body.buffer.byteLength).toBe(5);
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it('a URL whose host is followed by `?` has the path / (RFC 9112 §3.2.1)', async () => {
    const server = await serverWith((socket) => socket.write(ok('')));
    await clientWith().fetch(requestTo(server, { path: '?test=1' }), signal);
    expect(server.requests[0]).toMatch(/^GET \/\?test=1 HTTP/);
  });

  it('a trailing dot stays in Host', async () => {
    const server = await serverWith((socket) => socket.write(ok('')));
    await clientWith().fetch(requestTo(server, { host: 'site.test.' }), signal);
    expect(server.requests[0]).toContain(`host: site.test.:${server.port}\r\n`);
  });

  it('keeps the connection, by origin and address', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')));
    const client = clientWith();
    for (let i = 0; i < 3; i++) response(await client.fetch(requestTo(server), signal));
    expect(server.connections).toBe(1);
    await client.fetch(requestTo(server, { host: 'other.test' }), signal);
    expect(server.connections).toBe(2);
    expect(client.socketsOpen()).toBe(2);
  });

  it('two at once have a connection each', async () => {
    const server = await serverWith((socket) => setTimeout(() => socket.write(ok('x')), 20));
    const client = clientWith();
    const results = await Promise.all([1, 2].map(() => client.fetch(requestTo(server), signal)));
    expect(results.map(textOf)).toEqual(['x', 'x']);
    expect(server.connections).toBe(2);
    while (server.open.size > 1) await tick(2);
    expect(client.socketsOpen()).toBe(1);
  });

  it.each([
    [
      'chunked',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n',
      'hello',
      '1.1',
    ],
    ['ended by the close', 'HTTP/1.1 200 OK\r\n\r\nhello', 'hello', '1.1'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello', '1.0'],
    [
      'after an early hint',
      'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
      'hello',
      '1.1',
    ],
    ['longer than declared (RFC 9112 §9.2)', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello', 'hel', '1.1'],
    ['with status 999', 'HTTP/1.1 999 Go away\r\nContent-Length: 5\r\n\r\nhello', 'hello', '1.1'],
    ['204 without a body', 'HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n', '', '1.1'],
    ['304 without a body', 'HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n', '', '1.1'],
  ])('reads a body %s', async (_title, bytes, body, httpVersion) => {
    const server = await serverWith((socket) => socket.end(bytes));
    const client = clientWith();
    const result = response(await client.fetch(requestTo(server), signal));
    expect(textOf(result)).toBe(body);
    expect(result.httpVersion).toBe(httpVersion);
    await server.deserted();
    expect(client.socketsOpen()).toBe(0);
  });

  it('joins a long body of odd pieces exactly', async () => {
    const body = Buffer.from(Array.from({ length: 700_001 }, (_, i) => (i * 7) % 251));
    const server = await serverWith(async (socket, request) => {
      const chunked = request.includes('/chunked');
      socket.write(
        `HTTP/1.1 200 OK\r\n${chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`}\r\n\r\n`,
      );
      for (let at = 0, step = 1; at < body.length; at += step, step = (step * 3) % 60_000 || 1) {
        const piece = body.subarray(at, at + step);
        if (chunked) socket.write(`${piece.length.toString(16)}\r\n`);
        socket.write(piece);
        if (chunked) socket.write('\r\n');
      }
      if (chunked) socket.write('0\r\n\r\n');
    });
    const client = clientWith();
    for (const path of ['/chunked', '/plain']) {
      const result = response(await client.fetch(requestTo(server, { path }), signal));
      expect(Buffer.compare(result.body, body)).toBe(0);
      expect(result.body.buffer.byteLength).toBe(body.length);
    }
  });
});

describe('what a server does wrong (S2)', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
  const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const cases: readonly (readonly [title: string, misbehave: Misbehaviour, code: string, status: number | null])[] = [
    ['silence', () => undefined, 'timeout', null],
    ['a dripping header block', (socket) => drip(socket.setNoDelay(), 'H', 20), 'protocol_error', null],
    [
      'a dripping status line',
      (socket) => [...'HTTP/1.1 200 OK and on and on'].forEach((c, i) => setTimeout(() => socket.write(c), i * 40)),
      'timeout',
      null,
    ],
    ['headers and then silence', (socket) => socket.write(head), 'timeout', 200],
    ['a dripping body', (socket) => (socket.write(head), drip(socket, 'x', 20)), 'too_slow', 200],
    ['a short body, closed', (socket) => socket.end(`${head}hello`), 'truncated', 200],
    [
      'a short body, closed as announced',
      (socket) => socket.end(head.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\nhello')),
      'truncated',
      200,
    ],
    [
      'a short body, reset',
      (socket) => (socket.write(`${head}hello`), setTimeout(() => socket.resetAndDestroy(), 20)),
      'connection_reset',
      200,
    ],
    [
      'a body ended by a reset',
      (socket) => (socket.write('HTTP/1.1 200 OK\r\n\r\nhello'), setTimeout(() => socket.resetAndDestroy(), 20)),
      'connection_reset',
      200,
    ],
    ['a bad chunk size', (socket) => socket.write(`${chunkedHead}ZZ\r\nhello\r\n`), 'protocol_error', 200],
    ['no last chunk', (socket) => socket.end(`${chunkedHead}5\r\nhello\r\n`), 'truncated', 200],
    [
      'no last chunk, closed as announced',
      (socket) => socket.end(`${chunkedHead.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}5\r\nhello\r\n`),
      'truncated',
      200,
    ],
    ['an SSH banner', (socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'), 'protocol_error', null],
    ['HTTP/0.9', (socket) => socket.end('<html>hello</html>'), 'protocol_error', null],
    [
      'line feeds only',
      (socket) => socket.write('HTTP/1.1 200 OK\nContent-Length: 5\n\nhello'),
      'not_strict_http',
      null,
    ],
    [
      'an unasked upgrade',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
      'protocol_error',
      null,
    ],
    [
      'a bare 101',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\nwhatever'),
      'protocol_error',
      null,
    ],
    [
      'two equal lengths',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello'),
      'not_strict_http',
      null,
    ],
    [
      'a length and chunks',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      'not_strict_http',
      null,
    ],
    [
      'endless headers',
      (socket) => (socket.write('HTTP/1.1 200 OK\r\n'), drip(socket, `X: ${'y'.repeat(9000)}\r\n`, 1)),
      'header_overflow',
      null,
    ],
    ['endless early answers', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 5), 'timeout', null],
    [
      'an endless body',
      (socket) => (socket.write('HTTP/1.1 200 OK\r\n\r\n'), drip(socket, 'z'.repeat(200_000), 1)),
      'too_large',
      200,
    ],
    ['a close before any answer', (socket) => socket.end(), 'connection_reset', null],
    ['a reset before any answer', (socket) => socket.resetAndDestroy(), 'connection_reset', null],
    ['half a header block, closed', (socket) => socket.end('HTTP/1.1 200 OK\r\nConte'), 'connection_reset', null],
  ];

  it.each(cases)('%s', async (_title, misbehave, code, status) => {
    const server = await serverWith(misbehave);
    const client = clientWith();
    const result = failure(await client.fetch(requestTo(server, { deadlineMs: 300 }), signal));
    expect(result).toMatchObject({ code, status, reusedConnection: false });
    expect(client.socketsOpen()).toBe(0);
    expect(client.bytesHeld()).toBe(0);
    await server.deserted();
    expect(server.requests.length).toBe(1);
  });

  it('a refused connection', async () => {
    const server = await RawServer.start(() => undefined);
    const { port } = server;
    await server.stop();
    const client = clientWith();
    expect(failure(await client.fetch(requestTo({ port }), signal)).code).toBe('connect_failed');
    expect(client.socketsOpen()).toBe(0);
  });

  it('surplus bytes never become the next answer (RFC 9112 §9.2)', async () => {
    const server = await serverWith((socket, _request, count) =>
      socket.write(count === 1 ? ok('a') + ok('poison') : ok('b')),
    );
    const client = clientWith();
    expect(textOf(await client.fetch(requestTo(server), signal))).toBe('a');
    expect(textOf(await client.fetch(requestTo(server), signal))).toBe('b');
    expect(server.connections).toBe(2);
  });
});

describe('bounds at n and n+1 (S2)', () => {
  const body = 'x'.repeat(1000);
  const chunked = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n${body}\r\n0\r\n\r\n`;

  it.each([
    ['declared', ok(body)],
    ['chunked', chunked],
  ])('body, %s', async (_title, bytes) => {
    const server = await serverWith((socket) => socket.write(bytes));
    const client = clientWith();
    expect(response(await client.fetch(requestTo(server, { bodyBytesMax: 1000 }), signal)).body.length).toBe(1000);
    expect(failure(await client.fetch(requestTo(server, { bodyBytesMax: 999 }), signal)).code).toBe('too_large');
  });

  it.each([
    ['declared', ok(body)],
    ['chunked', chunked],
  ])('body cut at its bound, %s', async (_title, bytes) => {
    const server = await serverWith((socket) => socket.write(bytes));
    const client = clientWith();
    const whole = response(await client.fetch(requestTo(server, { bodyBytesMax: 1000, cutAtBound: true }), signal));
    expect([whole.cut, whole.body.length]).toEqual([false, 1000]);
    const cut = response(await client.fetch(requestTo(server, { bodyBytesMax: 999, cutAtBound: true }), signal));
    expect([cut.cut, cut.body.length, cut.body.buffer.byteLength]).toEqual([true, 999, 999]);
    expect(client.socketsOpen()).toBe(0);
    await server.deserted();
  });

  it('header block: names and values together', async () => {
    const server = await serverWith((socket) => socket.write(`HTTP/1.1 204 None\r\nX-Pad: ${'y'.repeat(995)}\r\n\r\n`));
    const client = clientWith();
    expect(response(await client.fetch(requestTo(server, { headerBytesMax: 1000 }), signal)).status).toBe(204);
    expect(failure(await client.fetch(requestTo(server, { headerBytesMax: 999 }), signal)).code).toBe(
      'header_overflow',
    );
  });

  it('sockets: the least recently used idle one gives way', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')));
    const client = clientWith({ socketsMax: 2 });
    for (const host of ['a.test', 'b.test']) await client.fetch(requestTo(server, { host }), signal);
    expect(client.socketsOpen()).toBe(2);
    await client.fetch(requestTo(server, { host: 'a.test' }), signal);
    expect(server.connections).toBe(2);
    await client.fetch(requestTo(server, { host: 'c.test' }), signal);
    while (server.open.size > 2) await tick(2);
    expect(client.socketsOpen()).toBe(2);
    await client.fetch(requestTo(server, { host: 'a.test' }), signal);
    expect(server.connections).toBe(3);
  });
});

describe('P3: what a server asked for', () => {
  const refusal = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\n';
  it.each<[string, string, (socket: Socket) => unknown]>([
    ['cut short', 'truncated', (socket) => socket.end(`${refusal}Content-Length: 9\r\n\r\nx`)],
    [
      'without its last chunk',
      'truncated',
      (socket) => socket.end(`${refusal}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`),
    ],
    [
      'broken off',
      'connection_reset',
      (socket) => socket.write(`${refusal}\r\nx`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    ],
    ['dripping', 'too_slow', (socket) => (socket.write(`${refusal}\r\n`), drip(socket, 'x', 20))],
    ['that never comes', 'timeout', (socket) => socket.write(`${refusal}Content-Length: 9\r\n\r\n`)],
    ['declared too large', 'too_large', (socket) => socket.write(`${refusal}Content-Length: 99999999\r\n\r\n`)],
    [
      'that is too large',
      'too_large',
      (socket) => (socket.write(`${refusal}\r\n`), drip(socket, 'z'.repeat(200_000), 1)),
    ],
  ])('is told though its body is one %s', async (_, code, answer) => {
    const server = await serverWith(answer);
    const client = clientWith();
    const result = failure(await client.fetch({ ...requestTo(server), deadlineMs: 400 }, signal));
    expect(result).toMatchObject({ code, status: 503 });
    expect(result.headers).toContainEqual(['Retry-After', '120']);
    expect(judgeTransport(result, { hadValidators: false, nowWallMs: 0 })).toMatchObject({
      ...{ outcome: 'throttled', next: 'host_waits', delivery: 0, throttle: { retryAfterMs: 120_000 } },
    });
  });
});

describe('kept connections', () => {
  it('one that the server closed while it was idle is replaced, unseen', async () => {
    const server = await serverWith((socket) => socket.end(ok('x')));
    const client = clientWith();
    for (let i = 0; i < 3; i++) {
      expect(textOf(await client.fetch(requestTo(server), signal))).toBe('x');
      await server.deserted();
    }
    expect(server.connections).toBe(3);
    while (client.socketsOpen() > 0) await tick(2);
  });

  it('R3: one that the server closes on the second request is told apart', async () => {
    const server = await serverWith((socket, _request, count) =>
      count === 1 ? socket.write(ok('x')) : socket.destroy(),
    );
    const client = clientWith();
    response(await client.fetch(requestTo(server), signal));
    expect(failure(await client.fetch(requestTo(server), signal))).toMatchObject({
      code: 'connection_reset',
      reusedConnection: true,
    });
    expect(failure(await client.fetch(requestTo(server), signal))).toMatchObject({
      code: 'connection_reset',
      reusedConnection: false,
    });
    expect(server.requests.length).toBe(3);
  });

  it('R3: not when a byte of the answer came', async () => {
    const server = await serverWith((socket, _request, count) =>
      count === 1 ? socket.write(ok('x')) : socket.end('HTT'),
    );
    const client = clientWith();
    response(await client.fetch(requestTo(server), signal));
    expect(failure(await client.fetch(requestTo(server), signal))).toMatchObject({
      code: 'connection_reset',
      reusedConnection: false,
    });
  });

  it('end after keepAliveMs, also when the server would have them longer', async () => {
    const server = await serverWith((socket) => socket.write(ok('x', 'Keep-Alive: timeout=600\r\n')));
    const client = clientWith({ keepAliveMs: 60 });
    response(await client.fetch(requestTo(server), signal));
    await server.deserted();
    while (client.socketsOpen() > 0) await tick(2);
  });
});

describe('S1: only the vetted address', () => {
  it('an address that the guard refuses is never connected to', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')));
    const client = clientWith({ guard: guardRules([]) });
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '0x7f.1', 'localhost', '169.254.169.254']) {
      const result = await client.fetch(requestTo(server, { address: { address, family: 4 } }), signal);
      expect(failure(result).code).toBe('guard_refused');
    }
    expect(server.connections).toBe(0);
    expect(client.socketsOpen()).toBe(0);
  });

  it('a socket that ends up at another address is closed before a request is written', async () => {
    // Connecting to 0.0.0.0 reaches 127.0.0.1, which was not what was vetted.
    const server = await serverWith((socket) => socket.write(ok('x')));
    const client = clientWith({ guard: guardRules(['0.0.0.0/8', '127.0.0.0/8']) });
    const result = await client.fetch(requestTo(server, { address: { address: '0.0.0.0', family: 4 } }), signal);
    expect(failure(result)).toMatchObject({
      code: 'guard_refused',
      detail: 'connected to 127.0.0.1 instead of 0.0.0.0',
    });
    await server.deserted();
    expect(server.requests).toEqual([]);
  });

  it('a name that moved reuses no connection', async () => {
    const server = await serverWith((socket) => socket.write(ok(socket.localAddress ?? '')), { host: '0.0.0.0' });
    const client = clientWith();
    const at = (address: string) => client.fetch(requestTo(server, { address: { address, family: 4 } }), signal);
    expect(response(await at('127.0.0.1')).remoteAddress).toBe('127.0.0.1');
    expect(response(await at('127.0.0.2')).remoteAddress).toBe('127.0.0.2');
    expect(textOf(await at('127.0.0.2'))).toBe('127.0.0.2');
    expect(server.connections).toBe(2);
  });

  it('a rebinding name: the second answer gets no connection, however alive the first one is', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')), { host: '0.0.0.0' });
    const client = clientWith({ guard: guardRules(['127.0.0.1']) });
    response(await client.fetch(requestTo(server, { host: 'rebind.test' }), signal));
    const rebound = requestTo(server, { host: 'rebind.test', address: { address: '127.0.0.2', family: 4 } });
    expect(failure(await client.fetch(rebound, signal)).code).toBe('guard_refused');
    expect(server.connections).toBe(1);
  });

  it('a redirect to a private address is an answer, and followed by nobody', async () => {
    const server = await serverWith((socket) =>
      socket.write(ok('', 'Location: http://169.254.169.254/latest/\r\n').replace('200 OK', '302 Found')),
    );
    const result = response(await clientWith().fetch(requestTo(server), signal));
    expect(result.status).toBe(302);
    expect(server.requests.length).toBe(1);
  });

  it('a URL must be of its origin, and of a scheme that we speak', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')));
    const client = clientWith();
    const request = requestTo(server);
    const foreign = ['http://other.test/', `${request.origin}.evil.test/`, `${request.origin}0/`, 'nonsense'];
    for (const url of foreign)
      expect(failure(await client.fetch({ ...request, url }, signal)).code).toBe('guard_refused');
    const ftp = { ...request, origin: 'ftp://site.test', url: 'ftp://site.test/' };
    expect(failure(await client.fetch(ftp, signal)).code).toBe('unsupported_scheme');
    expect(server.connections).toBe(0);
  });

  it('an IPv6 literal', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')), { host: '::1' });
    const request = requestTo(server, { host: '[::1]', address: { address: '::1', family: 6 } });
    expect(response(await clientWith().fetch(request, signal)).remoteAddress).toBe('::1');
    expect(server.requests[0]).toContain(`host: [::1]:${server.port}`);
  });
});

describe('S4: TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  let identity: { key: string; cert: string };

  beforeAll(() => {
    const at = (name: string) => join(folder, name);
    const subject = ['-subj', '/CN=site.test', '-addext', 'subjectAltName=DNS:site.test,IP:127.0.0.1'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at('key.pem')];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', at('cert.pem'), '-days', '2', ...subject], {
      stdio: 'ignore',
    });
    identity = { key: readFileSync(at('key.pem'), 'utf8'), cert: readFileSync(at('cert.pem'), 'utf8') };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function secure(misbehave: Misbehaviour): Promise<RawServer> {
    const server = await RawServer.startTls(misbehave, identity);
    onTestFinished(() => server.stop());
    return server;
  }
  function secureRequest(server: RawServer, host: string): FetchRequest {
    const origin = `https://${host}:${server.port}`;
    return { ...requestTo(server), origin, url: `${origin}/` };
  }

  it('a certificate that nobody vouches for fails', async () => {
    const server = await secure((socket) => socket.write(ok('x')));
    const client = clientWith();
    expect(failure(await client.fetch(secureRequest(server, 'site.test'), signal)).code).toBe('tls_failed');
    await server.deserted();
    expect(client.socketsOpen()).toBe(0);
    expect(server.requests).toEqual([]);
  });

  it.each(['site.test', 'site.test.', '127.0.0.1'])('`ca` vouches for it: https://%s', async (host) => {
    const server = await secure((socket) => socket.write(ok('x')));
    const client = clientWith({ tls: { ca: identity.cert } });
    for (let i = 0; i < 2; i++) expect(textOf(await client.fetch(secureRequest(server, host), signal))).toBe('x');
    expect(server.connections).toBe(1);
  });

  it('a certificate for another name fails all the same', async () => {
    const server = await secure((socket) => socket.write(ok('x')));
    const client = clientWith({ tls: { ca: identity.cert } });
    const result = failure(await client.fetch(secureRequest(server, 'other.test'), signal));
    expect(result).toMatchObject({ code: 'tls_failed', detail: expect.stringContaining('other.test') });
    expect(server.requests).toEqual([]);
  });

  it('a short body over TLS is truncated, and its socket closed', async () => {
    const server = await secure((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'));
    const client = clientWith({ tls: { ca: identity.cert } });
    expect(failure(await client.fetch(secureRequest(server, 'site.test'), signal)).code).toBe('truncated');
    expect(client.socketsOpen()).toBe(0);
    await server.deserted();
  });

  it('a server that speaks no TLS', async () => {
    const server = await serverWith(() => undefined, { onConnection: (socket) => socket.write('SSH-2.0-x\r\n') });
    const result = await clientWith().fetch(secureRequest(server, 'site.test'), signal);
    expect(failure(result).code).toBe('tls_failed');
  });

  it('a server that never finishes the handshake meets the deadline', async () => {
    const server = await serverWith(() => undefined);
    const client = clientWith();
    const result = await client.fetch({ ...secureRequest(server, 'site.test'), deadlineMs: 150 }, signal);
    expect(failure(result).code).toBe('timeout');
    expect(client.socketsOpen()).toBe(0);
    await server.deserted();
  });

  it('`ca` must be a certificate', () => {
    expect(() => clientWith({ tls: { ca: 'not PEM' } })).toThrow('tls.ca');
  });
});

describe('giving up', () => {
  it('an aborted signal interrupts, and the socket is closed when the result is there', async () => {
    const server = await serverWith((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'));
    const client = clientWith();
    const stop = new AbortController();
    const result = client.fetch(requestTo(server), stop.signal);
    while (client.bytesHeld() === 0) await tick(2);
    stop.abort();
    expect(failure(await result)).toMatchObject({ code: 'interrupted', status: 200 });
    expect(client.socketsOpen()).toBe(0);
    expect(client.bytesHeld()).toBe(0);
    await server.deserted();
  });

  it('while connecting, and before', async () => {
    const client = clientWith({ guard: guardRules(['10.255.255.0/24']) });
    const stop = new AbortController();
    const request = requestTo({ port: 9 }, { address: { address: '10.255.255.1', family: 4 } });
    const result = client.fetch(request, stop.signal);
    stop.abort();
    expect(failure(await result).code).toBe('interrupted');
    expect(failure(await client.fetch(request, stop.signal)).code).toBe('interrupted');
    expect(client.socketsOpen()).toBe(0);
  });

  it('close interrupts what is under way and closes what is kept', async () => {
    const server = await serverWith((socket, _request, count) => count === 1 && socket.write(ok('x')));
    const client = clientWith();
    response(await client.fetch(requestTo(server, { host: 'kept.test' }), signal));
    const waiting = client.fetch(requestTo(server), signal);
    while (server.requests.length < 2) await tick(2);
    await client.close();
    expect(client.socketsOpen()).toBe(0);
    expect(failure(await waiting).code).toBe('interrupted');
    expect(failure(await client.fetch(requestTo(server), signal)).code).toBe('interrupted');
    await server.deserted();
  });
});

describe('S2: the budget of body bytes', () => {
  const MIB = 1024 * 1024;
  const big = ok('x'.repeat(2 * MIB));
  const request = (server: RawServer, host: string, deadlineMs = 5000) =>
    requestTo(server, { host, bodyBytesMax: 4 * MIB, deadlineMs });

  it('is held until it is released', async () => {
    const server = await serverWith((socket) => socket.write(ok('hello')));
    const client = clientWith();
    response(await client.fetch(requestTo(server), signal));
    expect(client.bytesHeld()).toBe(5);
    client.release(5);
    expect(client.bytesHeld()).toBe(0);
  });

  it('pauses sockets until bytes are released, and paused time counts neither for the deadline nor the duration', async () => {
    let last: Socket | undefined;
    const server = await serverWith((socket, request) => {
      last = socket;
      socket.write(request.includes('a.test') ? big : big.slice(0, -1));
    });
    const client = clientWith({ bodyBudgetBytes: 2 * MIB });
    const first = response(await client.fetch(request(server, 'a.test'), signal));
    expect(client.bytesHeld()).toBe(2 * MIB);

    let ended = false;
    const second = client.fetch(request(server, 'b.test', 400), signal).finally(() => {
      ended = true;
    });
    await tick(700);
    expect(ended).toBe(false);
    expect(client.bytesHeld()).toBeLessThanOrEqual(2 * MIB + 64 * 1024);
    client.release(first.body.length);
    await tick(150);
    last?.write('x');
    const result = response(await second);
    expect(result.body.length).toBe(2 * MIB);
    expect(result.durationMs).toBeLessThan(400);
    client.release(result.body.length);
    expect(client.bytesHeld()).toBe(0);
  });

  it('a deadline goes on after the pause', async () => {
    const server = await serverWith((socket, request) =>
      socket.write(
        request.includes('a.test') ? big : `HTTP/1.1 200 OK\r\nContent-Length: ${4 * MIB}\r\n\r\n${'x'.repeat(MIB)}`,
      ),
    );
    const client = clientWith({ bodyBudgetBytes: 2 * MIB });
    const first = response(await client.fetch(request(server, 'a.test'), signal));
    const second = client.fetch(request(server, 'b.test', 200), signal);
    await tick(300);
    client.release(first.body.length);
    expect(failure(await second).code).toBe('too_slow');
    expect(client.bytesHeld()).toBe(0);
    expect(client.socketsOpen()).toBe(1);
  });

  it('P1: a pause has its bound, so that it is known when a request is over at the latest', async () => {
    const server = await serverWith((socket) => socket.write(big));
    let skewMs = 0;
    const clock = { monotonicMs: () => performance.now() + skewMs };
    const client = clientWith({ bodyBudgetBytes: 2 * MIB, clock });
    const first = response(await client.fetch(request(server, 'a.test'), signal));
    const second = client.fetch(request(server, 'b.test'), signal);
    await tick(200);
    skewMs = PAUSED_MS_MAX;
    expect(failure(await second)).toMatchObject({ code: 'interrupted', detail: expect.stringContaining('paused') });
    expect([client.bytesHeld(), client.socketsOpen()]).toEqual([first.body.length, 1]);
  });

  it('half-read bodies never wait for each other for ever', async () => {
    const server = await serverWith((socket) => socket.write(big));
    const client = clientWith({ bodyBudgetBytes: MIB });
    const results = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map(async (name) => {
        const result = response(await client.fetch(request(server, `${name}.test`), signal));
        client.release(result.body.length);
        return result.body.length;
      }),
    );
    expect(results).toEqual(Array(6).fill(2 * MIB));
    expect(client.bytesHeld()).toBe(0);
  });

  it.each([
    ['a reset', (socket: Socket) => socket.resetAndDestroy(), 'connection_reset'],
    ['a close', (socket: Socket) => socket.end(), 'response'],
  ])('%s while paused harms nothing', async (_title, leave, outcome) => {
    let last: Socket | undefined;
    const server = await serverWith((socket, request) => {
      last = socket;
      socket.write(request.includes('a.test') ? big : `HTTP/1.1 200 OK\r\n\r\n${'y'.repeat(40_000)}`);
    });
    const client = clientWith({ bodyBudgetBytes: 2 * MIB });
    const first = response(await client.fetch(request(server, 'a.test'), signal));
    const second = client.fetch(request(server, 'b.test'), signal);
    while (client.bytesHeld() === 2 * MIB) await tick(2);
    if (last !== undefined) leave(last);
    await tick(50);
    client.release(first.body.length);
    const result = await second;
    expect(result.kind === 'response' ? result.kind : result.code).toBe(outcome);
    if (result.kind === 'response') expect(result.body.length).toBe(40_000);
  });

  it('an interrupt while paused closes the socket', async () => {
    const server = await serverWith((socket) => socket.write(big));
    const client = clientWith({ bodyBudgetBytes: 2 * MIB });
    const stop = new AbortController();
    response(await client.fetch(request(server, 'a.test'), signal));
    const second = client.fetch(request(server, 'b.test'), stop.signal);
    while (client.bytesHeld() === 2 * MIB) await tick(2);
    stop.abort();
    expect(failure(await second).code).toBe('interrupted');
    expect(client.bytesHeld()).toBe(2 * MIB);
    expect(client.socketsOpen()).toBe(1);
  });
});

describe('heads for the archive', () => {
  it('are the octets on the wire, each exchange its own, interim answers left out', async () => {
    const heads = [
      'HTTP/1.1 200  Fine\r\nX-oDD:\tone \r\nx-odd: \xe9\r\nContent-Length: 2\r\n\r\n',
      'HTTP/1.1 404 \r\ncontent-LENGTH:2\r\n\r\n',
    ];
    const server = await serverWith((socket, _request, count) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'latin1');
      socket.write(`${heads[count - 1]}ok`, 'latin1');
    });
    const client = clientWith();
    for (const [i, head] of heads.entries()) {
      const answer = response(await client.fetch(requestTo(server, { path: `/${i}` }), signal));
      expect(answer.rawHead).toBe(head);
      expect(answer.sentHead).toBe(`${server.requests[i]}\r\n\r\n`);
      expect(answer.sentHead).toMatch(new RegExp(`^GET /${i} HTTP/1\\.1\\r\\n`));
    }
    expect(server.connections).toBe(1);
  });

  it('are not had where they pass the bound of headers, which counts names and values alone', async () => {
    const value = 'v'.repeat(90);
    const server = await serverWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nA: ${value}\r\nContent-Length: 0\r\n\r\n`);
    });
    const answer = response(await clientWith().fetch(requestTo(server, { headerBytesMax: 110 }), signal));
    expect(answer.rawHead).toBeNull();
    expect(answer.headers[0]).toEqual(['A', value]);
  });
});
