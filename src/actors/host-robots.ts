/**
 * How a host finds out its rules: the hunt for a robots.txt, along its redirects, and the errands that hosts run for
 * each other.
 *
 * A hop that lies on another host is that host's request, on its own permit (P6): it gets an errand, and answers with
 * what it found. Whoever asked holds no permit meanwhile, and waits for a bounded time. What it means that a
 * robots.txt was or was not to be had is for the policy (P5).
 */
import type { HostName, Origin } from '../domain/host.js';
import type { QueueEntry } from '../domain/record.js';
import * as queues from '../policy/back-queue.js';
import { unparked } from '../policy/history.js';
import { lookNow } from '../policy/last-look.js';
import {
  isSameRules,
  lastGoodOf,
  robotsAnswered,
  type RobotsCopy,
  type RobotsValidators,
} from '../policy/robots/freshness.js';
import { readRobots } from '../policy/robots/read.js';
import { ALLOW_ALL } from '../policy/robots/rules.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import type { Move } from '../protocols/commit.js';
import { type BlockedRows, type Effect, log, schedule, send } from '../protocols/effects.js';
import type { RobotsFound } from '../protocols/host.js';
import { emit } from './host-parts.js';
import {
  type Live,
  matcherOf,
  type OpenVisit,
  originOf,
  robotsOf,
  type RobotsHunt,
  robotsUrlOf,
} from './host-state.js';
import { answerTo } from './host-proceed.js';
import { onward } from './host-steps.js';

/** Another host's answer to an errand is waited for so long. */
export const ERRAND_MS_MAX = 90_000;

export function foundOut(
  state: Live,
  visit: Exclude<OpenVisit, { what: 'page' }>,
  found: RobotsFound,
  now: Instant,
): Effect[] {
  return visit.what === 'robots' ? hunted(state, visit.hunt, found, now) : answerTo(visit.errand, found);
}

/** A redirect leads on, on the permit of whose host it is (P6); anything else is the answer. */
export function hunted(state: Live, hunt: RobotsHunt, found: RobotsFound, now: Instant): Effect[] {
  const { origin } = hunt;
  if (found.kind === 'failure' && found.code === 'egress_down') return giveUp(state, origin);
  if (found.kind === 'answer' && found.redirect !== null) {
    const { host: target, url } = found.redirect;
    const isOurs = target === state.props.name;
    const next = onward(hunt, url, isOurs ? 'nobody' : 'errand');
    if (next !== null) {
      state.asking.set(origin, next);
      return isOurs ? [] : errandTo(state, target, next, now);
    }
  }
  state.asking.delete(origin);
  const before = lastGoodOf(robotsOf(state, origin));
  const known = robotsAnswered(robotsOf(state, origin), answerOf(state, hunt, found), now.wallMs);
  state.robots.set(origin, known);
  if (mayAllowMore(state, before, lastGoodOf(known))) beginRecheck(state);
  const status = found.kind === 'answer' ? found.status : found.kind === 'unmodified' ? 304 : null;
  return [
    log(known.phase === 'fresh' ? 'debug' : 'warn', 'robots_known', { origin, phase: known.phase, status }),
    emit(state, { robots: [origin] }, now),
  ];
}

/** As if it had not been begun (B5): nothing is learned of the rules, and they are hunted for again. */
function giveUp(state: Live, origin: Origin): Effect[] {
  state.asking.delete(origin);
  return [];
}

// -- rows that were blocked -------------------------------------------------------------------------------------

/** Without a copy of before it is not known what the rows were blocked by. */
function mayAllowMore({ blocked }: Live, before: RobotsCopy | null, now: RobotsCopy | null): boolean {
  if (now === null || now === before) return false;
  return before === null ? blocked > 0 : !isSameRules(before.rules, now.rules);
}

/**
 * All blocked rows are looked at once more, a window at a time, beside the host's visits. Where that stands goes with
 * every part. The rows are read only when all that was decided by the old rules is in the store: none is passed over.
 */
function beginRecheck(state: Live): void {
  state.snapshot = { ...state.snapshot, recheckFrom: 0 };
  state.recheckTicket = state.nextTicket;
  if (state.activity.doing === 'rechecking') state.activity.doing = 'rechecking_again';
}

/** What is allowed now goes back to ready; what is not keeps its place, with the line that says so now. */
export function recheck(state: Live, { entries, complete }: BlockedRows, now: Instant): Effect {
  const moves = entries.flatMap((entry) => rechecked(state, entry, now) ?? []);
  const last = entries.at(-1);
  const recheckFrom = complete ? null : last === undefined ? state.snapshot.recheckFrom : last.at.sequence + 1;
  state.snapshot = { ...state.snapshot, recheckFrom };
  state.recheckTicket = state.nextTicket;
  return emit(state, { moves }, now);
}

/** Null: nothing has changed for it. */
function rechecked(state: Live, entry: QueueEntry, now: Instant): Move | null {
  const { record } = entry;
  const origin = originOf(record.url);
  const found = lookNow(record.url, robotsOf(state, origin), (copy) => matcherOf(state, origin, copy), now.wallMs);
  if (found === null || state.queue.taken.has(entry.at.sequence)) return null;
  if (found.look === 'go') {
    queues.hold(state.queue, entry);
    return unparked(entry);
  }
  const { rule } = found.robots;
  if (rule?.line === record.robots?.rule?.line && rule?.text === record.robots?.rule?.text) return null;
  return { from: entry.at, to: entry.at, record: { ...record, robots: found.robots } };
}

function answerOf(state: Live, hunt: RobotsHunt, found: RobotsFound): Parameters<typeof robotsAnswered>[1] {
  if (found.kind !== 'answer') return found;
  const { status, bytes, cut, retryAfterMs } = found;
  const isFile = status >= 200 && status < 300 && bytes !== null;
  const rules = isFile
    ? readRobots(bytes, state.props.productToken, robotsUrlOf(hunt.origin), cut ? 'cut' : 'whole')
    : ALLOW_ALL;
  return { kind: 'status', status, rules, retryAfterMs, validators: isFile ? usable(found.validators) : null };
}

function usable(validators: RobotsValidators | null): RobotsValidators | null {
  return validators?.etag == null && validators?.lastModified == null ? null : validators;
}

function errandTo(state: Live, target: HostName, hunt: RobotsHunt, now: Instant): Effect[] {
  const { origin, url, validators } = hunt;
  return [
    send(addresses.host(target), { type: 'errand', for: state.props.name, origin, url, validators }),
    schedule(`errand ${origin}`, now.monotonicMs + ERRAND_MS_MAX, { type: 'errandDue', origin }),
  ];
}
