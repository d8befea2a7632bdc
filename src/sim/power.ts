/**
 * A database in memory that can lose power: what was written since the last forced write may be gone, the newest first.
 *
 * LevelDB's log is read back up to where it ends, so a loss takes a suffix of the batches, each of them whole. A batch
 * that is forced to the disk takes all before it along.
 */
import type { Buffer } from 'node:buffer';
import { MemoryLevel } from 'memory-level';
import type { Random } from './random.js';

interface Written {
  readonly type: 'put' | 'del';
  readonly key: Buffer;
}

interface Operation extends Written {
  readonly value?: Buffer;
}

/** What a batch has written over: null where there was nothing. */
type Undo = readonly (readonly [key: Buffer, before: Buffer | null])[];

export class PoweredLevel extends MemoryLevel<Buffer, Buffer> {
  /** Of the batches since the last forced one, the oldest first. */
  #unsafe: Undo[] = [];

  constructor() {
    super({ keyEncoding: 'buffer', valueEncoding: 'buffer', storeEncoding: 'buffer' });
  }

  /** Called by every form of batch that there is. Single puts are not used by the store. */
  async _batch(operations: readonly Operation[], options: { readonly sync?: boolean }): Promise<void> {
    const undo: [Buffer, Buffer | null][] = [];
    for (const { key } of operations) undo.push([key, (await this.#valueOf(key)) ?? null]);
    await inner.batch.call(this, operations, options);
    if (options.sync === true) this.#unsafe = [];
    else this.#unsafe.push(undo);
  }

  /** Answers how many batches are gone: any number of those that were not forced to the disk. */
  async losePower(random: Random): Promise<number> {
    const lost = this.#unsafe.splice(random.between(0, this.#unsafe.length));
    for (const undo of lost.reverse()) {
      const operations = undo
        .map(
          ([key, before]): Operation => (before === null ? { type: 'del', key } : { type: 'put', key, value: before }),
        )
        .reverse();
      await inner.batch.call(this, operations, {});
    }
    this.#unsafe = [];
    return lost.length;
  }

  #valueOf(key: Buffer): Promise<Buffer | undefined> {
    return inner.get.call(this, key, { keyEncoding: 'buffer', valueEncoding: 'buffer' });
  }
}

/** The methods that abstract-level has its databases implement. */
const inner = {
  batch: Reflect.get(MemoryLevel.prototype, '_batch') as (
    operations: readonly Operation[],
    options: object,
  ) => Promise<void>,
  get: Reflect.get(MemoryLevel.prototype, '_get') as (key: Buffer, options: object) => Promise<Buffer | undefined>,
};
