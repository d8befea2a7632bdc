/**
 * The control of a crawl, over its store and, while it runs, over what it knows of itself.
 *
 * It decides nothing: questions are read from the store beside the crawl's own reads and writes, and wishes are
 * handed to whoever carries them out.
 */
import type { HostName } from '../domain/host.js';
import type { DeadLetter } from '../domain/record.js';
import { filteredAsRecorded } from './seed-rules.js';
import { looksOf } from '../actors/frontier-redrive.js';
import type { DeadFilter, Redrive, RedriveWish } from '../domain/redrive.js';
import { meets } from '../policy/dead-filter.js';
import { fateOf, lineOf, REDRIVES_MAX } from '../policy/redrive.js';
import type { BenchFacts, GateFacts } from '../protocols/bench.js';
import type { Totals } from '../protocols/commit.js';
import { type Clock, type DeadPage, StoreError, type StorePort } from '../protocols/ports.js';
import type { WhyAnswer } from '../why/answer.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { explain } from '../why/explain.js';
import type { LiveFacts } from '../why/facts.js';
import { gatherFacts } from '../why/gather.js';
import { lastConfig, termsOf } from '../why/last-run.js';
import { type InFlight, liveFacts } from '../why/live.js';
import { judge, rulesInForce } from '../why/rules.js';
import {
  type Control,
  ControlError,
  type DeadList,
  type DeadQuery,
  type DeadRow,
  timeOf,
  type ExcludeReport,
  type ExcludeWish,
  type HostReport,
  type HostRow,
  type HostsPage,
  type HostsQuery,
  type HostState,
  type PauseReport,
  type RedriveAsk,
  type RedriveList,
  type RedrivePreview,
  type RedriveReport,
  type RedriveView,
  type RedrivesQuery,
  type SeedReport,
  type SeedWish,
  type StatusReport,
  type TreeReport,
  WAIT_CAUSES,
  type WaitCause,
} from './control.js';
import { type DelayTerms, hostReport, hostRow, readHost, type Standing, sum, waitOf } from './host-facts.js';
import { NOTHING_MEANT, type Redriven, redriveView, reportOf } from './redriving.js';
import { type RunFacts, type Survey, statusReport, survey, surveyWithoutStore } from './status.js';

/** A crawl that runs. */
export interface Live {
  facts(): RunFacts;
  /** Null when the workbench does not answer in time. */
  describe(hosts: readonly HostName[]): Promise<BenchFacts | null>;
  tree(): TreeReport;
  /** Requests under way. */
  inFlight(): InFlight;
}

/** Who carries wishes out. */
export interface Changes extends Pick<Control, 'pause' | 'resume' | 'seed' | 'exclude'> {
  redrive(wish: RedriveWish): Promise<Redriven>;
  /** Null where none of this number goes on. */
  cancelRedrive(number: number): Promise<Redrive | null>;
}

export interface Ground {
  readonly dataDir: string;
  readonly store: StorePort;
  readonly clock: Clock;
  readonly terms: DelayTerms;
  /** Null for a crawl that does not run. */
  readonly live: Live | null;
  /** Whether a crawl that does not run was paused. */
  readonly isPaused: boolean;
  readonly changes: Changes;
  /** Of the program that runs the crawl: asked about URLs that are not known. */
  readonly filter?: UrlFilter;
}

/** Rows of a queue that the report of a host shows. */
const ROWS_SHOWN = 10;
/** Hosts that are passed over for one page: a filter that nothing meets must end. */
const HOSTS_SCANNED_MAX = 20_000;

const DEAD_SCANNED_MAX = 20_000;

/** What keeps a host though neither its queue nor its own clock does; what holds everybody is told elsewhere. */
const OF_THE_BENCH: ReadonlySet<WaitCause> = new Set<WaitCause>(['address', 'permit', 'turn']);

const HAS: Readonly<Record<HostState, (row: { ready: number; waiting: number; parked: number }) => boolean>> = {
  work: ({ ready, waiting, parked }) => ready + waiting + parked > 0,
  ready: ({ ready }) => ready > 0,
  waiting: ({ waiting }) => waiting > 0,
  parked: ({ parked }) => parked > 0,
  all: () => true,
};

