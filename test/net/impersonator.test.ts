import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FetchedResponse, FetchFailure, FetchRequest, FetchResult, Header } from '../../src/domain/fetching.js';
import { BROWSERS } from '../../src/domain/tier.js';
import { guardRules } from '../../src/net/guard.js';
import {
  createImpersonator,
  dressed,
  type Impersonator,
  type ImpersonatorOptions,
} from '../../src/net/impersonator.js';
import { authority, type Identity } from './identity.js';
import * as raw from './raw-http2.js';
import { type Misbehaviour, RawServer } from './raw-server.js';

const rootsBefore = process.env['SSL_CERT_FILE'];
const signal = new AbortController().signal;
const clock = { monotonicMs: () => performance.now() };
const trial = authority();
const site: Identity = trial.issue('DNS:site.test,IP:127.0.0.1');
afterAll(() => trial.remove());

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

const OPTIONS: ImpersonatorOptions = {
  browser: 'chrome151',
  from: 'crawler@bot.example',
  guard: guardRules(['127.0.0.0/8', '::1']),
  caFile: trial.caFile,
  clock,
  bodyBudgetBytes: 64 * 1024 * 1024,
};

async function impersonatorWith(options: Partial<ImpersonatorOptions> = {}): Promise<Impersonator> {
  const opened = await createImpersonator({ ...OPTIONS, ...options });
  if (opened.kind === 'unavailable') throw new Error(opened.why);
  onTestFinished(() => opened.impersonator.close());
  return opened.impersonator;
}

async function serverWith(onRequest: Misbehaviour, options: Parameters<typeof RawServer.start>[1] = {}) {
  const server = await RawServer.start(onRequest, options);
  onTestFinished(() => server.stop());
  return server;
}

async function secureServerWith(onRequest: Misbehaviour, identity = site) {
  const server = await RawServer.startTls(onRequest, identity);
  onTestFinished(() => server.stop());
  return server;
}

