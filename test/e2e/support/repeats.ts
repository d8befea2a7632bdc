/**
 * The account of each kill: what it found open, and what was asked for again because of it.
 *
 * The server's log says which requests a life has started and which answers it was given whole; the database that the
 * kill left says which of these visits had been committed. A request whose visit is not committed is *open*. A URL that
 * had got its final answer and is asked for again later is a *repeat*: D2 grants it to visits that were open at the
 * kill that ended their life, and to nothing else.
 */
import type { EndEvent, StartEvent, WitnessEvent } from '../../../src/practice/witness.js';
import type { StoreReading } from './data-directory.js';

export interface KillAccount {
  /** From the life's mark to its first request; null where it came to none. */
  readonly firstRequestMs: number | null;
  /** Requests of the life that this kill ended. */
  readonly requests: number;
  /** Exchanges that were under way at the kill. */
  readonly inFlight: number;
  /** Visits that the kill found open: requests without a commit, those for robots.txt too. */
  readonly openVisits: number;
  /** URLs whose final answer was out, and that were asked for again. */
  readonly repeats: number;
}

/** DESIGN's bound on visits that are open at once, and so on repeats. */
export const OPEN_VISITS_MAX = 256;

/** The crawler's wall clock and the server's may differ by so much; delays are longer. */
const CLOCKS_MS = 20;
/** The server sees the end of a killed client within this time. */
const ABORT_MS = 250;

interface Request {
  readonly start: StartEvent;
  readonly life: number;
  end: EndEvent | null;
}

interface Life {
  readonly bootedAt: number;
  killedAt: number | null;
  readonly requests: Request[];
}

/** One account a kill, in order. What D2 does not grant is added to `problems`. */
export function accountFor(
  events: readonly WitnessEvent[],
  stores: readonly StoreReading[],
  problems: string[],
): KillAccount[] {
  const lives = livesOf(events);
  const killed = lives.filter(({ killedAt }) => killedAt !== null);
  if (killed.length !== stores.length) problems.push(`the log knows ${killed.length} kills, not ${stores.length}`);
  const openUrls = killed.map((life, index) => openUrlsOf(life, stores[index] as StoreReading));
  const repeated = repeatsOf(lives);
  for (const { url, life, nextLife } of repeated) {
    if (life === nextLife) problems.push(`${url} was fetched twice in life ${life}, with no kill between`);
    else if (openUrls[life]?.has(url) !== true) problems.push(`${url} was committed before kill ${life}, and repeated`);
  }
  return killed.map((life, index) => {
    const inFlight = life.requests.filter((request) => isCutBy(request, life.killedAt as number));
    const openVisits = openUrls[index]?.size ?? 0;
    const repeats = repeated.filter(({ life: of, nextLife }) => of === index && nextLife !== index).length;
    if (repeats > openVisits) problems.push(`kill ${index}: ${repeats} repeats of ${openVisits} open visits`);
    if (openVisits > OPEN_VISITS_MAX) problems.push(`kill ${index}: ${openVisits} visits were open at once`);
    const first = life.requests[0];
    return {
      firstRequestMs: first === undefined ? null : Math.round(first.start.t - life.bootedAt),
      requests: life.requests.length,
      inFlight: inFlight.length,
      openVisits,
      repeats,
    };
  });
}

/** A life goes from its B to the next one. */
function livesOf(events: readonly WitnessEvent[]): Life[] {
  const lives: Life[] = [];
  const open = new Map<number, Request>();
  for (const event of events) {
    const life = lives.at(-1);
    if (event.e === 'S') {
      if (life === undefined) throw new Error('the log begins without a mark');
      const request: Request = { start: event, life: lives.length - 1, end: null };
      life.requests.push(request);
      open.set(event.i, request);
    } else if (event.e === 'E') {
      const request = open.get(event.i);
      if (request === undefined) throw new Error(`request ${event.i} ends without a start`);
      request.end = event;
      open.delete(event.i);
    } else if (event.e === 'B') lives.push({ bootedAt: event.t, killedAt: null, requests: [] });
    else if (life !== undefined) life.killedAt = event.t;
  }
  return lives;
}

/** What the life had asked for, and the store that it left knows nothing of. */
function openUrlsOf(life: Life, store: StoreReading): Set<string> {
  const open = new Set<string>();
  for (const request of life.requests) {
    const askedAtMs = request.start.t - CLOCKS_MS;
    const isKnown = request.start.u === '/robots.txt' ? robotsAreKnown : visitIsKnown;
    if (!isKnown(store, request, askedAtMs)) open.add(urlOf(request));
  }
  return open;
}

function visitIsKnown({ urls }: StoreReading, request: Request, askedAtMs: number): boolean {
  const attempts = urls.get(urlOf(request))?.attempts ?? [];
  // An attempt is dated at its judgement: one from before this request is of another.
  return attempts.some(({ atMs }) => atMs >= askedAtMs);
}

/** A failure is known by the time of the next try, which lies behind the one that failed. */
function robotsAreKnown({ robots }: StoreReading, { start }: Request, askedAtMs: number): boolean {
  const known = robots.get(`http://${start.h}`);
  if (known === undefined || known.phase === 'unknown') return false;
  return (known.phase === 'fresh' ? known.fetchedAtMs : known.retryAtMs) >= askedAtMs;
}

interface Repeat {
  readonly url: string;
  /** The life that got the answer, and the one that asked again. */
  readonly life: number;
  readonly nextLife: number;
}

function repeatsOf(lives: readonly Life[]): Repeat[] {
  const answered = new Map<string, number>();
  const repeats: Repeat[] = [];
  for (const request of lives.flatMap(({ requests }) => requests)) {
    if (request.start.u === '/robots.txt') continue;
    const url = urlOf(request);
    const before = answered.get(url);
    if (before !== undefined) repeats.push({ url, life: before, nextLife: request.life });
    if (isFinal(request)) answered.set(url, request.life);
    else answered.delete(url);
  }
  return repeats;
}

/** Whole, and with a status that a crawl takes for the last word. */
function isFinal({ end }: Request): boolean {
  if (end === null || end.how !== 'done' || end.s === null) return false;
  return end.s < 500 && end.s !== 429;
}

/** The kill cut it: it has no end, or one that is the closing of the dead client's socket. */
function isCutBy({ end }: Request, killedAt: number): boolean {
  return end === null || end.t >= killedAt || (end.how === 'abort' && end.t >= killedAt - ABORT_MS);
}

function urlOf({ start }: Request): string {
  return `http://${start.h}${start.u}`;
}
