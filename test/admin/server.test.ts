/** The server of the control interface: its socket, its bounds, its errors. What it serves is a double. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange, reachControl } from '../../src/admin/client.js';
import { type Control, ControlError } from '../../src/admin/control.js';
import { openControl } from '../../src/admin/open.js';
import { BODY_BYTES_MAX, HEADER_BYTES_MAX, type ControlServer } from '../../src/admin/server.js';
import { SOCKET_NAME, SOCKET_PATH_BYTES_MAX, socketAddress } from '../../src/admin/socket.js';

let folder = '';
let server: ControlServer | null = null;
const lines: string[] = [];
const log = { log: (_: string, event: string) => void lines.push(event) };

const unused = () => Promise.reject(new Error('not asked for here'));
const wishes: unknown[] = [];
const control: Control = {
  status: () => Promise.resolve({ state: 'running' } as never),
  dead: (query) => Promise.resolve({ letters: [], next: null, query } as never),
  hosts: (query) => Promise.resolve({ hosts: [], next: null, query } as never),
  host: (name) => Promise.reject(new ControlError('host_unknown', 'no such host', 404, name, 'name another')),
  tree: unused,
  redrive: (wish) => (wishes.push(wish), Promise.resolve({ matched: 0 } as never)),
  previewRedrive: (query) => Promise.resolve({ letters: [], next: null, query } as never),
  redrives: (query) => Promise.resolve({ redrives: [], next: null, query } as never),
  cancelRedrive: (number) => Promise.reject(new ControlError('redrive_unknown', 'none', 404, String(number), null)),
  why: unused,
  pause: () => Promise.resolve({ state: 'paused', changed: true }),
  resume: () => Promise.resolve({ state: 'running', changed: true }),
  seed: (wish) => (wishes.push(wish), Promise.resolve({ queued: 1, known: 0, refused: 0, seeds: [] })),
  exclude: () => Promise.resolve({ patterns: [], configured: [], changed: false }),
};

interface Answer {
  readonly status: number;
  readonly body: { readonly error?: { readonly code: string; readonly where: string | null } };
  readonly allow: string | undefined;
}

/** One request as any client could make it. */
function ask(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath: join(folder, SOCKET_NAME), method, path, headers: { ...type, ...headers }, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () => {
          const { statusCode = 0, headers: given } = answer;
          resolve({ status: statusCode, body: text === '' ? {} : JSON.parse(text), allow: given.allow });
        });
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-control-'));
  server = await openControl(folder, control, log);
});
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('S3: the socket', () => {
  it('is for its user alone, and gone after the end', async () => {
    expect(statSync(join(folder, SOCKET_NAME)).mode & 0o777).toBe(0o600);
    expect(await reachControl(folder)).not.toBeNull();
    await server?.close();
    expect(existsSync(join(folder, SOCKET_NAME))).toBe(false);
    expect(await reachControl(folder)).toBeNull();
  });

  it('of a process that was killed is replaced; whoever asks meanwhile hears that nobody is there', async () => {
    await server?.close();
    const path = join(folder, SOCKET_NAME);
    const child = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', child, path]);
    expect(statSync(path).isSocket()).toBe(true);
    expect(await reachControl(folder)).toBeNull();
    server = await openControl(folder, control, log);
    expect(await exchange(folder, 'GET', '/status')).toEqual({ state: 'running' });
  });

  it('does not take the place of anything that is none', async () => {
    await server?.close();
    writeFileSync(join(folder, SOCKET_NAME), 'precious');
    await expect(openControl(folder, control, log)).rejects.toMatchObject({ code: 'control_blocked' });
    expect(statSync(join(folder, SOCKET_NAME)).size).toBe(8);
  });

  it.each([SOCKET_PATH_BYTES_MAX, SOCKET_PATH_BYTES_MAX + 1, 300])(
    'is reached when its path has %d bytes',
    async (bytes) => {
      await server?.close();
      let path = folder;
      while (bytes - join(path, SOCKET_NAME).length > 101) path = join(path, 'd'.repeat(50));
      const missing = bytes - join(path, SOCKET_NAME).length;
      path = join(path, 'e'.repeat(missing - 1));
      expect(join(path, SOCKET_NAME)).toHaveLength(bytes);
      mkdirSync(path, { recursive: true });
      server = await openControl(path, control, log);
      expect(existsSync(join(path, SOCKET_NAME))).toBe(true);
      expect(await exchange(path, 'GET', '/status')).toEqual({ state: 'running' });
      await server.close();
      expect(existsSync(join(path, SOCKET_NAME))).toBe(false);
      const address = socketAddress(path);
      expect(Buffer.byteLength(address.path)).toBeLessThanOrEqual(SOCKET_PATH_BYTES_MAX);
      address.release();
    },
  );

  it('ends at once, whoever hangs on it', async () => {
    const idle = connect(join(folder, SOCKET_NAME));
    await once(idle, 'connect');
    const half = connect(join(folder, SOCKET_NAME));
    half.write('POST /seed HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
    await once(half, 'connect');
    half.on('error', () => {});
    idle.on('error', () => {});
    const gone = Promise.all([idle, half].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
    await server?.close();
    await gone;
  });
});

describe('S2: bounds', () => {
  it('garbage on many connections is refused, and hurts nobody', async () => {
    const closed = Array.from({ length: 100 }, async (_, i) => {
      const socket = connect(join(folder, SOCKET_NAME));
      socket.on('error', () => {});
      socket.resume();
      socket.end(Buffer.alloc(20_000, i));
      await once(socket, 'close');
    });
    await Promise.all(closed);
    expect((await ask('GET', '/status')).status).toBe(200);
  });

  it('a body at the bound is read, one byte more is refused before it is sent', async () => {
    const head = '{"patterns":[]';
    const body = Buffer.alloc(BODY_BYTES_MAX, ' ');
    body.write(head, 0);
    body.write('}', BODY_BYTES_MAX - 1);
    expect((await ask('POST', '/exclude', body)).status).toBe(200);
    const told = await new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': String(BODY_BYTES_MAX + 1) };
      const asked = request({ socketPath: join(folder, SOCKET_NAME), method: 'POST', path: '/exclude', headers });
      asked.on('response', (answer) => (resolve(answer.statusCode ?? 0), asked.destroy()));
      asked.on('error', reject);
      asked.flushHeaders();
    });
    expect(told).toBe(413);
  });

  it('headers beyond their bound are refused', async () => {
    expect((await ask('GET', '/status', undefined, { 'x-long': 'a'.repeat(15_000) })).status).toBe(200);
    expect((await ask('GET', '/status', undefined, { 'x-long': 'a'.repeat(17_000) })).status).toBe(431);
  });

  it.each([
    ['GET', '/hosts?limit=1000', 200],
    ['GET', '/hosts?limit=1001', 400],
    ['GET', '/hosts?limit=0', 400],
    ['GET', '/hosts?state=nonsense', 400],
    ['GET', '/dead?code=http_500', 400],
    ['GET', '/dead?limit=1000', 200],
    ['GET', '/dead?limit=1001', 400],
    ['GET', '/dead?after=xyz', 400],
    ['GET', '/hosts?unknown=1', 400],
    ['GET', '/hosts/..%2F..%2Fetc%2Fpasswd', 400],
    ['GET', '/hosts/%3Cimg%20onerror%3D1%3E', 400],
    ['GET', `/hosts/${'a'.repeat(255)}`, 404],
    ['GET', `/hosts/${'a'.repeat(256)}`, 400],
  ])('A06: %s %s is answered with %d', async (method, path, status) => {
    expect((await ask(method, path)).status).toBe(status);
  });
});

