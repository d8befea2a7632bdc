import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { changesBy } from './admin/changes.js';
import type { ControlServer } from './admin/open.js';
import type { Control, TreeReport } from './admin/control.js';
import { type Changes, Desk, type Live } from './admin/desk.js';
import { Rate } from './admin/rate.js';
import { Redrivings, type Redriven } from './admin/redriving.js';
import type { Sown } from './admin/seeds.js';
import { literalRefusal } from './admin/seed-rules.js';
import type { RunFacts } from './admin/status.js';
import type { Config } from './config/schema.js';
import { createBloom } from './domain/bloom.js';
import type { CrawlSettings } from './domain/crawl-settings.js';
import type { DeliveryTerms } from './domain/delivery.js';
import type { Code } from './domain/outcome.js';
import type { HostName } from './domain/host.js';
import type { Redrive, RedriveWish } from './domain/redrive.js';
import type { Candidate } from './domain/url.js';
import { createResolver } from './net/dns.js';
import { guardRules } from './net/guard.js';
import { candidate, isRefused } from './page/candidate.js';
import { takeNotes } from './page/in-hand.js';
import { loadPlugIns } from './page/plug-ins.js';
import { createParserThreads } from './page/parser-pool.js';
import type { PlugInModules } from './plugins/modules.js';
import type { UrlFilter } from './plugins/url-filter.js';
import { hostDelayMs } from './policy/delay.js';
import { hostBudgetOf } from './config/retry-budget.js';
import { type Machine, stampOf } from './policy/elapsed.js';
import { productTokenOf } from './policy/robots/agent.js';
import { planTree } from './plan.js';
import { browserTier, impersonatorOf, plainClientOf, tiersOf } from './tiers.js';
import * as addresses from './protocols/addresses.js';
import type { BenchFacts } from './protocols/bench.js';
import type { Totals } from './protocols/commit.js';
import type { CrawlEvent, EndReason } from './protocols/events.js';
import type { RulesChange } from './protocols/frontier.js';
import type { Clock, FetchPort, LogPort, Ports, StorePort, TierPorts } from './protocols/ports.js';
import { warcinfoRecord } from './sinks/warc-record.js';
import { openStore } from './store/store.js';
import { runNote } from './why/last-run.js';
import type { InFlight } from './why/live.js';
import type { FaultPlan } from './supervision/faults.js';
import type { KernelCounts } from './supervision/counts.js';
import { createKernel, type Kernel } from './supervision/kernel.js';
import { readClockNote, thisMachine, writeClockNote } from './supervision/clock.js';
import { drawTree } from './supervision/picture.js';
import type { GroupSpec } from './supervision/specification.js';
import { steadyClock } from './supervision/steady-clock.js';
import { engineTree, type TreePlan } from './supervision/tree.js';

export interface CrawlOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly seeds: readonly Candidate[];
  /** Fetch seeds that are known already once more. */
  readonly again?: boolean;
  readonly pagesMax: number | null;
  readonly secondsMax: number | null;
  /** Goes on when nothing is left, waiting for seeds and for what falls due. */
  readonly endless?: boolean;
  readonly log: LogPort;
  readonly onEvent?: (event: CrawlEvent) => void;
  /** Listen for commands in the data directory; it does unless told otherwise. */
  readonly listens?: boolean;
  /** Plug-ins of the program that embeds the crawl. */
  readonly urlFilter?: UrlFilter;
  readonly plugIns?: PlugInModules;
  /** What goes with each page to `onEvent`; without it no page does. */
  readonly delivers?: DeliveryTerms;
  /** Crashes on purpose, for tests: actors by the plan, parser threads by the practice web's header. */
  readonly faults?: FaultPlan;
}

/**
 * What one run came to. Each visit has one outcome, and each outcome has its count; the rest of the requests asked for
 * robots.txt. Counts are of this run, but for `deadLettered`, `discovered` and `queued`: those
 * are of the store.
 */
