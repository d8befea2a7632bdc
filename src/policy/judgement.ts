/**
 * The table of judgement: what an answer, or its absence, means for the URL, its host and what happens next.
 *
 * It is asked twice a visit. The transport judgement needs only the status, the headers or the failure, and is what
 * the host's gate and breaker learn, at once. The content judgement comes when the body has been read, and is what the
 * record learns. Both are the table below and nothing else; the functions only find the row.
 *
 * - R1: a row costs a delivery exactly if it says so. What waits for the host or for us costs none.
 * - R2: nothing but 403 and a challenge or a script shell in a 2xx ever leads to another tier, and only where one is left.
 * - B1, B2: a failure of the browser service tells nothing of the host, and costs the URL nothing.
 * - L2: an outage, a throttle, a refusal by robots or by a bound moves no URL towards its tombstone.
 * - B3: 429, 503 and Retry-After tell the throttle, not the breaker.
 */

import type { FetchFailure, FetchResult, Header, Resolution } from '../domain/fetching.js';
import type { Code, OutcomeKind } from '../domain/outcome.js';
import type { ParseResult } from '../domain/parsing.js';
import type { UrlState } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import type { AdmissionCode } from './admission.js';
import { type Signal, stepUp } from './ladder.js';
import { isElsewhere } from './rendered.js';
import { retryAfterMsOf } from './throttle.js';

export type Next =
  /** The body goes to a parser; the content judgement decides. */
  | 'parse'
  /** R1: another delivery, later. */
  | 'retry'
  /** Another delivery, without validators; a second such answer in a row is final. */
  | 'retry_plain'
  /** R3: once more on a fresh connection, as soon as the host's gate allows. */
  | 'retry_fresh'
  /** Stays queued until the host may be asked again. */
  | 'host_waits'
  /** R2: once more, by the next tier. */
  | 'climb'
  /** No tier is left that could get it: another delivery, much later. */
  | 'retry_late'
  /** Parked until robots.txt can be read, or the browser service is well. */
  | 'parked'
  /** Waits until its host is granted more of the browser's time. */
  | 'rationed'
  /** The visit is over; its record is committed as it stands. */
  | 'settled';

/** A row of the table. */
interface Row {
  readonly outcome: OutcomeKind;
  readonly next: Next;
  /** Deliveries it uses (R1). */
  readonly delivery: 0 | 1;
  /** What the host's breaker is told. A probe that ends in `none` has told nothing: it is lost. */
  readonly breaker: 'success' | 'failure' | 'none';
  /** Whether the host is to be asked more slowly from now on. */
  readonly pace: 'same' | 'slower';
  /** The state it moves the URL to; null leaves its lifecycle as it is. */
  readonly urlState: UrlState | null;
}

