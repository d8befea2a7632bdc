/**
 * What goes wrong in real crawls, as far as the way over the wire decides it: each by its number, with the kind around it.
 * What the reading of a page decides is in its own test.
 */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FetchResult } from '../../src/domain/fetching.js';
import { judgeTransport } from '../../src/policy/judgement.js';
import { clientWith, expectNothingUncaught, failure, requestTo, response, signal, textOf, tick } from './asking.js';
import { authority } from './identity.js';
import { type Misbehaviour, RawServer } from './raw-server.js';

expectNothingUncaught({ beforeAll, afterEach, afterAll });

async function serverWith(misbehave: Misbehaviour, options: Parameters<typeof RawServer.start>[1] = {}) {
  const server = await RawServer.start(misbehave, options);
  onTestFinished(() => server.stop());
  return server;
}

const judged = (result: FetchResult) => judgeTransport(result, { hadValidators: false, nowWallMs: 0 });
const head = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';
/** A body in chunks of these sizes, over and over. */
function chunks(body: string, sizes: readonly number[]): string {
  let text = '';
  for (let at = 0, i = 0; at < body.length; i++) {
    const piece = body.slice(at, at + (sizes[i % sizes.length] ?? 1));
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    at += piece.length;
  }
  return text;
}

describe('H01: a body that is shorter than its length', () => {
  it('is no answer, however much of it came: truncated, and asked for again', async () => {
    let bytes = '';
    const server = await serverWith((socket) => socket.end(bytes));
    const client = clientWith();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), fc.nat(), async (declared, sent) => {
        bytes = head(`Content-Length: ${declared}`) + 'x'.repeat(sent % declared);
        const result = failure(await client.fetch(requestTo(server), signal));
        expect(result).toMatchObject({ code: 'truncated', status: 200 });
        expect(judged(result)).toMatchObject({ next: 'retry', delivery: 1, breaker: 'success', urlState: null });
      }),
      { numRuns: 40 },
    );
    expect([client.bytesHeld(), client.socketsOpen()]).toEqual([0, 0]);
  });

  it('H04: so is a compressed one whose length is that of the page', async () => {
    const body = gzipSync('words '.repeat(3000));
    const server = await serverWith((socket) => {
      socket.write(head('Content-Encoding: gzip', 'Content-Length: 18000'));
      socket.end(body);
    });
    expect(failure(await clientWith().fetch(requestTo(server), signal)).code).toBe('truncated');
  });
});

describe('H02: more bytes than the length', () => {
  it('the body is what was declared, and the rest is no answer to anybody', async () => {
    let bytes = '';
    const server = await serverWith((socket) => socket.write(bytes));
    const client = clientWith();
    const surplus = fc.oneof(
      fc.string({ minLength: 1, maxLength: 200 }),
      fc.constant(`${head('Content-Length: 6')}poison`),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(50), surplus, async (declared, more) => {
        bytes = `${head(`Content-Length: ${declared}`)}${'a'.repeat(declared)}${more}`;
        for (let i = 0; i < 2; i++) {
          const result = response(await client.fetch(requestTo(server), signal));
          expect(textOf(result)).toBe('a'.repeat(declared));
          client.release(result.body.length);
        }
      }),
      { numRuns: 40 },
    );
    expect(server.connections).toBe(server.requests.length);
  });
});

