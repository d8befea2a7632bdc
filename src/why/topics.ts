/**
 * The topics of an explanation, a function each: facts in, plain sentences out. None when there is nothing to tell.
 *
 * They are written for somebody who runs a crawl and has not read its code: what is said of a rule names the rule, what
 * is said of a time says how long ago, and what could be done says how.
 */
import type { UrlRecord } from '../domain/record.js';
import type { Attempt } from '../domain/outcome.js';
import type { UrlState } from '../domain/record.js';
import { CANONICAL_RULES } from '../policy/canonical-steps.js';
import { delayAfter } from '../policy/delay.js';
import { hopsOf, REDIRECTS_MAX, timesAt } from '../policy/redirect-chain.js';
import { pages, ROBOTS_TTL_MS, type RobotsCopy, type RobotsFailure } from '../policy/robots/freshness.js';
import { ROBOTS_BYTES_MAX, type RobotsRemark } from '../policy/robots/rules.js';
import { RETRY_AFTER_MS_MAX } from '../policy/throttle.js';
import { CODE_WORDS } from './codes.js';
import type { Hop, RuleFacts, WhyFacts } from './facts.js';
import { hostOpensAtMs } from './situation.js';
import { moment, span } from './times.js';

// -- spelling ---------------------------------------------------------------------------------------------------

export function spelling({ asked, spelling, neighbours }: WhyFacts): string[] {
  if (!spelling.ok) return [];
  const sentences: string[] = [];
  if (spelling.url !== asked) {
    sentences.push(`The crawl knows ${shown(asked)} as ${shown(spelling.url)}, its canonical form.`);
    for (const { rule, after } of spelling.steps) {
      sentences.push(`Rule ${rule}: ${CANONICAL_RULES[rule] ?? rule}; that makes it ${shown(after)}.`);
    }
  }
  for (const { url, state } of neighbours) {
    sentences.push(
      `A spelling close by is another URL, which the crawl does know: ${shown(url)} (${STATE_WORDS[state]}).`,
    );
  }
  return sentences;
}

export const STATE_WORDS: Readonly<Record<UrlState, string>> = {
  queued: 'queued',
  waiting: 'waiting for another try',
  parked: 'waiting for its robots.txt',
  active: 'fetched',
  redirected: 'redirects elsewhere',
  soft_missing: 'not found by its server',
  gone_candidate: 'gone',
  refused: 'refused',
  blocked_by_robots: 'disallowed by robots.txt',
  dead: 'given up',
};

// -- found ------------------------------------------------------------------------------------------------------

export function found({ record, hops, reachesSeed, nowMs }: WhyFacts, element: string | null): string[] {
  if (record === null) return [];
  const when = moment(record.discoveredAtMs, nowMs);
  if (record.source === 'seed') return [`It is a seed: it was given to the crawl ${when}.`];
  const by = carrier({ source: record.source, element });
  const first = `It was found ${when} by ${by} on ${shown(record.via ?? 'a page that is not known')}.`;
  const way = hops
    .slice(0, -1)
    .map((hop, index) => `${shown(hop.url)} was found by ${carrier(hop)} on ${shown(urlAt(hops, index + 1))}`);
  const sentences = [first];
  if (way.length > 0) sentences.push(`${way.join('; ')}.`);
  const seed = hops.at(-1);
  if (reachesSeed && seed !== undefined) {
    sentences.push(`${shown(seed.url)} is a seed; from there it is ${countedHops(record.hopPath)}.`);
  } else sentences.push('The rest of the way back to the seed is not known.');
  return sentences;
}

function urlAt(hops: readonly Hop[], index: number): string {
  return hops[index]?.url ?? '';
}

/** `LLR`: two links and a redirect. */
function countedHops(hopPath: string): string {
  const redirects = hopPath.replaceAll('L', '').length;
  const links = hopPath.length - redirects;
  const parts = [
    ...(links > 0 || redirects === 0 ? [counted(links, 'link', 'links')] : []),
    ...(redirects > 0 ? [counted(redirects, 'redirect', 'redirects')] : []),
  ];
  return `${parts.join(' and ')} away`;
}

