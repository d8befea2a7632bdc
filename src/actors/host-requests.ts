/**
 * A host's requests: what a permit is spent on, and what is learned when the request has ended.
 *
 *     spend ──▶ fetching ──▶ transported ──▶ reading ──▶ read
 *                                 └────────────────────────┴──▶ a part on its way to the store
 *
 * The transport's judgement is told to the gate at once, so that the next request need not wait for the parser (P1 to
 * P3). A robots.txt is the exception: it may hold a longer delay, so its gate waits until it has been read.
 */
import type { FetchRequest, FetchResult, Header } from '../domain/fetching.js';
import type { Clearance } from '../policy/clearance.js';
import type { FoundBy, ParseResult, ParseTask } from '../domain/parsing.js';
import * as queues from '../policy/back-queue.js';
import * as breakers from '../policy/breaker.js';
import { clearanceCookies } from '../policy/clearance.js';
import { reachOf } from '../policy/egress.js';
import { judgeTransport, type TransportJudgement } from '../policy/judgement.js';
import { chainCookieHeader } from '../policy/redirect-chain.js';
import { isElsewhere } from '../policy/rendered.js';
import { setCookiesOf } from '../policy/redirect-cookies.js';
import { ROBOTS_BYTES_MAX } from '../policy/robots/rules.js';
import { eased, throttled } from '../policy/throttle.js';
import { conditionsBy, conditionsOf, isConditional, refreshed, validatorsOf } from '../policy/validators.js';
import type { Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, log, send } from '../protocols/effects.js';
import type { RobotsFound } from '../protocols/host.js';
import type { NetworkWord, Permit, PermitNumber, Verdict } from '../protocols/workbench.js';
import { clearanceFor, noteBrowserTime, tierOf } from './host-ladder.js';
import { archiveEntry, emit, emitContent, emitTransport } from './host-parts.js';
import { deliveryOf, noteRetry } from './host-retries.js';
import { goOn, proceed, settle } from './host-proceed.js';
import { foundOut } from './host-robots.js';
import {
  delayMsOf,
  type Live,
  type OpenVisit,
  originOf,
  type Props,
  type ReadingVisit,
  type State,
  type Target,
  urlOf,
  validatorsFor,
} from './host-state.js';
import { choose, silence } from './host-steps.js';

/** A robots.txt may be compressed: what lies beyond the bound that is read of it is dropped by its reader. */
const ROBOTS_DECODED_BYTES_MAX = 8 * ROBOTS_BYTES_MAX;

const NO_COOKIES: readonly never[] = [];

/** The last look: what the permit is spent on is chosen now, by the rules in force now. */
export function spend(state: Live, permit: Permit, now: Instant): Turn<State> {
  const { target, stopped } = choose(state, now, permit);
  if (stopped.length > 0) return goOn(state, now, [giveBack(permit), settle(state, stopped, now)]);
  if (target === null || silence(state, now) !== null) return goOn(state, now, [giveBack(permit)]);
  const asked = breakers.ask(state.snapshot.breaker, now.wallMs);
  state.snapshot = { ...state.snapshot, breaker: asked.state };
  state.activity.doing = 'fetching';
  state.activity.visits += 1;
  if (target.what === 'page') queues.take(state.queue, target.entry);
  if (deliveryOf(target) === 'retry') noteRetry(state, now);
  if (target.what === 'robots') state.asking.set(target.hunt.origin, { ...target.hunt, by: 'us' });
  if (target.what === 'errand') state.errands.shift();
  const clearance = clearanceFor(state, target, now);
  const request = requestFor(state.props, target, permit, clearance, now);
  const { headers: requestHeaders, address } = request;
  const visit = { ...target, sinceWallMs: now.wallMs, address, requestHeaders, clearance };
  state.open.set(permit.number, { ...visit, phase: 'fetching' });
  return [state, [send(addresses.fetcher(permit.tier, permit.fetcher), { type: 'start', permit, request })]];
}

function requestFor(
  props: Props,
  target: Target,
  permit: Permit,
  clearance: Clearance | null,
  now: Instant,
): FetchRequest {
  const isPage = target.what === 'page';
  const { tier } = permit;
  const url = urlOf(target);
  return {
    url,
    tier,
    origin: new URL(url).origin,
    address: permit.address,
    headers: [
      ...(tier === 1 ? ourselves(props, isPage) : disguise(clearance)),
      ...(tier === 3 ? [] : conditionsFor(target, props, now)),
      ...cookiesFor(target, clearance, now),
    ],
    deadlineMs: tier === 3 ? props.browserMsMax : isPage ? props.requestMsMax : props.robotsMsMax,
    bodyBytesMax: isPage ? props.bodyBytesMax : ROBOTS_BYTES_MAX,
    headerBytesMax: props.headerBytesMax,
    cutAtBound: !isPage,
  };
}

