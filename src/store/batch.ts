/**
 * A batch: the parts of one commit, turned into rows and bytes to append.
 *
 * What must be asked of the store is asked first, in one go (`prepare`); after that a batch is put together without
 * waiting (`build`), so that nothing can change under it. It is put together in the order of its parts, which is the
 * order in which their actors made them.
 *
 * 1. Nothing outside the batch changes until it was written: counts are drafts, files are plans.
 * 2. All rows of a commit are one LevelDB batch: each part is in the store whole or not at all (D1, D2).
 */
import type { SettingsChange } from '../domain/crawl-settings.js';
import { type HostName, partitionOf } from '../domain/host.js';
import type { Archived, DeadLetter, QueuePosition, UrlRecord } from '../domain/record.js';
import type { Redrive } from '../domain/redrive.js';
import type { UrlKey } from '../domain/url.js';
import { isAtRest, maySeedAgain, queuedAgain, queuedByChain } from '../policy/history.js';
import { comesBackTo } from '../policy/redirect-chain.js';
import { withEntered } from '../policy/redrive.js';
import type {
  Admission,
  ArchiveEntry,
  ArchivePlace,
  CommitReceipt,
  HostPart,
  Move,
  Part,
  RedrivePart,
  Totals,
} from '../protocols/commit.js';
import { type Appending, type AppendPlan, markOf, segmentsOf } from './appending.js';
import {
  decodeCounts,
  decodeDigest,
  encodeCounts,
  encodeDead,
  encodeDigest,
  encodeFile,
  encodeRecord,
  encodeRedrive,
  encodeRobots,
  encodeSettings,
  encodeSnapshot,
  encodeState,
  encodeUnsynced,
  Poison,
  type SettingsRow,
  type StoreState,
  decodeRecord,
} from './codec.js';
import { type Database, RowBatch } from './database.js';
import { isOriginal, keep, type Kept } from './keeping.js';
import { type PoisonList, type PoisonRow, setAside } from './poison.js';
import { emptyQueue, type HostQueue, QueueDraft, type Recounted, recount } from './queues.js';
import {
  deadKey,
  digestKey,
  fileKey,
  KIND,
  META,
  positionKey,
  redriveKey,
  registryKey,
  snapshotKey,
  robotsKey,
  scopeHostKey,
  summaryKey,
  unsyncedKey,
  urlKeyBytes,
} from './schema.js';

/** What was asked of the store before a batch is put together. */
export interface Prepared {
  /** Of every host that the batch touches. */
  readonly queues: ReadonlyMap<HostName, HostQueue>;
  /** Hosts that were counted anew for this batch: their rows. */
  readonly recounted: ReadonlyMap<HostName, Recounted>;
  /** URL keys and dead letters that are there already, of those that are to be asked. */
  readonly known: ReadonlySet<UrlKey>;
  /** Of them, seeds that are admitted once more, and URLs that a chain of redirects comes back to: their records. */
  readonly again: ReadonlyMap<UrlKey, UrlRecord>;
  /** Responses that the archive holds, by payload digest, of those that the parts bring. */
  readonly originals: ReadonlyMap<string, Archived>;
  /** Whether any admission asks. */
  readonly asks: boolean;
  readonly deadBefore: ReadonlySet<UrlKey>;
  readonly poison: readonly PoisonRow[];
}

/** Where batches are built. */
export interface BatchStore {
  readonly database: Database;
  readonly appending: Appending;
  readonly poison: PoisonList;
  readonly queues: { get(host: HostName): HostQueue | undefined };
  readonly suspects: ReadonlySet<HostName>;
  readonly settings: SettingsRow;
}

/** A host's counts would be negative: they were wrong before. */
export class Miscount {
  constructor(readonly hosts: readonly HostName[]) {}
}

