/**
 * A real web: a site of many hosts, each with real documentation, crawled whole and held against `wget --recursive`.
 *
 * A portal links to the Debian handbook, a host for each of its languages, and to a host with another package. All are
 * hosts of one site, with names that a real name server answers and addresses of their own, behind one nginx. wget and
 * the crawl share nothing but what they are served; nginx writes down both.
 *
 * 1. What only one of them got is listed, each with what `why` says of it; without such an answer it is a fault.
 * 2. The same again, with the process killed in the middle: the same pages, each recorded once.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { judge, type Verdict } from '../../src/practice/judge.js';
import { eventsFromNginx } from '../../src/practice/nginx-log.js';
import type { WitnessEvent } from '../../src/practice/witness.js';
import { type ArchiveReading, readArchive } from './archive.js';
import { type CrawlOptions, crawl, PRODUCT_TOKEN, ROOT, startCrawl, type SummaryLine } from './crawl-process.js';
import { type Namespace, openNamespace, whyNoNamespace } from './namespace.js';
import { type AccessLine, isInstalled, isOfWget, type Nginx, type Site, startNginx } from './nginx.js';

export const DELAY_MS = 20;
const DOMAIN = 'docs.test';
const PORTAL = `portal.${DOMAIN}`;
const HANDBOOK = '/usr/share/doc/debian-handbook/html';
const OTHER_PACKAGES: Readonly<Record<string, string>> = {
  python: '/usr/share/doc/python3.11/html',
  postgresql: '/usr/share/doc/postgresql-doc-15/html',
};
/** A page of each language that its robots.txt closes, and a host that asks for patience. */
const ROBOTS = 'User-agent: *\nDisallow: /sect.kali.html\n';
const PATIENT = { name: `en-us.${DOMAIN}`, robots: `${ROBOTS}Crawl-delay: 0.05\n` };

export const KILLS = 4;

export interface Difference {
  readonly url: string;
  readonly contentType: string;
  readonly by: 'crawl only' | 'wget only';
  /** What `why` says, in short; null where it does not explain it: then it is a fault. */
  readonly reason: string | null;
}

/** One crawl of the web, as it is seen from outside. */
export interface Passage {
  readonly summary: SummaryLine;
  /** HTML pages that were served with 2xx. */
  readonly pages: number;
  readonly differences: readonly Difference[];
  /** URLs that were served whole twice within one life of the process, or to more visits than can have been open. */
  readonly repeated: readonly string[];
  /** URLs that were served again after a kill, of each kill: visits that were open. */
  readonly repeats: readonly number[];
  /** Lines of pages.jsonl with a URL that an earlier line has. */
  readonly doubled: readonly string[];
  readonly verdict: Verdict;
  readonly archive: ArchiveReading;
  readonly kills: number;
  /** Processor time of the crawling processes, user and system. */
  readonly cpuSeconds: number;
}

export interface RealWebReport {
  readonly hosts: number;
  readonly wget: { readonly pages: number; readonly urls: number; readonly seconds: number };
  readonly undisturbed: Passage;
  readonly killed: Passage;
}

/** Why it can't be done here; null when it can. */
export function whatIsMissing(): string | null {
  for (const program of ['nginx', 'wget']) if (!isInstalled(program)) return `${program} is not installed`;
  if (!existsSync(HANDBOOK)) return 'debian-handbook is not installed';
  if (otherPackages().length === 0) return 'neither python3.11-doc nor postgresql-doc-15 is installed';
  return whyNoNamespace();
}

function otherPackages(): [string, string][] {
  return Object.entries(OTHER_PACKAGES).filter(([, folder]) => existsSync(folder));
}

export async function crawlRealWeb(say: (line: string) => void): Promise<RealWebReport> {
  const prefix = mkdtempSync(join(tmpdir(), 'orbweaver-real-web-'));
  const sites = sitesIn(prefix);
  const namespace = await openNamespace(prefix, new Map(sites.map(({ name, address }) => [name, address])));
  try {
    const nginx = await startNginx(prefix, sites, { port: 80, under: namespace.under });
    try {
      return await compare({ prefix, sites, namespace, nginx }, say);
    } finally {
      await nginx.stop();
    }
  } finally {
    await namespace.end();
    rmSync(prefix, { recursive: true, force: true });
  }
}

