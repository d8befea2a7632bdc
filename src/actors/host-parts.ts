/**
 * What a host wishes to be recorded: settlements, visits and robots rules made into parts of a commit.
 *
 * A part goes to the frontier, which admits what was found and passes it on. Its rows stay taken until it is in the
 * store; only then they may be read again, wherever they stand.
 */
import assert from 'node:assert/strict';
import type { Delivery, DeliveryTerms } from '../domain/delivery.js';
import { type Attempt, DETAIL_CHARACTERS_MAX } from '../domain/outcome.js';
import type { FetchResult } from '../domain/fetching.js';
import type { ParsedPage, ParseResult } from '../domain/parsing.js';
import type { Origin } from '../domain/host.js';
import type { QueueEntry, QueuePosition, UrlRecord } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import { headsOf } from '../policy/back-queue.js';
import {
  blocked,
  climbed,
  completed,
  failed,
  parked,
  poisonous,
  postponed,
  putOff,
  rationed,
  sentBack,
  type Settlement,
  unparked,
} from '../policy/history.js';
import {
  type ContentJudgement,
  judgeChain,
  judgeContent,
  judgeCrash,
  judgeRobots,
  judgeRules,
  judgeTransport,
  judgeWait,
  stateAfter,
  type TransportJudgement,
} from '../policy/judgement.js';
import { stampOf } from '../policy/elapsed.js';
import { isParkedForBackend } from '../policy/parking.js';
import { type RulesInForce, rulesInForce } from '../policy/last-look.js';
import { type Onward, onwardOf } from '../policy/redirect-chain.js';
import { refreshed } from '../policy/validators.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { ArchiveEntry, HostPart, Move, PageLine, VisitSummary } from '../protocols/commit.js';
import { type Effect, log, send } from '../protocols/effects.js';
import { type Found, visited } from '../protocols/frontier.js';
import type { HostSnapshot } from '../protocols/host-snapshot.js';
import type { PermitNumber } from '../protocols/workbench.js';
import { backendTurnMs, noteContent, noteRefused, rationedUntilMs, tierOf } from './host-ladder.js';
import { noteFirst } from './host-retries.js';
import type { Live, OpenVisit, ReadingVisit } from './host-state.js';
import { matcherOf, robotsOf, urlOf } from './host-state.js';
import { type Stopped, wakeAtMsOf } from './host-steps.js';

type PageVisit = Extract<OpenVisit, { what: 'page' }>;
type ReadVisit = Extract<PageVisit, { phase: 'reading' }>;

interface Wish {
  readonly permit?: PermitNumber;
  readonly settlements?: readonly Settlement[];
  readonly moves?: readonly Move[];
  readonly bytes?: number;
  readonly page?: PageLine | null;
  readonly delivery?: Delivery | undefined;
  readonly archive?: ArchiveEntry | null;
  readonly found?: Found | null;
  readonly robots?: readonly Origin[];
}

/** Sends a part on its way. */
export function emit(state: Live, wish: Wish, now: Instant): Effect {
  const settlements = wish.settlements ?? [];
  const moves = wish.moves ?? settlements.map(({ from, to, record }) => ({ from, to, record }));
  const ticket = state.nextTicket++;
  state.parts.set(
    ticket,
    moves.map(({ from, to, record }) => ({ sequence: from.sequence, next: to === null ? null : { at: to, record } })),
  );
  const leaving = new Set(moves.filter(({ to }) => to?.queue !== 'ready').map(({ from }) => from.sequence));
  const part: HostPart = {
    kind: 'host',
    host: state.props.name,
    ticket,
    permit: wish.permit ?? null,
    moves,
    snapshot: stamped(state, now),
    robots: (wish.robots ?? []).map((origin) => ({ origin, state: robotsOf(state, origin) })),
    heads: headsOf(state.queue, leaving),
    wakeAtMs: earliest(state, moves, now),
    visits: settlements.map(({ record, attempt }): VisitSummary => ({ record, attempt, bytes: wish.bytes ?? 0 })),
    page: wish.page ?? null,
    ...(wish.delivery === undefined ? {} : { delivery: wish.delivery }),
    archive: wish.archive ?? null,
    dead: settlements.flatMap(({ dead }) => (dead === null ? [] : [dead])),
    admitted: [],
    settings: null,
  };
  return send(addresses.frontier, visited(part, wish.found ?? null));
}

/** The wall clock may have been put forward since the host asked for silence: what is left of it is counted from now. */
function stamped({ props, snapshot, silentUntilMs }: Live, now: Instant): HostSnapshot {
  const waits = silentUntilMs !== null || snapshot.breaker.phase === 'open';
  if (!waits || props.machine === undefined) return snapshot;
  const closedUntilMs = silentUntilMs === null ? null : Math.ceil(now.wallMs + silentUntilMs - now.monotonicMs);
  return { ...snapshot, closedUntilMs, stamp: stampOf(props.machine, now) };
}