export interface BuiltBatch {
  readonly rows: RowBatch;
  readonly plan: AppendPlan;
  readonly state: StoreState;
  readonly settings: SettingsRow;
  readonly receipt: CommitReceipt;
  readonly queues: readonly HostQueue[];
  /** It has a row that the next sync commit takes away. */
  readonly unsynced: boolean;
}

// -- asking -----------------------------------------------------------------------------------------------------

export async function prepare(
  store: BatchStore,
  parts: readonly Part[],
  miscounted: readonly HostName[],
): Promise<Prepared> {
  const poison = await store.poison.confirmed(store.database);
  const hosts = hostsOf(parts, poison);
  for (const host of store.suspects) hosts.add(host);
  const queues = new Map<HostName, HostQueue>();
  const missing: HostQueue[] = [];
  for (const host of hosts) {
    const cached = store.queues.get(host);
    if (cached !== undefined) queues.set(host, cached);
    else missing.push(emptyQueue(host));
  }
  const unreadable = missing.length === 0 ? [] : await readCounts(store.database, missing, queues);
  const recounted = new Map<HostName, Recounted>();
  for (const host of new Set([...unreadable, ...store.suspects, ...miscounted])) {
    const counted = await recount(store.database, host, queues.get(host) ?? null);
    recounted.set(host, counted);
    // What it was counted as is not known: the totals stay as they are.
    if (unreadable.includes(host)) queues.set(host, counted.queue);
  }
  const known = await knownOf(store.database, queues, parts);
  const again = await admittedAgain(store.database, queues, parts, known);
  const deadBefore = await deadOf(store.database, queues, parts, again);
  const originals = await originalsOf(store.database, parts);
  const asks = parts.some((part) => part.admitted.some((it) => it.ifAbsent));
  return { queues, recounted, known, again, originals, asks, deadBefore, poison };
}

function hostsOf(parts: readonly Part[], poison: readonly PoisonRow[]): Set<HostName> {
  const hosts = new Set<HostName>();
  for (const part of parts) {
    if (part.kind === 'host') {
      hosts.add(part.host);
      for (const letter of part.dead) hosts.add(letter.host);
    }
    for (const admission of part.admitted) hosts.add(admission.record.host);
  }
  for (const row of poison) {
    if (row.queued !== null) hosts.add(row.queued.host);
  }
  return hosts;
}

/** Fills in the counts of hosts that aren't in memory; returns those whose row can't be read. */
async function readCounts(
  database: Database,
  missing: readonly HostQueue[],
  queues: Map<HostName, HostQueue>,
): Promise<HostName[]> {
  const values = await database.getMany(missing.map((it) => summaryKey(it.partition, it.host)));
  const unreadable: HostName[] = [];
  missing.forEach((empty, i) => {
    const value = values[i];
    const counts = value === undefined ? null : decodeCounts(value);
    if (counts instanceof Poison) unreadable.push(empty.host);
    queues.set(empty.host, counts === null || counts instanceof Poison ? empty : { ...empty, ...counts });
  });
  return unreadable;
}

async function knownOf(
  database: Database,
  queues: ReadonlyMap<HostName, HostQueue>,
  parts: readonly Part[],
): Promise<ReadonlySet<UrlKey>> {
  const asked: { key: UrlKey; rowKey: Buffer }[] = [];
  for (const part of parts) {
    for (const { record, ifAbsent } of part.admitted) {
      if (ifAbsent) asked.push({ key: record.key, rowKey: registryKey(partitionIn(queues, record.host), record.key) });
    }
  }
  return presentOf(database, asked);
}