// -- the web ----------------------------------------------------------------------------------------------------

interface NamedSite extends Site {
  readonly name: string;
}

interface Stage {
  readonly prefix: string;
  readonly sites: readonly NamedSite[];
  readonly namespace: Namespace;
  readonly nginx: Nginx;
}

function sitesIn(prefix: string): NamedSite[] {
  const languages = readdirSync(HANDBOOK).filter((name) => existsSync(join(HANDBOOK, name, 'index.html')));
  const folders: [string, string][] = [
    ...languages.map((language): [string, string] => [language.toLowerCase(), join(HANDBOOK, language)]),
    ...otherPackages().slice(0, 1),
  ];
  const portal = join(prefix, 'portal');
  mkdirSync(portal);
  const items = folders.map(([label]) => `<li><a href="http://${label}.${DOMAIN}/">${label}</a></li>`);
  writeFileSync(
    join(portal, 'index.html'),
    `<!doctype html><title>Documentation</title><ul>${items.join('\n')}</ul>\n`,
  );
  return [['portal', portal] as const, ...folders].map(([label, folder], i) => {
    const name = `${label}.${DOMAIN}`;
    return { name, folder, address: `127.0.1.${i + 1}`, robots: name === PATIENT.name ? PATIENT.robots : ROBOTS };
  });
}

// -- the comparison ---------------------------------------------------------------------------------------------

async function compare(stage: Stage, say: (line: string) => void): Promise<RealWebReport> {
  const startedMs = performance.now();
  await mirror(stage);
  await stage.nginx.settled();
  const byWget = answered(stage.nginx.lines().filter(isOfWget));
  const seconds = (performance.now() - startedMs) / 1_000;
  say(`wget: ${countPages(byWget)} pages of ${byWget.size} URLs in ${seconds.toFixed(1)} s`);
  const undisturbed = await passage(stage, byWget, 'undisturbed', []);
  say(`crawl: ${undisturbed.pages} pages in ${undisturbed.summary.durationSeconds} s`);
  const thresholds = Array.from({ length: KILLS }, (_, i) => Math.round(((i + 1) * byWget.size) / (KILLS + 1)));
  const killed = await passage(stage, byWget, 'killed', thresholds);
  say(`crawl with ${killed.kills} kills: ${killed.pages} pages`);
  const wget = { pages: countPages(byWget), urls: byWget.size, seconds };
  return { hosts: stage.sites.length, wget, undisturbed, killed };
}

/** wget's exit code 8 says that a link was broken, which is none of its faults. */
async function mirror({ prefix, namespace }: Stage): Promise<void> {
  const words = ['wget', '--recursive', '--level=inf', '--span-hosts', `--domains=${DOMAIN}`, '-nv', '--no-proxy'];
  const [program, ...rest] = [...namespace.under, ...words, '-P', join(prefix, 'wget'), `http://${PORTAL}/`];
  const [code] = await once(spawn(program as string, rest, { stdio: 'ignore' }), 'exit');
  if (code !== 0 && code !== 8) throw new Error(`wget ended with ${code}`);
}

/** @param thresholds after so many visits in all, the process is killed. */
async function passage(
  stage: Stage,
  byWget: ReadonlyMap<string, Answered>,
  name: string,
  thresholds: readonly number[],
): Promise<Passage> {
  const before = stage.nginx.lines().length;
  const dataDir = join(stage.prefix, name);
  const options = optionsFor(stage, dataDir);
  const marks: WitnessEvent[] = [];
  let visits = 0;
  let kills = 0;
  for (const threshold of thresholds) {
    const run = startCrawl(options);
    while (run.isAlive() && visits + run.visits.length < threshold) await sleep(5);
    if (run.isAlive()) {
      marks.push({ e: 'K', t: Date.now() });
      run.kill();
      kills++;
    }
    await run.ended;
    visits += run.visits.length;
    marks.push({ e: 'B', t: Date.now() });
  }
  const cpuBefore = cpuOfChildren();
  const { summary } = await crawl(options);
  await stage.nginx.settled();
  const lines = stage.nginx
    .lines()
    .slice(before)
    .filter((line) => !isOfWget(line));
  const byCrawl = answered(lines);
  const verdict = judge(inOrder([...eventsFromNginx(lines, { robotsOf: robotsIn(stage) }), ...marks]), {
    productToken: PRODUCT_TOKEN,
    delayMs: DELAY_MS,
    clockToleranceMs: 2,
    // Counted below, by what may have been open.
    repeats: 'allowed',
  });
  const { repeated, repeats } = repeatsIn(lines, marks);
  return {
    summary,
    pages: countPages(byCrawl),
    differences: explained(stage, dataDir, byWget, byCrawl),
    repeated,
    repeats,
    doubled: doubledIn(join(dataDir, 'pages.jsonl')),
    verdict,
    archive: await readArchive(summary.archive),
    kills,
    cpuSeconds: cpuOfChildren() - cpuBefore,
  };
}

