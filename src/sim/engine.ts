/**
 * The production engine in a universe: its real actors, kernel, store, files and parser, over simulated ports.
 *
 * Nothing here decides; it is the composition root once more, with the adapters that simulated time needs: the
 * database and the files are in memory and outlive the incarnation, as a disk does.
 */
import type { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { loadConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { createBloom } from '../domain/bloom.js';
import { planTree } from '../plan.js';
import { candidate, isRefused } from '../page/candidate.js';
import { parse } from '../page/parse.js';
import type { Change, RedriveDead, Seed } from '../protocols/frontier.js';
import * as addresses from '../protocols/addresses.js';
import type { CrawlEvent, EndReason } from '../protocols/events.js';
import type { StorePort } from '../protocols/ports.js';
import { sortedLines } from '../sinks/cdxj.js';
import type { FileSystem } from '../sinks/files.js';
import { MemoryFiles } from '../sinks/memory-files.js';
import type { Database } from '../store/database.js';
import { warcinfoRecord } from '../sinks/warc-record.js';
import { openStore } from '../store/store.js';
import { createKernel, type Kernel } from '../supervision/kernel.js';
import { steadyClock } from '../supervision/steady-clock.js';
import { engineTree } from '../supervision/tree.js';
import type { Simulation } from './events.js';
import { RealMedium } from './level.js';
import { PoweredLevel } from './power.js';
import type { Random } from './random.js';
import { slowFiles } from './store.js';
import type { Composition, Engine, EngineMemory, RunningCrawl } from './universe.js';
import type { PageTold } from './verdict.js';

const PRODUCT_TOKEN = 'orbweaver';
const USER_AGENT = `${PRODUCT_TOKEN}/0.1 (+https://bot.example/)`;
/** Long enough that nothing which will ever fall due is left behind. */
const WAIT_SECONDS = 86_400;
/** Where there are doors there is what gets through them; nothing of it is asked for at this address. */
const BROWSERS: readonly string[] = [
  'impersonate.sites=["*"]',
  'browser.endpoint=http://192.0.2.1:8191/v1',
  'browser.secondsPerHostAndDay=7200',
];
const EXPECTED_URLS = 10_000;
/** So that in a large web none of its links is taken for a known one. */
const EXPECTED_PER_PAGE = 20;
/** Small, so that files are changed. */
const ARCHIVE_BYTES_MAX = 40_000;

/** @param options beside those that every simulated crawl has, as in `browser.breaker=false` */
export function productionEngine(options: readonly string[] = []): Engine {
  return {
    createMemory: (simulation, { medium }) =>
      medium === 'disk' ? new DiskMemory(new RealMedium(simulation)) : new ProductionMemory(simulation),
    boot: (composition) => bootProduction({ ...composition, options }),
    // Time stands still in a parse: it takes what the parser threads' event takes.
    parse: (task) => parse(task, () => 0),
  };
}

function openStoreOn(directory: string, open: () => Database, fileSystem: FileSystem): Promise<StorePort> {
  return openStore({
    dir: directory,
    archiveBytesMax: ARCHIVE_BYTES_MAX,
    open,
    fileSystem,
    warcinfo: (filename) =>
      warcinfoRecord({ filename, software: 'Orbweaver', operator: USER_AGENT, userAgent: USER_AGENT, createdAtMs: 0 }),
  });
}

class ProductionMemory implements EngineMemory {
  readonly #database = new PoweredLevel();
  readonly #files = new MemoryFiles();
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  open(): Promise<StorePort> {
    return openStoreOn('simulated', () => this.#database, slowFiles(this.#simulation, this.#files));
  }

  failInside(): void {
    this.#files.failNext('write', Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), 10);
  }

  losePower(random: Random): Promise<number> {
    this.#files.losePower(random.next());
    return this.#database.losePower(random);
  }

  readPages(): Promise<readonly PageTold[]> {
    return Promise.resolve(pagesIn(this.#files));
  }

  readArchive(): Promise<readonly string[]> {
    return Promise.resolve(archiveFaults(this.#files));
  }
}

/** A real LevelDB and real files. */
class DiskMemory implements EngineMemory {
  readonly #medium: RealMedium;

  constructor(medium: RealMedium) {
    this.#medium = medium;
  }

  open(): Promise<StorePort> {
    return openStoreOn(this.#medium.directory, () => this.#medium.open(), this.#medium.files);
  }

  crashed(): void {
    this.#medium.crashed();
  }

  dispose(): void {
    this.#medium.dispose();
  }

  readPages(): Promise<readonly PageTold[]> {
    return Promise.resolve(pagesIn(this.#medium));
  }

  readArchive(): Promise<readonly string[]> {
    return Promise.resolve(archiveFaults(this.#medium));
  }
}

/** Files as they lie there. */
type Lying = Pick<RealMedium, 'names' | 'bytes'>;

/** Lines whose end was written: what is beyond the committed length has been cut by the last opening. */
function pagesIn(files: Lying): readonly PageTold[] {
  const lines = files.bytes('pages.jsonl').toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as PageTold);
}

/** Every record is there, each revisit after the response that it refers to, and the index beside it is in order. */
function archiveFaults(files: Lying): readonly string[] {
  const faults: string[] = [];
  const responses = new Set<string>();
  for (const name of files.names().filter((it) => it.endsWith('.warc.gz'))) {
    const text = recordsIn(files.bytes(name));
    if (text === null) {
      faults.push(`${name} ends in the middle of a record`);
      continue;
    }
    for (const [, type, id] of text.matchAll(/^WARC-Type: (response|revisit)\r\nWARC-Record-ID: (\S+)\r$/gm)) {
      if (type === 'response') responses.add(id as string);
    }
    for (const [, original] of text.matchAll(/^WARC-Refers-To: (\S+)\r$/gm)) {
      if (!responses.has(original as string)) faults.push(`${name}: a revisit of ${original}, which is not there`);
    }
    const index = files.bytes(name.replace(/\.warc\.gz$/, '.cdxj'));
    if (!sortedLines(index).equals(index)) faults.push(`the index of ${name} is not sorted`);
  }
  return faults;
}

/** Null where it is torn. A file that was taken back to its beginning is empty. */
function recordsIn(bytes: Buffer): string | null {
  if (bytes.length === 0) return '';
  try {
    return gunzipSync(bytes).toString('latin1');
  } catch {
    return null;
  }
}

interface Configured extends Composition {
  readonly options: readonly string[];
}

function bootProduction(composition: Configured): RunningCrawl {
  let interrupt = (): void => {};
  const told = new Wishes();
  const interrupted = new Promise<EndReason>((resolve) => {
    interrupt = () => resolve('interrupted');
  });
  let kernel: Kernel | null = null;
  const onKernel = (begun: Kernel): void => {
    kernel = begun;
  };
  return {
    stopped: runProduction(composition, interrupted, told, onKernel),
    stop: () => interrupt(),
    forget: () => kernel?.abandon(),
    change: (change) => told.ask({ type: 'change', change }),
    redrive: (rate, who) =>
      told.ask({
        type: 'redriveDead',
        wish: { filter: ALL_DEAD, rate, way: 'api', who, matched: 0, untilMs: Number.MAX_SAFE_INTEGER },
      }),
    seed: (urls, again = false) => told.ask({ type: 'seed', again, candidates: urls.map(seedOf), refused: [] }),
  };
}

const ALL_DEAD = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null } as const;

type Wish = Omit<Seed, 'command'> | Omit<Change, 'command'> | Omit<RedriveDead, 'command'>;

/** What is told to a crawl while it may still be opening. */
class Wishes {
  #command = 1;
  readonly #waiting: Wish[] = [];
  #tell: ((message: Seed | Change | RedriveDead) => void) | null = null;

  ask(wish: Wish): void {
    if (this.#tell === null) this.#waiting.push(wish);
    else this.#tell({ ...wish, command: ++this.#command });
  }

  set heard(tell: (message: Seed | Change | RedriveDead) => void) {
    this.#tell = tell;
    for (const wish of this.#waiting.splice(0)) this.ask(wish);
  }
}

/** Opens, runs until the end or the interrupt, drains, closes: the steps of the production root, in its order. */
async function runProduction(
  composition: Configured,
  interrupted: Promise<EndReason>,
  told: Wishes,
  onKernel: (kernel: Kernel) => void,
): Promise<EndReason> {
  const { seeds, again, machine } = composition;
  // What an earlier life's clock had come to is left out: the silences that it kept stand beside each host.
  const ports = { ...composition.ports, clock: steadyClock(composition.ports.clock, null, () => {}) };
  const { totals, batch, nextSequence, settings, redrives, lastRedrive, unclean } = ports.store.opened();
  const seen = createBloom(Math.max(EXPECTED_URLS, 2 * totals.urls, EXPECTED_PER_PAGE * composition.settings.pages));
  await ports.store.eachKey((key) => seen.add(key));
  const candidates = seeds.map(seedOf);
  const endless = composition.settings.forMs > 0;
  const options = { config: configOf(composition), pagesMax: null, endless };
  const plan = planTree(options, PRODUCT_TOKEN, {
    totals,
    batch,
    nextSequence,
    settings,
    redrives,
    lastRedrive,
    unclean,
    seen,
    startedAtMs: ports.clock.wallMs(),
    machine,
  });

  const listeners = { ended: (_: EndReason): void => {}, drained: (): void => {} };
  const ended = new Promise<EndReason>((resolve) => {
    listeners.ended = resolve;
  });
  const drained = new Promise<void>((resolve) => {
    listeners.drained = resolve;
  });
  const announce = (event: CrawlEvent): void => {
    if (event.event === 'ended') listeners.ended(event.reason);
    if (event.event === 'drained') listeners.drained();
    ports.announce(event);
  };
  const kernel = createKernel(
    engineTree(plan),
    { ...ports, announce },
    {
      trace: composition.trace,
      faults: composition.faults,
    },
  );
  onKernel(kernel);
  kernel.start();
  kernel.tell(addresses.frontier, { type: 'seed', command: 1, again, candidates, refused: [] });
  told.heard = (message) => kernel.tell(addresses.frontier, message);
  const end = await Promise.race([ended, interrupted, kernel.failed]);
  if (typeof end !== 'string') throw new Error(`the tree failed at ${end.actor}: ${end.reason}`);
  kernel.tell(addresses.workbench, { type: 'drain' });
  await Promise.race([drained, kernel.failed]);
  await kernel.stop();
  await ports.store.close();
  return end;
}

function seedOf(url: string) {
  const made = candidate(url, null, 'seed', null);
  if (isRefused(made)) throw new RangeError(`a seed of the landscape was refused: ${url}`);
  return made;
}

function configOf({
  settings: { delayMs, addressDelayMs, adaptiveFactor, doors, retriesPerMinute },
  options,
}: Configured): Config {
  const set = [
    `politeness.delayMs=${delayMs}`,
    `politeness.addressDelayMs=${addressDelayMs}`,
    `politeness.adaptiveFactor=${adaptiveFactor}`,
    'scope=any',
    `waitSeconds=${WAIT_SECONDS}`,
    'page.threads=2',
    'fetch.slots=16',
    ...(doors > 0 ? BROWSERS : []),
    ...(retriesPerMinute > 0 ? ['retry.budgetShare=0', `retry.budgetPerHostAndMinute=${retriesPerMinute}`] : []),
    `userAgent=${USER_AGENT}`,
    ...options,
  ];
  return loadConfig({ cores: 2, assignments: set }).config;
}
