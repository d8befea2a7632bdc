/** Where the log of an embedded crawl goes: nowhere, to a function, or to a logger like pino. */
import { fieldsWithoutCredentials, withoutCredentials } from '../domain/credentials.js';
import type { LogPort } from '../protocols/ports.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** One line: what happened, under a stable name, and its fields. Credentials are out of it. */
export type LogFunction = (level: LogLevel, event: string, fields: LogFields) => void;

/** A logger that takes fields first, as pino does. */
export interface Logger {
  debug(fields: LogFields, event: string): void;
  info(fields: LogFields, event: string): void;
  warn(fields: LogFields, event: string): void;
  error(fields: LogFields, event: string): void;
}

/** `heard` gets every line too. What the program's own log throws is its own affair, and ends here. */
export function logPort(log: LogFunction | Logger | undefined, heard: LogFunction): LogPort {
  const write: LogFunction = typeof log === 'function' ? log : (level, event, fields) => log?.[level](fields, event);
  return {
    log: (level, event, fields) => {
      const clean = fieldsWithoutCredentials(fields);
      const name = withoutCredentials(event);
      try {
        write(level, name, clean);
      } catch {}
      heard(level, name, clean);
    },
  };
}
