/**
 * The politeness judge: reads a server's log and says where a crawler broke its word.
 *
 * It stands outside the engine and shares nothing with it. It sees starts and ends of requests by the server's clock;
 * a crawler that waits from the end of one answer to the start of its next request needs no tolerance, since the server
 * sees the end earlier and the start later than the crawler does. Only where the client aborted does the server learn of
 * the end later; a few milliseconds are granted there.
 *
 * The log is read once, in order; what is kept is one row a host and one a URL that was answered.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  type Kills,
  openKills,
  openRetryFloors,
  openRobotsKnowledge,
  type RetryFloors,
  type RobotsKnowledge,
  type Span,
} from './knowledge.js';
import { eventsFromNginx, type NginxReading } from './nginx-log.js';
import { type Answered, openRefusals, type PatienceTerms, type Refusals } from './refusals.js';
import { ALLOW_ALL, isAllowed, rulesFor } from './robots-matcher.js';
import type { CutEvent, EndEvent, LapseEvent, StartEvent, WitnessEvent } from './witness.js';

export type RuleName =
  /** Two requests of one host at once. */
  | 'in-flight'
  /** A request sooner after the end of the one before than the host's delay. */
  | 'gap'
  /** A request of one address while another was open there. */
  | 'address-in-flight'
  /** A request sooner after the end of the one before at its address than the delay of addresses. */
  | 'address-gap'
  /** A request before the time that Retry-After named. */
  | 'retry-after'
  /** A request sooner after refusals without a time, one after the other, than the back-off allows. */
  | 'throttle'
  /** A request to a host that had failed so often in a row that it must be left alone. */
  | 'breaker-open'
  /** A page of an origin whose robots.txt was never answered. */
  | 'robots-first'
  /** A page of an origin whose robots.txt could not be had, and never could before. */
  | 'robots-unreachable'
  /** A page that every robots.txt which may rule disallows. */
  | 'robots-disallow'
  /** A page under rules older than their time to live, with no try to renew them. */
  | 'robots-stale'
  /** A URL fetched whole for the second time, with no kill to excuse it. */
  | 'duplicate';

export interface Violation {
  readonly rule: RuleName;
  /** The host's name, without port. */
  readonly host: string;
  readonly detail: string;
  /** When, by the log's clock, in ms. */
  readonly at: number;
}

export interface Rules {
  /** As robots.txt names the crawler. */
  readonly productToken: string;
  /** From the end of an answer to the next request, in ms: of all hosts, or of the one named. */
  readonly delayMs: number | ((host: string) => number);
  /** Answers that ended this long before a kill may be unknown to the next life; 1000 by default. */
  readonly killGraceMs?: number;
  /** The server may notice an abort this much later than the client; 5 by default. */
  readonly abortToleranceMs?: number;
  /** Resolution of the log's clock where it is coarse: 0 for the witness, 2 for nginx. */
  readonly clockToleranceMs?: number;
  /** `allowed` where URLs are crawled again on purpose; `judged` by default. */
  readonly repeats?: 'judged' | 'allowed';
  /** How long a robots.txt may rule; 24 h by default. */
  readonly robotsAgeMsMax?: number;
  /** A host is left alone for so many times as long as its last answer took, up to a minute; 0, the default: it is not judged. */
  readonly adaptiveFactor?: number;
  /** Of the clock of addresses, where the log tells them; 0, the default: it is not judged. */
  readonly addressDelayMs?: number;
  /** Whose clock an address runs on; null where it has none. An IPv6 network of 64 bits is one by default. */
  readonly addressClockOf?: (address: string) => string | null;
  /** Null, the default: how a host is left alone after refusals is not judged, but for the times that it names. */
  readonly patience?: PatienceTerms | null;
  /** Of a longer answer it can't be told whether the client had given up before it came; 9 s by default. */
  readonly answerMsMax?: number;
}