function earliest(state: Live, moves: readonly Move[], now: Instant): number | null {
  let earliestMs = wakeAtMsOf(state, now);
  for (const { to, record } of moves) {
    const dueMs = to === null ? null : dueOf(state, to, record, now);
    if (dueMs !== null && (earliestMs === null || dueMs < earliestMs)) earliestMs = dueMs;
  }
  return earliestMs;
}

function dueOf(state: Live, to: QueuePosition, record: UrlRecord, now: Instant): number | null {
  if (to.queue === 'waiting') return to.dueAtMs;
  return to.queue === 'parked' && isParkedForBackend(record) ? backendTurnMs(state, record, now) : null;
}

// -- rows that are settled without a request --------------------------------------------------------------------

export function settleStopped(state: Live, stopped: Stopped, now: Instant): Settlement {
  const { entry } = stopped;
  switch (stopped.why) {
    case 'blocked': {
      const judgement = judgeRobots('disallowed');
      return blocked(entry, attemptOf(judgement, 1, now, 0), stopped.robots);
    }
    case 'unwanted': {
      const judgement = judgeRules(stopped.refusal.code);
      return completed(entry, attemptOf(judgement, 1, now, 0), stateAfter(entry.record.state, judgement), {});
    }
    case 'parked':
      return parked(entry, attemptOf(judgeRobots('unreadable'), 1, now, 0));
    case 'backend_down':
      return parked(entry, attemptOf(judgeWait('backend_down'), 3, now, 0));
    case 'rationed':
      return rationed(entry, attemptOf(judgeWait('browser_budget'), 3, now, 0), stopped.untilMs);
    case 'suspect':
      return putOff(entry, now.wallMs);
    case 'poison':
      return poisonous(entry, Math.round(now.wallMs));
    case 'no_address': {
      const { resolution } = stopped;
      const code = resolution.kind === 'refused' ? 'guard_refused' : resolution.code;
      const judgement = judgeTransport(
        { kind: 'dns', code, detail: resolution.detail },
        { hadValidators: false, nowWallMs: now.wallMs },
      );
      return settlementOf(state, entry, judgement, attemptOf(judgement, 1, now, 0, wordsOf(resolution)), {}, now);
    }
  }
}

export function unpark(entries: readonly Parameters<typeof unparked>[0][]): Move[] {
  return entries.map((entry) => unparked(entry));
}

// -- visits -----------------------------------------------------------------------------------------------------

/** A visit that ended without a body worth reading. */
export function emitTransport(
  state: Live,
  permit: PermitNumber,
  visit: PageVisit,
  judgement: TransportJudgement,
  result: FetchResult,
  now: Instant,
): Effect[] {
  const words = result.kind === 'response' ? undefined : wordsOf(result);
  const attempt = attemptOf(judgement, tierOf(visit), now, result.durationMs, words);
  if (judgement.code === 'http_forbidden') noteRefused(state, visit, visit.clearance, now);
  const settlement = settlementOf(state, visit.entry, judgement, attempt, { robots: visit.robots }, now);
  return [...escalated(visit, judgement), emit(state, { permit, settlements: [settlement] }, now)];
}

/** R2: each step is told, with its cause. */
function escalated(
  { entry, start }: PageVisit,
  { climbsTo, code }: Pick<ContentJudgement, 'climbsTo' | 'code'>,
): Effect[] {
  if (climbsTo === null) return [];
  return [log('info', 'escalated', { url: entry.record.url, from: start.tier, to: climbsTo, cause: code })];
}