// biome-ignore format: a table is read by its columns
const ROWS = {
  content:          row('fetched',           'parse',       0, 'success', 'same',   'active'),
  same_content:     row('unchanged',         'settled',     0, 'success', 'same',   'active'),
  unchanged:        row('unchanged',         'settled',     0, 'success', 'same',   'active'),
  unasked_304:      row('failed',            'retry_plain', 1, 'success', 'same',   null),
  redirect:         row('redirected',        'parse',       0, 'success', 'same',   'redirected'),
  endless_redirect: row('refused',           'settled',     0, 'success', 'same',   'refused'),
  not_found:        row('missing',           'settled',     0, 'success', 'same',   'soft_missing'),
  climb:            row('challenged',        'climb',       0, 'success', 'slower', null),
  challenged:       row('challenged',        'retry_late',  1, 'success', 'slower', null),
  forbidden:        row('refused',           'settled',     0, 'success', 'slower', 'refused'),
  client_error:     row('refused',           'settled',     0, 'success', 'same',   'refused'),
  gone:             row('gone',              'settled',     0, 'success', 'same',   'gone_candidate'),
  throttled:        row('throttled',         'host_waits',  0, 'none',    'slower', null),
  server_error:     row('failed',            'retry',       1, 'failure', 'same',   null),
  odd_status:       row('refused',           'settled',     0, 'success', 'same',   null),
  no_answer:        row('failed',            'retry',       1, 'failure', 'same',   null),
  broken_body:      row('failed',            'retry',       1, 'success', 'same',   null),
  stale_connection: row('failed',            'retry_fresh', 0, 'none',    'same',   null),
  beyond_bound:     row('refused',           'settled',     0, 'success', 'same',   null),
  too_slow:         row('refused',           'settled',     0, 'failure', 'same',   null),
  unreachable_by_us:row('refused',           'settled',     0, 'none',    'same',   null),
  crash:            row('failed',            'retry',       1, 'none',    'same',   null),
  interrupted:      row('failed',            'host_waits',  0, 'none',    'same',   null),
  egress_down:      row('failed',            'host_waits',  0, 'none',    'same',   null),
  robots_disallow:  row('blocked_by_robots', 'settled',     0, 'none',    'same',   'blocked_by_robots'),
  against_rules:    row('refused',           'settled',     0, 'none',    'same',   'refused'),
  robots_unknown:   row('parked',            'parked',      0, 'none',    'same',   'parked'),
  backend_failure:  row('parked',            'parked',      0, 'none',    'same',   'parked'),
  out_of_budget:    row('parked',            'rationed',    0, 'none',    'same',   null),
} satisfies Record<string, Row>;

type RowName = keyof typeof ROWS;

// biome-ignore format: a table is read by its columns
const ROW_OF_CODE = {
  connect_failed:     'no_answer',
  connection_reset:   'no_answer',
  timeout:            'no_answer',
  tls_failed:         'no_answer',
  protocol_error:     'no_answer',
  dns_not_found:      'no_answer',
  dns_failed:         'no_answer',
  not_strict_http:    'beyond_bound',
  truncated:          'broken_body',
  undecodable:        'broken_body',
  too_slow:           'too_slow',
  too_large:          'beyond_bound',
  header_overflow:    'beyond_bound',
  bomb:               'beyond_bound',
  unsupported_scheme: 'unreachable_by_us',
  guard_refused:      'unreachable_by_us',
  worker_crashed:     'crash',
  plugin_failed:      'crash',
  interrupted:        'interrupted',
  backend_failed:     'backend_failure',
  backend_timeout:    'backend_failure',
  backend_down:       'backend_failure',
  browser_budget:     'out_of_budget',
} as const satisfies Partial<Record<Code, RowName>>;

/** The name could not be turned into an address that may be asked. */
export interface ResolutionFailure {
  readonly kind: 'dns';
  readonly code: Extract<Resolution, { kind: 'failed' }>['code'] | 'guard_refused';
  readonly detail: string;
}

export interface VisitContext {
  /** The request carried If-None-Match or If-Modified-Since. */
  readonly hadValidators: boolean;
  /** Wall clock: Retry-After may be a date. */
  readonly nowWallMs: number;
  /** Absent: the plain tier is all there is. */
  readonly rungs?: Rungs;
  /** What was asked for: a browser may have come to another host. Absent: none was sent there. */
  readonly url?: string;
}

/** Where a visit stands on the ladder. */
export interface Rungs {
  readonly at: Tier;
  /** By which its host may be fetched. */
  readonly tiers: readonly Tier[];
}

interface Judged extends Row {
  readonly code: Code;
  /** HTTP status; null when none came. */
  readonly status: number | null;
  /** By which tier it is tried next; null where it does not climb. */
  readonly climbsTo: Tier | null;
}

export interface TransportJudgement extends Judged {
  /** Set if the host asked to be left alone; `retryAfterMs` is null where it named no time. */
  readonly throttle: { readonly retryAfterMs: number | null } | null;
}