function carrier({ source, element }: Pick<Hop, 'source' | 'element'>): string {
  if (source === 'redirect') return 'a redirect';
  if (element === null) return 'a link';
  return ELEMENT_WORDS[element] ?? `a link (${element})`;
}

const ELEMENT_WORDS: Readonly<Record<string, string>> = {
  a: 'a link (a)',
  area: 'a link in an image map (area)',
  link: 'a link in the head (link)',
  iframe: 'a frame (iframe)',
  frame: 'a frame (frame)',
  img: 'an image (img)',
  source: 'an image or media source (source)',
  meta: 'a meta refresh',
  header: 'a Link header',
  form: 'a form',
  location: 'a redirect',
};

// -- rules of the crawl -----------------------------------------------------------------------------------------

export function rules({ rules, spelling }: WhyFacts): string[] {
  if (rules === null || !spelling.ok) return [];
  const { refusal } = rules;
  const sentences = [scopeWords(rules, spelling.host)];
  if (refusal !== null && refusal.code !== 'out_of_scope') {
    sentences.push(refusalWords(refusal));
  }
  if (refusal === null) sentences.push('No rule of the crawl refuses it.');
  return sentences;
}

/** What a pattern says needs words; what passed a bound has them. */
function refusalWords({ code, detail }: NonNullable<RuleFacts['refusal']>): string {
  const isPattern = code === 'excluded' || code === 'not_included';
  return isPattern
    ? `${capital(CODE_WORDS[code].said)}: ${shown(detail)} [${code}].`
    : `Refused by a bound: ${shown(detail)} [${code}].`;
}

function scopeWords({ scope, inScope, judgedBy }: RuleFacts, host: string): string {
  if (scope.kind === 'any') return 'Scope: the crawl may go to any host.';
  const [one, many] = scope.kind === 'host' ? ['host', 'hosts'] : ['site', 'sites'];
  const judged = judgedBy === host ? host : `${host} belongs to the site ${judgedBy}, which`;
  if (!inScope && scope.names.length === 1)
    return `Scope: the crawl keeps to the ${one} ${scope.names[0]}; ${judged} is another.`;
  if (!inScope) return `Scope: the crawl keeps to the ${many} ${listed(scope.names)}; ${judged} is none of them.`;
  const kept = scope.names.length === 1 ? `the one ${one}` : `one of the ${scope.names.length} ${many}`;
  return `Scope: ${judged} is ${kept} that the crawl keeps to.`;
}

const NAMES_SHOWN_MAX = 5;

function listed(names: readonly string[]): string {
  if (names.length === 0) return '(none)';
  const some = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  return names.length > NAMES_SHOWN_MAX ? `${some} and ${names.length - NAMES_SHOWN_MAX} more` : some;
}

// -- robots.txt -------------------------------------------------------------------------------------------------

export function robots(facts: WhyFacts): string[] {
  const { spelling, robots, record, nowMs } = facts;
  if (!spelling.ok || robots === null) return [];
  const file = `${spelling.origin}/robots.txt`;
  const { state, decision } = robots;
  const evidence = record?.robots ?? null;
  switch (state.phase) {
    case 'unknown': {
      if (evidence === null) return [`${file} has not been read; it is asked for before any page of its origin.`];
      const { rule, fetchedAtMs, copy } = evidence;
      const read = copy === 'last_good' ? 'the last good copy' : 'the copy';
      const decided = rule === null ? 'no line decided.' : `line ${rule.line} decided: ${shown(rule.text)}`;
      return [`By ${read} of ${file} that was read ${moment(fetchedAtMs, nowMs)}, ${decided}`];
    }
    case 'fresh':
      return [
        `${file} was read ${moment(state.fetchedAtMs, nowMs)}: ${statusWords(state)}.`,
        ...decided(state, decision),
        heldUntil(state.fetchedAtMs + ROBOTS_TTL_MS, nowMs),
      ];
    case 'unreachable': {
      const since = `${state.attempts === 1 ? '' : 'first '}${moment(state.sinceMs, nowMs)}`;
      const cause = state.cause === undefined ? '' : ` (${failureWords(state.cause)})`;
      const tried = `${file} can not be read${cause}: it was asked for ${times(state.attempts)}, ${since}.`;
      const again = `It is asked for again ${atOrSoon(state.retryAtMs, nowMs)}.`;
      const { lastGood } = state;
      if (lastGood === null) return [tried, 'No earlier copy exists, so no page of its origin is asked for.', again];
      const copy = `The copy that was read ${moment(lastGood.fetchedAtMs, nowMs)}`;
      if (pages(state, nowMs).may !== 'ask') return [tried, `${copy} is too old to hold.`, again];
      return [tried, `${copy} holds meanwhile.`, ...decided(lastGood, decision), again];
    }
  }
}

