/**
 * From what a disk or LevelDB says to what an operator can act on: one stable code an error, in plain words, with what
 * to do. The words of the system stay along the chain of causes.
 */
import { StoreError } from '../protocols/ports.js';

interface Sign {
  readonly code: string;
  readonly pattern: RegExp;
  /** Null: only the system's own words say it. */
  readonly words: string | null;
  readonly advice: string;
}

const SIGNS: readonly Sign[] = [
  {
    code: 'store_locked',
    pattern: /LEVEL_LOCKED|already held by process|lock .*temporarily unavailable/i,
    words: 'it is in use by another process',
    advice: 'wait for the other process, or end it: only one may use a data directory',
  },
  {
    code: 'store_full',
    pattern: /ENOSPC|EDQUOT|No space left|quota exceeded|EFBIG|File too large/i,
    words: 'no space is left',
    advice: 'make room; the same command goes on',
  },
  {
    code: 'store_read_only',
    pattern: /EROFS|EACCES|EPERM|Read-only file system|Permission denied|not permitted/i,
    words: 'it may not be written',
    advice: 'give this user the right to write there, or choose another data directory',
  },
  {
    code: 'store_blocked',
    pattern: /ENOTDIR|EEXIST|Not a directory|File exists/i,
    words: 'a file is where a folder has to be',
    advice: 'move that file away, or choose another data directory',
  },
  {
    code: 'store_blocked',
    pattern: /EISDIR|Is a directory/i,
    words: 'a folder is where a file has to be',
    advice: 'move that folder away, or choose another data directory',
  },
  {
    code: 'store_corrupt',
    // A file that the store itself names and that is gone is no fault of the disk, and does not come back by itself.
    pattern: /LEVEL_CORRUPTION|Corruption|MANIFEST-\d+: No such file/i,
    words: 'its files are damaged',
    advice: 'put a copy of the data directory back, or begin anew in another one',
  },
];

const UNKNOWN: Omit<Sign, 'pattern'> = {
  code: 'store_io',
  words: null,
  advice: 'check the disk; the same command goes on',
};

/** `what` says what could not be done, as the beginning of a sentence; `where` is the file or folder. */
export function storeErrorFrom(error: unknown, what: string, where?: string): StoreError {
  if (error instanceof StoreError) return error;
  const text = wholeText(error);
  const { code, words, advice } = SIGNS.find(({ pattern }) => pattern.test(text)) ?? UNKNOWN;
  const place = pathOf(error) ?? where;
  return new StoreError(code, `${what}: ${words ?? text}`, {
    cause: error,
    advice,
    ...(place === undefined ? {} : { where: place }),
  });
}

/** What to do after a crawl that ended with this failure: all that was acknowledged is there, unless the files are damaged. */
export function adviceAfter(failure: string): string {
  if (!failure.includes('store_corrupt')) return 'the store is whole; the same command goes on';
  return SIGNS.find(({ code }) => code === 'store_corrupt')?.advice ?? UNKNOWN.advice;
}

/** The path that the system names. */
function pathOf(error: unknown): string | undefined {
  for (let it = error, depth = 0; it instanceof Error && depth < 8; it = it.cause, depth++) {
    const { path } = it as NodeJS.ErrnoException;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Messages and codes along the chain of causes: LevelDB's own words are at its end. */
function wholeText(error: unknown): string {
  const words: string[] = [];
  for (let it = error; it instanceof Error && words.length < 8; it = it.cause) {
    const code = (it as NodeJS.ErrnoException).code;
    words.push(code === undefined || it.message.includes(code) ? it.message : `${it.message} (${code})`);
  }
  return words.length > 0 ? words.join(': ') : String(error);
}