export interface CrawlOutcome {
  readonly requests: number;
  readonly fetched: number;
  readonly unchanged: number;
  readonly redirected: number;
  readonly missing: number;
  readonly gone: number;
  readonly throttled: number;
  readonly parked: number;
  /** Deliveries that failed; a URL can have several. */
  readonly failed: number;
  /** URLs given up in this run. */
  readonly died: number;
  readonly blockedByRobots: number;
  readonly refused: number;
  readonly challenged: number;
  /** What was found and left by the rules of the crawl, by code; once each time it was found. */
  readonly refusedOnAdmission: Readonly<Partial<Record<Code, number>>>;
  readonly deadLettered: number;
  readonly discovered: number;
  readonly queued: number;
  readonly durationSeconds: number;
  readonly reason: EndReason | 'crashed';
  /** Why it crashed; null when it did not. */
  readonly failure: string | null;
  readonly waiting: readonly { readonly host: HostName; readonly wakeAtMs: number }[];
  readonly archive: readonly string[];
}

export interface Crawl {
  readonly dataDir: string;
  /** Resolves when everything is closed. */
  readonly ended: Promise<CrawlOutcome>;
  /** What it knows of itself at this moment. */
  facts(): RunFacts;
  counts(): KernelCounts;
  /** What can be asked of it from outside, and wished. */
  readonly control: Control;
  /** Where the control interface listens; null where it does not. */
  readonly socket: string | null;
  /** Lets no request begin until each reason that was given is released. */
  hold(why: string): void;
  release(why: string): void;
  /** Ends after the visits that are open; they are committed. */
  interrupt(): void;
}

/** The real clock. `performance.now` never runs backwards; the wall clock is asked for each instant. */
export const SYSTEM_CLOCK: Clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** Goes on from where the clock of the crawl's last life was, and notes down for the next one what it shows. */
function clockIn(directory: string, machine: Machine | undefined, log: LogPort): Clock {
  const note = (): void => {
    if (machine === undefined) return;
    writeClockNote(directory, stampOf(machine, { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }));
  };
  const clock = steadyClock(SYSTEM_CLOCK, readClockNote(directory, machine, SYSTEM_CLOCK), (byMs) => {
    log.log('warn', 'clock_stepped', { byMs });
    note();
  });
  note();
  return clock;
}

/** Pages a second of late: half of it is of the last so many. */
const RATE_HALF_LIFE_MS = 10_000;
/** An actor that answers later is as good as down. */
const ANSWER_MS_MAX = 2_000;
/** Visits that don't end by then are left open: their URLs stay queued. */
const DRAIN_MS_MAX = 45_000;

/**
 * Opens everything and starts. Rejects with StoreError, with PlugInError, or with Error for a configuration that can't
 * be put to work.
 */
