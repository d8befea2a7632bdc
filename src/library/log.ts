/** Where the log of an embedded crawl goes: nowhere, to a function, or to a logger like pino. */

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