export interface JudgeStats {
  readonly requests: number;
  readonly hosts: number;
  readonly robotsAnswers: number;
  readonly pages: number;
  readonly aborts: number;
  readonly kills: number;
  /** Repeats that a kill excused. */
  readonly repeatsExcused: number;
  /** Retry-After answers that were served: 0 means that the rule was not put to the test. */
  readonly retryAfters: number;
  /** Requests that were held against a back-off, or a quarantine. */
  readonly refusalsJudged: number;
  readonly inFlightMax: number;
  /** The least that any request waited beyond its delay; null where no host was asked twice. */
  readonly smallestGapMinusDelayMs: number | null;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly stats: JudgeStats;
}

/** Takes a log event by event. */
export interface Judge {
  see(event: WitnessEvent): void;
  /** May be asked at any time; requests still open then count as not ended. */
  verdict(): Verdict;
}

const CRAWL_DELAY_MS_MAX = 60_000;
const ADAPTIVE_DELAY_MS_MAX = 60_000;
const RETRY_AFTER_MS_MAX = 24 * 3_600_000;
/** From the end of an answer until it has surely been recorded. */
const VISIT_MS_MAX = 5_000;
/** Both stamps of a gap are rounded to a microsecond. */
const ROUNDING_MS = 0.002;

/** Judges a whole log. Events must stand in the order of their times. */
export function judge(events: Iterable<WitnessEvent>, rules: Rules): Verdict {
  const sitting = openJudge(rules);
  for (const event of events) sitting.see(event);
  return sitting.verdict();
}

/** Judges a log file, a witness's or (with `nginx`) one in nginx's JSON format. Throws on a broken line but the last. */
export async function judgeFile(path: string, rules: Rules, nginx?: NginxReading): Promise<Verdict> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  if (nginx !== undefined) {
    const all: string[] = [];
    for await (const line of lines) all.push(line);
    return judge(eventsFromNginx(all, nginx), { clockToleranceMs: 2, ...rules });
  }
  const sitting = openJudge(rules);
  let broken: string | undefined;
  for await (const line of lines) {
    if (broken !== undefined) throw new SyntaxError(`not a line of a witness log: ${broken.slice(0, 200)}`);
    const event = toEvent(line);
    if (event === undefined) broken = line;
    else sitting.see(event);
  }
  return sitting.verdict();
}

function toEvent(line: string): WitnessEvent | undefined {
  try {
    return JSON.parse(line) as WitnessEvent;
  } catch {
    return undefined;
  }
}

/** A request without its end yet. */
interface OpenRequest {
  readonly id: number;
  readonly startedAt: number;
  readonly host: HostRow;
  /** Null where addresses are not judged. */
  readonly address: AddressRow | null;
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly isFirstOfConnection: boolean;
  /** Starts on the same host since then, judged when this one ends. */
  readonly overlaps: number[];
}

/** The end of the request before, and how long it took by the server's clock, its way to the crawler included where that is known. */
interface LastEnd {
  readonly at: number;
  readonly how: EndEvent['how'];
  readonly span: Span;
}

interface HostRow {
  readonly name: string;
  readonly delayMs: number;
  readonly open: Set<OpenRequest>;
  readonly origins: Map<string, RobotsKnowledge>;
  readonly floors: RetryFloors;
  /** Null where it is not judged. */
  readonly refusals: Refusals | null;
  /** When the crawler's actor for it crashed, with the visits that it had open. */
  readonly lapses: { readonly at: number; readonly killsBefore: number }[];
  lastEnd: LastEnd | null;
}

interface AddressRow {
  readonly key: string;
  readonly open: Set<number>;
  lastEnd: LastEnd | null;
}

type Tally = { -readonly [K in keyof Omit<JudgeStats, 'kills' | 'hosts'>]: JudgeStats[K] };