export async function openCrawl(wished: CrawlOptions): Promise<Crawl> {
  const { log } = wished;
  const productToken = productTokenOf(wished.config.userAgent);
  if (productToken === null) throw new Error(`userAgent begins with no product token: ${wished.config.userAgent}`);
  // Looked at here, where a mistake can still be answered for; each parser thread loads its own.
  if (wished.plugIns !== undefined) await loadPlugIns(wished.plugIns);
  const guard = guardRules(wished.config.guard.allow);
  const impersonator = await impersonatorOf(wished.config, guard, SYSTEM_CLOCK, log);
  const options = impersonator === null ? withoutSecondTier(wished) : wished;
  const { config } = options;
  const servers = config.dns.servers.length === 0 ? {} : { servers: config.dns.servers };
  const names = createResolver({ guard, clock: SYSTEM_CLOCK, hosts: config.dns.hosts, ...servers });
  const net = plainClientOf(config, guard, SYSTEM_CLOCK);
  const rendering = browserTier(config, { guard, names, clock: SYSTEM_CLOCK });
  const store = await storeOf(options);
  const parsers = createParserThreads({
    threads: config.page.threads,
    faults: options.faults !== undefined,
    noteDirectory: options.dataDir,
    ...(options.plugIns === undefined ? {} : { plugIns: options.plugIns }),
  });
  const closing = async (): Promise<void> => {
    await parsers.close();
    names.close();
    await impersonator?.close();
    await rendering?.close();
    await net.close();
    await store.close();
  };
  try {
    await countDeaths(options.dataDir, store, log);
    await store.noteRun(runNote(config));
    for (const note of store.opened().notes) log.log('warn', 'store_repaired', { note });
    const machine = thisMachine(SYSTEM_CLOCK);
    const clock = clockIn(options.dataDir, machine, log);
    const outside = {
      clock,
      chance: Math.random,
      tiers: tiersOf(net, impersonator, rendering),
      names,
      parsers,
      logs: log,
    };
    const { totals, batch, nextSequence, settings, redrives, lastRedrive, unclean } = store.opened();
    const seen = createBloom(Math.max(config.seen.expectedUrls, 2 * totals.urls));
    await store.eachKey((key) => seen.add(key));
    const plan = planTree(options, productToken, {
      totals,
      batch,
      nextSequence,
      settings,
      redrives,
      lastRedrive,
      unclean,
      seen,
      startedAtMs: clock.wallMs(),
      ...(machine === undefined ? {} : { machine }),
    });
    log.log('info', 'crawl_started', { dataDir: options.dataDir, seeds: options.seeds.length, known: totals.urls });
    const running = new RunningCrawl(options, plan, { ...outside, store }, closing);
    if (options.listens !== false) await running.listen();
    return running;
  } catch (error) {
    await closing();
    throw error;
  }
}

function storeOf({ config, dataDir }: CrawlOptions): ReturnType<typeof openStore> {
  return openStore({
    dir: dataDir,
    archiveBytesMax: config.archive.fileBytesMax,
    warcinfo: (filename) =>
      warcinfoRecord({
        filename,
        software: 'Orbweaver/0.1',
        operator: config.userAgent,
        userAgent: config.userAgent,
        createdAtMs: Date.now(),
      }),
  });
}

/** The ladder goes on without that rung. */
function withoutSecondTier(options: CrawlOptions): CrawlOptions {
  const { config } = options;
  return { ...options, config: { ...config, impersonate: { ...config.impersonate, sites: [] } } };
}

/** Pages that an earlier process had in hand when it died: each may be why. */
async function countDeaths(dataDir: string, store: StorePort, log: LogPort): Promise<void> {
  const inHand = takeNotes(dataDir).flatMap((url) => {
    const made = candidate(url, null, 'link', null);
    return isRefused(made) ? [] : [made];
  });
  for (const { url, processDeaths } of await store.countDeaths(inHand)) {
    log.log('warn', 'in_hand_at_death', { url, processDeaths });
  }
}

/** What a running crawl is asked and told from outside. */
function deskOf(options: CrawlOptions, { store, clock }: Pick<Ports, 'store' | 'clock'>, running: RunningCrawl): Desk {
  const { config, dataDir } = options;
  const { politeness } = config;
  const terms = {
    delayMsOf: (host: HostName) => hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    retryBudget: hostBudgetOf(config.retry),
  };
  return new Desk({
    dataDir,
    store,
    clock,
    terms,
    live: running,
    isPaused: false,
    changes: changesOf(config, running),
    ...(options.urlFilter === undefined ? {} : { filter: options.urlFilter }),
  });
}

function changesOf(config: Config, running: RunningCrawl): Changes {
  return changesBy({
    otherwise: 'running',
    configuredExclusions: config.exclude,
    refusalOf: literalRefusal(config),
    sow: (candidates, again) => running.sow(candidates, again),
    redrive: (wish) => running.redrive(wish),
    cancelRedrive: (redrive) => running.cancelRedrive(redrive),
    settings: () => running.settings,
    change: (change) => running.change(change),
  });
}