describe('H03: a chunked body without its last chunk', () => {
  it('is no answer wherever it ends', async () => {
    let bytes = '';
    const server = await serverWith((socket) => socket.end(bytes));
    const client = clientWith();
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 900 }), sizes, fc.nat(), async (length, drawn, cut) => {
        const whole = `${chunks('x'.repeat(length), drawn)}0\r\n\r\n`;
        bytes = head(CHUNKED) + whole.slice(0, cut % whole.length);
        expect(failure(await client.fetch(requestTo(server), signal))).toMatchObject({
          code: 'truncated',
          status: 200,
        });
      }),
      { numRuns: 40 },
    );
  });

  it.each(['ZZ', '-5', '5 5', '0x5', '', 'fffffffffffffffff', '5\n'])('a chunk of size %j is no HTTP', async (size) => {
    const server = await serverWith((socket) => socket.write(`${head(CHUNKED)}${size}\r\nhello\r\n0\r\n\r\n`));
    expect(failure(await clientWith().fetch(requestTo(server, { deadlineMs: 500 }), signal))).toMatchObject({
      code: 'protocol_error',
      status: 200,
    });
  });

  it.each([
    `5;a=b;c="d"\r\nhello\r\n0\r\n\r\n`,
    `5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n`,
    `05\r\nhello\r\n000\r\n\r\n`,
    '5 \r\nhello\r\n0\r\n\r\n',
  ])('what may stand in it is no fault: %j', async (body) => {
    const server = await serverWith((socket) => socket.write(head(CHUNKED) + body));
    const result = await clientWith().fetch(requestTo(server, { deadlineMs: 500 }), signal);
    if (body.startsWith('5 ')) expect(failure(result).code).toBe('protocol_error');
    else expect(textOf(response(result))).toBe('hello');
  });
});

describe('H08: a header block that is too large', () => {
  const bound = 64 * 1024;
  it('one large field, and many small ones, pass up to the bound', async () => {
    const lists = [
      [`x: ${'y'.repeat(20_000)}`],
      Array.from({ length: 3000 }, (_, i) => `h${i}: v`),
      [`x: ${'y'.repeat(bound - 1 - 15)}`],
    ];
    for (const list of lists) {
      const server = await serverWith((socket) => socket.write(`${head('Content-Length: 1', ...list)}x`));
      expect(textOf(response(await clientWith().fetch(requestTo(server), signal)))).toBe('x');
    }
  });

  it('above it: a class of its own, and the host is none the worse for it', async () => {
    const flood =
      (piece: string): Misbehaviour =>
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const more = () => {
          if (!socket.destroyed) socket.write(piece.repeat(100), () => setImmediate(more));
        };
        more();
      };
    for (const misbehave of [flood('x: y\r\n'), flood(`x: ${'y'.repeat(500)}\r\n`), flood('y'.repeat(500))]) {
      const server = await serverWith(misbehave);
      const result = failure(await clientWith().fetch(requestTo(server), signal));
      expect(['header_overflow', 'not_strict_http']).toContain(result.code);
      expect(judged(result)).toMatchObject({ outcome: 'refused', breaker: 'success' });
      await server.deserted();
    }
  });
});

describe('H10, R3: a kept connection that the server closes as it is used', () => {
  it('costs nothing and is tried again on a fresh one, if no byte of an answer came', async () => {
    const ways: ((socket: Socket) => unknown)[] = [
      (socket) => socket.end(),
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
    ];
    for (const close of ways) {
      const server = await serverWith((socket, _request, count) =>
        count === 2 ? close(socket) : socket.write(`${head('Content-Length: 1')}x`),
      );
      const client = clientWith();
      response(await client.fetch(requestTo(server), signal));
      const closed = failure(await client.fetch(requestTo(server), signal));
      expect(closed).toMatchObject({ code: 'connection_reset', reusedConnection: true });
      expect(judged(closed)).toMatchObject({ next: 'retry_fresh', delivery: 0, breaker: 'none' });
      response(await client.fetch(requestTo(server), signal));
      expect([server.connections, server.requests.length]).toEqual([2, 3]);
    }
  });

  it('a server that closes every connection at the instant of the next request loses nothing', async () => {
    const server = await serverWith((socket) => {
      socket.write(`${head('Content-Length: 1')}x`);
      setTimeout(() => socket.end(), 10);
    });
    const client = clientWith();
    let answers = 0;
    let repeats = 0;
    while (answers < 20) {
      const result = await client.fetch(requestTo(server), signal);
      if (result.kind === 'response') answers++;
      else {
        expect(judged(result)).toMatchObject({ next: 'retry_fresh', delivery: 0 });
        expect(++repeats).toBeLessThan(20);
      }
      await tick(10);
    }
  });
});