describe('errors are {error: {code, message, where, advice}}', () => {
  it.each([
    ['a route that is none', 'GET', '/nothing', undefined, 404, 'no_such_route'],
    ['another method', 'DELETE', '/status', undefined, 405, 'method_not_allowed'],
    ['a question to a wish', 'GET', '/pause', undefined, 405, 'method_not_allowed'],
    ['a refusal of the control', 'GET', '/hosts/a.test', undefined, 404, 'host_unknown'],
    ['a fault of the program', 'GET', '/tree', undefined, 500, 'internal'],
    ['no JSON', 'POST', '/seed', '{', 400, 'request_invalid'],
    ['JSON of another shape', 'POST', '/seed', '{"urls":"http://a.test/"}', 400, 'request_invalid'],
    ['a wish for nothing', 'POST', '/seed', '{"urls":[]}', 400, 'request_invalid'],
    ['a field that is none', 'POST', '/seed', '{"urls":["a.test"],"agian":true}', 400, 'request_invalid'],
    ['a prototype in disguise', 'POST', '/seed', '{"urls":["a.test"],"__proto__":{}}', 400, 'request_invalid'],
  ])('%s', async (_, method, path, body, status, code) => {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(Object.keys(answer.body.error ?? {}).sort()).toEqual(['advice', 'code', 'message', 'where']);
  });

  it('another media type is none of ours, and another method is told what there is', async () => {
    const text = await ask('POST', '/seed', 'http://a.test/', { 'content-type': 'text/html' });
    expect([text.status, text.body.error?.code]).toEqual([415, 'media_type']);
    expect((await ask('POST', '/status')).allow).toContain('GET');
  });

  it('a fault is in the log, and the next request is answered', async () => {
    lines.length = 0;
    await ask('GET', '/tree');
    expect(lines).toEqual(['control_request_failed']);
    expect((await ask('GET', '/status')).status).toBe(200);
  });
});

