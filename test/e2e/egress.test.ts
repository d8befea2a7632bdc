/**
 * F18, B5: all hosts are out of reach for a while, and few retries are left to them: nobody pays for it.
 *
 * One practice web stands for the world beyond our line. The line is cut by closing its server; on its port listens
 * somebody who ends each connection at once, and counts them. Needs the built command line in `dist`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PracticeServer, startPracticeServer } from '../../src/practice/server.js';
import { type PracticeWeb, practiceWeb } from '../../src/practice/web.js';
import { EGRESS } from '../../src/protocols/workbench.js';
import { type CrawlEnd, PRODUCT_TOKEN, readLog, ROOT, startCrawl, until } from './crawl-process.js';
import { readStore, type StoreReading } from './support/data-directory.js';

const HOSTS = 10;
/** In flight when the line is cut: one a host. Then a probe after 0, 2 and 5 s. */
const PROBES = 3;

interface StatusLine {
  readonly state: string;
  readonly reasons: readonly string[];
  readonly since: string | null;
}

class CutLine {
  connections = 0;
  private server: Server | null = null;

  /** Connections that are made end at once. */
  async cut(port: number): Promise<void> {
    const server = createServer((socket) => {
      this.connections += 1;
      socket.on('error', () => {});
      socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.server = server;
  }

  async mend(): Promise<void> {
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

describe('a crawl whose line is cut for some seconds, with one delivery for each URL', () => {
  let folder: string;
  let dataDir: string;
  let web: PracticeWeb;
  let server: PracticeServer;
  let pages: readonly string[];
  let end: CrawlEnd;
  let store: StoreReading;
  let heldAt: number;
  let connections: number;
  let status: StatusLine | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-egress-'));
    dataDir = join(folder, 'data');
    const logFile = join(folder, 'crawl.log');
    web = practiceWeb({ profile: 'flat', hosts: HOSTS, pages: 300, productToken: PRODUCT_TOKEN });
    server = await startPracticeServer({ web });
    const { port } = server;
    const truth = server.truth();
    pages = truth.pages;
    const crawl = startCrawl({
      seeds: truth.seeds,
      dataDir,
      logFile,
      settings: {
        scope: 'any',
        'dns.hosts': { '*.practice.test': '127.0.0.1' },
        'guard.allow': ['127.0.0.0/8'],
        'politeness.delayMs': 100,
        'politeness.adaptiveFactor': 0,
        'politeness.addressDelayMs': 0,
        'retry.delaysSeconds': [1],
        // The first failure that is charged makes a dead letter.
        'retry.deliveriesMax': 1,
        'breaker.failures': 2,
        // A busy machine has its failures further apart.
        'egress.suspenseSeconds': 20,
      },
      words: ['--wait', '2', '--log-level', 'debug'],
    });
    await until('some pages came', () => crawl.visits.length > 60);
    const line = new CutLine();
    await server.close();
    await line.cut(port);
    const events = (event: string) => readLog(logFile).filter((one) => one.event === event);
    await until('permits are held', () => events('permits_held').some(({ why }) => why === EGRESS));
    heldAt = line.connections;
    await until('some probes were sent', () => events('egress_probe').length >= PROBES, 30_000);
    [status] = tell<StatusLine>(['status'], dataDir);
    await line.mend();
    connections = line.connections;
    server = await startPracticeServer({ web, port });
    end = await crawl.ended;
    store = await readStore(dataDir, join(folder, 'copy'));
  }, 90_000);

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('comes to the same pages all the same', () => {
    expect(end.summary).toMatchObject({ reason: 'done', deadLettered: 0, queued: 0 });
    const fetched = end.visits.filter(({ outcome }) => outcome === 'fetched').map(({ url }) => url);
    expect(fetched.filter((url) => pages.includes(url)).sort()).toEqual([...pages].sort());
  });

  it('B5: no delivery and no breaker was moved: of what failed it is said that the fault was ours', () => {
    const failed = [...store.urls.values()].flatMap(({ attempts }) => attempts.filter(({ code }) => code !== 'ok'));
    const codes = new Set(failed.map(({ code }) => code));
    // A kept connection that ends with the server's (R3) says `connection_reset`, and is charged to nobody either.
    for (const code of ['connect_failed', 'timeout', 'robots_unreadable']) expect(codes).not.toContain(code);
    expect(failed.filter(({ code }) => code === 'egress_down').length).toBeGreaterThanOrEqual(5);
    const hosts = tell<{ readonly breaker: string }>(['hosts', '--state', 'all'], dataDir);
    expect(hosts.map(({ breaker }) => breaker)).toEqual(new Array(HOSTS).fill('closed'));
    for (const { phase } of store.robots.values()) expect(phase).toBe('fresh');
  });

  it('B5: permits were held, for a reason that the status tells, and nobody but one probe at a time went out', () => {
    expect(status).toMatchObject({ state: 'held', reasons: [EGRESS], since: expect.any(String) });
    // What was in flight as the line was cut, then the probes; the last one may have found it mended.
    expect(heldAt).toBeLessThanOrEqual(HOSTS);
    expect(connections - HOSTS).toBeLessThanOrEqual(PROBES);
  });
});

/** The lines that a command prints. */
function tell<Line>(words: readonly string[], dataDir: string): readonly Line[] {
  const command = [join(ROOT, 'dist/cli/main.js'), ...words, '--data', dataDir, '--json'];
  const lines = execFileSync(process.execPath, command, { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