/** Of a status, or of what came instead of one. */
function failureWords(cause: RobotsFailure): string {
  return typeof cause === 'number' ? `HTTP ${cause}` : `${CODE_WORDS[cause].said} [${cause}]`;
}

function heldUntil(untilMs: number, nowMs: number): string {
  if (untilMs > nowMs) return `That copy holds for another ${span(untilMs - nowMs)}.`;
  return 'That copy has run out: it is asked for again before the next page of its origin.';
}

function statusWords({ status, rules }: RobotsCopy): string {
  if (isFile(status)) {
    const remark = rules.remark === undefined ? '' : ` (${REMARKS[rules.remark]})`;
    return `HTTP ${status}, ${counted(rules.rules.length, 'rule', 'rules')} for us${remark}`;
  }
  return `HTTP ${status}, so there is none, and everything is allowed`;
}

const REMARKS: Readonly<Record<RobotsRemark, string>> = {
  cut: `it is longer than is read: what comes after ${ROBOTS_BYTES_MAX} bytes does not count`,
  markup: 'it is an HTML page, which disallows nothing',
};

function isFile(status: number): boolean {
  return status >= 200 && status < 300;
}

function decided({ status }: RobotsCopy, decision: NonNullable<WhyFacts['robots']>['decision']): string[] {
  if (decision === null || !isFile(status)) return [];
  const { allowed, rule } = decision;
  if (rule !== null) {
    return [`Line ${rule.line} ${allowed === false ? 'disallows' : 'allows'} this URL: ${shown(rule.text)}`];
  }
  if (allowed !== false) return ['No line of it speaks of this URL, so it is allowed.'];
  return ['To match its rules against this URL would take too long, which counts as disallowed.'];
}

// -- visits -----------------------------------------------------------------------------------------------------

export function visits({ record, nowMs, terms, live }: WhyFacts): string[] {
  if (record === null) return [];
  const { attempts, deliveries } = record;
  if (attempts.length === 0) {
    return [live?.inFlightSinceMs == null ? 'It has never been asked for.' : 'It was never asked for before.'];
  }
  const sentences = alike(attempts).map((some) => visit(some, nowMs));
  if (deliveries > 0) {
    const of = terms === null ? '' : ` of ${terms.deliveriesMax}`;
    sentences.push(`Deliveries used so far: ${deliveries}${of}.`);
  }
  return sentences;
}

type Alike = readonly [newest: Attempt, ...older: Attempt[]];

/** The newest first; those in a row that came to the same stand together. */
function alike(attempts: readonly Attempt[]): Alike[] {
  const runs: [Attempt, ...Attempt[]][] = [];
  for (const attempt of attempts.toReversed()) {
    const run = runs.at(-1);
    const isAlike = (one: Attempt) =>
      one.code === attempt.code && one.status === attempt.status && one.detail === attempt.detail;
    if (run !== undefined && isAlike(run[0]) && run[0].tier === attempt.tier) {
      run.push(attempt);
    } else runs.push([attempt]);
  }
  return runs;
}

function visit(some: Alike, nowMs: number): string {
  const [newest] = some;
  const { atMs, status, code, durationMs, outcome, detail, tier } = newest;
  const count = some.length === 1 ? '' : `${capital(times(some.length))}, the last time `;
  const answered = status === null ? '' : ` HTTP ${status} after ${span(durationMs)}${TIER_WORDS[tier]}:`;
  const when = moment(atMs, nowMs);
  return `${count}${count === '' ? capital(when) : when}:${answered} ${saidOf(newest)}${detailWords(outcome, detail)} [${code}].`;
}

const TIER_WORDS: Readonly<Record<Attempt['tier'], string>> = {
  1: '',
  2: ", asked for with a browser's handshake",
  3: ', through a browser',
};

