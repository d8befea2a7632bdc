/**
 * From facts to the answer: pure, total, and one story.
 *
 * The verdict and the next step come from the same phase (`situationOf`), so that they agree; all other topics only
 * tell facts. Any facts have an answer: what is missing, out of range or absurd makes a sentence less, never an error.
 *
 * Invariants: `next.at` is never in the past; `explanation` is `story`, sentence by sentence; a sentence has no line
 * end and ends with a mark or with what a site wrote.
 */
import { withoutCredentials } from '../domain/credentials.js';
import { CODES } from '../domain/outcome.js';
import type { Attempt, Code } from '../domain/outcome.js';
import type { UrlRecord } from '../domain/record.js';
import { hopsOf, REDIRECTS_MAX, timesAt } from '../policy/redirect-chain.js';
import type { NextAction, Paragraph, Topic, WhyAnswer } from './answer.js';
import { CODE_WORDS } from './codes.js';
import type { WhyFacts } from './facts.js';
import { budgetWaitOf, hostOpensAtMs, type Situation, situationOf } from './situation.js';
import { iso, moment, span } from './times.js';
import * as topics from './topics.js';

export function explain(facts: WhyFacts): WhyAnswer {
  const situation = situationOf(facts);
  const next = nextOf(facts, situation);
  const element = facts.record?.element ?? null;
  const isAhead = HAS_A_FUTURE.has(situation.is);
  const told: readonly (readonly [Topic, readonly string[]])[] = [
    ['verdict', verdict(facts, situation)],
    ['spelling', topics.spelling(facts)],
    ['found', topics.found(facts, element)],
    ['rules', topics.rules(facts)],
    ['robots', topics.robots(facts)],
    ['visits', topics.visits(facts)],
    ['queue', isAhead ? [...topics.queue(facts), ...topics.chain(facts)] : []],
    ['host', isAhead ? topics.host(facts) : []],
    ['next', [nextWords(facts, next), ...goOnAdvice(facts, next), ...adviceOf(situation, facts)]],
  ];
  const story: Paragraph[] = told
    .filter(([, sentences]) => sentences.length > 0)
    .map(([topic, sentences]) => ({ topic, sentences }));
  return {
    ...fieldsOf(facts),
    next: { action: next.action, at: iso(next.atMs), reason: next.reason },
    explanation: story.flatMap(({ sentences }) => sentences),
    story,
  };
}

/** When its host is asked next matters to those that are to be asked for. */
const HAS_A_FUTURE: ReadonlySet<Situation['is']> = new Set(['in_flight', 'queued', 'waiting', 'parked', 'dead']);

// -- the verdict ------------------------------------------------------------------------------------------------

function verdict(facts: WhyFacts, situation: Situation): string[] {
  const { nowMs, spelling, target } = facts;
  switch (situation.is) {
    case 'no_url':
      return [`No crawl could fetch this: ${CODE_WORDS[situation.refusal].said} [${situation.refusal}].`];
    case 'unseen':
      return unseen(situation);
    case 'in_flight':
      return [`A request for it is under way, begun ${moment(situation.sinceMs, nowMs)}.`];
    case 'queued':
      return [queued(situation.record, nowMs), ...topics.nextTierWords(situation.record), ...hostWaits(facts)];
    case 'waiting':
      return [waits(facts, situation), ...waitsForBudget(facts, situation), ...topics.nextTierWords(situation.record)];
    case 'parked':
      if (situation.for === 'browser') return [parkedForBrowser(situation.record, nowMs)];
      return [
        'It waits for its robots.txt, which can not be read: until its rules are known, no page of its origin is asked for.',
      ];
    case 'dead':
      return givenUp(situation, nowMs);
    case 'blocked':
      return [`It is not asked for: ${spelling.ok ? `${spelling.origin}/robots.txt` : 'robots.txt'} disallows it.`];
    case 'settled':
      return settled(situation.record, situation.last, target, nowMs);
  }
}