/** The state of a sitting: facts by host, by request and by URL. */
interface Bench {
  readonly rules: Required<Rules>;
  readonly kills: Kills;
  readonly hosts: Map<string, HostRow>;
  readonly addresses: Map<string, AddressRow>;
  readonly connections: Set<number>;
  readonly requests: Map<number, OpenRequest>;
  readonly fetched: Map<string, Span>;
  readonly violations: Violation[];
  readonly tally: Tally;
  /** The latest. */
  cut: CutEvent | null;
  latest: number;
}

export function openJudge(rules: Rules): Judge {
  const complete: Required<Rules> = {
    killGraceMs: 1_000,
    abortToleranceMs: 5,
    clockToleranceMs: 0,
    repeats: 'judged',
    robotsAgeMsMax: 24 * 3_600_000,
    adaptiveFactor: 0,
    addressDelayMs: 0,
    addressClockOf: networkOf,
    patience: null,
    answerMsMax: 9_000,
    ...rules,
  };
  const bench: Bench = {
    rules: complete,
    kills: openKills(complete.killGraceMs),
    hosts: new Map(),
    addresses: new Map(),
    connections: new Set(),
    requests: new Map(),
    fetched: new Map(),
    violations: [],
    tally: {
      ...{ requests: 0, robotsAnswers: 0, pages: 0, aborts: 0, repeatsExcused: 0, retryAfters: 0, inFlightMax: 0 },
      refusalsJudged: 0,
      smallestGapMinusDelayMs: null,
    },
    cut: null,
    latest: Number.NEGATIVE_INFINITY,
  };
  return {
    see(event) {
      if (event.t < bench.latest) throw new RangeError(`the log runs backwards at ${event.t}`);
      bench.latest = event.t;
      see(bench, event);
    },
    verdict: () => ({
      violations: [...bench.violations, ...neverEnded(bench)].sort((a, b) => a.at - b.at),
      stats: { ...bench.tally, hosts: bench.hosts.size, kills: bench.kills.count() },
    }),
  };
}

function see(bench: Bench, event: WitnessEvent): void {
  switch (event.e) {
    case 'S':
      return seeStart(bench, event);
    case 'E':
      return seeEnd(bench, event);
    case 'K':
      return bench.kills.killed(event.t, event.g);
    case 'B':
      return bench.kills.booted(event.t);
    case 'X':
      bench.cut = event;
      return bench.kills.cut(event.t, event.until);
    case 'C':
      return seeLapse(bench, event);
  }
}

function seeLapse(bench: Bench, { t, h }: LapseEvent): void {
  if (h === null) return bench.kills.cut(t - 1, t);
  const host = hostRow(bench, nameOf(h));
  host.lapses.push({ at: t, killsBefore: bench.kills.count() });
  host.refusals?.lapsed(t);
}

function seeStart(bench: Bench, event: StartEvent): void {
  const origin = event.h.toLowerCase();
  const host = hostRow(bench, nameOf(origin));
  const address = addressRow(bench, event.a);
  const request: OpenRequest = {
    id: event.i,
    startedAt: event.t,
    host,
    address,
    origin,
    method: event.m,
    path: event.u,
    isFirstOfConnection: !bench.connections.has(event.c),
    overlaps: [],
  };
  if (bench.rules.patience !== null) bench.connections.add(event.c);
  if (bench.requests.has(event.i)) throw new RangeError(`request ${event.i} starts twice`);

  if (host.open.size > 0) for (const other of host.open) other.overlaps.push(event.t);
  else if (host.lastEnd !== null) judgeGap(bench, host, host.lastEnd, event.t);
  if (address !== null) judgeAddress(bench, host, address, event);
  judgeRetryAfter(bench, host, event);
  judgeRefusals(bench, host, event);
  if (event.u !== '/robots.txt') judgeRobots(bench, host, origin, event);

  bench.requests.set(event.i, request);
  host.open.add(request);
  bench.tally.requests += 1;
  bench.tally.inFlightMax = Math.max(bench.tally.inFlightMax, bench.requests.size);
}

