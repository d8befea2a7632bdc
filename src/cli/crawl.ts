/** `orbweaver crawl`: crawls from its seeds until nothing is left to do, a bound is met, or it is interrupted. */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { contactProblem } from '../config/contact.js';
import { PRACTICE_FAULTS_VARIABLE } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { CODES } from '../domain/outcome.js';
import type { Candidate } from '../domain/url.js';
import { openLog } from '../logs.js';
import { type Crawl, type CrawlOutcome, openCrawl } from '../main.js';
import { candidate, isRefused } from '../page/candidate.js';
import { productTokenOf } from '../policy/robots/agent.js';
import type { CrawlEvent } from '../protocols/events.js';
import type { Fault } from '../supervision/faults.js';
import {
  type ConfigOptions,
  type LogOptions,
  readConfig,
  wholeNumber,
  withConfigOptions,
  withJsonOption,
  withLogOptions,
} from './options.js';
import { openProgress, type Progress, progressModeFor } from './progress.js';
import { formatSummary, type CrawlSummary } from './summary.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

interface CrawlCommandOptions extends ConfigOptions, LogOptions {
  readonly data: string;
  readonly maxPages?: number;
  readonly maxSeconds?: number;
  readonly wait?: number;
  readonly scope?: Config['scope'];
  readonly maxDepth?: number;
  readonly fault: readonly string[];
  readonly events: boolean;
  readonly json: boolean;
}

export function crawlCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('crawl')
    .description('crawl from these URLs; the same command again goes on where it stopped')
    .argument('<url...>', 'where to begin')
    .option('--data <dir>', 'what the crawl keeps: its store, archive and pages', 'crawls/default')
    .option('--max-pages <n>', 'end after so many visits', wholeNumber(1, 1e12))
    .option('--max-seconds <n>', 'end after so long', wholeNumber(1, 1e9))
    .option('--wait <seconds>', 'end when nothing falls due within this time', wholeNumber(0, 86_400))
    .addOption(new Option('--scope <scope>', 'how far links are followed').choices(['host', 'site', 'any']))
    .option('--max-depth <n>', 'follow links so far from a seed', wholeNumber(0, 1e6))
    .option('--events', 'with --json: one line a visit', false)
    .addOption(
      new Option('--fault <actor:message:nth:times>', 'crash an actor on purpose, to test (repeatable)')
        .default([])
        .argParser(append),
    );
  return withJsonOption(withLogOptions(withConfigOptions(command))).action(
    async (urls: string[], options: CrawlCommandOptions) => {
      ended(await crawl(urls, options, terminal));
    },
  );
}

async function crawl(urls: readonly string[], options: CrawlCommandOptions, terminal: Terminal): Promise<ExitCode> {
  const config = configOf(options);
  const seeds = urls.map(seedOf);
  const problem = contactProblem(
    config.userAgent,
    seeds.map(({ host }) => host),
    config,
  );
  if (problem !== null) throw new CommandError('no_contact', problem, EXIT.usage);
  if (productTokenOf(config.userAgent) === null) {
    throw new CommandError(
      'no_product_token',
      `userAgent must begin with a name of letters, - and _ only: ${config.userAgent}`,
      EXIT.usage,
    );
  }
  const faults = options.fault.map(faultOf);
  const log = openLog({ level: options.logLevel, file: options.log ?? null });
  const progress = openProgress(process.stderr, progressModeFor(process.stderr, options.json));
  try {
    const dataDir = resolve(options.data);
    const running = await openCrawl({
      config,
      dataDir,
      seeds,
      pagesMax: options.maxPages ?? null,
      secondsMax: options.maxSeconds ?? null,
      log,
      onEvent: (event) => tell(event, options, terminal, progress),
      ...(faults.length > 0 || process.env[PRACTICE_FAULTS_VARIABLE] === '1' ? { faults } : {}),
    });
    const outcome = await watch(running, progress);
    return conclude(outcome, dataDir, options, terminal);
  } finally {
    progress.end();
    log.close();
  }
}

