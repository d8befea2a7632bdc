/**
 * One universe: the production actors, a simulated web, disk and clock, and a plan of what befalls them.
 *
 * The crawl is booted, killed, stopped, frozen and booted again on the same disk until it says that it is done. Then
 * it is judged from outside: by the server's log, by the files that it left, by its registry.
 *
 * 1. A seed and the settings decide everything; the trace hash says so.
 * 2. Every planned fault that really happened is counted. A universe that did nothing to the crawl proves nothing.
 * 3. Where hosts change their robots rules the crawl is begun once more, days later: what they disallowed at first must
 *    be committed then.
 * 4. Where it is wished, every page that was committed is seeded once more at the end, and must be told as unchanged.
 * 5. Safety: no rule of politeness is broken by the server's log. Liveness: every page that may be had is committed,
 *    once; nothing is left in a queue; each URL has the state that the world gave it.
 */
import { createHash } from 'node:crypto';
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { UrlRecord, UrlState } from '../domain/record.js';
import { judge } from '../practice/judge.js';
import type { EndReason } from '../protocols/events.js';
import type { LogPort, Ports, StorePort } from '../protocols/ports.js';
import { createSimulation, type Owner, type Simulation, SimulationError, WORLD } from './events.js';
import {
  drawLandscape,
  type Final,
  type Landscape,
  type LandscapeSettings,
  OPENING_MS,
  type Page,
  type Truth,
  truthOf,
} from './landscape.js';
import { Operators, type Told } from './operators.js';
import { createParsers, type SimulatedParsers } from './parser.js';
import { type Deed, drawPlan, drawRevisit, type Plan, type PlanSettings } from './plan.js';
import { createDisk, type Disk, type DiskOptions } from './store.js';
import { createWeb, type SimulatedWeb, type WitnessLine } from './web.js';

export interface UniverseSettings extends LandscapeSettings, PlanSettings {
  /** The crawl's configured delay, from the end of an answer to the next request of a host. */
  readonly delayMs: number;
  readonly simulatedMsMax: number;
  readonly eventsMax: number;
  /** Ask for every page once more when nothing is left to do. */
  readonly again: boolean;
  /** Lines of the trace to keep for a story. */
  readonly traceLinesKept: number;
}

/** What the universe needs of the engine under test. */
export interface Engine {
  /** Memory for a store and its files: it outlives incarnations. The simulation is for files that take their while. */
  createMemory(simulation: Simulation): EngineMemory;
  /** Builds the actors over the ports and starts them. Called in an event of the incarnation. */
  boot(composition: Composition): RunningCrawl;
  parse(task: ParseTask): ParseResult;
}

export interface EngineMemory {
  open(): Promise<StorePort>;
  /** Makes the next write inside the store fail. */
  failInside?(): void;
  /** The committed lines of pages.jsonl, in order. */
  readPages(): Promise<readonly PageTold[]>;
  /** What is wrong with the archive; nothing where there is none. */
  readArchive?(): Promise<readonly string[]>;
}

export interface PageTold {
  readonly canonical: string;
  readonly status: number;
  readonly outcome: 'fetched' | 'unchanged';
}

export interface Composition {
  readonly ports: Ports;
  readonly seeds: readonly string[];
  /** They are known, and are to be fetched once more. */
  readonly again: boolean;
  readonly delayMs: number;
  /** A line for the trace: the order of what happens to actors. */
  readonly trace: (path: string, incarnation: number, messageType: string) => void;
}

export interface RunningCrawl extends Told {
  /** Resolves when it has drained and all is on the disk. */
  readonly stopped: Promise<EndReason>;
  stop(): void;
}

export interface UniverseViolation {
  readonly rule: string;
  readonly detail: string;
  readonly host: string | null;
  /** Simulated milliseconds; null where it was found at the end. */
  readonly atMs: number | null;
}