export class Desk implements Control {
  readonly #ground: Ground;
  #lastSurvey: Survey | null = null;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async status(): Promise<StatusReport> {
    const { store, dataDir, terms, live, clock, isPaused } = this.#ground;
    const found = await this.#survey();
    const run = live?.facts() ?? null;
    const totals: Totals = run?.totals ?? store.opened().totals;
    return statusReport({ dataDir, totals, terms, run, isPaused, nowMs: clock.wallMs() }, found);
  }

  /** A crawl that runs can say that its store fails, and since when: that is when it is asked most. */
  async #survey(): Promise<Survey> {
    const { store, live } = this.#ground;
    const describe = (hosts: readonly HostName[]) => this.#describe(hosts);
    try {
      this.#lastSurvey = await survey(store, describe);
      return this.#lastSurvey;
    } catch (error) {
      if (live === null || !(error instanceof StoreError)) throw error;
      return await surveyWithoutStore(this.#lastSurvey, describe);
    }
  }

  async hosts({ state, limit, after }: HostsQuery): Promise<HostsPage> {
    const names: HostName[] = [];
    let from = after;
    for (let scanned = 0; names.length < limit && scanned < HOSTS_SCANNED_MAX; ) {
      const page = await this.#ground.store.listSummaries(from, Math.max(limit, 100));
      for (const { host, ready, waiting, parked } of page.summaries) {
        if (names.length === limit) break;
        from = host;
        scanned += 1;
        if (HAS[state]({ ready: sum(ready), waiting, parked })) names.push(host);
      }
      const isLast = page.complete && from === (page.summaries.at(-1)?.host ?? from);
      if (isLast) return { hosts: await this.#rows(names), next: null };
    }
    return { hosts: await this.#rows(names), next: from };
  }

  async dead({ limit, after, ...filter }: DeadQuery): Promise<DeadList> {
    const letters: DeadRow[] = [];
    let next = after;
    for (let scanned = 0; letters.length < limit && scanned < DEAD_SCANNED_MAX; ) {
      // No more rows than may still be shown: the cursor never runs past a letter that had no place.
      const rows = limit - letters.length;
      const page = await this.#ground.store.listDead(next, rows);
      for (const letter of page.letters) if (meets(letter, filter)) letters.push(deadRow(letter));
      next = page.next;
      if (next === null) break;
      scanned += rows;
    }
    return { letters, next };
  }

  async host(name: HostName): Promise<HostReport> {
    const { store, terms } = this.#ground;
    const facts = await readHost(store, name, ROWS_SHOWN);
    if (facts === null) {
      const advice = '`hosts --state all` lists those that are known';
      throw new ControlError('host_unknown', 'no URL of this host was ever queued', 404, name, advice);
    }
    const bench = await this.#describe([name]);
    return hostReport(facts, bench?.gates[0] ?? null, terms, this.#standing(bench));
  }

  async tree(): Promise<TreeReport> {
    const { live, dataDir } = this.#ground;
    if (live === null) throw notRunning(dataDir);
    return live.tree();
  }

  async why(url: string): Promise<WhyAnswer> {
    const { store, clock, live, filter } = this.#ground;
    const config = lastConfig(await store.lastRun());
    const rules = config === null ? null : rulesInForce(config, await store.readSettings());
    const facts = await gatherFacts(url, {
      store,
      nowMs: clock.wallMs(),
      judge:
        rules === null ? null : (found, depth, isKnown) => judge(rules, found, depth, isKnown ? undefined : filter),
      termsOf: config === null ? null : (host) => termsOf(config, host),
      liveOf: live === null ? null : (canonical, host) => this.#liveFacts(live, canonical, host),
    });
    return explain(facts);
  }

  async #liveFacts(live: Live, url: string, host: HostName): Promise<LiveFacts> {
    const { store } = this.#ground;
    const [bench, facts] = [await live.describe([host]), await readHost(store, host, 1)];
    const wait = facts === null ? null : waitOf(facts, bench?.gates[0] ?? null, this.#standing(bench));
    return liveFacts(url, host, {
      inFlight: live.inFlight(),
      gateOpensAtMs: bench?.gates[0]?.nextAllowedAtMs ?? null,
      waits: wait !== null && OF_THE_BENCH.has(wait.why) ? { why: wait.why, words: WAIT_CAUSES[wait.why] } : null,
      browserRestsUntilMs: bench?.backend?.restsUntilMs ?? null,
      retriesWaitUntilMs: bench?.retries?.waitsUntilMs ?? null,
      paused: live.facts().isPaused,
      holds: bench?.holds ?? live.facts().holds,
    });
  }

  pause(): Promise<PauseReport> {
    return this.#ground.changes.pause();
  }

  resume(): Promise<PauseReport> {
    return this.#ground.changes.resume();
  }

  seed(wish: SeedWish): Promise<SeedReport> {
    return this.#ground.changes.seed(wish);
  }

  exclude(wish: ExcludeWish): Promise<ExcludeReport> {
    return this.#ground.changes.exclude(wish);
  }

  async redrive({ rate, way, who, ...filter }: RedriveAsk): Promise<RedriveReport> {
    const { store, clock, changes } = this.#ground;
    const { matched, untilMs } = await countMeant(store, filter, clock.wallMs());
    if (matched === 0) return NOTHING_MEANT;
    const going = (await store.listRedrives(null, REDRIVES_LOOKED_AT)).filter(({ stage }) => stage === 'going');
    if (going.length >= REDRIVES_MAX) throw tooMany(going);
    return reportOf(await changes.redrive({ filter, rate, way, who, matched, untilMs }));
  }

  async previewRedrive({ limit, after, ...filter }: DeadQuery): Promise<RedrivePreview> {
    const { store, clock, filter: asked } = this.#ground;
    const config = lastConfig(await store.lastRun());
    if (config === null) throw neverRun(this.#ground.dataDir);
    const rules = rulesInForce(config, await store.readSettings());
    const page = await store.readRedrivable({ filter, untilMs: Number.MAX_SAFE_INTEGER, after, limit });
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs(), draw: () => 0 };
    const looks = looksOf(page, { rules, filtered: filteredAsRecorded(asked) }, now);
    const letters = page.letters.map(({ letter, record }) => {
      const fate = fateOf(record, looks, now);
      const { url, reason } = lineOf(letter.url, letter.key, fate);
      return { url, would: WOULD[fate.fate], reason };
    });
    return { letters, next: page.next };
  }

  async redrives({ limit, before }: RedrivesQuery): Promise<RedriveList> {
    const found = await this.#ground.store.listRedrives(before, limit);
    const last = found.at(-1)?.number ?? 1;
    return { redrives: found.map(redriveView), next: found.length === limit && last > 1 ? last : null };
  }

  async cancelRedrive(number: number): Promise<RedriveView> {
    const cancelled = await this.#ground.changes.cancelRedrive(number);
    if (cancelled !== null) return redriveView(cancelled);
    const advice = '`dead --audit` lists them all, and whether they still go on';
    throw new ControlError('redrive_unknown', 'no redrive of this number goes on', 404, String(number), advice);
  }

  async #rows(names: readonly HostName[]): Promise<HostRow[]> {
    const { store, terms } = this.#ground;
    const bench = await this.#describe(names);
    const gates = new Map<HostName, GateFacts>((bench?.gates ?? []).map((gate) => [gate.host, gate]));
    const standing = this.#standing(bench);
    const rows: HostRow[] = [];
    for (const name of names) {
      const facts = await readHost(store, name, 1);
      if (facts !== null) rows.push(hostRow(facts, gates.get(name) ?? null, terms, standing));
    }
    return rows;
  }

  #describe(hosts: readonly HostName[]): Promise<BenchFacts | null> {
    return this.#ground.live?.describe(hosts) ?? Promise.resolve(null);
  }

  #standing(bench: BenchFacts | null): Standing {
    const { live, clock, terms } = this.#ground;
    const phase = live === null ? 'stopped' : live.facts().isPaused ? 'paused' : 'running';
    return { bench, phase, nowMs: clock.wallMs(), retryBudget: terms.retryBudget };
  }
}

