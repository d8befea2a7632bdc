/** What the file system refuses, in plain words. */
import { CommandError, EXIT, type ExitCode } from './terminal.js';

const WORDS: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  ENOENT: ['there is no such file', 'check the path'],
  EISDIR: ['it is a folder, not a file', 'name a file'],
  ENOTDIR: ['a file is in the way of its folder', 'check the path'],
  EEXIST: ['a file is in the way of its folder', 'check the path'],
  EACCES: ['this user may not open it', 'check its permissions'],
  EPERM: ['this user may not open it', 'check its permissions'],
  EROFS: ['the file system can only be read', 'choose another place'],
  ENOSPC: ['no space is left', 'make room'],
};

/** A file that was to be read: wrong usage. `where` names it as the user did. */
export function unreadable(error: unknown, where: string): CommandError {
  return fileError('file_unreadable', error, where, EXIT.usage);
}

/** A file that was to be written. */
export function unwritable(error: unknown, where: string): CommandError {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    const advice = 'make the folder first, or check the path';
    return new CommandError('file_unwritable', 'its folder does not exist', EXIT.failed, where, advice, {
      cause: error,
    });
  }
  return fileError('file_unwritable', error, where, EXIT.failed);
}

/** `it is a folder, not a file`; the system's own words where we have none. */
export function fileProblem(error: unknown): readonly [what: string, advice: string] {
  const { code, message } = error as NodeJS.ErrnoException;
  return WORDS[code ?? ''] ?? [message, 'check the path and its permissions'];
}

function fileError(code: string, error: unknown, where: string, exit: ExitCode): CommandError {
  const [what, advice] = fileProblem(error);
  return new CommandError(code, what, exit, where, advice, { cause: error });
}