function optionsFor({ namespace }: Stage, dataDir: string): CrawlOptions {
  return {
    seeds: [`http://${PORTAL}/`],
    dataDir,
    under: namespace.under,
    words: ['--wait', '2'],
    settings: {
      'dns.servers': [namespace.nameServer],
      'guard.allow': ['127.0.0.0/8'],
      'politeness.delayMs': DELAY_MS,
      'politeness.adaptiveFactor': 0,
      'politeness.addressDelayMs': 0,
    },
  };
}

function robotsIn({ sites }: Stage): (host: string) => string | undefined {
  return (host) => sites.find(({ name }) => name === host)?.robots;
}

/** At one instant a kill stands before what came after it. */
function inOrder(events: WitnessEvent[]): WitnessEvent[] {
  return events.sort((a, b) => a.t - b.t);
}

/** Of the children that have ended, user and system, in seconds. */
function cpuOfChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

// -- what each got ----------------------------------------------------------------------------------------------

interface Answered {
  readonly contentType: string;
  readonly times: number;
  /** The page that sent the asker there, where it said so. */
  readonly referer: string;
}

/** What was given with 2xx, by URL; robots.txt aside. */
function answered(lines: readonly string[]): Map<string, Answered> {
  const found = new Map<string, Answered>();
  for (const line of lines) {
    const { host, request_uri, status, content_type, referer } = JSON.parse(line) as AccessLine;
    if (status < 200 || status > 299 || request_uri === '/robots.txt') continue;
    const url = `http://${host}${request_uri}`;
    const times = (found.get(url)?.times ?? 0) + 1;
    found.set(url, { contentType: content_type.replace(/;.*/, ''), times, referer });
  }
  return found;
}

const HTML = 'text/html';

function countPages(found: ReadonlyMap<string, Answered>): number {
  return [...found.values()].filter(({ contentType }) => contentType === HTML).length;
}

/** D2: after a kill at most the visits that were open are repeated, and without one none is. */
function repeatsIn(lines: readonly string[], marks: readonly WitnessEvent[]) {
  // A life ends when the next begins: what was still served to one that was being killed is its own.
  const boots = marks.filter(({ e }) => e === 'B').map(({ t }) => t);
  const repeats = boots.map(() => 0);
  const repeated: string[] = [];
  const lifeOf = new Map<string, number>();
  for (const line of lines) {
    const { host, request_uri, status, msec } = JSON.parse(line) as AccessLine;
    if (status < 200 || status > 299 || request_uri === '/robots.txt') continue;
    const url = `http://${host}${request_uri}`;
    const life = boots.filter((at) => at < msec * 1_000).length;
    const before = lifeOf.get(url);
    lifeOf.set(url, life);
    if (before === undefined) continue;
    if (before === life) repeated.push(url);
    else repeats[before] = (repeats[before] ?? 0) + 1;
    if ((repeats[before] ?? 0) > OPEN_VISITS_MAX) repeated.push(url);
  }
  return { repeated, repeats };
}

/** The engine's bound on visits that are begun and not yet recorded. */
const OPEN_VISITS_MAX = 256;

function doubledIn(file: string): string[] {
  const seen = new Set<string>();
  const urls = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { url: string }).url);
  return urls.filter((url) => seen.has(url) || !seen.add(url));
}

