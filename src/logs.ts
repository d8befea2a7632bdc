/**
 * The log: one JSON object a line, to standard error or a file. What it gets is written before the call returns, so
 * that the last lines before an end of any kind are there.
 *
 * Credentials never reach it: those inside URLs and the values of fields that are named for secrets are replaced.
 */
import { dirname } from 'node:path';
import { pino } from 'pino';
import { fieldsWithoutCredentials, withoutCredentials } from './domain/credentials.js';
import type { Log } from './protocols/effects.js';
import type { LogPort } from './protocols/ports.js';
import { makeFolder } from './sinks/folders.js';

export type LogLevel = Log['level'];

export interface LogOptions {
  readonly level: LogLevel;
  /** Appended to, with its folders made; null for standard error. */
  readonly file: string | null;
}

export interface OpenLog extends LogPort {
  /** Nothing is written after it. */
  close(): void;
}

const STANDARD_ERROR = 2;

/** Throws where the file can not be opened. */
export function openLog({ level, file }: LogOptions): OpenLog {
  if (file !== null) makeFolder(dirname(file));
  const destination = pino.destination({ dest: file ?? STANDARD_ERROR, sync: true, append: true });
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  let isOpen = true;
  return {
    log: (lineLevel, event, fields) => {
      if (isOpen && logger.isLevelEnabled(lineLevel))
        logger[lineLevel](fieldsWithoutCredentials(fields), withoutCredentials(event));
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      destination.flushSync();
      if (file !== null) destination.end();
    },
  };
}
