/**
 * A fetcher of any tier: one request at a time, never without a permit that still holds.
 *
 * It tells the workbench that the request has ended, and only then the host what came of it. If it crashes with a
 * request in hand, the connection is cut first, then both are told.
 */
import type { FetchFailure, FetchResult } from '../domain/fetching.js';
import type { BackendWord } from '../policy/backend-breaker.js';
import type { Behaviour, Instant } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, send } from '../protocols/effects.js';
import type { Message } from '../protocols/fetcher.js';
import type { Permit } from '../protocols/workbench.js';

export interface Props {
  /** In the pool of its tier. */
  readonly slot: number;
}

type State =
  | { readonly phase: 'idle' }
  | { readonly phase: 'fetching'; readonly permit: Permit; readonly sinceMs: number };

const IDLE: State = { phase: 'idle' };

export const fetcher: Behaviour<Props, State, Message> = {
  start: () => [IDLE, []],

  restart: (props, held, { lost }, now) => {
    const effects: Effect[] = [];
    if (held.phase === 'fetching') {
      effects.push(...report(props.slot, held.permit, failure('worker_crashed', held.sinceMs, now)));
    }
    // It had not begun: its permit is given back, and the host asks anew.
    if (lost?.type === 'start') effects.push(...refuse(lost.permit, now));
    return [IDLE, effects];
  },

  on: {
    start: (state, { permit, request }, now) => {
      if (permit.expiresAtMs <= now.monotonicMs || state.phase === 'fetching') {
        return [state, refuse(permit, now)];
      }
      return [
        { phase: 'fetching', permit, sinceMs: now.monotonicMs },
        [{ do: 'fetch', ticket: permit.number, request }],
      ];
    },

    fetchEnded: (state, { ticket, result }) => {
      if (state.phase === 'idle' || state.permit.number !== ticket) return [state, []];
      return [IDLE, report(state.permit.fetcher, state.permit, result)];
    },
  },
};

function report(slot: number, permit: Permit, result: FetchResult): Effect[] {
  const bytes = result.kind === 'response' ? result.body.byteLength : 0;
  return [
    send(addresses.workbench, {
      type: 'ended',
      permit: permit.number,
      host: permit.host,
      tier: permit.tier,
      slot,
      bytes,
      backend: backendWordOf(permit, result),
    }),
    send(addresses.host(permit.host), { type: 'fetched', permit: permit.number, result }),
  ];
}

/** B1: a page that came says that the service works, whatever the page is. What it says of the page's host is no word on itself. */
function backendWordOf({ tier }: Permit, result: FetchResult): BackendWord | null {
  if (tier !== 3 || result.kind === 'failure') return null;
  return result.kind === 'response' ? 'worked' : 'failed';
}

/** Nothing was sent on this permit, and nothing will be: the gate opens again, and the host asks anew. */
function refuse(permit: Permit, now: Instant): Effect[] {
  return [
    send(addresses.workbench, { type: 'returned', permit: permit.number, host: permit.host }),
    send(addresses.host(permit.host), {
      type: 'fetched',
      permit: permit.number,
      result: failure('interrupted', now.monotonicMs, now),
    }),
  ];
}

function failure(code: FetchFailure['code'], sinceMs: number, now: Instant): FetchFailure {
  return {
    kind: 'failure',
    code,
    detail: code === 'interrupted' ? 'the request was not begun' : 'the fetcher crashed with the request in hand',
    status: null,
    durationMs: now.monotonicMs - sinceMs,
    reusedConnection: false,
  };
}