/** B2: it costs nothing, and everything else goes on. */
function parkedForBrowser({ attempts }: UrlRecord, nowMs: number): string {
  const last = attempts.at(-1);
  const because = last === undefined ? '' : `: ${moment(last.atMs, nowMs)}, ${topics.saidOf(last)}`;
  return `It needs a browser, and waits for the browser service${because}. That costs no delivery.`;
}

function unseen({ refusal, disallowed }: Extract<Situation, { is: 'unseen' }>): string[] {
  if (refusal !== null) {
    return [`The crawl does not take this URL: ${CODE_WORDS[refusal.code].said} [${refusal.code}].`, NO_RECORD];
  }
  if (disallowed) return ['The crawl has never met this URL, and robots.txt disallows it.'];
  return ['The crawl has never met this URL: it was not given as a seed, and no page fetched so far leads to it.'];
}

const NO_RECORD = 'What is refused by a rule of the crawl leaves no record, so how often it was met is not known.';

function queued(record: UrlRecord, nowMs: number): string {
  const last = record.attempts.at(-1);
  if (last === undefined) return 'It is queued: found, let in, and not asked for yet.';
  return `It is queued: when it was last looked at, ${moment(last.atMs, nowMs)}, ${topics.saidOf(last)}.`;
}

function hostWaits(facts: WhyFacts): string[] {
  const opensAtMs = hostOpensAtMs(facts);
  return opensAtMs === null ? [] : [`Its host may be asked again ${moment(opensAtMs, facts.nowMs)}.`];
}

function waits({ nowMs, terms }: WhyFacts, { record, dueAtMs }: Extract<Situation, { is: 'waiting' }>): string {
  const last = record.attempts.at(-1);
  const cause = last === undefined ? 'it failed' : withStatus(last);
  const due =
    dueAtMs === null ? 'It falls due later' : dueAtMs > nowMs ? `It falls due ${moment(dueAtMs, nowMs)}` : 'It is due';
  const delivery = terms === null ? '' : `, as delivery ${record.deliveries + 1} of ${terms.deliveriesMax}`;
  return `It waits for another try: ${cause}. ${due}${delivery}.`;
}

function waitsForBudget(facts: WhyFacts, { record, dueAtMs }: Extract<Situation, { is: 'waiting' }>): string[] {
  const wait = budgetWaitOf(facts, record, dueAtMs);
  if (wait === null) return [];
  const until = `until about ${moment(wait.untilMs, facts.nowMs)}`;
  const whose = wait.of === 'host' ? 'its host has used up its budget of retries' : 'all hosts together have';
  return [`Beyond its due time it waits ${until}, as ${whose}; that costs no delivery.`];
}

function givenUp({ letter, record }: Extract<Situation, { is: 'dead' }>, nowMs: number): string[] {
  const kept = 'It is a dead letter: kept with its cause, and not asked for any more.';
  if (letter === null) return ['It was given up.', kept];
  const { code, cause, deliveries, lastAtMs } = letter;
  const last = letter.attempts.at(-1) ?? record.attempts.at(-1);
  const said = last === undefined ? CODE_WORDS[code].said : withStatus(last);
  const isCrash = code === 'process_died' || code === 'worker_crashed';
  const because = isCrash ? topics.shown(cause) : `${topics.counted(deliveries, 'delivery', 'deliveries')}: ${said}`;
  return [`It was given up ${moment(lastAtMs, nowMs)} after ${because}.`, kept];
}

function settled(record: UrlRecord, last: Attempt | null, target: WhyFacts['target'], nowMs: number): string[] {
  if (last === null) return [`Its visit is over, and its state is ${record.state.replaceAll('_', ' ')}.`];
  const when = moment(last.atMs, nowMs);
  switch (last.outcome) {
    case 'fetched':
      return [`It was fetched ${when}: HTTP ${last.status ?? 'without a status'}, in ${span(last.durationMs)}.`];
    case 'unchanged':
      return [`It was asked for ${when} and has not changed since it was fetched (HTTP ${last.status}).`];
    case 'redirected': {
      const to = last.detail === undefined ? 'to another URL' : `to ${topics.shown(last.detail)}`;
      const fate =
        target === null ? [] : [`That is a URL of its own, and it is known: ${topics.STATE_WORDS[target.state]}.`];
      return [`It redirects ${to}, as was seen ${when}.`, ...fate];
    }
    default:
      return [`It was ${OUTCOME_WORDS[last.outcome]} ${when}: ${withStatus(last)}.`];
  }
}

