/** `orbweaver crawl`: crawls from its seeds until nothing is left to do, a bound is met, or it is interrupted. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CrawlCommandOptions, FaultWords } from './crawling.js';
import { DATA_DEFAULT, repeatable, wholeNumber, withConfigOptions, withJsonOption, withLogOptions } from './options.js';
import { examples } from './program.js';
import type { ExitCode, Terminal } from './terminal.js';

export function crawlCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('crawl')
    .description('crawl from these URLs; the same command again goes on where it stopped')
    .argument('<url...>', 'where to begin')
    .option('--data <dir>', 'what the crawl keeps; another crawl needs another one', DATA_DEFAULT)
    .option('--max-pages <n>', 'end after so many visits of this run', wholeNumber(1, 1e12))
    .option('--max-seconds <n>', 'end after so long', wholeNumber(1, 1e9))
    .option('--wait <seconds>', 'end when nothing falls due within this time (waitSeconds)', wholeNumber(0, 86_400))
    .addOption(new Option('--scope <scope>', 'how far links are followed (scope)').choices(['host', 'site', 'any']))
    .option('--max-depth <n>', 'follow links so far from a seed', wholeNumber(0, 1e6))
    .addOption(
      repeatable('--include <pattern>', 'follow only what matches: /path, HOST, HOST/path, a URL (repeatable)'),
    )
    .addOption(repeatable('--exclude <pattern>', 'leave what matches; * and $ as in robots.txt (repeatable)'))
    .option(
      '--again',
      'fetch seeds that are known already once more; of those that changed the new version is kept',
      false,
    )
    .option('--events', 'with --json: one line a visit', false)
    .addHelpText(
      'after',
      () =>
        `${examples(
          [
            "crawl https://example.org/ --set userAgent='ExampleBot/1.0 (+https://bot.example/)'",
            'a site; say who you are',
          ],
          ["crawl https://example.org/ --max-depth 2 --include /docs/ --exclude '*.pdf$'", 'a part of it'],
          ['crawl http://localhost:8080/ --set guard.allow=\'["127.0.0.0/8"]\'', 'a site on this machine'],
          ['crawl https://example.org/ --again', 'its seeds once more, for what has changed'],
        )}\n\nPatterns are matched as in robots.txt, with * and $: /path (of any host), HOST or *.HOST, HOST/path, a whole URL,\n*.end$, or regex:EXPRESSION. Seeds need not match what is included. An option by name overrules --set, that the\nenvironment (ORBWEAVER_SCOPE=host), that the file. \`config\` lists all of them.`,
    )
    .addOption(
      repeatable('--fault <actor:message:nth:times>', 'crash an actor on purpose, to test (repeatable)', faultWords),
    );
  return withJsonOption(withLogOptions(withConfigOptions(command))).action(
    async (urls: string[], options: CrawlCommandOptions) => {
      const { crawl } = await import('./crawling.js');
      ended(await crawl(urls, options, terminal));
    },
  );
}

function faultWords(text: string): FaultWords {
  const [actor = '', message = '', nth = '1', times = '1', ...more] = text.split(':');
  if (actor === '' || more.length > 0 || !/^[1-9]\d*$/.test(nth) || !/^[1-9]\d*$/.test(times)) {
    throw new InvalidArgumentError('it is not ACTOR:MESSAGE:NTH:TIMES.');
  }
  return { text, actor, message: message === '' ? null : message, nth: Number(nth), times: Number(times) };
}
