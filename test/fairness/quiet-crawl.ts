/**
 * The production engine over a quiet web in simulated time: its real actors, kernel, store and parser.
 *
 * A script plays the operator: it boots, seeds, waits for what it wants to see, kills and boots again on the same disk.
 * A commit takes longer the more rows it writes, and reads take their while, so that large commits of one host are felt
 * by the others as they are on a real disk.
 */
import type { Buffer } from 'node:buffer';
import { MemoryLevel } from 'memory-level';
import { loadConfig } from '../../src/config/load.js';
import { createBloom } from '../../src/domain/bloom.js';
import type { HostName } from '../../src/domain/host.js';
import { planTree } from '../../src/plan.js';
import { candidate, isRefused } from '../../src/page/candidate.js';
import * as addresses from '../../src/protocols/addresses.js';
import type { Part, Totals } from '../../src/protocols/commit.js';
import type { CrawlEvent } from '../../src/protocols/events.js';
import type { StorePort } from '../../src/protocols/ports.js';
import { createSimulation, type Owner, type Simulation } from '../../src/sim/events.js';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import { openStore } from '../../src/store/store.js';
import { createKernel, type Kernel } from '../../src/supervision/kernel.js';
import { engineTree } from '../../src/supervision/tree.js';
import { createQuietParsers, createQuietWeb, type QuietWeb, type Site } from './quiet-web.js';

export interface QuietSettings {
  readonly seed: number;
  readonly siteOf: (host: HostName) => Site;
  /** Beside those that every such crawl has. */
  readonly options?: readonly string[];
  /** An open store on a real disk, whose operations take no simulated time of their own; one in memory when not given. */
  readonly disk?: StorePort;
  /** The sites' known URLs are expected to be so many. */
  readonly expectedUrls?: number;
}

const OPTIONS = [
  'scope=any',
  'archive.enabled=false',
  'waitSeconds=86400',
  'page.threads=2',
  'userAgent=orbweaver/0.1 (+https://bot.example/)',
];
const SIMULATED_MS_MAX = 90 * 86_400_000;
const COMMIT_MS = 2;
const COMMIT_MS_PER_ROW = 0.01;
const READ_MS = 0.3;

/** Runs a script as an event of the world; resolves to what it answers. */
export function quietCrawl<T>(settings: QuietSettings, script: (crawl: QuietCrawl) => Promise<T>): Promise<T> {
  const simulation = createSimulation({ seed: settings.seed, simulatedMsMax: SIMULATED_MS_MAX, eventsMax: 1e9 });
  const crawl = new QuietCrawl(simulation, settings);
  return simulation.run(async () => {
    try {
      return await script(crawl);
    } finally {
      crawl.kill();
    }
  });
}

export class QuietCrawl {
  readonly web: QuietWeb;
  totals: Totals = { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 };
  /** Committed visits that had an answer, robots.txt not counted. */
  visits = 0;
  /** Hosts brought to life. */
  activations = 0;
  /** About how many rows its commits have written. */
  rows = 0;
  /** Hears of each committed visit. */
  onVisit: (host: HostName, outcome: string) => void = () => {};
  private readonly memory = new MemoryLevel<Buffer, Buffer>({
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    storeEncoding: 'buffer',
  });
  private readonly files = new MemoryFiles();
  private owner: Owner = 0;
  private kernel: Kernel | null = null;
  private lastCommand = 0;

  constructor(
    readonly simulation: Simulation,
    private readonly settings: QuietSettings,
  ) {
    this.web = createQuietWeb(simulation, settings.siteOf);
  }

  get nowMs(): number {
    return this.simulation.nowMs;
  }

  get live(): number {
    return this.kernel?.counts().actors.find(({ path }) => path === 'hosts')?.live ?? 0;
  }

  /** Resolves when it runs. */
  boot(): Promise<void> {
    this.owner += 1;
    return new Promise((resolve, reject) => {
      this.simulation.as(this.owner, () => void this.begin().then(resolve, reject), 'boot');
    });
  }

  kill(): void {
    if (this.kernel === null) return;
    this.simulation.kill(this.owner);
    this.kernel.abandon();
    this.kernel = null;
  }

  seed(urls: readonly string[]): void {
    const candidates = urls.map((url) => {
      const made = candidate(url, null, 'seed', null);
      if (isRefused(made)) throw new RangeError(`no URL: ${url}`);
      return made;
    });
    const command = ++this.lastCommand;
    const tell = () =>
      this.kernel?.tell(addresses.frontier, { type: 'seed', command, again: false, candidates, refused: [] });
    this.simulation.as(this.owner, tell, 'seed');
  }

  /** Looks every so often; rejects when it has looked for too long. */
  async until(what: string, holds: () => boolean, everyMs = 100, withinMs = 86_400_000): Promise<void> {
    const untilMs = this.nowMs + withinMs;
    while (!holds()) {
      if (this.nowMs >= untilMs) throw new Error(`after ${withinMs} ms not yet: ${what}`);
      await this.simulation.sleep(everyMs, { owner: 0, label: 'look' });
    }
  }