/** Speaks HTTP/2 alone. */
async function http2ServerWith(onStream: (stream: ServerHttp2Stream, path: string, headers: string[]) => void) {
  const server: Http2SecureServer = createSecureServer({ ...site });
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.on('session', (session) => session.on('error', () => undefined));
  // Node hands the names and values over as they came, in a fourth argument.
  server.on('stream', (stream: ServerHttp2Stream, headers, _flags, ...more: unknown[]) => {
    stream.on('error', () => undefined);
    onStream(stream, String(headers[':path']), more[0] as string[]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return { port: (server.address() as AddressInfo).port, sockets };
}

function requestTo(
  server: { port: number },
  change: Partial<FetchRequest> & { path?: string; host?: string; scheme?: string } = {},
): FetchRequest {
  const { path = '/', host = 'site.test', scheme = 'http', ...fields } = change;
  const origin = `${scheme}://${host}:${server.port}`;
  return {
    url: origin + path,
    tier: 2,
    origin,
    address: { address: '127.0.0.1', family: 4 },
    headers: [],
    deadlineMs: 5000,
    bodyBytesMax: 1024 * 1024,
    headerBytesMax: 64 * 1024,
    cutAtBound: false,
    ...fields,
  };
}

const secure = { scheme: 'https' } as const;
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
const ok = (body: string | Buffer, more = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n`), Buffer.from(body)]);

describe('what is sent', () => {
  it("the browser's own name and headers in its order, with From, and what the request adds before the last", async () => {
    const server = await serverWith((socket) => socket.end(ok('hello')));
    const headers = [
      ['if-none-match', '"e1"'],
      ['cookie', 'a=1; b=2'],
    ] as const;
    const result = response(
      await (await impersonatorWith()).fetch(requestTo(server, { path: '/a?b=%20|#frag', headers }), signal),
    );
    const lines = server.requests[0]?.split('\r\n') ?? [];
    expect(lines[0]).toBe('GET /a?b=%20| HTTP/1.1');
    expect(lines.slice(1).map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      'sec-ch-ua',
      'sec-ch-ua-mobile',
      'sec-ch-ua-platform',
      'upgrade-insecure-requests',
      'user-agent',
      'accept',
      'sec-fetch-site',
      'sec-fetch-mode',
      'sec-fetch-user',
      'sec-fetch-dest',
      'accept-encoding',
      'accept-language',
      'from',
      'if-none-match',
      'cookie',
      'priority',
      'host',
    ]);
    expect(lines).toContain('from: crawler@bot.example');
    expect(lines.find((line) => line.startsWith('user-agent'))).toMatch(/Chrome\/151\.0\.0\.0 Safari/);
    // What the archive is to hold is what went over the wire.
    expect(result.sentHead).toBe(`${server.requests[0]}\r\n\r\n`);
  });

  it('the same over HTTP/2', async () => {
    let sent: string[] = [];
    const server = await http2ServerWith((stream, _path, headers) => {
      sent = headers;
      stream.respond({ ':status': 200 });
      stream.end('hello');
    });
    const result = await (await impersonatorWith()).fetch(
      requestTo(server, { ...secure, headers: [['cookie', 'a=1']] }),
      signal,
    );
    expect(textOf(response(result))).toBe('hello');
    const names = sent.filter((_, i) => i % 2 === 0);
    expect(names.slice(0, 4)).toEqual([':method', ':authority', ':scheme', ':path']);
    expect(names.slice(-3)).toEqual(['from', 'cookie', 'priority']);
  });

  it('what a browser was let in with goes with that one’s name, and with nothing that contradicts it', async () => {
    const server = await serverWith((socket) => socket.end(ok('')));
    const headers = [
      ['user-agent', 'Mozilla/5.0 Chrome/156.0.0.0'],
      ['cookie', 'clearance=1'],
    ] as const;
    await (await impersonatorWith()).fetch(requestTo(server, { headers }), signal);
    expect(server.requests[0]).toContain('\r\nuser-agent: Mozilla/5.0 Chrome/156.0.0.0\r\n');
    expect(server.requests[0]).not.toMatch(/Chrome\/151|sec-ch-ua/);
  });

  it('no From where nobody is to be named', () => {
    const own: Header[] = [
      ['user-agent', 'B/1'],
      ['accept', '*/*'],
    ];
    expect(dressed(own, [['cookie', 'a=1']], null)).toEqual([...own, ['cookie', 'a=1']]);
    expect(dressed(own, [], 'a@b.example')).toEqual([...own, ['from', 'a@b.example']]);
  });

  it('each request has a connection of its own, and it is closed when the answer is told (P2)', async () => {
    const server = await serverWith((socket) => socket.write(ok('x')));
    const impersonator = await impersonatorWith();
    for (let i = 1; i <= 3; i++) {
      response(await impersonator.fetch(requestTo(server), signal));
      expect(impersonator.socketsOpen()).toBe(0);
      await server.deserted();
      expect(server.connections).toBe(i);
    }
  });
});

describe('what comes back', () => {
  it('everything but the order and the spelling of headers', async () => {
    const head =
      'HTTP/1.1 200 OK\r\nX-B: 2\r\nx-a: caf\xe9\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 5\r\n\r\nhello';
    const server = await serverWith((socket) => socket.end(head, 'latin1'));
    const result = response(await (await impersonatorWith()).fetch(requestTo(server), signal));
    expect(result).toMatchObject({
      status: 200,
      statusText: 'OK',
      httpVersion: '1.1',
      rawHead: null,
      cut: false,
      remoteAddress: '127.0.0.1',
    });
    expect(result.headers).toEqual([
      ['content-length', '5'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['x-a', 'caf\xe9'],
      ['x-b', '2'],
    ]);
    expect(textOf(result)).toBe('hello');
    expect(result.body.buffer.byteLength).toBe(5);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('a body in %s is told decoded, and its headers speak of no coding', async (coding, encode) => {
    const server = await serverWith((socket) =>
      socket.end(ok(encode('hello'), `Content-Encoding: ${coding}\r\nETag: "1"\r\n`)),
    );
    const result = response(await (await impersonatorWith()).fetch(requestTo(server), signal));
    expect(textOf(result)).toBe('hello');
    expect(result.headers).toEqual([['etag', '"1"']]);
  });

  it('a redirect is an answer, and followed by nobody (P6)', async () => {
    const server = await serverWith((socket) =>
      socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
    );
    const result = response(await (await impersonatorWith()).fetch(requestTo(server), signal));
    expect(result).toMatchObject({
      status: 302,
      headers: [
        ['content-length', '0'],
        ['location', '/x'],
      ],
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([204, 304, 403, 404, 503])('status %d', async (status) => {
    const server = await serverWith((socket) => socket.end(`HTTP/1.1 ${status} It\r\nConnection: close\r\n\r\n`));
    expect(await (await impersonatorWith()).fetch(requestTo(server), signal)).toMatchObject({
      kind: 'response',
      status,
    });
  });
});

describe('S1, S4: where it connects, and whom it believes', () => {
  it('to the address of the permit, whatever the name is', async () => {
    const server = await serverWith((socket) => socket.end(ok('x')), { host: '127.0.0.5' });
    const request = requestTo(server, { host: 'no-such-name.test', address: { address: '127.0.0.5', family: 4 } });
    expect(response(await (await impersonatorWith()).fetch(request, signal)).remoteAddress).toBe('127.0.0.5');
  });

  it('not to one that the guard refuses', async () => {
    const server = await serverWith((socket) => socket.end(ok('x')));
    const impersonator = await impersonatorWith({ guard: guardRules([]) });
    expect(failure(await impersonator.fetch(requestTo(server), signal))).toMatchObject({
      code: 'guard_refused',
      status: null,
    });
    expect(server.connections).toBe(0);
  });

  it('to an IPv6 literal', async () => {
    const server = await serverWith((socket) => socket.end(ok('six')), { host: '::1' });
    const request = requestTo(server, { host: '[::1]', address: { address: '::1', family: 6 } });
    expect(textOf(response(await (await impersonatorWith()).fetch(request, signal)))).toBe('six');
    expect(server.requests[0]).toContain(`host: [::1]:${server.port}`);
  });

  it('a name with a trailing dot', async () => {
    const server = await secureServerWith((socket) => socket.end(ok('x')));
    expect(
      textOf(
        response(await (await impersonatorWith()).fetch(requestTo(server, { ...secure, host: 'site.test.' }), signal)),
      ),
    ).toBe('x');
  });

  it('a server that `tls.ca` vouches for', async () => {
    const server = await secureServerWith((socket) => socket.end(ok('x')));
    expect(textOf(response(await (await impersonatorWith()).fetch(requestTo(server, secure), signal)))).toBe('x');
  });

  it('not one with a certificate for another name, of another authority, or past its time', async () => {
    const stranger = authority();
    onTestFinished(() => stranger.remove());
    const wrong = [trial.issue('DNS:other.test'), stranger.issue('DNS:site.test'), trial.issue('DNS:site.test', -1)];
    const impersonator = await impersonatorWith();
    for (const identity of wrong) {
      const server = await secureServerWith((socket) => socket.end(ok('x')), identity);
      expect(failure(await impersonator.fetch(requestTo(server, secure), signal)).code).toBe('tls_failed');
      expect(server.requests).toEqual([]);
    }
  });

  it('the variable by which it reads its roots is what it was', () => {
    expect(process.env['SSL_CERT_FILE']).toBe(rootsBefore);
  });

  it('another `tls.ca` in the same process is refused, and says so', async () => {
    const opened = await createImpersonator({ ...OPTIONS, caFile: null });
    expect(opened).toMatchObject({ kind: 'unavailable' });
    expect(opened.kind === 'unavailable' && opened.why).toMatch(/^tier 2 is not available: .*tls\.ca/);
  });
});

describe('what a server does wrong (S2)', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  it.each<[string, string, (socket: Socket) => void]>([
    ['closes at once', 'connection_reset', (socket) => socket.end()],
    ['resets at once', 'connection_reset', (socket) => socket.resetAndDestroy()],
    ['sends a chunk without a size', 'protocol_error', (socket) => socket.end(`${chunked}ZZ\r\nhello\r\n`)],
    ['changes the protocol', 'protocol_error', (socket) => socket.end('HTTP/1.1 101 So\r\nUpgrade: x\r\n\r\n')],
    [
      'ends a coded body too soon',
      'truncated',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 90\r\n\r\nx'),
    ],
    ['says what is not HTTP', 'protocol_error', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['ends in the head', 'connection_reset', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-')],
    [
      'ends before the length',
      'truncated',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'),
    ],
    ['ends before the last chunk', 'truncated', (socket) => socket.end(`${chunked}5\r\nhello\r\n`)],
    [
      'resets in the body',
      'connection_reset',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello');
        setTimeout(() => socket.resetAndDestroy(), 50);
      },
    ],
    ['breaks its coding', 'undecodable', (socket) => socket.end(ok('hello', 'Content-Encoding: gzip\r\n'))],
    [
      'sends headers without end',
      'header_overflow',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const more = () => {
          if (!socket.destroyed) socket.write(`x: ${'y'.repeat(8000)}\r\n`, () => setImmediate(more));
        };
        more();
      },
    ],
  ])('one that %s: %s', async (_title, code, misbehave) => {
    const server = await serverWith(misbehave);
    const impersonator = await impersonatorWith();
    const result = failure(await impersonator.fetch(requestTo(server), signal));
    expect(result.code, result.detail).toBe(code);
    expect(impersonator.socketsOpen()).toBe(0);
    await server.deserted();
  });

  it('nobody listens: connect_failed', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(failure(await (await impersonatorWith()).fetch(requestTo({ port }), signal)).code).toBe('connect_failed');
  });

  it('no TLS where there should be: tls_failed; a connection that closes in the handshake: connect_failed', async () => {
    const impersonator = await impersonatorWith();
    const plain = await serverWith(() => undefined, {
      onConnection: (socket) => socket.write('HTTP/1.1 400 No\r\n\r\n'),
    });
    expect(failure(await impersonator.fetch(requestTo(plain, secure), signal)).code).toBe('tls_failed');
    const shut = await serverWith(() => undefined, {
      onConnection: (socket) => socket.once('data', () => socket.destroy()),
    });
    expect(failure(await impersonator.fetch(requestTo(shut, secure), signal)).code).toBe('connect_failed');
  });

  it.each([
    ['accepts and is silent', 'timeout', undefined],
    ['drips its head', 'timeout', 'HTTP/1.1 200 OK\r\n'],
    ['drips its body', 'too_slow', 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n'],
  ])('one that %s meets the deadline: %s', async (_title, code, head) => {
    const server = await serverWith((socket) => {
      if (head === undefined) return;
      socket.write(head);
      const timer = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const impersonator = await impersonatorWith();
    expect(failure(await impersonator.fetch(requestTo(server, { deadlineMs: 300 }), signal)).code).toBe(code);
    await server.deserted();
    expect(impersonator.bytesHeld()).toBe(0);
  });

  it('bodies at n and n+1, with their length and without', async () => {
    const impersonator = await impersonatorWith();
    for (const [size, isKept] of [
      [1000, true],
      [1001, false],
    ] as const) {
      const body = 'x'.repeat(size);
      const declared = await serverWith((socket) => socket.end(ok(body)));
      const undeclared = await serverWith((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`));
      for (const server of [declared, undeclared]) {
        const result = await impersonator.fetch(requestTo(server, { bodyBytesMax: 1000 }), signal);
        if (isKept) expect(textOf(response(result))).toBe(body);
        else expect(failure(result)).toMatchObject({ code: 'too_large', status: 200 });
        const cut = response(
          await impersonator.fetch(requestTo(server, { bodyBytesMax: 1000, cutAtBound: true }), signal),
        );
        expect([cut.body.length, cut.cut]).toEqual([1000, !isKept]);
      }
    }
  });

  it.each([
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
    ['deflate', (bytes: Buffer) => deflateSync(bytes)],
  ])('a bomb in %s is no more than its bound', async (coding, encode) => {
    const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
    const server = await serverWith((socket) => socket.end(ok(bomb, `Content-Encoding: ${coding}\r\n`)));
    const impersonator = await impersonatorWith();
    const result = failure(await impersonator.fetch(requestTo(server, { bodyBytesMax: 4 * 1024 * 1024 }), signal));
    expect(result).toMatchObject({ code: 'bomb', status: 200 });
    expect(impersonator.bytesHeld()).toBe(0);
  });

  it('what comes over the wire has a bound, whatever is made of it', async () => {
    const server = await secureServerWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      // A byte of body in a record and a chunk of its own: near thirty bytes for one.
      const more = () => {
        if (!socket.destroyed) socket.write('1\r\nx\r\n', () => setImmediate(more));
      };
      more();
    });
    const result = failure(
      await (await impersonatorWith()).fetch(
        requestTo(server, { ...secure, bodyBytesMax: 20_000, headerBytesMax: 1000, deadlineMs: 20_000 }),
        signal,
      ),
    );
    expect(result.code).toBe('too_large');
    expect(result.detail).toMatch(/over the wire/);
  });

  it('header block: names and values together, at n and n+1', async () => {
    const server = await serverWith((socket) => socket.end(`HTTP/1.1 200 OK\r\nabc: ${'y'.repeat(997)}\r\n\r\n`));
    const impersonator = await impersonatorWith();
    response(await impersonator.fetch(requestTo(server, { headerBytesMax: 1000 }), signal));
    expect(failure(await impersonator.fetch(requestTo(server, { headerBytesMax: 999 }), signal)).code).toBe(
      'header_overflow',
    );
  });

  it.each([0, 1, 2, 7, 8, 11])('over HTTP/2: a body that ends with a reset of its stream (%d)', async (code) => {
    const impersonator = await impersonatorWith();
    const reset = (stream: number) => raw.frame(raw.RST_STREAM, 0, stream, raw.number32(code));
    const half = gzipSync('words '.repeat(100)).subarray(0, 30);
    const bodies = [
      [{ 'content-length': '1000' }, Buffer.from('hello')],
      [{ 'content-encoding': 'gzip' }, half],
    ] as const;
    for (const [headers, body] of bodies) {
      const server = await raw.RawHttp2Server.start(site, (socket, stream) =>
        socket.write(Buffer.concat([raw.answer(stream, headers), raw.frame(raw.DATA, 0, stream, body), reset(stream)])),
      );
      onTestFinished(() => server.stop());
      const result = failure(await impersonator.fetch(requestTo(server, secure), signal));
      expect(result.code, result.detail).toMatch(/truncated|undecodable/);
    }
  });

  it('over HTTP/2: a server that refuses, goes away, or breaks off', async () => {
    const goaway = raw.frame(raw.GOAWAY, 0, 0, Buffer.concat([raw.number32(0), raw.number32(0)]));
    const ways: ((socket: Socket, stream: number) => unknown)[] = [
      (socket) => socket.end(),
      (socket) => socket.end(goaway),
      (socket, stream) => socket.write(raw.frame(raw.RST_STREAM, 0, stream, raw.number32(2))),
      (socket, stream) => socket.write(raw.frame(raw.RST_STREAM, 0, stream, raw.number32(13))),
    ];
    const impersonator = await impersonatorWith();
    for (const way of ways) {
      const server = await raw.RawHttp2Server.start(site, way);
      onTestFinished(() => server.stop());
      const result = failure(await impersonator.fetch(requestTo(server, secure), signal));
      expect(result.code, result.detail).toMatch(/connection_reset|protocol_error/);
      expect(result.status).toBeNull();
      // P1: whatever the client makes of it, there is no second connection.
      expect(server.connections).toBe(1);
      await server.deserted();
    }
  });
});

