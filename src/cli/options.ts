/** Options that several commands share, and what becomes of them. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import { LOG_LEVELS, type LogLevel } from '../logs.js';
import { CommandError, EXIT } from './terminal.js';

export interface ConfigOptions {
  readonly config?: string;
  readonly set: readonly string[];
}

/** `--config FILE` and `--set key=value…`. */
export function withConfigOptions(command: Command): Command {
  return command
    .option('--config <file>', 'read options from a YAML or JSON file')
    .option('--set <key=value>', 'set an option; the value is JSON, or else a string (repeatable)', appended, []);
}

export interface LogOptions {
  readonly log?: string;
  readonly logLevel: LogLevel;
}

/** `--log FILE` and `--log-level LEVEL`. */
export function withLogOptions(command: Command): Command {
  return command
    .option('--log <file>', 'append the log to a file instead of standard error')
    .addOption(new Option('--log-level <level>', 'the least level that is logged').choices(LOG_LEVELS).default('warn'));
}

/** `--json`. */
export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON object a line and nothing else', false);
}

/** Throws ConfigError, or CommandError where the file can't be read. */
export function readConfig(options: ConfigOptions): LoadedConfig {
  const sources = { cores: availableParallelism(), environment: process.env, assignments: options.set };
  if (options.config === undefined) return loadConfig(sources);
  return loadConfig({ ...sources, file: { path: options.config, text: readText(options.config) } });
}

/** Throws CommandError. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
    throw new CommandError('file_unreadable', why, EXIT.usage, path, 'check the path and its permissions');
  }
}

/** For an option's value: a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };
}

function appended(value: string, before: readonly string[]): string[] {
  return [...before, value];
}