/** What an attempt came to, in words that follow `because`. */
export function saidOf({ code }: Pick<Attempt, 'code'>): string {
  return CODE_WORDS[code].said;
}

export function detailWords(outcome: Attempt['outcome'], detail: string | undefined): string {
  if (detail === undefined) return '';
  return outcome === 'redirected' || outcome === 'refused' ? `: ${shown(detail)}` : ` (${shown(detail)})`;
}

// -- queue ------------------------------------------------------------------------------------------------------

export function queue({ record, standing, host, spelling }: WhyFacts): string[] {
  if (record === null || standing === null || !spelling.ok) return [];
  const { at, before } = standing;
  const kind = KIND_WORDS[record.state] ?? 'in its queue';
  const among = `Among the URLs of ${spelling.host} that are ${kind}`;
  const place =
    at === null
      ? `${before} and more come before it`
      : before === 0
        ? 'it is the first'
        : `${before} ${before === 1 ? 'comes' : 'come'} before it`;
  return [`${among}, ${place}.`, ...(host === null ? [] : inQueues(host.queue, spelling.host))];
}

/** The redirects on whose behalf it is asked for. Of cookies the names are told: their values are the site's business. */
export function chain({ record }: WhyFacts): string[] {
  if (record === null || record.chain === null) return [];
  const { chain } = record;
  const count = timesAt(record);
  const again = count > 1 ? `; they come to it for the ${ORDINALS[count - 2] ?? `${count}th`} time` : '';
  const way = `${capital(counted(hopsOf(chain), 'redirect has', 'redirects have'))} led to it, of ${REDIRECTS_MAX} at most${again}.`;
  if (chain.cookies === null) return [way, 'They gave more cookies than are kept: it is asked for without any.'];
  if (chain.cookies.length === 0) return [way];
  const names = chain.cookies.map(({ name }) => shown(name)).join(', ');
  return [way, `They gave ${counted(chain.cookies.length, 'cookie', 'cookies')} for it: ${shown(names)}.`];
}

const ORDINALS = ['second', 'third', 'fourth'] as const;

const KIND_WORDS: Readonly<Partial<Record<UrlState, string>>> = {
  queued: 'ready',
  waiting: 'waiting for another try',
  parked: 'waiting for robots.txt',
};

function inQueues({ ready, waiting, parked }: NonNullable<WhyFacts['host']>['queue'], name: string): string[] {
  const counts = [
    [ready.reduce((sum, count) => sum + count, 0), 'ready'],
    [waiting, 'waiting for another try'],
    [parked, 'waiting for robots.txt'],
  ] as const;
  const some = counts.filter(([count]) => count > 0).map(([count, kind]) => `${count} ${kind}`);
  return some.length === 0 ? [] : [`Queued for ${name} in all: ${some.join(', ')}.`];
}

// -- host -------------------------------------------------------------------------------------------------------

/** Null where the pace of the last run is not known. */
export function delayMsOf({ host, terms }: WhyFacts): number | null {
  if (terms === null) return null;
  return delayAfter({
    configuredMs: terms.delayMs,
    crawlDelaySeconds: host?.crawlDelaySeconds ?? null,
    adaptiveFactor: terms.adaptiveFactor,
    lastDurationMs: host?.snapshot.lastDurationMs ?? null,
  });
}

export function host(facts: WhyFacts): string[] {
  const { host, spelling, nowMs, live } = facts;
  if (host === null || !spelling.ok) return [];
  const name = spelling.host;
  const { snapshot } = host;
  const sentences = [...pace(facts, name), ...breakerWords(facts, name), ...needWords(facts, name)];
  if (snapshot.throttle.consecutive > 0) {
    sentences.push(`${name} asked for a rest, by ${inARow(snapshot.throttle.consecutive)}.`);
  }
  const opensAtMs = hostOpensAtMs(facts);
  if ((snapshot.closedUntilMs ?? 0) - nowMs > LONG_REST_MS) {
    sentences.push(`A rest lasts ${span(RETRY_AFTER_MS_MAX)} at most, whatever its Retry-After named.`);
  }
  if (live?.inFlightSinceMs != null) return sentences;
  if (live?.hostBusyWith != null) sentences.push(`${name} is being asked for ${shown(live.hostBusyWith)} right now.`);
  else if (opensAtMs !== null) sentences.push(`${name} may be asked again ${moment(opensAtMs, nowMs)}.`);
  else if (live?.waits != null) sentences.push(`${name} waits: ${live.waits.words} [${live.waits.why}].`);
  else if (live !== null) sentences.push(`${name} may be asked at once.`);
  return sentences;
}

