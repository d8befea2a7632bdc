/**
 * The plan of a crawl's tree: what each kind of actor is started with, by the configuration and by what an earlier life
 * has left. Units of options become units of actors here, and nowhere else.
 */
import type { Props as HostProps } from './actors/host-state.js';
import { hostBudgetOf } from './config/retry-budget.js';
import { configuredRules } from './config/rules.js';
import type { Config } from './config/schema.js';
import type { Bloom } from './domain/bloom.js';
import type { DeliveryTerms } from './domain/delivery.js';
import { PAUSED_MS_MAX } from './domain/fetching.js';
import type { HostName } from './domain/host.js';
import type { Tier } from './domain/tier.js';
import type { UrlFilter } from './plugins/url-filter.js';
import { addressRangesOf } from './policy/addresses.js';
import { rulesOf } from './policy/admission.js';
import { BACKEND_TERMS } from './policy/backend-breaker.js';
import { QUARANTINE } from './policy/breaker.js';
import { hostDelayMs } from './policy/delay.js';
import type { EgressTerms } from './policy/egress.js';
import type { Machine } from './policy/elapsed.js';
import { isAmong } from './policy/host-pattern.js';
import type { StoreOpening } from './protocols/ports.js';
import type { TreePlan } from './supervision/tree.js';

/** By then a call that was cut off by its own deadline has ended. */
const BROWSER_GRACE_MS = 5_000;

/** What an earlier life left. */
export interface Inheritance
  extends Pick<
    StoreOpening,
    'totals' | 'batch' | 'nextSequence' | 'settings' | 'redrives' | 'lastRedrive' | 'unclean'
  > {
  readonly seen: Bloom;
  /** When this life begins; wall clock. */
  readonly startedAtMs: number;
  readonly machine?: Machine;
}

/** What is asked of the crawl. */
export interface PlanOptions {
  readonly config: Config;
  /** Null: no bound. */
  readonly pagesMax: number | null;
  /** It waits for seeds when nothing is left. */
  readonly endless?: boolean;
  readonly urlFilter?: UrlFilter;
  readonly delivers?: DeliveryTerms;
}

export function planTree(options: PlanOptions, productToken: string, opened: Inheritance): TreePlan {
  const { config, pagesMax, urlFilter, delivers } = options;
  const { settings } = opened;
  const configured = configuredRules(config);
  const exempt = addressRangesOf(config.politeness.addressExempt);
  return {
    recorder: { batch: opened.batch, groupMs: 50, groupPartsMax: 100, syncEveryMs: 1_000 },
    frontier: {
      configured,
      ...(urlFilter === undefined ? {} : { filter: urlFilter }),
      settings,
      seen: opened.seen,
      totals: opened.totals,
      nextSequence: opened.nextSequence,
      redrives: opened.redrives,
      lastRedrive: opened.lastRedrive,
      activeMin: Math.min(Math.ceil(config.hosts.activeFactor * config.fetch.slots), config.hosts.liveMax),
      activeMax: config.hosts.liveMax,
      pagesMax,
      waitMs: options.endless === true ? null : config.waitSeconds * 1_000,
    },
    workbench: {
      ...benchTermsOf(config),
      // After a loss of power there may be no URL left of a life that has made requests.
      resumed: opened.unclean || opened.totals.urls > 0,
      rules: rulesOf(configured, settings),
    },
    host: (name) => ({
      name,
      userAgent: config.userAgent,
      productToken,
      startedAtMs: opened.startedAtMs,
      ...(opened.machine === undefined ? {} : { machine: opened.machine }),
      delayMs: hostDelayMs(name, config.politeness),
      adaptiveFactor: config.politeness.adaptiveFactor,
      addressExempt: exempt,
      requestMsMax: config.fetch.timeoutMs,
      robotsMsMax: config.robots.timeoutMs,
      bodyBytesMax: config.fetch.bytesMax,
      decodedBytesMax: config.fetch.bytesMax,
      headerBytesMax: config.fetch.headerBytesMax,
      linksMax: config.page.linksMax,
      links: config.links,
      robotsMeta: { obeyed: config.robots.meta, productToken },
      challenge: config.challenge,
      archive: config.archive.enabled,
      ...(delivers === undefined ? {} : { delivers }),
      metadata: config.archive.metadata,
      parserThreads: config.page.threads,
      ...failureTermsOf(config),
      ...ladderTermsOf(config, name),
      window: 64,
      quota: 64,
      openMax: 8,
      idleMs: 10_000,
    }),
    hostsLiveMax: config.hosts.liveMax,
    fetchers: config.fetch.slots,
    impersonators: config.impersonate.sites.length > 0 ? config.impersonate.concurrency : null,
    browsers: config.browser.endpoint === null ? null : config.browser.concurrency,
    parsers: config.page.threads,
  };
}

/** By which tiers a host may be fetched. */
function ladderTermsOf(
  { escalation, impersonate, browser }: Config,
  name: HostName,
): Pick<HostProps, 'ladder' | 'retryLateMs' | 'browserMsMax' | 'browserMsPerDay'> {
  const tiers: Tier[] = [1];
  if (isAmong(name, impersonate.sites)) tiers.push(2);
  if (browser.endpoint !== null && isAmong(name, browser.sites)) tiers.push(3);
  return {
    ladder: { tiers, memoryMs: escalation.memorySeconds * 1_000 },
    retryLateMs: escalation.retrySeconds * 1_000,
    browserMsMax: browser.timeoutMs,
    browserMsPerDay: browser.secondsPerHostAndDay * 1_000,
  };
}

/** What a failure leads to, for a URL and for its host. */
function failureTermsOf({ retry, breaker }: Config): Pick<HostProps, 'retry' | 'retryBudget' | 'breaker'> {
  return {
    retry: { schedule: retry.delaysSeconds.map((seconds) => seconds * 1_000), deliveriesMax: retry.deliveriesMax },
    retryBudget: hostBudgetOf(retry),
    breaker: {
      failuresMax: breaker.failures,
      quarantine: { ...QUARANTINE, firstMs: breaker.quarantineSeconds * 1_000 },
    },
  };
}

function egressTermsOf({ egress }: Config): EgressTerms | null {
  if (!egress.guard) return null;
  const { hostsMin, hostsMax, shareMin, windowSeconds, suspenseSeconds } = egress;
  return { hostsMin, hostsMax, shareMin, windowMs: windowSeconds * 1_000, suspenseMs: suspenseSeconds * 1_000 };
}

function benchTermsOf(config: Config): Omit<TreePlan['workbench'], 'resumed' | 'rules'> {
  const { fetch, robots, politeness, impersonate, browser, retry } = config;
  const requestMsMax = Math.max(fetch.timeoutMs, robots.timeoutMs) + PAUSED_MS_MAX;
  return {
    tiers: {
      1: { slots: fetch.slots, requestMsMax },
      ...(impersonate.sites.length === 0 ? {} : { 2: { slots: impersonate.concurrency, requestMsMax } }),
      ...(browser.endpoint === null
        ? {}
        : { 3: { slots: browser.concurrency, requestMsMax: browser.timeoutMs + BROWSER_GRACE_MS } }),
    },
    openVisitsMax: fetch.openVisitsMax,
    openBytesMax: fetch.bodyBudgetBytes,
    addressDelayMs: politeness.addressDelayMs,
    egress: egressTermsOf(config),
    backend: browser.breaker ? BACKEND_TERMS : null,
    retryBudget: { share: retry.budgetShare, perMinute: retry.budgetPerMinute },
  };
}