  private async begin(): Promise<void> {
    const { seed, options = [], expectedUrls = 100_000 } = this.settings;
    const store = this.timed(await this.open());
    const { config } = loadConfig({ cores: 2, assignments: [...OPTIONS, ...options] });
    const { totals, batch, nextSequence, settings, redrives, lastRedrive, unclean } = store.opened();
    const seen = createBloom(Math.max(expectedUrls, 2 * totals.urls));
    await store.eachKey((key) => seen.add(key));
    const chance = this.simulation.random.fork(`chance ${this.owner}`);
    const startedAtMs = Math.floor(this.simulation.wallMs);
    const first = { totals, batch, nextSequence, settings, redrives, lastRedrive, unclean };
    const inherited = { ...first, seen, startedAtMs };
    const plan = planTree({ config, pagesMax: null, endless: true }, 'orbweaver', inherited);
    this.kernel = createKernel(engineTree(plan), {
      clock: { monotonicMs: () => this.simulation.monotonicMs, wallMs: () => Math.floor(this.simulation.wallMs) },
      chance: () => chance.next(),
      store,
      tiers: { 1: this.web.net },
      names: this.web.names,
      parsers: createQuietParsers(this.simulation),
      logs: {
        log: (level, event, fields) => {
          if (level === 'error') throw new Error(`seed ${seed}: ${event} ${JSON.stringify(fields)}`);
        },
      },
      announce: (event) => this.hear(event),
    });
    this.kernel.start();
  }

  /** The disk as an incarnation finds it; to be used before the first of them, to write down what is known. */
  open(): Promise<StorePort> {
    const { disk } = this.settings;
    if (disk !== undefined) return Promise.resolve(this.standingStill(disk));
    return openStore({
      dir: 'simulated',
      open: () => this.memory,
      fileSystem: this.files,
      warcinfo: () => new Uint8Array(0),
    });
  }

  /** Real I/O, for which time stands still. */
  private standingStill(disk: StorePort): StorePort {
    const { simulation } = this;
    return new Proxy(disk, {
      get: (target, name: keyof StorePort) => {
        if (name === 'opened') return () => target.opened();
        const method = target[name] as ((...given: unknown[]) => Promise<unknown>) | undefined;
        // Whoever awaits it asks whether it is a promise.
        if (method === undefined) return undefined;
        return (...given: unknown[]) => simulation.outside(() => method.apply(target, given), name);
      },
    });
  }

  private timed(inner: StorePort): StorePort {
    const { simulation } = this;
    const read = async <T>(answer: () => Promise<T>): Promise<T> => {
      await simulation.sleep(READ_MS);
      return answer();
    };
    return {
      readRecord: (key, host) => inner.readRecord(key, host),
      countDeaths: (urls) => inner.countDeaths(urls),
      readSummary: (host) => inner.readSummary(host),
      readStanding: (record, rowsMax) => inner.readStanding(record, rowsMax),
      readDead: (key, host) => inner.readDead(key, host),
      listDead: () => Promise.resolve({ letters: [], next: null }),
      readRedrivable: () => Promise.resolve({ letters: [], robots: new Map(), next: null }),
      listRedrives: () => Promise.resolve([]),
      noteRun: (told) => inner.noteRun(told),
      lastRun: () => inner.lastRun(),
      listSummaries: (after, limit) => inner.listSummaries(after, limit),
      readSettings: () => inner.readSettings(),
      opened: () => inner.opened(),
      eachKey: (visit) => inner.eachKey(visit),
      reopen: () => inner.reopen(),
      close: () => inner.close(),
      commit: async (batch, parts, sync) => {
        const rows = rowsOf(parts);
        this.rows += rows;
        await simulation.sleep(COMMIT_MS + COMMIT_MS_PER_ROW * rows);
        return inner.commit(batch, parts, sync);
      },
      loadHost: (host, limit) => {
        this.activations += 1;
        return read(() => inner.loadHost(host, limit));
      },
      readQueue: (host, from, limit) => read(() => inner.readQueue(host, from, limit)),
      readBlocked: (host, from, limit) => read(() => inner.readBlocked(host, from, limit)),
      listHosts: (after, limit) => read(() => inner.listHosts(after, limit)),
    };
  }

  private hear(event: CrawlEvent): void {
    if (event.event === 'totals') this.totals = event.totals;
    if (event.event !== 'visit' || event.status === null) return;
    this.visits += 1;
    this.onVisit(event.host, event.outcome);
  }
}

function rowsOf(parts: readonly Part[]): number {
  return parts.reduce((rows, part) => rows + 2 * part.admitted.length + (part.kind === 'host' ? 3 : 0), 0);
}
