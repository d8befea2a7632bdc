/**
 * A host that was not reached, and does not know yet whose fault that is (B5).
 *
 * A failure at network level counts for nothing at first: the workbench, which hears of all hosts, says whether it is
 * theirs or ours. Theirs is judged as every failure is. Ours is as if it had not been begun: the row keeps its place and
 * its deliveries, the breaker and the rules of the origin stay as they were, the name is resolved anew. While a host
 * waits for that word it takes no other step, and does not rest; a crash loses nothing, as its row is still queued.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { Fault } from '../policy/egress.js';
import { judgeEgress } from '../policy/judgement.js';
import type { Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, send } from '../protocols/effects.js';
import type { Blamed, RobotsFound } from '../protocols/host.js';
import type { PermitNumber } from '../protocols/workbench.js';
import { emitTransport } from './host-parts.js';
import { answerTo, goOn, proceed } from './host-proceed.js';
import { closed, conclude, countFailure, sayNothing } from './host-requests.js';
import { ERRAND_MS_MAX, hunted } from './host-robots.js';
import type { Live, State } from './host-state.js';

export function suspectName(state: Live, now: Instant): Turn<State> {
  state.activity.doing = 'suspecting';
  return proceed(state, now, [], null, { reach: 'unreached', about: { what: 'name' } });
}

/** Another host had so long for an errand: it may have waited for its permit, as all did. */
export function overdue(host: HostName, origin: Origin, now: Instant): Effect {
  return send(addresses.workbench, { type: 'overdue', host, origin, sinceMs: now.monotonicMs - ERRAND_MS_MAX });
}

/** A word on what is no longer open changes nothing. */
export function blamed(state: Live, { about, fault }: Blamed, now: Instant): Turn<State> {
  switch (about.what) {
    case 'visit':
      return visitBlamed(state, about.permit, fault, now);
    case 'name':
      return nameBlamed(state, fault, now);
    case 'errand':
      return errandBlamed(state, about.origin, fault, now);
  }
}

function visitBlamed(state: Live, permit: PermitNumber, fault: Fault, now: Instant): Turn<State> {
  const visit = state.open.get(permit);
  if (visit?.phase !== 'suspected') return [state, []];
  const { result, transport } = visit;
  if (fault === 'theirs') {
    countFailure(state, now);
    return goOn(state, now, conclude(state, permit, visit, transport, result, now));
  }
  state.open.delete(permit);
  sayNothing(state, now);
  switch (visit.what) {
    case 'page':
      return goOn(state, now, emitTransport(state, permit, visit, judgeEgress(), result, now));
    case 'robots':
      return goOn(state, now, [closed(permit), ...hunted(state, visit.hunt, OURS, now)]);
    case 'errand':
      return goOn(state, now, [closed(permit), ...answerTo(visit.errand, OURS)]);
  }
}

/** A hunt that ends so has not been begun. */
const OURS: RobotsFound = { kind: 'failure', code: 'egress_down' };

function nameBlamed(state: Live, fault: Fault, now: Instant): Turn<State> {
  const { known } = state.names;
  if (state.activity.doing !== 'suspecting' || known?.resolution.kind !== 'failed') return [state, []];
  if (fault === 'theirs') countFailure(state, now);
  else state.names.known = null;
  return goOn(state, now, []);
}

function errandBlamed(state: Live, origin: Origin, fault: Fault, now: Instant): Turn<State> {
  const hunt = state.asking.get(origin);
  if (hunt?.by !== 'errand') return [state, []];
  const found: RobotsFound = fault === 'ours' ? OURS : { kind: 'failure', code: 'timeout' };
  return proceed(state, now, hunted(state, hunt, found, now), null);
}