/** What was known before and is admitted once more: a command's seeds, dead letters, and where a chain of redirects comes back to. */
async function admittedAgain(
  database: Database,
  queues: ReadonlyMap<HostName, HostQueue>,
  parts: readonly Part[],
  known: ReadonlySet<UrlKey>,
): Promise<ReadonlyMap<UrlKey, UrlRecord>> {
  const again = new Map<UrlKey, UrlRecord>();
  for (const part of parts) {
    const mayName = part.kind === 'seed' || part.kind === 'redrive';
    const asked = part.admitted
      .map(({ record }) => record)
      .filter(({ key, chain }) => known.has(key) && (mayName || comesBackTo(key, chain)));
    if (asked.length === 0) continue;
    const values = await database.getMany(asked.map(({ key, host }) => registryKey(partitionIn(queues, host), key)));
    asked.forEach(({ key, host }, i) => {
      const value = values[i];
      const record = value === undefined ? null : decodeRecord(value, key, host);
      if (record === null || record instanceof Poison) return;
      if (mayEnterAgain(part, record)) again.set(key, record);
    });
  }
  return again;
}

function mayEnterAgain(part: Part, record: UrlRecord): boolean {
  if (part.kind === 'redrive') return record.state === 'dead';
  return part.kind === 'seed' ? maySeedAgain(record) || (part.again && isAtRest(record)) : isAtRest(record);
}

async function originalsOf(database: Database, parts: readonly Part[]): Promise<ReadonlyMap<string, Archived>> {
  const digests = new Set<string>();
  for (const part of parts) {
    if (part.kind !== 'host' || part.archive === null || !isOriginal(part.archive)) continue;
    digests.add(part.archive.records.payloadDigest);
  }
  if (digests.size === 0) return NO_ORIGINALS;
  const asked = [...digests];
  const values = await database.getMany(asked.map(digestKey));
  const originals = new Map<string, Archived>();
  asked.forEach((payloadDigest, i) => {
    const value = values[i];
    const origin = value === undefined ? null : decodeDigest(value);
    // One that can't be read is written over by the response that asks.
    if (origin !== null && !(origin instanceof Poison)) originals.set(payloadDigest, { ...origin, payloadDigest });
  });
  return originals;
}

const NO_ORIGINALS: ReadonlyMap<string, Archived> = new Map();

/** Dead letters that are there, of those that are written or taken away. */
async function deadOf(
  database: Database,
  queues: ReadonlyMap<HostName, HostQueue>,
  parts: readonly Part[],
  again: ReadonlyMap<UrlKey, UrlRecord>,
): Promise<ReadonlySet<UrlKey>> {
  const asked: { key: UrlKey; rowKey: Buffer }[] = [];
  for (const { state, key, host } of again.values()) {
    if (state === 'dead') asked.push({ key, rowKey: deadKey(partitionIn(queues, host), key) });
  }
  for (const part of parts) {
    if (part.kind !== 'host') continue;
    for (const { host, key } of part.dead) asked.push({ key, rowKey: deadKey(partitionIn(queues, host), key) });
  }
  return presentOf(database, asked);
}

const NONE: ReadonlySet<UrlKey> = new Set();

async function presentOf(
  database: Database,
  asked: readonly { readonly key: UrlKey; readonly rowKey: Buffer }[],
): Promise<ReadonlySet<UrlKey>> {
  if (asked.length === 0) return NONE;
  const present = await database.hasMany(asked.map((it) => it.rowKey));
  return new Set(asked.filter((_, i) => present[i]).map((it) => it.key));
}

function partitionIn(queues: ReadonlyMap<HostName, HostQueue>, host: HostName): number {
  const queue = queues.get(host);
  if (queue === undefined) throw new Error(`counts of ${host} were not asked for`);
  return queue.partition;
}

// -- building ---------------------------------------------------------------------------------------------------

/** @param unsyncedBefore batches whose rows of kind `a` are still there. */
export function build(
  store: BatchStore,
  prepared: Prepared,
  before: StoreState,
  commit: { readonly batch: number; readonly parts: readonly Part[]; readonly sync: boolean },
  unsyncedBefore: readonly number[],
): BuiltBatch | Miscount {
  // A doubtful batch that turned out to be in the store must not be written a second time (D2).
  if (commit.batch <= before.batch) throw new Error(`batch ${commit.batch} after batch ${before.batch}`);
  const building = new Building(store, prepared, before);
  for (const row of prepared.poison) building.takePoison(row);
  for (const part of commit.parts) building.takePart(part);
  for (const host of prepared.recounted.keys()) building.draftOf(host);
  const miscounted = building.miscounted();
  if (miscounted.length > 0) {
    void building.rows.drop();
    return new Miscount(miscounted);
  }
  return building.finish(commit.batch, commit.sync, unsyncedBefore);
}

