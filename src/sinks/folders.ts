/** Folders, made with those above them. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder where there is none, one level at a time: asked for all of them at once, Node tries for ever where the
 * system says that a folder isn't there and doesn't make it either, as below /proc. Throws the system's error.
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
