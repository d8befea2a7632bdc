/**
 * The browser tier's service: visits, so many at once, over one browser that is started anew whenever it should be.
 *
 * A visit that does not end by its time is ended with its context; a browser that can't even do that is killed with all
 * its processes. So is one that has grown too large or has served long enough, between visits. Whoever waited for a
 * visit of a browser that went is told so.
 */
import type { BrowserContext } from 'playwright-core';
import type { Resolver } from '../net/dns.js';
import { type GuardedProxy, openGuardedProxy } from '../net/guarded-proxy.js';
import type { Trust } from '../net/connect.js';
import { type RunningBrowser, startChromium, sweepFolders } from './chromium.js';
import { type Solution, type VisitAsked, VisitError } from './protocol.js';
import { openContext, visit, type VisitTerms } from './visit.js';

export interface ServiceOptions extends Pick<VisitTerms, 'isDoor' | 'subRequestsMax'> {
  /** Path of a Chromium. */
  readonly executable: string;
  readonly trust: Trust;
  readonly names: Pick<Resolver, 'resolve'>;
  /** Pages at once. */
  readonly concurrency: number;
  /** Null: the browser's own. */
  readonly userAgent: string | null;
  readonly from: string | null;
  readonly log: (event: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void;
}

export interface Health {
  readonly browser: 'running' | 'not started' | 'gone';
  readonly version: string | null;
  readonly visiting: number;
  readonly waiting: number;
  readonly visits: number;
  readonly failed: number;
  /** Browsers that were started. */
  readonly starts: number;
  readonly memoryBytes: number;
}

/** Who may wait for a place, for each that there is. */
const WAITING_EACH_MAX = 8;
const PAGE_BYTES_MAX = 32 * 1024 * 1024;
const CONNECTIONS_MAX = 120;
/** A context that is asked to close and does not within this hangs, and the browser with it. */
const CLOSE_MS_MAX = 3_000;
/** More than a handful of pages ever needs. */
const MEMORY_BYTES_MAX = 1_500 * 1024 * 1024;
const VISITS_A_BROWSER_MAX = 200;

export class BrowserService {
  readonly #options: ServiceOptions;
  #running: Promise<RunningBrowser> | null = null;
  #alive: RunningBrowser | null = null;
  #ending: Promise<void> = Promise.resolve();
  #visiting = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosing = false;
  #visits = 0;
  #visitsOfBrowser = 0;
  #failed = 0;
  #starts = 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
    const swept = sweepFolders();
    if (swept > 0) options.log('folders_swept', { folders: swept });
  }

  health(): Health {
    const alive = this.#alive;
    const isThere = alive?.browser.isConnected() ?? false;
    return {
      browser: this.#starts === 0 ? 'not started' : isThere ? 'running' : 'gone',
      version: alive?.version ?? null,
      visiting: this.#visiting,
      waiting: this.#waiting.length,
      visits: this.#visits,
      failed: this.#failed,
      starts: this.#starts,
      memoryBytes: isThere ? (alive as RunningBrowser).memoryBytes() : 0,
    };
  }

  /** Rejects with VisitError. `signal`: nobody waits for it any more. */
  async visit(asked: VisitAsked, signal: AbortSignal): Promise<Solution> {
    await this.#enter(signal);
    this.#visits += 1;
    try {
      return await this.#attend(asked, signal);
    } catch (error) {
      this.#failed += 1;
      throw error instanceof VisitError
        ? error
        : new VisitError('browser_gone', (error as Error).message.slice(0, 200));
    } finally {
      this.#leave();
    }
  }

