/**
 * A crawler of a page or two of code, written against the ports alone: the simulator is tried on it.
 *
 * It keeps the rules, and can be told to break any one of them (a *mutant*): a judge that has never found anybody
 * guilty proves nothing.
 */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { FetchedResponse, FetchResult } from '../../src/domain/fetching.js';
import type { HostName } from '../../src/domain/host.js';
import type { ParsedPage, ParseResult, ParseTask } from '../../src/domain/parsing.js';
import type { UrlRecord, UrlState } from '../../src/domain/record.js';
import type { Candidate, Source } from '../../src/domain/url.js';
import type { HostPart, PageLine, Part, SeedPart } from '../../src/protocols/commit.js';
import type { EndReason } from '../../src/protocols/events.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import type { Composition, Engine, RunningCrawl } from '../../src/sim/universe.js';
import { LittleMemory } from './little-store.js';

export type Mutant =
  | 'none'
  | 'hurries-after-restart'
  | 'counts-delay-from-start'
  | 'trusts-timers'
  | 'ignores-retry-after'
  | 'forgets-retry-after'
  | 'ignores-robots'
  | 'ignores-crawl-delay'
  | 'asks-before-robots'
  | 'writes-links-later'
  | 'writes-page-first'
  | 'goes-on-after-failed-write'
  | 'keeps-bytes'
  | 'wrong-address'
  | 'gives-up-after-one-failure'
  | 'stops-without-draining'
  | 'feeds-poison-on'
  | 'spins';

export function littleEngine(mutant: Mutant = 'none'): Engine {
  return {
    createMemory: () => new LittleMemory(),
    boot: (composition) => {
      const crawl = new LittleCrawl(composition, mutant);
      return {
        stopped: crawl.run(),
        stop: () => crawl.stop(),
        change: () => {},
        seed: () => {},
      } satisfies RunningCrawl;
    },
    parse: littleParse,
  };
}

interface Robots {
  readonly disallowed: readonly string[];
  readonly crawlDelayMs: number;
}

interface Entry {
  record: UrlRecord;
  dueAtMs: number;
}

interface LittleHost {
  readonly name: HostName;
  readonly entries: Map<string, Entry>;
  robots: Robots | null;
  /** Monotonic: no request before. */
  closedUntilMs: number;
  closedUntilWallMs: number | null;
  wake: () => void;
}

const RETRY_DELAYS_MS = [2_000, 10_000, 30_000, 60_000, 120_000];
const DELIVERIES_MAX = 8;

class LittleCrawl {
  readonly #ports: Composition['ports'];
  readonly #composition: Composition;
  readonly #mutant: Mutant;
  readonly #hosts = new Map<HostName, LittleHost>();
  readonly #seen = new Set<string>();
  #batch = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #busy = 0;
  #stopping = false;
  #ended: (reason: EndReason) => void = () => {};

  constructor(composition: Composition, mutant: Mutant) {
    this.#composition = composition;
    this.#ports = composition.ports;
    this.#mutant = mutant;
  }

