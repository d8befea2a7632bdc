/**
 * The simulated web as it stands before anybody asks: hosts, pages, links, what each URL finally is and how it fails
 * on the way there. Drawn from a seed once, and small enough to be held whole, so that the truth can be walked.
 *
 * 1. A URL fails on its first attempts, if at all, and is right for ever after. What must be committed in the end
 *    depends on nothing that a crawl does, and on no kill.
 * 2. Failures that use a delivery are few enough (at most 2 of its own, 4 in an outage, 2 of DNS, never all of them)
 *    that eight deliveries are always enough.
 * 3. Redirects lead to pages with a higher number or to another site's root, so no chain is endless.
 */
import { createRandom, type Random } from './random.js';

/** Shares from 0 to 1 unless they say otherwise. */
export interface LandscapeSettings {
  readonly seed: number;
  readonly hosts: number;
  /** Of all hosts together. */
  readonly pages: number;
  /** Of pages that fail before they are right. */
  readonly faults: number;
  /** Of hosts whose robots.txt fails at first, whose name doesn't resolve at first, or that are down for a while. */
  readonly hostFaults: number;
  /** Of pages that are something else than a page in the end. */
  readonly oddities: number;
  /** Whether there are hosts whose robots.txt disallows less after some days. */
  readonly openings: boolean;
  /** Of pages that are had with a cookie only, which whoever comes without is given by a redirect. */
  readonly walls: number;
  /** Of hosts whose pages are behind a door, or empty before scripts have filled them: not had by a plain request. */
  readonly doors: number;
  /** Of pages that fail for days, whoever asks, and are mended then. */
  readonly mending: number;
  /** Whether some of these cookies are had at another URL, which leads back. */
  readonly logins: boolean;
  /** How far servers' clocks may be off, in ms: what they say in dates is by their own. */
  readonly skewMsMax: number;
}

/** How a server says when to come back. The spoilt ones say nothing that can be understood. */
export type RetryAfter =
  | { readonly form: 'seconds' | 'imf-fixdate' | 'rfc850' | 'asctime'; readonly seconds: number }
  | { readonly form: 'spoilt'; readonly text: string };

export type Failure =
  | {
      readonly kind: 'status';
      readonly status: 500 | 502 | 503 | 429;
      readonly retryAfter: RetryAfter | null;
      /** The body breaks off: the head has been said all the same. */
      readonly breaksOff: boolean;
    }
  /** The connection breaks; `stale` says that it was an old one that the server had closed. */
  | { readonly kind: 'reset' | 'truncated' | 'silent' | 'stale' };

export type Final =
  | { readonly kind: 'page'; readonly coding: 'identity' | 'gzip' }
  | { readonly kind: 'redirect'; readonly status: 301 | 302 | 307 | 308; readonly target: string }
  /** `mending`: as `failing` until MENDED_MS, and a page from then on. */
  | { readonly kind: 'missing' | 'gone' | 'failing' | 'mending' | 'binary' }
  /** A page for whoever has its cookie; others are sent to where it is had: `via`, or the page itself where that is null. */
  | { readonly kind: 'wall'; readonly via: string | null }
  /** Sends back to its wall with the cookie. */
  | { readonly kind: 'login'; readonly target: string }
  /** Drips until the client has enough, each time: refused by bound, and not asked for again soon. */
  | { readonly kind: 'endless' }
  /** A page whose bytes kill whoever parses them, each time. */
  | { readonly kind: 'poison' };

export interface Page {
  readonly url: string;
  readonly host: Host;
  /** Path and query, as the server sees it. */
  readonly path: string;
  readonly failures: readonly Failure[];
  readonly final: Final;
  /** Absolute URLs, in order; empty where the final kind carries none. */
  readonly links: readonly string[];
  /** What this response takes the server, in milliseconds. */
  readonly thinkMs: number;
}

/** `opening`: as `prefix` on the first days, and nothing is disallowed after them. */
export type RobotsKind = 'none' | 'allow' | 'prefix' | 'crawl-delay' | 'closed' | 'forbidden' | 'opening';

/** When hosts open that do: long after a crawl that is let in peace has come to its end. */
export const OPENING_MS = 3 * 86_400_000;

/** When pages that fail for days are mended: after whatever asks for them of its own accord has given up. */
export const MENDED_MS = 3 * 86_400_000;

/** What a host's pages are not had without, and how it says so. */
export interface Door {
  readonly kind: 'challenge' | 'script_shell' | 'http_forbidden';
  /** The lowest tier that gets through. */
  readonly passes: 2 | 3;
}