  /** Ends the browser; visits under way end with it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const enter of this.#waiting.splice(0)) enter();
    await this.#endBrowser('closing');
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { concurrency } = this.#options;
    if (this.#visiting >= concurrency) {
      if (this.#waiting.length >= concurrency * WAITING_EACH_MAX)
        throw new VisitError('busy', `${this.#visiting} pages are open and ${this.#waiting.length} wait`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#visiting += 1;
    if (!this.#isClosing && !signal.aborted) return;
    this.#leave();
    throw new VisitError('given_up', this.#isClosing ? 'the service is closing' : 'nobody waits for it any more');
  }

  #leave(): void {
    this.#visiting -= 1;
    this.#waiting.shift()?.();
  }

  async #attend(asked: VisitAsked, signal: AbortSignal): Promise<Solution> {
    const { browser } = await this.#browser();
    const proxy = asked.proxy === undefined ? await this.#openProxy() : null;
    let context: BrowserContext | null = null;
    try {
      const terms = this.#termsFor(asked, proxy?.url ?? (asked.proxy?.url as string));
      context = await openContext(browser, terms);
      return await this.#bounded(visit(context, asked, terms), asked.maxTimeout, signal);
    } catch (error) {
      const [refusal] = proxy?.refusals ?? [];
      if (refusal === undefined || !(error instanceof VisitError) || error.code !== 'navigation_failed') throw error;
      throw new VisitError('guard_refused', refusal);
    } finally {
      if (context !== null) await this.#endContext(context);
      await proxy?.close();
    }
  }

  #termsFor(asked: VisitAsked, proxyUrl: string): VisitTerms {
    const { isDoor, subRequestsMax, userAgent, from } = this.#options;
    const headers = { ...(from === null ? {} : { from }), ...onlyHarmless(asked.headers) };
    return { proxyUrl, userAgent: asked.userAgent ?? userAgent, headers, subRequestsMax, isDoor };
  }

  #openProxy(): Promise<GuardedProxy> {
    const { trust, names } = this.#options;
    return openGuardedProxy({ trust, names, connectionsMax: CONNECTIONS_MAX, bytesMax: PAGE_BYTES_MAX });
  }

  /** A page that hangs keeps its promises for ever: what counts is the clock here. */
  async #bounded(work: Promise<Solution>, timeoutMs: number, signal: AbortSignal): Promise<Solution> {
    const ends: (() => void)[] = [];
    const ended = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new VisitError('timeout', `no page within ${timeoutMs} ms`)), timeoutMs);
      const giveUp = (): void => reject(new VisitError('given_up', 'nobody waits for it any more'));
      signal.addEventListener('abort', giveUp);
      if (signal.aborted) giveUp();
      ends.push(
        () => clearTimeout(timer),
        () => signal.removeEventListener('abort', giveUp),
      );
    });
    work.catch(() => {});
    try {
      return await Promise.race([work, ended]);
    } finally {
      for (const end of ends) end();
    }
  }

  async #endContext(context: BrowserContext): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const hangs = new Promise<'hangs'>((resolve) => {
      timer = setTimeout(() => resolve('hangs'), CLOSE_MS_MAX);
    });
    const closed = context.close().then(
      () => 'closed' as const,
      () => 'gone' as const,
    );
    const how = await Promise.race([closed, hangs]);
    clearTimeout(timer);
    if (how === 'hangs') await this.#endBrowser('a page could not be closed');
  }

  // -- the browser ------------------------------------------------------------------------------------------------

  async #browser(): Promise<RunningBrowser> {
    await this.#ending;
    // Its end may be known before it is told.
    if (this.#alive?.browser.isConnected() === false) await this.#endBrowser('it is gone');
    const alive = this.#alive;
    if (alive !== null && this.#visiting === 1) {
      const memoryBytes = alive.memoryBytes();
      if (memoryBytes > MEMORY_BYTES_MAX) await this.#endBrowser(`it holds ${memoryBytes} bytes`);
      else if (this.#visitsOfBrowser >= VISITS_A_BROWSER_MAX) await this.#endBrowser('it has served long enough');
    }
    this.#visitsOfBrowser += 1;
    this.#running ??= this.#start();
    return this.#running;
  }

  async #start(): Promise<RunningBrowser> {
    this.#starts += 1;
    this.#visitsOfBrowser = 1;
    try {
      const running = await startChromium(this.#options.executable);
      this.#alive = running;
      this.#options.log('browser_started', { version: running.version });
      running.browser.once('disconnected', () => {
        if (this.#alive === running) void this.#endBrowser('it is gone');
      });
      return running;
    } catch (error) {
      this.#running = null;
      throw new VisitError('browser_gone', `it does not start: ${(error as Error).message.split('\n')[0]}`);
    }
  }

  #endBrowser(why: string): Promise<void> {
    const running = this.#running;
    if (running === null) return this.#ending;
    this.#running = null;
    this.#ending = running
      .then(async (browser) => {
        this.#alive = null;
        await browser.end();
        this.#options.log('browser_ended', { why });
      })
      .catch(() => {});
    return this.#ending;
  }
}

/** A visit may say who asks; what a browser says of itself and its connection is its own. */
function onlyHarmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() === 'from' || name.toLowerCase().startsWith('x-')),
  );
}