export interface UniverseResult {
  readonly seed: number;
  readonly traceHash: string;
  readonly simulatedSeconds: number;
  readonly requests: number;
  readonly kills: number;
  readonly stops: number;
  /** All faults that happened: of the web, the disk and the parsers. */
  readonly faults: number;
  readonly faultKinds: Readonly<Record<string, number>>;
  readonly events: number;
  readonly incarnations: number;
  readonly commits: number;
  /** Lines of pages.jsonl. */
  readonly pages: number;
  readonly pagesExpected: number;
  readonly repeatsExcused: number;
  readonly violations: readonly UniverseViolation[];
  /** For a story; no part of the JSON that the command line prints. */
  readonly evidence: Evidence;
}

export interface Evidence {
  readonly settings: UniverseSettings;
  readonly landscape: Landscape;
  readonly log: readonly WitnessLine[];
  readonly plan: Plan;
  readonly moments: readonly Moment[];
  readonly trace: readonly string[];
}

/** Something that befell the crawl. */
export interface Moment {
  readonly atMs: number;
  readonly owner: Owner;
  readonly what: string;
}

export const UNIVERSE_DEFAULTS: UniverseSettings = {
  seed: 1,
  hosts: 6,
  pages: 60,
  faults: 0.25,
  hostFaults: 0.3,
  oddities: 0.15,
  openings: false,
  kills: 3,
  stops: 0,
  freezes: 0,
  clockJumps: 0,
  pauses: 0,
  exclusions: 0,
  sowings: 0,
  storeErrors: 0,
  delayMs: 1_000,
  simulatedMsMax: 30 * 86_400_000,
  eventsMax: 3_000_000,
  again: false,
  traceLinesKept: 400,
};

/** After so many on one URL it is a dead letter; a kill may hide one from the registry. */
const WORKER_DEATHS_MAX = 2;
/** No copy of a robots.txt may rule for longer (RFC 9309 §2.4). */
const ROBOTS_COPY_MS_MAX = 24 * 3_600_000;
/** A stop must have drained within this. */
const DRAIN_MS_MAX = 120_000;
/** A crawl that says `only-waiting` is started again after this, as by a timer of the operator's. */
const WAITING_MS = 600_000;

export async function runUniverse(partial: Partial<UniverseSettings>, engine: Engine): Promise<UniverseResult> {
  const settings = { ...UNIVERSE_DEFAULTS, ...partial };
  return new Universe(settings, engine).run();
}

class Universe {
  readonly #settings: UniverseSettings;
  readonly #engine: Engine;
  readonly #simulation: Simulation;
  readonly #landscape: Landscape;
  readonly #plan: Plan;
  readonly #web: SimulatedWeb;
  readonly #memory: EngineMemory;
  readonly #disk: Disk;
  readonly #parsers: SimulatedParsers;
  readonly #moments: Moment[] = [];
  readonly #violations: UniverseViolation[] = [];
  /** Deeds that wait for a number of commits or requests, and for some milliseconds after it. */
  readonly #armed = { commit: new Map<number, [Deed, number][]>(), request: new Map<number, [Deed, number][]>() };
  readonly #operators: Operators;
  /** Operators have gone: what they kept out is seeded. */
  #isMadeGood = false;
  readonly #tally = { kills: 0, stops: 0, freezes: 0, clockJumps: 0, pages: 0 };
  #owner: Owner = WORLD;
  /** Since when pages are asked for once more; null: they are not yet. */
  #againSinceMs: number | null = null;
  /** The life that is going on; null between two. */
  #life: Life | null = null;

