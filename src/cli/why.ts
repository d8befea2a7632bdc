/** `orbweaver why URL…`: what is known of URLs, which rules decided about them, and what happens next. */
import { Command } from 'commander';
import { withDataOptions } from './options.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { printJson, type Terminal } from './terminal.js';

/** Wider lines are hard to read. */
const WIDTH_MAX = 100;

export function whyCommand(terminal: Terminal): Command {
  const command = new Command('why')
    .description('say of URLs what is known of them, which rules decided about them, and what happens next')
    .argument('<url...>', 'URLs as they are written somewhere')
    .addHelpText('after', () =>
      examples(
        ['why https://example.org/private/ --data crawls/example', 'of a running crawl, or of what one has left'],
        ['why https://example.org/ --data crawls/example --json', 'one JSON object a URL'],
      ),
    );
  return withDataOptions(command).action(async (urls: string[], options: DataOptions) => {
    const { withControl } = await import('./reach.js');
    const { renderAnswer } = await import('../why/render.js');
    await withControl(options, async (control) => {
      for (const [index, url] of urls.entries()) {
        const answer = await control.why(url);
        if (options.json) printJson(terminal, answer);
        else for (const line of [...(index > 0 ? [''] : []), ...renderAnswer(answer, WIDTH_MAX)]) terminal.print(line);
      }
    });
  });
}
