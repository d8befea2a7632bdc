/**
 * The real LevelDB and real files under simulated time.
 *
 * Real work does not follow the simulated clock, so simulated time stands still while any of it is under way, and what
 * it brings comes as events in the order in which it was begun. A crash is a copy of the open directory: what the dead
 * incarnation has still in its hands it may write to the old one.
 */
import { Buffer } from 'node:buffer';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Level } from 'level';
import { type AppendFile, type FileSystem, realFiles } from '../sinks/files.js';
import type { Database } from '../store/database.js';
import type { Simulation } from './events.js';

type Method = (...args: unknown[]) => Promise<unknown>;

/** What a store over memory and one over a disk are asked for alike. */
export interface Medium {
  readonly directory: string;
  open(): Database;
  readonly files: FileSystem;
  /** Archive and pages as they lie there, by name. */
  names(): readonly string[];
  bytes(name: string): Buffer;
  /** The incarnation that had it open is dead. */
  crashed(): void;
  dispose(): void;
}

/** Opens what was opened, and keeps what it opens, in real directories that it removes at the end. */
export class RealMedium implements Medium {
  readonly #simulation: Simulation;
  readonly #root = mkdtempSync(join(tmpdir(), 'orbweaver-sim-'));
  readonly #handles: Level<Buffer, Buffer>[] = [];
  #life = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  get directory(): string {
    return join(this.#root, String(this.#life));
  }

  get files(): FileSystem {
    return outsideFiles(this.#simulation, realFiles(this.directory));
  }

  open(): Database {
    const level = new Level<Buffer, Buffer>(join(this.directory, 'store'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    });
    this.#handles.push(level);
    return heldLevel(this.#simulation, level);
  }

  names(): readonly string[] {
    return readdirSync(this.directory, { recursive: true, encoding: 'utf8' }).sort();
  }

  bytes(name: string): Buffer {
    return this.names().includes(name) ? readFileSync(join(this.directory, name)) : Buffer.alloc(0);
  }

  crashed(): void {
    const from = this.directory;
    this.#life += 1;
    cpSync(from, this.directory, { recursive: true, filter: (path) => basename(path) !== 'LOCK' });
  }

  dispose(): void {
    // Handles of dead incarnations hold nothing that is needed, and end with the process at the latest.
    for (const handle of this.#handles) void handle.close().catch(() => {});
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Every call that leaves for the disk is waited for by simulated time. */
function heldLevel(simulation: Simulation, level: Level<Buffer, Buffer>): Database {
  for (const name of ['_open', '_close', '_get', '_getMany', '_put', '_del', '_batch']) hold(simulation, level, name);
  const makesBatch = method(level, '_chainedBatch');
  Reflect.set(level, '_chainedBatch', () => {
    const batch = makesBatch.call(level) as object;
    for (const name of ['_write', '_close']) hold(simulation, batch, name);
    return batch;
  });
  const makesIterator = method(level, '_iterator');
  Reflect.set(level, '_iterator', (options: unknown) => {
    const iterator = makesIterator.call(level, options) as object;
    for (const name of ['_next', '_nextv', '_all', '_close']) hold(simulation, iterator, name);
    return iterator;
  });
  return level as unknown as Database;
}

function hold(simulation: Simulation, owner: object, name: string): void {
  const real = method(owner, name) as Method;
  Reflect.set(owner, name, (...args: unknown[]) =>
    simulation.outside(() => Promise.resolve(real.apply(owner, args)), name),
  );
}

function method(owner: object, name: string): (...args: unknown[]) => unknown {
  return Reflect.get(owner, name) as (...args: unknown[]) => unknown;
}

function outsideFiles(simulation: Simulation, files: FileSystem): FileSystem {
  const outside = <T>(label: string, work: () => Promise<T>): Promise<T> => simulation.outside(work, label);
  return {
    open: async (name): Promise<AppendFile> => {
      const file = await outside(`open ${name}`, () => files.open(name));
      return {
        write: (chunks, position) => outside(`write ${name}`, () => file.write(chunks, position)),
        truncate: (length) => outside(`truncate ${name}`, () => file.truncate(length)),
        sync: () => outside(`sync ${name}`, () => file.sync()),
        close: () => outside(`close ${name}`, () => file.close()),
      };
    },
    size: (name) => outside(`size ${name}`, () => files.size(name)),
    read: (name, offset, length) => outside(`read ${name}`, () => files.read(name, offset, length)),
    rewrite: (name, bytes) => outside(`rewrite ${name}`, () => files.rewrite(name, bytes)),
  };
}