class RunningCrawl implements Crawl, Live {
  readonly ended: Promise<CrawlOutcome>;
  readonly control: Control;
  private readonly kernel: Kernel;
  private readonly declared: GroupSpec;
  private readonly clock: Clock;
  private readonly startedMs = performance.now();
  private readonly startedAtMs: number;
  private readonly rate = new Rate(RATE_HALF_LIFE_MS, this.startedMs);
  private readonly questions = new Map<number, (bench: BenchFacts | null) => void>();
  private lastQuestion = 0;
  private readonly sowings = new Map<number, (sown: Sown) => void>();
  private lastCommand = 0;
  private readonly changings = new Map<number, (settings: CrawlSettings) => void>();
  private readonly redrivings = new Redrivings();
  private readonly cancellings = new Map<number, (redrive: Redrive | null) => void>();
  settings: CrawlSettings;
  /** While it is being opened, too: a crawl may end before it listens. */
  private opening: Promise<ControlServer | null> = Promise.resolve(null);
  private socketPath: string | null = null;
  private holdsSinceMs: number | null = null;
  /** Its start, or the end of the last hold. */
  private runsSinceMs: number;
  private drainsSinceMs: number | null = null;
  private movedAtMs: number;
  private readonly outcomes = new Map<string, number>();
  private readonly underWay = new Map<string, number>();
  private requests = 0;
  private pages = 0;
  private totals: Totals;
  private hostsActive = 0;
  private notAdmitted: CrawlOutcome['refusedOnAdmission'] = {};
  private readonly holds = new Set<string>();
  private waiting: CrawlOutcome['waiting'] = [];
  private resolveReason: (reason: EndReason) => void = () => {};
  private resolveDrained: () => void = () => {};

  constructor(
    private readonly options: CrawlOptions,
    plan: TreePlan,
    outside: Omit<Ports, 'announce'>,
    private readonly closing: () => Promise<void>,
  ) {
    this.clock = outside.clock;
    this.startedAtMs = this.clock.wallMs();
    this.movedAtMs = this.startedAtMs;
    this.runsSinceMs = this.startedAtMs;
    this.totals = plan.frontier.totals;
    this.settings = plan.frontier.settings;
    const ports: Ports = { ...outside, tiers: this.counted(outside.tiers), announce: (event) => this.hear(event) };
    this.declared = engineTree(plan);
    this.kernel = createKernel(this.declared, ports, options.faults === undefined ? {} : { faults: options.faults });
    this.kernel.start();
    this.control = deskOf(options, outside, this);
    if (options.seeds.length > 0) void this.sow(options.seeds, options.again === true);
    this.ended = this.run();
  }

  private counted({ 1: plain, 2: impersonating, 3: browsing }: TierPorts): TierPorts {
    const counted = (port: FetchPort): FetchPort => ({
      fetch: (request, signal) => {
        this.requests += 1;
        this.underWay.set(request.url, this.clock.wallMs());
        return port.fetch(request, signal).finally(() => this.underWay.delete(request.url));
      },
      release: (bytes) => port.release(bytes),
    });
    return {
      1: counted(plain),
      ...(impersonating === undefined ? {} : { 2: counted(impersonating) }),
      ...(browsing === undefined ? {} : { 3: counted(browsing) }),
    };
  }

  get dataDir(): string {
    return this.options.dataDir;
  }

  facts(): RunFacts {
    const { startedAtMs, pages, requests, totals, hostsActive, runsSinceMs } = this;
    const { holdsSinceMs, drainsSinceMs, movedAtMs } = this;
    return {
      startedAtMs,
      pages,
      requests,
      failed: this.outcomes.get('failed') ?? 0,
      ratePerSecond: this.rate.perSecond(performance.now()),
      totals,
      hostsActive,
      holds: [...this.holds],
      runsSinceMs,
      holdsSinceMs,
      isPaused: this.settings.paused,
      drainsSinceMs,
      movedAtMs,
    };
  }

