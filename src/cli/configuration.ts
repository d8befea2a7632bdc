/** The configuration that a command's options, the environment and files come to. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import { unreadable } from './files.js';
import type { ConfigOptions } from './options.js';

/** Throws ConfigError, or CommandError where the file can't be read. */
export function readConfig(options: ConfigOptions): LoadedConfig {
  const sources = { cores: availableParallelism(), environment: process.env, assignments: options.set };
  if (options.config === undefined) return loadConfig(sources);
  return loadConfig({ ...sources, file: { path: options.config, text: readText(options.config) } });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(error, path);
  }
}