export interface Host {
  readonly name: string;
  readonly origin: string;
  readonly address: string;
  readonly robots: RobotsKind;
  readonly crawlDelaySeconds: number;
  readonly robotsFailures: readonly Failure[];
  /** One way, and always the same for an address: so what the client may do the server sees it do. */
  readonly pathMs: number;
  /** How far its own clock is off. */
  readonly skewMs: number;
  /** How often the name fails to resolve at first; null when it does not exist. */
  readonly nameFailures: number | null;
  /** Refuses connections from, until: milliseconds of simulated time. */
  readonly outage: { readonly fromMs: number; readonly untilMs: number } | null;
  /** Null: whoever asks gets in. */
  readonly door: Door | null;
}

export interface Landscape {
  readonly seeds: readonly string[];
  readonly hosts: ReadonlyMap<string, Host>;
  readonly pages: ReadonlyMap<string, Page>;
}

export interface Truth {
  /** What a crawl that obeys robots.txt must have asked for in the end. */
  readonly reachable: ReadonlySet<string>;
  /** Those of the reachable that must be committed as fetched. */
  readonly committed: ReadonlySet<string>;
}

export const PRIVATE_PREFIX = '/private/';

export function drawLandscape(settings: LandscapeSettings): Landscape {
  const random = createRandom(settings.seed).fork('landscape');
  const hosts = Array.from({ length: settings.hosts }, (_, index) =>
    drawHost(index, settings, random.fork(`host ${index}`)),
  );
  const counts = shareOut(settings.pages, hosts.length, random.fork('sizes'));
  const paths = hosts.map((host, index) => drawPaths(counts[index] as number, random.fork(`paths ${host.name}`)));
  const pages = new Map<string, Page>();
  for (const [index, host] of hosts.entries()) {
    for (const page of drawPages(index, { hosts, paths, settings, random: random.fork(`pages ${host.name}`) })) {
      pages.set(page.url, page);
      if (page.final.kind === 'wall' && page.final.via !== null)
        pages.set(page.final.via, loginOf(page, page.final.via));
    }
  }
  const seeds = [`${(hosts[0] as Host).origin}/`];
  return { seeds, hosts: new Map(hosts.map((host) => [host.name, host])), pages };
}

/**
 * What a crawl that starts at these seeds comes to.
 * @param without URLs that need not have been had, nor what can be had through them only
 */
export function truthOf(
  { pages }: Landscape,
  seeds: readonly string[],
  without: ReadonlySet<string> = new Set(),
): Truth {
  const reachable = walk(seeds, pages, without);
  const committed = new Set([...reachable].filter((url) => hasContent((pages.get(url) as Page).final)));
  return { reachable, committed };
}

export function isAllowed(host: Host, path: string): boolean {
  if (host.robots === 'closed') return false;
  return host.robots !== 'prefix' || !path.startsWith(PRIVATE_PREFIX);
}

/** Null: there is none. */
export function robotsText(host: Host, nowMs: number): string | null {
  switch (host.robots) {
    case 'none':
    case 'forbidden':
      return null;
    case 'allow':
      return 'User-agent: *\nAllow: /\n';
    case 'prefix':
      return `User-agent: *\nDisallow: ${PRIVATE_PREFIX}\n`;
    case 'crawl-delay':
      return `User-agent: *\nCrawl-delay: ${host.crawlDelaySeconds}\n`;
    case 'opening':
      return nowMs < OPENING_MS ? `User-agent: *\nDisallow: ${PRIVATE_PREFIX}\n` : 'User-agent: *\nAllow: /\n';
    case 'closed':
      return 'User-agent: *\nDisallow: /\n';
  }
}

function hasContent(final: Final): boolean {
  return final.kind === 'page' || final.kind === 'binary' || final.kind === 'wall' || final.kind === 'mending';
}

/** Breadth first, over what robots.txt allows in the end and DNS knows. */
function walk(seeds: readonly string[], pages: ReadonlyMap<string, Page>, without: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const queue = [...seeds];
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    const page = pages.get(url);
    if (page === undefined || found.has(url) || page.host.nameFailures === null || !isAllowed(page.host, page.path))
      continue;
    if (without.has(url) || (page.final.kind === 'wall' && page.final.via !== null && without.has(page.final.via)))
      continue;
    found.add(url);
    if (page.final.kind === 'redirect') queue.push(page.final.target);
    if (page.final.kind === 'wall' && page.final.via !== null) queue.push(page.final.via);
    queue.push(...page.links);
  }
  return found;
}

// -- hosts ----------------------------------------------------------------------------------------------------------