function withStatus(attempt: Attempt): string {
  const { status, outcome, detail } = attempt;
  return `${topics.saidOf(attempt)}${status === null ? '' : ` (HTTP ${status})`}${topics.detailWords(outcome, detail)}`;
}

const OUTCOME_WORDS: Readonly<Record<Exclude<Attempt['outcome'], 'fetched' | 'unchanged' | 'redirected'>, string>> = {
  missing: 'not there',
  gone: 'gone',
  refused: 'refused',
  challenged: 'met by something else in its place',
  throttled: 'put off',
  failed: 'tried in vain',
  blocked_by_robots: 'disallowed',
  parked: 'set aside',
  dead: 'given up',
};

// -- what happens next ------------------------------------------------------------------------------------------

interface Next {
  readonly action: NextAction;
  readonly atMs: number | null;
  readonly reason: string;
}

function nextOf(facts: WhyFacts, situation: Situation): Next {
  switch (situation.is) {
    case 'no_url':
      return { action: 'none', atMs: null, reason: 'it is no URL that could be fetched' };
    case 'unseen':
      return nextOfUnseen(situation);
    case 'in_flight':
      return { action: 'in_flight', atMs: facts.nowMs, reason: 'its outcome is recorded when the request has ended' };
    case 'queued':
      return whenItsTurnComes(facts);
    case 'waiting':
      return {
        action: 'retry',
        ...ahead(facts, dueWithBudgetMs(facts, situation)),
        reason: reasonToWait(facts, 'its wait is over then'),
      };
    case 'parked': {
      if (situation.for === 'browser') {
        const reason = reasonToWait(facts, 'one page at a time finds out whether the service is well');
        return { action: 'await_browser', ...ahead(facts, situation.untilMs), reason };
      }
      const reason = reasonToWait(facts, 'robots.txt is asked for then');
      return { action: 'await_robots', ...ahead(facts, situation.untilMs), reason };
    }
    case 'dead':
      return { action: 'none', atMs: null, reason: 'its deliveries are used up' };
    case 'blocked':
      return { action: 'none', atMs: null, reason: 'robots.txt disallows it' };
    case 'settled':
      return { action: 'none', atMs: null, reason: 'its visit is over' };
  }
}

function dueWithBudgetMs(facts: WhyFacts, { record, dueAtMs }: Extract<Situation, { is: 'waiting' }>): number | null {
  return budgetWaitOf(facts, record, dueAtMs)?.untilMs ?? dueAtMs;
}

function nextOfUnseen({ refusal, disallowed }: Extract<Situation, { is: 'unseen' }>): Next {
  if (refusal !== null) {
    return { action: 'would_be_refused', atMs: null, reason: CODE_WORDS[refusal.code].said };
  }
  if (disallowed) return { action: 'would_be_refused', atMs: null, reason: 'robots.txt disallows it' };
  return { action: 'would_be_queued', atMs: null, reason: 'nothing that is known speaks against it' };
}

function whenItsTurnComes(facts: WhyFacts): Next {
  const before = facts.standing?.before ?? 0;
  const others = `${topics.counted(before, 'URL of its host comes', 'URLs of its host come')} before it`;
  const turn = before === 0 ? 'it is the first of its host' : others;
  const opensAtMs = hostOpensAtMs(facts) ?? facts.nowMs;
  const earliestMs = opensAtMs + before * (topics.delayMsOf(facts) ?? 0);
  // How long the request that is under way takes nobody knows.
  const isBusy = facts.live !== null && facts.live.hostBusyWith !== null;
  return { action: 'fetch', ...ahead(facts, isBusy ? null : earliestMs), reason: reasonToWait(facts, turn) };
}

