import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Resolver as Probe } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResolver, type ResolverOptions } from '../../src/net/dns.js';
import { guardRules } from '../../src/net/guard.js';

const LOOPBACK = guardRules(['127.0.0.0/8', '::1/128']);
const STRICT = guardRules([]);
const signal = new AbortController().signal;

function clockAt(startMs = 0) {
  let nowMs = startMs;
  return { monotonicMs: () => nowMs, pass: (ms: number) => (nowMs += ms) };
}

/** A name server that answers nothing: port 9 of loopback. */
function resolver(options: Partial<ResolverOptions>) {
  return createResolver({ guard: LOOPBACK, clock: clockAt(), servers: ['127.0.0.1:9'], ...options });
}

const addressesOf = (resolution: { kind: string }) =>
  (resolution as { addresses?: { address: string }[] }).addresses?.map((one) => one.address);

describe('literals are vetted without a query (S1)', () => {
  it.each(['127.0.0.1', '[::1]', '::1', '0x7f.1', '2130706433', '127。0。0。1', '[::ffff:7f00:1]', '169.254.169.254'])(
    '%s',
    async (host) => {
      expect((await resolver({ guard: STRICT }).resolve(host, signal)).kind).toBe('refused');
    },
  );

  it('and pass where they are allowed', async () => {
    expect(addressesOf(await resolver({}).resolve('127.1', signal))).toEqual(['127.0.0.1']);
    expect(addressesOf(await resolver({}).resolve('[::1]', signal))).toEqual(['::1']);
  });
});

describe('names that can not exist are not asked for (RFC 1035 §2.3.4)', () => {
  const label = (octets: number) => 'a'.repeat(octets);
  const name253 = [label(63), label(63), label(63), label(61)].join('.');
  const hosts = { [label(63)]: '127.0.0.1', [name253]: '127.0.0.1' };

  it('a label of 63 octets and a name of 253 are names', async () => {
    expect((await resolver({ hosts }).resolve(label(63), signal)).kind).toBe('addresses');
    expect((await resolver({ hosts }).resolve(name253, signal)).kind).toBe('addresses');
  });

  it.each([label(64), `${name253}a`, '', '.', 'a..b', 'a b', 'a/b', 'a:80', 'u@a', '[::1', 'a%zz'])(
    '%j',
    async (host) => {
      expect(await resolver({ hosts: { '*.a': '127.0.0.1' } }).resolve(host, signal)).toMatchObject({
        kind: 'failed',
        code: 'dns_not_found',
        expiresInMs: 300_000,
      });
    },
  );
});

describe('static hosts', () => {
  const hosts = {
    '*.test': '127.0.0.1',
    '*.deep.test': ['127.0.0.2', '::1'],
    'exact.deep.test': '127.0.0.3',
    'metadata.test': '169.254.169.254',
    'mixed.test': ['127.0.0.1', '10.0.0.1'],
  };
  it.each([
    ['a.test', ['127.0.0.1']],
    ['a.b.c.test', ['127.0.0.1']],
    ['a.deep.test', ['127.0.0.2', '::1']],
    ['deep.test', ['127.0.0.1']],
    ['exact.deep.test', ['127.0.0.3']],
    ['A.TEST.', ['127.0.0.1']],
    ['exa_mple.test', ['127.0.0.1']],
  ])('%s', async (name, addresses) => {
    const resolution = await resolver({ hosts }).resolve(name, signal);
    expect(addressesOf(resolution)).toEqual(addresses);
  });

  it('pass the guard like any answer (S1)', async () => {
    expect((await resolver({ hosts }).resolve('metadata.test', signal)).kind).toBe('refused');
    expect((await resolver({ hosts }).resolve('mixed.test', signal)).kind).toBe('refused');
    expect((await resolver({ hosts, guard: STRICT }).resolve('a.test', signal)).kind).toBe('refused');
  });

  it('a "*" stands for every name that nothing else names', async () => {
    const names = resolver({ hosts: { '*': '127.0.0.1', 'b.test': '127.0.0.2', '*.c.test': '127.0.0.3' } });
    const of = async (name: string) => {
      const found = await names.resolve(name, signal);
      return found.kind === 'addresses' ? found.addresses[0]?.address : found.kind;
    };
    expect(await Promise.all(['a.test', 'b.test', 'x.c.test'].map(of))).toEqual([
      '127.0.0.1',
      '127.0.0.2',
      '127.0.0.3',
    ]);
  });

  it('are read strictly', () => {
    expect(() => resolver({ hosts: { 'a.test': 'b.test' } })).toThrow('b.test');
    expect(() => resolver({ hosts: { 'a.test': [] } })).toThrow('a.test');
    expect(() => resolver({ hosts: { 'a b': '127.0.0.1' } })).toThrow('a b');
    expect(() => resolver({ servers: ['nowhere'] })).toThrow('nowhere');
    expect(() => resolver({ servers: [] })).toThrow('dns.servers');
  });
});

