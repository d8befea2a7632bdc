/**
 * The frontier, the priority actor: what enters, in which order, and which hosts are at work.
 *
 * Admission gives each candidate a verdict: out of scope, too deep, seen, or new. What is new gets a record and a
 * place in its host's queue (one global sequence) in the same part as the visit that found it. Until the commit of
 * that part is acknowledged its key is in the pending set; only then it is in the Bloom filter and its host is told.
 *
 * The front queues hold the hosts that have work and are not at work. A bounded set of hosts is active at once; one
 * that rests makes room for the next, drawn by class. Hosts that rest until a time stand in a heap.
 *
 * Invariants: no key is in the queue twice; nothing is dropped here (permits give way); D1: seeds of one command are
 * one part. The crawl ends when nothing is unacknowledged, no host is active or in line, and nothing falls due soon.
 */
import type { Bloom } from '../domain/bloom.js';
import {
  type ClassQueues,
  createClassQueues,
  joinLine,
  leaveLine,
  nonEmptyLines,
  takeFront,
} from '../domain/class-queues.js';
import { createDueHeap, type DueHeap, peekDue, popDue, pushDue } from '../domain/due-heap.js';
import {
  changed,
  changesNothing,
  type ConfiguredRules,
  type CrawlSettings,
  type SettingsChange,
} from '../domain/crawl-settings.js';
import { type HostName, siteOf } from '../domain/host.js';
import type { Attempt, Code } from '../domain/outcome.js';
import type { PriorityClass, RobotsEvidence, UrlRecord } from '../domain/record.js';
import type { Candidate, UrlKey } from '../domain/url.js';
import { drawClass } from '../policy/draw.js';
import { type AdmissionRefusal, type CrawlRules, judgeSeeds, refusalOf, rulesOf } from '../policy/admission.js';
import { type FilterRefusal, filterRefusal } from '../policy/url-filter.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { disallowedBy } from '../policy/last-look.js';
import { blockedOnAdmission } from '../policy/history.js';
import { linkKind } from '../policy/links.js';
import { inScope, widenAll } from '../policy/scope.js';
import type { Behaviour, Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { Admission, CommitReceipt, HostPart, Part, Totals } from '../protocols/commit.js';
import { type Effect, type HostsListed, log, send } from '../protocols/effects.js';
import type { EndReason } from '../protocols/events.js';
import type { Found, Message, RulesChange } from '../protocols/frontier.js';
import { fence, record } from '../protocols/recorder.js';
import { PAUSED } from '../protocols/workbench.js';

export interface Props {
  /** The rules that this run is configured with. */
  readonly configured: ConfiguredRules;
  /** Of the program that runs the crawl. */
  readonly filter?: UrlFilter;
  /** As they are stored. */
  readonly settings: CrawlSettings;
  readonly seen: Bloom;
  readonly totals: Totals;
  readonly nextSequence: number;
  /** Hosts that may be at work at once. */
  readonly activeMax: number;
  /** Visits after which the crawl ends; null for no bound. */
  readonly pagesMax: number | null;
  /** The crawl ends when nothing falls due within this; null: it goes on for ever. */
  readonly waitMs: number | null;
}

type Life =
  | { readonly phase: 'listing' }
  | { readonly phase: 'crawling' }
  | { readonly phase: 'ended'; readonly reason: EndReason };

/** What the message in hand has changed and a crash must undo, or do again. */
interface Journal {
  keys: UrlKey[];
  woken: HostName[];
  readonly unacknowledged: number;
  readonly visits: number;
  readonly life: Life;
  readonly settings: CrawlSettings;
  readonly rules: CrawlRules;
}

interface State {
  readonly props: Props;
  settings: CrawlSettings;
  /** By the settings; replaced as a whole. */
  rules: CrawlRules;
  /** Candidates that were not admitted, by code. */
  readonly notAdmitted: Map<Code, number>;
  /** Times that the URL filter failed. */
  filterFailures: number;
  life: Life;
  readonly pending: Set<UrlKey>;
  sequence: number;
  /** Parts that were sent to the recorder and not yet acknowledged. */
  unacknowledged: number;
  /** Visits that were acknowledged in this life of the process. */
  visits: number;
  totals: Totals;
  readonly front: ClassQueues;
  /** Hosts at work, with the number of their newest wake. */
  readonly active: Map<HostName, number>;
  lastWake: number;
  /** Resting hosts and when they wake by themselves (wall clock). */
  readonly wakeAt: Map<HostName, number>;
  readonly dues: DueHeap;
  /** Hosts that wake only to see whether their robots.txt still blocks what it blocks: nothing of theirs waits. */
  readonly watching: Set<HostName>;
  wakeTimerAtMs: number | null;
  journal: Journal;
}

const LISTED_AT_ONCE = 1_000;
const WAITING_TOLD_MAX = 20;
/** Woken too early, a host that cools down would not hear it. */
const SET_ASIDE_MARGIN_MS = 1_000;

export const frontier: Behaviour<Props, State, Message> = {
  start: (props) => {
    const { settings } = props;
    const rules = rulesOf(props.configured, settings);
    const state: State = {
      props,
      settings,
      rules,
      notAdmitted: new Map(),
      filterFailures: 0,
      life: { phase: 'listing' },
      pending: new Set(),
      sequence: props.nextSequence,
      unacknowledged: 0,
      visits: 0,
      totals: props.totals,
      front: createClassQueues(),
      active: new Map(),
      lastWake: 0,
      wakeAt: new Map(),
      dues: createDueHeap(),
      watching: new Set(),
      wakeTimerAtMs: null,
      journal: { keys: [], woken: [], unacknowledged: 0, visits: 0, life: { phase: 'listing' }, settings, rules },
    };
    const effects: Effect[] = [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }];
    if (state.settings.paused) effects.unshift(holdFor(PAUSED));
    return [state, effects];
  },

  // All of it outlives an incarnation, but for what the message in hand had begun: that is undone, as it comes again.
  restart: (_props, held, { lost }, now) => {
    const { journal } = held;
    for (const key of journal.keys) held.pending.delete(key);
    held.unacknowledged = journal.unacknowledged;
    held.visits = journal.visits;
    // An end that was never announced is none.
    held.life = journal.life;
    held.settings = journal.settings;
    held.rules = journal.rules;
    held.wakeTimerAtMs = null;
    const effects: Effect[] = journal.woken.map((host) => wake(held, host));
    if (held.life.phase === 'listing') effects.push({ do: 'listHosts', after: null, limit: LISTED_AT_ONCE });
    if (lost !== null && lost.type !== 'hostsListed') effects.push(...makeGood(held, lost, now));
    return settleDown(held, now, effects);
  },

  on: {
    seed: (state, { command, again, candidates, refused }, now) => {
      begin(state);
      const failures: Effect[] = [];
      const filter = (seed: Candidate) => filteredBy(state, seed, SEEDED.via, SEEDED.depth, failures);
      const judged = judgeSeeds(state.rules, state.settings, candidates, filter);
      const { admitted: seeds, refused: left, scopeHosts } = judged;
      const effects = [...failures, ...enter(state, scopeHosts)];
      const admitted = seeds.flatMap((candidate) => admit(state, candidate, SEEDED, now, null) ?? []);
      const part: Part = {
        kind: 'seed',
        command,
        again,
        seeds: seeds.map(({ url, key }) => ({ url, key })),
        refused: [...refused, ...left],
        admitted,
        settings: scopeHosts.length === 0 ? null : { scopeHosts },
      };
      return settleDown(state, now, [...effects, toRecorder(state, part)]);
    },

    change: (state, { command, change }, now) => {
      begin(state);
      const settings = settingsChange(state.settings, change);
      const wasPaused = state.settings.paused;
      const effects = adopt(state, settings);
      if (state.settings.paused !== wasPaused) effects.push(wasPaused ? releaseFor(PAUSED) : holdFor(PAUSED));
      const part: Part = { kind: 'settings', command, settings, result: state.settings, admitted: [] };
      return settleDown(state, now, [...effects, toRecorder(state, part)]);
    },

    visited: (state, { part, found }, now) => {
      begin(state);
      const effects: Effect[] = [];
      if (found === null) return [state, [toRecorder(state, part)]];
      const settings = found.seedRedirect ? follow(state, part.host, found, effects) : null;
      const admitted = admitFound(state, found, now, effects);
      const whole: HostPart = admitted.length === 0 && settings === null ? part : { ...part, admitted, settings };
      effects.push(toRecorder(state, whole));
      return [state, effects];
    },

    fenceFor: (state, { host, epoch }) => {
      begin(state);
      return [state, [send(addresses.recorder, fence(host, epoch))]];
    },

    recorded: (state, { parts, receipt }, now) => {
      begin(state);
      const effects: Effect[] = [];
      const known = new Set(receipt.known);
      for (const part of parts) {
        state.unacknowledged -= 1;
        for (const { record } of part.admitted) {
          state.pending.delete(record.key);
          state.props.seen.add(record.key);
        }
        effects.push(...tell(state, part, known));
        if (part.kind === 'host' && part.delivery !== undefined && part.page !== null) {
          const place = receipt.places?.get(part) ?? null;
          effects.push({ do: 'announce', event: { event: 'page', line: part.page, delivery: part.delivery, place } });
        }
      }
      state.totals = receipt.totals;
      effects.push({
        do: 'announce',
        event: {
          event: 'totals',
          totals: receipt.totals,
          hostsActive: state.active.size,
          notAdmitted: Object.fromEntries(state.notAdmitted),
        },
      });
      for (const queue of receipt.queues) hear(state, queue, effects);
      return settleDown(state, now, effects);
    },

    rested: (state, { host, wake, left, wakeAtMs }, now) => {
      begin(state);
      if (state.active.get(host) !== wake) return [state, []];
      state.active.delete(host);
      if (left !== null) joinLine(state.front, host, left);
      else if (wakeAtMs !== null) restUntil(state, host, wakeAtMs);
      return settleDown(state, now, []);
    },

    hostsListed: (state, listed, now) => {
      begin(state);
      if (state.life.phase === 'ended') return [state, []];
      return listed.failure === null ? list(state, listed, now) : [state, listAgain(listed, now)];
    },

    listDue: (state) => {
      begin(state);
      return [state, [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }]];
    },

    storeReopened: (state, { nextSequence }) => {
      begin(state);
      // A host that has seen a row believes that none with a smaller number comes after it.
      state.sequence = Math.max(state.sequence, nextSequence);
      if (state.life.phase === 'ended') return [state, []];
      state.life = { phase: 'listing' };
      return [state, [{ do: 'listHosts', after: null, limit: LISTED_AT_ONCE }]];
    },

    // One poisonous host: its rows stay in the store, and it is tried again when it has cooled down.
    setAside: (state, { name, coolingMs }, now) => {
      begin(state);
      state.active.delete(name);
      leaveLine(state.front, name);
      restUntil(state, name, now.wallMs + coolingMs + SET_ASIDE_MARGIN_MS);
      return settleDown(state, now, []);
    },

    wakeDue: (state, _message, now) => {
      begin(state);
      state.wakeTimerAtMs = null;
      return settleDown(state, now, []);
    },
  },
};