/** What stands in the way of everything comes first. */
function reasonToWait(facts: WhyFacts, reason: string): string {
  return obstacleTo(facts) ?? reason;
}

function obstacleTo({ live }: WhyFacts): string | null {
  if (live === null) return 'no crawl is running on this data directory';
  if (live.paused) return 'the crawl is paused';
  return live.held === null ? null : `nothing is asked for at the moment: ${topics.shown(live.held)}`;
}

/** Nothing is due while nothing runs; and what was due before is due now. */
function ahead(facts: WhyFacts, atMs: number | null): { readonly atMs: number | null } {
  return { atMs: atMs === null || obstacleTo(facts) !== null ? null : Math.max(facts.nowMs, atMs) };
}

function nextWords(facts: WhyFacts, { action, atMs, reason }: Next): string {
  const when = atMs === null ? null : `${moment(atMs, facts.nowMs)} at the earliest`;
  const isHeld = obstacleTo(facts) !== null;
  const because = isHeld ? `, but ${reason}` : `: ${reason}`;
  switch (action) {
    case 'none':
      return `Nothing more happens by itself: ${reason}.`;
    case 'in_flight':
      return `${topics.capital(reason)}.`;
    case 'fetch':
      return `It is asked for ${when ?? 'when its turn has come'}${because}.`;
    case 'retry':
      return `It is asked for again ${when ?? 'when its wait is over'}${because}.`;
    case 'await_robots':
      return `Its robots.txt is asked for again ${when ?? 'when its time has come'}${because}.`;
    case 'await_browser':
      return `A browser is asked for it again ${when ?? 'when the turn of its host has come'}${because}.`;
    case 'would_be_queued':
      return 'Found on a page or given as a seed, it would be queued.';
    case 'would_be_refused':
      return `Found on a page, it would be refused: ${reason}.`;
  }
}

/** What the crawl does by itself is told by the next step; this is what is left for people. */
function adviceOf(situation: Situation, { rules }: WhyFacts): string[] {
  switch (situation.is) {
    case 'no_url':
      return adviceFor({ code: situation.refusal });
    case 'unseen':
      return situation.refusal === null ? [] : adviceFor(situation.refusal);
    case 'blocked':
      return adviceFor({ code: 'robots_disallowed' });
    case 'parked':
      if (situation.for === 'browser') return adviceFor(situation.record.attempts.at(-1));
      return adviceFor({ code: 'robots_unreadable' });
    case 'dead':
      return [...adviceFor(situation.record.attempts.at(-1)), AGAIN_ADVICE];
    case 'settled': {
      const code = situation.last?.code;
      const isTakenBack = rules !== null && rules.refusal === null && code !== undefined && BY_RULE.has(code);
      return isTakenBack ? [TAKEN_BACK_ADVICE] : adviceFor(situation.last ?? undefined);
    }
    case 'queued':
    case 'waiting':
      return adviceFor(situation.record.attempts.at(-1));
    case 'in_flight':
      return [];
  }
}

/** What only waits for a crawl to run needs no more than that. */
function goOnAdvice({ live }: WhyFacts, { action }: Next): string[] {
  const waits = ['fetch', 'retry', 'await_robots', 'await_browser'].includes(action);
  return live === null && waits ? ['The command that began it goes on where it stopped.'] : [];
}

/** Codes of the crawl's own rules, which an operator may change. */
const BY_RULE: ReadonlySet<Code> = new Set([
  'out_of_scope',
  'too_deep',
  'excluded',
  'not_included',
  'trap_url_length',
  'trap_path_depth',
  'trap_repeated_segments',
]);
const TAKEN_BACK_ADVICE =
  'The rule that refused it no longer stands. It does not come back by itself: give it as a seed, with `seed --again`.';
const AGAIN_ADVICE = 'When the cause is gone, `orbweaver redrive` asks for it once more.';

function adviceFor(attempt: Pick<Attempt, 'code' | 'detail'> | undefined): string[] {
  if (attempt === undefined) return [];
  if (attempt.code === 'guard_refused' && attempt.detail !== undefined) return guardAdvice(attempt.detail);
  const { advice } = CODE_WORDS[attempt.code];
  return advice === null ? [] : [advice];
}