/** What the host learns, from the answer's head or the want of it. */
export function judgeTransport(result: FetchResult | ResolutionFailure, context: VisitContext): TransportJudgement {
  switch (result.kind) {
    case 'dns':
      return judged(ROW_OF_CODE[result.code], result.code, null);
    case 'failure':
      return judgeFailure(result, context);
    case 'backend_failure':
      return judged(ROW_OF_CODE[result.code], result.code, null);
    case 'response': {
      const { status, headers, rendered } = result;
      const judgement = judgeStatus(status, headers, context);
      const isAway = rendered !== undefined && context.url !== undefined && isElsewhere(context.url, rendered.finalUrl);
      return judgement.next === 'parse' && isAway ? judged('redirect', 'redirect', status) : judgement;
    }
  }
}

/** What the record learns. The breaker has been told already, and is told nothing more. */
export interface ContentJudgement extends Omit<Judged, 'next' | 'breaker'> {
  readonly next: 'commit' | 'retry' | 'retry_late' | 'host_waits' | 'climb';
}

/**
 * What the record learns, once the body was read. `transport` is the same visit's, and says `parse`.
 * @param digestBefore of the content that was stored last; null: of none
 */
export function judgeContent(
  transport: TransportJudgement,
  parsed: ParseResult,
  digestBefore: string | null,
  rungs: Rungs = GROUND,
): ContentJudgement {
  const { status } = transport;
  if (parsed.kind === 'unparsed') {
    return concluded(ROWS[ROW_OF_CODE[parsed.code]], parsed.code, status);
  }
  const door = status !== null && status >= 200 && status <= 299 ? (parsed.page?.challenge ?? null) : null;
  if (door !== null) return judgeSignal(door.kind, status, rungs) ?? concluded(ROWS.challenged, door.kind, status);
  if (parsed.redirect !== null) return concluded(ROWS.redirect, 'redirect', status);
  if (transport.outcome === 'redirected') return concluded(ROWS.beyond_bound, 'redirect_without_target', status);
  if (transport.outcome === 'fetched' && parsed.contentDigest === digestBefore)
    return concluded(ROWS.same_content, 'same_content', status);
  // The content is here, whatever a plug-in made of it.
  const isPlugInAtFault = transport.code === 'ok' && parsed.plugInFault !== undefined;
  return concluded(transport, isPlugInAtFault ? 'plugin_failed' : transport.code, status);
}

const GROUND: Rungs = { at: 1, tiers: [1] };

/** R2. Null where no tier is left that it leads to. */
function judgeSignal(signal: Signal, status: number | null, { at, tiers }: Rungs): ContentJudgement | null {
  const climbsTo = stepUp(signal, at, tiers);
  return climbsTo === null ? null : { ...concluded(ROWS.climb, signal, status), climbsTo };
}

/** The browser service is given a rest, or the host has had all of it that it is granted. */
export function judgeWait(code: Extract<Code, 'backend_down' | 'browser_budget'>): TransportJudgement {
  return judged(ROW_OF_CODE[code], code, null);
}

/** A redirect that leads nowhere within its chain (P6). */
export function judgeChain(
  { status }: Pick<ContentJudgement, 'status'>,
  code: Extract<Code, 'redirect_limit' | 'redirect_loop'>,
): ContentJudgement {
  return concluded(ROWS.endless_redirect, code, status);
}

/** Why a URL wasn't asked for at all: the rules in force say no, or can't be known (P4, P5). */
export function judgeRobots(verdict: 'disallowed' | 'unreadable'): TransportJudgement {
  return verdict === 'disallowed'
    ? judged('robots_disallow', 'robots_disallowed', null)
    : judged('robots_unknown', 'robots_unreadable', null);
}

/** Why a URL that was queued isn't asked for: the rules of the crawl no longer let it in. */
export function judgeRules(code: AdmissionCode): TransportJudgement {
  return judged('against_rules', code, null);
}

/** What came of the visit can't be kept, as it crashes whoever handles it. */
export function judgeCrash(): TransportJudgement {
  return judged('crash', 'worker_crashed', null);
}

/** It was not the host's fault that it was not reached (B5): the visit ends as if it had not been begun. */
export function judgeEgress(): TransportJudgement {
  return judged('egress_down', 'egress_down', null);
}

/**
 * The state of a URL after a judgement that ends its visit. A judgement that leaves the lifecycle alone leaves a known
 * page as it was; a URL of which nothing is known yet, and that won't be asked again soon, is refused.
 */