/**
 * A message was set aside. A visit whose links crash us must not do so for ever: its host hears that it is not recorded
 * and counts it against the URL. All else is taken up here, as the crawl would wait for it without end; what crashes
 * even so uses up the restarts, and ends the crawl with its reason.
 */
function makeGood(state: State, lost: Message, now: Instant): readonly Effect[] {
  if (lost.type === 'visited' && lost.found !== null) {
    const { host, ticket, permit } = lost.part;
    return [
      log('error', 'visit_not_recorded', { host, url: lost.found.via }),
      send(addresses.host(host), { type: 'unrecorded', ticket, permit }),
    ];
  }
  const handle = frontier.on[lost.type] as (state: State, message: Message, now: Instant) => Turn<State>;
  const [, effects] = handle(state, lost, now);
  return [log('warn', 'taken_up', { actor: 'frontier', message: lost.type }), ...effects];
}

function begin(state: State): void {
  const { unacknowledged, visits, life, settings, rules } = state;
  state.journal = { keys: [], woken: [], unacknowledged, visits, life, settings, rules };
}

// -- admission --------------------------------------------------------------------------------------------------

/** What stands behind a candidate that nobody linked to. */
const SEEDED = { via: null, hopPath: '', depth: 0, seedRedirect: false } as const;

/** A seed as it enters the registry, whoever writes it there. */
export function seedAdmission(candidate: Candidate, sequence: number, now: Instant): Admission {
  return { record: newRecord(candidate, SEEDED, 0, now), sequence, ifAbsent: true };
}

