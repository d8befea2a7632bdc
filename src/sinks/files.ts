/**
 * Append-only files, as small as the store needs them: written at a given place, cut, and forced to the disk.
 *
 * A write is positioned and never relies on where the file ends, so that what an earlier failed write left behind
 * is written over, not appended to. The real adapter stands here; one in memory is in memory-files.ts.
 */
import { Buffer } from 'node:buffer';
import { close, fdatasync, fsync, ftruncate, open as openRaw, write, writev } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface AppendFile {
  /** Writes all of it at `position`, or rejects; then an unknown part of it is written. */
  write(chunks: readonly Uint8Array[], position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Resolves when all that was written is on the disk, and the file's name too. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Names are relative to the data directory, with `/` between folders. */
export interface FileSystem {
  /** Creates it, and its folder, when missing. */
  open(name: string): Promise<AppendFile>;
  /** In bytes; null when there is no such file. */
  size(name: string): Promise<number | null>;
  /** Fewer bytes than asked for where the file ends. */
  read(name: string, offset: number, length: number): Promise<Uint8Array>;
  /** Puts another content in its place: whoever looks, at any time, finds the old one or the new one, whole. */
  rewrite(name: string, bytes: Uint8Array): Promise<void>;
}

export function realFiles(directory: string): FileSystem {
  const pathOf = (name: string) => join(directory, ...name.split('/'));
  return {
    async open(name) {
      const path = pathOf(name);
      await mkdir(dirname(path), { recursive: true });
      return openForAppending(path);
    },
    async size(name) {
      try {
        return (await stat(pathOf(name))).size;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    async read(name, offset, length) {
      const handle = await open(pathOf(name), 'r');
      try {
        return await readFully((bytes, at) => handle.read(bytes, at, length - at, offset + at), length);
      } finally {
        await handle.close();
      }
    },
    async rewrite(name, bytes) {
      const path = pathOf(name);
      await mkdir(dirname(path), { recursive: true });
      await writeDurably(`${path}.new`, bytes);
      await rename(`${path}.new`, path);
      await syncFolder(dirname(path));
    },
  };
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function readFully(
  read: (bytes: Uint8Array, at: number) => Promise<{ bytesRead: number }>,
  length: number,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await read(bytes, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

/** Plain descriptors and callbacks: a third of what a FileHandle costs a write. */
async function openForAppending(path: string): Promise<AppendFile> {
  const descriptor = await openDescriptor(path);
  // Whoever made the file may have died before its name was on the disk.
  let nameIsDurable = false;
  return {
    write: (chunks, position) => writeAll(descriptor, chunks, position),
    truncate: (length) => ftruncateOf(descriptor, length),
    async sync() {
      await fdatasyncOf(descriptor);
      if (nameIsDurable) return;
      await syncFolder(dirname(path));
      await syncFolder(dirname(dirname(path)));
      nameIsDurable = true;
    },
    close: () => closeOf(descriptor),
  };
}

const openOf = promisify(openRaw);
const fsyncOf = promisify(fsync);
const ftruncateOf = promisify(ftruncate);
const fdatasyncOf = promisify(fdatasync);
const closeOf = promisify(close);

async function openDescriptor(path: string): Promise<number> {
  try {
    return await openOf(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return openOf(path, 'wx+');
  }
}

/** A new file's name is in its folder, and the folder is a file to be forced to the disk like any other. */
async function syncFolder(path: string): Promise<void> {
  const descriptor = await openOf(path, 'r');
  try {
    await fsyncOf(descriptor);
  } finally {
    await closeOf(descriptor);
  }
}

function writeAll(descriptor: number, chunks: readonly Uint8Array[], position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const total = chunks.reduce((sum, it) => sum + it.length, 0);
    const done = (error: NodeJS.ErrnoException | null, written: number) => {
      if (error !== null) reject(error);
      else if (written === total) resolve();
      else writeRest(descriptor, chunks, position, written).then(resolve, reject);
    };
    const [only] = chunks;
    if (only === undefined) resolve();
    else if (chunks.length === 1) write(descriptor, only, 0, total, position, done);
    else writev(descriptor, chunks, position, done);
  });
}

/** The system may write less than it was given: the rest, until an error says why. */
async function writeRest(
  descriptor: number,
  chunks: readonly Uint8Array[],
  position: number,
  alreadyWritten: number,
): Promise<void> {
  const rest = Buffer.concat(chunks).subarray(alreadyWritten);
  let at = 0;
  while (at < rest.length) {
    const start = at;
    const written = await new Promise<number>((resolve, reject) => {
      write(descriptor, rest, start, rest.length - start, position + alreadyWritten + start, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    });
    if (written === 0) throw new Error('the system wrote nothing and said nothing');
    at += written;
  }
}
