/**
 * The store in simulated time: a real store over memory, behind a disk that takes its while and sometimes fails.
 *
 * Intuition: what is written belongs to the disk, who waits for it belongs to a process. A commit waits, is applied
 * whole, waits again, and only then is acknowledged: a kill in between leaves what was applied but never answered.
 *
 * 1. The memory outlives kills; each incarnation opens it anew.
 * 2. Commits are counted over all incarnations, so that a kill can be aimed at a moment after the n-th.
 * 3. An injected error comes before the batch was applied, after it, or inside the real store. Until it was reopened
 *    the store takes nothing more; an engine that goes on writing is a trespass.
 * 4. Files take their while, too, and a write is not one piece: a kill leaves the first half of it (`slowFiles`).
 * 5. Reads take theirs, and belong to whoever reads.
 */
import { Buffer } from 'node:buffer';
import { type StorePort, StoreError } from '../protocols/ports.js';
import type { Simulation } from './events.js';
import type { Random } from './random.js';

export interface Disk {
  /** Opens it for the running incarnation. */
  open(): Promise<StorePort>;
  /** Called as the n-th commit (from 1, over all incarnations) was applied, before it is acknowledged. */
  onApplied: (commits: number) => void;
  readonly commits: number;
  /** Injected errors that were really met. */
  readonly errors: number;
  readonly trespasses: readonly string[];
  /** Since then commits fail; null: the last one did not. */
  readonly heldUpSinceMs: number | null;
}

export interface DiskOptions {
  /** Opens the real store over memory that outlives the incarnation. */
  readonly open: () => Promise<StorePort>;
  /** Numbers of commits, as they are begun (from 1, over all incarnations), that fail. */
  readonly failing: ReadonlySet<number>;
  /** Makes the next write inside the real store fail, so that its own way out of an error is taken, too. */
  readonly failInside?: () => void;
}

/** Append-only files, as a store asks for them. */
export interface Files {
  open(name: string): Promise<AppendOnly>;
  size(name: string): Promise<number | null>;
  read(name: string, offset: number, length: number): Promise<Uint8Array>;
  rewrite(name: string, bytes: Uint8Array): Promise<void>;
}

