/** A store over Maps that a commit changes in one go: what the little crawler of the simulator's own tests writes to. */
import { NO_SETTINGS } from '../../src/domain/crawl-settings.js';
import type { HostName } from '../../src/domain/host.js';
import type { QueueEntry, UrlRecord } from '../../src/domain/record.js';
import type { UrlKey } from '../../src/domain/url.js';
import type { Admission, HostPart, PageLine, Part } from '../../src/protocols/commit.js';
import type { HostSnapshot } from '../../src/protocols/host-snapshot.js';
import type { StorePort } from '../../src/protocols/ports.js';
import type { EngineMemory } from '../../src/sim/universe.js';

export class LittleMemory implements EngineMemory {
  readonly records = new Map<UrlKey, UrlRecord>();
  readonly queues = new Map<HostName, Map<UrlKey, QueueEntry>>();
  readonly snapshots = new Map<HostName, HostSnapshot>();
  readonly pages: PageLine[] = [];
  #batch = 0;

  async readPages(): Promise<readonly PageLine[]> {
    return this.pages;
  }

  async open(): Promise<StorePort> {
    const readQueue = async (host: HostName) => ({
      host,
      head: {
        ready: [...(this.queues.get(host)?.values() ?? [])],
        waiting: [],
        parked: [],
        ...{ readyComplete: true, waitingComplete: true, parkedComplete: true, failure: null, notes: [] },
      },
    });
    const opened = () => ({
      totals: this.#totals(),
      batch: this.#batch,
      nextSequence: this.records.size,
      settings: NO_SETTINGS,
      unclean: true,
      notes: [],
    });
    return {
      commit: async (batch, parts) => {
        for (const part of parts) this.#apply(part);
        this.#batch = batch;
        return { known: [], queues: [], totals: this.#totals() };
      },
      reopen: async () => opened(),
      readQueue,
      readBlocked: async (host) => ({ host, rows: { entries: [], complete: true, notes: [], failure: null } }),
      loadHost: async (host) => ({
        ...(await readQueue(host)),
        snapshot: this.snapshots.get(host) ?? null,
        robots: [],
        summary: null,
      }),
      listHosts: async () => ({
        hosts: [...this.queues]
          .filter(([, rows]) => rows.size > 0)
          .map(([host]) => ({ host, best: null, wakeAtMs: null })),
        ...{ complete: true, failure: null, notes: [] },
      }),
      eachKey: async (visit) => this.records.forEach((_, key) => visit(key)),
      countDeaths: async () => [],
      readRecord: async (key) => this.records.get(key) ?? null,
      readSummary: async () => null,
      readStanding: async () => null,
      readDead: async () => null,
      noteRun: async () => {},
      lastRun: async () => null,
      readSettings: async () => NO_SETTINGS,
      listSummaries: async () => ({ summaries: [], complete: true }),
      opened,
      close: async () => {},
    };
  }

  #apply(part: Part): void {
    for (const admission of part.admitted) this.#admit(admission);
    if (part.kind !== 'host') return;
    this.snapshots.set(part.host, part.snapshot);
    this.#move(part);
    if (part.page !== null) this.pages.push(part.page);
  }

  #admit({ record, sequence }: Admission): void {
    if (this.records.has(record.key)) return;
    this.records.set(record.key, record);
    const rows = this.queues.get(record.host) ?? new Map<UrlKey, QueueEntry>();
    this.queues.set(record.host, rows.set(record.key, { at: { queue: 'ready', priority: 0, sequence }, record }));
  }

  #move({ moves, host }: HostPart): void {
    for (const { to, record } of moves) {
      this.records.set(record.key, record);
      const rows = this.queues.get(host) ?? new Map<UrlKey, QueueEntry>();
      if (to === null) rows.delete(record.key);
      else rows.set(record.key, { at: to, record });
      this.queues.set(host, rows);
    }
  }

  #totals() {
    const ready = [...this.queues.values()].reduce((sum, rows) => sum + rows.size, 0);
    return { urls: this.records.size, ready, waiting: 0, parked: 0, dead: 0, pages: this.pages.length };
  }
}