function ourselves({ userAgent }: Props, isPage: boolean): readonly Header[] {
  return [
    ['user-agent', userAgent],
    ['accept', isPage ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : 'text/plain,*/*;q=0.5'],
    ['accept-encoding', 'gzip, deflate, br'],
  ];
}

/** A browser brings its own headers; what one was let in with is shown under that one's name alone. */
function disguise(clearance: Clearance | null): readonly Header[] {
  return clearance === null ? [] : [['user-agent', clearance.userAgent]];
}

/**
 * P6: a page at the end of redirects gets the cookies that they gave for it, and from the second tier on what a browser was
 * let in with; nothing else is ever sent with one.
 */
function cookiesFor(target: Target, clearance: Clearance | null, now: Instant): readonly Header[] {
  if (target.what !== 'page') return [];
  const { record } = target.entry;
  const shown = clearance === null ? null : clearanceCookies(clearance, record.url);
  const cookies = [chainCookieHeader(record, now.wallMs), shown].filter((it) => it !== null);
  return cookies.length === 0 ? [] : [['cookie', cookies.join('; ')]];
}

function conditionsFor(target: Target, props: Props, now: Instant): readonly Header[] {
  if (target.what === 'page') return conditionsOf(target.entry.record, props.archive, now.wallMs);
  const known = validatorsFor(target);
  return known === null ? [] : conditionsBy(known, now.wallMs);
}

export function closed(permit: PermitNumber): Effect {
  return send(addresses.workbench, { type: 'closed', visits: [permit] });
}

export function giveBack(permit: Permit): Effect {
  return send(addresses.workbench, { type: 'returned', permit: permit.number, host: permit.host });
}

/** The transport's judgement: what the host learns, at once. */
export function transported(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  result: FetchResult,
  now: Instant,
): Turn<State> {
  if (result.kind === 'failure' && result.code === 'interrupted') {
    abandon(state, permit, visit, now);
    return goOn(state, now, [closed(permit)]);
  }
  const hadValidators = isConditional(visit.requestHeaders);
  const tier = tierOf(visit);
  const rungs = { at: tier, tiers: state.props.ladder.tiers };
  const transport = judgeTransport(result, { hadValidators, nowWallMs: now.wallMs, rungs, url: urlOf(visit) });
  if (tier === 3) heedBrowser(state, result, now);
  // What a browser could reach says nothing of our own way.
  const reach = tier === 3 ? null : reachOf(result);
  if (reach === 'unreached') return suspect(state, permit, visit, result, transport, now);
  const network: NetworkWord | null = reach === null ? null : { reach, origin: originOf(urlOf(visit)) };
  const verdict: Verdict = { permit, closedForMs: learn(state, transport, result.durationMs, now) };
  const bodyIsRead =
    result.kind === 'response' &&
    (transport.next === 'parse' ||
      (transport.next === 'settled' && (state.props.archive || transport.code === 'not_modified')));
  if (bodyIsRead) {
    const isRobots = visit.what === 'robots';
    const read = giveToParser(state, permit, visit, result, transport, isRobots ? verdict.closedForMs : null, now);
    return goOn(state, now, [read], isRobots ? null : verdict, network);
  }
  return goOn(state, now, conclude(state, permit, visit, transport, result, now), verdict, network);
}

/** A page says that the service is well, so that what waited for it goes on; it has taken the host's share of its time. */
function heedBrowser(state: Live, result: FetchResult, now: Instant): void {
  if (result.kind === 'backend_failure') {
    if (state.backend.phase === 'well') state.backend = { phase: 'unknown' };
    return;
  }
  noteBrowserTime(state, result.durationMs, now);
  if (result.kind === 'response') state.backend = { phase: 'well' };
}

/** A request that ended without a body worth reading: what it means for what was asked for. */
export function conclude(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  transport: TransportJudgement,
  result: FetchResult,
  now: Instant,
): Effect[] {
  state.open.delete(permit);
  if (visit.what === 'page') return emitTransport(state, permit, visit, transport, result, now);
  if (transport.next === 'retry_fresh') {
    abandon(state, permit, visit, now);
    return [emit(state, { permit }, now)];
  }
  const found: RobotsFound =
    result.kind === 'response'
      ? {
          kind: 'answer',
          status: result.status,
          bytes: null,
          cut: false,
          redirect: null,
          retryAfterMs: transport.throttle?.retryAfterMs ?? null,
          validators: null,
        }
      : { kind: 'failure', code: result.code };
  return [emit(state, { permit }, now), ...foundOut(state, visit, found, now)];
}

