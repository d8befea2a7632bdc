/** What `orbweaver crawl` does: checks all that can be checked first, crawls, and tells what came of it. */
import { resolve } from 'node:path';
import type { StatusReport } from '../admin/control.js';
import { checkAuthorities } from '../config/authorities.js';
import { contactProblem } from '../config/contact.js';
import { PRACTICE_FAULTS_VARIABLE } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { Code } from '../domain/outcome.js';
import type { Candidate } from '../domain/url.js';
import { type OpenLog, openLog } from '../logs.js';
import { type Crawl, type CrawlOutcome, openCrawl } from '../main.js';
import { requiredProductToken } from './product-token.js';
import type { CrawlEvent } from '../protocols/events.js';
import { adviceAfter } from '../store/errors.js';
import type { Fault } from '../supervision/faults.js';
import { readConfig } from './configuration.js';
import { declaredTree, faultProblem } from './declared.js';
import { fileProblem, unwritable } from './files.js';
import type { ConfigOptions, LogOptions } from './options.js';
import { openProgress, type Progress, type ProgressSnapshot, progressModeFor } from './progress.js';
import { commandLine } from './program.js';
import { adviceFor, formatLostSeed, SeedFates, seedOf } from './seeds.js';
import { formatSummary, type WaitCounts } from './summary.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

const PROGRESS_MS = 200;
const OUTLOOK_MS = 2_000;
const SEEDS_TOLD_MAX = 10;

export interface CrawlCommandOptions extends ConfigOptions, LogOptions {
  readonly data: string;
  readonly maxPages?: number;
  readonly maxSeconds?: number;
  readonly wait?: number;
  readonly scope?: Config['scope'];
  readonly maxDepth?: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly fault: readonly FaultWords[];
  readonly again: boolean;
  readonly events: boolean;
  readonly json: boolean;
  /** For ever, as a daemon: no end, and no progress but on a terminal. */
  readonly endless?: boolean;
}

/** `frontier:visited:3:1`: the third such message crashes it, once. The last parts may be left out. */
export interface FaultWords {
  readonly text: string;
  readonly actor: string;
  readonly message: string | null;
  readonly nth: number;
  readonly times: number;
}

/** Throws CommandError, ConfigError or StoreError. */
export async function crawl(
  urls: readonly string[],
  options: CrawlCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.events && !options.json) {
    throw new CommandError('option_unused', '--events needs --json', EXIT.usage, '--events', 'add --json');
  }
  const config = configOf(options);
  const seeds = urls.map(seedOf);
  refuseAnonymous(config, seeds);
  const faults = options.fault.map((words) => faultOf(words, config));
  const log = logOf(options);
  const isEndless = options.endless === true;
  const mode = progressModeFor(process.stderr, options.json, isEndless);
  const progress = openProgress(process.stderr, mode);
  const told = { fates: new SeedFates(seeds), causes: new Map<string, Code>() };
  // Heard from the start on: an interrupt while the store is being opened drains what has hardly begun.
  const interrupted = untilInterrupted();
  try {
    const dataDir = resolve(options.data);
    const running = await openCrawl({
      config,
      dataDir,
      seeds,
      again: options.again,
      pagesMax: options.maxPages ?? null,
      secondsMax: options.maxSeconds ?? null,
      endless: isEndless,
      log,
      onEvent: (event) => {
        told.fates.hear(event);
        noteCause(event, told.causes);
        tell(event, options, terminal, progress);
      },
      ...(faults.length > 0 || process.env[PRACTICE_FAULTS_VARIABLE] === '1' ? { faults } : {}),
    });
    if (isEndless) tellWhere(running, dataDir, options, log, progress);
    const outlook = new Outlook(mode === 'silent' ? Number.POSITIVE_INFINITY : OUTLOOK_MS);
    const outcome = await watch(running, interrupted, progress, outlook);
    const { holds } = running.facts();
    return conclude({ ...told, outcome, dataDir, outlook, holds }, options, terminal);
  } finally {
    progress.end();
    log.close();
  }
}

// -- before -----------------------------------------------------------------------------------------------------

