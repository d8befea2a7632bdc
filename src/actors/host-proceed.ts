/**
 * How a host goes on: it takes steps until one has to be waited for, and says so to whom it concerns.
 *
 * Everything that happens to a live host ends here. What it learned about its gate goes out with the next wish to ask,
 * or alone: one message either way.
 */
import { addressClockKey } from '../policy/addresses.js';
import * as queues from '../policy/back-queue.js';
import type { Instant, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, scheduleRest, send } from '../protocols/effects.js';
import type { Errand, RobotsFound } from '../protocols/host.js';
import type { Ask, NetworkWord, Verdict } from '../protocols/workbench.js';
import { tierOf } from './host-ladder.js';
import { emit, settleStopped, unpark } from './host-parts.js';
import { deliveryOf } from './host-retries.js';
import { delayMsOf, type Live, type State, windowOf } from './host-state.js';
import { addressOf, nextStep, type Step, type Stopped } from './host-steps.js';

export function awake(state: Live, now: Instant): Turn<State> {
  if (state.activity.doing !== 'resting') return proceed(state, now, [], null);
  state.activity.visits = 0;
  return goOn(state, now, [{ do: 'cancel', key: 'idle' }]);
}

/** What was waited for has come. */
export function goOn(
  state: Live,
  now: Instant,
  effects: Effect[],
  verdict: Verdict | null = null,
  network: NetworkWord | null = null,
): Turn<State> {
  state.activity.doing = 'nothing';
  return proceed(state, now, effects, verdict, network);
}

/** Takes steps until one has to be waited for. What was learned goes out with the next wish to ask, or alone. */
export function proceed(
  state: Live,
  now: Instant,
  effects: Effect[],
  verdict: Verdict | null,
  network: NetworkWord | null = null,
): Turn<State> {
  let ask: Ask | null = null;
  if (verdict !== null) state.gateClosedUntilMs = now.monotonicMs + verdict.closedForMs;
  while (state.activity.doing === 'nothing') {
    const step = nextStep(state, now);
    if (step.step === 'wait') break;
    if (step.step === 'ask') ask = askFor(state, step, now);
    else effects.push(...perform(state, step, now));
  }
  if (verdict !== null || network !== null || ask !== null) {
    effects.push(send(addresses.workbench, { type: 'settle', host: state.props.name, verdict, network, ask }));
  }
  return [state, effects];
}

function perform(state: Live, step: Exclude<Step, { step: 'wait' | 'ask' }>, now: Instant): Effect[] {
  const { activity, props, queue } = state;
  switch (step.step) {
    case 'unpark':
      for (const entry of step.entries) queues.take(queue, entry);
      return [emit(state, { moves: unpark(step.entries) }, now)];
    case 'settle':
      return [settle(state, step.stopped, now)];
    case 'decline':
      return state.errands.splice(0).flatMap((errand) => {
        const code = step.resolution.kind === 'refused' ? 'guard_refused' : step.resolution.code;
        return answerTo(errand, { kind: 'failure', code });
      });
    case 'resolve':
      activity.doing = 'resolving';
      return [{ do: 'resolve', host: props.name }];
    case 'read':
      activity.doing = 'reading';
      return [
        {
          do: 'readQueue',
          host: props.name,
          from: queues.headsOf(queue, new Set()),
          limit: windowOf(state) + queue.taken.size,
        },
      ];
    case 'recheck':
      activity.doing = 'rechecking';
      return [{ do: 'readBlocked', host: props.name, from: step.from, limit: props.window }];
    case 'rest':
      activity.doing = 'resting';
      return [
        send(addresses.frontier, {
          type: 'rested',
          host: props.name,
          wake: state.wake,
          left: step.left,
          wakeAtMs: step.wakeAtMs,
        }),
        idleLater(state, now),
      ];
  }
}

/** To whoever sent it; nothing to nobody. */
export function answerTo({ for: asker, origin }: Errand, found: RobotsFound): Effect[] {
  return asker === null ? [] : [send(addresses.host(asker), { type: 'errandDone', origin, found })];
}

/** Rows that the last look stopped, as a part. */
export function settle(state: Live, rows: readonly Stopped[], now: Instant): Effect {
  for (const { entry } of rows) queues.take(state.queue, entry);
  if (state.names.known !== null) state.names.known = { ...state.names.known, charged: true };
  return emit(state, { settlements: rows.map((stopped) => settleStopped(state, stopped, now)) }, now);
}

export function idleLater({ props }: Live, now: Instant): Effect {
  return scheduleRest('idle', now.monotonicMs + props.idleMs, { type: 'idleDue' });
}

function askFor(state: Live, { target, priority }: Extract<Step, { step: 'ask' }>, now: Instant): Ask {
  const address = addressOf(state, now);
  if (address === null) throw new Error('asking without an address');
  state.activity.doing = 'asking';
  const addressClock = addressClockKey(address.address, state.props.addressExempt);
  return {
    host: state.props.name,
    address,
    addressClock,
    tier: tierOf(target),
    priority,
    delivery: deliveryOf(target),
    delayMs: delayMsOf(state),
  };
}