/** A rest that no back-off of ours reaches: only a Retry-After does. */
const LONG_REST_MS = RETRY_AFTER_MS_MAX / 4;

/** R2: what the host is remembered to need, and until when. */
function needWords({ host, nowMs }: WhyFacts, name: string): string[] {
  const need = host?.snapshot.ladder.need ?? null;
  if (need === null) return [];
  const { tier, cause, believedUntilMs } = need;
  const because = `${CODE_WORDS[cause].said} [${cause}]`;
  const until =
    believedUntilMs > nowMs
      ? `That is believed until ${moment(believedUntilMs, nowMs)}; then one page is asked for with less.`
      : 'One page is asked for with less next, to see whether that will do by now.';
  return [`Pages of ${name} were found to need ${NEED_WORDS[tier]}: ${because}. ${until}`];
}

const NEED_WORDS: Readonly<Record<2 | 3, string>> = { 2: "a browser's handshake", 3: 'a browser' };

/** R2: by what it is asked for next, where it does not begin from below. */
export function nextTierWords({ ladder }: UrlRecord): string[] {
  if (ladder === null || ladder === 1) return [];
  return [`Next it is asked for ${ladder === 2 ? "with a browser's handshake" : 'through a browser'}.`];
}

function pace(facts: WhyFacts, name: string): string[] {
  const delayMs = delayMsOf(facts);
  const { terms, host } = facts;
  if (delayMs === null || terms === null) return [];
  const crawlDelay = host?.crawlDelaySeconds ?? null;
  const lastDurationMs = host?.snapshot.lastDurationMs ?? null;
  const causes = [
    `${span(terms.delayMs)} configured`,
    ...(crawlDelay === null ? [] : [`${span(crawlDelay * 1_000)} asked for by its robots.txt`]),
    ...(terms.adaptiveFactor === 0 || lastDurationMs === null
      ? []
      : [`${terms.adaptiveFactor} times the ${span(lastDurationMs)} that its last answer took`]),
  ];
  const least = `At least ${span(delayMs)} lie between two requests to ${name}`;
  return [causes.length === 1 ? `${least}, as configured.` : `${least}: the most of ${causes.join(', ')}.`];
}

function breakerWords({ host, nowMs }: WhyFacts, name: string): string[] {
  const breaker = host?.snapshot.breaker;
  switch (breaker?.phase) {
    case undefined:
      return [];
    case 'closed':
      return breaker.failures === 0 ? [] : [`${name} failed in ${inARow(breaker.failures)}.`];
    case 'open':
      return [
        `${name} has failed too often in a row: it is left alone, and asked once ${atOrSoon(breaker.untilMs, nowMs)} to see whether it is back.`,
      ];
    case 'half_open':
      return [`${name} had failed too often in a row; one request is out to see whether it is back.`];
  }
}

// -- words ------------------------------------------------------------------------------------------------------

/** A time ahead; what has passed comes as soon as anything can. */
export function atOrSoon(atMs: number, nowMs: number): string {
  return atMs > nowMs ? moment(atMs, nowMs) : 'as soon as the crawl gets to it';
}

export function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}

function inARow(count: number): string {
  return count === 1 ? 'its last answer' : `its last ${count} answers in a row`;
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CHARACTERS_SHOWN_MAX = 300;

/** In a URL, which may have been copied from somewhere without thinking. */
const PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:)[^/?#@]*@/i;

/** What came from outside, made fit for a line: no control characters, no flood. */
export function shown(text: string): string {
  const line = text.replace(PASSWORD, '$1…@').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
  return line.length <= CHARACTERS_SHOWN_MAX
    ? line
    : `${line.slice(0, CHARACTERS_SHOWN_MAX)}… (${line.length} characters)`;
}