it('what a request says of its host and origin means nothing on a socket: only its user can connect', async () => {
  const headers = { host: 'evil.example', origin: 'https://evil.example' };
  wishes.length = 0;
  expect((await ask('POST', '/seed', '{"urls":["a.test"]}', headers)).status).toBe(200);
  expect(wishes).toEqual([{ urls: ['a.test'], again: false }]);
});

describe('who asks', () => {
  it('is told when what listens is no crawl', async () => {
    await server?.close();
    const path = join(folder, SOCKET_NAME);
    const foreign = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'));
    foreign.listen(path);
    await once(foreign, 'listening');
    await expect(exchange(folder, 'GET', '/status')).rejects.toMatchObject({ code: 'control_foreign' });
    foreign.close();
  });

  it.each([
    ['no object', 'null'],
    ['an error without a code', '{"error":"Bad Request","message":"Client Error"}'],
  ])('is told when an error is not told as ours are: %s', async (_what, json) => {
    await server?.close();
    const head = `HTTP/1.1 400 Bad\r\ncontent-length: ${json.length}\r\n\r\n`;
    const foreign = createServer((socket) => socket.end(head + json));
    foreign.listen(join(folder, SOCKET_NAME));
    await once(foreign, 'listening');
    await expect(exchange(folder, 'GET', '/status')).rejects.toMatchObject({ code: 'control_foreign' });
    foreign.close();
  });

  it.each([
    ['longer than a parameter may be', 400],
    ['longer than a head may be', HEADER_BYTES_MAX],
  ])('a host with a name %s is refused in our words', async (_what, length) => {
    await expect(exchange(folder, 'GET', `/hosts/${'a'.repeat(length)}`)).rejects.toMatchObject({
      code: 'request_invalid',
    });
  });

  it.skipIf(process.getuid?.() === 0)('is told when the crawl is another user’s', async () => {
    chmodSync(join(folder, SOCKET_NAME), 0);
    await expect(reachControl(folder)).rejects.toMatchObject({ code: 'control_unreachable' });
  });
});