/** A visit whose body was read. */
export function emitContent(
  state: Live,
  permit: PermitNumber,
  visit: ReadVisit,
  result: ParseResult,
  now: Instant,
): Effect[] {
  const { entry, transport } = visit;
  // A confirmation has no body that could be at fault: a parser that crashed with it in hand gets it once more.
  const isToBeRead = transport.next === 'parse' || transport.code === 'not_modified';
  const judged: ContentJudgement = isToBeRead
    ? judgeContent(transport, result, entry.record.digest, { at: tierOf(visit), tiers: state.props.ladder.tiers })
    : { ...transport, next: 'commit' };
  const onward = judged.outcome === 'redirected' ? onwardFrom(visit, result, now) : null;
  const judgement = onward?.leads === 'nowhere' ? judgeChain(judged, onward.code) : judged;
  const attempt = attemptOf(judgement, tierOf(visit), now, visit.durationMs, detailOf(judgement, result));
  learnOfLadder(state, visit, judgement, now);
  const parsed = result.kind === 'parsed' ? result : null;
  const isPage = (judgement.outcome === 'fetched' || judgement.outcome === 'unchanged') && parsed !== null;
  const changes = { robots: visit.robots, ...(isPage ? learned(visit, judgement, parsed) : {}) };
  const settlement =
    onward?.leads === 'back'
      ? sentBack(entry, attempt, onward.chain)
      : settlementOf(state, entry, judgement, attempt, changes, now);
  const wish: Wish = {
    permit,
    settlements: [settlement],
    bytes: visit.bytes,
    page: isPage ? pageLine(visit, attempt, parsed) : null,
    delivery: isPage ? deliveryOf(state.props.delivers, visit, parsed) : undefined,
    // What stands in a page's place is not kept under its name.
    archive: judgement.outcome === 'challenged' ? null : archiveEntry(visit, result),
    found: parsed === null ? null : foundIn(state, visit, judgement, parsed, onward, now),
  };
  return [...tooManyCookies(visit, onward), ...escalated(visit, judgement), emit(state, wish, now)];
}

function learnOfLadder(state: Live, visit: ReadVisit, { outcome, code }: ContentJudgement, now: Instant): void {
  if (outcome === 'challenged' || code === 'http_forbidden') noteRefused(state, visit, visit.clearance, now);
  if (outcome === 'fetched' || outcome === 'unchanged') noteContent(state, visit, visit.rendered, now);
}

/** Where a redirect leads within its chain; null without a target. */
function onwardFrom({ entry, setCookies }: ReadVisit, result: ParseResult, now: Instant): Onward | null {
  const target = result.kind === 'parsed' ? result.redirect : null;
  return target === null ? null : onwardOf(entry.record, target, setCookies, now.wallMs);
}

/** Said once in a chain, where it happens. */
function tooManyCookies({ entry: { record } }: ReadVisit, onward: Onward | null): Effect[] {
  const isPast = onward !== null && onward.leads !== 'nowhere' && onward.chain.cookies === null;
  return isPast && record.chain?.cookies !== null ? [log('info', 'cookies_dropped', { url: record.url })] : [];
}

/** Visits whose part could not be recorded: what was found on them is what crashed the recording. */
export function emitUnrecorded(
  state: Live,
  permit: PermitNumber | null,
  entries: readonly QueueEntry[],
  now: Instant,
): Effect {
  const judgement = judgeCrash();
  const settlements = entries.map((entry) =>
    settlementOf(state, entry, judgement, attemptOf(judgement, entry.record.ladder ?? 1, now, 0), {}, now),
  );
  return emit(state, { ...(permit === null ? {} : { permit }), settlements }, now);
}

/** What an answer with content, or one that confirms what is known, says of the page's version. */
function learned({ entry: { record }, validators }: ReadVisit, { code }: ContentJudgement, parsed: ParsedPage) {
  if (code === 'not_modified') return refreshed(record, validators);
  // Where the archive holds it the store will say.
  return { ...validators, digest: parsed.contentDigest, archived: null };
}

function attemptOf(
  judgement: Pick<ContentJudgement, 'outcome' | 'code' | 'status'>,
  tier: Tier,
  now: Instant,
  durationMs: number,
  detail?: string,
): Attempt {
  const { outcome, code, status } = judgement;
  const attempt: Attempt = {
    atMs: Math.round(now.wallMs),
    outcome,
    code,
    status,
    tier,
    durationMs: Math.round(durationMs),
  };
  return detail === undefined ? attempt : { ...attempt, detail };
}

/** Where a redirect leads, or why the body could not be read. */
function detailOf({ outcome, code }: ContentJudgement, result: ParseResult): string | undefined {
  if (result.kind === 'unparsed') return wordsOf(result);
  if (outcome === 'challenged') return wordsOf({ detail: result.page?.challenge?.reasons.join('; ') ?? '' });
  if (outcome === 'redirected' || code === 'redirect_limit' || code === 'redirect_loop') return result.redirect?.url;
  return result.plugInFault?.slice(0, DETAIL_CHARACTERS_MAX);
}

function wordsOf({ detail }: { readonly detail: string }): string {
  return detail.slice(0, DETAIL_CHARACTERS_MAX);
}

/** The same attempt goes on later. */
const IS_NOT_OVER: ReadonlySet<TransportJudgement['next'] | ContentJudgement['next']> = new Set<
  TransportJudgement['next'] | ContentJudgement['next']
>(['climb', 'rationed', 'host_waits', 'retry_fresh', 'parked']);

