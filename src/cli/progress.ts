/**
 * How a crawl goes, while it goes: one line that is drawn over itself on a terminal, a plain line every few seconds
 * elsewhere, nothing beside JSON. What stands in the line is a pure function of a snapshot.
 */
import { clearLine, cursorTo } from 'node:readline';

export interface ProgressSnapshot {
  /** Visits whose outcome is committed. */
  readonly pages: number;
  readonly requests: number;
  readonly queued: number;
  /** URLs that are due later. */
  readonly waiting: number;
  readonly hostsActive: number;
  /** Pages a second, of late. */
  readonly ratePerSecond: number;
  readonly failed: number;
  /** Why no request begins; absent while they do. */
  readonly held?: string;
  /** Hosts by what they wait for, the most first; absent before that is known. */
  readonly waitingWhy?: readonly (readonly [cause: string, hosts: number])[];
  /** At least so long for what is queued now; absent where nothing can be said. */
  readonly etaSeconds?: number;
}

/** `drawn`: over itself; `lines`: one after the other; `silent`: none. */
export type ProgressMode = 'drawn' | 'lines' | 'silent';

export interface Progress {
  /** As often as one likes: it draws only when it is time to. */
  update(snapshot: ProgressSnapshot, nowMs: number): void;
  /** Another line to the same stream, without tearing the drawn one. */
  aside(line: string): void;
  /** Takes the drawn line away. */
  end(): void;
}

export interface ProgressStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const DRAWN_EVERY_MS = 100;
const LINES_EVERY_MS = 5_000;
const COLUMNS_ASSUMED = 80;

/** @param isLogging standard error belongs to a log, but for a terminal that somebody looks at */
export function progressModeFor(stream: ProgressStream, json: boolean, isLogging = false): ProgressMode {
  if (json) return 'silent';
  if (stream.isTTY === true) return 'drawn';
  return isLogging ? 'silent' : 'lines';
}

/** At most `columns` wide; a reason to be held comes first, since it explains all the rest. */
export function formatProgress(snapshot: ProgressSnapshot, columns: number): string {
  const parts = [
    quantity(snapshot.pages, 'page'),
    `${rate(snapshot.ratePerSecond)}/s`,
    `${count(snapshot.queued)} queued`,
    ...(snapshot.waiting > 0 ? [`${count(snapshot.waiting)} waiting`] : []),
    hostsText(snapshot),
    ...(snapshot.etaSeconds === undefined ? [] : [`${roughly(snapshot.etaSeconds)} to go`]),
    ...(snapshot.failed > 0 ? [`${count(snapshot.failed)} failed`] : []),
    quantity(snapshot.requests, 'request'),
  ];
  const line = `${snapshot.held === undefined ? '' : `held: ${snapshot.held} · `}${parts.join(' · ')}`;
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}

const CAUSES_SHOWN = 3;

/** `12 hosts (delay 7, robots 3, retry 2)`: what they wait for, the most frequent first. */
function hostsText({ hostsActive, waitingWhy = [] }: ProgressSnapshot): string {
  const causes = waitingWhy
    .slice(0, CAUSES_SHOWN)
    .map(([cause, hosts]) => `${cause.replace('_', ' ')} ${count(hosts)}`);
  const hosts = hostsActive === 0 && causes.length > 0 ? 'no host at work' : quantity(hostsActive, 'host');
  return `${hosts}${causes.length === 0 ? '' : ` (${causes.join(', ')})`}`;
}

/** `40 s`, `5 min`, `3 h`: an estimate has no more digits than it is worth. */
export function roughly(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

export function openProgress(stream: ProgressStream, mode: ProgressMode): Progress {
  if (mode === 'silent') return { update: () => {}, aside: (line) => void stream.write(`${line}\n`), end: () => {} };
  return mode === 'drawn' ? drawnOn(stream) : linesTo(stream);
}

function drawnOn(stream: ProgressStream): Progress {
  let drawnAtMs: number | null = null;
  let shown: string | null = null;
  const draw = (line: string) => {
    cursorTo(stream, 0);
    stream.write(line);
    clearLine(stream, 1);
    shown = line;
  };
  const wipe = () => {
    if (shown === null) return;
    cursorTo(stream, 0);
    clearLine(stream, 0);
    shown = null;
  };
  return {
    update: (snapshot, nowMs) => {
      if (drawnAtMs !== null && nowMs - drawnAtMs < DRAWN_EVERY_MS) return;
      drawnAtMs = nowMs;
      // One column less: a line that fills the last one wraps on some terminals.
      // A terminal that does not know its width says 0.
      draw(formatProgress(snapshot, (stream.columns || COLUMNS_ASSUMED) - 1));
    },
    aside: (line) => {
      const below = shown;
      wipe();
      stream.write(`${line}\n`);
      if (below !== null) draw(below);
    },
    end: wipe,
  };
}

function linesTo(stream: ProgressStream): Progress {
  let writtenAtMs: number | null = null;
  return {
    update: (snapshot, nowMs) => {
      // The first line comes when there is something to tell, not at the start.
      writtenAtMs ??= nowMs;
      if (nowMs - writtenAtMs < LINES_EVERY_MS) return;
      writtenAtMs = nowMs;
      stream.write(`${formatProgress(snapshot, Number.MAX_SAFE_INTEGER)}\n`);
    },
    aside: (line) => void stream.write(`${line}\n`),
    end: () => {},
  };
}

/** `1 page`, `12,345 pages`. */
export function quantity(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `12,345`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : count(perSecond);
}
