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
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { WitnessEvent } from '../practice/witness.js';
import type { EndReason } from '../protocols/events.js';
import type { LogPort, Ports, StorePort } from '../protocols/ports.js';
import type { Machine } from '../policy/elapsed.js';
import type { FaultPlan } from '../supervision/faults.js';
import { createSimulation, type Owner, type Simulation, SimulationError, WORLD } from './events.js';
import { drawLandscape, type Landscape, MENDED_MS, OPENING_MS, type Truth, truthOf } from './landscape.js';
import { Operators, type Told } from './operators.js';
import { createParsers, type SimulatedParsers } from './parser.js';
import { type Deed, drawCrashes, drawPlan, drawRevisit, type Plan } from './plan.js';
import type { Random } from './random.js';
import { UNIVERSE_DEFAULTS, type UniverseSettings } from './settings.js';
import { createDisk, type Disk, type DiskOptions } from './store.js';
import { isPlain, judgeCut } from './cut.js';
import { judgeDisk, judgeLog, keyOf, type PageTold } from './verdict.js';
import { judgeCalls, judgeRequests } from './ladder-verdict.js';
import { judgeRetries } from './retry-verdict.js';
import { type Call, createSidecar, type Illness, type Sidecar } from './sidecar.js';
import { createWeb, type SimulatedWeb } from './web.js';

/** What the universe needs of the engine under test. */
export interface Engine {
  /** What a store and its files lie on: it outlives incarnations. The simulation is for files that take their while. */
  createMemory(simulation: Simulation, settings: UniverseSettings): EngineMemory;
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
  /** The incarnation that had it open is dead. */
  crashed?(): void;
  /** What was not forced to the disk may be gone. Answers how many commits are. */
  losePower?(random: Random): Promise<number>;
  /** Nothing will be asked of it any more. */
  dispose?(): void;
}

export interface Composition {
  readonly ports: Ports;
  readonly seeds: readonly string[];
  /** They are known, and are to be fetched once more. */
  readonly again: boolean;
  readonly settings: UniverseSettings;
  readonly machine: Machine;
  /** Crashes on purpose. */
  readonly faults: FaultPlan;
  /** A line for the trace: the order of what happens to actors. */
  readonly trace: (path: string, incarnation: number, messageType: string) => void;
}

export interface RunningCrawl extends Told {
  /** Resolves when it has drained and all is on the disk. */
  readonly stopped: Promise<EndReason>;
  stop(): void;
  /** Lets go of what a killed one has left, at the end of its universe and within it: its timers are simulated ones. */
  forget(): void;
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
  /** Dead letters that are left. */
  readonly dead: number;
  readonly pagesExpected: number;
  /** URLs to which the world was so bad that they need not have been had. */
  readonly pardoned: number;
  readonly repeatsExcused: number;
  /** Deeds of the plan by kind, whether they came to pass or not. */
  readonly planned: Readonly<Record<string, number>>;
  readonly violations: readonly UniverseViolation[];
  /** For a story; no part of the JSON that the command line prints. */
  readonly evidence: Evidence;
}

