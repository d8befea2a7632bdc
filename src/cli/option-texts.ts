/** An option as `orbweaver config` shows it: for people, and as an object. */
import { allowedValues, type LoadedConfig, variableOf } from '../config/load.js';
import { nearestNames } from '../config/nearest.js';
import { type Option, OPTIONS } from '../config/schema.js';
import { commandLine } from './program.js';
import { CommandError, EXIT } from './terminal.js';

/** Throws CommandError for a key that is none. */
export function chosen(keys: readonly string[]): Option[] {
  const all = [...OPTIONS.values()];
  if (keys.length === 0) return all;
  return keys.flatMap((key) => {
    const found = all.filter((option) => option.key === key || option.key.startsWith(`${key}.`));
    if (found.length > 0) return found;
    const near = nearestNames(key, OPTIONS.keys());
    const advice =
      near.length === 0 ? `\`${commandLine('config')}\` lists them all` : `did you mean ${near.join(' or ')}?`;
    throw new CommandError('option_unknown', `no option is named ${key}`, EXIT.usage, null, advice);
  });
}

export function described(option: Option, { config, origins }: LoadedConfig) {
  return {
    key: option.key,
    value: valueAt(config, option.path),
    origin: origins.get(option.key),
    unit: option.unit,
    allowed: allowedValues(option),
    variable: variableOf(option.key),
    description: option.description,
  };
}

export function paragraph(option: Option, loaded: LoadedConfig): string[] {
  const { key, value, origin, allowed, description } = described(option, loaded);
  return [`${key} = ${JSON.stringify(value)}  # ${origin}`, `    ${description}`, `    Takes ${allowed}.`];
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce((branch, name) => (branch as Record<string, unknown>)[name], tree);
}