function seeEnd(bench: Bench, event: EndEvent): void {
  const request = bench.requests.get(event.i);
  if (request === undefined) throw new RangeError(`request ${event.i} ends without a start`);
  bench.requests.delete(event.i);
  const { host, address } = request;
  const span: Span = { startedAt: request.startedAt, endedAt: event.t + (event.d ?? 0) };
  host.open.delete(request);
  host.lastEnd = { at: endFor(bench, request, event), how: event.how, span };
  if (address !== null) {
    address.open.delete(event.i);
    address.lastEnd = host.lastEnd;
  }
  judgeOverlaps(bench, request, event);
  host.refusals?.answered(answeredBy(bench, request, event, span), span);
  if (event.how === 'abort') bench.tally.aborts += 1;
  setRetryFloor(bench, request, event, span);
  if (event.how !== 'done') {
    if (request.path === '/robots.txt') robotsOf(bench, request).unreachable(event.t);
    return;
  }

  if (request.path === '/robots.txt') learnRobots(bench, request, event, span);
  else if (event.s === 200 && request.method === 'GET') judgeRepeat(bench, request, span);
}

/** Where nothing got through any more the crawler's side of it ended then, whatever the server went on to do. */
function endFor({ cut }: Bench, { startedAt }: OpenRequest, { t }: EndEvent): number {
  return cut !== null && startedAt <= cut.t && cut.t < t ? cut.t : t;
}

/** A refusal that names its time binds even where its body broke off: the log says `ra` only of a head that went out. */
function setRetryFloor(bench: Bench, { host }: OpenRequest, event: EndEvent, span: Span): void {
  if (event.how === 'abort' || event.ra === undefined || !(event.s === 429 || (event.s ?? 0) >= 500)) return;
  bench.tally.retryAfters += 1;
  host.floors.set(event.t + Math.min(event.ra * 1_000, RETRY_AFTER_MS_MAX), span);
}

/** What the crawler has surely made of it. A break before the head may have been an idle connection's, unless it was new. */
function answeredBy(bench: Bench, request: OpenRequest, { s, how, ra }: EndEvent, span: Span): Answered {
  if (how === 'abort' || span.endedAt - span.startedAt > bench.rules.answerMsMax) return 'unknown';
  if (s === null) return request.isFirstOfConnection ? 'unreached' : 'unknown';
  if (s === 429 || s === 503 || (s >= 500 && ra !== undefined)) return 'throttled';
  return s >= 500 ? 'failure' : 'success';
}

/** Requests that started while this one was open: too early for the gap at best, and within a tolerance at that. */
function judgeOverlaps(bench: Bench, request: OpenRequest, end: EndEvent): void {
  for (const startedAt of request.overlaps) {
    if (end.t - startedAt > toleranceMs(bench, end.how))
      accuse(bench, 'in-flight', request.host, startedAt, overlapDetail(request, end.t));
    else if (request.host.lastEnd !== null) judgeGap(bench, request.host, request.host.lastEnd, startedAt);
  }
}

function judgeGap(bench: Bench, host: HostRow, last: LastEnd, startedAt: number): void {
  const delayMs = Math.max(host.delayMs, crawlDelayMs(host), adaptiveDelayMs(bench, host, last));
  const spareMs = startedAt - last.at - delayMs;
  bench.tally.smallestGapMinusDelayMs = Math.min(bench.tally.smallestGapMinusDelayMs ?? spareMs, spareMs);
  if (spareMs >= -toleranceMs(bench, last.how)) return;
  accuse(
    bench,
    'gap',
    host,
    startedAt,
    `${(startedAt - last.at).toFixed(3)} ms after the end of the one before, not ${delayMs}`,
  );
}

