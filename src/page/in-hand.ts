/**
 * A note of the page that a parser thread has in hand, in a small file that outlives the process.
 *
 * A page that crashes its thread is found out by the thread's end. A page that takes the whole process with it leaves
 * only this: whoever opens the data directory next counts it against the URL. It is written over at the beginning of
 * each task and ended with it; it needs no sync, since the page cache outlives a process.
 */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Note {
  /** This URL is in hand from now on. Canonical, so ASCII without line ends. */
  begin(url: string): void;
  /** Nothing is. */
  end(): void;
  close(): void;
}

const NAME = /^parsing-\d+\.note$/;
const NOTHING = Buffer.from('\n');

/** Where the thread of this number keeps its note. */
export function notePath(directory: string, thread: number): string {
  return join(directory, `parsing-${thread}.note`);
}

/** Throws where the file can not be opened. */
export function openNote(path: string): Note {
  const file = openSync(path, 'w');
  return {
    begin: (url) => void writeSync(file, Buffer.from(`${url}\n`, 'latin1'), 0, url.length + 1, 0),
    end: () => void writeSync(file, NOTHING, 0, 1, 0),
    close: () => closeSync(file),
  };
}

/** URLs that were in hand when the last process ended, of all its threads. The notes are taken away. */
export function takeNotes(directory: string): string[] {
  const urls: string[] = [];
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    const [url = ''] = readFileSync(path, 'latin1').split('\n', 1);
    if (url !== '') urls.push(url);
    rmSync(path);
  }
  return urls;
}

function namesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile() && NAME.test(entry.name)).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