/**
 * The gate hears the delay at once, and the store how long it took: a kill meanwhile must not shorten it (P9). Whether
 * it is the host's fault, and all else that follows, waits until that is known (B5).
 */
function suspect(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  result: FetchResult,
  transport: TransportJudgement,
  now: Instant,
): Turn<State> {
  state.open.set(permit, { ...visit, phase: 'suspected', result, transport });
  state.activity.doing = 'suspecting';
  const { snapshot } = state;
  state.snapshot = {
    ...snapshot,
    lastDurationMs: Math.round(result.durationMs),
    requests: snapshot.requests + 1,
  };
  const verdict: Verdict = { permit, closedForMs: delayMsOf(state) };
  const network: NetworkWord = { reach: 'unreached', about: { what: 'visit', permit } };
  return proceed(state, now, [emit(state, {}, now)], verdict, network);
}

/** What the answer says about the host: how long it is left alone from the end of this request on. */
export function learn(state: Live, transport: TransportJudgement, durationMs: number, now: Instant): number {
  const { snapshot } = state;
  const breaker =
    transport.breaker === 'success'
      ? breakers.succeeded(snapshot.breaker)
      : transport.breaker === 'failure'
        ? breakers.failed(snapshot.breaker, now.wallMs, now.draw(), state.props.breaker)
        : breakers.lost(snapshot.breaker, now.wallMs, now.draw(), state.props.breaker);
  let { throttle, closedUntilMs } = snapshot;
  let closedForMs = 0;
  if (transport.throttle !== null) {
    const pause = throttled(throttle, transport.throttle.retryAfterMs, now.draw());
    throttle = pause.state;
    closedForMs = pause.closedForMs;
    closedUntilMs = Math.ceil(now.wallMs + closedForMs);
    state.silentUntilMs = now.monotonicMs + closedForMs;
  } else if (transport.breaker === 'success') {
    throttle = eased(throttle);
    closedUntilMs = null;
    state.silentUntilMs = null;
  }
  state.snapshot = {
    ...snapshot,
    breaker,
    throttle,
    closedUntilMs,
    // How long the browser service took to fail says nothing of the host.
    lastDurationMs: transport.next === 'parked' ? snapshot.lastDurationMs : Math.ceil(durationMs),
    requests: snapshot.requests + 1,
  };
  const delayMs = delayMsOf(state);
  // A refusal that names no time asks for patience all the same.
  return Math.max(closedForMs, transport.pace === 'slower' ? 2 * delayMs : delayMs);
}

function giveToParser(
  state: Live,
  permit: PermitNumber,
  visit: OpenVisit,
  result: Extract<FetchResult, { kind: 'response' }>,
  transport: TransportJudgement,
  closedForMs: number | null,
  now: Instant,
): Effect {
  const { props } = state;
  const bytes = result.body.byteLength;
  const { status, statusText, httpVersion, rawHead, sentHead, remoteAddress, body, cut, rendered } = result;
  const headers = rendered === undefined ? result.headers : headersOfRendered(result.headers);
  const isForeign = rendered !== undefined && isElsewhere(urlOf(visit), rendered.finalUrl);
  state.open.set(permit, {
    ...visit,
    phase: 'reading',
    transport,
    durationMs: result.durationMs,
    bytes,
    cut: result.cut,
    closedForMs,
    remoteAddress,
    // What a server says of the version of its page is not said of what scripts made of it.
    validators: rendered === undefined ? validatorsOf(headers, now.wallMs) : { etag: null, lastModified: null },
    setCookies: transport.outcome === 'redirected' ? setCookiesOf(headers) : NO_COOKIES,
    ...(props.delivers === undefined ? {} : { headers }),
    ...(rendered === undefined ? {} : { rendered }),
  });
  return send(addresses.parser(permit % props.parserThreads), {
    type: 'read',
    host: props.name,
    permit,
    task: {
      url: urlOf(visit),
      want: visit.what === 'page' ? 'page' : 'robots',
      status,
      statusText,
      httpVersion,
      headers,
      requestHeaders: visit.requestHeaders,
      rawHead,
      sentHead,
      remoteAddress,
      body,
      cut,
      fetchedAtMs: Math.round(visit.sinceWallMs),
      decodedBytesMax: visit.what === 'page' ? props.decodedBytesMax : ROBOTS_DECODED_BYTES_MAX,
      linksMax: props.linksMax,
      links: props.links,
      robotsMeta: props.robotsMeta,
      challenge: props.challenge,
      // P6: nothing is kept under the URL of another host.
      archive: props.archive && !isForeign,
      metadata: props.archive && !isForeign && props.metadata ? foundBy(visit, result.durationMs) : null,
      ...(rendered === undefined ? {} : { finalUrl: rendered.finalUrl }),
      ...extrasFor(props, visit),
    },
  });
}

