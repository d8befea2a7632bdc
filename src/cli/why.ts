/** `orbweaver why URL…`: what is known of URLs, and of each decision about them. */
import { Command } from 'commander';
import { withJsonOption } from './options.js';
import type { WhyOptions } from './telling-why.js';
import type { Terminal } from './terminal.js';

export function whyCommand(terminal: Terminal): Command {
  const command = new Command('why')
    .description('say of URLs what is known of them, what decided about them, and what happens next')
    .argument('<url...>', 'URLs as they are written somewhere')
    .option('--data <dir>', 'what the crawl keeps', 'crawls/default')
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  orbweaver why https://example.org/private/ --data crawls/example',
        "  orbweaver why https://example.org/ --json | jq '.next'",
      ].join('\n'),
    );
  return withJsonOption(command).action(async (urls: string[], options: WhyOptions) => {
    const { tellWhy } = await import('./telling-why.js');
    await tellWhy(urls, options, terminal);
  });
}
