/**
 * The browser's time that a host may use up in a day: a browser is the dearest thing that a crawl has, and the heaviest
 * that a host meets. Days are those of UTC, so that a restart knows where it is.
 */
export interface BrowserTime {
  /** Days since the epoch. */
  readonly day: number;
  readonly usedMs: number;
}

export const UNUSED: BrowserTime = { day: 0, usedMs: 0 };

const DAY_MS = 86_400_000;

export function withUse({ day, usedMs }: BrowserTime, durationMs: number, nowWallMs: number): BrowserTime {
  const today = Math.floor(nowWallMs / DAY_MS);
  return { day: today, usedMs: Math.ceil((day === today ? usedMs : 0) + durationMs) };
}

/** When the next day begins, for a host that has used up this one; null while it has not. Wall clock. */
export function usedUpUntilMs({ day, usedMs }: BrowserTime, perDayMs: number, nowWallMs: number): number | null {
  const today = Math.floor(nowWallMs / DAY_MS);
  return day !== today || usedMs < perDayMs ? null : (today + 1) * DAY_MS;
}
