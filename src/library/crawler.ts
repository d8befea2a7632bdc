/**
 * The crawler that programs hold: a crawl that can be started, asked, told and stopped, as often as they like.
 *
 * It prints nothing, ends no process, handles no signals and shares nothing with other crawlers of the process. Commands
 * are idempotent: each has its answer whatever was asked before it, and one that the end of a run overtakes is carried
 * out on the store at rest.
 */
import type {
  Control,
  DeadList,
  DeadQuery,
  ExcludeReport,
  PauseReport,
  RedriveList,
  RedriveReport,
  RedrivesQuery,
  RedriveView,
  SeedReport,
  StatusReport,
} from '../admin/control.js';
import { readRate } from '../admin/redriving.js';
import { readSeed } from '../admin/seeds.js';
import type { DeadFilter } from '../domain/redrive.js';
import { type CrawlOptions, SYSTEM_CLOCK } from '../main.js';
import type { WhyAnswer } from '../why/answer.js';
import { CrawlerError, crawlerErrorFrom } from './error.js';
import { Emitter, type EventName, type Listener } from './events.js';
import type { LogFields, LogLevel } from './log.js';
import { logPort } from './log-port.js';
import { type CheckedOptions, checked, refuseAnonymous } from './checked.js';
import type { CrawlerOptions } from './options.js';
import type { Page } from './page.js';
import { iterate } from './page-queue.js';
import { type Readers, Run } from './run.js';
import type { CrawlSummary } from './summary.js';

export interface Crawler extends AsyncIterable<Page> {
  /**
   * Opens the data directory and begins; resolves when it runs. Asked again while it runs it does nothing; after its end
   * it goes on from there, in a new run. Rejects with CrawlerError.
   */
  start(): Promise<void>;
  /**
   * Lets the visits that are open end, commits them, and closes everything. Resolves to the summary of the run, however
   * often and by whomever it is asked; to null where there is none.
   */
  stop(): Promise<CrawlSummary | null>;
  /**
   * Of the newest run: everything is closed, and `onPage` has had its last page (so don't wait for it in there). A crash
   * is in the summary; it rejects only where the run could not begin.
   */
  readonly ended: Promise<CrawlSummary>;
  /**
   * Queues URLs, or host names for which http is assumed, all in one commit; each has its verdict. What is known is
   * left, or with `again` fetched once more. Resolves after the commit.
   */
  seed(urls: readonly string[], options?: { readonly again?: boolean }): Promise<SeedReport>;
  /** Lets no request begin, in this run and in those to come, until `resume`. */
  pause(): Promise<PauseReport>;
  resume(): Promise<PauseReport>;
  /** Leaves URLs that match from now on, those that are queued included. Rejects with `pattern_invalid`. */
  exclude(patterns: readonly string[]): Promise<ExcludeReport>;
  /** URLs that were given up, each with its cause and every attempt; in pages. Null asks for everything. */
  dead(query?: Partial<DeadQuery>): Promise<DeadList>;
  /**
   * Queues dead letters once more, with all their deliveries. Resolves when all of them are; with a rate after its first
   * commit, and goes on by itself, also in runs to come. Rejects with `rate_invalid` and `redrives_too_many`.
   */
  redrive(wish?: RedriveOptions): Promise<RedriveReport>;
  /** What was redriven, the newest first, and how far it has come. */
  redrives(query?: Partial<RedrivesQuery>): Promise<RedriveList>;
  /** Lets a redrive go no further. Rejects with `redrive_unknown`. */
  cancelRedrive(number: number): Promise<RedriveView>;
  /** How it goes: of the run, or of the store where none is under way. */
  status(): Promise<StatusReport>;
  /** Everything known of a URL, with what happens next and why, in fields and in sentences. */
  why(url: string): Promise<WhyAnswer>;
  /**
   * The pages of the newest run as they are committed, each once; ends with the run. A loop over it starts the crawl by
   * itself; leaving the loop does not stop it. Several loops share the pages. Pages must be asked for before the run
   * begins, by this, `want` or `onPage`: else it throws CrawlerError `pages_not_asked`. Rejects with `crawl_failed` where
   * the run crashes.
   */
  pages(): AsyncIterableIterator<Page>;
  on<Name extends EventName>(event: Name, listener: Listener<Name>): this;
  off<Name extends EventName>(event: Name, listener: Listener<Name>): this;
}

