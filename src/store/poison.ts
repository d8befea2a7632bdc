/**
 * Rows that can't be read as what they should be (D6), on their way to the poison range.
 *
 * Whoever reads finds them and notes them here; the next batch moves each to `z` with its reason. A row that was
 * written anew in between is left alone.
 */
import type { Buffer } from 'node:buffer';
import type { HostName } from '../domain/host.js';
import type { QueuePosition } from '../domain/record.js';
import { encodePoison } from './codec.js';
import type { Database, RowBatch } from './database.js';
import { poisonKey } from './schema.js';

export interface PoisonRow {
  readonly rowKey: Buffer;
  /** As it was found. */
  readonly value: Buffer;
  readonly reason: string;
  /** For a row of a back queue: whose, and where, so that it is counted out. */
  readonly queued: { readonly host: HostName; readonly at: QueuePosition } | null;
}

/** How many rows wait to be set aside at most; the rest is found again. */
const PENDING_MAX = 10_000;

export class PoisonList {
  readonly #pending = new Map<string, PoisonRow>();

  /** Says in words what was found. */
  note(row: PoisonRow): string {
    if (this.#pending.size < PENDING_MAX) this.#pending.set(row.rowKey.toString('latin1'), row);
    return `set aside ${nameOfRow(row.rowKey)}: ${row.reason}`;
  }

  /** Those that are still in the store as they were found; the others are forgotten. */
  async confirmed(database: Database): Promise<readonly PoisonRow[]> {
    if (this.#pending.size === 0) return [];
    const rows = [...this.#pending.values()];
    const values = await database.getMany(rows.map((it) => it.rowKey));
    const isThere = rows.map((it, i) => values[i] !== undefined && it.value.equals(values[i]));
    this.settle(rows.filter((_, i) => !isThere[i]));
    return rows.filter((_, i) => isThere[i]);
  }

  /** They are where they belong. */
  settle(rows: readonly PoisonRow[]): void {
    for (const row of rows) this.#pending.delete(row.rowKey.toString('latin1'));
  }
}

export function setAside(batch: RowBatch, row: PoisonRow): void {
  batch.delete(row.rowKey);
  batch.put(poisonKey(row.rowKey), encodePoison(row.reason, row.value));
}

/** The kind, and the rest as far as it can be printed. */
function nameOfRow(rowKey: Buffer): string {
  const text = rowKey.toString('latin1', 0, 80);
  return `row ${text.replace(/[^\x20-\x7e]/g, (it) => `\\x${it.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}
