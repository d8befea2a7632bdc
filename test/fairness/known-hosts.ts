/**
 * A store that knows very many hosts, and the crawl that resumes with it: how many are in memory, and how often each
 * comes and goes.
 *
 * Of the known hosts the first ones rotate: they have rows to be visited. Some others wait for a row that falls due while
 * the crawl goes on; all others wait for one that falls due much later.
 */
import type { Candidate } from '../../src/domain/url.js';
import { seedAdmission } from '../../src/actors/frontier-admission.js';
import { candidate, isRefused } from '../../src/page/candidate.js';
import type { HostPart, Part } from '../../src/protocols/commit.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import type { StorePort } from '../../src/protocols/ports.js';
import type { QuietCrawl } from './quiet-crawl.js';
import type { Site } from './quiet-web.js';

export interface KnownHosts {
  readonly known: number;
  /** With rows that are ready. */
  readonly rotating: number;
  readonly pagesPerHost: number;
  /** With a row that falls due within `dueMs` after the start. */
  readonly waking: number;
  readonly dueMs: number;
  /** Where a real server answers for all of them. */
  readonly port?: number;
}

const HOSTS_A_COMMIT = 2_000;
const LATER_MS = 30 * 86_400_000;

export function nameOf(host: number): string {
  return `k${host}.known${host % 997}.example`;
}

/** Every site answers within a tenth of a second; its pages lead nowhere. */
export function knownSite(host: string): Site {
  const number = Number.parseInt(host.slice(1), 10);
  return {
    address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
    answerMs: 40 + (number % 7) * 10,
    linksOf: () => [],
  };
}

/** Writes what earlier lives have left. */
export async function remember(store: StorePort, hosts: KnownHosts, nowMs: number): Promise<void> {
  const authorityOf = (host: number) => nameOf(host) + (hosts.port === undefined ? '' : `:${hosts.port}`);
  const instant = { monotonicMs: 0, wallMs: nowMs, draw: () => 0.5 };
  let { batch, nextSequence: sequence } = store.opened();
  for (let from = 0; from < hosts.known; from += HOSTS_A_COMMIT) {
    const many = Array.from({ length: Math.min(HOSTS_A_COMMIT, hosts.known - from) }, (_, n) => from + n);
    const rows = many.flatMap((host) =>
      Array.from({ length: host < hosts.rotating ? hosts.pagesPerHost : 1 }, (_, page) => ({
        host,
        admission: seedAdmission(seedOf(`http://${authorityOf(host)}/${page}`), sequence++, instant),
      })),
    );
    const admitted = rows.map(({ admission }) => admission);
    const part: Part = { kind: 'seed', command: 0, again: false, seeds: [], refused: [], admitted, settings: null };
    await store.commit(++batch, [part], false);
    const waits = rows.flatMap(({ host, admission: { record, sequence } }): HostPart[] => {
      if (host < hosts.rotating) return [];
      const isSoon = host < hosts.rotating + hosts.waking;
      const dueAtMs = Math.round(nowMs + (isSoon ? (hosts.dueMs * (host - hosts.rotating)) / hosts.waking : LATER_MS));
      const { priority } = record;
      const move = {
        from: { queue: 'ready', priority, sequence },
        to: { queue: 'waiting', dueAtMs, sequence },
        record,
      } as const;
      return [partOf(record.host, [move], dueAtMs)];
    });
    if (waits.length > 0) await store.commit(++batch, waits, false);
  }
}

function partOf(host: string, moves: HostPart['moves'], wakeAtMs: number): HostPart {
  return {
    kind: 'host',
    host,
    ticket: 1,
    permit: null,
    moves,
    snapshot: UNTOUCHED,
    robots: [],
    heads: [0, 0, 0, 0, 0, 0, 0, 0],
    wakeAtMs,
    visits: [],
    page: null,
    archive: null,
    dead: [],
    admitted: [],
    settings: null,
  };
}

function seedOf(url: string): Candidate {
  const made = candidate(url, null, 'seed', null);
  if (isRefused(made)) throw new RangeError(`no URL: ${url}`);
  return made;
}

export interface Rotation {
  readonly firstFetchSeconds: number;
  readonly seconds: number;
  readonly visits: number;
  readonly activations: number;
  readonly liveMost: number;
  /** Hosts that were woken by their time. */
  readonly woken: number;
}

/**
 * Until every host that rotates has been visited to its end, and each that was to wake has woken.
 * @param look called about every simulated second
 */
export async function rotate(crawl: QuietCrawl, hosts: KnownHosts, look: () => void = () => {}): Promise<Rotation> {
  const fromMs = crawl.nowMs;
  const wanted = hosts.rotating * hosts.pagesPerHost + hosts.waking;
  let [visits, woken, liveMost] = [0, 0, 0];
  let firstMs: number | null = null;
  crawl.onVisit = (host, outcome) => {
    if (outcome !== 'fetched') return;
    firstMs ??= crawl.nowMs;
    visits += 1;
    if (Number.parseInt(host.slice(1), 10) >= hosts.rotating) woken += 1;
  };
  await crawl.boot();
  const areDone = () => {
    liveMost = Math.max(liveMost, crawl.live);
    look();
    return visits === wanted;
  };
  await crawl.until(`${wanted} visits`, areDone, 1_000, hosts.dueMs + 3_600_000);
  return {
    firstFetchSeconds: ((firstMs ?? crawl.nowMs) - fromMs) / 1_000,
    seconds: (crawl.nowMs - fromMs) / 1_000,
    visits,
    activations: crawl.activations,
    liveMost,
    woken,
  };
}