  constructor(settings: UniverseSettings, engine: Engine) {
    const { seed, eventsMax, simulatedMsMax, traceLinesKept } = settings;
    this.#settings = settings;
    this.#engine = engine;
    this.#simulation = createSimulation({ seed, eventsMax, simulatedMsMax, traceLinesKept });
    this.#landscape = drawLandscape(settings);
    this.#plan = drawPlan(settings, this.#simulation.random.fork('plan'));
    this.#web = createWeb(this.#simulation, this.#landscape);
    this.#operators = this.#hireOperators();
    this.#memory = engine.createMemory(this.#simulation);
    this.#disk = createDisk(this.#simulation, diskOptions(this.#memory, this.#plan));
    this.#parsers = createParsers(this.#simulation, {
      parse: engine.parse,
      isPoison: ({ url }) => this.#landscape.pages.get(url)?.final.kind === 'poison',
    });
  }

  async run(): Promise<UniverseResult> {
    this.#simulation.onUncaught = (owner, error) => this.#crashed(owner, error);
    this.#armPlan();
    try {
      await this.#simulation.run(async () => {
        while ((await this.#live()) !== 'done');
        if (await this.#untilOpened()) while ((await this.#live()) !== 'done');
        await this.#makeGood();
        if (this.#settings.again) {
          this.#againSinceMs = this.#simulation.nowMs;
          while ((await this.#live()) !== 'done');
        }
        await this.#judgeDisk();
      });
    } catch (error) {
      if (!(error instanceof SimulationError)) throw error;
      this.#accuse(error.code, error.message);
    }
    return this.#judged();
  }

  /** Where robots rules change in the end the crawl comes back, when all copies have run out. */
  async #untilOpened(): Promise<boolean> {
    if (![...this.#landscape.hosts.values()].some(({ robots }) => robots === 'opening')) return false;
    const leftMs = Math.max(0, OPENING_MS - this.#simulation.nowMs) + ROBOTS_COPY_MS_MAX;
    await this.#simulation.sleep(leftMs, { owner: WORLD, label: 'days pass' });
    this.#remember('robots rules have changed');
    this.#arm(drawRevisit(this.#settings, this.#disk.commits, this.#simulation.random.fork('revisit')));
    return true;
  }

  /** Takes back what operators told, then asks for what their exclusions have kept out. */
  async #makeGood(): Promise<void> {
    this.#operators.leave();
    while (!this.#operators.haveLeft) while ((await this.#live()) !== 'done');
    this.#isMadeGood = true;
    while ((await this.#owedAtRest()).length > 0) while ((await this.#live()) !== 'done');
  }

  async #owedAtRest(): Promise<readonly string[]> {
    const store = await this.#memory.open();
    const owed = await this.#operators.owed(this.#truth().reachable, store, keyOf);
    await store.close();
    return owed;
  }

  #truth(): Truth {
    return truthOf(this.#landscape, [...this.#landscape.seeds, ...this.#operators.sown]);
  }

  // -- lives ------------------------------------------------------------------------------------------------------

  /** From boot to death or end. Answers `done` when the crawl has nothing left to do. */
  async #live(): Promise<'done' | 'again'> {
    const owner = ++this.#owner;
    const ended = new Promise<LifeEnd>((end) => {
      this.#life = { owner, end, stop: () => {}, told: null, stopDownMs: null };
    });
    this.#web.booted(owner);
    this.#remember('boot');
    this.#simulation.as(owner, () => void this.#boot(owner), `boot ${owner}`);
    const end = await ended;
    this.#life = null;
    if (end.why === 'stopped') this.#judgeExit(owner);
    this.#simulation.kill(owner);
    if (end.why !== 'stopped') this.#web.killed(owner);
    this.#remember(end.why === 'stopped' ? `stopped: ${end.reason}` : end.why);
    if (end.why === 'stopped' && end.reason === 'done') return 'done';
    await this.#simulation.sleep(end.downMs, { owner: WORLD, label: 'down' });
    return 'again';
  }

  async #boot(owner: Owner): Promise<void> {
    const store = await this.#disk.open();
    const running = this.#engine.boot({
      ports: this.#portsOf(owner, store),
      ...(await this.#seedsOf(store)),
      delayMs: this.#settings.delayMs,
      trace: (path, incarnation, messageType) =>
        this.#simulation.note('actor', `${path}#${incarnation} ${messageType}`),
    });
    const life = this.#life;
    if (life?.owner !== owner) return;
    life.stop = () => running.stop();
    life.told = running;
    this.#operators.booted(running);
    const reason = await running.stopped;
    const downMs = reason === 'interrupted' ? (life.stopDownMs ?? 0) : WAITING_MS;
    // A process that ends is an event of the world.
    this.#simulation.after(0, () => life.end({ why: 'stopped', reason, downMs }), { owner: WORLD, label: 'exit' });
  }

  async #seedsOf(store: StorePort): Promise<Pick<Composition, 'seeds' | 'again'>> {
    if (this.#againSinceMs !== null) return { seeds: [...this.#truth().committed], again: true };
    if (!this.#isMadeGood) return { seeds: this.#landscape.seeds, again: false };
    return { seeds: await this.#operators.owed(this.#truth().reachable, store, keyOf), again: true };
  }

  #portsOf(owner: Owner, store: StorePort): Ports {
    const simulation = this.#simulation;
    const chance = simulation.random.fork(`chance ${owner}`);
    const logs: LogPort = {
      log: (level, event) => {
        if (level === 'warn' || level === 'error') simulation.note('log', `${level} ${event}`);
      },
    };
    return {
      clock: { monotonicMs: () => simulation.monotonicMs, wallMs: () => Math.floor(simulation.wallMs) },
      chance: () => chance.next(),
      store,
      net: this.#web.net,
      names: this.#web.names,
      parsers: this.#parsers.port,
      logs,
      announce: (event) => {
        simulation.note('announce', event.event);
        this.#operators.hear(event);
      },
    };
  }

  #crashed(owner: Owner, error: unknown): boolean {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#accuse('uncaught', detail.split('\n').slice(0, 4).join(' '));
    if (this.#life?.owner !== owner) return false;
    this.#life.end({ why: 'crashed', downMs: 1_000 });
    return this.#violations.filter(({ rule }) => rule === 'uncaught').length < 10;
  }

  // -- deeds ------------------------------------------------------------------------------------------------------

  #arm(deeds: Plan['deeds']): void {
    for (const { deed, trigger } of deeds) {
      if (trigger.on === 'time') {
        this.#simulation.after(trigger.atMs, () => this.#befall(deed), { owner: WORLD, label: deed.kind });
        continue;
      }
      const armed = this.#armed[trigger.on];
      armed.set(trigger.count, [...(armed.get(trigger.count) ?? []), [deed, trigger.thenMs]]);
    }
  }

  #armPlan(): void {
    this.#arm(this.#plan.deeds);
    const fire = (deeds: readonly [Deed, number][] = []): void => {
      for (const [deed, thenMs] of deeds)
        this.#simulation.after(thenMs, () => this.#befall(deed), { owner: WORLD, label: deed.kind });
    };
    this.#disk.onApplied = (commits) => fire(this.#armed.commit.get(commits));
    this.#web.onArrived = (requests, url) => {
      this.#operators.judgeArrival(url);
      fire(this.#armed.request.get(requests));
    };
  }

  /** Does nothing to a crawl that is down, and does not count then. */
  #befall(deed: Deed): void {
    const life = this.#life;
    if (life === null) return;
    switch (deed.kind) {
      case 'kill':
        this.#tally.kills += 1;
        return life.end({ why: 'killed', downMs: deed.downMs });
      case 'stop':
        return this.#stop(life, deed.downMs);
      case 'freeze':
        this.#tally.freezes += 1;
        this.#remember(`frozen for ${Math.round(deed.forMs)} ms`);
        return this.#simulation.freeze(life.owner, deed.forMs);
      case 'pause':
        return this.#operators.pause(deed.forMs);
      case 'exclude':
        return this.#operators.exclude(deed.forMs);
      case 'sow':
        return this.#operators.sow();
      case 'clock-jump':
        this.#tally.clockJumps += 1;
        this.#remember(`wall clock moved by ${Math.round(deed.byMs)} ms`);
        return this.#simulation.shiftWall(deed.byMs);
    }
  }

  #stop(life: Life, downMs: number): void {
    if (life.stopDownMs !== null) return;
    this.#tally.stops += 1;
    this.#remember('asked to stop');
    life.stopDownMs = downMs;
    this.#simulation.as(life.owner, () => life.stop(), 'stop');
    const tooLate = (): void => {
      if (this.#life !== life) return;
      this.#accuse('drain', `not drained ${DRAIN_MS_MAX} ms after it was asked to stop`);
      life.end({ why: 'killed', downMs });
    };
    this.#simulation.after(DRAIN_MS_MAX, tooLate, { owner: WORLD, label: 'drain deadline' });
  }

  #hireOperators(): Operators {
    const simulation = this.#simulation;
    return new Operators({
      landscape: this.#landscape,
      random: simulation.random.fork('operators'),
      nowMs: () => simulation.nowMs,
      after: (delayMs, happen, label) => void simulation.after(delayMs, happen, { owner: WORLD, label }),
      tell: (label, tell) => {
        const life = this.#life;
        const told = life?.told;
        if (life && told) simulation.as(life.owner, () => tell(told), label);
      },
      accuse: (rule, detail) => this.#accuse(rule, detail),
      remember: (what) => this.#remember(what),
    });
  }

  // -- judgement --------------------------------------------------------------------------------------------------

  /** Whoever stops of its own accord leaves nothing open. */
  #judgeExit(owner: Owner): void {
    const { bytes, exchanges } = this.#web.openOf(owner);
    if (bytes !== 0) this.#accuse('bytes-held', `${bytes} bytes of bodies were not given back before the end`);
    if (exchanges !== 0) this.#accuse('exchange-left', `${exchanges} requests were open at the end`);
  }

  /** The files and the registry against the truth. */
  async #judgeDisk(): Promise<void> {
    const { reachable, committed } = this.#truth();
    const counts = new Map<string, number>();
    const lines = await this.#memory.readPages();
    this.#tally.pages = lines.length;
    const confirmed = new Set<string>();
    for (const { canonical, outcome } of lines) {
      if (outcome === 'unchanged') confirmed.add(canonical);
      else counts.set(canonical, (counts.get(canonical) ?? 0) + 1);
    }
    for (const detail of (await this.#memory.readArchive?.()) ?? []) this.#accuse('archive', detail);
    for (const url of committed) {
      if (this.#settings.again && !confirmed.has(url)) this.#accuse('unasked', `${url} was not told as unchanged`);
      if (!this.#settings.again && confirmed.has(url)) this.#accuse('asked-again', `${url} was told as unchanged`);
    }
    for (const url of committed) if (!counts.has(url)) this.#accuse('lost', `${url} was never committed`);
    for (const [url, count] of counts) {
      if (count > 1) this.#accuse('double', `${url} stands in pages.jsonl ${count} times`);
      if (!committed.has(url)) this.#accuse('unexpected', `${url} stands in pages.jsonl`);
    }
    const store = await this.#memory.open();
    const { ready, waiting, parked } = store.opened().totals;
    if (ready + waiting + parked > 0)
      this.#accuse('left-over', `${ready} ready, ${waiting} waiting and ${parked} parked are left`);
    for (const url of reachable) {
      this.#judgeRecord(
        this.#landscape.pages.get(url) as Page,
        await store.readRecord(keyOf(url), new URL(url).hostname),
      );
    }
    await store.close();
  }

  #judgeRecord(page: Page, record: UrlRecord | null): void {
    const expected = stateOf(page.final);
    if (record === null) this.#accuse('unknown-url', `${page.url} is not in the registry`);
    else if (record.state !== expected) this.#accuse('state', `${page.url} is ${record.state}, not ${expected}`);
  }

  #judged(): UniverseResult {
    const verdict = judge(this.#web.log, { productToken: 'orbweaver', delayMs: this.#settings.delayMs });
    for (const { rule, host, detail, at } of verdict.violations) {
      const isWished = this.#againSinceMs !== null && at >= this.#againSinceMs;
      if (rule !== 'duplicate' || !(isWished || this.#isRedelivery(host, detail)))
        this.#violations.push({ rule, host, detail, atMs: at });
    }
    for (const [url, deaths] of this.#parsers.crashes) {
      if (deaths > WORKER_DEATHS_MAX + this.#tally.kills) this.#accuse('poison', `${url} killed ${deaths} workers`);
    }
    for (const detail of [...this.#web.trespasses, ...this.#disk.trespasses]) this.#accuse('trespass', detail);
    const faultKinds: Record<string, number> = Object.fromEntries(this.#web.faults);
    const more = {
      disk: this.#disk.errors,
      parser: [...this.#parsers.crashes.values()].reduce((sum, count) => sum + count, 0),
      freeze: this.#tally.freezes,
      'clock-jump': this.#tally.clockJumps,
      ...this.#operators.tally,
    };
    for (const [kind, count] of Object.entries(more)) if (count > 0) faultKinds[kind] = count;
    return {
      seed: this.#settings.seed,
      traceHash: this.#simulation.traceHash(),
      simulatedSeconds: Math.round(this.#simulation.nowMs / 1_000),
      requests: verdict.stats.requests,
      kills: this.#tally.kills,
      stops: this.#tally.stops,
      faults: Object.values(faultKinds).reduce((sum, count) => sum + count, 0),
      faultKinds,
      events: this.#simulation.events,
      incarnations: this.#owner,
      commits: this.#disk.commits,
      pages: this.#tally.pages,
      pagesExpected: this.#truth().committed.size,
      repeatsExcused: verdict.stats.repeatsExcused,
      violations: this.#violations,
      evidence: {
        settings: this.#settings,
        landscape: this.#landscape,
        log: this.#web.log,
        plan: this.#plan,
        moments: this.#moments,
        trace: this.#simulation.recentTrace(),
      },
    };
  }

  /** A page that killed its worker was answered whole, and is delivered again on purpose. */
  #isRedelivery(host: string, detail: string): boolean {
    return [...this.#parsers.crashes.keys()].some(
      (url) => new URL(url).hostname === host && detail.startsWith(`${url.replace('http://', '')} `),
    );
  }

  #remember(what: string): void {
    this.#moments.push({ atMs: this.#simulation.nowMs, owner: this.#owner, what });
  }

  #accuse(rule: string, detail: string): void {
    this.#violations.push({ rule, detail, host: null, atMs: this.#simulation.nowMs });
  }
}

interface Life {
  readonly owner: Owner;
  readonly end: (end: LifeEnd) => void;
  stop: () => void;
  /** Null while it is opening its store. */
  told: Told | null;
  /** How long it stays down after the stop that it was asked for. */
  stopDownMs: number | null;
}

type LifeEnd =
  | { readonly why: 'stopped'; readonly reason: EndReason; readonly downMs: number }
  | { readonly why: 'killed' | 'crashed'; readonly downMs: number };

function diskOptions(memory: EngineMemory, { failingCommits }: Plan): DiskOptions {
  const options = { open: () => memory.open(), failing: failingCommits };
  return memory.failInside === undefined ? options : { ...options, failInside: () => memory.failInside?.() };
}

/** The state in which the world leaves a URL that was asked for until nothing more was due. */
function stateOf(final: Final): UrlState {
  switch (final.kind) {
    case 'page':
    case 'binary':
      return 'active';
    case 'redirect':
      return 'redirected';
    case 'missing':
      return 'soft_missing';
    case 'gone':
      return 'gone_candidate';
    case 'endless':
      return 'refused';
    case 'failing':
    case 'poison':
      return 'dead';
  }
}

/** The first 128 bits of the canonical URL's SHA-256, in hex. */
function keyOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}