// -- differences, and what `why` says of them -------------------------------------------------------------------

interface WhyLine {
  readonly url: string;
  readonly state: string | null;
  readonly via: string | null;
  readonly explanation: readonly string[];
}

function explained(
  { namespace, sites }: Stage,
  dataDir: string,
  byWget: ReadonlyMap<string, Answered>,
  byCrawl: ReadonlyMap<string, Answered>,
): Difference[] {
  const wgetOnly = [...byWget].filter(([url]) => !byCrawl.has(url));
  const crawlOnly = [...byCrawl].filter(([url]) => !byWget.has(url));
  const answers = why(
    namespace,
    dataDir,
    [...wgetOnly, ...crawlOnly].map(([url]) => url),
  );
  return [
    ...wgetOnly.map(([url, { contentType, referer }]) => {
      const reason = reasonLeft(answers.get(url), () => namerOf(sites, url, referer));
      return { url, contentType, by: 'wget only' as const, reason };
    }),
    ...crawlOnly.map(([url, { contentType }]) => {
      const reason = reasonFound(answers.get(url));
      return { url, contentType, by: 'crawl only' as const, reason };
    }),
  ];
}

/**
 * Why the crawl has not asked for it. What it never heard of must be named by something that wget follows and a crawl
 * does not: a stylesheet, a script, a description for a browser's search field.
 */
function reasonLeft(answer: WhyLine | undefined, namer: () => string | null): string | null {
  if (answer === undefined) return null;
  const said = answer.explanation.join(' ');
  if (answer.state !== null && answer.state !== 'never_seen') return said;
  const named = namer();
  return named === null ? null : `wget found it in ${named}; of it the crawl says: ${said}`;
}

/** What the page that sent wget there names it by, where a crawl follows nothing of the kind; else null. */
function namerOf(sites: readonly NamedSite[], url: string, referer: string): string | null {
  if (referer === '') return null;
  const { hostname, pathname } = new URL(referer);
  const site = sites.find(({ name }) => name === hostname);
  const file = join(site?.folder ?? '', decodeURIComponent(pathname).replace(/\/$/, '/index.html'));
  if (site === undefined || !existsSync(file)) return null;
  if (file.endsWith('.css')) return 'a stylesheet';
  return namerIn(parse(readFileSync(file, 'utf8')), url, referer);
}

function namerIn(node: DefaultTreeAdapterTypes.Node, url: string, base: string): string | null {
  if ('attrs' in node) {
    const valueOf = (wanted: string) => node.attrs.find(({ name }) => name === wanted)?.value;
    const names = (value: string | undefined) => value !== undefined && new URL(value, base).href === url;
    if (node.tagName === 'script' && names(valueOf('src'))) return 'the source of a script';
    if (node.tagName === 'link' && valueOf('rel') === 'search' && names(valueOf('href'))) return 'a search description';
  }
  if (!('childNodes' in node)) return null;
  for (const child of node.childNodes) {
    const found = namerIn(child, url, base);
    if (found !== null) return found;
  }
  return null;
}

/** How the crawl has come to it: the page that names it. */
function reasonFound(answer: WhyLine | undefined): string | null {
  return answer === undefined || answer.via === null ? null : answer.explanation.join(' ');
}

function why({ under }: Namespace, dataDir: string, urls: readonly string[]): Map<string, WhyLine> {
  const answers = new Map<string, WhyLine>();
  for (let i = 0; i < urls.length; i += WHY_URLS) {
    const asked = urls.slice(i, i + WHY_URLS);
    const [program, ...rest] = [
      ...under,
      process.execPath,
      join(ROOT, 'dist/cli/main.js'),
      'why',
      '--data',
      dataDir,
      '--json',
      ...asked,
    ];
    const told = execFileSync(program as string, rest, { encoding: 'utf8', maxBuffer: 1 << 28 });
    told
      .split('\n')
      .filter(Boolean)
      .forEach((line, j) => {
        answers.set(asked[j] as string, JSON.parse(line) as WhyLine);
      });
  }
  return answers;
}

const WHY_URLS = 200;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
