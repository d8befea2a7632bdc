/**
 * What the simulated servers answer, as data: down to the status line, the headers that matter, and what the witness is
 * to know of it. Dates are by the server's own clock, which may be off.
 */
import { gzipSync } from 'node:zlib';
import type { Header } from '../domain/fetching.js';
import { type Door, type Failure, type Host, MENDED_MS, type Page, type RetryAfter, robotsText } from './landscape.js';

export type Answer =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: readonly Header[];
      readonly body: Uint8Array;
      /** What its Retry-After comes to, for the witness. */
      readonly retryAfterSeconds: number | null;
      readonly robots: string | null;
    }
  /** Breaks off before the head (`head` null) or in the middle of the body. */
  | { readonly kind: 'broken'; readonly head: BrokenHead | null }
  /** Never says a word, or drips on (`status`) until the client has enough. */
  | { readonly kind: 'endless'; readonly status: number | null };

export interface BrokenHead {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly retryAfterSeconds: number | null;
}

/** @param serverMs the server's own time */
export function failing(fault: Failure, serverMs: number): Answer {
  switch (fault.kind) {
    case 'status': {
      const answer = refusal(fault.status, fault.retryAfter, serverMs);
      return fault.breaksOff ? { kind: 'broken', head: answer } : answer;
    }
    case 'reset':
    case 'stale':
      return { kind: 'broken', head: null };
    case 'truncated':
      return { kind: 'broken', head: { status: 200, headers: [], retryAfterSeconds: null } };
    case 'silent':
      return { kind: 'endless', status: null };
  }
}