describe('localhost is loopback (RFC 6761 §6.3)', () => {
  it.each(['localhost', 'a.localhost', 'LOCALHOST.'])('%s', async (name) => {
    expect(addressesOf(await resolver({}).resolve(name, signal))).toEqual(['127.0.0.1', '::1']);
    expect((await resolver({ guard: STRICT }).resolve(name, signal)).kind).toBe('refused');
  });

  it('as far as it is allowed', async () => {
    const overV4 = resolver({ guard: guardRules(['127.0.0.0/8']) });
    expect(addressesOf(await overV4.resolve('localhost', signal))).toEqual(['127.0.0.1']);
    const overV6 = resolver({ guard: guardRules(['::1']) });
    expect(addressesOf(await overV6.resolve('localhost', signal))).toEqual(['::1']);
  });
});

describe('the system’s hosts file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is honoured without configured servers, and only then', async () => {
    const hostsFile = join(folder, 'hosts');
    writeFileSync(hostsFile, '# comment\n127.0.0.5\tBox box.lan # c\nnonsense x.lan\n::1 box\n10.0.0.9 inner.lan\n');
    const listed = createResolver({ guard: LOOPBACK, clock: clockAt(), hostsFile });
    expect(addressesOf(await listed.resolve('box', signal))).toEqual(['127.0.0.5', '::1']);
    expect(addressesOf(await listed.resolve('box.lan', signal))).toEqual(['127.0.0.5']);
    expect((await listed.resolve('inner.lan', signal)).kind).toBe('refused');
    expect((await resolver({ hostsFile }).resolve('box', signal)).kind).toBe('failed');
  });
});

/** Answers from a script: each query is recorded, and answered as the script says for its name and type. */
class ScriptedNameServer {
  readonly asked: string[] = [];
  readonly #socket: Socket;
  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async start(script: (name: string, type: 'A' | 'AAAA') => Reply): Promise<ScriptedNameServer> {
    const socket = createSocket('udp4');
    const server = new ScriptedNameServer(socket);
    socket.on('message', (query, from) => {
      const { name, type } = question(query);
      server.asked.push(`${name} ${type}`);
      const answer = reply(query, script(name, type));
      if (answer !== null) socket.send(answer, from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }
}

type Reply = { rcode: number } | { records: Buffer[]; ttl: number } | 'silence';
const v4 = (dotted: string) => Buffer.from(dotted.split('.').map(Number));
const LOOPBACK_V6 = Buffer.from('00000000000000000000000000000001', 'hex');

function question(query: Buffer): { name: string; type: 'A' | 'AAAA' } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1) === 28 ? 'AAAA' : 'A' };
}

