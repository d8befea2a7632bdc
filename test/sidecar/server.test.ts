/** The service as HTTP: its protocol, who may ask, and what is told where nothing comes of it. */
import type { InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { type Answer, type Solution, type VisitAsked, VisitError } from '../../src/sidecar/protocol.js';
import { sidecarApp } from '../../src/sidecar/server.js';
import { createSessions } from '../../src/sidecar/sessions.js';

const PAGE: Solution = {
  url: 'http://a.test/',
  status: 200,
  headers: {},
  response: '<p>on',
  cookies: [],
  userAgent: 'A browser',
};
const HEALTH = {
  browser: 'running',
  version: '1',
  visiting: 0,
  waiting: 0,
  visits: 0,
  failed: 0,
  starts: 1,
  memoryBytes: 0,
} as const;

function served(token: string | null = null, visit: (asked: VisitAsked) => Promise<Solution> = async () => PAGE) {
  const visits: VisitAsked[] = [];
  const service = {
    sessions: createSessions(),
    health: () => HEALTH,
    visit: async (asked: VisitAsked) => {
      visits.push(asked);
      return visit(asked);
    },
  };
  const app = sidecarApp({ service, token, version: '9' });
  const send = async (asked: InjectOptions) => {
    const { statusCode, body } = await app.inject({ ...asked, headers: { host: '127.0.0.1:8191', ...asked.headers } });
    return { statusCode, answer: JSON.parse(body) as Answer };
  };
  const ask = (payload: unknown, more: InjectOptions = {}) =>
    send({ method: 'POST', url: '/v1', payload: payload as object, ...more });
  return { visits, send, ask };
}

const GET = { cmd: 'request.get', url: 'http://a.test/' };

describe('the protocol', () => {
  it('tells a page with when it was begun and ended, and by which version', async () => {
    const { ask, visits } = served();
    const { statusCode, answer } = await ask(GET);
    expect({ statusCode, ...answer }).toMatchObject({ statusCode: 200, status: 'ok', version: '9', solution: PAGE });
    expect(answer.endTimestamp).toBeGreaterThanOrEqual(answer.startTimestamp);
    expect(visits).toMatchObject([{ maxTimeout: 60_000, cookies: [], headers: {}, returnOnlyCookies: false }]);
  });

  it('has sessions: created under a name or without one, listed, destroyed once', async () => {
    const { ask } = served();
    expect((await ask({ cmd: 'sessions.create', session: 'one' })).answer).toMatchObject({ session: 'one' });
    const { session } = (await ask({ cmd: 'sessions.create' })).answer;
    expect((await ask({ cmd: 'sessions.list' })).answer.sessions).toEqual(['one', session]);
    const destroy = { cmd: 'sessions.destroy', session: 'one' };
    expect((await ask(destroy)).answer.status).toBe('ok');
    expect((await ask(destroy)).answer).toMatchObject({ status: 'error', message: 'there is no session one' });
  });

  it.each([
    ['timeout', 500],
    ['guard_refused', 500],
    ['busy', 503],
  ] as const)('tells why there is no page: %s', async (code, expected) => {
    const { ask } = served(null, () => Promise.reject(new VisitError(code, 'so it is')));
    const { statusCode, answer } = await ask(GET);
    expect(statusCode).toBe(expected);
    expect(answer).toMatchObject({ status: 'error', message: `so it is [${code}]`, code });
  });

  it.each<[string, unknown, string]>([
    ['a form', { cmd: 'request.post', url: 'http://a.test/', postData: 'a=1' }, 'cmd: "request.post" is not served'],
    ['no command', { url: 'http://a.test/' }, 'cmd: it is missing'],
    ['no object', [], 'the body: '],
    ['no URL', { cmd: 'request.get' }, 'url: '],
    ['a file', { ...GET, url: 'file:///etc/passwd' }, 'url: '],
    ['a browser page', { ...GET, url: 'chrome://version' }, 'url: '],
    ['too long a URL', { ...GET, url: `http://a.test/${'x'.repeat(8_179)}` }, 'url: '],
    ['too little time', { ...GET, maxTimeout: 999 }, 'maxTimeout: '],
    ['too much time', { ...GET, maxTimeout: 300_001 }, 'maxTimeout: '],
    ['a cookie without a name', { ...GET, cookies: [{ name: '', value: '' }] }, 'cookies.0.name: '],
    ['too many cookies', { ...GET, cookies: Array(101).fill({ name: 'a', value: '' }) }, 'cookies: '],
    ['a header that is a number', { ...GET, headers: { from: 7 } }, 'headers.from: '],
    ['a proxy with credentials', { ...GET, proxy: { url: 'http://a:b@127.0.0.1:1' } }, 'proxy.url: '],
  ])('S2: bad input is told with its place and leads to no visit: %s', async (_what, asked, where) => {
    const { ask, visits } = served();
    const { statusCode, answer } = await ask(asked);
    expect({ statusCode, status: answer.status }).toEqual({ statusCode: 400, status: 'error' });
    expect(answer.message.startsWith(where)).toBe(true);
    expect(visits).toEqual([]);
  });

  it.each<[string, object]>([
    ['time', { maxTimeout: 1_000 }],
    ['time', { maxTimeout: 300_000 }],
    ['a URL', { url: `http://a.test/${'x'.repeat(8_178)}` }],
    ['cookies', { cookies: Array(100).fill({ name: 'a', value: '' }) }],
  ])('S2: what is just within its bound is taken: %s', async (_what, more) => {
    expect((await served().ask({ ...GET, ...more })).answer.status).toBe('ok');
  });

  it('no JSON, and more than is read, are told as its other errors', async () => {
    const { send, visits } = served();
    const headers = { 'content-type': 'application/json' };
    const bad = await send({ method: 'POST', url: '/v1', headers, payload: '{' });
    expect(bad).toMatchObject({ statusCode: 400, answer: { status: 'error' } });
    const long = JSON.stringify({ ...GET, more: 'x'.repeat(256 * 1024) });
    expect(await send({ method: 'POST', url: '/v1', headers, payload: long })).toMatchObject({ statusCode: 413 });
    expect(visits).toEqual([]);
  });
});

describe('who may ask', () => {
  it.each(['localhost:8191', '127.0.0.1', '[::1]:8191'])('this machine under its own name: %s', async (host) => {
    expect((await served().ask(GET, { headers: { host } })).statusCode).toBe(200);
  });

  it.each(['evil.example:8191', '127.0.0.1.evil.example', '10.0.0.1'])(
    'S3: nobody under another name, as a page of a browser here might: %s',
    async (host) => {
      const { ask, visits } = served();
      expect((await ask(GET, { headers: { host } })).statusCode).toBe(403);
      expect(visits).toEqual([]);
    },
  );

  it('S3: where there is a token, who has it, and nobody else', async () => {
    const { ask, visits } = served('0123456789abcdef');
    for (const authorization of [undefined, '', 'Bearer ', 'Bearer 0123456789abcdee', 'Bearer 0123456789abcdef0']) {
      const headers = authorization === undefined ? {} : { authorization };
      expect((await ask(GET, { headers })).statusCode).toBe(401);
    }
    expect(visits).toEqual([]);
    const headers = { authorization: 'Bearer 0123456789abcdef', host: 'browsers.example' };
    expect((await ask(GET, { headers })).statusCode).toBe(200);
  });

  it.each<[string, string, string, number]>([
    ['one here, for who is here', 'http://127.0.0.1:3128', '127.0.0.1', 200],
    ['one elsewhere', 'http://10.0.0.1:3128', '127.0.0.1', 400],
    ['one with a name', 'http://proxy.example:3128', '127.0.0.1', 400],
    ['one here, for who is elsewhere', 'http://127.0.0.1:3128', '10.0.0.9', 400],
  ])('S1: of other proxies only %s', async (_what, url, remoteAddress, expected) => {
    const { ask, visits } = served();
    const { statusCode } = await ask({ ...GET, proxy: { url } }, { remoteAddress });
    expect(statusCode).toBe(expected);
    expect(visits).toHaveLength(expected === 200 ? 1 : 0);
  });
});