export interface AppendOnly {
  write(chunks: readonly Uint8Array[], position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function createDisk(simulation: Simulation, options: DiskOptions): Disk {
  return new SimulatedDisk(simulation, options);
}

class SimulatedDisk implements Disk {
  onApplied: (commits: number) => void = () => {};
  commits = 0;
  errors = 0;
  heldUpSinceMs: number | null = null;
  readonly trespasses: string[] = [];
  readonly #simulation: Simulation;
  readonly #options: DiskOptions;
  readonly #random: Random;
  #begun = 0;

  constructor(simulation: Simulation, options: DiskOptions) {
    this.#simulation = simulation;
    this.#options = options;
    this.#random = simulation.random.fork('disk');
  }

  async open(): Promise<StorePort> {
    await this.#wait('open', 2, 40);
    const inner = await this.#options.open();
    const read = async <T>(label: string, answer: () => Promise<T>): Promise<T> => {
      await this.#wait(label, 0.05, 2);
      return answer();
    };
    const writing = this.#writing(inner);
    return {
      ...writing,
      loadHost: (host, limit) => read(`load ${host}`, () => inner.loadHost(host, limit)),
      readQueue: (host, from, limit) => read(`queue ${host}`, () => inner.readQueue(host, from, limit)),
      readBlocked: (host, from, limit) => read(`blocked ${host}`, () => inner.readBlocked(host, from, limit)),
      listHosts: (after, limit) => read('hosts', () => inner.listHosts(after, limit)),
      eachKey: (visit) => read('keys', () => inner.eachKey(visit)),
      countDeaths: (urls) => inner.countDeaths(urls),
      readRecord: (key, host) => read('record', () => inner.readRecord(key, host)),
      readSummary: (host) => read('summary', () => inner.readSummary(host)),
      readStanding: (record, rowsMax) => read('standing', () => inner.readStanding(record, rowsMax)),
      readDead: (key, host) => read('dead', () => inner.readDead(key, host)),
      listDead: (after, limit) => read('dead letters', () => inner.listDead(after, limit)),
      readRedrivable: (query) => read('redrivable', () => inner.readRedrivable(query)),
      listRedrives: (before, limit) => read('redrives', () => inner.listRedrives(before, limit)),
      noteRun: (told) => inner.noteRun(told),
      lastRun: () => inner.lastRun(),
      listSummaries: (after, limit) => read('summaries', () => inner.listSummaries(after, limit)),
      readSettings: () => inner.readSettings(),
      opened: () => inner.opened(),
    };
  }

  #writing(inner: StorePort): Pick<StorePort, 'commit' | 'reopen' | 'close'> {
    const simulation = this.#simulation;
    let phase: 'ready' | 'writing' | 'failed' | 'closed' = 'ready';
    let written: Promise<unknown> = Promise.resolve();
    const expect = (what: string, ...allowed: (typeof phase)[]): void => {
      if (!allowed.includes(phase))
        this.trespasses.push(`${what} while the store was ${phase}, at ${Math.round(simulation.nowMs)} ms`);
    };
    const commit: StorePort['commit'] = async (batch, parts, sync) => {
      expect(`commit ${batch}`, 'ready');
      if (phase !== 'ready') throw new StoreError('store_io', `the store is ${phase}`);
      phase = 'writing';
      const fault = this.#drawFault();
      await this.#wait(`write ${batch}`, 0.1, sync ? 12 : 3);
      if (fault === 'inside') this.#options.failInside?.();
      try {
        if (fault === 'before') throw new StoreError('store_io', 'an injected error before the write');
        const receipt = await inner.commit(batch, parts, sync);
        this.onApplied(++this.commits);
        this.heldUpSinceMs = null;
        await this.#wait(`acknowledge ${batch}`, 0.05, 3);
        if (fault === 'after') throw new StoreError('store_io', 'an injected error after the write');
        phase = 'ready';
        return receipt;
      } catch (error) {
        phase = 'failed';
        this.errors += 1;
        this.heldUpSinceMs ??= this.#simulation.nowMs;
        throw error;
      }
    };
    return {
      commit: (batch, parts, sync) => {
        const receipt = commit(batch, parts, sync);
        written = receipt.catch(() => {});
        return receipt;
      },
      reopen: async () => {
        expect('reopen', 'failed', 'ready');
        await this.#wait('reopen', 2, 40);
        const opening = await inner.reopen();
        phase = 'ready';
        return opening;
      },
      close: async () => {
        await written;
        expect('close', 'ready', 'failed');
        phase = 'closed';
        await this.#wait('close', 1, 10);
        await inner.close();
      },
    };
  }

  #drawFault(): 'before' | 'after' | 'inside' | null {
    if (!this.#options.failing.has(++this.#begun)) return null;
    return this.#random.pick(
      this.#options.failInside === undefined ? ['before', 'after'] : ['before', 'after', 'inside'],
    );
  }

  /** Even between its ends; one in a hundred takes twenty times as long. */
  #wait(label: string, msMin: number, msMax: number): Promise<void> {
    const stall = this.#random.chance(0.01) ? 20 : 1;
    return this.#simulation.sleep(this.#random.span(msMin, msMax) * stall, { label });
  }
}

/** Files that take their while. A write comes in two pieces, so that a kill can leave the first alone. */
export function slowFiles(simulation: Simulation, files: Files): Files {
  const random = simulation.random.fork('files');
  const wait = (label: string, msMax: number): Promise<void> => simulation.sleep(random.span(0.02, msMax), { label });
  return {
    size: (name) => files.size(name),
    read: (name, offset, length) => files.read(name, offset, length),
    rewrite: async (name, bytes) => {
      await wait(`rewrite ${name}`, 8);
      await files.rewrite(name, bytes);
    },
    open: async (name) => {
      const file = await files.open(name);
      return {
        write: async (chunks, position) => {
          const whole = Buffer.concat(chunks);
          const cut = random.between(0, whole.length);
          await wait(`append ${name}`, 2);
          if (cut > 0) await file.write([whole.subarray(0, cut)], position);
          await wait(`append on ${name}`, 1);
          if (cut < whole.length) await file.write([whole.subarray(cut)], position + cut);
        },
        truncate: (length) => file.truncate(length),
        sync: async () => {
          await wait(`sync ${name}`, 8);
          await file.sync();
        },
        close: () => file.close(),
      };
    },
  };
}
