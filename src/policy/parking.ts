/**
 * Why a row is parked, and when one that waits for the browser service may be asked for again.
 *
 * Its attempts say so: the last one is why it was parked. A service that fails on one page and no other is not asked for
 * that page as fast as the host allows: each time in a row it waits longer.
 */
import type { Code } from '../domain/outcome.js';
import type { UrlRecord } from '../domain/record.js';
import { backoffMs, type Backoff } from './backoff.js';

/** Of one page; the service itself has its breaker. */
export const BACKEND_BACKOFF: Backoff = { firstMs: 2_000, capMs: 240_000 };

const OF_BACKEND: ReadonlySet<Code> = new Set<Code>(['backend_failed', 'backend_timeout', 'backend_down']);

export function isParkedForBackend({ attempts }: Pick<UrlRecord, 'attempts'>): boolean {
  const last = attempts.at(-1);
  return last !== undefined && last.outcome === 'parked' && OF_BACKEND.has(last.code);
}

/** Wall clock. At once where the service was not even asked. */
export function askAgainAtMs({ attempts }: Pick<UrlRecord, 'attempts'>): number {
  let failures = 0;
  for (const { code } of attempts.toReversed()) {
    if (code === 'backend_down') continue;
    if (!OF_BACKEND.has(code)) break;
    failures += 1;
  }
  const last = attempts.at(-1);
  if (failures === 0 || last === undefined) return 0;
  return last.atMs + backoffMs(BACKEND_BACKOFF, failures - 1, 0.5);
}