/** The first host is a good one: else there would be nothing to see. */
function drawHost(index: number, settings: LandscapeSettings, random: Random): Host {
  const name = `h${index}.site${Math.floor(index / 3)}.test`;
  const trouble =
    index > 0 && random.chance(settings.hostFaults)
      ? random.pick(['robots', 'name', 'lost', 'outage'] as const)
      : 'none';
  const outageFromMs = random.span(2_000, 120_000);
  // Every fifth host lives at its predecessor's address.
  const server = index % 5 === 4 ? index - 1 : index;
  return {
    name,
    origin: `http://${name}`,
    address: addressOf(server),
    robots:
      index === 0
        ? 'prefix'
        : random.pick([
            'none',
            'allow',
            'prefix',
            settings.openings ? 'opening' : 'prefix',
            'crawl-delay',
            'forbidden',
            index % 4 === 3 ? 'closed' : 'allow',
          ]),
    crawlDelaySeconds: random.between(2, 6),
    robotsFailures: trouble === 'robots' ? drawFailures(random, random.between(1, 2)) : [],
    pathMs: createRandom(settings.seed).fork(`path ${server}`).span(0.5, 90),
    skewMs: random.chance(0.5) ? Math.round(random.span(-settings.skewMsMax, settings.skewMsMax)) : 0,
    nameFailures: trouble === 'lost' ? null : trouble === 'name' ? random.between(1, 2) : 0,
    outage: trouble === 'outage' ? { fromMs: outageFromMs, untilMs: outageFromMs + random.span(1_000, 90_000) } : null,
    door: settings.doors > 0 ? drawDoor(settings.doors, random.fork('door')) : null,
  };
}

function drawDoor(share: number, random: Random): Door | null {
  if (!random.chance(share)) return null;
  const kind = random.pick(['challenge', 'challenge', 'script_shell', 'http_forbidden'] as const);
  return { kind, passes: kind !== 'script_shell' && random.chance(0.4) ? 2 : 3 };
}

function addressOf(index: number): string {
  return `198.18.${index >> 8}.${index & 255}`;
}

/** At least one for each; some hosts are much larger than others. */
function shareOut(total: number, hosts: number, random: Random): number[] {
  const weights = Array.from({ length: hosts }, () => random.next() ** 3 + 0.05);
  const sum = weights.reduce((left, right) => left + right, 0);
  return weights.map((weight) => Math.max(1, Math.round((weight / sum) * total)));
}

// -- pages ----------------------------------------------------------------------------------------------------------

interface Drawing {
  readonly hosts: readonly Host[];
  readonly paths: readonly (readonly string[])[];
  readonly settings: LandscapeSettings;
  readonly random: Random;
}

function drawPaths(count: number, random: Random): string[] {
  return Array.from({ length: count }, (_, number) => {
    if (number === 0) return '/';
    if (random.chance(0.1)) return `${PRIVATE_PREFIX}${number}`;
    return random.chance(0.2) ? `/list?page=${number}` : `/page/${number}`;
  });
}

function drawPages(hostIndex: number, drawing: Drawing): Page[] {
  const host = drawing.hosts[hostIndex] as Host;
  const paths = drawing.paths[hostIndex] as readonly string[];
  return paths.map((path, number) => {
    const random = drawing.random.fork(path);
    const links = drawLinks(hostIndex, number, drawing, random.fork('links'));
    const drawn = number === 0 ? PLAIN : drawFinal(hostIndex, number, drawing, random.fork('final'));
    const isMending = number > 0 && drawn.kind === 'page' && random.fork('mending').chance(drawing.settings.mending);
    const final: Final = isMending ? { kind: 'mending' } : drawn;
    const failing = random.chance(drawing.settings.faults);
    return {
      url: host.origin + path,
      host,
      path,
      failures: failing ? drawFailures(random.fork('failures'), random.between(1, 2)) : [],
      final,
      links: final.kind === 'page' || final.kind === 'wall' ? links : [],
      thinkMs: random.chance(0.05) ? random.span(1_000, 6_000) : random.span(1, 120),
    };
  });
}

function loginOf({ url, host, thinkMs }: Page, via: string): Page {
  const path = via.slice(host.origin.length);
  return { url: via, host, path, failures: [], final: { kind: 'login', target: url }, links: [], thinkMs };
}

const PLAIN: Final = { kind: 'page', coding: 'identity' };

