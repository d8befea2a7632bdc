/**
 * The way of a page: where it may go of its own accord, and what is told of where it may not.
 *
 * A visit is one request on behalf of whoever asked. A door is passed by going to itself again, or through the paths of
 * the challenge's own; where anything else is gone to, by a redirect of the server's or a script, is a URL of its own,
 * with a host and rules of its own: it is told, and not asked for (P4, P6).
 *
 * Redirects of the server's are not seen by routes of the page: the browser itself is asked to stop before each request
 * for a document.
 */
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** Where challenges live that send a page to and fro. */
const CHALLENGE_PATH = '/cdn-cgi/';
/** What they add to its query. */
const CHALLENGE_PARAMETER = /^__cf_chl/;

export function isWithin(asked: string, to: string): boolean {
  if (!URL.canParse(to)) return false;
  const [from, target] = [new URL(asked), new URL(to)];
  if (from.origin !== target.origin) return false;
  if (target.pathname.startsWith(CHALLENGE_PATH)) return true;
  return from.pathname === target.pathname && queryOf(from) === queryOf(target);
}

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .filter(([name]) => !CHALLENGE_PARAMETER.test(name))
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');
}

interface Paused {
  readonly requestId: string;
  readonly frameId: string;
  readonly request: { readonly url: string };
}

/**
 * Resolves with the first URL that the page was about to go to and may not; perhaps never. Nothing of the page may be
 * asked for before this has been awaited.
 */
export async function holdToWay(
  context: BrowserContext,
  page: Page,
  asked: string,
): Promise<{ left: Promise<string> }> {
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const mainFrame = frameTree.frame.id;
  const left = new Promise<string>((resolve) => {
    session.on('Fetch.requestPaused', ({ requestId, frameId, request }: Paused) => {
      const mayGo = frameId !== mainFrame || !/^https?:/.test(request.url) || isWithin(asked, request.url);
      void goOnOrStop(session, requestId, mayGo);
      if (!mayGo) resolve(withoutFragment(request.url));
    });
  });
  await session.send('Fetch.enable', { patterns: [{ resourceType: 'Document', requestStage: 'Request' }] });
  return { left };
}

/** A page that has ended meanwhile needs neither. */
async function goOnOrStop(session: CDPSession, requestId: string, mayGo: boolean): Promise<void> {
  const told = mayGo
    ? session.send('Fetch.continueRequest', { requestId })
    : session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
  await told.catch(() => {});
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}
