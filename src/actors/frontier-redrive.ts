/**
 * The frontier's redrives: dead letters that enter once more, some at a time, each as a candidate does.
 *
 *     waiting ──(its time has come)──▶ reading ──▶ committing ──▶ waiting … ──▶ over
 *
 * A wish is stored with the first letters that it brings back, in one commit; each further commit brings back some and
 * says how far it has come. So a redrive that was answered goes on in the next life from where it was, at its own pace,
 * and no letter is gone before its URL stands in a queue. Redrives go on beside each other.
 */
import type { UrlKey } from '../domain/url.js';
import type { UrlRecord } from '../domain/record.js';
import type { LeftReason, Redrive, RedriveLine, RedriveWish } from '../domain/redrive.js';
import type { HostName } from '../domain/host.js';
import { type CrawlRules, refusalOf } from '../policy/admission.js';
import { disallowedBy, type RulesInForce, rulesInForce } from '../policy/last-look.js';
import {
  advanced,
  begun,
  dueAfter,
  fateOf,
  lineOf,
  portionAt,
  type RedriveLooks,
  waitMsOf,
} from '../policy/redrive.js';
import { compileRobots } from '../policy/robots/match.js';
import type { FilterRefusal } from '../policy/url-filter.js';
import type { Instant } from '../protocols/actor.js';
import type { Admission, CommitReceipt, RedrivePart } from '../protocols/commit.js';
import { type Effect, log, type RedrivablePage, type RedrivableRead, schedule } from '../protocols/effects.js';
import { type FilteredCandidate, filteredBy } from './frontier-admission.js';
import { type Going, type State, toRecorder } from './frontier-state.js';
import { originOf, robotsUrlOf } from './host-state.js';

/** A store that can't be read is asked again after this. */
const READ_AGAIN_MS = 1_000;

// -- one portion: what becomes of its letters ---------------------------------------------------------------------

export interface Portion {
  readonly admitted: readonly Admission[];
  readonly lines: readonly RedriveLine[];
  readonly left: readonly LeftReason[];
}

/** What is asked of whoever admits, besides the rules. */
export interface Admitter {
  readonly rules: CrawlRules;
  filtered(candidate: FilteredCandidate, of: UrlRecord): FilterRefusal | null;
  /** It is on its way into a queue already. */
  isPending(key: UrlKey): boolean;
  nextSequence(): number;
}

/** Looks at each letter, and writes down what becomes of it. */
export function portionOf(page: RedrivablePage, admitter: Admitter, now: Instant): Portion {
  const admitted: Admission[] = [];
  const lines: RedriveLine[] = [];
  const left: LeftReason[] = [];
  const looks = looksOf(page, admitter, now);
  for (const { letter, record } of page.letters) {
    const fate = admitter.isPending(letter.key)
      ? ({ fate: 'left', reason: 'queued_already' } as const)
      : fateOf(record, looks, now);
    lines.push(lineOf(letter.url, letter.key, fate));
    if (fate.fate === 'left') left.push(fate.reason);
    else admitted.push({ record: fate.record, sequence: admitter.nextSequence(), ifAbsent: true });
  }
  return { admitted, lines, left };
}

/** The rules of each host's origins are made ready once a page, where one of its URLs gets so far. */
export function looksOf(
  { robots }: Pick<RedrivablePage, 'robots'>,
  admitter: Pick<Admitter, 'rules' | 'filtered'>,
  now: Instant,
): RedriveLooks {
  const inForce = new Map<HostName, readonly RulesInForce[]>();
  const rulesFor = (host: HostName): readonly RulesInForce[] => {
    const made =
      inForce.get(host) ??
      (robots.get(host) ?? []).flatMap(({ origin, state }) => {
        const rules = rulesInForce(origin, state, (copy) => compileRobots(copy.rules, robotsUrlOf(origin)), now.wallMs);
        return rules === null ? [] : [rules];
      });
    inForce.set(host, made);
    return made;
  };
  return {
    refusalOf: (record) => {
      const { url, host, source, element } = record;
      const candidate = { url, host, source, element, rel: null };
      return (refusalOf(admitter.rules, record) ?? admitter.filtered(candidate, record))?.code ?? null;
    },
    disallowed: ({ host, url }) => disallowedBy(rulesFor(host), url, originOf(url)),
  };
}