export interface Evidence {
  readonly settings: UniverseSettings;
  readonly landscape: Landscape;
  readonly log: readonly WitnessEvent[];
  /** Of the browser service. */
  readonly calls: readonly Call[];
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

/** After so many on one URL it is a dead letter; a kill may hide one from the registry. */
const WORKER_DEATHS_MAX = 2;
/** No copy of a robots.txt may rule for longer (RFC 9309 §2.4). */
const ROBOTS_COPY_MS_MAX = 24 * 3_600_000;
/** The longest that a robots.txt which could not be read is left alone. */
const ROBOTS_BACKOFF_MS_MAX = 3_600_000;
/** What was committed so long before a loss of power may be gone: one commit a second is forced to the disk. */
const POWER_GRACE_MS = 3_000;
/** What came so long before a kill may not have been committed. */
const KILL_GRACE_MS = 1_000;
/** From a permit to its request, and from its end to the word on it: a turn or two, or a freeze. */
const GRANT_MS_MAX = 50;
const GRANT_MS_MAX_FROZEN = 31_000;
/** A stop must have drained within this. */
const DRAIN_MS_MAX = 120_000;
/** An event is a timer, a turn, an answer of disk or web. */
const EVENTS_AT_MOST = 20_000;
const EVENTS_A_REQUEST = 250;
/** Of a crawl that has nothing to do: robots.txt of blocked pages, quarantines. */
const EVENTS_AN_HOUR = 100;
/** Two probes a minute. */
const EVENTS_A_CUT_HOUR = 4_000;
/** Of one host: an ask and its refusal every two minutes, and what leads to them. */
const EVENTS_AN_ILL_HOUR = 1_000;
/** A crawl that says `only-waiting` is started again after this, as by a timer of the operator's. */
const WAITING_MS = 600_000;

/** A world that is set up by hand: what else would be drawn of the settings. */
export interface StagedWorld {
  readonly landscape: Landscape;
  readonly illnesses: readonly Illness[];
}

export async function runUniverse(
  partial: Partial<UniverseSettings>,
  engine: Engine,
  staged: StagedWorld | null = null,
): Promise<UniverseResult> {
  const settings = { ...UNIVERSE_DEFAULTS, ...partial };
  return new Universe(settings, engine, staged).run();
}

class Universe {
  readonly #settings: UniverseSettings;
  readonly #engine: Engine;
  readonly #simulation: Simulation;
  readonly #landscape: Landscape;
  readonly #plan: Plan;
  readonly #web: SimulatedWeb;
  readonly #sidecar: Sidecar;
  readonly #memory: EngineMemory;
  readonly #disk: Disk;
  readonly #parsers: SimulatedParsers;
  readonly #moments: Moment[] = [];
  readonly #crawls: RunningCrawl[] = [];
  readonly #powerLossesAtMs: number[] = [];
  readonly #roundsAtMs: number[] = [];
  readonly #violations: UniverseViolation[] = [];
  /** Deeds that wait for a number of commits or requests, and for some milliseconds after it. */
  readonly #armed = { commit: new Map<number, [Deed, number][]>(), request: new Map<number, [Deed, number][]>() };
  readonly #operators: Operators;
  /** Operators have gone: what they kept out is seeded. */
  #isMadeGood = false;
  readonly #tally = {
    kills: 0,
    powerLosses: 0,
    pardoned: 0,
    stops: 0,
    freezes: 0,
    clockJumps: 0,
    cuts: 0,
    actorCrashes: 0,
    workerCrashes: 0,
    rounds: 0,
    pages: 0,
    dead: 0,
  };
  /** The last time that it was. */
  #frozen = { fromMs: 0, untilMs: 0 };
  /** The time of a universe that has one is over. */
  #isOver = false;
  #owner: Owner = WORLD;
  /** Since when pages are asked for once more; null: they are not yet. */
  #againSinceMs: number | null = null;
  /** The life that is going on; null between two. */
  #life: Life | null = null;

  constructor(settings: UniverseSettings, engine: Engine, staged: StagedWorld | null) {
    const { seed, eventsMax, simulatedMsMax, traceLinesKept } = settings;
    this.#settings = settings;
    this.#engine = engine;
    this.#simulation = createSimulation({ seed, eventsMax, simulatedMsMax, traceLinesKept });
    this.#landscape = staged?.landscape ?? drawLandscape(settings);
    const plan = drawPlan(settings, this.#simulation.random.fork('plan'));
    this.#plan = staged === null ? plan : { ...plan, illnesses: staged.illnesses };
    this.#web = createWeb(this.#simulation, this.#landscape, settings);
    this.#sidecar = createSidecar(this.#simulation, this.#plan.illnesses, this.#web.net);
    this.#operators = this.#hireOperators();
    this.#memory = engine.createMemory(this.#simulation, settings);
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
        if (this.#settings.forMs > 0) await this.#runForItsTime();
        else await this.#runToTheEnd();
        await this.#judgeDisk();
        for (const crawl of this.#crawls) crawl.forget();
      });
    } catch (error) {
      if (!(error instanceof SimulationError)) throw error;
      this.#accuse(error.code, error.message);
    } finally {
      this.#memory.dispose?.();
    }
    return this.#judged();
  }