type Finder = Omit<Found, 'candidates' | 'via' | 'robots'> & { readonly via: string | null };

function admitFound(state: State, found: Found, now: Instant, effects: Effect[]): Admission[] {
  const admitted: Admission[] = [];
  for (const candidate of found.candidates) {
    const depth = depthOf(candidate, found);
    // What is known already was judged before: most links are.
    if (isKnownLink(state, candidate)) continue;
    const refusal = refusalFor(state, candidate, found.via, depth, effects);
    if (refusal !== null) {
      state.notAdmitted.set(refusal.code, (state.notAdmitted.get(refusal.code) ?? 0) + 1);
      if (found.seedRedirect && candidate.source === 'redirect') {
        const { code } = refusal;
        const event = { event: 'redirect_refused', url: found.via, target: candidate.url, code } as const;
        effects.push({ do: 'announce', event });
      }
      continue;
    }
    const robots = disallowedBy(found.robots, candidate.url, candidate.origin);
    const admission = admit(state, candidate, found, now, robots);
    if (admission !== null) admitted.push(admission);
  }
  return admitted;
}

/** By the rules of the crawl, then by the filter of the program that runs it. */
function refusalFor(
  state: State,
  candidate: Candidate,
  via: string | null,
  depth: number,
  effects: Effect[],
): AdmissionRefusal | FilterRefusal | null {
  const { url, host } = candidate;
  return refusalOf(state.rules, { url, host, depth }) ?? filteredBy(state, candidate, via, depth, effects);
}