describe('P1, P2: one request, however often the client would ask', () => {
  const refusing = (socket: Socket, stream: number) =>
    socket.write(raw.frame(raw.RST_STREAM, 0, stream, raw.number32(7)));
  const cookie: Header = ['cookie', `a=${'x'.repeat(2_000)}`];

  it.each(BROWSERS)('%s: what is refused unread (REFUSED_STREAM) is not asked for again', async (browser) => {
    const impersonator = await impersonatorWith({ browser });
    for (const maxVersion of ['TLSv1.3', 'TLSv1.2']) {
      for (const headers of [[], [cookie]]) {
        const server = await raw.RawHttp2Server.start({ ...site, maxVersion } as Identity, refusing);
        onTestFinished(() => server.stop());
        const result = failure(await impersonator.fetch(requestTo(server, { ...secure, headers }), signal));
        expect(result).toMatchObject({ code: 'connection_reset', detail: expect.stringContaining('refused unread') });
        expect({ requests: server.requests, connections: server.connections }).toEqual({ requests: 1, connections: 1 });
      }
    }
  });

  it('a server that pings and says its settings twice before it answers is heard out', async () => {
    const impersonator = await impersonatorWith();
    for (const maxVersion of ['TLSv1.3', 'TLSv1.2']) {
      const server = await raw.RawHttp2Server.start({ ...site, maxVersion } as Identity, (socket, stream) => {
        const ping = raw.frame(raw.PING, 0, 0, Buffer.alloc(8));
        socket.write(Buffer.concat([raw.frame(raw.SETTINGS, 0, 0), ping, ping]));
        setTimeout(() => socket.write(raw.answer(stream, {}, raw.END_STREAM)), 50);
      });
      onTestFinished(() => server.stop());
      response(await impersonator.fetch(requestTo(server, secure), signal));
    }
  });

  it('a request of many records is one', async () => {
    const impersonator = await impersonatorWith();
    const server = await raw.RawHttp2Server.start(site, (socket, stream) =>
      socket.write(raw.answer(stream, {}, raw.END_STREAM)),
    );
    onTestFinished(() => server.stop());
    const headers: Header[] = [['cookie', `a=${'~'.repeat(40_000)}`]];
    response(await impersonator.fetch(requestTo(server, { ...secure, headers }), signal));
    expect(server.requests).toBe(1);
  });

  it('known, and not to be told: over HTTP/2 a body without length or coding that a reset without an error ends', async () => {
    const impersonator = await impersonatorWith();
    const server = await raw.RawHttp2Server.start(site, (socket, stream) => {
      const reset = raw.frame(raw.RST_STREAM, 0, stream, raw.number32(0));
      socket.write(Buffer.concat([raw.answer(stream), raw.frame(raw.DATA, 0, stream, Buffer.from('half')), reset]));
    });
    onTestFinished(() => server.stop());
    expect(textOf(response(await impersonator.fetch(requestTo(server, secure), signal)))).toBe('half');
  });
});

