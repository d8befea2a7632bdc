/** B2: what a row is parked for, and when it may be asked for again. */
import { describe, expect, it } from 'vitest';
import type { Attempt, Code } from '../../src/domain/outcome.js';
import { askAgainAtMs, BACKEND_BACKOFF, isParkedForBackend } from '../../src/policy/parking.js';

const tried = (...codes: Code[]): { attempts: Attempt[] } => ({
  attempts: codes.map((code, n) => ({ atMs: n * 10, outcome: 'parked', code, status: null, tier: 3, durationMs: 1 })),
});

describe('B2 parked rows', () => {
  it('are told apart by their last attempt', () => {
    for (const code of ['backend_failed', 'backend_timeout', 'backend_down'] as const)
      expect(isParkedForBackend(tried('robots_unreadable', code))).toBe(true);
    expect(isParkedForBackend(tried('backend_down', 'robots_unreadable'))).toBe(false);
    expect(isParkedForBackend(tried('browser_budget'))).toBe(false);
    expect(isParkedForBackend({ attempts: [] })).toBe(false);
  });

  it('wait for nothing where the service was not asked, and longer with each failure in a row', () => {
    expect(askAgainAtMs(tried('backend_down'))).toBe(0);
    expect(askAgainAtMs(tried('backend_failed'))).toBe(2_000);
    expect(askAgainAtMs(tried('backend_failed', 'backend_timeout'))).toBe(10 + 4_000);
    expect(askAgainAtMs(tried('backend_failed', 'backend_down', 'backend_failed'))).toBe(20 + 4_000);
    expect(askAgainAtMs(tried('backend_failed', 'ok', 'backend_failed'))).toBe(20 + 2_000);
    const eight = tried(...Array.from({ length: 8 }, () => 'backend_failed' as const));
    expect(askAgainAtMs(eight)).toBe(70 + BACKEND_BACKOFF.capMs);
  });
});