const WOULD = { queued: 'queue', blocked: 'block', left: 'stay' } as const;
/** Among the newest so many those that go on are looked for. */
const REDRIVES_LOOKED_AT = 1_000;
const COUNTED_AT_ONCE = 1_000;

/** How many letters a filter means now, and the instant before which all of them died. */
async function countMeant(store: StorePort, filter: DeadFilter, nowWallMs: number) {
  let matched = 0;
  let untilMs = Math.ceil(nowWallMs);
  for (let after: string | null = null; ; ) {
    const page: DeadPage = await store.listDead(after, COUNTED_AT_ONCE);
    for (const letter of page.letters) {
      if (!meets(letter, filter)) continue;
      matched += 1;
      // By a clock that has been put back since.
      untilMs = Math.max(untilMs, letter.lastAtMs + 1);
    }
    after = page.next;
    if (after === null) return { matched, untilMs };
  }
}

function tooMany(going: readonly Redrive[]): ControlError {
  const advice = `wait, or cancel one: \`redrive --cancel ${going[0]?.number}\``;
  const message = `${going.length} redrives go on beside each other, which is as many as there may be`;
  return new ControlError('redrives_too_many', message, 409, null, advice);
}

function neverRun(dataDir: string): ControlError {
  return new ControlError('not_running', 'no crawl was ever begun there', 409, dataDir, 'start it with `crawl`');
}

function deadRow({ url, cause, code, deliveries, firstAtMs, lastAtMs, attempts }: DeadLetter): DeadRow {
  const tried = attempts.map(({ atMs, tier, status, code, durationMs }) => ({
    at: timeOf(atMs),
    tier,
    status,
    code,
    durationMs,
  }));
  return { url, cause, code, deliveries, firstAt: timeOf(firstAtMs), lastAt: timeOf(lastAtMs), attempts: tried };
}

export function notRunning(dataDir: string): ControlError {
  return new ControlError(
    'not_running',
    'no crawl is running there',
    409,
    dataDir,
    'start it with `crawl` or `daemon`',
  );
}