/** As it is written: letters, admissions and the redrive itself, in one part. */
export function redrivePart(
  going: Pick<Going, 'redrive' | 'command'>,
  portion: Portion,
  next: string | null,
  dueAtMs: number,
  now: Instant,
): RedrivePart {
  const { admitted, lines, left } = portion;
  const redrive = advanced(going.redrive, { left, next, dueAtMs }, now.wallMs);
  return { kind: 'redrive', command: going.command, redrive, lines, admitted, settings: null };
}

// -- in the frontier ----------------------------------------------------------------------------------------------

/** Those that an earlier life has left, each by its own due time. */
export function redrivesLeft(redrives: readonly Redrive[], now: Instant): Map<number, Going> {
  return new Map(
    redrives.map((redrive) => {
      const dueAtMs = now.monotonicMs + waitMsOf(redrive, now.wallMs);
      return [redrive.number, { redrive, command: null, phase: 'waiting', dueAtMs, ending: null }];
    }),
  );
}

export function beginRedrive(state: State, command: number, wish: RedriveWish, now: Instant): Effect[] {
  const redrive = begun(wish, ++state.lastRedrive, now.wallMs);
  const going: Going = { redrive, command, phase: 'reading', dueAtMs: now.monotonicMs, ending: null };
  state.redrives = new Map(state.redrives).set(redrive.number, going);
  return [readNext(going, now)];
}

/** Its time has come, or is looked at again: a timer may be early. */
export function goOnRedriving(state: State, number: number, now: Instant): Effect[] {
  const going = state.redrives.get(number);
  if (going?.phase !== 'waiting') return [];
  if (going.dueAtMs > now.monotonicMs) return [wakeRedrive(going)];
  const reading: Going = { ...going, phase: 'reading' };
  state.redrives = new Map(state.redrives).set(number, reading);
  return [readNext(reading, now)];
}

/** After a crash: what was being read is asked for once more, and timers are set anew. */
export function redriveAgain(state: State, now: Instant): Effect[] {
  return [...state.redrives.values()].flatMap((going) => {
    if (going.phase === 'reading') return [readNext(going, now)];
    return going.phase === 'waiting' ? [wakeRedrive(going)] : [];
  });
}

export function redriveRead(state: State, { redrive: number, after, page }: RedrivableRead, now: Instant): Effect[] {
  const going = state.redrives.get(number);
  // What was asked for before a crash, and once more after it, is taken up once.
  if (going?.phase !== 'reading' || going.redrive.after !== after) return [];
  if (going.ending !== null) return [cancel(state, going, now)];
  if ('failure' in page) {
    const waiting: Going = { ...going, phase: 'waiting', dueAtMs: now.monotonicMs + READ_AGAIN_MS };
    state.redrives = new Map(state.redrives).set(number, waiting);
    return [log('warn', 'redrive_not_read', { redrive: number, reason: page.failure }), wakeRedrive(waiting)];
  }
  const effects: Effect[] = [];
  const portion = portionOf(page, admitterOf(state, effects), now);
  for (const { record } of portion.admitted) {
    state.pending.add(record.key);
    state.journal.keys.push(record.key);
  }
  const { rate } = going.redrive;
  const dueAtMs = dueAfter(rate, going.dueAtMs, now.monotonicMs, page.letters.length);
  const dueAtWallMs = now.wallMs + dueAtMs - now.monotonicMs;
  state.redrives = new Map(state.redrives).set(number, { ...going, phase: 'committing', dueAtMs });
  effects.push(toRecorder(state, redrivePart(going, portion, page.next, dueAtWallMs, now)));
  return effects;
}

