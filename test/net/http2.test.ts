/** HTTP/2 where a server chooses it, against servers that speak it well and ones that do not. */
import fc from 'fast-check';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { HttpClient } from '../../src/net/http.js';
import {
  type Asking,
  clientWith as plainClientWith,
  expectNothingUncaught,
  failure,
  requestTo,
  response,
  signal,
  textOf,
  tick,
} from './asking.js';
import { authority } from './identity.js';
import * as raw from './raw-http2.js';
import { RawServer } from './raw-server.js';

expectNothingUncaught({ beforeAll, afterEach, afterAll });

const trial = authority();
const site = trial.issue('DNS:site.test,DNS:other.test,IP:127.0.0.1,IP:::1');
afterAll(() => trial.remove());

const clientWith: typeof plainClientWith = (options) => plainClientWith({ tls: { ca: trial.ca }, ...options });
const secure = (server: { readonly port: number }, change: Asking = {}) =>
  requestTo(server, { scheme: 'https', ...change });

async function serverWith(misbehave: raw.Http2Misbehaviour, greeting?: Buffer | null) {
  const server = await raw.RawHttp2Server.start(site, misbehave, greeting);
  onTestFinished(() => server.stop());
  return server;
}

const data = (stream: number, text: string | Buffer, flags = 0) =>
  raw.frame(raw.DATA, flags, stream, Buffer.from(text));
const reset = (stream: number, code: number) => raw.frame(raw.RST_STREAM, 0, stream, raw.number32(code));
const goaway = (last: number, code: number) =>
  raw.frame(raw.GOAWAY, 0, 0, Buffer.concat([raw.number32(last), raw.number32(code)]));
const whole = (stream: number, text: string, headers = {}) =>
  Buffer.concat([raw.answer(stream, headers), data(stream, text, raw.END_STREAM)]);
/** A header block over as many frames as it takes. */
function block(stream: number, fields: Buffer, flags = 0): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < fields.length; at += 16_000) {
    const isLast = at + 16_000 >= fields.length;
    const type = at === 0 ? raw.HEADERS : raw.CONTINUATION;
    parts.push(
      raw.frame(
        type,
        (isLast ? raw.END_HEADERS : 0) | (at === 0 ? flags : 0),
        stream,
        fields.subarray(at, at + 16_000),
      ),
    );
  }
  return Buffer.concat(parts);
}

