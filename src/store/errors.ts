/** From what a disk or LevelDB says to what an operator can act on: one stable code an error. */
import { StoreError } from '../protocols/ports.js';

const SIGNS: readonly (readonly [code: string, sign: RegExp])[] = [
  ['store_locked', /LEVEL_LOCKED|already held by process|lock .*temporarily unavailable/i],
  ['store_full', /ENOSPC|EDQUOT|No space left|quota exceeded|EFBIG|File too large/i],
  ['store_read_only', /EROFS|EACCES|EPERM|Read-only file system|Permission denied|not permitted/i],
  ['store_corrupt', /LEVEL_CORRUPTION|Corruption/i],
];

/** `what` says what was being done, as the beginning of a sentence. */
export function storeErrorFrom(error: unknown, what: string): StoreError {
  if (error instanceof StoreError) return error;
  const text = wholeText(error);
  const code = SIGNS.find(([, sign]) => sign.test(text))?.[0] ?? 'store_io';
  return new StoreError(code, `${what}: ${text}`, { cause: error });
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
