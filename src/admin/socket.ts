/**
 * Where a running crawl listens: `control.sock` in its data directory.
 *
 * Only the user who runs the crawl may connect (mode 0600 from the first moment on). A socket that is already there
 * belongs to a process that died: whoever listens holds the store's lock. A path that is longer than the system can
 * name is reached through a descriptor of its folder, where the system has that.
 */
import { closeSync, constants, existsSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { ControlError } from './control.js';

export const SOCKET_NAME = 'control.sock';
/** Bytes of a path that `sun_path` holds beside its closing zero (unix(7)). */
export const SOCKET_PATH_BYTES_MAX = 107;
const DESCRIPTORS = '/proc/self/fd';
const OTHERS_MASK = 0o177;

export interface SocketAddress {
  /** Short enough for the system. */
  readonly path: string;
  /** Not before the socket is no longer used, nor removed: the path may go through a descriptor. */
  release(): void;
}

/** Throws ControlError `control_path_long`. */
export function socketAddress(dataDir: string): SocketAddress {
  const path = join(dataDir, SOCKET_NAME);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, release: () => {} };
  if (!existsSync(DESCRIPTORS)) {
    const message = `its path has more than ${SOCKET_PATH_BYTES_MAX} bytes, and this system has no way around that`;
    const advice = 'choose a data directory with a shorter path, or run from within it with --data .';
    throw new ControlError('control_path_long', message, 500, path, advice);
  }
  const folder = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `${DESCRIPTORS}/${folder}/${SOCKET_NAME}`, release: () => closeSync(folder) };
}

/** Rejects with ControlError `control_blocked` where something else has that name, or with the system's error. */
export async function listenOn(server: Server, { path }: SocketAddress): Promise<void> {
  removeStale(path);
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
  });
  // The socket is made within this call: it never has another mode.
  const mask = process.umask(OTHERS_MASK);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await listening;
}

function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ControlError('control_blocked', 'something that is no socket is in its place', 500, path, 'move it away');
  }
  unlinkSync(path);
}