/** What the crawler sees of an answer lasts no shorter than what its server sees. */
function adaptiveDelayMs(bench: Bench, host: HostRow, { how, span }: LastEnd): number {
  if (how === 'abort' || bench.kills.doubts(span)) return 0;
  // How long it took was known to an actor that crashed, then to the gate, and then the process died.
  const isForgotten = host.lapses.some(({ killsBefore }) => killsBefore < bench.kills.count()) && isLapsed(host, span);
  if (isForgotten) return 0;
  return Math.min(ADAPTIVE_DELAY_MS_MAX, bench.rules.adaptiveFactor * (span.endedAt - span.startedAt));
}

function judgeAddress(bench: Bench, host: HostRow, address: AddressRow, { t, i }: StartEvent): void {
  const { lastEnd, open, key } = address;
  if (open.size > 0) {
    accuse(bench, 'address-in-flight', host, t, `while ${open.size} other requests were open at ${key}`);
  } else if (lastEnd !== null) {
    const gapMs = t - lastEnd.at;
    const { addressDelayMs } = bench.rules;
    if (gapMs - addressDelayMs < -toleranceMs(bench, lastEnd.how)) {
      const detail = `${gapMs.toFixed(3)} ms after the end of the one before at ${key}, not ${addressDelayMs}`;
      accuse(bench, 'address-gap', host, t, detail);
    }
  }
  open.add(i);
}

function judgeRefusals(bench: Bench, host: HostRow, { t, u }: StartEvent): void {
  for (const { rule, until } of host.refusals?.floors() ?? []) {
    bench.tally.refusalsJudged += 1;
    if (t >= until - toleranceMs(bench, 'done')) continue;
    accuse(bench, rule, host, t, `${u} ${(until - t).toFixed(3)} ms too early after what it had refused`);
  }
}

function judgeRetryAfter(bench: Bench, host: HostRow, event: StartEvent): void {
  const floor = host.floors.floorAt(event.t);
  if (floor === null || event.t >= floor - toleranceMs(bench, 'done')) return;
  accuse(
    bench,
    'retry-after',
    host,
    event.t,
    `${event.u} ${(floor - event.t).toFixed(3)} ms before Retry-After was over`,
  );
}

function judgeRobots(bench: Bench, host: HostRow, origin: string, event: StartEvent): void {
  const knowledge = host.origins.get(origin);
  const known = knowledge?.hypotheses() ?? [];
  if (knowledge === undefined || known.length === 0) {
    const failed = knowledge !== undefined && knowledge.failedAt() !== null;
    accuse(bench, failed ? 'robots-unreachable' : 'robots-first', host, event.t, `${event.u} of ${origin}`);
    return;
  }
  // Of the worlds that may be, one in which the page was right acquits.
  if (!known.some((rules) => rules !== 'unknown' && isAllowed(rules, event.u))) {
    accuse(bench, 'robots-disallow', host, event.t, `${event.u} of ${origin}`);
  }
  const ageMs = knowledge.ageMs(event.t);
  if (ageMs !== null && ageMs > bench.rules.robotsAgeMsMax + toleranceMs(bench, 'done')) {
    accuse(bench, 'robots-stale', host, event.t, `${event.u} under rules that are ${Math.round(ageMs / 1_000)} s old`);
  }
}

function judgeRepeat(bench: Bench, request: OpenRequest, span: Span): void {
  bench.tally.pages += 1;
  if (bench.rules.repeats === 'allowed') return;
  const url = `${request.origin}${request.path}`;
  const before = bench.fetched.get(url);
  if (before !== undefined) {
    if (bench.kills.doubts(before) || isLapsed(request.host, before)) bench.tally.repeatsExcused += 1;
    else
      accuse(
        bench,
        'duplicate',
        request.host,
        request.startedAt,
        `${url} had been fetched ${Math.round(span.startedAt - before.endedAt)} ms before`,
      );
  }
  bench.fetched.set(url, span);
}

/** It was in hand when the actor crashed, and had not been recorded: it is asked for once more. */
function isLapsed({ lapses }: HostRow, { startedAt, endedAt }: Span): boolean {
  return lapses.some(({ at }) => startedAt <= at && endedAt >= at - VISIT_MS_MAX);
}

