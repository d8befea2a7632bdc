/** `orbweaver daemon`: a crawl that goes on when nothing is left, for seeds to come and URLs that fall due. */
import { Command, Option } from 'commander';
import type { CrawlCommandOptions } from './crawling.js';
import { DATA_DEFAULT, repeatable, wholeNumber, withConfigOptions, withJsonOption, withLogOptions } from './options.js';
import { examples } from './program.js';
import type { ExitCode, Terminal } from './terminal.js';

export function daemonCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('daemon')
    .description('crawl for ever: when nothing is left, wait for seeds and for what falls due')
    .argument('[url...]', 'where to begin; without any, with what the data directory holds and what `seed` brings')
    .option('--data <dir>', 'what the crawl keeps; another crawl needs another one', DATA_DEFAULT)
    .addOption(new Option('--scope <scope>', 'how far links are followed (scope)').choices(['host', 'site', 'any']))
    .option('--max-depth <n>', 'follow links so far from a seed', wholeNumber(0, 1e6))
    .addOption(
      repeatable('--include <pattern>', 'follow only what matches: /path, HOST, HOST/path, a URL (repeatable)'),
    )
    .addOption(repeatable('--exclude <pattern>', 'leave what matches; * and $ as in robots.txt (repeatable)'))
    .option('--events', 'with --json: one line a visit', false)
    .addHelpText(
      'after',
      () =>
        `${examples(
          ['daemon --data crawls/example --config crawl.yaml', 'run until SIGTERM or Ctrl-C'],
          ['seed https://example.org/ --data crawls/example', 'give it work, from another terminal'],
          ['status --data crawls/example', 'see how it goes'],
        )}\n\nIts log goes to standard error, one JSON object a line. SIGTERM and Ctrl-C end it after the visits that are\nopen (exit code 130), a second one at once; the same command goes on.`,
    );
  return withJsonOption(withLogOptions(withConfigOptions(command), 'info')).action(
    async (urls: string[], options: Omit<CrawlCommandOptions, 'fault' | 'endless'>) => {
      const { crawl } = await import('./crawling.js');
      ended(await crawl(urls, { ...options, fault: [], endless: true }, terminal));
    },
  );
}
