/** B1: whatever is no rendered page is a failure of the service; a rendered page is a response, whatever its status. */
import fc from 'fast-check';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchRequest, FetchResult } from '../../src/domain/fetching.js';
import { secureContextOf } from '../../src/net/connect.js';
import { guardRules } from '../../src/net/guard.js';
import { createSidecarClient, type SidecarClient } from '../../src/net/sidecar-client.js';

const trust = { guard: guardRules([]), secureContext: secureContextOf(undefined) };
const names = { resolve: async () => ({ kind: 'failed', code: 'dns_failed', detail: '', expiresInMs: 0 }) as const };

const asked = (changes: Partial<FetchRequest> = {}): FetchRequest => ({
  url: 'http://a.test/page',
  tier: 3,
  origin: 'http://a.test',
  address: { address: '127.0.0.9', family: 4 },
  headers: [],
  deadlineMs: 5_000,
  bodyBytesMax: 1_000_000,
  headerBytesMax: 65_536,
  cutAtBound: false,
  ...changes,
});

const solved = (solution: object = {}) => ({
  status: 'ok',
  message: '',
  solution: {
    url: 'http://a.test/page',
    status: 200,
    headers: {
      'content-type': 'text/html; charset=latin1',
      'content-encoding': 'gzip',
      'content-length': '3',
      'x-a': 'b',
    },
    response: '<p>Grüße',
    cookies: [{ name: 'pass', value: '1', domain: '.a.test', path: '/', expires: 1_900_000_000.5 }],
    userAgent: 'A browser',
    ...solution,
  },
});

