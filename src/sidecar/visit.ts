/**
 * One visit: a page is opened as a person would open it, and told as it is once its scripts have filled it.
 *
 * A visit has a context of its own, so that nothing of one page is there for the next, and a proxy of its own, so that
 * every connection passes the guard and is counted. What a page may cost is bounded: requests, bytes, time.
 *
 *     navigate ──▶ loaded ──▶ still? ──▶ a door? ──yes──▶ look again when it has changed
 *                                          └──no──▶ told
 *
 * 1. Nothing is asked for before what bounds the page is in place.
 * 2. A page of which anything came is told before its time is over, as it is then: a picture that never comes, or a door
 *    that never opens, are the page's and no fault of the browser.
 * 3. What the browser shows in a page's stead, as of its own errors, is never told as the page.
 * 4. Where redirects are to be told, no document is asked for but the page's own.
 * 5. Markup, URL and answer that are told belong to one document: a page that goes on meanwhile is looked at again.
 */
import type { Browser, BrowserContext, Page, Request, Response, Route } from 'playwright-core';
import { type Solution, type SolvedCookie, type VisitAsked, VisitError } from './protocol.js';
import { holdToWay } from './way.js';

export interface VisitTerms {
  /** Where all of its connections go through. */
  readonly proxyUrl: string;
  /** Null: the browser's own. */
  readonly userAgent: string | null;
  /** Sent with every request, as `from`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beside the page itself. */
  readonly subRequestsMax: number;
  /** What the page holds of its site before it begins. */
  readonly cookies: readonly HeldCookie[];
  /** Whether this is still a door and not the page behind it. */
  readonly isDoor: (url: string, status: number, markup: string) => boolean;
}

/** As asked for, or as kept from an earlier visit. */
export type HeldCookie = VisitAsked['cookies'][number] &
  Partial<Pick<SolvedCookie, 'expires' | 'httpOnly' | 'secure' | 'sameSite'>>;

/** Nothing that is seen or heard is needed for what is read. */
const BLOCKED_TYPES: ReadonlySet<string> = new Set(['media', 'font', 'websocket', 'eventsource', 'ping']);
/** How often a page may go to another, or to itself again: doors do it once or twice, and some would for ever. */
const NAVIGATIONS_MAX = 6;
/** A page whose parts have not all come by then, or by half of its time, is taken without them. */
const LOAD_MS_MAX = 10_000;
/** A page is still when nothing was added to it for so long; what never comes to rest is taken as it is. */
const STILL_MS = 250;
const STILL_MS_MAX = 3_000;
const LOOK_AGAIN_MS = 250;
/** Of a visit's time, for telling what the page has become. */
const TELLING_MS = 500;
/** Of markup. More than that is more than any page has, and would be held several times over. */
const MARKUP_CHARACTERS_MAX = 16 * 1024 * 1024;
/** A message of the browser's, told on. */
const REASON_CHARACTERS_MAX = 200;

/**
 * Rejects with VisitError. The caller bounds its time and ends its context: a hung page answers nothing.
 * @param timeMs for all of it
 */
export async function visit(
  context: BrowserContext,
  asked: Pick<VisitAsked, 'url' | 'returnOnlyCookies' | 'redirects'>,
  terms: VisitTerms,
  timeMs: number,
): Promise<Solution> {
  const untilMs = performance.now() + timeMs - TELLING_MS;
  const leftMs = (): number => Math.max(0, untilMs - performance.now());
  const page = await context.newPage();
  const crashed = new Promise<never>((_, reject) => {
    page.once('crash', () => reject(new VisitError('bound', 'the page took more memory than it may, or crashed')));
  });
  crashed.catch(() => {});
  const watched = await watch(context, page, terms);
  await holdCookies(context, terms.cookies, asked.url);
  const left = asked.redirects === 'told' ? await redirected(context, page, asked.url) : null;
  const found = open(page, asked, terms, watched, leftMs).then((seen) => tell(context, page, asked, seen));
  // One that was stopped on its way fails, or shows what was there before.
  const ended = found.then(
    (solution) => left?.solution() ?? solution,
    (error: unknown) => left?.solution() ?? Promise.reject(error),
  );
  ended.catch(() => {});
  return Promise.race([...(left === null ? [] : [left.told]), ended, crashed]);
}