/** Which dead letters, how fast, and on whose behalf. */
export interface RedriveOptions extends Partial<DeadFilter> {
  /** As in `10/s`, `30/min` or `5/h`; as fast as the store takes them where it is left out. */
  readonly rate?: string | null;
  /** For the audit. */
  readonly who?: string | null;
}

const EVERY_LETTER: DeadFilter = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null };

const PAGES_HELD_MAX = 64;
const PAGE_BYTES_HELD_MAX = 32 * 1024 * 1024;

/** Looks at the options, and begins nothing. Throws CrawlerError. */
export function createCrawler(options: CrawlerOptions): Crawler {
  try {
    return new Embedded(options, checked(options));
  } catch (error) {
    throw crawlerErrorFrom(error);
  }
}

class Embedded implements Crawler {
  readonly #options: CrawlerOptions;
  readonly #checked: CheckedOptions;
  readonly #emitter: Emitter;
  #run: Run;
  /** Whether somebody holds an iterator over the newest run. */
  #isIterated = false;
  /** Commands on the store at rest, one after the other; a run that begins waits for those that were before it. */
  #atRest: Promise<unknown> = Promise.resolve();

  constructor(options: CrawlerOptions, checkedOptions: CheckedOptions) {
    this.#options = options;
    this.#checked = checkedOptions;
    this.#emitter = new Emitter((event, error) => this.#listenerFailed(event, error));
    this.#run = this.#newRun();
  }

  get ended(): Promise<CrawlSummary> {
    return this.#run.ended;
  }