describe('giving up', () => {
  it('an aborted signal interrupts, and the socket is closed when the result is there', async () => {
    const server = await serverWith((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello'));
    const impersonator = await impersonatorWith();
    const abort = new AbortController();
    const fetching = impersonator.fetch(requestTo(server), abort.signal);
    while (server.requests.length === 0) await tick(2);
    await tick(20);
    abort.abort();
    expect(failure(await fetching).code).toBe('interrupted');
    expect(impersonator.socketsOpen()).toBe(0);
    await server.deserted();
    expect(failure(await impersonator.fetch(requestTo(server), abort.signal)).code).toBe('interrupted');
  });

  it('close interrupts what is under way', async () => {
    const server = await serverWith(() => undefined);
    const impersonator = await impersonatorWith();
    const fetching = [1, 2, 3].map(() => impersonator.fetch(requestTo(server), signal));
    while (server.requests.length < 3) await tick(2);
    await impersonator.close();
    for (const result of await Promise.all(fetching)) expect(failure(result).code).toBe('interrupted');
    await server.deserted();
  });

  it('a URL must be of its origin, and of a scheme that we speak', async () => {
    const server = await serverWith(() => undefined);
    const impersonator = await impersonatorWith();
    const request = requestTo(server);
    expect(failure(await impersonator.fetch({ ...request, url: 'http://other.test/' }, signal)).code).toBe(
      'guard_refused',
    );
    expect(failure(await impersonator.fetch({ ...request, origin: 'ftp://site.test' }, signal)).code).toBe(
      'unsupported_scheme',
    );
    expect(server.connections).toBe(0);
  });
});

describe('the budget of body bytes (S2)', () => {
  it('is held until it is released, and bodies wait for it', async () => {
    const server = await serverWith((socket) => socket.end(ok('x'.repeat(600_000))));
    const impersonator = await impersonatorWith({ bodyBudgetBytes: 500_000 });
    const first = response(await impersonator.fetch(requestTo(server), signal));
    expect(impersonator.bytesHeld()).toBe(600_000);
    let isDone = false;
    const second = impersonator.fetch(requestTo(server), signal).finally(() => {
      isDone = true;
    });
    while (impersonator.bytesHeld() === 600_000) await tick(2);
    await tick(50);
    expect(isDone).toBe(false);
    impersonator.release(first.body.length);
    expect(response(await second).body.length).toBe(600_000);
    impersonator.release(600_000);
    expect(impersonator.bytesHeld()).toBe(0);
  });
});

describe('without it', () => {
  it('there is a sentence that says why, and no port', async () => {
    const opened = await createImpersonator(OPTIONS, () =>
      Promise.reject(new Error("Cannot find package 'impit'\nImported from")),
    );
    expect(opened).toEqual({
      kind: 'unavailable',
      why: "tier 2 is not available: the package impit could not be loaded (Cannot find package 'impit')",
    });
  });

  it('a client that passes for another browser than it was told to is not used', async () => {
    const { Impit } = await import('impit');
    class Older extends (Impit as new (options: object) => object) {
      constructor(options: object) {
        super({ ...options, browser: 'chrome124' });
      }
    }
    const opened = await createImpersonator(OPTIONS, () => Promise.resolve({ Impit: Older as never }));
    expect(opened).toMatchObject({
      kind: 'unavailable',
      why: expect.stringMatching(/names itself .*Chrome\/124.* for chrome151/),
    });
  });
});