/** Of a row that says all by being there. */
const NO_VALUE = Buffer.alloc(0);

class Building {
  readonly rows: RowBatch;
  readonly #store: BatchStore;
  readonly #prepared: Prepared;
  readonly #before: StoreState;
  readonly #plan: AppendPlan;
  readonly #drafts = new Map<HostName, QueueDraft>();
  /** Keys that this batch admitted, kept only when there is somebody who asks. */
  readonly #admitted: Set<UrlKey> | null;
  readonly #dead = new Set<UrlKey>();
  /** Dead letters that are taken away. */
  #redeemed = 0;
  /** Payloads that this batch archives whole. */
  readonly #originals = new Map<string, Archived>();
  readonly #known: UrlKey[] = [];
  readonly #redrives: Redrive[] = [];
  readonly #places = new Map<Part, ArchivePlace>();
  readonly #visits: { key: UrlKey; host: HostName }[] = [];
  #urls: number;
  #nextSequence: number;
  #settings: SettingsRow;

  constructor(store: BatchStore, prepared: Prepared, before: StoreState) {
    this.rows = new RowBatch(store.database);
    this.#store = store;
    this.#prepared = prepared;
    this.#before = before;
    this.#plan = store.appending.plan();
    this.#admitted = prepared.asks ? new Set() : null;
    this.#urls = before.totals.urls;
    this.#nextSequence = before.nextSequence;
    this.#settings = store.settings;
  }

  draftOf(host: HostName): QueueDraft {
    const made = this.#drafts.get(host);
    if (made !== undefined) return made;
    const recounted = this.#prepared.recounted.get(host);
    const queue = recounted?.queue ?? this.#prepared.queues.get(host);
    if (queue === undefined) throw new Error(`counts of ${host} were not asked for`);
    const draft = new QueueDraft(queue, recounted?.rows);
    this.#drafts.set(host, draft);
    return draft;
  }

  takePoison(row: PoisonRow): void {
    setAside(this.rows, row);
    if (row.rowKey[0] === KIND.registry) this.#urls--;
    if (row.queued !== null) this.draftOf(row.queued.host).remove(row.queued.at);
  }

  takePart(part: Part): void {
    if (part.kind === 'host') this.#takeHostPart(part);
    if (part.settings !== null) this.#change(part.settings);
    if (part.kind === 'redrive') return this.#takeRedrive(part);
    for (const admission of part.admitted) this.#admit(admission);
  }

