/**
 * The gate of one host: the interlock that keeps P1 and P2 whatever happens to the host's actor.
 *
 *     open ──grant──▶ granted ──ended──▶ ended ──verdict──▶ open (closed until T)
 *      ▲                 │ returned         │ no verdict in time: the capped delay
 *      └─────────────────┘                  ▼
 *
 * Open means: free from `opensAtMs` on. A verdict only ever raises that time. A request of which no end is heard
 * counts as in flight until its deadline. All times are monotonic.
 *
 * Invariants: at most one permit is out (P1); a gate never opens before the end of the last request + its delay (P2).
 */
export type Gate =
  | { readonly phase: 'open'; readonly opensAtMs: number; readonly endedAtMs: number | null }
  | {
      readonly phase: 'granted';
      readonly permit: number;
      readonly opensAtMs: number;
      readonly endedAtMs: number | null;
      readonly deadlineMs: number;
      /** A verdict that overtook the end. */
      readonly closedForMs: number | null;
    }
  | { readonly phase: 'ended'; readonly permit: number; readonly endedAtMs: number; readonly verdictDueMs: number };

/** How long the host's verdict may stay away before the worst is assumed. */
export const VERDICT_WAIT_MS = 5_000;

/** What is assumed then: the cap of every delay that a host can have by itself. */
export const VERDICT_MISSING_CLOSED_MS = 60_000;

export function freshGate(opensAtMs: number): Gate {
  return { phase: 'open', opensAtMs, endedAtMs: null };
}

export function mayGrant(gate: Gate, nowMs: number): boolean {
  return gate.phase === 'open' && gate.opensAtMs <= nowMs;
}

export function grant(gate: Gate, permit: number, deadlineMs: number): Gate {
  if (gate.phase !== 'open') throw new Error(`permit ${permit} while ${gate.phase}`);
  return {
    phase: 'granted',
    permit,
    opensAtMs: gate.opensAtMs,
    endedAtMs: gate.endedAtMs,
    deadlineMs,
    closedForMs: null,
  };
}

/** Nothing was sent with it. */
export function giveBack(gate: Gate, permit: number): Gate {
  if (gate.phase !== 'granted' || gate.permit !== permit) return gate;
  return { phase: 'open', opensAtMs: gate.opensAtMs, endedAtMs: gate.endedAtMs };
}

export function end(gate: Gate, permit: number, nowMs: number): Gate {
  if (gate.phase !== 'granted' || gate.permit !== permit) return gate;
  if (gate.closedForMs !== null) return { phase: 'open', opensAtMs: nowMs + gate.closedForMs, endedAtMs: nowMs };
  return { phase: 'ended', permit, endedAtMs: nowMs, verdictDueMs: nowMs + VERDICT_WAIT_MS };
}

/** The host's word on its last request. Late or repeated words can only close the gate for longer. */
export function judged(gate: Gate, permit: number, closedForMs: number): Gate {
  switch (gate.phase) {
    case 'ended':
      if (gate.permit !== permit) return gate;
      return { phase: 'open', opensAtMs: gate.endedAtMs + closedForMs, endedAtMs: gate.endedAtMs };
    case 'granted':
      return gate.permit === permit ? { ...gate, closedForMs: Math.max(gate.closedForMs ?? 0, closedForMs) } : gate;
    case 'open':
      if (gate.endedAtMs === null) return gate;
      return { ...gate, opensAtMs: Math.max(gate.opensAtMs, gate.endedAtMs + closedForMs) };
  }
}

/** What time alone does to a gate. Null when nothing. */
export function overdue(gate: Gate, nowMs: number): Gate | null {
  if (gate.phase === 'granted' && gate.deadlineMs <= nowMs) return end(gate, gate.permit, nowMs);
  if (gate.phase === 'ended' && gate.verdictDueMs <= nowMs) {
    return { phase: 'open', opensAtMs: gate.endedAtMs + VERDICT_MISSING_CLOSED_MS, endedAtMs: gate.endedAtMs };
  }
  return null;
}
