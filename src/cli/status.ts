/** `orbweaver status`: how a crawl goes, whether it runs or not. */
import { Command } from 'commander';
import { withDataOptions } from './options.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { printJson, type Terminal } from './terminal.js';

export function statusCommand(terminal: Terminal): Command {
  const command = new Command('status')
    .description('say how a crawl goes: its state and why, pages and rate, what is queued and what it waits for')
    .addHelpText(
      'after',
      () =>
        `${examples(
          ['status --data crawls/example', 'of a running crawl, or of what one has left'],
          ['status --data crawls/example --json', 'the same as one JSON object'],
        )}\n\nA running crawl answers through the socket in its data directory; else its store is read.`,
    );
  return withDataOptions(command).action(async (options: DataOptions) => {
    const { withControl } = await import('./reach.js');
    const { formatStatus } = await import('./status-text.js');
    const report = await withControl(options, (control) => control.status());
    if (options.json) printJson(terminal, report);
    else for (const line of formatStatus(report, Date.now())) terminal.print(line);
  });
}