/** The address is the first word of what the guard said. */
function guardAdvice(detail: string): string[] {
  const address = /^[0-9a-fA-F.:]+(?= )/.exec(detail)?.[0];
  if (address === undefined) return adviceFor({ code: 'guard_refused' });
  if (detail.includes('embeds an IPv4')) return ['Nothing can be done: such an address is never reached.'];
  const network = `${address}/${address.includes(':') ? 128 : 32}`;
  return [
    `If that address is meant, allow it with --set guard.allow='["${network}"]' and give the URL as a seed again.`,
  ];
}

// -- the fields -------------------------------------------------------------------------------------------------

function fieldsOf(facts: WhyFacts): Omit<WhyAnswer, 'next' | 'explanation' | 'story'> {
  const { spelling, record, rules, standing } = facts;
  return {
    url: withoutCredentials(facts.asked),
    canonical: spelling.ok ? spelling.url : null,
    refusal: spelling.ok ? null : `${CODES[spelling.refusal]} [${spelling.refusal}]`,
    state: record?.state ?? null,
    via: record?.via ?? null,
    hops: facts.hops.map(({ url, element }) => ({ url, element })).reverse(),
    hopPath: record?.hopPath ?? null,
    depth: record?.depth ?? null,
    discoveredAt: iso(record?.discoveredAtMs ?? null),
    host: hostFields(facts),
    robots: robotsFields(facts),
    scope:
      rules === null
        ? null
        : { kind: rules.scope.kind, inScope: rules.inScope, refusedBy: rules.refusal?.code ?? null },
    trap: rules?.refusal?.code.startsWith('trap_') ? rules.refusal : null,
    chain: chainFields(record),
    position: standing === null || record === null ? null : { queue: record.state, before: standing.before },
    visits: (record?.attempts ?? []).map(({ atMs, detail = null, outcome, code, status, tier, durationMs }) => ({
      at: iso(atMs),
      outcome,
      code,
      status,
      tier,
      durationMs,
      detail,
    })),
  };
}

function hostFields(facts: WhyFacts): WhyAnswer['host'] {
  const { spelling, host } = facts;
  if (!spelling.ok) return null;
  const { ready = [], waiting = 0, parked = 0 } = host?.queue ?? {};
  return {
    name: spelling.host,
    nextAllowedAt: iso(hostOpensAtMs(facts)),
    delayMs: topics.delayMsOf(facts),
    breaker: host?.snapshot.breaker.phase ?? 'closed',
    queued: ready.reduce((sum, count) => sum + count, 0) + waiting + parked,
  };
}

function chainFields(record: UrlRecord | null): WhyAnswer['chain'] {
  if (record === null || record.chain === null) return null;
  const { chain } = record;
  const cookies = chain.cookies?.map(({ name }) => topics.shown(name)) ?? null;
  return { hops: hopsOf(chain), hopsMax: REDIRECTS_MAX, times: timesAt(record), cookies };
}

/** By the copy that is known now; else what was kept with the URL when it was decided. */
function robotsFields({ spelling, robots, record }: WhyFacts): WhyAnswer['robots'] {
  const source = spelling.ok ? `${spelling.origin}/robots.txt` : null;
  const state = robots?.state;
  const copy = state?.phase === 'fresh' ? state : state?.phase === 'unreachable' ? state.lastGood : null;
  if (copy !== null && robots !== null) {
    const { allowed = null, rule = null } = robots.decision ?? {};
    return { allowed, rule, fetchedAt: iso(copy.fetchedAtMs), source, status: copy.status };
  }
  const evidence = record?.robots ?? null;
  if (evidence === null) return { allowed: null, rule: null, fetchedAt: null, source, status: null };
  const { rule, fetchedAtMs, status } = evidence;
  const allowed = record?.state !== 'blocked_by_robots';
  return { allowed, rule, fetchedAt: iso(fetchedAtMs), source, status };
}