  async #runToTheEnd(): Promise<void> {
    while ((await this.#live()) !== 'done');
    if (await this.#untilOpened()) {
      do while ((await this.#live()) !== 'done');
      while (await this.#areRulesUnread());
    }
    await this.#makeGood();
    await this.#untilMended();
    if (!this.#settings.again) return;
    this.#againSinceMs = this.#simulation.nowMs;
    this.#roundsAtMs.push(this.#simulation.nowMs);
    while ((await this.#live()) !== 'done');
  }

  /** It has no end of its own: its time is up, and it is stopped or killed by a coin. */
  async #runForItsTime(): Promise<void> {
    const { forMs, revisitMs } = this.#settings;
    const isKilled = this.#simulation.random.fork('end').chance(0.5);
    const end = (): void => {
      this.#isOver = true;
      if (this.#life !== null) this.#befall({ kind: isKilled ? 'kill' : 'stop', downMs: 0 });
    };
    this.#simulation.after(forMs, end, { owner: WORLD, label: 'time is up' });
    if (revisitMs > 0) this.#revisitAfter(revisitMs);
    while (!this.#isOver) await this.#live();
  }

  #revisitAfter(revisitMs: number): void {
    const revisit = (): void => {
      const life = this.#life;
      if (life?.told != null) {
        this.#tally.rounds += 1;
        this.#roundsAtMs.push(this.#simulation.nowMs);
        const { told } = life;
        this.#simulation.as(life.owner, () => told.seed([...this.#truth().committed], true), 'ask for all again');
      }
      this.#revisitAfter(revisitMs);
    };
    this.#simulation.after(revisitMs, revisit, { owner: WORLD, label: 'revisit' });
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

  /**
   * What is blocked keeps no crawl open: where a robots.txt could not be read just then, its time to be asked for again
   * has come an hour later.
   */
  async #areRulesUnread(): Promise<boolean> {
    const store = await this.#memory.open();
    let isUnread = false;
    for (const [host, { robots }] of this.#landscape.hosts) {
      if (robots !== 'opening') continue;
      const loaded = await store.loadHost(host, 1);
      isUnread ||= loaded.robots.some(({ state }) => state.phase === 'unreachable');
    }
    await store.close();
    if (isUnread) await this.#simulation.sleep(ROBOTS_BACKOFF_MS_MAX, { owner: WORLD, label: 'an hour passes' });
    return isUnread;
  }

  /** Takes back what operators told, then asks for what their exclusions have kept out. */
  async #makeGood(): Promise<void> {
    this.#operators.leave();
    while (!this.#operators.haveLeft) while ((await this.#live()) !== 'done');
    this.#isMadeGood = true;
    while ((await this.#owedAtRest()).length > 0) while ((await this.#live()) !== 'done');
  }

  /** What failed for days is brought back once it is mended, and is killed at that like anything else. */
  async #untilMended(): Promise<void> {
    if (![...this.#landscape.pages.values()].some(({ final }) => final.kind === 'mending')) return;
    const leftMs = Math.max(0, MENDED_MS - this.#simulation.nowMs);
    await this.#simulation.sleep(leftMs, { owner: WORLD, label: 'days pass' });
    this.#arm(drawRevisit(this.#settings, this.#disk.commits, this.#simulation.random.fork('mended')));
    this.#operators.mend();
    do while ((await this.#live()) !== 'done');
    while (!this.#operators.haveMended);
  }

  async #owedAtRest(): Promise<readonly string[]> {
    const store = await this.#memory.open();
    const owed = await this.#operators.owed(this.#truth().reachable, store, keyOf);
    await store.close();
    return owed;
  }

  #truth(without?: ReadonlySet<string>): Truth {
    return truthOf(this.#landscape, [...this.#landscape.seeds, ...this.#operators.sown], without);
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
    if (end.why !== 'stopped') await this.#die(owner, end.why);
    this.#remember(end.why === 'stopped' ? `stopped: ${end.reason}` : end.why);
    if (end.why === 'stopped' && end.reason === 'done') return 'done';
    await this.#simulation.sleep(end.downMs, { owner: WORLD, label: 'down' });
    return 'again';
  }

  async #die(owner: Owner, why: 'killed' | 'powerless' | 'crashed'): Promise<void> {
    // What came while nothing could be committed is not known to the next life.
    const { nowMs } = this.#simulation;
    const frozenMs = nowMs < this.#frozen.untilMs + KILL_GRACE_MS ? nowMs - this.#frozen.fromMs : 0;
    const heldUpMs = Math.max(frozenMs, nowMs - (this.#disk.heldUpSinceMs ?? nowMs));
    this.#web.killed(owner, heldUpMs + (why === 'powerless' ? POWER_GRACE_MS : KILL_GRACE_MS));
    this.#memory.crashed?.();
    if (why !== 'powerless') return;
    const lost = (await this.#memory.losePower?.(this.#simulation.random.fork(`power ${owner}`))) ?? 0;
    this.#operators.forget(nowMs - heldUpMs - POWER_GRACE_MS);
    this.#remember(`power is lost, and ${lost} commits with it`);
  }

  async #boot(owner: Owner): Promise<void> {
    const store = await this.#disk.open();
    await this.#operators.judgeSeeds(store, keyOf);
    const running: RunningCrawl = this.#engine.boot({
      ports: this.#portsOf(owner, store),
      ...(await this.#seedsOf(store)),
      settings: this.#settings,
      machine: this.#machine(),
      faults: this.#drawCrashes(owner),
      trace: (path, incarnation, messageType) =>
        this.#simulation.note('actor', `${path}#${incarnation} ${messageType}`),
    });
    this.#crawls.push(running);
    const life = this.#life;
    if (life?.owner !== owner) return;
    life.stop = () => running.stop();
    life.told = running;
    if (life.stopDownMs !== null) running.stop();
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

  #drawCrashes(owner: Owner): FaultPlan {
    const mayHitWorkers = this.#tally.workerCrashes === 0;
    return drawCrashes(this.#settings, mayHitWorkers, this.#simulation.random.fork(`crashes ${owner}`));
  }

  /** It is started anew with each loss of power. */
  #machine(): Machine {
    const { nowMs, monotonicMs } = this.#simulation;
    return { boot: 1 + this.#tally.powerLosses, uptimeAtZeroMs: nowMs - monotonicMs };
  }

  /** The kernel says which actor has crashed: a host's forgets, and what a worker had in hand comes again. */
  #heardOfCrash(actor: string): void {
    this.#tally.actorCrashes += 1;
    this.#remember(`${actor} crashes`);
    const [group, , name] = actor.split('/');
    if (group === 'hosts' && name !== undefined) this.#web.lapsed(name);
    if (group !== 'fetchers' && group !== 'parsers') return;
    this.#tally.workerCrashes += 1;
    this.#web.lapsed(null);
  }

  #portsOf(owner: Owner, store: StorePort): Ports {
    const simulation = this.#simulation;
    const chance = simulation.random.fork(`chance ${owner}`);
    const logs: LogPort = {
      log: (level, event, fields) => {
        if (event === 'actor_crashed') this.#heardOfCrash(String(fields?.actor));
        if (level === 'warn' || level === 'error') simulation.note('log', `${level} ${event}`);
      },
    };
    return {
      clock: { monotonicMs: () => simulation.monotonicMs, wallMs: () => Math.floor(simulation.wallMs) },
      chance: () => chance.next(),
      store,
      tiers: { 1: this.#web.net, 2: this.#web.net, 3: this.#sidecar.port },
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
      case 'power-loss':
        this.#tally.powerLosses += 1;
        this.#powerLossesAtMs.push(this.#simulation.nowMs);
        return life.end({ why: 'powerless', downMs: deed.downMs });
      case 'cut':
        return this.#cut(deed.forMs, deed.silent);
      case 'stop':
        return this.#stop(life, deed.downMs);
      case 'freeze':
        this.#tally.freezes += 1;
        this.#remember(`frozen for ${Math.round(deed.forMs)} ms`);
        this.#frozen = frozenFurther(this.#frozen, this.#simulation.nowMs, deed.forMs);
        return this.#simulation.freeze(life.owner, deed.forMs);
      case 'pause':
        return this.#operators.pause(deed.forMs);
      case 'exclude':
        return this.#operators.exclude(deed.forMs);
      case 'sow':
        return this.#operators.sow();
      case 'redrive':
        return this.#operators.redrive();
      case 'clock-jump':
        this.#tally.clockJumps += 1;
        this.#remember(`wall clock moved by ${Math.round(deed.byMs)} ms`);
        return this.#simulation.shiftWall(deed.byMs);
    }
  }

  #cut(forMs: number, silent: boolean): void {
    if (this.#web.cut(forMs, silent) === null) return;
    this.#tally.cuts += 1;
    this.#remember(`nothing gets through for ${Math.round(forMs / 1_000)} s`);
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
    const accuse = (rule: string, detail: string): void => this.#accuse(rule, detail);
    // Whatever a last death has left half written is cut as the store is opened.
    const store = await this.#memory.open();
    const pages = await this.#memory.readPages();
    this.#tally.pages = pages.length;
    this.#tally.dead = store.opened().totals.dead;
    const setbacksOf = (url: string): number => this.#web.setbacksOf(url);
    const cuts = this.#web.cuts.filter(isPlain);
    const [settings, landscape, truth] = [this.#settings, this.#landscape, this.#truth()];
    const truthWithout = (without: ReadonlySet<string>): Truth => this.#truth(without);
    const powerLossesAtMs = this.#powerLossesAtMs;
    const evidence = { settings, landscape, truth, truthWithout, powerLossesAtMs, pages, store, setbacksOf, cuts };
    this.#tally.pardoned = (await judgeDisk(evidence, accuse)).size;
    await this.#operators.judgeRedrives(store, settings.forMs === 0);
    await store.close();
    for (const detail of (await this.#memory.readArchive?.()) ?? []) accuse('archive', detail);
  }

  #judged(): UniverseResult {
    const verdict = judgeLog(this.#web.log, this.#settings);
    let redeliveries = this.#tally.workerCrashes;
    for (const { rule, host, detail, at } of verdict.violations) {
      const isWished = this.#againSinceMs !== null && at >= this.#againSinceMs;
      // A door is answered whole, and the page behind it asked for once more by another tier.
      if (rule === 'duplicate' && this.#landscape.hosts.get(host)?.door != null) continue;
      if (rule === 'duplicate' && (isWished || this.#isRedelivery(host, detail) || redeliveries-- > 0)) continue;
      this.#violations.push({ rule, host, detail, atMs: at });
    }
    const { kills, powerLosses, actorCrashes } = this.#tally;
    for (const [url, deaths] of this.#parsers.crashes) {
      // What was excluded for a while and is brought again starts afresh.
      const lives = (this.#operators.sown.includes(url) ? 2 : 1) + this.#operators.tally.redrive + this.#mendings;
      if (deaths > lives * WORKER_DEATHS_MAX + kills + powerLosses + actorCrashes)
        this.#accuse('poison', `${url} killed ${deaths} workers`);
    }
    this.#judgeLadder();
    for (const cut of this.#web.cuts) judgeCut(cut, (rule, detail) => this.#accuse(rule, detail));
    for (const detail of [...this.#web.trespasses, ...this.#disk.trespasses]) this.#accuse('trespass', detail);
    const faultKinds: Record<string, number> = Object.fromEntries(this.#web.faults);
    const more = {
      disk: this.#disk.errors,
      parser: [...this.#parsers.crashes.values()].reduce((sum, count) => sum + count, 0),
      kill: kills,
      'power-loss': powerLosses,
      'actor-crash': actorCrashes,
      cut: this.#tally.cuts,
      sidecar: this.#sidecar.calls.filter(({ outcome }) => outcome === 'failed').length,
      stop: this.#tally.stops,
      freeze: this.#tally.freezes,
      'clock-jump': this.#tally.clockJumps,
      ...this.#operators.tally,
    };
    this.#judgeEvents(verdict.stats.requests);
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
      dead: this.#tally.dead,
      pagesExpected: this.#truth().committed.size,
      pardoned: this.#tally.pardoned,
      repeatsExcused: verdict.stats.repeatsExcused,
      planned: this.#planned(),
      violations: this.#violations,
      evidence: {
        settings: this.#settings,
        landscape: this.#landscape,
        log: this.#web.log,
        calls: this.#sidecar.calls,
        plan: this.#plan,
        moments: this.#moments,
        trace: this.#simulation.recentTrace(),
      },
    };
  }

  /** By what servers and the browser service have seen (R2, B1). */
  #judgeLadder(): void {
    const accuse = (rule: string, detail: string): void => this.#accuse(rule, detail);
    const { actorCrashes, powerLosses } = this.#tally;
    // What was excluded or given up and is brought again starts afresh.
    const { exclusions, redrives } = this.#settings;
    const isForgetful = actorCrashes + powerLosses + exclusions + redrives + this.#mendings > 0;
    judgeRetries(this.#web, this.#settings, this.#landscape, accuse);
    judgeRequests(this.#web.requests, this.#web.deaths, this.#roundsAtMs, isForgetful, accuse);
    judgeCalls(this.#sidecar.calls, this.#tally.freezes > 0 ? GRANT_MS_MAX_FROZEN : GRANT_MS_MAX, accuse);
  }

  /** A wait that overflows its timer, or a queue that is looked at again and again, is seen by nobody but the heap. */
  #judgeEvents(requests: number): void {
    const { events, nowMs } = this.#simulation;
    const hours = Math.ceil(nowMs / 3_600_000);
    // While nothing gets through one host after the other is probed.
    const cutHours = this.#web.cuts.reduce((sum, { fromMs, untilMs }) => sum + (untilMs - fromMs) / 3_600_000, 0);
    // While the browser service is ill each host that needs it asks for it every two minutes.
    const illHours = this.#plan.illnesses.reduce((sum, { fromMs, untilMs }) => sum + (untilMs - fromMs) / 3_600_000, 0);
    const pleading = EVENTS_AN_ILL_HOUR * Math.ceil(illHours) * this.#settings.hosts;
    const idle = EVENTS_AN_HOUR * hours + EVENTS_A_CUT_HOUR * Math.ceil(cutHours) + pleading;
    const budget = EVENTS_AT_MOST + EVENTS_A_REQUEST * requests + idle;
    if (events > budget) this.#accuse('event-budget', `${events} events for ${requests} requests, not ${budget}`);
  }

  /** Redrives of what was mended. */
  get #mendings(): number {
    return this.#settings.mending > 0 ? 1 : 0;
  }

  #planned(): Readonly<Record<string, number>> {
    const planned: Record<string, number> = {};
    for (const { deed } of this.#plan.deeds) planned[deed.kind] = (planned[deed.kind] ?? 0) + 1;
    if (this.#settings.actorCrashes > 0) planned['actor-crash'] = this.#settings.actorCrashes;
    if (this.#plan.failingCommits.size > 0) planned.disk = this.#plan.failingCommits.size;
    return planned;
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
  | { readonly why: 'killed' | 'powerless' | 'crashed'; readonly downMs: number };

function diskOptions(memory: EngineMemory, { failingCommits }: Plan): DiskOptions {
  const options = { open: () => memory.open(), failing: failingCommits };
  return memory.failInside === undefined ? options : { ...options, failInside: () => memory.failInside?.() };
}

/** A freeze may come while another one lasts. */
function frozenFurther(
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  nowMs: number,
  forMs: number,
): { readonly fromMs: number; readonly untilMs: number } {
  return { fromMs: nowMs < untilMs ? fromMs : nowMs, untilMs: Math.max(untilMs, nowMs + forMs) };
}