export function stateAfter(before: UrlState, judgement: { readonly urlState: UrlState | null }): UrlState {
  if (judgement.urlState !== null) return judgement.urlState;
  return before === 'queued' || before === 'waiting' || before === 'parked' ? 'refused' : before;
}

function judgeFailure(failure: FetchFailure, context: VisitContext): TransportJudgement {
  const { code, status, headers = [], reusedConnection } = failure;
  if (code === 'interrupted' || code === 'worker_crashed') return judged(ROW_OF_CODE[code], code, status);
  // A refusal whose body broke is still the refusal: the host has said what it had to say.
  if (status === 429 || (status !== null && status >= 500 && status <= 599))
    return judgeStatus(status, headers, context);
  if (reusedConnection && (code === 'connection_reset' || code === 'connect_failed'))
    return judged('stale_connection', code, status);
  return judged(ROW_OF_CODE[code], code, status);
}

function judgeStatus(status: number, headers: readonly Header[], context: VisitContext): TransportJudgement {
  if (status === 429 || (status >= 500 && status <= 599)) return judgeRefusalForNow(status, headers, context);
  if (status >= 200 && status <= 299 && status !== 206) return judged('content', 'ok', status);
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return judged('redirect', 'redirect', status);
    case 304:
      return context.hadValidators
        ? judged('unchanged', 'not_modified', status)
        : judged('unasked_304', 'unmodified_without_validators', status);
    case 403:
      return judgeForbidden(status, context.rungs ?? GROUND);
    case 404:
      return judged('not_found', 'http_not_found', status);
    case 410:
      return judged('gone', 'http_gone', status);
  }
  if (status >= 400 && status <= 499) return judged('client_error', 'http_client_error', status);
  return judged('odd_status', 'http_unexpected_status', status);
}

function judgeForbidden(status: number, { at, tiers }: Rungs): TransportJudgement {
  const climbsTo = stepUp('http_forbidden', at, tiers);
  if (climbsTo === null) return judged('forbidden', 'http_forbidden', status);
  return { ...judged('climb', 'http_forbidden', status), climbsTo };
}

/** 429 and 5xx: a throttle if the status says so or the server named a time, else a fault. */
function judgeRefusalForNow(status: number, headers: readonly Header[], context: VisitContext): TransportJudgement {
  const retryAfter = valuesOf(headers, 'retry-after').join(',');
  const [date = null] = valuesOf(headers, 'date');
  const retryAfterMs = retryAfterMsOf(retryAfter, date, context.nowWallMs);
  if (status !== 429 && status !== 503 && retryAfterMs === null)
    return judged('server_error', 'http_server_error', status);
  return { ...judged('throttled', 'http_throttled', status), throttle: { retryAfterMs } };
}

function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.flatMap(([spelled, value]) => (spelled.toLowerCase() === name ? [value] : []));
}

function judged(name: RowName, code: Code, status: number | null): TransportJudgement {
  return { ...ROWS[name], code, status, climbsTo: null, throttle: null };
}

function concluded(row: Row, code: Code, status: number | null): ContentJudgement {
  const { outcome, delivery, pace, urlState } = row;
  return { outcome, next: AFTER_READING[row.next], delivery, pace, urlState, code, status, climbsTo: null };
}

/** What is over once the body was read, and what is not. */
const AFTER_READING: Readonly<Record<Next, ContentJudgement['next']>> = {
  parse: 'commit',
  settled: 'commit',
  retry: 'retry',
  retry_late: 'retry_late',
  retry_plain: 'commit',
  retry_fresh: 'commit',
  host_waits: 'host_waits',
  climb: 'climb',
  parked: 'commit',
  rationed: 'commit',
};

function row(
  outcome: OutcomeKind,
  next: Next,
  delivery: 0 | 1,
  breaker: Row['breaker'],
  pace: Row['pace'],
  urlState: UrlState | null,
): Row {
  return { outcome, next, delivery, breaker, pace, urlState };
}
