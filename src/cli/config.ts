/** `orbweaver config [KEY…]`: what is in force, and where each value comes from. */
import { Command } from 'commander';
import { allowedValues, type LoadedConfig, variableOf } from '../config/load.js';
import { nearestNames } from '../config/nearest.js';
import { type Option, OPTIONS } from '../config/schema.js';
import { type ConfigOptions, readConfig, withConfigOptions, withJsonOption } from './options.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

export function configCommand(terminal: Terminal): Command {
  const command = new Command('config')
    .description('print every option, its value and where that comes from')
    .argument('[key...]', 'only these options, or all of a group');
  return withJsonOption(withConfigOptions(command)).action(
    (keys: string[], options: ConfigOptions & { json: boolean }) => {
      const loaded = readConfig(options);
      for (const option of chosen(keys)) {
        if (options.json) printJson(terminal, described(option, loaded));
        else for (const line of paragraph(option, loaded)) terminal.print(line);
      }
    },
  );
}

/** Throws CommandError for a key that is none. */
function chosen(keys: readonly string[]): Option[] {
  const all = [...OPTIONS.values()];
  if (keys.length === 0) return all;
  return keys.flatMap((key) => {
    const found = all.filter((option) => option.key === key || option.key.startsWith(`${key}.`));
    if (found.length > 0) return found;
    const near = nearestNames(key, OPTIONS.keys());
    const advice = near.length === 0 ? '`orbweaver config` lists them all' : `did you mean ${near.join(' or ')}?`;
    throw new CommandError('option_unknown', `no option is named ${key}`, EXIT.usage, null, advice);
  });
}

function described(option: Option, { config, origins }: LoadedConfig) {
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

function paragraph(option: Option, loaded: LoadedConfig): string[] {
  const { key, value, origin, allowed, description } = described(option, loaded);
  return [`${key} = ${JSON.stringify(value)}  # ${origin}`, `    ${description}`, `    Takes ${allowed}.`];
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce((branch, name) => (branch as Record<string, unknown>)[name], tree);
}