  async run(): Promise<EndReason> {
    const { store } = this.#ports;
    this.#batch = store.opened().batch;
    await store.eachKey((key) => this.#seen.add(key));
    const { hosts } = await store.listHosts(null, 1_000_000);
    for (const { host: name } of hosts) await this.#load(name);
    const seeds = this.#composition.seeds
      .map((url) => toCandidate(url, 'seed', null))
      .filter(({ key }) => !this.#seen.has(key));
    if (seeds.length > 0) await this.#write([this.#seedPart(seeds)]);
    this.#enqueue(seeds);
    const reason = await new Promise<EndReason>((resolve) => {
      this.#ended = resolve;
      this.#lookForEnd();
    });
    await store.close();
    return reason;
  }

  stop(): void {
    this.#stopping = true;
    if (this.#mutant === 'stops-without-draining') return this.#ended('interrupted');
    for (const host of this.#hosts.values()) host.wake();
    this.#lookForEnd();
  }

  async #load(name: HostName): Promise<void> {
    const { snapshot, head } = await this.#ports.store.loadHost(name, 1_000_000);
    const host = this.#hostNamed(name);
    const { monotonicMs, wallMs } = this.#ports.clock;
    if (this.#mutant !== 'hurries-after-restart')
      host.closedUntilMs = monotonicMs() + Math.max(this.#composition.delayMs, 6_000);
    host.closedUntilWallMs = snapshot?.closedUntilMs ?? null;
    if (host.closedUntilWallMs !== null && this.#mutant !== 'forgets-retry-after') {
      host.closedUntilMs = Math.max(host.closedUntilMs, monotonicMs() + host.closedUntilWallMs - wallMs());
    }
    for (const { record } of head.ready) host.entries.set(record.key, { record, dueAtMs: 0 });
  }

  #hostNamed(name: HostName): LittleHost {
    const known = this.#hosts.get(name);
    if (known !== undefined) return known;
    const host: LittleHost = {
      name,
      entries: new Map(),
      robots: null,
      closedUntilMs: 0,
      closedUntilWallMs: null,
      wake: () => {},
    };
    this.#hosts.set(name, host);
    void this.#serve(host);
    return host;
  }

  #lookForEnd(): void {
    const left = [...this.#hosts.values()].some(({ entries }) => entries.size > 0);
    if (this.#busy === 0 && (!left || this.#stopping)) this.#ended(left ? 'interrupted' : 'done');
  }

  // -- one host ---------------------------------------------------------------------------------------------------

  async #serve(host: LittleHost): Promise<void> {
    // The first turn comes when the store has been read.
    await sleep(50);
    while (!this.#stopping) {
      const entry = [...host.entries.values()].sort((a, b) => a.dueAtMs - b.dueAtMs)[0];
      if (entry === undefined) {
        await new Promise<void>((resolve) => {
          host.wake = resolve;
        });
        continue;
      }
      await this.#until(Math.max(host.closedUntilMs, entry.dueAtMs), host);
      if (this.#stopping) return;
      this.#busy += 1;
      await this.#visit(host, entry);
      this.#busy -= 1;
      this.#lookForEnd();
    }
  }

  async #until(atMs: number, host: LittleHost): Promise<void> {
    for (;;) {
      const leftMs = atMs - this.#ports.clock.monotonicMs();
      if (this.#stopping || (leftMs <= 0 && this.#mutant !== 'spins')) return;
      await new Promise<void>((resolve) => {
        host.wake = resolve;
        setTimeout(resolve, this.#mutant === 'spins' ? 2 ** 31 : leftMs);
      });
      if (this.#mutant === 'trusts-timers') return;
    }
  }

  async #visit(host: LittleHost, entry: Entry): Promise<void> {
    const url = new URL(entry.record.url);
    if (host.robots === null && this.#mutant !== 'ignores-robots' && this.#mutant !== 'asks-before-robots') {
      const result = await this.#request(host, `${url.origin}/robots.txt`);
      if (result.kind === 'response' && result.status !== 429 && result.status < 500) {
        host.robots = readRobots(result);
        if (this.#mutant !== 'ignores-crawl-delay')
          host.closedUntilMs = Math.max(host.closedUntilMs, this.#now() + host.robots.crawlDelayMs);
      } else if (result.kind === 'failure' && result.detail.startsWith('NXDOMAIN')) {
        await this.#failed(host, entry, 'dns');
      } else {
        entry.dueAtMs = this.#now() + 20_000;
        // What a robots.txt said of coming back must be known to the next life, too.
        await this.#write([this.#part(host, entry.record, 'stay', [], null)]);
      }
      return;
    }
    if (host.robots?.disallowed.some((prefix) => url.pathname.startsWith(prefix)) === true) {
      return this.#settle(host, entry, 'blocked_by_robots', [], null);
    }
    await this.#judge(host, entry, await this.#request(host, entry.record.url));
  }

  async #judge(host: LittleHost, entry: Entry, result: FetchResult): Promise<void> {
    if (result.kind === 'failure' && result.code === 'too_slow') return this.#settle(host, entry, 'refused', [], null);
    if (result.kind === 'failure') return this.#failed(host, entry, result.code);
    const { status } = result;
    if (status === 429 || status === 503) return this.#write([this.#part(host, entry.record, 'stay', [], null)]);
    if (status >= 500) return this.#failed(host, entry, 'status');
    if (status === 404) return this.#settle(host, entry, 'soft_missing', [], null);
    if (status === 410) return this.#settle(host, entry, 'gone_candidate', [], null);
    const location = headerOf(result, 'location');
    if (location !== null)
      return this.#settle(host, entry, 'redirected', [toCandidate(location, 'redirect', 'location')], null);
    const parsed = await this.#parse(entry.record.url, result);
    if (this.#mutant !== 'keeps-bytes') this.#ports.net.release(result.body.length);
    if (parsed.kind === 'unparsed') return this.#failed(host, entry, parsed.code);
    await this.#settle(host, entry, 'active', parsed.page?.links ?? [], pageLine(entry.record.url, status, parsed));
  }

  async #failed(host: LittleHost, entry: Entry, cause: string): Promise<void> {
    const deliveries = entry.record.deliveries + 1;
    const workerCrashes = entry.record.workerCrashes + (cause === 'worker_crashed' ? 1 : 0);
    const isPoison = workerCrashes >= 2 && this.#mutant !== 'feeds-poison-on';
    const isLast =
      deliveries >= DELIVERIES_MAX || isPoison || this.#mutant === 'gives-up-after-one-failure' || cause === 'dns';
    entry.record = { ...entry.record, deliveries, workerCrashes };
    if (isLast) return this.#settle(host, entry, 'dead', [], null);
    entry.dueAtMs =
      this.#now() + (RETRY_DELAYS_MS[Math.min(deliveries, 5) - 1] as number) * (0.9 + 0.2 * this.#ports.chance());
    await this.#write([this.#part(host, entry.record, 'stay', [], null)]);
  }

  async #settle(
    host: LittleHost,
    entry: Entry,
    state: UrlState,
    found: readonly Candidate[],
    page: PageLine | null,
  ): Promise<void> {
    const record = { ...entry.record, state };
    const fresh = found.filter(({ key }) => !this.#seen.has(key));
    for (const { key } of fresh) this.#seen.add(key);
    if (this.#mutant === 'writes-links-later') {
      await this.#write([this.#part(host, record, 'leave', [], page)]);
      await this.#write([this.#seedPart(fresh)]);
    } else if (this.#mutant === 'writes-page-first') {
      await this.#write([this.#part(host, entry.record, 'stay', [], page)]);
      await this.#write([this.#part(host, record, 'leave', fresh, null)]);
    } else await this.#write([this.#part(host, record, 'leave', fresh, page)]);
    host.entries.delete(record.key);
    this.#enqueue(fresh);
  }

  // -- the ports --------------------------------------------------------------------------------------------------

  async #request(host: LittleHost, url: string): Promise<FetchResult> {
    const resolution = await this.#ports.names.resolve(host.name, new AbortController().signal);
    const address = resolution.kind === 'addresses' ? resolution.addresses[0] : undefined;
    if (address === undefined) {
      const detail = resolution.kind === 'failed' ? resolution.detail : 'refused';
      return { kind: 'failure', code: 'connect_failed', detail, status: null, durationMs: 0, reusedConnection: false };
    }
    const startedMs = this.#now();
    const result = await this.#ports.net.fetch(
      {
        url,
        origin: new URL(url).origin,
        address: this.#mutant === 'wrong-address' ? { address: '10.0.0.1', family: 4 } : address,
        headers: [['User-Agent', 'little']],
        ...{
          deadlineMs: 20_000,
          bodyBytesMax: 1 << 20,
          headerBytesMax: 1 << 16,
          cutAtBound: url.endsWith('/robots.txt'),
        },
      },
      new AbortController().signal,
    );
    const fromMs = this.#mutant === 'counts-delay-from-start' ? startedMs : this.#now();
    host.closedUntilMs = fromMs + Math.max(this.#composition.delayMs, host.robots?.crawlDelayMs ?? 0);
    if (result.kind === 'response') this.#obey(host, result);
    const isParsed = result.kind === 'response' && result.status === 200 && !url.endsWith('/robots.txt');
    if (result.kind === 'response' && !isParsed) this.#ports.net.release(result.body.length);
    return result;
  }

  #obey(host: LittleHost, response: FetchedResponse): void {
    if (response.status !== 429 && response.status !== 503) return;
    const seconds = this.#mutant === 'ignores-retry-after' ? null : headerOf(response, 'retry-after');
    const backoffMs = seconds === null ? 5_000 : Number(seconds) * 1_000;
    host.closedUntilMs = Math.max(host.closedUntilMs, this.#now() + backoffMs);
    host.closedUntilWallMs = this.#ports.clock.wallMs() + backoffMs + 1;
  }

  #parse(url: string, response: FetchedResponse): Promise<ParseResult> {
    const { status, statusText, httpVersion, headers, remoteAddress, body, cut } = response;
    return this.#ports.parsers.parse(0, {
      ...{ url, status, statusText, httpVersion, headers, remoteAddress, body, cut, want: 'page', requestHeaders: [] },
      ...{ rawHead: null, sentHead: null, metadata: null },
      ...{ fetchedAtMs: this.#ports.clock.wallMs(), decodedBytesMax: 1 << 22, linksMax: 5_000, archive: false },
      links: { embeds: true, forms: false, nofollow: 'skip' },
      robotsMeta: { obeyed: true, productToken: 'LittleBot' },
    });
  }

  /** One batch at a time. After an error: reopen, and again unless it is there. */
  #write(parts: readonly Part[]): Promise<void> {
    const { store } = this.#ports;
    const attempt = async (): Promise<void> => {
      const batch = ++this.#batch;
      for (;;) {
        try {
          await store.commit(batch, parts, true);
          return;
        } catch {
          if (this.#mutant === 'goes-on-after-failed-write') {
            await sleep(1_000);
            continue;
          }
          if ((await store.reopen()).batch >= batch) return;
        }
      }
    };
    const written = this.#writing.then(attempt);
    this.#writing = written;
    return written;
  }

  #part(
    host: LittleHost,
    record: UrlRecord,
    row: 'stay' | 'leave',
    found: readonly Candidate[],
    page: PageLine | null,
  ): HostPart {
    const at = { queue: 'ready', priority: 0, sequence: 0 } as const;
    return {
      ...{ kind: 'host', host: host.name, ticket: 0, permit: null, robots: [], heads: [], wakeAtMs: null },
      ...{ visits: [], page, archive: null, dead: [], admitted: this.#admissions(found), settings: null },
      moves: [{ from: at, to: row === 'stay' ? at : null, record }],
      snapshot: { ...UNTOUCHED, closedUntilMs: host.closedUntilWallMs },
    };
  }

  #seedPart(found: readonly Candidate[]): SeedPart {
    return {
      kind: 'seed',
      command: 1,
      again: false,
      seeds: [],
      refused: [],
      admitted: this.#admissions(found),
      settings: null,
    };
  }

  #admissions(found: readonly Candidate[]) {
    return found.map((candidate) => ({ record: newRecord(candidate), sequence: 0, ifAbsent: true }));
  }

  #enqueue(found: readonly Candidate[]): void {
    for (const candidate of found) {
      this.#seen.add(candidate.key);
      const host = this.#hostNamed(candidate.host);
      host.entries.set(candidate.key, { record: newRecord(candidate), dueAtMs: 0 });
      host.wake();
    }
  }