function filteredBy(
  state: State,
  { url, host, source, element, rel }: Candidate,
  via: string | null,
  depth: number,
  effects: Effect[],
): FilterRefusal | null {
  const { filter } = state.props;
  if (filter === undefined) return null;
  const filtered = filterRefusal(filter, { url, host, depth, source, element, rel, via });
  if (filtered?.code === 'plugin_failed') {
    const count = ++state.filterFailures;
    // A filter that fails on everything must not fill the log.
    if (Number.isInteger(Math.log2(count)))
      effects.push(log('warn', 'plugin_failed', { url, detail: filtered.detail, count }));
  }
  return filtered;
}

function depthOf(candidate: Candidate, finder: Finder): number {
  return candidate.source === 'link' ? finder.depth + 1 : finder.depth;
}

/** A link trusts the filter. */
function isKnownLink(state: State, { key, source }: Candidate): boolean {
  return state.pending.has(key) || (source === 'link' && state.props.seen.has(key));
}

/**
 * Null: known already. What must not be missed by the filter's errors asks the registry, in the commit.
 * @param robots the evidence where robots.txt disallows it: then it enters, but not to be asked for
 */
function admit(
  state: State,
  candidate: Candidate,
  finder: Finder,
  now: Instant,
  robots: RobotsEvidence | null,
): Admission | null {
  if (isKnownLink(state, candidate)) return null;
  const ifAbsent = state.props.seen.has(candidate.key);
  state.pending.add(candidate.key);
  state.journal.keys.push(candidate.key);
  const queued = newRecord(candidate, finder, depthOf(candidate, finder), now);
  const record = robots === null ? queued : blockedOnAdmission(queued, robots, now);
  return { record, sequence: state.sequence++, ifAbsent };
}