  describe(hosts: readonly HostName[]): Promise<BenchFacts | null> {
    const query = ++this.lastQuestion;
    const answered = new Promise<BenchFacts | null>((resolve) => this.questions.set(query, resolve));
    this.kernel.tell(addresses.workbench, { type: 'describe', query, hosts });
    // An actor that is down answers nobody, and whoever watches wants to see just that.
    const timer = setTimeout(() => this.answer(query, null), ANSWER_MS_MAX);
    return answered.finally(() => clearTimeout(timer));
  }

  inFlight(): InFlight {
    return this.underWay;
  }

  tree(): TreeReport {
    const counts = this.kernel.counts();
    return { picture: drawTree(this.declared, counts), counts };
  }

  get socket(): string | null {
    return this.socketPath;
  }

  /** Nothing leans on it: a crawl whose control can't be opened goes on without. */
  async listen(): Promise<void> {
    this.opening = this.openControl();
    this.socketPath = (await this.opening)?.path ?? null;
  }

  private async openControl(): Promise<ControlServer | null> {
    const { dataDir, log } = this.options;
    try {
      const { openControl } = await import('./admin/open.js');
      return await openControl(dataDir, this.control, log);
    } catch (error) {
      log.log('warn', 'control_unavailable', { reason: error instanceof Error ? error.message : String(error) });
      return null;
    }
  }

  /** What would be left listening keeps the process alive. */
  private async closeControl(): Promise<void> {
    const server = await this.opening;
    this.socketPath = null;
    await server?.close();
  }

  /** All of them in one commit; resolves after it. */
  sow(candidates: readonly Candidate[], again: boolean): Promise<Sown> {
    const command = ++this.lastCommand;
    const sown = new Promise<Sown>((resolve) => this.sowings.set(command, resolve));
    this.kernel.tell(addresses.frontier, { type: 'seed', command, again, candidates, refused: [] });
    return sown;
  }

  /** In one commit; resolves after it. */
  change(change: RulesChange): Promise<CrawlSettings> {
    const command = ++this.lastCommand;
    const changed = new Promise<CrawlSettings>((resolve) => this.changings.set(command, resolve));
    this.kernel.tell(addresses.frontier, { type: 'change', command, change });
    return changed;
  }

  /** Resolves when it is over; where it is bound by a rate, after its first commit. */
  redrive(wish: RedriveWish): Promise<Redriven> {
    const command = ++this.lastCommand;
    const redriven = this.redrivings.begin(command, wish.rate === null);
    this.kernel.tell(addresses.frontier, { type: 'redriveDead', command, wish });
    return redriven;
  }

  /** Resolves after its commit; to null where none of this number goes on. */
  async cancelRedrive(redrive: number): Promise<Redrive | null> {
    const command = ++this.lastCommand;
    const cancelled = new Promise<Redrive | null>((resolve) => this.cancellings.set(command, resolve));
    this.kernel.tell(addresses.frontier, { type: 'cancelRedrive', command, redrive });
    return cancelled;
  }

  private answer(query: number, bench: BenchFacts | null): void {
    this.questions.get(query)?.(bench);
    this.questions.delete(query);
  }

  counts(): KernelCounts {
    return this.kernel.counts();
  }

  hold(why: string): void {
    this.kernel.tell(addresses.workbench, { type: 'hold', why });
  }

  release(why: string): void {
    this.kernel.tell(addresses.workbench, { type: 'release', why });
  }

  interrupt(): void {
    this.resolveReason('interrupted');
  }