describe('HTTP/2, an honest exchange', () => {
  it('is spoken where the server chooses it, and HTTP/1.1 where it does not', async () => {
    const client = clientWith();
    const modern = await serverWith((socket, stream) => socket.write(whole(stream, 'two')));
    const older = await RawServer.startTls(
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none'),
      site,
    );
    onTestFinished(() => older.stop());
    expect(response(await client.fetch(secure(modern), signal))).toMatchObject({ httpVersion: '2', status: 200 });
    expect(response(await client.fetch(secure(older), signal))).toMatchObject({ httpVersion: '1.1', status: 200 });
  });

  it('is not offered where it is switched off', async () => {
    const server = await serverWith((socket, stream) => socket.write(whole(stream, 'two')));
    failure(await clientWith({ http2: false }).fetch(secure(server, { deadlineMs: 200 }), signal));
    expect(server.requests).toBe(0);
  });

  it('answers with everything as it came, but for heads, which there are none of', async () => {
    const headers = { 'x-a': 'caf\xe9', 'set-cookie': 'a=1', 'content-length': '5' };
    const server = await serverWith((socket, stream) => socket.write(whole(stream, 'hello', headers)));
    const result = response(await clientWith().fetch(secure(server), signal));
    expect(result).toMatchObject({
      statusText: '',
      httpVersion: '2',
      rawHead: null,
      sentHead: null,
      cut: false,
      remoteAddress: '127.0.0.1',
    });
    expect(result.headers).toEqual(Object.entries(headers));
    expect(textOf(result)).toBe('hello');
    expect(result.body.buffer.byteLength).toBe(5);
  });

  it('interim answers are passed over, trailers left', async () => {
    const server = await serverWith((socket, stream) => {
      const early = raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ ':status': '103', link: '</x>' }));
      const trailer = raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, stream, raw.fields({ 'x-end': '1' }));
      socket.write(Buffer.concat([early, early, raw.answer(stream), data(stream, 'hello'), trailer]));
    });
    const result = response(await clientWith().fetch(secure(server), signal));
    expect([result.status, result.headers, textOf(result)]).toEqual([200, [], 'hello']);
  });

  it('P1: one request at a time on a connection; the next one takes the same, two at once take two', async () => {
    const server = await serverWith((socket, stream) => setTimeout(() => socket.write(whole(stream, 'x')), 10));
    const client = clientWith();
    for (let i = 0; i < 3; i++) response(await client.fetch(secure(server), signal));
    expect([server.connections, server.requests]).toEqual([1, 3]);
    await Promise.all([1, 2].map(() => client.fetch(secure(server), signal)));
    expect(server.connections).toBe(2);
    while (client.socketsOpen() > 1) await tick(2);
  });

  it('S1: a connection serves no other name, although its certificate would', async () => {
    const server = await serverWith((socket, stream) => socket.write(whole(stream, 'x')));
    const client = clientWith();
    await client.fetch(secure(server), signal);
    await client.fetch(secure(server, { host: 'other.test' }), signal);
    expect(server.connections).toBe(2);
  });

  it.each(['empty', 'headers alone'])('a body that is %s', async (how) => {
    const server = await serverWith((socket, stream) =>
      socket.write(how === 'empty' ? whole(stream, '') : raw.answer(stream, {}, raw.END_STREAM)),
    );
    expect(textOf(response(await clientWith().fetch(secure(server), signal)))).toBe('');
  });

  it('304 with the length of what it does not have', async () => {
    const server = await serverWith((socket, stream) =>
      socket.write(
        raw.frame(
          raw.HEADERS,
          raw.END_HEADERS | raw.END_STREAM,
          stream,
          raw.fields({ ':status': '304', 'content-length': '99' }),
        ),
      ),
    );
    expect(response(await clientWith().fetch(secure(server), signal)).status).toBe(304);
  });

  it('any body in any pieces is joined exactly, padding left out', async () => {
    const client = clientWith();
    let pieces: readonly (readonly [Buffer, number])[] = [];
    const server = await serverWith((socket, stream) => {
      socket.write(raw.answer(stream));
      for (const [piece, padding] of pieces) {
        const payload = Buffer.concat([Buffer.from([padding]), piece, Buffer.alloc(padding)]);
        socket.write(raw.frame(raw.DATA, raw.PADDED, stream, payload));
      }
      socket.write(data(stream, '', raw.END_STREAM));
    });
    const piece = fc.tuple(
      fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
      fc.nat(255),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (drawn) => {
        pieces = drawn;
        const body = response(await client.fetch(secure(server), signal)).body;
        client.release(body.length);
        expect(Buffer.from(body).equals(Buffer.concat(drawn.map(([it]) => it)))).toBe(true);
      }),
      { numRuns: 40 },
    );
    expect(server.connections).toBe(1);
  });
});

