/** `orbweaver tree`: the supervision tree, each child with its reason. */
import { Command } from 'commander';
import { createBloom } from '../domain/bloom.js';
import { planTree } from '../main.js';
import { drawTree } from '../supervision/picture.js';
import { engineTree } from '../supervision/tree.js';
import { type ConfigOptions, readConfig, withConfigOptions, withJsonOption } from './options.js';
import { printJson, type Terminal } from './terminal.js';

export function treeCommand(terminal: Terminal): Command {
  const command = new Command('tree').description(
    'draw the supervision tree, with the reason for each of its children',
  );
  return withJsonOption(withConfigOptions(command)).action((options: ConfigOptions & { readonly json: boolean }) => {
    const { config } = readConfig(options);
    const opened = {
      totals: { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 },
      batch: 0,
      nextSequence: 1,
    };
    const plan = planTree({ config, seeds: [], pagesMax: null }, 'Orbweaver', { ...opened, seen: createBloom(1_000) });
    const tree = engineTree(plan);
    if (options.json) printJson(terminal, tree);
    else for (const line of drawTree(tree).split('\n')) terminal.print(line);
  });
}