  /** What enters is counted here, where it is known; the letters go, and the redrive has come so far, in the same batch. */
  #takeRedrive({ redrive, admitted }: RedrivePart): void {
    const entered = { queued: 0, blocked: 0 };
    for (const admission of admitted) {
      const { record, sequence } = admission;
      const before = this.#prepared.again.get(record.key);
      // One that has changed since it was read is no dead letter's any more.
      if (before?.state !== 'dead' || this.#admitted?.has(record.key)) {
        this.#known.push(record.key);
        continue;
      }
      this.#enter(record, sequence, before);
      entered[record.state === 'blocked_by_robots' ? 'blocked' : 'queued'] += 1;
    }
    const counted = withEntered(redrive, entered);
    this.rows.put(redriveKey(redrive.number), encodeRedrive(counted));
    this.#redrives.push(counted);
  }

  #change({ scopeHosts = [], ...rest }: SettingsChange): void {
    for (const host of scopeHosts) this.rows.put(scopeHostKey(partitionOf(host), host), NO_VALUE);
    if (Object.keys(rest).length === 0) return;
    this.#settings = { ...this.#settings, ...rest };
    this.rows.put(META.settings, encodeSettings(this.#settings));
  }

  miscounted(): HostName[] {
    return [...this.#drafts.values()].filter((it) => it.miscounted).map((it) => it.host);
  }

  #takeHostPart(part: HostPart): void {
    const draft = this.draftOf(part.host);
    draft.claim(part.heads, part.wakeAtMs);
    const kept = part.archive === null ? null : this.#keep(part.archive);
    for (const move of part.moves)
      this.#move(draft, kept === null || part.page === null ? move : archivedAt(move, kept));
    for (const letter of part.dead) this.#bury(letter);
    this.rows.put(snapshotKey(draft.partition, part.host), encodeSnapshot(part.snapshot));
    for (const { origin, state } of part.robots)
      this.rows.put(robotsKey(draft.partition, part.host, origin), encodeRobots(state));
    if (part.archive === null && part.page === null) return;
    const place = this.#store.appending.take(this.#plan, kept, part.page);
    if (part.delivery !== undefined && place !== null) this.#places.set(part, place);
    for (const { record } of part.moves) this.#visits.push({ key: record.key, host: part.host });
  }

  /** Whole, if its payload is new to the archive and to this batch. */
  #keep(entry: ArchiveEntry): Kept {
    const { payloadDigest } = entry.records;
    const mayRefer = isOriginal(entry);
    const before = this.#originals.get(payloadDigest) ?? this.#prepared.originals.get(payloadDigest) ?? null;
    const kept = keep(entry, mayRefer ? before : null);
    if (mayRefer && kept.record === 'response' && kept.archived !== null) {
      this.#originals.set(payloadDigest, kept.archived);
      this.rows.put(digestKey(payloadDigest), encodeDigest(kept.archived));
    }
    return kept;
  }

  #move(draft: QueueDraft, { from, to, record }: Move): void {
    this.rows.put(registryKey(draft.partition, record.key), encodeRecord(record));
    if (to !== null && isSamePosition(from, to)) return;
    this.rows.delete(positionKey(draft.partition, draft.host, from));
    draft.remove(from);
    if (to === null) return;
    this.rows.put(positionKey(draft.partition, draft.host, to), urlKeyBytes(record.key));
    draft.add(to);
  }

  #bury(letter: DeadLetter): void {
    if (!this.#prepared.deadBefore.has(letter.key)) this.#dead.add(letter.key);
    this.rows.put(deadKey(partitionIn(this.#prepared.queues, letter.host), letter.key), encodeDead(letter));
  }

  #admit({ record: found, sequence, ifAbsent }: Admission): void {
    const before = this.#prepared.again.get(found.key);
    const isThere = this.#prepared.known.has(found.key) && before === undefined;
    if (ifAbsent && (isThere || this.#admitted?.has(found.key))) {
      this.#known.push(found.key);
      return;
    }
    const record =
      before === undefined ? found : found.chain === null ? queuedAgain(before, found) : queuedByChain(before, found);
    this.#enter(record, sequence, before);
  }

  #enter(record: UrlRecord, sequence: number, before: UrlRecord | undefined): void {
    this.#admitted?.add(record.key);
    if (before?.state === 'dead') this.#redeem(before);
    const draft = this.draftOf(record.host);
    const at = positionOfAdmitted(record, sequence);
    this.rows.put(registryKey(draft.partition, record.key), encodeRecord(record));
    this.rows.put(positionKey(draft.partition, record.host, at), urlKeyBytes(record.key));
    draft.add(at);
    if (before === undefined) this.#urls++;
    if (sequence >= this.#nextSequence) this.#nextSequence = sequence + 1;
  }

  /** It is tried once more: it is no dead letter any longer. */
  #redeem({ host, key }: UrlRecord): void {
    if (!this.#prepared.deadBefore.has(key)) return;
    this.rows.delete(deadKey(partitionIn(this.#prepared.queues, host), key));
    this.#redeemed++;
  }

  finish(batch: number, sync: boolean, unsyncedBefore: readonly number[]): BuiltBatch {
    const queues: HostQueue[] = [];
    const receipts: CommitReceipt['queues'][number][] = [];
    const gains = { ready: 0, waiting: 0, parked: 0 };
    for (const draft of this.#drafts.values()) {
      const after = draft.after();
      this.rows.put(summaryKey(draft.partition, draft.host), encodeCounts(after));
      addGain(gains, this.#prepared.queues.get(draft.host) as HostQueue, after);
      receipts.push(draft.receipt(after));
      queues.push(after);
    }
    const state = this.#stateAfter(batch, gains);
    this.rows.put(META.state, encodeState(state));
    const unsynced = this.#putFiles(batch, sync, unsyncedBefore);
    const places = this.#places.size === 0 ? {} : { places: this.#places };
    const redrives = this.#redrives.length === 0 ? {} : { redrives: this.#redrives };
    const receipt = { known: this.#known, queues: receipts, totals: state.totals, ...redrives, ...places };
    return { rows: this.rows, plan: this.#plan, state, settings: this.#settings, receipt, queues, unsynced };
  }

  #stateAfter(batch: number, gains: { ready: number; waiting: number; parked: number }): StoreState {
    const before = this.#before.totals;
    const totals: Totals = {
      urls: this.#urls,
      ready: before.ready + gains.ready,
      waiting: before.waiting + gains.waiting,
      parked: before.parked + gains.parked,
      dead: before.dead + this.#dead.size - this.#redeemed,
      pages: before.pages + this.#plan.pages,
    };
    return { batch, nextSequence: this.#nextSequence, totals, archiveNumber: this.#plan.archiveNumber };
  }

  /** A sync commit vouches for all files, so that nothing needs to be known of how they grew before. */
  #putFiles(batch: number, sync: boolean, unsyncedBefore: readonly number[]): boolean {
    for (const append of this.#plan.appends.values()) {
      this.rows.put(fileKey(append.file.name), encodeFile(markOf(append)));
    }
    if (sync) {
      for (const earlier of unsyncedBefore) this.rows.delete(unsyncedKey(earlier));
      return false;
    }
    if (this.#plan.appends.size === 0) return false;
    const segments = segmentsOf(this.#plan);
    const digests = [...this.#originals.keys()];
    const unsynced = { segments, visits: this.#visits, digests, pages: this.#plan.pages };
    this.rows.put(unsyncedKey(batch), encodeUnsynced(unsynced));
    return true;
  }
}

function archivedAt(move: Move, { archived }: Kept): Move {
  return { ...move, record: { ...move.record, archived } };
}

/** What robots.txt disallowed on its admission is there to be looked at again, and is no work. */
function positionOfAdmitted({ state, priority }: UrlRecord, sequence: number): QueuePosition {
  return state === 'blocked_by_robots' ? { queue: 'blocked', sequence } : { queue: 'ready', priority, sequence };
}

/** Due times are kept as whole milliseconds. */
function isSamePosition(from: QueuePosition, to: QueuePosition): boolean {
  if (from.queue !== to.queue || from.sequence !== to.sequence) return false;
  if (from.queue === 'ready') return to.queue === 'ready' && from.priority === to.priority;
  if (from.queue === 'waiting') return to.queue === 'waiting' && Math.floor(from.dueAtMs) === Math.floor(to.dueAtMs);
  return true;
}

function addGain(gains: { ready: number; waiting: number; parked: number }, before: HostQueue, after: HostQueue): void {
  for (let i = 0; i < after.ready.length; i++) gains.ready += (after.ready[i] as number) - (before.ready[i] as number);
  gains.waiting += after.waiting - before.waiting;
  gains.parked += after.parked - before.parked;
}