/** P6: what a server answers that sends its visitor elsewhere, whatever it was that did. `solution`: null while nothing did. */
async function redirected(context: BrowserContext, page: Page, url: string) {
  let solution: Promise<Solution> | null = null;
  const { left } = await holdToWay(context, page, url);
  const answer = async (location: string): Promise<Solution> => {
    const { cookies, userAgent } = await heldBy(context, page);
    return { url, status: 302, headers: { location }, response: '', cookies, userAgent };
  };
  const told = new Promise<Solution>((resolve) => {
    void left.then((location) => {
      solution = answer(location);
      resolve(solution);
    });
  });
  told.catch(() => {});
  return { told, solution: () => solution };
}

/** A document as it was at one moment, and the answer that it came with. */
interface Seen {
  readonly url: string;
  readonly markup: string;
  readonly answer: Response;
}

/** Resolves when the page is there; or is as far as it will be. */
async function open(
  page: Page,
  { url }: Pick<VisitAsked, 'url'>,
  terms: VisitTerms,
  watched: Watched,
  leftMs: () => number,
): Promise<Seen> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: Math.max(1, leftMs()) });
  } catch (error) {
    const answer = watched.latest();
    if (answer !== null && isAllThereIs(error, answer)) return { url: answer.url(), markup: '', answer };
    if (answer === null || !isOnItsWay(error)) throw navigationFailed(error);
  }
  await page.waitForLoadState('load', { timeout: Math.max(1, Math.min(LOAD_MS_MAX, leftMs() / 2)) }).catch(() => {});
  for (;;) {
    await comeToRest(page, Math.min(STILL_MS_MAX, leftMs()));
    const seen = await look(page, watched);
    const isTime = leftMs() < 2 * LOOK_AGAIN_MS;
    // A door that does not open is a page all the same: whoever asked will see what it is.
    if (seen !== null && (isTime || !terms.isDoor(seen.url, seen.answer.status(), seen.markup))) return seen;
    if (isTime) throw new VisitError('timeout', 'nothing of the page came in time');
    await page.waitForTimeout(LOOK_AGAIN_MS);
  }
}

/** Null while the page is on its way to another one. */
async function look(page: Page, watched: Watched): Promise<Seen | null> {
  const answer = watched.shown();
  if (answer === null) return null;
  const url = page.url();
  const markup = await markupOf(page);
  return markup === null || watched.shown() !== answer ? null : { url, markup, answer };
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

interface Watched {
  /** With what the document in the frame came; null as long as there is none. */
  shown(): Response | null;
  /** To the last navigation, whether or not anything of it is shown yet, or ever will be. */
  latest(): Response | null;
}

/** Bounds what the page loads, shuts what it opens, and remembers the answer to its last navigation. */
async function watch(context: BrowserContext, page: Page, terms: VisitTerms): Promise<Watched> {
  let latest: Response | null = null;
  let shown: Response | null = null;
  let requests = 0;
  let navigations = 0;
  const decide = async (route: Route): Promise<void> => {
    const request = route.request();
    if (isOfMainFrame(request, page)) {
      // One that is called off leaves the page as it is; one that fails puts an error in its place.
      const isRefused = !/^https?:/.test(request.url()) || ++navigations > NAVIGATIONS_MAX;
      return void (await (isRefused ? route.abort('aborted') : route.continue()).catch(() => {}));
    }
    const isWanted = /^https?:/.test(request.url()) && !BLOCKED_TYPES.has(request.resourceType());
    const isWithin = isWanted && ++requests <= terms.subRequestsMax;
    await (isWithin ? route.continue() : route.abort('blockedbyclient')).catch(() => {});
  };
  page.on('response', (response) => {
    if (isOfMainFrame(response.request(), page)) latest = response;
  });
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) shown = latest;
  });
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
  page.on('download', (download) => void download.cancel().catch(() => {}));
  context.on('page', (other) => {
    if (other !== page) void other.close().catch(() => {});
  });
  await context.route(/./, decide);
  await context.routeWebSocket(/./, (socket) => void socket.close().catch(() => {}));
  return { shown: () => shown, latest: () => latest };
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
const restOf = (msMax: number): string => `new Promise((resolve) => {
  let timer = setTimeout(resolve, ${STILL_MS});
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resolve, ${STILL_MS});
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
  setTimeout(resolve, ${Math.round(msMax)});
})`;