/** The body is what a browser made of the page: its coding and length are not those that the server spoke of. */
function headersOfRendered(headers: readonly Header[]): readonly Header[] {
  const kept = headers.filter(([name]) => !OF_THE_BODY.has(name.toLowerCase()));
  return [...kept, ['content-type', 'text/html; charset=utf-8']];
}

const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'etag',
  'last-modified',
]);

/** What only some crawls ask for. */
function extrasFor({ delivers }: Props, visit: OpenVisit): Pick<ParseTask, 'keep' | 'withoutPlugIns'> {
  if (visit.what !== 'page') return {};
  const last = visit.entry.record.attempts.at(-1);
  const endedThread = last?.outcome === 'failed' && last.code === 'plugin_failed';
  return {
    ...(delivers !== undefined && (delivers.text || delivers.body) ? { keep: delivers } : {}),
    ...(endedThread ? { withoutPlugIns: true } : {}),
  };
}

/** A robots.txt was found by nobody. */
function foundBy(visit: OpenVisit, durationMs: number): FoundBy | null {
  if (visit.what !== 'page') return null;
  const { via, hopPath } = visit.entry.record;
  return { via, hopPath, durationMs };
}

/** The parser is done with a body: a page becomes a part, a robots.txt an answer. */
export function read(
  state: Live,
  permit: PermitNumber,
  visit: ReadingVisit,
  result: ParseResult,
  now: Instant,
): Turn<State> {
  if (visit.what !== 'page' && result.kind === 'unparsed' && result.code === 'interrupted') {
    // It may hold a delay that is not known now: no verdict, so that the gate waits for the longest.
    abandon(state, permit, visit, now);
    return proceed(state, now, [closed(permit)], null);
  }
  state.open.delete(permit);
  if (visit.what === 'page')
    return proceed(state, now, [...faultOf(visit, result), ...emitContent(state, permit, visit, result, now)], null);
  const found = robotsFoundIn(visit, result);
  const part = emit(state, { permit, archive: archiveEntry(visit, result) }, now);
  const effects = [part, ...foundOut(state, visit, found, now)];
  const { closedForMs } = visit;
  const verdict = closedForMs === null ? null : { permit, closedForMs: Math.max(closedForMs, delayMsOf(state)) };
  return proceed(state, now, effects, verdict);
}

/** A plug-in's fault is its author's business, whatever becomes of the page. */
function faultOf(visit: ReadingVisit, result: ParseResult): Effect[] {
  const isDeath = result.kind === 'unparsed' && result.code === 'plugin_failed';
  const detail = result.kind === 'parsed' ? result.plugInFault : isDeath ? result.detail : undefined;
  return detail === undefined ? [] : [log('warn', 'plugin_failed', { url: urlOf(visit), detail })];
}

function robotsFoundIn(visit: Exclude<ReadingVisit, { what: 'page' }>, result: ParseResult): RobotsFound {
  if (result.kind === 'unparsed') return { kind: 'failure', code: result.code };
  const known = validatorsFor(visit);
  const url = urlOf(visit);
  if (visit.transport.code === 'not_modified' && known !== null)
    return { kind: 'unmodified', validators: { url, ...refreshed(known, visit.validators) } };
  return {
    kind: 'answer',
    status: visit.transport.status ?? 0,
    bytes: result.decoded,
    cut: visit.cut,
    redirect: result.redirect,
    retryAfterMs: null,
    validators: { url, ...visit.validators },
  };
}

/** Nothing came of it: as if it had not been begun. */
export function abandon(state: Live, permit: PermitNumber, visit: OpenVisit, now: Instant): void {
  state.open.delete(permit);
  sayNothing(state, now);
  if (visit.what === 'page') {
    queues.letGo(state.queue, visit.entry.at.sequence);
    queues.place(state.queue, visit.entry);
  }
  if (visit.what === 'robots') state.asking.delete(visit.hunt.origin);
  if (visit.what === 'errand') state.errands.unshift(visit.errand);
}

/** To the breaker: one more. */
export function countFailure(state: Live, now: Instant): void {
  const breaker = breakers.failed(state.snapshot.breaker, now.wallMs, now.draw(), state.props.breaker);
  state.snapshot = { ...state.snapshot, breaker };
}

/** To the breaker: a probe of it that ends so is lost. */
export function sayNothing(state: Live, now: Instant): void {
  const breaker = breakers.lost(state.snapshot.breaker, now.wallMs, now.draw(), state.props.breaker);
  state.snapshot = { ...state.snapshot, breaker };
}