function newRecord(candidate: Candidate, finder: Finder, depth: number, now: Instant): UrlRecord {
  const hop = { seed: '', link: 'L', redirect: 'R' }[candidate.source];
  return {
    url: candidate.url,
    key: candidate.key,
    host: candidate.host,
    state: 'queued',
    source: candidate.source,
    element: candidate.element,
    via: finder.via,
    hopPath: finder.hopPath + hop,
    depth,
    priority: priorityOf(candidate, depth),
    discoveredAtMs: now.wallMs,
    deliveries: 0,
    workerCrashes: 0,
    processDeaths: 0,
    attempts: [],
    etag: null,
    lastModified: null,
    digest: null,
    archived: null,
    robots: null,
  };
}

/**
 * Seeds first, then redirects (their page is owed already), then links, the nearer to a seed the sooner. What a page only
 * shows comes after the documents of its depth.
 */
function priorityOf({ source, element, rel }: Candidate, depth: number): PriorityClass {
  if (source === 'seed') return 0;
  if (source === 'redirect') return 1;
  const isEmbed = linkKind(element, rel) === 'embed';
  return Math.min(2 + Math.floor(depth / 4) + (isEmbed ? 1 : 0), 7) as PriorityClass;
}

// -- what the crawl may enter -----------------------------------------------------------------------------------

/** P6: where a seed redirects to within its site is what the operator meant, and is said. */
function follow(state: State, from: HostName, found: Found, effects: Effect[]): SettingsChange | null {
  const targets = found.candidates.filter(({ source, host }) => source === 'redirect' && siteOf(from) === siteOf(host));
  const scopeHosts = [...new Set(targets.map(({ host }) => host))].filter((host) => !inScope(state.rules.scope, host));
  if (scopeHosts.length === 0) return null;
  effects.push(...enter(state, scopeHosts));
  for (const to of scopeHosts) {
    effects.push(log('info', 'scope_widened', { from, to }));
    effects.push({ do: 'announce', event: { event: 'scope_widened', from, to } });
  }
  return { scopeHosts };
}

/** These hosts are in the scope from now on; the part in hand stores them. */
function enter(state: State, scopeHosts: readonly HostName[]): Effect[] {
  if (scopeHosts.length === 0) return [];
  state.settings = changed(state.settings, { scopeHosts });
  const scope = widenAll(state.rules.scope, scopeHosts);
  if (scope === state.rules.scope) return [];
  state.rules = { ...state.rules, scope };
  return [tellRules(state)];
}

/** What a wish changes of settings. */
export function settingsChange(settings: CrawlSettings, { exclude, admit, paused }: RulesChange): SettingsChange {
  const isChanged = exclude !== undefined || admit !== undefined;
  const left = settings.exclusions.filter((pattern) => !(admit ?? []).includes(pattern));
  return {
    ...(isChanged ? { exclusions: [...new Set([...left, ...(exclude ?? [])])] } : {}),
    ...(paused === undefined ? {} : { paused }),
  };
}

function adopt(state: State, change: SettingsChange): Effect[] {
  if (changesNothing(change)) return [];
  state.settings = changed(state.settings, change);
  state.rules = rulesOf(state.props.configured, state.settings);
  return [tellRules(state)];
}

