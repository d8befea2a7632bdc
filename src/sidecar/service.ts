/**
 * The browser tier's service: visits, so many at once, over one browser that is started anew whenever it should be.
 *
 * 1. Time holds for all of a visit: waiting for a place, a browser that starts, the page.
 * 2. A visit that does not end by its time is ended with its context; a browser that can't even do that is killed with
 *    all its processes. Whoever waited for a visit of a browser that went is told so.
 * 3. A page that grows beyond its share of the memory is ended at once, the browser when it is beyond all of it twice.
 *    A browser that is beyond it once, or has served long enough, gives way to a new one: nobody is let in until the
 *    last visit has left, so that it comes to that however many wait.
 */
import type { BrowserContext } from 'playwright-core';
import type { Resolver } from '../net/dns.js';
import { type GuardedProxy, openGuardedProxy } from '../net/guarded-proxy.js';
import type { Trust } from '../net/connect.js';
import { type RunningBrowser, startChromium, sweepFolders } from './chromium.js';
import { endsWithin, sleep } from './patience.js';
import { type Solution, type VisitAsked, VisitError } from './protocol.js';
import { createSessions, type Sessions } from './sessions.js';
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
  /** Of the browser with all its pages. One page is granted half of it. */
  readonly memoryBytesMax: number;
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
const MEMORY_LOOKED_AT_MS = 500;
const VISITS_A_BROWSER_MAX = 200;

/** Somebody who waits to be let in; `true` that he is. */
type Waiting = (isIn: boolean) => void;