  async start(): Promise<void> {
    if (this.#run.phase === 'begun') return void (await this.#run.opened);
    const before = this.#run;
    if (before.phase !== 'unbegun') {
      this.#run = this.#newRun();
      this.#isIterated = before.readers.queued && before.readers.onPage === null;
    }
    const isFree =
      before.phase === 'unbegun' ? this.#atRest : Promise.all([before.closed.catch(() => {}), this.#atRest]);
    const readers = this.#readers();
    await this.#run.begin(() => this.#crawlOptions(readers), readers, isFree);
  }

  stop(): Promise<CrawlSummary | null> {
    return this.#run.phase === 'unbegun' ? Promise.resolve(null) : this.#run.stop();
  }

  async seed(urls: readonly string[], { again = false }: { readonly again?: boolean } = {}): Promise<SeedReport> {
    const { config } = this.#checked;
    const made = urls.map(readSeed);
    refuseAnonymous(
      config,
      made.flatMap((seed) => ('refusal' in seed ? [] : [seed])),
    );
    return this.#ask((control) => control.seed({ urls, again }));
  }

  pause(): Promise<PauseReport> {
    return this.#ask((control) => control.pause());
  }

  resume(): Promise<PauseReport> {
    return this.#ask((control) => control.resume());
  }

  exclude(patterns: readonly string[]): Promise<ExcludeReport> {
    return this.#ask((control) => control.exclude({ patterns, remove: false }));
  }

  dead(query: Partial<DeadQuery> = {}): Promise<DeadList> {
    return this.#ask((control) => control.dead({ ...EVERY_LETTER, limit: 1_000, after: null, ...query }));
  }

  async redrive({ rate = null, who = null, ...filter }: RedriveOptions = {}): Promise<RedriveReport> {
    const paced = rate === null ? null : readRate(rate);
    if (rate !== null && paced === null) {
      const advice = 'write it as in 10/s, 30/min or 5/h, up to 1000000';
      throw new CrawlerError('rate_invalid', 'this is no rate', rate, advice);
    }
    const wish = { ...EVERY_LETTER, ...filter, rate: paced, way: 'library', who } as const;
    return this.#ask((control) => control.redrive(wish));
  }

  redrives(query: Partial<RedrivesQuery> = {}): Promise<RedriveList> {
    return this.#ask((control) => control.redrives({ limit: 100, before: null, ...query }));
  }

  cancelRedrive(number: number): Promise<RedriveView> {
    return this.#ask((control) => control.cancelRedrive(number));
  }

  status(): Promise<StatusReport> {
    return this.#ask((control) => control.status());
  }

  why(url: string): Promise<WhyAnswer> {
    return this.#ask((control) => control.why(url));
  }

  pages(): AsyncIterableIterator<Page> {
    const run = this.#run;
    if (run.phase === 'unbegun') this.#isIterated = true;
    else if (!run.readers.queued || run.readers.onPage !== null) throw notAsked();
    return iterate(run.pages, () => {
      if (run.phase === 'unbegun') this.start().catch(() => {}); // the iterator rejects with it
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<Page> {
    return this.pages();
  }

  on<Name extends EventName>(event: Name, listener: Listener<Name>): this {
    this.#emitter.add(event, listener);
    return this;
  }

  off<Name extends EventName>(event: Name, listener: Listener<Name>): this {
    this.#emitter.remove(event, listener);
    return this;
  }

  #newRun(): Run {
    const { pagesHeldMax, pageBytesHeldMax } = this.#options;
    const bounds = { pages: pagesHeldMax ?? PAGES_HELD_MAX, bytes: pageBytesHeldMax ?? PAGE_BYTES_HELD_MAX };
    return new Run(bounds, this.#emitter);
  }

  /** A wish for pages alone, with nobody but listeners, is theirs: a queue that nobody takes from would hold the crawl. */
  #readers(): Readers {
    const { onPage = null, want } = this.#options;
    const isWanted = want !== undefined && !this.#emitter.has('page');
    return { queued: onPage !== null || this.#isIterated || isWanted, onPage };
  }

  #crawlOptions(readers: Readers): Omit<CrawlOptions, 'onEvent'> {
    const { again, pagesMax, secondsMax, keepRunning, control, want, urlFilter, log } = this.#options;
    const { config, dataDir, seeds, plugIns } = this.#checked;
    const { text = false, body = false, links = false } = want ?? {};
    const delivers = readers.queued || this.#emitter.has('page') ? { delivers: { text, body, links } } : {};
    return {
      ...{ config, dataDir, seeds, plugIns },
      again: again === true,
      pagesMax: pagesMax ?? null,
      secondsMax: secondsMax ?? null,
      endless: keepRunning === true,
      listens: control !== false,
      ...(urlFilter === undefined ? {} : { urlFilter }),
      ...delivers,
      log: logPort(log, (level, event, fields) => this.#logged(level, event, fields)),
    };
  }

  // -- asking ---------------------------------------------------------------------------------------------------

  async #ask<T>(use: (control: Control) => Promise<T>): Promise<T> {
    const run = this.#run;
    const crawl = await run.opened;
    if (crawl !== null) {
      const answer = await askLive(() => use(crawl.control), run);
      if (answer !== null) return answer.value;
      if (this.#run !== run) return this.#ask(use);
    }
    return this.#askAtRest(use);
  }

  #askAtRest<T>(use: (control: Control) => Promise<T>): Promise<T> {
    const answer = this.#atRest.then(() => this.#withStopped(use));
    this.#atRest = answer.catch(() => {});
    return answer;
  }

  async #withStopped<T>(use: (control: Control) => Promise<T>): Promise<T> {
    const { dataDir, config } = this.#checked;
    const { holdsCrawl, openStopped } = await import('../admin/stopped.js');
    if (!holdsCrawl(dataDir))
      throw new CrawlerError('not_running', 'no crawl was ever begun here', dataDir, START_FIRST);
    try {
      const stopped = await openStopped(dataDir, config, SYSTEM_CLOCK, this.#options.urlFilter);
      try {
        return await use(stopped.control);
      } finally {
        await stopped.close();
      }
    } catch (error) {
      throw crawlerErrorFrom(error);
    }
  }

  // -- telling --------------------------------------------------------------------------------------------------

  #logged(level: LogLevel, event: string, { detail, reason, url }: LogFields): void {
    if (level !== 'error' && event !== 'plugin_failed') return;
    const message = String(detail ?? reason ?? event);
    this.#emitter.emit('error', { code: event, message, url: typeof url === 'string' ? url : null });
  }

  #listenerFailed(event: EventName, error: unknown): void {
    if (event === 'error') return;
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#emitter.emit('error', { code: 'listener_failed', message: `${event}: ${message}`, url: null });
  }
}

const START_FIRST = 'call start() first';

function notAsked(): CrawlerError {
  const message = 'this run was begun without anybody who takes its pages, or with a callback that does';
  const advice = 'call pages() before start(), or give `want`; a loop over the crawler starts it by itself';
  return new CrawlerError('pages_not_asked', message, null, advice);
}

/** Null: the run ended before it was answered. */
async function askLive<T>(use: () => Promise<T>, run: Run): Promise<{ readonly value: T } | null> {
  const closed = run.closed.then(() => null);
  try {
    return await Promise.race([use().then((value) => ({ value })), closed]);
  } catch (error) {
    if (run.phase === 'begun') throw crawlerErrorFrom(error);
    return closed;
  }
}
