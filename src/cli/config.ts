/** `orbweaver config [KEY…]`: what is in force, and where each value comes from. */
import { Command } from 'commander';
import { type ConfigOptions, withConfigOptions, withJsonOption } from './options.js';
import { printJson, type Terminal } from './terminal.js';

export function configCommand(terminal: Terminal): Command {
  const command = new Command('config')
    .description('print every option, its value and where that comes from')
    .argument('[key...]', 'only these options, or all of a group');
  return withJsonOption(withConfigOptions(command)).action(
    async (keys: string[], options: ConfigOptions & { json: boolean }) => {
      const { readConfig } = await import('./configuration.js');
      const { chosen, described, paragraph } = await import('./option-texts.js');
      const loaded = readConfig(options);
      for (const option of chosen(keys)) {
        if (options.json) printJson(terminal, described(option, loaded));
        else for (const line of paragraph(option, loaded)) terminal.print(line);
      }
    },
  );
}
