/**
 * The breaker of the browser service (B1): after a run of failures it is given a rest, then asked once whether it is back.
 *
 *     closed ──failures in a row──▶ open until T ──granted──▶ probing ──worked──▶ closed
 *                                      ▲   ▲                     │ │
 *                                      │   └──── failed ─────────┘ │ lost: it may be asked again at once
 *                                      └───────────────────────────┘
 *
 * A word counts only for the permit that it is about: while it rests, what earlier requests led to says nothing, and of
 * a probe only the probe speaks. Times are monotonic; a restart of the process begins with a closed one, as nothing is
 * known of the service then.
 *
 * Invariants: never open before that many failures in a row; one probe at most is out, and none before the rest is over.
 */
export type BackendBreaker =
  | { readonly phase: 'closed'; readonly failures: number }
  | { readonly phase: 'open'; readonly untilMs: number }
  | { readonly phase: 'probing'; readonly permit: number };

export interface BackendTerms {
  /** In a row. */
  readonly failuresMax: number;
  readonly restMs: number;
}

export const BACKEND_TERMS: BackendTerms = { failuresMax: 5, restMs: 120_000 };

export const WELL: BackendBreaker = { phase: 'closed', failures: 0 };

/** What came of a call: a page, however it looks, or a failure of the service itself. */
export type BackendWord = 'worked' | 'failed';

/** Whether a request may be granted. */
export function mayCall(state: BackendBreaker, nowMs: number): boolean {
  return state.phase === 'closed' || (state.phase === 'open' && state.untilMs <= nowMs);
}

/** A request was granted, where it may be. */
export function called(state: BackendBreaker, permit: number): BackendBreaker {
  return state.phase === 'open' ? { phase: 'probing', permit } : state;
}

export function told(
  state: BackendBreaker,
  permit: number,
  word: BackendWord,
  nowMs: number,
  { failuresMax, restMs }: BackendTerms,
): BackendBreaker {
  const rest: BackendBreaker = { phase: 'open', untilMs: nowMs + restMs };
  switch (state.phase) {
    case 'closed': {
      if (word === 'worked') return WELL;
      const failures = state.failures + 1;
      return failures < failuresMax ? { phase: 'closed', failures } : rest;
    }
    case 'open':
      return state;
    case 'probing':
      if (state.permit !== permit) return state;
      return word === 'worked' ? WELL : rest;
  }
}

/** The request was not made, or its end says nothing of the service. */
export function lost(state: BackendBreaker, permit: number, nowMs: number): BackendBreaker {
  return state.phase === 'probing' && state.permit === permit ? { phase: 'open', untilMs: nowMs } : state;
}