function settlementOf(
  state: Live,
  entry: PageVisit['entry'],
  judgement: Pick<ContentJudgement, 'urlState' | 'climbsTo'> & {
    readonly next: TransportJudgement['next'] | ContentJudgement['next'];
  },
  attempt: Attempt,
  changes: Parameters<typeof completed>[3],
  now: Instant,
): Settlement {
  if (entry.record.deliveries === 0 && !IS_NOT_OVER.has(judgement.next)) noteFirst(state, now);
  switch (judgement.next) {
    case 'retry':
    case 'retry_plain':
      return failed(entry, attempt, state.props.retry, now.wallMs, now.draw());
    case 'retry_late': {
      const { deliveriesMax } = state.props.retry;
      return failed(entry, attempt, { schedule: [state.props.retryLateMs], deliveriesMax }, now.wallMs, now.draw());
    }
    case 'climb':
      assert(judgement.climbsTo !== null);
      return climbed(entry, attempt, judgement.climbsTo);
    case 'rationed':
      return rationed(entry, attempt, rationedUntilMs(state, now) ?? now.wallMs);
    case 'host_waits':
    case 'retry_fresh':
      return postponed(entry, attempt);
    case 'parked':
      return parked(entry, attempt);
    case 'commit':
    case 'settled':
    case 'parse':
      return completed(entry, attempt, stateAfter(entry.record.state, judgement), changes);
  }
}

function pageLine({ entry: { record }, sinceWallMs }: ReadVisit, attempt: Attempt, parsed: ParsedPage): PageLine {
  const { page } = parsed;
  return {
    url: record.url,
    canonical: record.url,
    fetchedAt: new Date(sinceWallMs).toISOString(),
    status: attempt.status ?? 0,
    mime: page?.mime ?? null,
    charset: page?.charset ?? null,
    title: page?.title ?? null,
    // A 304 has no content of its own: it speaks of what was stored.
    digest: attempt.code === 'not_modified' ? (record.digest ?? parsed.contentDigest) : parsed.contentDigest,
    simhash: page?.simhash ?? null,
    declaredCanonical: page?.canonical ?? null,
    kind: page?.kind ?? null,
    links: page?.links.length ?? 0,
    noindex: page?.noindex ?? null,
    outcome: attempt.outcome === 'unchanged' ? 'unchanged' : 'fetched',
    ...(parsed.data === undefined ? {} : { data: parsed.data }),
  };
}

/** Nothing where nobody asks: it costs a page nothing then. */
function deliveryOf(
  terms: DeliveryTerms | undefined,
  { headers = [] }: ReadVisit,
  { page, kept }: ParsedPage,
): Delivery | undefined {
  if (terms === undefined) return undefined;
  const links = terms.links && page !== null ? page.links : null;
  return { headers, text: kept?.text ?? null, body: kept?.body ?? null, links };
}

/** The archive's entry for a response, whatever its status; null when it is not archived. */
export function archiveEntry(visit: ReadingVisit, result: ParseResult): ArchiveEntry | null {
  if (result.archive === null) return null;
  const isConfirmed = visit.what === 'page' && visit.transport.code === 'not_modified';
  return {
    url: urlOf(visit),
    atMs: Math.round(visit.sinceWallMs),
    status: visit.transport.status ?? 0,
    remoteAddress: visit.remoteAddress,
    records: result.archive,
    unmodified: isConfirmed ? visit.entry.record.archived : null,
  };
}

function foundIn(
  state: Live,
  visit: ReadVisit,
  judgement: ContentJudgement,
  parsed: ParsedPage,
  onward: Onward | null,
  now: Instant,
): Found | null {
  const { record } = visit.entry;
  const finder = {
    via: record.url,
    hopPath: record.hopPath,
    depth: record.depth,
    seedRedirect: /^R*$/.test(record.hopPath),
    chain: onward?.leads === 'onward' ? onward.chain : null,
    robots: allRulesInForce(state, now),
  };
  if (onward?.leads === 'onward' && parsed.redirect !== null) return { ...finder, candidates: [parsed.redirect] };
  const { page } = parsed;
  const isContent = judgement.outcome === 'fetched' || judgement.outcome === 'unchanged';
  if (!isContent || page === null || page.links.length === 0) return null;
  return { ...finder, candidates: page.links };
}

function allRulesInForce(state: Live, now: Instant): RulesInForce[] {
  const rules: RulesInForce[] = [];
  for (const [origin, robots] of state.robots) {
    const inForce = rulesInForce(origin, robots, (copy) => matcherOf(state, origin, copy), now.wallMs);
    if (inForce !== null) rules.push(inForce);
  }
  return rules;
}