describe('HTTP/2, what a server does wrong (S2)', () => {
  const cases: readonly (readonly [
    title: string,
    misbehave: raw.Http2Misbehaviour,
    code: string,
    status: number | null,
  ])[] = [
    ['silence', () => undefined, 'timeout', null],
    ['headers and then silence', (socket, stream) => socket.write(raw.answer(stream)), 'timeout', 200],
    [
      'a stall in the body',
      (socket, stream) => socket.write(Buffer.concat([raw.answer(stream), data(stream, 'x')])),
      'too_slow',
      200,
    ],
    [
      'a dripping body',
      (socket, stream) => {
        socket.write(raw.answer(stream));
        drip(socket, data(stream, 'x'));
      },
      'too_slow',
      200,
    ],
    [
      'empty frames without end',
      (socket, stream) => {
        socket.write(raw.answer(stream));
        drip(socket, Buffer.concat(Array.from({ length: 50 }, () => data(stream, ''))));
      },
      'timeout',
      200,
    ],
    [
      'early answers without end',
      (socket, stream) =>
        drip(socket, raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ ':status': '103' }))),
      'timeout',
      null,
    ],
    ['pings without end', (socket) => drip(socket, raw.frame(raw.PING, 0, 0, Buffer.alloc(8))), 'timeout', null],
    ...[0, 2, 8, 11].map(
      (code) =>
        [
          `a reset before any answer (${code})`,
          (socket, stream) => socket.write(reset(stream, code)),
          'connection_reset',
          null,
        ] as const satisfies Case,
    ),
    ['a refused stream', (socket, stream) => socket.write(reset(stream, 7)), 'connection_reset', null],
    [
      'a request that can not be understood',
      (socket, stream) => socket.write(reset(stream, 1)),
      'protocol_error',
      null,
    ],
    ['a wish for HTTP/1.1', (socket, stream) => socket.write(reset(stream, 13)), 'protocol_error', null],
    ...[0, 2, 7, 8, 11].map(
      (code) =>
        [
          `a body ended by a reset (${code})`,
          (socket, stream) =>
            socket.write(Buffer.concat([raw.answer(stream), data(stream, 'hello'), reset(stream, code)])),
          'truncated',
          200,
        ] as const satisfies Case,
    ),
    [
      'a body ended by a reset, later',
      (socket, stream) => {
        socket.write(Buffer.concat([raw.answer(stream), data(stream, 'hello')]));
        setTimeout(() => socket.write(reset(stream, 0)), 30);
      },
      'truncated',
      200,
    ],
    [
      'a body ended by a close',
      (socket, stream) => socket.end(Buffer.concat([raw.answer(stream), data(stream, 'hello')])),
      'truncated',
      200,
    ],
    [
      'a body shorter than declared',
      (socket, stream) => socket.write(whole(stream, 'hello', { 'content-length': '9' })),
      'truncated',
      200,
    ],
    [
      'a body longer than declared',
      (socket, stream) => socket.write(whole(stream, 'hello', { 'content-length': '2' })),
      'truncated|protocol_error',
      200,
    ],
    ['a close before any answer', (socket) => socket.end(), 'connection_reset', null],
    ['going away from this request', (socket) => socket.write(goaway(0, 0)), 'connection_reset|protocol_error', null],
    [
      'going away with an error',
      (socket, stream) => socket.write(Buffer.concat([raw.answer(stream), goaway(stream, 2)])),
      'truncated',
      200,
    ],
    [
      'HTTP/1.1 after all',
      (socket) => socket.write('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
      'timeout|protocol_error',
      null,
    ],
    [
      // The library says so to the server, and waits for it to close: with one that does not, that is until the deadline.
      'a frame beyond the bound of frames',
      (socket, stream) => socket.write(raw.frame(raw.DATA, 0, stream, Buffer.alloc(20_000))),
      'timeout|protocol_error',
      null,
    ],
    [
      'a field of a connection (RFC 9113 §8.2.2)',
      (socket, stream) => socket.write(whole(stream, 'x', { connection: 'close' })),
      'protocol_error',
      null,
    ],
    [
      'a name in capitals (RFC 9113 §8.2.1)',
      (socket, stream) => socket.write(whole(stream, 'x', { 'X-Up': '1' })),
      'protocol_error',
      null,
    ],
    [
      'no status (RFC 9113 §8.3.2)',
      (socket, stream) => socket.write(raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ x: 'y' }))),
      'protocol_error',
      null,
    ],
    [
      'status 101 (RFC 9113 §8.6)',
      (socket, stream) =>
        socket.write(raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ ':status': '101' }))),
      'protocol_error',
      null,
    ],
    [
      'a push that nobody allowed',
      (socket, stream) =>
        socket.write(
          raw.frame(
            5,
            raw.END_HEADERS,
            stream,
            Buffer.concat([
              raw.number32(2),
              raw.fields({ ':method': 'GET', ':path': '/', ':scheme': 'https', ':authority': 'site.test' }),
            ]),
          ),
        ),
      'protocol_error',
      null,
    ],
    [
      'a broken header block (RFC 7541)',
      (socket, stream) =>
        socket.write(raw.frame(raw.HEADERS, raw.END_HEADERS, stream, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))),
      'timeout|protocol_error',
      null,
    ],
    [
      'continuations without end',
      (socket, stream) => {
        socket.write(raw.frame(raw.HEADERS, 0, stream, raw.fields({ ':status': '200' })));
        for (let i = 0; i < 3000; i++) socket.write(raw.frame(raw.CONTINUATION, 0, stream));
      },
      'protocol_error',
      null,
    ],
    [
      'an endless body',
      (socket, stream) => {
        socket.write(raw.answer(stream));
        drip(socket, Buffer.concat(Array.from({ length: 10 }, () => data(stream, 'z'.repeat(16_000)))), 1);
      },
      'too_large',
      200,
    ],
    [
      'a body that is declared too large',
      (socket, stream) => socket.write(raw.answer(stream, { 'content-length': '2000000' })),
      'too_large',
      200,
    ],
  ];
  type Case = (typeof cases)[number];

  it.each(cases)('%s', async (_title, misbehave, code, status) => {
    const server = await serverWith(misbehave);
    const client = clientWith();
    const result = failure(await client.fetch(secure(server, { deadlineMs: 300, bodyBytesMax: 100_000 }), signal));
    expect(result, result.detail).toMatchObject({
      code: expect.stringMatching(new RegExp(`^(?:${code})$`)),
      status,
      reusedConnection: false,
    });
    expect(client.socketsOpen()).toBe(0);
    expect(client.bytesHeld()).toBe(0);
    await server.deserted();
    expect(server.requests).toBe(1);
  });

  it('a reset of the whole connection', async () => {
    for (const begins of [true, false]) {
      const inner = await serverWith((socket, stream) => {
        if (begins) socket.write(Buffer.concat([raw.answer(stream), data(stream, 'hello')]));
        setTimeout(() => relay.resets(), 50);
      });
      const relay = await relayTo(inner.port);
      const result = failure(await clientWith().fetch(secure(relay), signal));
      expect(result).toMatchObject({ code: 'connection_reset', status: begins ? 200 : null });
    }
  });

  it('a server that greets with HTTP/1.1 after choosing HTTP/2', async () => {
    const server = await serverWith(() => undefined, Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(failure(await clientWith().fetch(secure(server), signal))).toMatchObject({
      code: 'protocol_error',
      status: null,
    });
  });

  it('who chooses HTTP/2 and does not master it is asked in HTTP/1.1 the next time', async () => {
    const server = await serverWith((socket, stream) => socket.write(whole(stream, 'x', { connection: 'close' })));
    const client = clientWith();
    expect(failure(await client.fetch(secure(server), signal)).code).toBe('protocol_error');
    await client.fetch(secure(server, { deadlineMs: 200 }), signal);
    expect([server.connections, server.requests]).toEqual([2, 1]);
  });

  it('a window that is never opened holds up a large request alone; ours are none', async () => {
    const settings = Buffer.from([0, 4, 0, 0, 0, 0]);
    const server = await serverWith(
      (socket, stream) => socket.write(whole(stream, 'x')),
      raw.frame(raw.SETTINGS, 0, 0, settings),
    );
    response(await clientWith().fetch(secure(server), signal));
  });

  it('a server that allows no stream at all meets the deadline', async () => {
    const settings = Buffer.from([0, 3, 0, 0, 0, 0]);
    const server = await serverWith(
      (socket, stream) => socket.write(whole(stream, 'x')),
      raw.frame(raw.SETTINGS, 0, 0, settings),
    );
    const client = clientWith();
    // The first request goes out before the settings come; those after it find them.
    await client.fetch(secure(server, { deadlineMs: 200 }), signal);
    expect(failure(await client.fetch(secure(server, { deadlineMs: 200 }), signal)).code).toBe('timeout');
    expect(client.socketsOpen()).toBe(0);
  });
});