  #now(): number {
    return this.#ports.clock.monotonicMs();
  }
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}

function readRobots(response: FetchedResponse): Robots {
  const text = response.status === 200 ? new TextDecoder().decode(response.body) : '';
  const valuesOf = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}: (.+)$`, 'gm'))].map((match) => match[1] as string);
  return { disallowed: valuesOf('Disallow'), crawlDelayMs: 1_000 * Number(valuesOf('Crawl-delay')[0] ?? 0) };
}

function littleParse(task: ParseTask): ParseResult {
  const isGzip = task.headers.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip');
  const bytes = isGzip ? gunzipSync(task.body) : task.body;
  const isHtml = task.headers.some(([name, value]) => name === 'Content-Type' && value.startsWith('text/html'));
  const hrefs = isHtml
    ? [...new TextDecoder().decode(bytes).matchAll(/href="([^"]+)"/g)].map((match) => match[1] as string)
    : [];
  const links = hrefs.map((href) => toCandidate(new URL(href, task.url).href, 'link', 'a'));
  const facts = {
    mime: 'text/html',
    charset: null,
    title: null,
    textLength: 0,
    simhash: null,
    ...{ canonical: null, kind: 'document' as const, linksRefused: 0, noindex: false, nofollow: false },
  };
  return {
    ...{
      kind: 'parsed',
      payloadDigest: '',
      contentDigest: '',
      decodedBytes: bytes.length,
      redirect: null,
      decoded: null,
    },
    ...{ archive: null, parseMicros: 1, page: { ...facts, links } },
  };
}

function pageLine(url: string, status: number, parsed: ParsedPage): PageLine {
  return {
    ...{ url, canonical: url, fetchedAt: '', status, mime: '', charset: null, title: null, digest: '', simhash: null },
    ...{ declaredCanonical: null, kind: 'document' as const, noindex: false },
    ...{ links: parsed.page?.links.length ?? 0, outcome: 'fetched' as const },
  };
}

function toCandidate(url: string, source: Source, element: string | null): Candidate {
  const { hostname, origin } = new URL(url);
  const key = createHash('sha256').update(url).digest('hex').slice(0, 32);
  return { url, key, host: hostname, origin, source, element, rel: null };
}

function newRecord({ url, key, host, source, element }: Candidate): UrlRecord {
  return {
    ...{
      url,
      key,
      host,
      source,
      element,
      state: 'queued',
      via: null,
      hopPath: '',
      depth: 0,
      priority: 0,
      discoveredAtMs: 0,
      deliveries: 0,
    },
    ...{
      workerCrashes: 0,
      processDeaths: 0,
      attempts: [],
      etag: null,
      lastModified: null,
      digest: null,
      archived: null,
      chain: null,
    },
    robots: null,
  };
}

function headerOf(response: FetchedResponse, name: string): string | null {
  return response.headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1] ?? null;
}
