/**
 * Sessions of the protocol: what a name stands for from one visit to the next, which is the cookies and nothing else.
 *
 * A visit keeps its context to itself all the same; it is given the cookies of its session, and what it holds in the end
 * is the session's. Sessions are bounded in number and age (S2): the one that has been left alone longest goes first.
 */
import type { SolvedCookie } from './protocol.js';

export interface Sessions {
  /** A session that is there already keeps what it holds. */
  create(name: string, nowMs: number): void;
  /** Whether there was one. */
  destroy(name: string): boolean;
  list(nowMs: number): readonly string[];
  /** Creates it where there is none. */
  cookiesOf(name: string, nowMs: number): readonly SolvedCookie[];
  /** Of a session that was destroyed meanwhile nothing is kept. */
  keep(name: string, cookies: readonly SolvedCookie[], nowMs: number): void;
}

interface Session {
  readonly cookies: readonly SolvedCookie[];
  readonly usedAtMs: number;
}

export interface SessionBounds {
  readonly sessionsMax: number;
  /** Since it was used last. */
  readonly idleMsMax: number;
}

const BOUNDS: SessionBounds = { sessionsMax: 100, idleMsMax: 3_600_000 };

export function createSessions({ sessionsMax, idleMsMax }: SessionBounds = BOUNDS): Sessions {
  // In order of use, as whatever is used is put at the end.
  const sessions = new Map<string, Session>();
  const put = (name: string, cookies: readonly SolvedCookie[], nowMs: number): void => {
    sessions.delete(name);
    sessions.set(name, { cookies, usedAtMs: nowMs });
  };
  const sweep = (nowMs: number, roomFor: number): void => {
    for (const [name, { usedAtMs }] of sessions) {
      if (nowMs - usedAtMs <= idleMsMax && sessions.size + roomFor <= sessionsMax) return;
      sessions.delete(name);
    }
  };
  const create = (name: string, nowMs: number): void => {
    sweep(nowMs, sessions.has(name) ? 0 : 1);
    put(name, sessions.get(name)?.cookies ?? [], nowMs);
  };
  return {
    create,
    destroy: (name) => sessions.delete(name),
    list: (nowMs) => {
      sweep(nowMs, 0);
      return [...sessions.keys()];
    },
    cookiesOf: (name, nowMs) => {
      create(name, nowMs);
      return sessions.get(name)?.cookies ?? [];
    },
    keep: (name, cookies, nowMs) => {
      if (sessions.has(name)) put(name, cookies, nowMs);
    },
  };
}
