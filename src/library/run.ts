/**
 * One run of a crawler: from its start until everything is closed. It opens the engine, sorts what the engine tells,
 * and keeps the pages that nobody has taken yet.
 *
 *     unbegun ──▶ begun ──▶ stopping ──▶ over
 *                   └──────────────────────┘
 */
import { type Crawl, type CrawlOptions, type CrawlOutcome, openCrawl } from '../main.js';
import type { CrawlEvent } from '../protocols/events.js';
import { CONSUMER } from '../protocols/workbench.js';
import { adviceAfter } from '../store/errors.js';
import { CrawlerError, crawlerErrorFrom } from './error.js';
import type { Emitter } from './events.js';
import { pageOf } from './delivered.js';
import type { Page } from './page.js';
import { type PageBounds, PageQueue } from './page-queue.js';
import type { CrawlSummary } from './summary.js';

type Phase =
  | { readonly is: 'unbegun' }
  | { readonly is: 'begun' | 'stopping'; readonly opened: Promise<Crawl> }
  | { readonly is: 'over' };

/** Who gets pages, as it stands when the run begins. */
export interface Readers {
  /** They go through the queue; without it only listeners hear of them. */
  readonly queued: boolean;
  readonly onPage: ((page: Page) => void | Promise<void>) | null;
}

export class Run {
  readonly pages: PageQueue;
  /** Everything is closed. Rejects where it could not be opened. */
  readonly closed: Promise<CrawlSummary>;
  /** And the last page was taken by the callback, where there is one. */
  readonly ended: Promise<CrawlSummary>;
  #phase: Phase = { is: 'unbegun' };
  readonly #emitter: Emitter;
  #readers: Readers = { queued: false, onPage: null };
  #resolve: (summary: CrawlSummary) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #delivered: Promise<void> = Promise.resolve();

  constructor(bounds: PageBounds, emitter: Emitter) {
    this.#emitter = emitter;
    this.pages = new PageQueue(bounds, {
      hold: () => this.#tell((crawl) => crawl.hold(CONSUMER)),
      release: () => this.#tell((crawl) => crawl.release(CONSUMER)),
    });
    this.closed = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended = this.closed.then((summary) => this.#delivered.then(() => summary));
    // Whoever waits for neither has the same word from `start`.
    this.closed.catch(() => {});
    this.ended.catch(() => {});
  }

  get phase(): Phase['is'] {
    return this.#phase.is;
  }

  get readers(): Readers {
    return this.#readers;
  }

  /** The engine, where there is one; rejects where it could not be opened. */
  get opened(): Promise<Crawl> | null {
    return 'opened' in this.#phase ? this.#phase.opened : null;
  }

  /** Rejects with CrawlerError. `options` are asked for when `free` has resolved: nobody else holds the store then. */
  begin(options: () => Omit<CrawlOptions, 'onEvent'>, readers: Readers, free: Promise<unknown>): Promise<Crawl> {
    this.#readers = readers;
    if (readers.onPage !== null) this.#delivered = this.#deliver(readers.onPage);
    const opened = this.#open(options, free);
    this.#phase = { is: 'begun', opened };
    opened.then((crawl) => this.#follow(crawl)).catch((error: unknown) => this.#failed(error));
    return opened;
  }

  stop(): Promise<CrawlSummary> {
    if (this.#phase.is === 'begun') {
      this.#phase = { is: 'stopping', opened: this.#phase.opened };
      this.#tell((crawl) => crawl.interrupt());
    }
    return this.closed;
  }

  async #open(options: () => Omit<CrawlOptions, 'onEvent'>, free: Promise<unknown>): Promise<Crawl> {
    await free;
    try {
      return await openCrawl({ ...options(), onEvent: (event) => this.#hear(event) });
    } catch (error) {
      throw crawlerErrorFrom(error);
    }
  }

  async #follow(crawl: Crawl): Promise<void> {
    const outcome: CrawlOutcome = await crawl.ended;
    const summary: CrawlSummary = { ...outcome, dataDir: crawl.dataDir };
    this.#phase = { is: 'over' };
    const { failure } = outcome;
    const error =
      failure === null ? null : new CrawlerError('crawl_failed', failure, crawl.dataDir, adviceAfter(failure));
    this.pages.close(error);
    this.#resolve(summary);
    this.#emitter.emit('ended', summary);
  }

  #failed(error: unknown): void {
    this.#phase = { is: 'over' };
    this.pages.close(error as Error);
    this.#reject(error);
  }

  /** What the engine says while it opens is heard before it can be told anything. */
  #tell(say: (crawl: Crawl) => void): void {
    this.opened?.then(say, () => {});
  }

  #hear(event: CrawlEvent): void {
    switch (event.event) {
      case 'page':
        return this.#hearPage(pageOf(event));
      case 'visit': {
        const { event: _, ...visit } = event;
        return this.#emitter.emit('visit', visit);
      }
      case 'held':
        return this.#emitter.emit('held', { why: event.why });
      case 'resumed':
        return this.#emitter.emit('resumed', {});
      case 'seeded': {
        const { queued, known, refused } = event;
        return this.#emitter.emit('seeded', { queued, known, refused });
      }
      case 'scope_widened':
        return this.#emitter.emit('scope_widened', { from: event.from, to: event.to });
    }
  }

  #hearPage(page: Page): void {
    this.#emitter.emit('page', page);
    if (this.#readers.queued) this.pages.offer(page);
  }

  async #deliver(onPage: (page: Page) => void | Promise<void>): Promise<void> {
    for (;;) {
      const { done, value } = await this.pages.take().catch(() => OVER);
      if (done) return;
      try {
        await onPage(value);
      } catch (error) {
        const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        this.#emitter.emit('error', { code: 'consumer_failed', message, url: value.url });
      }
    }
  }
}

const OVER = { done: true, value: undefined } as const;