function configOf(options: CrawlCommandOptions): Config {
  const assignments = [...options.set];
  if (options.scope !== undefined) assignments.push(`scope=${options.scope}`);
  if (options.maxDepth !== undefined) assignments.push(`maxDepth=${options.maxDepth}`);
  if (options.wait !== undefined) assignments.push(`waitSeconds=${options.wait}`);
  return readConfig({ ...options, set: assignments }).config;
}

/** `localhost:8080` is a host with its port: digits follow no scheme. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))/i;

function seedOf(text: string): Candidate {
  const absolute = SCHEME.test(text) ? text : `http://${text}`;
  const made = candidate(absolute, null, 'seed', null);
  if (isRefused(made)) {
    throw new CommandError(
      made.refusal,
      `${CODES[made.refusal]}: ${text.slice(0, 200)}`,
      EXIT.usage,
      'seed',
      'give an http or https URL',
    );
  }
  return made;
}

/** `frontier:visited:3:1`: the third such message crashes it, once. The last parts may be left out. */
function faultOf(text: string): Fault {
  const [actor = '', message = '', nth = '1', times = '1'] = text.split(':');
  if (actor === '' || !/^\d+$/.test(nth) || !/^\d+$/.test(times)) {
    throw new CommandError('fault_invalid', `not ACTOR:MESSAGE:NTH:TIMES: ${text}`, EXIT.usage, '--fault');
  }
  return { actor, nth: Number(nth), times: Number(times), ...(message === '' ? {} : { message }) };
}

/** Draws the progress until the crawl has ended; the first interrupt drains, a second one ends the process by itself. */
async function watch(running: Crawl, progress: Progress): Promise<CrawlOutcome> {
  void untilInterrupted().then(() => {
    progress.aside('Stopping: visits that are open end first. Once more to stop at once.');
    running.interrupt();
  });
  let pagesBefore = 0;
  let rate = 0;
  const timer = setInterval(() => {
    const { pages, requests, failed, totals, hostsActive, held } = running.progress();
    rate += 0.2 * ((pages - pagesBefore) * (1_000 / PROGRESS_MS) - rate);
    pagesBefore = pages;
    const queued = totals.ready;
    const waiting = totals.waiting + totals.parked;
    const snapshot = { pages, requests, queued, waiting, hostsActive, ratePerSecond: rate, failed };
    progress.update(held === null ? snapshot : { ...snapshot, held }, performance.now());
  }, PROGRESS_MS);
  try {
    return await running.ended;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

const PROGRESS_MS = 200;

function tell(event: CrawlEvent, options: CrawlCommandOptions, terminal: Terminal, progress: Progress): void {
  if (options.json && options.events && event.event === 'visit') {
    const { url, outcome, code, status, tier, bytes, durationMs } = event;
    printJson(terminal, { event: 'visit', url, outcome, code, status, tier, bytes, durationMs });
  }
  if (event.event === 'held') progress.aside(`Held: ${event.why}`);
  if (event.event === 'resumed') progress.aside('Going on.');
}

function conclude(outcome: CrawlOutcome, dataDir: string, options: CrawlCommandOptions, terminal: Terminal): ExitCode {
  const { failure, waiting, ...counts } = outcome;
  const summary: CrawlSummary = { event: 'summary', ...counts, dataDir };
  if (options.json) printJson(terminal, { ...summary, failure, waiting });
  else for (const line of formatSummary(summary)) terminal.print(line);
  if (!options.json && outcome.reason === 'only-waiting') {
    for (const { host, wakeAtMs } of waiting)
      terminal.print(`  waits until ${new Date(wakeAtMs).toISOString()}: ${host}`);
  }
  if (failure !== null)
    throw new CommandError(
      'crawl_failed',
      failure,
      EXIT.failed,
      dataDir,
      'the store is whole; the same command goes on',
    );
  return outcome.reason === 'interrupted' ? EXIT.interrupted : EXIT.done;
}

function append(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
