/**
 * A time in which nothing gets through between crawler and web (B5), and what is held against a crawl that met it.
 *
 * It need not be noticed where only few hosts were asked, or where most had answered just before: then a failure may be
 * a host's own, and counts as one. A *plain* cut is one that must be noticed: enough different hosts are tried within
 * seconds, and nearly all that anything is known of lately are among them.
 */
import type { HostName } from '../domain/host.js';

export interface Cut {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Nothing is answered at all, or every try is refused at once. */
  readonly silent: boolean;
  /** Tries of the client that began in it, in order. */
  readonly tries: Try[];
  /** Lives of the crawl that began in it: each has to notice it anew. */
  boots: number;
  /** Hosts that had answered within the half minute before. */
  readonly reachedBefore: ReadonlySet<HostName>;
}

export interface Try {
  readonly atMs: number;
  readonly host: HostName;
  /** It ended so much later. */
  readonly forMs: number;
}

/** What a crawl needs to see, with a margin over what it says that it needs. */
const HOSTS_MIN = 6;
const SHARE_MIN = 0.9;
/** A failure is a suspicion for so long: within this others must have failed too. */
const SUSPENSE_MS = 4_000;

/** From when on it must have been noticed; null: it need not be. */
export function noticedFromMs({ tries, reachedBefore, untilMs }: Cut): number | null {
  const ends = tries.map(({ atMs, forMs, host }) => ({ atMs: atMs + forMs, host })).sort((a, b) => a.atMs - b.atMs);
  const first = ends[0];
  if (first === undefined) return null;
  const early = ends.filter(({ atMs }) => atMs <= first.atMs + SUSPENSE_MS);
  const failed = new Set(early.map(({ host }) => host));
  const seen = new Set([...failed, ...reachedBefore]);
  if (failed.size < HOSTS_MIN || failed.size < SHARE_MIN * seen.size) return null;
  const noticedMs = Math.max(...early.map(({ atMs }) => atMs));
  return noticedMs < untilMs ? noticedMs : null;
}

export function isPlain(cut: Cut): boolean {
  return noticedFromMs(cut) !== null;
}

/** Probes that come one after the other, 2, 5, 10, 20 and then 30 s apart, and what was under way. */
const PROBES_FIRST_MAX = 10;
const PROBE_EVERY_MS = 20_000;

/** Once it has been noticed one host at a time is probed, and no other is asked. */
export function judgeCut(cut: Cut, accuse: (rule: string, detail: string) => void): void {
  const noticedMs = noticedFromMs(cut);
  if (noticedMs === null) return;
  // What had begun by then ends within this.
  const settledMs = noticedMs + 25_000;
  const probes = cut.tries.filter(({ atMs }) => atMs > settledMs).length;
  const allowed = PROBES_FIRST_MAX * (1 + cut.boots) + Math.ceil(Math.max(0, cut.untilMs - settledMs) / PROBE_EVERY_MS);
  if (probes <= allowed) return;
  const forS = Math.round((cut.untilMs - settledMs) / 1_000);
  accuse('egress', `${probes} tries in ${forS} s in which nothing got through, not ${allowed} at most`);
}