function configOf(options: CrawlCommandOptions): Config {
  const assignments = [...options.set];
  if (options.scope !== undefined) assignments.push(`scope=${options.scope}`);
  if (options.maxDepth !== undefined) assignments.push(`maxDepth=${options.maxDepth}`);
  if (options.include.length > 0) assignments.push(`include=${JSON.stringify(options.include)}`);
  if (options.exclude.length > 0) assignments.push(`exclude=${JSON.stringify(options.exclude)}`);
  if (options.wait !== undefined) assignments.push(`waitSeconds=${options.wait}`);
  const loaded = readConfig({ ...options, set: assignments });
  checkAuthorities(loaded, (error) => fileProblem(error)[0]);
  return loaded.config;
}

function refuseAnonymous(config: Config, seeds: readonly Candidate[]): void {
  const problem = contactProblem(
    config.userAgent,
    seeds.map(({ host }) => host),
    config,
  );
  if (problem !== null) {
    throw new CommandError('no_contact', problem.message, EXIT.usage, problem.where, problem.advice);
  }
  requiredProductToken(config);
}

function faultOf({ text, actor, message, nth, times }: FaultWords, config: Config): Fault {
  const problem = faultProblem(declaredTree(config), actor, message);
  if (problem !== null) {
    throw new CommandError(
      'fault_invalid',
      problem,
      EXIT.usage,
      `--fault ${text}`,
      `\`${commandLine('tree')}\` names the actors`,
    );
  }
  return { actor, nth, times, ...(message === null ? {} : { message }) };
}

function logOf({ logLevel, log }: CrawlCommandOptions): OpenLog {
  try {
    return openLog({ level: logLevel, file: log ?? null });
  } catch (error) {
    throw unwritable(error, `--log ${log}`);
  }
}

/** A daemon's first words: who it is, and where it can be spoken to. */
function tellWhere(
  { socket }: Crawl,
  dataDir: string,
  { log: file }: CrawlCommandOptions,
  log: OpenLog,
  progress: Progress,
): void {
  log.log('info', 'daemon_started', { pid: process.pid, dataDir, socket });
  if (file === undefined && process.stderr.isTTY !== true) return;
  progress.aside(`Running in ${dataDir}; ${socket === null ? 'no control interface' : `control at ${socket}`}.`);
}

// -- meanwhile --------------------------------------------------------------------------------------------------

