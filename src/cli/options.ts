/** Options that several commands share, and what becomes of them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../logs.js';

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface ConfigOptions {
  readonly config?: string;
  readonly set: readonly string[];
}

/** `--config FILE` and `--set key=value…`. */
export function withConfigOptions(command: Command): Command {
  return command
    .option('--config <file>', 'read options from a YAML or JSON file')
    .addOption(repeatable('--set <key=value>', 'set an option; the value is JSON, or else a string (repeatable)'));
}

export interface LogOptions {
  readonly log?: string;
  readonly logLevel: LogLevel;
}

/** `--log FILE` and `--log-level LEVEL`. */
export function withLogOptions(command: Command, level: LogLevel = 'warn'): Command {
  return command
    .option('--log <file>', 'append the log to a file instead of standard error')
    .addOption(new Option('--log-level <level>', 'the least level that is logged').choices(LOG_LEVELS).default(level));
}

/** What a crawl keeps is where it is when nothing else is said. */
export const DATA_DEFAULT = 'crawls/default';

/** For commands that ask a crawl, or what it has left: `--data`, `--json`, and the configuration that delays come from. */
export function withDataOptions(command: Command): Command {
  return withJsonOption(
    withConfigOptions(command.option('--data <dir>', 'the data directory of the crawl', DATA_DEFAULT)),
  );
}

/** `--json`. */
export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON object a line and nothing else', false);
}

/** For an option's value: a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };
}

/** An option that may be given several times: a list, empty by default. */
export function repeatable(
  flags: string,
  description: string,
  read: (text: string) => unknown = (text) => text,
): Option {
  return new Option(flags, description)
    .default([], 'none')
    .argParser((text, before) => [...(before as unknown[]), read(text)]);
}