/** Every permit carries them: the last look of a host is by the rules in force when it was granted. */
function tellRules(state: State): Effect {
  return send(addresses.workbench, { type: 'rules', rules: state.rules });
}

function holdFor(why: string): Effect {
  return send(addresses.workbench, { type: 'hold', why });
}

function releaseFor(why: string): Effect {
  return send(addresses.workbench, { type: 'release', why });
}

// -- what a commit brought --------------------------------------------------------------------------------------

function toRecorder(state: State, part: Part): Effect {
  state.unacknowledged += 1;
  return send(addresses.recorder, record([part]));
}

function tell(state: State, part: Part, known: ReadonlySet<UrlKey>): Effect[] {
  if (part.kind === 'seed') {
    const entered = new Set(
      part.admitted.filter(({ record }) => !known.has(record.key)).map(({ record }) => record.key),
    );
    const queued = part.seeds.filter(({ key }) => entered.has(key)).map(({ url }) => url);
    const rest = part.seeds.filter(({ key }) => !entered.has(key)).map(({ url }) => url);
    const { command, refused } = part;
    return [{ do: 'announce', event: { event: 'seeded', command, queued, known: rest, refused } }];
  }
  if (part.kind === 'settings') {
    return [{ do: 'announce', event: { event: 'changed', command: part.command, settings: part.result } }];
  }
  const effects: Effect[] = [];
  for (const { record, attempt, bytes } of part.visits) {
    if (attempt.status !== null) state.visits += 1;
    effects.push(tellVisit(record, attempt, bytes));
  }
  for (const { record } of part.admitted) {
    const [attempt] = record.attempts;
    if (attempt !== undefined && !known.has(record.key)) effects.push(tellVisit(record, attempt, 0));
  }
  return effects;
}

function tellVisit({ url, host }: Pick<UrlRecord, 'url' | 'host'>, attempt: Attempt, bytes: number): Effect {
  const { outcome, code, status, tier, durationMs } = attempt;
  return {
    do: 'announce',
    event: { event: 'visit', url, host, outcome, code, status, tier, bytes, durationMs },
  };
}

/** Only hosts with news: their ready queue was empty, or has a better class than before. */
function hear(state: State, queue: CommitReceipt['queues'][number], effects: Effect[]): void {
  const { host, news, wakeAtMs } = queue;
  const hasWork = queue.waiting + queue.parked > 0 || queue.ready.some((count) => count > 0);
  if (hasWork || queue.blocked === 0) state.watching.delete(host);
  else state.watching.add(host);
  if (news === null) {
    if (wakeAtMs !== null && !state.active.has(host) && !state.front.lineOf.has(host)) restUntil(state, host, wakeAtMs);
  } else if (state.active.has(host)) {
    effects.push(wake(state, host));
  } else joinLineIfBetter(state, host, news);
}

function joinLineIfBetter(state: State, host: HostName, best: PriorityClass): void {
  if ((state.front.lineOf.get(host) ?? Number.MAX_SAFE_INTEGER) > best) joinLine(state.front, host, best);
}

// -- which hosts are at work ------------------------------------------------------------------------------------

/** After every change: hosts whose time has come join a line, free places are filled, the end is noticed. */
function settleDown(state: State, now: Instant, effects: Effect[]): Turn<State> {
  if (state.life.phase === 'ended') return [state, effects];
  if (state.props.pagesMax !== null && state.visits >= state.props.pagesMax) return end(state, 'max-pages', effects);
  wakeWhatIsDue(state, now);
  while (state.active.size < state.props.activeMax) {
    const priority = drawClass(nonEmptyLines(state.front), now.draw());
    if (priority === null) break;
    const host = takeFront(state.front, priority);
    if (host === undefined) break;
    effects.push(wake(state, host));
  }
  if (isOver(state, now)) {
    return end(state, isWithoutWork(state.totals) ? 'done' : 'only-waiting', effects);
  }
  const next = peekDue(state.dues);
  if (next !== undefined && (state.wakeTimerAtMs === null || next.atMs < state.wakeTimerAtMs)) {
    state.wakeTimerAtMs = next.atMs;
    const atMonotonicMs = now.monotonicMs + Math.max(0, next.atMs - now.wallMs);
    effects.push({ do: 'schedule', key: 'wake', atMonotonicMs, message: { type: 'wakeDue' } });
  }
  return [state, effects];
}