/** A portion is in the store. */
export function redriveRecorded(state: State, part: RedrivePart, receipt: CommitReceipt, now: Instant): Effect[] {
  const { number } = part.redrive;
  const redrive = receipt.redrives?.find((it) => it.number === number) ?? part.redrive;
  const known = new Set(receipt.known);
  const lines = part.lines.map((line) =>
    line.reason !== 'queued_already' && known.has(line.key) ? ({ ...line, reason: 'queued_already' } as const) : line,
  );
  const effects: Effect[] = [{ do: 'announce', event: { event: 'redriven', command: part.command, redrive, lines } }];
  const going = state.redrives.get(number);
  if (redrive.stage !== 'going' || going === undefined) {
    state.redrives = without(state.redrives, number);
    if (going?.ending != null && redrive.stage === 'done')
      effects.push({ do: 'announce', event: { event: 'redriven', command: going.ending, redrive, lines: [] } });
    effects.push(log('info', 'redrive_over', { redrive: number, stage: redrive.stage, queued: redrive.queued }));
    return effects;
  }
  if (going.ending !== null) return [...effects, cancel(state, { ...going, redrive }, now)];
  const waiting: Going = { ...going, redrive, phase: 'waiting' };
  state.redrives = new Map(state.redrives).set(number, waiting);
  return [...effects, ...goOnRedriving(state, number, now)];
}

/** Answered once it is stored; with no redrive where none of this number goes on. */
export function cancelRedrive(state: State, command: number, number: number, now: Instant): Effect[] {
  const going = state.redrives.get(number);
  if (going === undefined) return [{ do: 'announce', event: { event: 'redriven', command, redrive: null, lines: [] } }];
  const ending: Going = { ...going, ending: command };
  state.redrives = new Map(state.redrives).set(number, ending);
  return going.phase === 'waiting' ? [cancel(state, ending, now)] : [];
}

function cancel(state: State, going: Going, now: Instant): Effect {
  const redrive: Redrive = { ...going.redrive, stage: 'cancelled', changedAtMs: Math.round(now.wallMs) };
  state.redrives = new Map(state.redrives).set(redrive.number, { ...going, redrive, phase: 'committing' });
  return toRecorder(state, {
    kind: 'redrive',
    command: going.ending,
    redrive,
    lines: [],
    admitted: [],
    settings: null,
  });
}

function admitterOf(state: State, effects: Effect[]): Admitter {
  return {
    rules: state.rules,
    filtered: (candidate, { via, depth }) => filteredBy(state, candidate, via, depth, effects),
    isPending: (key) => state.pending.has(key),
    nextSequence: () => state.sequence++,
  };
}

/** As many as its rate lets it take up by now. */
function readNext({ redrive, dueAtMs }: Going, now: Instant): Effect {
  const { number, rate, filter, untilMs, after } = redrive;
  const limit = Math.max(1, portionAt(rate, dueAtMs, now.monotonicMs));
  return { do: 'readRedrivable', redrive: number, query: { filter, untilMs, after, limit } };
}

function wakeRedrive({ redrive: { number }, dueAtMs }: Going): Effect {
  return schedule(`redrive ${number}`, dueAtMs, { type: 'redriveDue', redrive: number });
}

function without(redrives: ReadonlyMap<number, Going>, number: number): ReadonlyMap<number, Going> {
  const rest = new Map(redrives);
  rest.delete(number);
  return rest;
}

/** When the first of them goes on; null while none waits. Monotonic. */
export function nextRedriveMs({ redrives }: Pick<State, 'redrives'>): number | null {
  let earliestMs: number | null = null;
  for (const { phase, dueAtMs } of redrives.values()) {
    if (phase === 'waiting' && (earliestMs === null || dueAtMs < earliestMs)) earliestMs = dueAtMs;
  }
  return earliestMs;
}

/** One of them has something under way. */
export function isRedriving({ redrives }: Pick<State, 'redrives'>): boolean {
  for (const { phase } of redrives.values()) if (phase !== 'waiting') return true;
  return false;
}
