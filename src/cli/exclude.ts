/** `orbweaver exclude`: URLs that a crawl leaves alone from now on, whether they are queued or not. */
import { Command } from 'commander';
import { withDataOptions } from './options.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface ExcludeOptions extends DataOptions {
  readonly remove: boolean;
  readonly list: boolean;
}

export function excludeCommand(terminal: Terminal): Command {
  const command = new Command('exclude')
    .description('leave URLs that match these patterns alone, from now on')
    .argument('[pattern...]', 'as for `crawl --exclude`')
    .option('--remove', 'take the patterns away again', false)
    .option('--list', 'only say which are in force', false)
    .addHelpText('after', () =>
      examples(
        ['exclude /calendar/ --data crawls/example', 'a calendar without an end, on every host'],
        ['exclude /calendar/ --remove --data crawls/example', 'take it back'],
        ['exclude --list --data crawls/example', 'which are in force'],
      ),
    );
  return withDataOptions(command).action(async (patterns: string[], options: ExcludeOptions) => {
    if ((patterns.length === 0) !== options.list) {
      const message = options.list ? '--list takes no pattern' : 'give a pattern, or --list';
      throw new CommandError('usage', message, EXIT.usage, 'exclude', 'as in /calendar/');
    }
    const { withControl } = await import('./reach.js');
    const report = await withControl(options, (control) => control.exclude({ patterns, remove: options.remove }));
    if (options.json) return printJson(terminal, report);
    for (const pattern of report.patterns) terminal.print(pattern);
    for (const pattern of report.configured) terminal.print(`${pattern}  (configured)`);
    if (report.patterns.length + report.configured.length === 0) terminal.print('No pattern is in force.');
  });
}
