/** `orbweaver tree`: the supervision tree, each child with its reason. */
import { Command } from 'commander';
import { type ConfigOptions, withConfigOptions, withJsonOption } from './options.js';
import { printJson, type Terminal } from './terminal.js';

export function treeCommand(terminal: Terminal): Command {
  const command = new Command('tree').description(
    'draw the supervision tree, with the reason for each of its children',
  );
  return withJsonOption(withConfigOptions(command)).action(
    async (options: ConfigOptions & { readonly json: boolean }) => {
      const { readConfig } = await import('./configuration.js');
      const { declarationOf, declaredTree } = await import('./declared.js');
      const { drawTree } = await import('../supervision/picture.js');
      const tree = declaredTree(readConfig(options).config);
      if (options.json) printJson(terminal, declarationOf(tree));
      else for (const line of drawTree(tree).split('\n')) terminal.print(line);
    },
  );
}
