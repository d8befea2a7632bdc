/**
 * The control of a crawl that does not run: its store, opened for the length of a command.
 *
 * Opening takes the lock, so that no crawl can begin meanwhile, and repairs what a kill left, as every start does.
 */
import { join } from 'node:path';
import type { Config } from '../config/schema.js';
import { seedAdmission } from '../actors/frontier-admission.js';
import { type Admitter, portionOf, redrivePart } from '../actors/frontier-redrive.js';
import { settingsChange } from '../actors/frontier-rules.js';
import { hostBudgetOf } from '../config/retry-budget.js';
import { configuredRules } from '../config/rules.js';
import { changed } from '../domain/crawl-settings.js';
import type { Redrive, RedriveLine } from '../domain/redrive.js';
import type { Candidate } from '../domain/url.js';
import { judgeSeeds, rulesOf } from '../policy/admission.js';
import { begun, dueAfter, portionAt } from '../policy/redrive.js';
import type { CommitReceipt, Part } from '../protocols/commit.js';
import { hostDelayMs } from '../policy/delay.js';
import type { Clock, StorePort } from '../protocols/ports.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { type FilterRefusal, filterRefusal } from '../policy/url-filter.js';
import { warcinfoRecord } from '../sinks/warc-record.js';
import { isBegun } from '../store/database.js';
import { openStore } from '../store/store.js';
import { lastConfig } from '../why/last-run.js';
import { changesBy, type Keeper } from './changes.js';
import type { Control } from './control.js';
import { Desk } from './desk.js';
import { LINES_MAX, type Redriven } from './redriving.js';
import { filteredAsRecorded, literalRefusal } from './seed-rules.js';

export interface StoppedCrawl {
  readonly control: Control;
  close(): Promise<void>;
}

/** Whether a crawl was ever begun there, in whatever state it is now: a damaged one says so when it is opened. */
export function holdsCrawl(dataDir: string): boolean {
  return isBegun(join(dataDir, 'store'));
}

/** Rejects with StoreError: `store_locked` while a crawl runs. Creates nothing where there is no crawl: ask first. */
export async function openStopped(
  dataDir: string,
  config: Config,
  clock: Clock,
  filter?: UrlFilter,
): Promise<StoppedCrawl> {
  const { archive, userAgent } = config;
  const store = await openStore({
    dir: dataDir,
    archiveBytesMax: archive.fileBytesMax,
    warcinfo: (filename) =>
      warcinfoRecord({
        filename,
        software: 'Orbweaver/0.1',
        operator: userAgent,
        userAgent,
        createdAtMs: clock.wallMs(),
      }),
  });
  // What the crawl was told counts, not what this command was.
  const told = lastConfig(await store.lastRun()) ?? config;
  const { politeness } = told;
  const terms = {
    delayMsOf: (host: string) => hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    retryBudget: hostBudgetOf(told.retry),
  };
  const keeper = storeKeeper(store, told, clock, filter);
  const control = new Desk({
    dataDir,
    store,
    clock,
    terms,
    live: null,
    isPaused: store.opened().settings.paused,
    changes: changesBy(keeper),
    ...(filter === undefined ? {} : { filter }),
  });
  return { control, close: () => store.close() };
}

/** The settings and the queues as they are stored; each wish is a batch of its own, on the disk when it is answered (D1). */
function storeKeeper(store: StorePort, config: Config, clock: Clock, filter: UrlFilter | undefined): Keeper {
  const opened = store.opened();
  let { batch, nextSequence, settings, lastRedrive } = opened;
  const commit = async (part: Part) => store.commit(++batch, [part], true);
  return {
    otherwise: 'stopped',
    configuredExclusions: config.exclude,
    refusalOf: literalRefusal(config),
    settings: () => settings,
    change: async (wish) => {
      const change = settingsChange(settings, wish);
      const result = changed(settings, change);
      await commit({ kind: 'settings', command: 1, settings: change, result, admitted: [] });
      settings = result;
      return settings;
    },
    sow: async (candidates, again) => {
      const rules = rulesOf(configuredRules(config), settings);
      const judged = judgeSeeds(rules, settings, candidates, (seed) => seedRefusal(seed, filter));
      const { admitted: seeds, refused, scopeHosts } = judged;
      const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs(), draw: () => 0 };
      const admitted = seeds.map((seed) => seedAdmission(seed, nextSequence++, now));
      const scope = { scopeHosts };
      const receipt = await commit({ kind: 'seed', command: 1, again, seeds, refused, admitted, settings: scope });
      settings = changed(settings, scope);
      const known = new Set(receipt.known);
      const urlsOf = (isKnown: boolean) => seeds.filter(({ key }) => known.has(key) === isKnown).map(({ url }) => url);
      return { queued: urlsOf(false), known: urlsOf(true), refused };
    },
    redrive: async (wish) => {
      const admitter: Admitter = {
        rules: rulesOf(configuredRules(config), settings),
        filtered: filteredAsRecorded(filter),
        isPending: () => false,
        nextSequence: () => nextSequence++,
      };
      let redrive = begun(wish, ++lastRedrive, clock.wallMs());
      const lines: RedriveLine[] = [];
      do {
        const { redrive: further, lines: more } = await takePortion(store, redrive, admitter, clock, commit);
        redrive = further;
        lines.push(...more.slice(0, LINES_MAX - lines.length));
        // At a rate the next run goes on with it.
      } while (redrive.stage === 'going' && redrive.rate === null);
      return { redrive, lines };
    },
    cancelRedrive: async (number) => {
      const [redrive] = await store.listRedrives(number + 1, 1);
      if (redrive?.number !== number || redrive.stage !== 'going') return null;
      const cancelled = { ...redrive, stage: 'cancelled', changedAtMs: clock.wallMs() } as const;
      await commit({ kind: 'redrive', command: 1, redrive: cancelled, lines: [], admitted: [], settings: null });
      return cancelled;
    },
  };
}

/** One commit of a redrive, as the frontier makes it. */
async function takePortion(
  store: StorePort,
  redrive: Redrive,
  admitter: Admitter,
  clock: Clock,
  commit: (part: Part) => Promise<CommitReceipt>,
): Promise<Redriven> {
  const { filter, untilMs, after, rate } = redrive;
  const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs(), draw: () => 0 };
  const limit = Math.max(1, portionAt(rate, redrive.dueAtMs, now.wallMs));
  const page = await store.readRedrivable({ filter, untilMs, after, limit });
  const portion = portionOf(page, admitter, now);
  const dueAtMs = dueAfter(rate, redrive.dueAtMs, now.wallMs, page.letters.length);
  const part = redrivePart({ redrive, command: 1 }, portion, page.next, dueAtMs, now);
  const receipt = await commit(part);
  return { redrive: receipt.redrives?.[0] ?? part.redrive, lines: part.lines };
}

function seedRefusal(seed: Candidate, filter: UrlFilter | undefined): FilterRefusal | null {
  if (filter === undefined) return null;
  const { url, host, source, element, rel } = seed;
  return filterRefusal(filter, { url, host, depth: 0, source, element, rel, via: null });
}