describe('HTTP/2, bounds at n and n+1 (S2)', () => {
  it.each([true, false])('body, its length declared: %s', async (isDeclared) => {
    const body = 'x'.repeat(1000);
    const server = await serverWith((socket, stream) =>
      socket.write(whole(stream, body, isDeclared ? { 'content-length': '1000' } : {})),
    );
    const client = clientWith();
    expect(response(await client.fetch(secure(server, { bodyBytesMax: 1000 }), signal)).body.length).toBe(1000);
    expect(failure(await client.fetch(secure(server, { bodyBytesMax: 999 }), signal)).code).toBe('too_large');
    const cut = response(await client.fetch(secure(server, { bodyBytesMax: 999, cutAtBound: true }), signal));
    expect([cut.cut, cut.body.length]).toEqual([true, 999]);
    const uncut = response(await client.fetch(secure(server, { bodyBytesMax: 1000, cutAtBound: true }), signal));
    expect([uncut.cut, uncut.body.length]).toEqual([false, 1000]);
  });

  it('20 MB against a bound of 1 MB: no more of it is held than the bound', async () => {
    const piece = Buffer.alloc(16_000, 'x');
    const server = await serverWith(async (socket, stream) => {
      socket.write(raw.answer(stream));
      for (let sent = 0; sent < 20e6 && !socket.destroyed; sent += piece.length) {
        if (!socket.write(data(stream, piece)))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
      }
    });
    const client = clientWith();
    expect(failure(await client.fetch(secure(server, { bodyBytesMax: 1e6 }), signal)).code).toBe('too_large');
    expect(client.bytesHeld()).toBe(0);
  });

  it('header list: names and values together', async () => {
    const server = await serverWith((socket, stream) =>
      socket.write(whole(stream, 'x', { 'x-pad': 'y'.repeat(1995) })),
    );
    const client = clientWith();
    expect(response(await client.fetch(secure(server, { headerBytesMax: 2000 }), signal)).status).toBe(200);
    expect(failure(await client.fetch(secure(server, { headerBytesMax: 1999 }), signal)).code).toBe('header_overflow');
  });

  it('header list: many small ones, and large ones over many frames', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`h${i}`, 'v'.repeat(20)]));
    const large = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`h${i}`, 'v'.repeat(15_000)]));
    for (const headers of [many, large]) {
      const server = await serverWith((socket, stream) =>
        socket.write(block(stream, raw.fields({ ':status': '200', ...headers }), raw.END_STREAM)),
      );
      const client = clientWith();
      const result = failure(await client.fetch(secure(server), signal));
      expect(['header_overflow', 'connection_reset'], result.detail).toContain(result.code);
      expect(client.socketsOpen()).toBe(0);
    }
  });

  it('early answers together are bounded as one', async () => {
    const server = await serverWith((socket, stream) => {
      for (let i = 0; i < 12; i++)
        socket.write(
          raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ ':status': '103', link: 'x'.repeat(10_000) })),
        );
    });
    expect(failure(await clientWith().fetch(secure(server), signal)).code).toBe('header_overflow');
  });
});