function wake(state: State, host: HostName): Effect {
  const number = ++state.lastWake;
  state.active.set(host, number);
  state.wakeAt.delete(host);
  state.journal.woken.push(host);
  return send(addresses.host(host), { type: 'wake', wake: number });
}

function restUntil(state: State, host: HostName, wakeAtMs: number): void {
  if (state.wakeAt.get(host) === wakeAtMs) return;
  state.wakeAt.set(host, wakeAtMs);
  pushDue(state.dues, { atMs: wakeAtMs, name: host });
}

/** A host whose time has come is as good as one that has waited in the first line. */
function wakeWhatIsDue(state: State, now: Instant): void {
  for (let next = peekDue(state.dues); next !== undefined; next = peekDue(state.dues)) {
    const stands = state.wakeAt.get(next.name) === next.atMs;
    if (stands && next.atMs > now.wallMs) return;
    popDue(state.dues);
    if (!stands) continue;
    state.wakeAt.delete(next.name);
    if (!state.active.has(next.name)) joinLine(state.front, next.name, 0);
  }
}

// -- the start and the end --------------------------------------------------------------------------------------

function list(state: State, listed: HostsListed, now: Instant): Turn<State> {
  const effects: Effect[] = listed.notes.map((note) => log('error', 'row_set_aside', { note }));
  for (const { host, best, wakeAtMs } of listed.hosts) {
    if (state.active.has(host)) effects.push(...(best === null ? [] : [wake(state, host)]));
    else if (best !== null) joinLineIfBetter(state, host, best);
    else if (!state.front.lineOf.has(host)) restUntil(state, host, wakeAtMs ?? now.wallMs);
  }
  if (listed.complete) {
    state.life = { phase: 'crawling' };
    return settleDown(state, now, effects);
  }
  const last = listed.hosts[listed.hosts.length - 1];
  return settleDown(state, now, [...effects, { do: 'listHosts', after: last?.host ?? null, limit: LISTED_AT_ONCE }]);
}

function listAgain(listed: HostsListed, now: Instant): Effect[] {
  return [
    log('warn', 'hosts_not_listed', { reason: listed.failure }),
    { do: 'schedule', key: 'list', atMonotonicMs: now.monotonicMs + 1_000, message: { type: 'listDue' } },
  ];
}

function isOver(state: State, now: Instant): boolean {
  if (state.props.waitMs === null || state.life.phase !== 'crawling' || state.unacknowledged > 0) return false;
  if (state.active.size > 0 || state.front.lineOf.size > 0) return false;
  // Hosts may rest until their robots.txt is due for what it disallows: that is no work, and nobody waits for it.
  if (isWithoutWork(state.totals)) return true;
  const next = peekDue(state.dues);
  return next === undefined || next.atMs > now.wallMs + state.props.waitMs;
}

function isWithoutWork({ ready, waiting, parked }: Totals): boolean {
  return ready + waiting + parked === 0;
}

function end(state: State, reason: EndReason, effects: Effect[]): Turn<State> {
  state.life = { phase: 'ended', reason };
  const waiting = [...state.wakeAt]
    .filter(([host]) => !state.watching.has(host))
    .slice(0, WAITING_TOLD_MAX)
    .map(([host, wakeAtMs]) => ({ host, wakeAtMs }));
  effects.push({ do: 'announce', event: { event: 'ended', reason, waiting } });
  return [state, effects];
}
