/**
 * One visit: a page is opened as a person would open it, and told as it is once its scripts have filled it.
 *
 * A visit has a context of its own, so that nothing of one page is there for the next, and a proxy of its own, so that
 * every connection passes the guard and is counted. What a page may cost is bounded: requests, bytes, time.
 *
 *     navigate ──▶ loaded ──▶ still? ──▶ a door? ──yes──▶ look again when it has changed
 *                                          └──no──▶ told
 */
import type { Browser, BrowserContext, Page, Request, Response, Route } from 'playwright-core';
import type { Solution, SolvedCookie, VisitAsked } from './protocol.js';
import { VisitError } from './protocol.js';

export interface VisitTerms {
  /** Where all of its connections go through. */
  readonly proxyUrl: string;
  /** Null: the browser's own. */
  readonly userAgent: string | null;
  /** Sent with every request, as `from`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beside the page itself. */
  readonly subRequestsMax: number;
  /** Whether this is still a door and not the page behind it. */
  readonly isDoor: (url: string, status: number, markup: string) => boolean;
}

/** Nothing that is seen or heard is needed for what is read. */
const BLOCKED_TYPES: ReadonlySet<string> = new Set(['media', 'font', 'websocket', 'eventsource', 'ping']);
/** A page is still when nothing was added to it for so long; what never comes to rest is taken as it is. */
const STILL_MS = 250;
const STILL_MS_MAX = 3_000;
const LOOK_AGAIN_MS = 250;
/** A message of the browser's, told on. */
const REASON_CHARACTERS_MAX = 200;

/** Rejects with VisitError. The caller bounds its time and ends its context: a hung page answers nothing. */
export async function visit(context: BrowserContext, asked: VisitAsked, terms: VisitTerms): Promise<Solution> {
  const page = await context.newPage();
  const watched = watch(context, page, terms);
  const deadlineAtMs = performance.now() + asked.maxTimeout;
  if (asked.cookies.length > 0) await context.addCookies(asked.cookies.map((cookie) => cookieFor(cookie, asked.url)));
  try {
    await page.goto(asked.url, { waitUntil: 'load', timeout: asked.maxTimeout });
  } catch (error) {
    // A page that never has all its parts may be all there; one of which nothing came, or bytes to keep, is not.
    if (watched.answer() === null || isDownload(error)) throw navigationFailed(error);
  }
  for (;;) {
    await comeToRest(page);
    const markup = await contentOf(page);
    const answer = watched.answer();
    if (markup !== null && answer !== null && !terms.isDoor(page.url(), answer.status(), markup))
      return tell(context, page, asked, answer, markup);
    // A door that does not open is a page all the same: whoever asked will see what it is.
    if (performance.now() + 2 * LOOK_AGAIN_MS > deadlineAtMs) {
      if (markup === null || answer === null) throw new VisitError('timeout', 'the page was not there in time');
      return tell(context, page, asked, answer, markup);
    }
    await page.waitForTimeout(LOOK_AGAIN_MS);
  }
}

/** A context in which a visit leaves nothing and reaches nothing but through its proxy. */
export function openContext(browser: Browser, { proxyUrl, userAgent, headers }: VisitTerms): Promise<BrowserContext> {
  return browser.newContext({
    // By itself the browser would go past a proxy to what is on this machine.
    proxy: { server: proxyUrl, bypass: '<-loopback>' },
    ...(userAgent === null ? {} : { userAgent }),
    extraHTTPHeaders: { ...headers },
    acceptDownloads: false,
    serviceWorkers: 'block',
    permissions: [],
    reducedMotion: 'reduce',
  });
}

/** Bounds what the page loads, shuts what it opens, and remembers the answer to its last navigation. */
function watch(context: BrowserContext, page: Page, terms: VisitTerms): { answer(): Response | null } {
  let answer: Response | null = null;
  let requests = 0;
  const decide = async (route: Route): Promise<void> => {
    const request = route.request();
    const isPage = isOfMainFrame(request, page);
    const isOver = !isPage && ++requests > terms.subRequestsMax;
    const isWanted = /^https?:/.test(request.url()) && !BLOCKED_TYPES.has(request.resourceType()) && !isOver;
    await (isWanted ? route.continue() : route.abort('blockedbyclient')).catch(() => {});
  };
  void context.route(/./, decide).catch(() => {});
  void context.routeWebSocket(/./, (socket) => void socket.close()).catch(() => {});
  page.on('response', (response) => {
    if (isOfMainFrame(response.request(), page)) answer = response;
  });
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
  page.on('download', (download) => void download.cancel().catch(() => {}));
  context.on('page', (other) => {
    if (other !== page) void other.close().catch(() => {});
  });
  return { answer: () => answer };
}

/** What a window that has just been opened asks for has no frame yet. */
function isOfMainFrame(request: Request, page: Page): boolean {
  if (!request.isNavigationRequest()) return false;
  try {
    return request.frame() === page.mainFrame();
  } catch {
    return false;
  }
}

/** Runs in the page. */
const REST = `new Promise((resolve) => {
  let timer = setTimeout(resolve, ${STILL_MS});
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resolve, ${STILL_MS});
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
  setTimeout(resolve, ${STILL_MS_MAX});
})`;

/** Waits until nothing has been added to the document for a while. A navigation meanwhile begins anew. */
async function comeToRest(page: Page): Promise<void> {
  await page.evaluate(REST).catch(() => {});
}

/** Null while the page is on its way to another one. */
function contentOf(page: Page): Promise<string | null> {
  return page.content().catch(() => null);
}

async function tell(
  context: BrowserContext,
  page: Page,
  asked: VisitAsked,
  answer: Response,
  markup: string,
): Promise<Solution> {
  const cookies = await context.cookies();
  const userAgent = await page.evaluate<string>('navigator.userAgent').catch(() => '');
  return {
    url: page.url(),
    status: answer.status(),
    headers: await answer.allHeaders().catch(() => ({})),
    response: asked.returnOnlyCookies ? null : markup,
    cookies: cookies.map(
      ({ name, value, domain, path, expires, httpOnly, secure, sameSite }): SolvedCookie => ({
        name,
        value,
        domain,
        path,
        expires,
        httpOnly,
        secure,
        sameSite,
      }),
    ),
    userAgent,
  };
}

function cookieFor({ name, value, domain, path }: VisitAsked['cookies'][number], url: string) {
  return domain === undefined || domain === '' ? { name, value, url } : { name, value, domain, path: path ?? '/' };
}

function isDownload(error: unknown): boolean {
  return (error as Error).message.includes('Download is starting');
}

function navigationFailed(error: unknown): VisitError {
  const { message } = error as Error;
  const [reason = ''] = message.replace(/^page\.goto: /, '').split('\n');
  if (/Timeout \d+ms exceeded/.test(reason)) return new VisitError('timeout', 'nothing of the page came in time');
  return new VisitError('navigation_failed', reason.slice(0, REASON_CHARACTERS_MAX));
}