function refusal(status: number, retryAfter: RetryAfter | null, serverMs: number) {
  const date: Header[] = [['Date', new Date(serverMs).toUTCString()]];
  if (retryAfter === null) return plainStatus(status, date);
  if (retryAfter.form === 'spoilt') return plainStatus(status, [...date, ['Retry-After', retryAfter.text]]);
  const { form, seconds } = retryAfter;
  const value =
    form === 'seconds' ? String(seconds) : dateIn(form, Math.floor(serverMs / 1_000) * 1_000 + seconds * 1_000);
  return { ...plainStatus(status, [...date, ['Retry-After', value]]), retryAfterSeconds: seconds };
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** RFC 9110 §5.6.7. */
function dateIn(form: 'imf-fixdate' | 'rfc850' | 'asctime', atMs: number): string {
  const date = new Date(atMs);
  const imf = date.toUTCString();
  if (form === 'imf-fixdate') return imf;
  const [day = '', number = '', month = '', year = '', time = ''] = imf.replace(',', '').split(' ');
  if (form === 'rfc850') return `${DAYS[date.getUTCDay()]}, ${number}-${month}-${year.slice(2)} ${time} GMT`;
  return `${day} ${month} ${String(Number(number)).padStart(2)} ${time} ${year}`;
}

/** What a 304 confirms is told to the witness whole. */
export function robotsAnswer(
  host: Host,
  nowMs: number,
  requestHeaders: readonly Header[],
  count: (what: string) => void,
): Answer {
  const text = robotsText(host, nowMs);
  if (text === null) return plainStatus(host.robots === 'forbidden' ? 403 : 404);
  const etag = `"${text.length}"`;
  // What a 304 confirms is told to the witness whole: it rules from now on as if it had been sent.
  if (headerOf(requestHeaders, 'if-none-match') === etag) {
    count('robots not modified');
    return { ...whole(304, [['ETag', etag]], new Uint8Array(0)), robots: text };
  }
  const headers: Header[] = [
    ['Content-Type', 'text/plain'],
    ['ETag', etag],
  ];
  return { ...whole(200, headers, bytesOf(text)), robots: text };
}

/** What whoever asks too plainly is shown instead of a page. */
export function doorAnswer({ kind }: Door): Answer {
  if (kind === 'http_forbidden') return plainStatus(403);
  return whole(200, [['Content-Type', 'text/html; charset=utf-8']], bytesOf(kind === 'challenge' ? CHALLENGE : SHELL));
}

const CHALLENGE = `<!doctype html><html lang="en-US"><head><title>Just a moment...</title>
<script>window._cf_chl_opt={cvId:'3'};</script>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></head>
<body><noscript>Enable JavaScript and cookies to continue</noscript></body></html>\n`;
const SHELL = `<!doctype html><html lang="en"><head><title>App</title><script>var state="${'x'.repeat(3_000)}"</script></head>
<body><div id="root"></div><script src="/static/app.js"></script></body></html>\n`;

export function pageAnswer(page: Page, requestHeaders: readonly Header[], nowMs: number): Answer {
  const { final } = page;
  switch (final.kind) {
    case 'page':
    case 'poison':
      return documentAnswer(page, final.kind === 'page' && final.coding === 'gzip', requestHeaders);
    case 'binary':
      return whole(
        200,
        [['Content-Type', 'application/octet-stream']],
        Uint8Array.from({ length: 256 }, (_, index) => index),
      );
    case 'redirect':
      return whole(final.status, [['Location', final.target]], bytesOf('moved'));
    case 'wall':
      return hasPassed(page, requestHeaders) ? documentAnswer(page, false, requestHeaders) : turnedAway(page);
    case 'login':
      return whole(302, [['Location', final.target], cookieFor(final.target)], bytesOf('come in'));
    case 'missing':
      return plainStatus(404);
    case 'gone':
      return plainStatus(410);
    case 'failing':
      return plainStatus(500);
    case 'mending':
      return nowMs < MENDED_MS ? plainStatus(500) : documentAnswer(page, false, requestHeaders);
    case 'endless':
      return { kind: 'endless', status: 200 };
  }
}

/** Each wall has a cookie of its own, which names it. */
function cookieFor(wall: string): Header {
  const { origin, pathname, search } = new URL(wall);
  return ['Set-Cookie', `pass=${encodeURIComponent(origin + pathname + search)}; Path=/; HttpOnly`];
}

function hasPassed(page: Page, requestHeaders: readonly Header[]): boolean {
  const pass = `pass=${encodeURIComponent(page.url)}`;
  return headerOf(requestHeaders, 'cookie')?.split('; ').includes(pass) ?? false;
}

/** Whether an origin of this web may have set it. */
export function isCookieOf(origin: string, pair: string): boolean {
  return pair.startsWith(`pass=${encodeURIComponent(`${origin}/`)}`);
}

/** To where the cookie is had, or with it to the same place. */
function turnedAway({ url, final }: Page): Answer {
  const via = final.kind === 'wall' ? final.via : null;
  const headers: Header[] = via === null ? [['Location', url], cookieFor(url)] : [['Location', via]];
  return whole(302, headers, bytesOf('not without a cookie'));
}

function documentAnswer(page: Page, gzip: boolean, requestHeaders: readonly Header[]): Answer {
  const etag = `"${page.path}"`;
  if (headerOf(requestHeaders, 'if-none-match') === etag) return whole(304, [['ETag', etag]], new Uint8Array(0));
  const html = bytesOf(htmlOf(page));
  const headers: Header[] = [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['ETag', etag],
  ];
  if (!gzip) return whole(200, headers, html);
  return whole(200, [...headers, ['Content-Encoding', 'gzip']], Uint8Array.from(gzipSync(html)));
}

/** Links in turn absolute and relative where that is possible, so that both are read. */
function htmlOf(page: Page): string {
  const anchors = page.links.map((link, index) => {
    const isOwn = link.startsWith(`${page.host.origin}/`);
    const href = isOwn && index % 2 === 0 ? link.slice(page.host.origin.length) : link;
    return `<li><a href="${href}">${index}</a></li>`;
  });
  return `<!doctype html><html lang="en"><head><title>${page.path} of ${page.host.name}</title></head>
<body><h1>Page ${page.path}</h1><p>This is ${page.url}, and it says so in a few words.</p><ul>${anchors.join('')}</ul></body></html>\n`;
}

export function plainStatus(status: number, more: readonly Header[] = []): Extract<Answer, { kind: 'whole' }> {
  return whole(status, [['Content-Type', 'text/plain'], ...more], bytesOf(`status ${status}\n`));
}

function whole(status: number, headers: readonly Header[], body: Uint8Array): Extract<Answer, { kind: 'whole' }> {
  const measured: Header[] = [...headers, ['Content-Length', String(body.length)]];
  return { kind: 'whole', status, headers: measured, body, retryAfterSeconds: null, robots: null };
}

export function headerOf(headers: readonly Header[], name: string): string | null {
  return headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1] ?? null;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