describe('H11, H12: what drips', () => {
  it.each<[string, string, string]>([
    ['status line', '', 'HTTP/1.1 200 OK and nothing else for a long time to come'],
    ['header field', 'HTTP/1.1 200 OK\r\n', 'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'],
    ['chunk size', head(CHUNKED), '000000000000000000000000000000000000000000000000000000'],
    ['length of body', head('Content-Length: 1000'), 'x'.repeat(60)],
    ['chunks', head(CHUNKED), '1\r\nx\r\n'.repeat(10)],
  ])('octet by octet, a %s meets the one deadline', async (what, first, dripped) => {
    const server = await serverWith((socket) => {
      socket.setNoDelay(true);
      if (first !== '') socket.write(first);
      let at = 0;
      const timer = setInterval(() => socket.write(dripped[at++ % dripped.length] ?? ''), 15);
      socket.on('close', () => clearInterval(timer));
    });
    const client = clientWith();
    const result = failure(await client.fetch(requestTo(server, { deadlineMs: 300 }), signal));
    expect(result.code).toMatch(what === 'length of body' || what === 'chunks' ? /too_slow/ : /timeout|protocol_error/);
    expect(client.socketsOpen()).toBe(0);
    await server.deserted();
  });
});

describe('H22: faults of TLS', () => {
  const trial = authority();
  afterAll(() => trial.remove());

  it('expired, for another name, of an unknown authority, with a link missing: tls_failed, for a host and for an address', async () => {
    const stranger = authority();
    onTestFinished(() => stranger.remove());
    const identities = [
      trial.issue('DNS:site.test,IP:127.0.0.1', -1),
      trial.issue('DNS:other.test'),
      stranger.issue('DNS:site.test,IP:127.0.0.1'),
    ];
    for (const identity of identities) {
      const server = await RawServer.startTls((socket) => socket.write(`${head('Content-Length: 1')}x`), identity);
      onTestFinished(() => server.stop());
      for (const http2 of [true, false]) {
        const client = clientWith({ tls: { ca: trial.ca }, http2 });
        for (const host of ['site.test', '127.0.0.1']) {
          const result = failure(await client.fetch(requestTo(server, { host, scheme: 'https' }), signal));
          expect(result.code, result.detail).toBe('tls_failed');
          expect(judged(result)).toMatchObject({ next: 'retry', delivery: 1, breaker: 'failure' });
        }
        expect(client.socketsOpen()).toBe(0);
      }
      expect(server.requests).toEqual([]);
    }
  });

  it('openssl is there to make them', () => {
    expect(execFileSync('openssl', ['version']).toString()).toMatch(/^OpenSSL/);
  });
});

