/**
 * How a host finds out its rules: the hunt for a robots.txt, along its redirects, and the errands that hosts run for
 * each other.
 *
 * A hop that lies on another host is that host's request, on its own permit (P6): it gets an errand, and answers with
 * what it found. Whoever asked holds no permit meanwhile, and waits for a bounded time. What it means that a
 * robots.txt was or was not to be had is for the policy (P5).
 */
import type { HostName } from '../domain/host.js';
import { robotsAnswered } from '../policy/robots/freshness.js';
import { readRobots } from '../policy/robots/read.js';
import { ALLOW_ALL } from '../policy/robots/rules.js';
import type { Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, log, schedule, send } from '../protocols/effects.js';
import type { RobotsFound } from '../protocols/host.js';
import { emit } from './host-parts.js';
import { type Live, type OpenVisit, robotsOf, type RobotsHunt, robotsUrlOf } from './host-state.js';
import { onward } from './host-steps.js';

/** Another host's answer to an errand is waited for so long. */
const ERRAND_MS_MAX = 90_000;

export function foundOut(
  state: Live,
  visit: Exclude<OpenVisit, { what: 'page' }>,
  found: RobotsFound,
  now: Instant,
): Effect[] {
  if (visit.what === 'robots') return hunted(state, visit.hunt, found, now);
  const { for: asker, origin } = visit.errand;
  return [send(addresses.host(asker), { type: 'errandDone', origin, found })];
}

/** A redirect leads on, on the permit of whose host it is (P6); anything else is the answer. */
export function hunted(state: Live, hunt: RobotsHunt, found: RobotsFound, now: Instant): Effect[] {
  const { origin } = hunt;
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
  state.robots.set(origin, robotsAnswered(robotsOf(state, origin), answerOf(state, hunt, found), now.wallMs));
  const known = robotsOf(state, origin);
  const status = found.kind === 'answer' ? found.status : null;
  return [
    log(known.phase === 'fresh' ? 'debug' : 'warn', 'robots_known', { origin, phase: known.phase, status }),
    emit(state, { robots: [origin] }, now),
  ];
}

function answerOf(state: Live, hunt: RobotsHunt, found: RobotsFound): Parameters<typeof robotsAnswered>[1] {
  if (found.kind === 'failure') return found;
  const { status, bytes, cut, retryAfterMs } = found;
  const isFile = status >= 200 && status < 300 && bytes !== null;
  const rules = isFile
    ? readRobots(bytes, state.props.productToken, robotsUrlOf(hunt.origin), cut ? 'cut' : 'whole')
    : ALLOW_ALL;
  return { kind: 'status', status, rules, retryAfterMs };
}

function errandTo(state: Live, target: HostName, hunt: RobotsHunt, now: Instant): Effect[] {
  const { origin, url } = hunt;
  return [
    send(addresses.host(target), { type: 'errand', for: state.props.name, origin, url }),
    schedule(`errand ${origin}`, now.monotonicMs + ERRAND_MS_MAX, { type: 'errandDue', origin }),
  ];
}
