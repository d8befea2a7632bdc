/**
 * What stands before the pages of a walled web: doors that only let through what runs their scripts, and shells that
 * only scripts fill. Whoever has a browser reads every page; whoever has none reads those of every fourth host.
 */
import type { Answer } from './answers.js';
import type { PracticeHost, PracticeWeb } from './web.js';

export type Wall = 'none' | 'shell' | 'door' | 'forbidding_door';

/** By the number of the host, in turn. */
const WALLS: readonly Wall[] = ['none', 'shell', 'door', 'forbidding_door'];
const PASS = 'practice_pass=1';
const PASSES_AFTER_MS = 200;

export function wallOf(
  { settings }: Pick<PracticeWeb, 'settings'>,
  host: Pick<PracticeHost, 'index'> | undefined,
): Wall {
  if (settings.profile !== 'walled' || host === undefined) return 'none';
  return WALLS[host.index % WALLS.length] as Wall;
}

/** The answer as it comes through the wall; `cookies` is what the visitor shows. */
export function behind(wall: Wall, answer: Answer, cookies: string | undefined): Answer {
  if (wall === 'none' || answer.status !== 200 || !isHtml(answer)) return answer;
  if (wall === 'shell') return { ...answer, body: shellOf(answer.body) };
  if (cookies?.split('; ').includes(PASS)) return answer;
  return { ...answer, status: wall === 'door' ? 200 : 403, body: DOOR };
}

function isHtml({ headers }: Answer): boolean {
  return headers.some((text) => text.startsWith('text/html')) && !headers.includes('Content-Encoding');
}

/** The page's markup stands in its script, and nowhere else. */
function shellOf(page: Buffer): Buffer {
  const markup = JSON.stringify(page.toString('utf8')).replaceAll('<', '\\u003c');
  return Buffer.from(
    `<!doctype html><html><head><meta charset="utf-8"><title>Loading</title></head>
<body><div id="root"></div><noscript>Please switch scripts on.</noscript>
<script>document.getElementById('root').innerHTML = ${markup};</script></body></html>
`,
  );
}

const DOOR = Buffer.from(`<!doctype html><html><head><meta charset="utf-8"><title>Just a moment...</title></head>
<body><h1>Checking your browser</h1><p>This takes a moment.</p>
<script src="/cdn-cgi/challenge-platform/scripts/practice.js"></script>
<script>
  window._cf_chl_opt = { practice: true };
  setTimeout(() => { document.cookie = '${PASS}; path=/; max-age=3600'; location.reload(); }, ${PASSES_AFTER_MS});
</script></body></html>
`);
