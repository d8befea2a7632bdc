/** `orbweaver tree`: the supervision tree, each child with its reason; of a running crawl also what each has done. */
import { Command } from 'commander';
import { type ConfigOptions, withConfigOptions, withJsonOption } from './options.js';
import { examples } from './program.js';
import { printJson, type Terminal } from './terminal.js';

interface TreeOptions extends ConfigOptions {
  readonly data?: string;
  readonly json: boolean;
}

export function treeCommand(terminal: Terminal): Command {
  const command = new Command('tree')
    .description('draw the supervision tree, with the reason for each of its children')
    .option('--data <dir>', 'of the crawl that runs there: with what each child has done')
    .addHelpText('after', () =>
      examples(
        ['tree', 'as it is declared'],
        ['tree --data crawls/example', 'with live actors, messages and restarts of a running crawl'],
      ),
    );
  return withJsonOption(withConfigOptions(command)).action((options: TreeOptions) =>
    options.data === undefined ? drawDeclared(options, terminal) : drawRunning(options.data, options.json, terminal),
  );
}

async function drawDeclared(options: TreeOptions, terminal: Terminal): Promise<void> {
  const { readConfig } = await import('./configuration.js');
  const { declarationOf, declaredTree } = await import('./declared.js');
  const { drawTree } = await import('../supervision/picture.js');
  const tree = declaredTree(readConfig(options).config);
  if (options.json) printJson(terminal, declarationOf(tree));
  else for (const line of drawTree(tree).split('\n')) terminal.print(line);
}

async function drawRunning(data: string, json: boolean, terminal: Terminal): Promise<void> {
  const { withRunning } = await import('./reach.js');
  const { picture, counts } = await withRunning(data, (control) => control.tree());
  if (json) return printJson(terminal, counts);
  for (const line of picture.split('\n')) terminal.print(line);
  for (const { under, message, count } of counts.deadLetters)
    terminal.print(`dead letters: ${count} × ${message} to ${under}`);
}