describe('HTTP/2, kept connections', () => {
  it('R3: one that goes away on the second request is told apart, and the next one is fresh', async () => {
    for (const leave of [
      (socket: Socket, stream: number) => socket.write(reset(stream, 7)),
      (socket: Socket) => socket.end(),
      (socket: Socket) => socket.write(goaway(1, 0)),
    ]) {
      const server = await serverWith((socket, stream, count) =>
        count === 2 ? leave(socket, stream) : socket.write(whole(stream, 'x')),
      );
      const client = clientWith();
      response(await client.fetch(secure(server), signal));
      expect(failure(await client.fetch(secure(server), signal))).toMatchObject({
        code: 'connection_reset',
        reusedConnection: true,
      });
      expect(textOf(response(await client.fetch(secure(server), signal)))).toBe('x');
      expect([server.connections, server.requests]).toEqual([2, 3]);
    }
  });

  it('R3: not when a word of the answer came', async () => {
    const server = await serverWith((socket, stream, count) =>
      socket.write(
        count === 1
          ? whole(stream, 'x')
          : Buffer.concat([
              raw.frame(raw.HEADERS, raw.END_HEADERS, stream, raw.fields({ ':status': '103' })),
              reset(stream, 2),
            ]),
      ),
    );
    const client = clientWith();
    response(await client.fetch(secure(server), signal));
    expect(failure(await client.fetch(secure(server), signal))).toMatchObject({
      code: 'connection_reset',
      reusedConnection: false,
    });
  });

  it('one that goes away or closes while it is idle is replaced, unseen', async () => {
    for (const bye of [goaway(1, 0), null]) {
      const server = await serverWith((socket, stream) => {
        socket.write(whole(stream, 'x'));
        if (bye === null) setTimeout(() => socket.end(), 10);
        else socket.write(bye);
      });
      const client = clientWith();
      for (let i = 0; i < 3; i++) {
        expect(textOf(response(await client.fetch(secure(server), signal)))).toBe('x');
        await server.deserted();
        while (client.socketsOpen() > 0) await tick(2);
      }
      expect(server.connections).toBe(3);
    }
  });

  it('an answer that comes with a farewell is whole', async () => {
    const server = await serverWith((socket, stream) =>
      socket.end(Buffer.concat([goaway(stream, 0), whole(stream, 'last')])),
    );
    const client = clientWith();
    for (let i = 0; i < 2; i++) expect(textOf(response(await client.fetch(secure(server), signal)))).toBe('last');
    expect(server.connections).toBe(2);
  });

  it('end after keepAliveMs, and give way where there are too many', async () => {
    const server = await serverWith((socket, stream) => socket.write(whole(stream, 'x')));
    const brief = clientWith({ keepAliveMs: 60 });
    response(await brief.fetch(secure(server), signal));
    await server.deserted();
    while (brief.socketsOpen() > 0) await tick(2);
    const few = clientWith({ socketsMax: 1 });
    for (const host of ['site.test', 'other.test']) response(await few.fetch(secure(server, { host }), signal));
    while (server.open.size > 1) await tick(2);
    expect(few.socketsOpen()).toBe(1);
  });
});