/** Draws the progress until the crawl has ended; the first interrupt drains, a second one ends the process by itself. */
async function watch(
  running: Crawl,
  interrupted: Promise<unknown>,
  progress: Progress,
  outlook: Outlook,
): Promise<CrawlOutcome> {
  void interrupted.then(() => {
    progress.aside('Stopping: visits that are open end first. Once more to stop at once.');
    running.interrupt();
  });
  const timer = setInterval(() => {
    outlook.refresh(running);
    progress.update(snapshotOf(running, outlook), performance.now());
  }, PROGRESS_MS);
  try {
    return await running.ended;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

function snapshotOf(running: Crawl, { status }: Outlook): ProgressSnapshot {
  const { pages, requests, failed, totals, hostsActive, holds, ratePerSecond } = running.facts();
  const queued = totals.ready;
  const waiting = totals.waiting + totals.parked;
  const hosts = status?.hosts.active ?? hostsActive;
  const [held] = holds;
  return {
    ...{ pages, requests, queued, waiting, hostsActive: hosts, ratePerSecond, failed },
    ...(held === undefined ? {} : { held }),
    ...(status === null ? {} : { waitingWhy: causesOf(status) }),
    ...(status === null || status.etaSeconds === null ? {} : { etaSeconds: status.etaSeconds }),
  };
}

/** What the crawl says of itself every few seconds: more than a look at its counts, and more work. */
class Outlook {
  status: StatusReport | null = null;
  readonly #everyMs: number;
  #askedAtMs = performance.now();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  refresh(running: Crawl): void {
    const nowMs = performance.now();
    if (nowMs - this.#askedAtMs < this.#everyMs) return;
    this.#askedAtMs = nowMs;
    running.control.status().then(
      (status) => (this.status = status),
      () => (this.status = null), // the store is failing: `held` says so
    );
  }
}

/** What is under way waits for nothing. */
function causesOf({ waitingWhy }: StatusReport): WaitCounts {
  return Object.entries(waitingWhy).filter(([cause]) => cause !== 'in_flight');
}

function tell(event: CrawlEvent, options: CrawlCommandOptions, terminal: Terminal, progress: Progress): void {
  if (options.events && event.event === 'visit') {
    const { url, outcome, code, status, tier, bytes, durationMs } = event;
    printJson(terminal, { event: 'visit', url, outcome, code, status, tier, bytes, durationMs });
  }
  if (event.event === 'held') progress.aside(`Held: ${event.why}`);
  if (event.event === 'resumed') progress.aside('Going on.');
  if (event.event === 'scope_widened') {
    progress.aside(`Scope widened to ${event.to}: the seed at ${event.from} redirects there.`);
  }
}

/** Of each host that is not in order: the code of its last visit. */
function noteCause(event: CrawlEvent, causes: Map<string, Code>): void {
  if (event.event !== 'visit') return;
  if (event.outcome === 'failed' || event.outcome === 'throttled' || event.outcome === 'parked') {
    causes.set(event.host, event.code);
  } else causes.delete(event.host);
}

// -- after ------------------------------------------------------------------------------------------------------

interface Conclusion {
  readonly outcome: CrawlOutcome;
  readonly dataDir: string;
  readonly fates: SeedFates;
  readonly causes: ReadonlyMap<string, Code>;
  readonly outlook: Outlook;
  /** Why no request began in the end; empty while they did. */
  readonly holds: readonly string[];
}

function conclude(concluded: Conclusion, options: CrawlCommandOptions, terminal: Terminal): ExitCode {
  const { outcome, dataDir, fates } = concluded;
  const { failure } = outcome;
  const { status } = concluded.outlook;
  const lostSeeds = fates.lost();
  if (options.json) printJson(terminal, { event: 'summary', ...outcome, dataDir, lostSeeds });
  else {
    const waits = waitsOf(concluded);
    const causes = status === null ? [] : causesOf(status);
    for (const line of [...formatSummary(outcome, dataDir, causes), ...waits]) terminal.print(line);
  }
  if (failure !== null) {
    throw new CommandError('crawl_failed', failure, EXIT.failed, dataDir, adviceAfter(failure));
  }
  if (outcome.reason === 'interrupted') return EXIT.interrupted;
  if (outcome.reason === 'unreachable') {
    terminal.note('orbweaver: hardly any host could be reached; nothing is counted against them [egress_down]');
    terminal.note('  do: look at the connection of this machine, and at its name servers; the same command goes on');
    return EXIT.failed;
  }
  const nothingCame = outcome.fetched + outcome.unchanged === 0;
  // Redirects that lead in circles, say: something was asked for, nothing came, and nothing is left.
  const isInVain = outcome.reason === 'done' && outcome.redirected > 0;
  const isBarren = nothingCame && (fates.areAllLost() || isInVain);
  noteLostSeeds(fates, isBarren, terminal);
  return isBarren ? EXIT.failed : EXIT.done;
}

/** What has kept everything back, and the hosts that wait for their time. */
function waitsOf({ outcome, causes, holds }: Conclusion): string[] {
  if (outcome.reason === 'unreachable') return holds.map((why) => `  held: ${why}`);
  if (outcome.reason !== 'only-waiting') return [];
  return [...holds.map((why) => `  held: ${why}`), ...outcome.waiting.map((host) => formatWait(host, causes))];
}

function formatWait({ host, wakeAtMs }: CrawlOutcome['waiting'][number], causes: ReadonlyMap<string, Code>): string {
  const cause = causes.get(host);
  return `  waits until ${new Date(wakeAtMs).toISOString()}: ${host}${cause === undefined ? '' : ` [${cause}]`}`;
}

function noteLostSeeds(fates: SeedFates, isBarren: boolean, terminal: Terminal): void {
  const lost = fates.lost();
  if (lost.length === 0) {
    if (isBarren)
      terminal.note('orbweaver: nothing was fetched: redirects lead nowhere; ask `why` of a seed [seeds_lost]');
    return;
  }
  const what = isBarren ? 'nothing was fetched: no seed could be' : 'these seeds could not be fetched';
  terminal.note(`orbweaver: ${what} [seeds_lost]`);
  for (const seed of lost.slice(0, SEEDS_TOLD_MAX)) terminal.note(`  at: ${formatLostSeed(seed)}`);
  if (lost.length > SEEDS_TOLD_MAX) terminal.note(`  at: ${lost.length - SEEDS_TOLD_MAX} more`);
  const advice = new Set(lost.map(adviceFor).filter((line) => line !== null));
  for (const line of [...advice].slice(0, 3)) terminal.note(`  do: ${line}`);
}
