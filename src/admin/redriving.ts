/**
 * Redrives as they are asked for and told: what a command gathers while one goes on, and how one is shown.
 *
 * Many letters are brought back in many commits, each of which says what became of its letters. Whoever wished it hears
 * of all of them together, of the first so many by name.
 */
import { leftIn, type Redrive, type RedriveLine, type RedriveRate } from '../domain/redrive.js';
import type { CrawlEvent } from '../protocols/events.js';
import { lettersAhead } from '../policy/redrive.js';
import { type RedriveReport, type RedriveView, timeOf } from './control.js';

/** What a wish came to. */
export interface Redriven {
  readonly redrive: Redrive;
  readonly lines: readonly RedriveLine[];
}

/** Letters that an answer names; there may be millions. */
export const LINES_MAX = 100_000;

type RedrivenEvent = Extract<CrawlEvent, { event: 'redriven' }>;

interface Gathering {
  /** Null until its first commit. */
  number: number | null;
  readonly isWhole: boolean;
  readonly lines: RedriveLine[];
  readonly resolve: (redriven: Redriven) => void;
}

/** Commands of a running crawl that wait for their redrive. */
export class Redrivings {
  readonly #gatherings = new Map<number, Gathering>();

  /** @param isWhole whether it is waited for until it is over, and not only until it has begun */
  begin(command: number, isWhole: boolean): Promise<Redriven> {
    return new Promise((resolve) => this.#gatherings.set(command, { number: null, isWhole, lines: [], resolve }));
  }

  hear({ command, redrive, lines }: RedrivenEvent): void {
    if (redrive === null) return;
    for (const [waiting, gathering] of this.#gatherings) {
      if (waiting !== command && gathering.number !== redrive.number) continue;
      gathering.number = redrive.number;
      gathering.lines.push(...lines.slice(0, LINES_MAX - gathering.lines.length));
      if (gathering.isWhole && redrive.stage === 'going') continue;
      this.#gatherings.delete(waiting);
      gathering.resolve({ redrive, lines: gathering.lines });
    }
  }
}

// -- as it is told ------------------------------------------------------------------------------------------------

export function reportOf({ redrive, lines }: Redriven): RedriveReport {
  const { queued, blocked, left, matched } = redrive;
  return {
    redrive: redriveView(redrive),
    matched,
    redriven: queued,
    blocked,
    left: leftIn(left),
    ahead: lettersAhead(redrive),
    letters: lines.map(({ url, reason }) => ({ url, redriven: reason === null, reason })),
  };
}

export const NOTHING_MEANT: RedriveReport = {
  redrive: null,
  matched: 0,
  redriven: 0,
  blocked: 0,
  left: 0,
  ahead: 0,
  letters: [],
};

export function redriveView(redrive: Redrive): RedriveView {
  const { number, atMs, way, who, filter, rate, stage, matched, queued, blocked, left, changedAtMs, dueAtMs } = redrive;
  const { host, cause, code, beforeMs, sinceMs } = filter;
  const ahead = lettersAhead(redrive);
  const isGoing = stage === 'going';
  const leftMs = rate === null ? 0 : (ahead * rate.perMs) / rate.letters;
  return {
    number,
    at: timeOf(atMs),
    way,
    who,
    filter: { host, cause, code, before: timeOf(beforeMs), since: timeOf(sinceMs) },
    rate: rate === null ? null : formatRate(rate),
    stage,
    matched,
    redriven: queued,
    blocked,
    left,
    ahead,
    changedAt: timeOf(changedAtMs),
    nextAt: isGoing ? timeOf(dueAtMs) : null,
    endsAbout: isGoing ? timeOf(Math.ceil(Math.max(dueAtMs, changedAtMs) + leftMs)) : null,
  };
}

// -- rates --------------------------------------------------------------------------------------------------------

const UNITS_MS = { s: 1_000, min: 60_000, h: 3_600_000 } as const;
const LETTERS_MAX = 1_000_000;

/** `10/s`, `30/min`, `5/h`; null for anything else. */
export function readRate(text: string): RedriveRate | null {
  const [, digits, unit] = /^([1-9]\d{0,6})\/(s|min|h)$/.exec(text) ?? [];
  const letters = Number(digits);
  if (digits === undefined || letters > LETTERS_MAX) return null;
  return { letters, perMs: UNITS_MS[unit as keyof typeof UNITS_MS] };
}

function formatRate({ letters, perMs }: RedriveRate): string {
  const unit = Object.entries(UNITS_MS).find(([, ms]) => ms === perMs)?.[0] ?? `${perMs} ms`;
  return `${letters}/${unit}`;
}