  private async run(): Promise<CrawlOutcome> {
    const drained = new Promise<void>((resolve) => {
      this.resolveDrained = resolve;
    });
    const reason = new Promise<EndReason>((resolve) => {
      this.resolveReason = resolve;
    });
    const { secondsMax } = this.options;
    const bound = secondsMax === null ? null : setTimeout(() => this.resolveReason('max-seconds'), secondsMax * 1_000);
    const end = await Promise.race([reason, this.kernel.failed]);
    if (bound !== null) clearTimeout(bound);
    this.drainsSinceMs = this.clock.wallMs();
    if (typeof end !== 'string') {
      await this.closeControl();
      await this.closing();
      return this.outcome('crashed', end.reason);
    }
    this.kernel.tell(addresses.workbench, { type: 'drain' });
    await within(DRAIN_MS_MAX, Promise.race([drained, this.kernel.failed]));
    await this.closeControl();
    await this.kernel.stop();
    await this.closing();
    return this.outcome(end, null);
  }

  private hear(event: CrawlEvent): void {
    switch (event.event) {
      case 'visit':
        this.outcomes.set(event.outcome, (this.outcomes.get(event.outcome) ?? 0) + 1);
        if (event.outcome === 'fetched' || event.outcome === 'unchanged') {
          this.pages += 1;
          this.rate.count(performance.now());
        }
        break;
      case 'totals':
        this.totals = event.totals;
        this.hostsActive = event.hostsActive;
        this.notAdmitted = event.notAdmitted;
        this.movedAtMs = this.clock.wallMs();
        break;
      case 'held':
        this.holds.add(event.why);
        this.holdsSinceMs ??= this.clock.wallMs();
        break;
      case 'resumed':
        this.holds.clear();
        this.holdsSinceMs = null;
        this.runsSinceMs = this.clock.wallMs();
        break;
      case 'changed':
        this.settings = event.settings;
        this.changings.get(event.command)?.(event.settings);
        this.changings.delete(event.command);
        break;
      case 'redriven':
        this.redrivings.hear(event);
        if (event.command !== null) this.cancellings.get(event.command)?.(event.redrive);
        if (event.command !== null) this.cancellings.delete(event.command);
        break;
      case 'described':
        return this.answer(event.query, event.bench);
      case 'ended':
        this.waiting = event.waiting;
        this.resolveReason(event.reason);
        break;
      case 'drained':
        this.resolveDrained();
        break;
      case 'seeded':
        this.sowings.get(event.command)?.(event);
        this.sowings.delete(event.command);
        break;
    }
    this.options.onEvent?.(event);
  }

  private async outcome(reason: CrawlOutcome['reason'], failure: string | null): Promise<CrawlOutcome> {
    const of = (outcome: string) => this.outcomes.get(outcome) ?? 0;
    const { totals } = this;
    const outcome: CrawlOutcome = {
      requests: this.requests,
      fetched: of('fetched'),
      unchanged: of('unchanged'),
      redirected: of('redirected'),
      missing: of('missing'),
      gone: of('gone'),
      throttled: of('throttled'),
      parked: of('parked'),
      died: of('dead'),
      failed: of('failed'),
      blockedByRobots: of('blocked_by_robots'),
      refused: of('refused'),
      challenged: of('challenged'),
      refusedOnAdmission: this.notAdmitted,
      deadLettered: totals.dead,
      discovered: totals.urls,
      queued: totals.ready + totals.waiting + totals.parked,
      durationSeconds: Math.round(performance.now() - this.startedMs) / 1_000,
      reason,
      failure,
      waiting: this.waiting,
      archive: await archiveFiles(this.options.dataDir),
    };
    const { fetched, unchanged, failed, queued, durationSeconds } = outcome;
    const counts = { fetched, unchanged, failed, queued, durationSeconds };
    this.options.log.log(failure === null ? 'info' : 'error', 'crawl_ended', { reason, failure, ...counts });
    return outcome;
  }
}

async function archiveFiles(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, 'archive');
  const files = await readdir(folder).catch(() => []);
  return files
    .filter((name) => name.endsWith('.warc.gz'))
    .sort()
    .map((name) => join(folder, name));
}

/** Waits for a promise, but not for ever. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