/** The two pages below it in the host's tree, some others of the host, some of other hosts, and the next hosts' roots. */
function drawLinks(hostIndex: number, number: number, drawing: Drawing, random: Random): string[] {
  const at = (index: number, page: number): string | null => {
    const path = drawing.paths[index]?.[page];
    return path === undefined ? null : (drawing.hosts[index] as Host).origin + path;
  };
  const links = [at(hostIndex, 2 * number + 1), at(hostIndex, 2 * number + 2)];
  if (number === 0) links.push(at(2 * hostIndex + 1, 0), at(2 * hostIndex + 2, 0));
  for (let more = random.between(0, 4); more > 0; more--) {
    const index = random.chance(0.6) ? hostIndex : random.between(0, drawing.hosts.length - 1);
    links.push(at(index, random.between(0, (drawing.paths[index] as readonly string[]).length - 1)));
  }
  return [...new Set(links.filter((link) => link !== null))];
}

function drawFinal(hostIndex: number, number: number, drawing: Drawing, random: Random): Final {
  const { walls, logins, oddities } = drawing.settings;
  if (walls > 0 && random.chance(walls)) {
    const { origin } = drawing.hosts[hostIndex] as Host;
    return { kind: 'wall', via: logins && random.chance(0.5) ? `${origin}/login/${number}` : null };
  }
  if (!random.chance(oddities)) return { kind: 'page', coding: random.chance(0.2) ? 'gzip' : 'identity' };
  const kind = random.pick([
    'redirect',
    'redirect',
    'redirect',
    'missing',
    'missing',
    'gone',
    'failing',
    'binary',
    'poison',
    'endless',
  ] as const);
  if (kind !== 'redirect') return { kind };
  const status = random.pick([301, 302, 307, 308] as const);
  const paths = drawing.paths[hostIndex] as readonly string[];
  const away = number === paths.length - 1 || random.chance(0.3);
  const target = away
    ? `${(drawing.hosts[random.between(0, drawing.hosts.length - 1)] as Host).origin}/`
    : (drawing.hosts[hostIndex] as Host).origin + (paths[random.between(number + 1, paths.length - 1)] as string);
  return { kind: 'redirect', status, target };
}

/** As many that use a delivery, and perhaps some that use none between them. */
function drawFailures(random: Random, count: number): Failure[] {
  // More in a row than there are deliveries: a host that asks for patience uses none of them.
  const failures: Failure[] = random.chance(0.03) ? Array.from({ length: 9 }, () => drawThrottle(random)) : [];
  for (let index = 0; index < count; index++) {
    if (random.chance(0.3)) failures.push(drawThrottle(random));
    const kind = random.pick(['status', 'reset', 'truncated', 'silent', 'stale'] as const);
    failures.push(kind === 'status' ? drawServerError(random) : { kind });
  }
  return failures;
}

function drawServerError(random: Random): Failure {
  const status = random.pick([500, 502] as const);
  return { kind: 'status', status, retryAfter: null, breaksOff: random.chance(0.2) };
}

/** Any error of the server's is one that names its time. */
function drawThrottle(random: Random): Failure {
  const retryAfter = random.chance(0.7) ? drawRetryAfter(random) : null;
  const isNamed = retryAfter !== null && retryAfter.form !== 'spoilt';
  const status = random.pick(isNamed ? ([429, 503, 500] as const) : ([429, 503] as const));
  return { kind: 'status', status, retryAfter, breaksOff: random.chance(0.2) };
}

function drawRetryAfter(random: Random): RetryAfter {
  const form = random.pick(['seconds', 'seconds', 'imf-fixdate', 'rfc850', 'asctime', 'spoilt'] as const);
  if (form !== 'spoilt') return { form, seconds: random.logUniform(1, 600) };
  return { form, text: random.pick(['soon', '', '-5', '1.5', '10 s', '0x10', 'Mon, 32 Jan 2026 00:00:00 GMT']) };
}

/** A host that asks for patience, or an old connection, says nothing of the URL (P3, R3). */
export function usesDelivery(failure: Failure): boolean {
  if (failure.kind !== 'status') return failure.kind !== 'stale';
  const { status, retryAfter } = failure;
  return status !== 429 && status !== 503 && (retryAfter === null || retryAfter.form === 'spoilt');
}

/**
 * A failure of a web that never gets well, on any attempt: about one in so many.
 * @param share of attempts that fail
 */
export function drawLateFailure(share: number, random: Random): Failure | null {
  if (!random.chance(share)) return null;
  if (random.chance(0.4)) return drawThrottle(random);
  const kind = random.pick(['status', 'reset', 'truncated', 'silent', 'stale'] as const);
  return kind === 'status' ? drawServerError(random) : { kind };
}