describe('the client of a browser service', () => {
  let service: Server;
  let client: SidecarClient;
  let told: Record<string, unknown>[];
  let answer: (asked: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    told = [];
    service = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        told.push(JSON.parse(text) as Record<string, unknown>);
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    client = clientOf(false);
  });

  afterEach(async () => {
    await client.close();
    service.closeAllConnections();
    service.close();
  });

  function clientOf(trusted: boolean, token: string | null = null): SidecarClient {
    const endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`;
    return createSidecarClient({
      endpoint,
      token,
      trusted,
      trust,
      names,
      clock: { monotonicMs: () => performance.now() },
    });
  }

  const json = (value: unknown) => (_: IncomingMessage, response: ServerResponse) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  const fetched = (changes: Partial<FetchRequest> = {}): Promise<FetchResult> =>
    client.fetch(asked(changes), new AbortController().signal);

  it('tells a rendered page as a response: its markup as UTF-8, its headers without those of bytes that are gone', async () => {
    answer = json(solved());
    const result = await fetched();
    expect(result).toMatchObject({
      kind: 'response',
      status: 200,
      headers: [
        ['x-a', 'b'],
        ['content-type', 'text/html; charset=utf-8'],
      ],
      remoteAddress: '127.0.0.9',
      rendered: {
        finalUrl: 'http://a.test/page',
        userAgent: 'A browser',
        cookies: [{ name: 'pass', value: '1', domain: '.a.test', path: '/', expiresAtMs: 1_900_000_000_500 }],
      },
    });
    expect(result.kind === 'response' && Buffer.from(result.body).toString()).toBe('<p>Grüße');
    expect(result.kind === 'response' && result.body.byteLength === result.body.buffer.byteLength).toBe(true);
  });

  it('P6: asks for redirects to be told, and tells one as a server does', async () => {
    answer = json(solved({ status: 302, headers: { location: 'http://b.test/' }, response: '' }));
    const result = await fetched();
    expect(told).toMatchObject([{ redirects: 'told' }]);
    expect(result).toMatchObject({ kind: 'response', status: 302 });
    expect(result.kind === 'response' && result.headers).toContainEqual(['location', 'http://b.test/']);
  });

  it('S3: shows its token to a service that wants one, and only then', async () => {
    const shown: (string | undefined)[] = [];
    answer = (request, response) => {
      shown.push(request.headers.authorization);
      json(solved())(request, response);
    };
    await fetched();
    await client.close();
    client = clientOf(false, 'a-token-of-sixteen');
    await fetched();
    expect(shown).toEqual([undefined, 'Bearer a-token-of-sixteen']);
  });

  it.each([200, 204, 301, 403, 404, 429, 500, 503, 599, 999])('B1: a page with status %i is a page', async (status) => {
    answer = json(solved({ status }));
    expect(await fetched()).toMatchObject({ kind: 'response', status });
  });

  it.each<[string, unknown]>([
    ['an error', { status: 'error', message: 'Error: the browser crashed' }],
    ['ok without a page', { status: 'ok', message: '' }],
    ['status 0', solved({ status: 0 })],
    ['a status beyond all', solved({ status: 1_000 })],
    ['no URL', solved({ url: '' })],
    ['a page that is a number', solved({ response: 7 })],
    ['nothing', null],
    ['a list', []],
  ])('B1: %s is a failure of the service', async (_what, value) => {
    answer = json(value);
    expect(await fetched()).toMatchObject({ kind: 'backend_failure', code: 'backend_failed' });
  });

  it.each<[string, string, string]>([
    ['guard_refused', 'a.test: 10.0.0.1 is private', 'guard_refused'],
    ['bound', "the page's markup has 17000000 characters", 'too_large'],
    ['navigation_failed', 'net::ERR_CONNECTION_REFUSED at http://a.test/', 'connect_failed'],
    ['navigation_failed', 'net::ERR_CONNECTION_RESET at http://a.test/', 'connection_reset'],
    ['navigation_failed', 'net::ERR_EMPTY_RESPONSE at http://a.test/', 'connection_reset'],
    ['navigation_failed', 'net::ERR_CERT_AUTHORITY_INVALID at https://a.test/', 'tls_failed'],
    ['navigation_failed', 'net::ERR_TUNNEL_CONNECTION_FAILED at https://a.test/', 'connect_failed'],
    ['navigation_failed', 'Download is starting', 'protocol_error'],
  ])(
    'what a service knows to be the page’s doing is no failure of its own: %s, %s',
    async (code, message, expected) => {
      answer = json({ status: 'error', message: `${message} [${code}]`, code });
      expect(await fetched()).toMatchObject({ kind: 'failure', code: expected, status: null });
    },
  );

  it.each(['timeout', 'browser_gone', 'busy', 'given_up', 'whatever', 7])(
    'B1: an error for another reason is its own: %s',
    async (code) => {
      answer = json({ status: 'error', message: 'net::ERR_CONNECTION_REFUSED', code });
      expect(await fetched()).toMatchObject({ kind: 'backend_failure' });
    },
  );

  it('a header that came more than once is as many headers', async () => {
    answer = json(solved({ headers: { 'set-cookie': 'a=1; path=/\nb=2' } }));
    const result = await fetched();
    expect(result.kind === 'response' && result.headers.filter(([name]) => name === 'set-cookie')).toEqual([
      ['set-cookie', 'a=1; path=/'],
      ['set-cookie', 'b=2'],
    ]);
  });

  it('B1: its own time-out is one', async () => {
    answer = json({ status: 'error', message: 'Error: Maximum timeout reached. Timed out after 30.0 seconds.' });
    expect(await fetched()).toMatchObject({ kind: 'backend_failure', code: 'backend_timeout' });
  });

  it.each<[string, (asked: IncomingMessage, response: ServerResponse) => void]>([
    ['no JSON', (_, response) => void response.end('<html>Bad gateway')],
    [
      'half an answer',
      (request, response) => {
        response.writeHead(200, { 'content-length': '99' }).write('{', () => request.socket.end());
      },
    ],
    ['a closed connection', (request) => void request.socket.destroy()],
    ['nonsense', (request) => void request.socket.end('not HTTP\r\n\r\n')],
    ['a redirect', (_, response) => void response.writeHead(302, { location: 'http://b.test/' }).end()],
  ])('B1: %s is a failure of the service', async (_what, how) => {
    answer = how;
    expect(await fetched()).toMatchObject({ kind: 'backend_failure', code: 'backend_failed' });
  });

  it('B1: a service that is not there is one', async () => {
    service.close();
    expect(await fetched()).toMatchObject({
      kind: 'backend_failure',
      code: 'backend_failed',
      detail: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it('B1: silence ends at the deadline, and the connection with it', async () => {
    const closed = new Promise((resolve) => {
      answer = (request) => request.socket.once('close', resolve);
    });
    expect(await fetched({ deadlineMs: 200 })).toMatchObject({ kind: 'backend_failure', code: 'backend_timeout' });
    await closed;
  });

  it('given up, it is neither', async () => {
    const given = new AbortController();
    answer = () => given.abort();
    expect(await client.fetch(asked(), given.signal)).toMatchObject({ kind: 'failure', code: 'interrupted' });
  });

  it('S2: an answer without end is a failure', async () => {
    answer = (_, response) => {
      const chunk = Buffer.alloc(1 << 20, ' ');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    expect(await fetched()).toMatchObject({
      kind: 'backend_failure',
      code: 'backend_failed',
      detail: expect.stringMatching(/bytes/),
    });
  });

  it('S2: markup beyond the bound of a body is cut, and says so', async () => {
    answer = json(solved({ response: 'x'.repeat(101) }));
    expect(await fetched({ bodyBytesMax: 100 })).toMatchObject({ cut: true });
    answer = json(solved({ response: 'x'.repeat(100) }));
    expect(await fetched({ bodyBytesMax: 100 })).toMatchObject({ cut: false });
  });

  it('S1: it has the service go through our own guard, unless that is trusted', async () => {
    answer = json(solved());
    await fetched();
    expect(told[0]).toMatchObject({
      cmd: 'request.get',
      proxy: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    });
    await client.close();
    client = clientOf(true);
    await fetched();
    expect(told[1]).not.toHaveProperty('proxy');
  });

  it('shows the cookies that let us pass with the name that earned them, and who asks; nothing else of the request', async () => {
    answer = json(solved());
    await fetched({
      headers: [
        ['user-agent', 'A browser'],
        ['cookie', 'pass=1; b=c=d'],
        ['from', 'bot@example.org'],
        ['if-none-match', '"x"'],
      ],
    });
    expect(told[0]).toMatchObject({
      userAgent: 'A browser',
      cookies: [
        { name: 'pass', value: '1' },
        { name: 'b', value: 'c=d' },
      ],
      headers: { from: 'bot@example.org' },
      maxTimeout: 4_000,
    });
  });

  it('never rejects, whatever JSON it is told', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue(),
          fc.jsonValue().map((it) => solved({ url: it })),
          fc.jsonValue().map((it) => solved({ cookies: it, headers: it })),
        ),
        async (value) => {
          answer = json(value);
          const { kind } = await fetched();
          expect(['response', 'backend_failure']).toContain(kind);
        },
      ),
      { numRuns: 60 },
    );
  });
});
