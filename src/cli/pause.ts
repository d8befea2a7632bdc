/** `orbweaver pause` and `orbweaver resume`: no request begins, until it may again. */
import { Command } from 'commander';
import type { PauseReport } from '../admin/control.js';
import { withDataOptions } from './options.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { printJson, type Terminal } from './terminal.js';

export function pauseCommand(terminal: Terminal): Command {
  const command = new Command('pause')
    .description('let no request of a crawl begin; those under way end, and are recorded')
    .addHelpText('after', () =>
      examples(
        ['pause --data crawls/example', 'as long as a site is in trouble, or a disk is being moved'],
        ['resume --data crawls/example', 'go on'],
      ),
    );
  return withDataOptions(command).action(async (options: DataOptions) => {
    const { withControl } = await import('./reach.js');
    tell(await withControl(options, (control) => control.pause()), options, terminal);
  });
}

export function resumeCommand(terminal: Terminal): Command {
  const command = new Command('resume')
    .description('let a paused crawl go on')
    .addHelpText('after', () => examples(['resume --data crawls/example', 'requests begin again']));
  return withDataOptions(command).action(async (options: DataOptions) => {
    const { withControl } = await import('./reach.js');
    tell(await withControl(options, (control) => control.resume()), options, terminal);
  });
}

const WORDS: Readonly<Record<PauseReport['state'], readonly [changed: string, already: string]>> = {
  paused: ['Paused: no request begins; `resume` lets it go on.', 'It was paused already.'],
  running: ['Going on.', 'It was not paused.'],
  stopped: ['No longer paused: the next run goes on.', 'It was not paused.'],
};

function tell(report: PauseReport, { json }: DataOptions, terminal: Terminal): void {
  const [changed, already] = WORDS[report.state];
  if (json) printJson(terminal, report);
  else terminal.print(report.changed ? changed : already);
}