export class BrowserService {
  readonly #options: ServiceOptions;
  #running: Promise<RunningBrowser> | null = null;
  #alive: RunningBrowser | null = null;
  #ending: Promise<void> = Promise.resolve();
  #visiting = 0;
  readonly #waiting = new Set<Waiting>();
  readonly #sessions: Sessions = createSessions();
  #watching: NodeJS.Timeout | null = null;
  #memoryBytes = 0;
  #isClosing = false;
  #visits = 0;
  #visitsOfBrowser = 0;
  #failed = 0;
  #starts = 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#ending = this.#sweep();
  }

  get sessions(): Sessions {
    return this.#sessions;
  }

  health(): Health {
    const alive = this.#alive;
    const isThere = alive?.browser.isConnected() ?? false;
    return {
      browser: this.#starts === 0 ? 'not started' : isThere ? 'running' : 'gone',
      version: alive?.version ?? null,
      visiting: this.#visiting,
      waiting: this.#waiting.size,
      visits: this.#visits,
      failed: this.#failed,
      starts: this.#starts,
      memoryBytes: isThere ? (alive as RunningBrowser).memory().bytes : 0,
    };
  }

  /** Rejects with VisitError. `signal`: nobody waits for it any more. */
  async visit(asked: VisitAsked, signal: AbortSignal): Promise<Solution> {
    const bounds = boundsOf(asked.maxTimeout, signal);
    try {
      await this.#enter(bounds);
      try {
        return await this.#attend(asked, bounds);
      } finally {
        this.#leave();
      }
    } catch (error) {
      this.#failed += 1;
      throw error instanceof VisitError
        ? error
        : new VisitError('browser_gone', (error as Error).message.slice(0, 200));
    } finally {
      bounds.lift();
    }
  }

  /** Lets nobody in any more; resolves when the last visit has left, or the time is over. */
  async drain(msMax: number): Promise<void> {
    this.#isClosing = true;
    for (const letIn of this.#waiting) letIn(false);
    this.#waiting.clear();
    const untilMs = performance.now() + msMax;
    while (this.#visiting > 0 && performance.now() < untilMs) await sleep(20);
  }

  /** Ends the browser; visits under way end with it. */
  async close(): Promise<void> {
    await this.drain(0);
    this.#stopWatching();
    await this.#endBrowser('closing');
  }

  // -- places -----------------------------------------------------------------------------------------------------

  async #enter(bounds: Bounds): Promise<void> {
    if (!this.#isClosing && this.#hasPlace()) this.#visiting += 1;
    else if (this.#isClosing || !(await this.#wait(bounds))) throw new VisitError('given_up', 'the service is closing');
    this.#visits += 1;
  }

  /** Whether there is a place in the end; it is taken for who is let in, before he knows. */
  async #wait(bounds: Bounds): Promise<boolean> {
    if (this.#waiting.size >= this.#options.concurrency * WAITING_EACH_MAX)
      throw new VisitError('busy', `${this.#visiting} pages are open and ${this.#waiting.size} wait`);
    let letIn: Waiting = () => {};
    const isIn = new Promise<boolean>((resolve) => {
      letIn = resolve;
    });
    this.#waiting.add(letIn);
    try {
      return await bounds.within(isIn);
    } catch (error) {
      // He may have been let in at the very moment that his time was over.
      if (!this.#waiting.delete(letIn) && (await isIn)) this.#leave();
      throw error;
    }
  }

  #leave(): void {
    this.#visiting -= 1;
    this.#letIn();
    if (this.#visiting === 0) this.#stopWatching();
  }

  #letIn(): void {
    for (const letIn of this.#waiting) {
      if (!this.#hasPlace()) return;
      this.#visiting += 1;
      this.#waiting.delete(letIn);
      letIn(true);
    }
  }

  /** While the browser is to give way there is one for the first only, who has it done. */
  #hasPlace(): boolean {
    return this.#visiting < (this.#whyRenew() === null ? this.#options.concurrency : 1);
  }

  // -- visits -----------------------------------------------------------------------------------------------------

  async #attend(asked: VisitAsked, bounds: Bounds): Promise<Solution> {
    const { browser } = await bounds.within(this.#browser());
    const proxy = asked.proxy === undefined ? await this.#openProxy() : null;
    const { session } = asked;
    const kept = session === undefined ? [] : this.#sessions.cookiesOf(session, performance.now());
    const terms = this.#termsFor(asked, proxy?.url ?? (asked.proxy?.url as string), kept);
    const opening = openContext(browser, terms);
    try {
      const context = await bounds.within(opening);
      const solution = await bounds.within(visit(context, asked, terms, bounds.leftMs()));
      if (session !== undefined) this.#sessions.keep(session, solution.cookies, performance.now());
      return solution;
    } catch (error) {
      const [refusal] = proxy?.refusals ?? [];
      if (refusal === undefined || !(error instanceof VisitError) || error.code !== 'navigation_failed') throw error;
      throw new VisitError('guard_refused', refusal);
    } finally {
      await this.#endContext(opening);
      await proxy?.close();
    }
  }

  #termsFor(asked: VisitAsked, proxyUrl: string, kept: VisitTerms['cookies']): VisitTerms {
    const { isDoor, subRequestsMax, userAgent, from } = this.#options;
    const headers = { ...(from === null ? {} : { from }), ...onlyHarmless(asked.headers) };
    const cookies = [...kept, ...asked.cookies];
    return { proxyUrl, userAgent: asked.userAgent ?? userAgent, headers, subRequestsMax, cookies, isDoor };
  }

  #openProxy(): Promise<GuardedProxy> {
    const { trust, names } = this.#options;
    return openGuardedProxy({ trust, names, connectionsMax: CONNECTIONS_MAX, bytesMax: PAGE_BYTES_MAX });
  }

  async #endContext(opening: Promise<BrowserContext>): Promise<void> {
    const closed = opening.then((context) => context.close());
    if (!(await endsWithin(closed, CLOSE_MS_MAX))) await this.#endBrowser('a page could not be closed');
  }

  // -- the browser ------------------------------------------------------------------------------------------------

  async #browser(): Promise<RunningBrowser> {
    await this.#ending;
    // Its end may be known before it is told.
    if (this.#alive?.browser.isConnected() === false) await this.#endBrowser('it is gone');
    const why = this.#visiting === 1 ? this.#whyRenew() : null;
    if (why !== null) {
      const ended = this.#endBrowser(why);
      this.#letIn();
      await ended;
    }
    this.#visitsOfBrowser += 1;
    this.#watching ??= setInterval(() => this.#lookAtMemory(), MEMORY_LOOKED_AT_MS);
    this.#running ??= this.#start();
    return this.#running;
  }

  /** Null: it may go on. */
  #whyRenew(): string | null {
    if (this.#running === null) return null;
    if (this.#visitsOfBrowser >= VISITS_A_BROWSER_MAX) return 'it has served long enough';
    if (this.#memoryBytes > this.#options.memoryBytesMax) return `it holds ${this.#memoryBytes} bytes`;
    return null;
  }

  #lookAtMemory(): void {
    const alive = this.#alive;
    if (alive === null) return;
    const { memoryBytesMax, log } = this.#options;
    const { bytes, largestPageBytes } = alive.memory();
    this.#memoryBytes = bytes;
    if (bytes > 2 * memoryBytesMax) void this.#endBrowser(`it holds ${bytes} bytes`);
    else if (largestPageBytes > memoryBytesMax / 2) {
      log('page_ended', { why: `it holds ${largestPageBytes} bytes` });
      alive.endLargestPage();
    }
  }

  #stopWatching(): void {
    if (this.#watching !== null) clearInterval(this.#watching);
    this.#watching = null;
  }

  async #sweep(): Promise<void> {
    try {
      const folders = await sweepFolders();
      if (folders > 0) this.#options.log('folders_swept', { folders });
    } catch (error) {
      this.#options.log('folders_not_swept', { reason: (error as Error).message });
    }
  }

  async #start(): Promise<RunningBrowser> {
    this.#starts += 1;
    this.#visitsOfBrowser = 1;
    this.#memoryBytes = 0;
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

/** How long a visit may take, and whether anybody waits for it. */
interface Bounds {
  leftMs(): number;
  /** The outcome of the work, or a VisitError when the time is over before: a page that hangs keeps its promises for ever. */
  within<T>(work: Promise<T>): Promise<T>;
  lift(): void;
}

function boundsOf(timeoutMs: number, signal: AbortSignal): Bounds {
  const untilMs = performance.now() + timeoutMs;
  let end: (error: VisitError) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  ended.catch(() => {});
  const timer = setTimeout(() => end(new VisitError('timeout', `no page within ${timeoutMs} ms`)), timeoutMs);
  const giveUp = (): void => end(new VisitError('given_up', 'nobody waits for it any more'));
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  return {
    leftMs: () => Math.max(0, untilMs - performance.now()),
    within: (work) => {
      work.catch(() => {});
      return Promise.race([work, ended]);
    },
    lift: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    },
  };
}

/** A visit may say who asks; what a browser says of itself and its connection is its own. */
function onlyHarmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() === 'from' || name.toLowerCase().startsWith('x-')),
  );
}
