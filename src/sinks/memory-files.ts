/**
 * Append-only files in memory, with the semantics of the real ones, for tests and simulated time: everything happens
 * in microtasks.
 *
 * Beside the port stands what a disk can do to a crawl: fail (`failNext`), lose what was not forced to it
 * (`losePower`), and be damaged by hand (`bytes`, `replace`).
 */
import { Buffer } from 'node:buffer';
import type { AppendFile, FileSystem } from './files.js';

interface MemoryFile {
  bytes: Buffer;
  length: number;
  /** What a loss of power leaves. */
  synced: Buffer | null;
}

export type FileOperation = 'open' | 'write' | 'truncate' | 'sync' | 'rewrite';

export class MemoryFiles implements FileSystem {
  readonly #files = new Map<string, MemoryFile>();
  readonly #failures: { operation: FileOperation; error: Error; writtenBytes: number }[] = [];

  /** The next operation of the kind rejects. A failing write leaves `writtenBytes` of what it was to write. */
  failNext(operation: FileOperation, error: Error, writtenBytes = 0): void {
    this.#failures.push({ operation, error, writtenBytes });
  }

  /** Every file becomes what it was when it was last forced to the disk, plus `luck` (0 to 1) of what came after. */
  losePower(luck = 0): void {
    for (const [name, file] of this.#files) {
      const safe = file.synced?.length ?? 0;
      const kept = safe + Math.floor(Math.max(0, file.length - safe) * luck);
      if (file.synced === null && kept === 0) {
        this.#files.delete(name);
        continue;
      }
      const bytes = Buffer.from(file.bytes.subarray(0, kept));
      file.synced?.copy(bytes);
      this.#files.set(name, { bytes, length: kept, synced: Buffer.from(bytes) });
    }
  }

  names(): string[] {
    return [...this.#files.keys()].sort();
  }

  bytes(name: string): Buffer {
    const file = this.#files.get(name);
    return file === undefined ? Buffer.alloc(0) : Buffer.from(file.bytes.subarray(0, file.length));
  }

  /** Null deletes it. */
  replace(name: string, bytes: Buffer | null): void {
    if (bytes === null) this.#files.delete(name);
    else this.#files.set(name, { bytes: Buffer.from(bytes), length: bytes.length, synced: Buffer.from(bytes) });
  }

  async open(name: string): Promise<AppendFile> {
    this.#failure('open');
    const file = this.#files.get(name) ?? { bytes: Buffer.alloc(0), length: 0, synced: null };
    this.#files.set(name, file);
    return {
      write: async (chunks, position) => {
        const bytes = Buffer.concat(chunks);
        const failure = this.#take('write');
        writeAt(file, failure === null ? bytes : bytes.subarray(0, failure.writtenBytes), position);
        if (failure !== null) throw failure.error;
      },
      truncate: async (length) => {
        this.#failure('truncate');
        if (length > file.length) writeAt(file, Buffer.alloc(length - file.length), file.length);
        file.length = length;
      },
      sync: async () => {
        this.#failure('sync');
        file.synced = Buffer.from(file.bytes.subarray(0, file.length));
      },
      close: async () => {},
    };
  }

  async size(name: string): Promise<number | null> {
    return this.#files.get(name)?.length ?? null;
  }

  async read(name: string, offset: number, length: number): Promise<Uint8Array> {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`no such file: ${name}`);
    return Buffer.from(file.bytes.subarray(offset, Math.min(file.length, offset + length)));
  }

  async rewrite(name: string, bytes: Uint8Array): Promise<void> {
    this.#failure('rewrite');
    this.replace(name, Buffer.from(bytes));
  }

  #take(operation: FileOperation) {
    const at = this.#failures.findIndex((it) => it.operation === operation);
    return at < 0 ? null : (this.#failures.splice(at, 1)[0] ?? null);
  }

  #failure(operation: FileOperation): void {
    const failure = this.#take(operation);
    if (failure !== null) throw failure.error;
  }
}

function writeAt(file: MemoryFile, bytes: Uint8Array, position: number): void {
  const end = position + bytes.length;
  if (end > file.bytes.length) {
    const grown = Buffer.alloc(Math.max(end, file.bytes.length * 2));
    file.bytes.copy(grown, 0, 0, file.length);
    file.bytes = grown;
  }
  // A gap between the old end and the position reads as zeros, as on a disk.
  if (position > file.length) file.bytes.fill(0, file.length, position);
  file.bytes.set(bytes, position);
  file.length = Math.max(file.length, end);
}