/** Waits until nothing has been added to the document for a while. A navigation meanwhile begins anew. */
async function comeToRest(page: Page, msMax: number): Promise<void> {
  await page.evaluate(restOf(msMax)).catch(() => {});
}

/** Null while the page is on its way to another one. Rejects where it is too large. */
async function markupOf(page: Page): Promise<string | null> {
  const characters = await page.evaluate<number>('document.documentElement.outerHTML.length').catch(() => 0);
  if (characters > MARKUP_CHARACTERS_MAX)
    throw new VisitError('bound', `the page's markup has ${characters} characters`);
  return page.content().catch(() => null);
}

async function tell(
  context: BrowserContext,
  page: Page,
  { returnOnlyCookies }: Pick<VisitAsked, 'returnOnlyCookies'>,
  { url, markup, answer }: Seen,
): Promise<Solution> {
  if (!/^https?:/.test(url)) throw new VisitError('navigation_failed', `it came to ${url.slice(0, 100)}`);
  const { cookies, userAgent } = await heldBy(context, page);
  return {
    url,
    status: answer.status(),
    headers: await answer.allHeaders().catch(() => ({})),
    response: returnOnlyCookies ? null : markup,
    cookies,
    userAgent,
  };
}

/** What it was let in with. */
async function heldBy(context: BrowserContext, page: Page): Promise<Pick<Solution, 'cookies' | 'userAgent'>> {
  const cookies = await context.cookies();
  const userAgent = await page.evaluate<string>('navigator.userAgent').catch(() => '');
  return {
    userAgent,
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
  };
}

/** One that the browser does not take is left out, so that the rest is held. */
async function holdCookies(context: BrowserContext, cookies: readonly HeldCookie[], url: string): Promise<void> {
  if (cookies.length === 0) return;
  const held = cookies.map((cookie) => cookieFor(cookie, new URL(url)));
  const areAll = await context.addCookies(held).then(
    () => true,
    () => false,
  );
  if (areAll) return;
  for (const cookie of held) await context.addCookies([cookie]).catch(() => {});
}

/** Of the whole host, where it does not say: a page's parts have other paths. */
function cookieFor({ name, value, domain, path, expires, httpOnly, sameSite, secure }: HeldCookie, url: URL) {
  return {
    name,
    value,
    domain: domain === undefined || domain === '' ? url.hostname : domain,
    path: path ?? '/',
    secure: secure ?? url.protocol === 'https:',
    ...(expires === undefined ? {} : { expires }),
    ...(httpOnly === undefined ? {} : { httpOnly }),
    ...(isSameSite(sameSite) ? { sameSite } : {}),
  };
}

function isSameSite(text: string | undefined): text is 'Strict' | 'Lax' | 'None' {
  return text === 'Strict' || text === 'Lax' || text === 'None';
}

/** The answer has nothing to show (RFC 9110 §15.3.5, §15.3.6), or is an error's and empty: the browser shows no page then. */
function isAllThereIs(error: unknown, answer: Response): boolean {
  return [204, 205].includes(answer.status()) || (error as Error).message.includes('ERR_HTTP_RESPONSE_CODE_FAILURE');
}

/** The page was left for another before it was there. */
function isOnItsWay(error: unknown): boolean {
  return /interrupted by another navigation|ERR_ABORTED/.test((error as Error).message) && !isDownload(error);
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