function reply(query: Buffer, answer: Reply): Buffer | null {
  if (answer === 'silence') return null;
  const records = 'records' in answer ? answer.records : [];
  let end = 12;
  while (query.readUInt8(end) > 0) end += 1 + query.readUInt8(end);
  const asked = query.subarray(12, end + 5);
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | ('rcode' in answer ? answer.rcode : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const lines = records.map((data) => {
    const line = Buffer.alloc(12);
    line.writeUInt16BE(0xc00c, 0);
    line.writeUInt16BE(data.length === 16 ? 28 : 1, 2);
    line.writeUInt16BE(1, 4);
    line.writeUInt32BE('ttl' in answer ? answer.ttl : 0, 6);
    line.writeUInt16BE(data.length, 10);
    return Buffer.concat([line, data]);
  });
  return Buffer.concat([header, asked, ...lines]);
}

describe('the cache, against a scripted name server', () => {
  async function scripted(script: (name: string, type: 'A' | 'AAAA', count: number) => Reply, guard = LOOPBACK) {
    let count = 0;
    const server = await ScriptedNameServer.start((name, type) => script(name, type, count++));
    const clock = clockAt(1000);
    return { server, clock, names: createResolver({ guard, clock, servers: [server.address] }) };
  }
  const onlyA =
    (ttl: number) =>
    (_: string, type: string): Reply =>
      type === 'A' ? { records: [v4('127.0.0.1')], ttl } : { records: [], ttl };

  it('shares look-ups of one name under way', async () => {
    const { server, names } = await scripted(onlyA(60));
    await Promise.all(Array.from({ length: 20 }, () => names.resolve('a.example', signal)));
    expect(server.asked.sort()).toEqual(['a.example A', 'a.example AAAA']);
    server.close();
  });

  it.each([
    ['0 s', 0, 5_000],
    ['7 s', 7, 7_000],
    ['1 h', 3_600, 3_600_000],
    ['1 week', 604_800, 3_600_000],
  ])('keeps an answer with a TTL of %s within 5 s and 1 h', async (_title, ttl, livesMs) => {
    const { server, clock, names } = await scripted(onlyA(ttl));
    expect((await names.resolve('a.example', signal)).expiresInMs).toBe(livesMs);
    clock.pass(livesMs - 1);
    expect((await names.resolve('a.example', signal)).expiresInMs).toBe(1);
    expect(server.asked.length).toBe(2);
    clock.pass(1);
    expect((await names.resolve('a.example', signal)).expiresInMs).toBe(livesMs);
    expect(server.asked.length).toBe(4);
    server.close();
  });

  it('refuses a mixed answer, across A and AAAA too (S1)', async () => {
    const rules = guardRules(['127.0.0.0/8']);
    const { server, names } = await scripted(
      (_, type) => (type === 'A' ? { records: [v4('127.0.0.1')], ttl: 60 } : { records: [LOOPBACK_V6], ttl: 60 }),
      rules,
    );
    expect(await names.resolve('a.example', signal)).toMatchObject({ kind: 'refused', expiresInMs: 60_000 });
    server.close();
  });

  it.each([
    ['SERVFAIL', { rcode: 2 }],
    ['REFUSED', { rcode: 5 }],
    ['silence', 'silence'],
  ] as const)('a AAAA answered with %s spoils no A', async (_title, failure) => {
    const { server, names } = await scripted((_, type) =>
      type === 'A' ? { records: [v4('127.0.0.1')], ttl: 60 } : failure,
    );
    expect(addressesOf(await names.resolve('a.example', signal))).toEqual(['127.0.0.1']);
    names.close();
    server.close();
  });

  it('an A that fails leaves the AAAA', async () => {
    const { server, names } = await scripted((_, type) =>
      type === 'A' ? { rcode: 2 } : { records: [LOOPBACK_V6], ttl: 60 },
    );
    expect(addressesOf(await names.resolve('a.example', signal))).toEqual(['::1']);
    server.close();
  });

  it('backs off from a failing server by 5 s steps to 30 s', async () => {
    const { server, clock, names } = await scripted(() => ({ rcode: 2 }));
    const lives: number[] = [];
    for (let i = 0; i < 8; i++) {
      const resolution = await names.resolve('a.example', signal);
      expect(resolution).toMatchObject({ kind: 'failed', code: 'dns_failed' });
      lives.push(resolution.expiresInMs);
      clock.pass(resolution.expiresInMs);
    }
    expect(lives).toEqual([5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 30_000, 30_000]);
    server.close();
  });

  it('keeps NXDOMAIN and empty answers for five minutes', async () => {
    const { server, names } = await scripted((name) =>
      name === 'no.example' ? { rcode: 3 } : { records: [], ttl: 60 },
    );
    for (const name of ['no.example', 'empty.example']) {
      expect(await names.resolve(name, signal)).toMatchObject({
        kind: 'failed',
        code: 'dns_not_found',
        expiresInMs: 300_000,
      });
    }
    server.close();
  });

  it('a caller that gives up rejects with its reason; the others get their answer', async () => {
    const { server, names } = await scripted(onlyA(60));
    const impatient = new AbortController();
    const given = names.resolve('a.example', impatient.signal);
    const patient = names.resolve('a.example', signal);
    impatient.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    expect((await patient).kind).toBe('addresses');
    server.close();
  });

  it('is bounded', async () => {
    const server = await ScriptedNameServer.start(onlyA(60));
    const names = createResolver({ guard: LOOPBACK, clock: clockAt(), servers: [server.address], entriesMax: 2 });
    for (const name of ['a.example', 'b.example', 'c.example', 'a.example']) await names.resolve(name, signal);
    expect(server.asked.filter((one) => one === 'a.example A').length).toBe(2);
    server.close();
  });

  it('close ends what is under way', async () => {
    const { server, names } = await scripted(() => 'silence');
    const given = names.resolve('a.example', signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    names.close();
    expect(await given).toMatchObject({ kind: 'failed', code: 'dns_failed' });
    server.close();
  });
});

const DNSMASQ = '/usr/sbin/dnsmasq';

describe.skipIf(!existsSync(DNSMASQ))('against dnsmasq', () => {
  const port = 20_000 + (process.pid % 20_000);
  let folder: string;
  let server: ChildProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dnsmasq-'));
    const config = join(folder, 'dnsmasq.conf');
    writeFileSync(
      config,
      [
        `port=${port}`,
        'listen-address=127.0.0.1',
        'bind-interfaces',
        'no-resolv',
        'no-hosts',
        'local=/web.example/',
        'host-record=a.web.example,127.0.0.7,33',
        'host-record=both.web.example,127.0.0.8,::1,60',
        'host-record=mixed.web.example,127.0.0.9',
        'host-record=mixed.web.example,10.0.0.1',
        'address=/deep.web.example/127.0.0.10',
        'cname=alias.web.example,a.web.example',
      ].join('\n'),
    );
    server = spawn(DNSMASQ, ['-k', '-C', config, '--pid-file=', '--user=root'], { stdio: 'ignore' });
    const probe = new Probe({ timeout: 200, tries: 1 });
    probe.setServers([`127.0.0.1:${port}`]);
    for (let i = 0; i < 50; i++) {
      const up = await probe.resolve4('a.web.example').then(
        () => true,
        () => false,
      );
      if (up) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('dnsmasq did not start');
  });
  afterAll(async () => {
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true });
  });

  const names = () => createResolver({ guard: LOOPBACK, clock: clockAt(), servers: [`127.0.0.1:${port}`] });

  it('reads addresses and times to live', async () => {
    expect(await names().resolve('a.web.example', signal)).toEqual({
      kind: 'addresses',
      addresses: [{ address: '127.0.0.7', family: 4 }],
      expiresInMs: 33_000,
    });
    expect(addressesOf(await names().resolve('both.web.example', signal))).toEqual(['127.0.0.8', '::1']);
    expect(addressesOf(await names().resolve('alias.web.example', signal))).toEqual(['127.0.0.7']);
    expect(addressesOf(await names().resolve('x.y.deep.web.example', signal))).toEqual(['127.0.0.10']);
  });

  it('tells a missing name from a refusing server', async () => {
    expect(await names().resolve('missing.web.example', signal)).toMatchObject({ code: 'dns_not_found' });
    expect(await names().resolve('elsewhere.invalid', signal)).toMatchObject({ code: 'dns_failed' });
  });

  it('refuses a mixed answer (S1)', async () => {
    const resolution = await names().resolve('mixed.web.example', signal);
    expect(resolution).toMatchObject({ kind: 'refused', detail: expect.stringContaining('10.0.0.1') });
  });
});