/** 2xx rules, 304 those that it confirms; 4xx but 429 allows all (RFC 9309 §2.3.1.3); a redirect led to rules that this log can't tell; else unreachable. */
function learnRobots(bench: Bench, request: OpenRequest, event: EndEvent, span: Span): void {
  const knowledge = robotsOf(bench, request);
  const status = event.s ?? 500;
  bench.tally.robotsAnswers += 1;
  if (status === 304 && event.rb === undefined) knowledge.confirmed(span);
  else if (status === 429 || status >= 500) knowledge.unreachable(event.t);
  else
    knowledge.learned(
      (status < 300 || status === 304) && event.rb !== undefined
        ? rulesFor(event.rb, bench.rules.productToken)
        : ALLOW_ALL,
      span,
    );
}

function robotsOf(bench: Bench, { host, origin }: OpenRequest): RobotsKnowledge {
  const known = host.origins.get(origin);
  if (known !== undefined) return known;
  const fresh = openRobotsKnowledge(bench.kills);
  host.origins.set(origin, fresh);
  return fresh;
}

/** The largest that the host's origins ask for; of several that may rule one origin, the smallest. */
function crawlDelayMs(host: HostRow): number {
  let delayMs = 0;
  for (const knowledge of host.origins.values()) {
    const asked = knowledge
      .hypotheses()
      .map((rules) => (rules === 'unknown' ? 0 : (rules.crawlDelaySeconds ?? 0) * 1_000));
    if (asked.length > 0) delayMs = Math.max(delayMs, Math.min(...asked));
  }
  return Math.min(delayMs, CRAWL_DELAY_MS_MAX);
}

function neverEnded(bench: Bench): Violation[] {
  return [...bench.requests.values()].flatMap((request) =>
    request.overlaps.map(
      (at): Violation => ({ rule: 'in-flight', host: request.host.name, at, detail: overlapDetail(request, null) }),
    ),
  );
}

function overlapDetail({ id, path }: OpenRequest, endedAt: number | null): string {
  return `while request ${id} for ${path} was open${endedAt === null ? ' and never ended' : ` until ${endedAt.toFixed(3)}`}`;
}

function accuse(bench: Bench, rule: RuleName, host: HostRow, at: number, detail: string): void {
  bench.violations.push({ rule, host: host.name, detail, at });
}

function toleranceMs(bench: Bench, how: EndEvent['how']): number {
  return ROUNDING_MS + bench.rules.clockToleranceMs + (how === 'abort' ? bench.rules.abortToleranceMs : 0);
}

function hostRow(bench: Bench, name: string): HostRow {
  const known = bench.hosts.get(name);
  if (known !== undefined) return known;
  const { delayMs } = bench.rules;
  const row: HostRow = {
    name,
    delayMs: typeof delayMs === 'number' ? delayMs : delayMs(name),
    open: new Set(),
    origins: new Map(),
    floors: openRetryFloors(bench.kills),
    refusals:
      bench.rules.patience === null ? null : openRefusals(bench.rules.patience, (span) => bench.kills.doubts(span)),
    lapses: [],
    lastEnd: null,
  };
  bench.hosts.set(name, row);
  return row;
}

function addressRow(bench: Bench, address: string | undefined): AddressRow | null {
  if (address === undefined || bench.rules.addressDelayMs === 0) return null;
  const key = bench.rules.addressClockOf(address);
  if (key === null) return null;
  const known = bench.addresses.get(key);
  if (known !== undefined) return known;
  const row: AddressRow = { key, open: new Set(), lastEnd: null };
  bench.addresses.set(key, row);
  return row;
}

/** IPv4 as it is; of IPv6 the first 64 bits, which one customer has. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1] as string;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** A Host header's name: no port, no trailing dot; an IPv6 literal keeps its brackets. */
function nameOf(hostHeader: string): string {
  return hostHeader.replace(/:\d*$/, '').replace(/\.$/, '');
}