describe('what the strict parser refuses: an answer that can be read in two ways', () => {
  it.each([
    ['line feeds only', 'HTTP/1.1 200 OK\nContent-Length: 1\n\nx'],
    ['a field without a colon', 'HTTP/1.1 200 OK\r\nserver nginx\r\nContent-Length: 1\r\n\r\nx'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nX : 1\r\nContent-Length: 1\r\n\r\nx'],
    ['a control character', 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 1\r\n\r\nx'],
    ['a NUL', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 1\r\n\r\nx'],
    ['two equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    ],
    ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: one\r\n\r\nx'],
    ['a length below none', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx'],
    ['a status below all classes (RFC 9110 §15)', 'HTTP/1.1 099 Odd\r\nContent-Length: 1\r\n\r\nx'],
    ['the least status', 'HTTP/1.1 000 Odd\r\nContent-Length: 1\r\n\r\nx'],
    ['a status that is none', 'HTTP/1.1 2000 OK\r\nContent-Length: 1\r\n\r\nx'],
  ])('%s: not_strict_http, refused, and no fault of the host', async (_title, bytes) => {
    const server = await serverWith((socket) => socket.write(Buffer.from(bytes, 'latin1')));
    const result = failure(await clientWith().fetch(requestTo(server, { deadlineMs: 500 }), signal));
    expect(result, result.detail).toMatchObject({ code: 'not_strict_http', status: null });
    expect(judged(result)).toMatchObject({ outcome: 'refused', next: 'settled', delivery: 0, breaker: 'success' });
    await server.deserted();
  });

  it.each([
    ['HTTP/0.9', '<html>hello</html>'],
    ['SSH', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['another version', 'HTTP/3.0 200 OK\r\nContent-Length: 1\r\n\r\nx'],
    ['a name in another case', 'http/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx'],
  ])('%s is not HTTP at all: protocol_error', async (_title, bytes) => {
    const server = await serverWith((socket) => socket.end(bytes));
    expect(failure(await clientWith().fetch(requestTo(server, { deadlineMs: 500 }), signal)).code).toBe(
      'protocol_error',
    );
  });

  it.each([
    ['a folded field (RFC 9112 §5.2)', 'X: 1\r\n  2'],
    ['octets above 127', 'X: caf\xe9 \xe3\x81\x82'],
    ['an empty field', 'X:'],
    ['no reason', 'X: 1'],
    ['a hundred cookies', Array.from({ length: 100 }, (_, i) => `Set-Cookie: c${i}=1`).join('\r\n')],
  ])('%s is none of these', async (title, fields) => {
    const status = title === 'no reason' ? 'HTTP/1.1 200\r\n' : 'HTTP/1.1 200 OK\r\n';
    const server = await serverWith((socket) =>
      socket.write(Buffer.from(`${status}${fields}\r\nContent-Length: 1\r\n\r\nx`, 'latin1')),
    );
    expect(textOf(response(await clientWith().fetch(requestTo(server), signal)))).toBe('x');
  });
});

describe('interim answers (RFC 9110 §15.2)', () => {
  it.each([100, 102, 103, 104, 199])('%d, however many, is passed over', async (status) => {
    const server = await serverWith((socket) => {
      const interim = `HTTP/1.1 ${status} Wait\r\nLink: </a>\r\n\r\n`;
      socket.write(interim.repeat(5) + head('Content-Length: 1') + 'x');
    });
    const client = clientWith();
    for (let i = 0; i < 2; i++) {
      const result = await client.fetch(requestTo(server, { deadlineMs: 500 }), signal);
      expect(response(result)).toMatchObject({ status: 200, headers: [['Content-Length', '1']] });
    }
  });
});

describe('any bytes', () => {
  it('end in one result of a known code, with the socket closed and nothing held', async () => {
    let bytes: Buffer = Buffer.alloc(0);
    const server = await serverWith((socket) => socket.end(bytes));
    const client = clientWith();
    const parts = [
      'HTTP/1.1 200 OK',
      'HTTP/1.0 404 No',
      '\r\n',
      '\n',
      'Content-Length: 5',
      'Content-Length: 99999999999999999999',
      CHUNKED,
      'Connection: close',
      'Content-Encoding: gzip',
      'hello',
      '5\r\n',
      '0\r\n\r\n',
      ': ',
      '\0',
      ' ',
      'HTTP/1.1 101 S',
      'HTTP/1.1 103 E',
      'Upgrade: h2c',
    ];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 8 })), { maxLength: 14 })
      .map((drawn) => Buffer.from(drawn.join(''), 'latin1'));
    const noise = fc.uint8Array({ maxLength: 300 }).map((drawn) => Buffer.from(drawn));
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, noise), async (drawn) => {
        bytes = drawn;
        const result = await client.fetch(requestTo(server, { deadlineMs: 1000, bodyBytesMax: 1000 }), signal);
        if (result.kind === 'response') client.release(result.body.length);
        else
          expect([
            'connection_reset',
            'truncated',
            'protocol_error',
            'not_strict_http',
            'too_large',
            'header_overflow',
          ]).toContain((result as { code: string }).code);
        while (client.socketsOpen() > 0) await tick(1);
        expect(client.bytesHeld()).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