describe('HTTP/2, giving up and waiting', () => {
  it('an aborted signal interrupts at any point, and the socket is closed when the result is there', async () => {
    const server = await serverWith((socket, stream, count) => {
      if (count === 2) socket.write(raw.answer(stream));
      if (count === 3) socket.write(Buffer.concat([raw.answer(stream), data(stream, 'x')]));
    });
    const client = clientWith();
    for (let count = 1; count <= 3; count++) {
      const abort = new AbortController();
      const fetching = client.fetch(secure(server), abort.signal);
      while (server.requests < count) await tick(2);
      await tick(20);
      abort.abort();
      expect(failure(await fetching).code).toBe('interrupted');
      expect(client.socketsOpen()).toBe(0);
      await server.deserted();
    }
  });

  it('close interrupts what is under way and closes what is kept', async () => {
    const server = await serverWith((socket, stream, count) =>
      count === 1 ? socket.write(whole(stream, 'x')) : undefined,
    );
    const client = clientWith();
    response(await client.fetch(secure(server), signal));
    const other = client.fetch(secure(server, { host: 'other.test' }), signal);
    while (server.requests < 2) await tick(2);
    await client.close();
    expect(failure(await other).code).toBe('interrupted');
    await server.deserted();
  });

  it('S2: a body waits for the budget, holding no more than a window, and goes on', async () => {
    const piece = Buffer.alloc(16_000, 'x');
    const server = await serverWith((socket, stream) => {
      socket.write(raw.answer(stream));
      for (let i = 0; i < 15; i++) socket.write(data(stream, piece));
      socket.write(data(stream, '', raw.END_STREAM));
    });
    const client: HttpClient = clientWith({ bodyBudgetBytes: 100_000 });
    const first = response(await client.fetch(secure(server), signal));
    expect(first.body.length).toBe(240_000);
    let isDone = false;
    const second = client.fetch(secure(server, { host: 'other.test' }), signal).finally(() => {
      isDone = true;
    });
    while (client.bytesHeld() === 240_000) await tick(2);
    await tick(60);
    expect(isDone).toBe(false);
    client.release(first.body.length);
    expect(response(await second).body.length).toBe(240_000);
  });

  it('an IPv6 literal', async () => {
    const server = await raw.RawHttp2Server.start(
      site,
      (socket, stream) => socket.write(whole(stream, 'six')),
      undefined,
      '::1',
    );
    onTestFinished(() => server.stop());
    const request = secure(server, { host: '[::1]', address: { address: '::1', family: 6 } });
    expect(textOf(response(await clientWith().fetch(request, signal)))).toBe('six');
  });
});

function drip(socket: Socket, piece: Buffer, everyMs = 20): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Between the two, so that the connection can be reset beneath the TLS layer. */
async function relayTo(port: number): Promise<{ readonly port: number; resets(): void }> {
  const clients = new Set<Socket>();
  const relay = createServer((client) => {
    clients.add(client);
    const onward = connect(port, '127.0.0.1');
    client.on('error', () => onward.destroy());
    onward.on('error', () => client.destroy());
    client.pipe(onward).pipe(client);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => relay.close(() => resolve())));
  return {
    port: (relay.address() as AddressInfo).port,
    resets: () => {
      for (const client of clients) client.resetAndDestroy();
    },
  };
}
