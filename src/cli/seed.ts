/** `orbweaver seed`: work for a crawl, from the command line or from a file; all of it in one commit. */
import { Command } from 'commander';
import type { SeedLine } from '../admin/seed-lines.js';
import type { SeedReport } from '../admin/control.js';
import { CODES } from '../domain/outcome.js';
import { withDataOptions } from './options.js';
import { count } from './progress.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal } from './terminal.js';

interface SeedOptions extends DataOptions {
  readonly file?: string;
  readonly again: boolean;
}

const REFUSED_SHOWN_MAX = 20;

export function seedCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('seed')
    .description('queue URLs for a crawl, whether it runs or not; what it knows already is left as it is')
    .argument('[url...]', 'URLs, or host names for which http is assumed')
    .option('--file <file>', 'read them from a file, one a line; - is standard input')
    .option('--again', 'fetch those that were fetched before once more', false)
    .addHelpText(
      'after',
      () =>
        `${examples(
          ['seed https://example.org/ --data crawls/example', 'one more place to begin'],
          ['seed --file seeds.txt --json', 'a verdict for each line: queued, known or refused'],
          ['seed https://example.org/news --again', 'fetch it once more'],
        )}\n\nIn a file, blank lines and lines that begin with # are left out. A bad line stops no other; all good ones enter\nin one commit. The exit code is 1 when none was good.`,
    );
  return withDataOptions(command).action(async (urls: string[], options: SeedOptions) => {
    const lines = await linesOf(urls, options);
    const { withControl } = await import('./reach.js');
    const wish = { urls: lines.map(({ text }) => text), again: options.again };
    const report = await withControl(options, (control) => control.seed(wish));
    if (options.json) tellJson(lines, report, terminal);
    else tell(lines, report, options.file !== undefined, terminal);
    if (report.queued + report.known === 0) ended(EXIT.failed);
  });
}

async function linesOf(urls: readonly string[], { file }: SeedOptions): Promise<SeedLine[]> {
  if (urls.length > 0 === (file !== undefined)) {
    throw new CommandError(
      'usage',
      'give URLs, or a file of them',
      EXIT.usage,
      'seed',
      'as in `seed --file seeds.txt`',
    );
  }
  if (file === undefined) return urls.map((text, i) => ({ line: i + 1, text }));
  const { createReadStream } = await import('node:fs');
  const { seedLines } = await import('../admin/seed-lines.js');
  const { unreadable } = await import('./files.js');
  const lines: SeedLine[] = [];
  try {
    const stream = file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, 'utf8');
    for await (const line of seedLines(stream as AsyncIterable<string>)) lines.push(line);
  } catch (error) {
    throw unreadable(error, `--file ${file}`);
  }
  if (lines.length > 0) return lines;
  throw new CommandError(
    'seeds_missing',
    'there is no seed in it',
    EXIT.usage,
    `--file ${file}`,
    'write one URL a line',
  );
}

function tellJson(lines: readonly SeedLine[], { seeds, queued, known, refused }: SeedReport, terminal: Terminal): void {
  seeds.forEach(({ input, url, verdict, code }, i) =>
    printJson(terminal, { line: lines[i]?.line, input, url, verdict, code }),
  );
  printJson(terminal, { event: 'summary', queued, known, refused });
}

function tell(lines: readonly SeedLine[], report: SeedReport, isFile: boolean, terminal: Terminal): void {
  const { queued, known, refused } = report;
  terminal.print(`${count(queued)} queued, ${count(known)} known already, ${count(refused)} refused.`);
  const bad = report.seeds.flatMap((seed, i) =>
    seed.code === null ? [] : [{ ...seed, code: seed.code, at: lines[i]?.line }],
  );
  for (const { input, code, at } of bad.slice(0, REFUSED_SHOWN_MAX)) {
    terminal.note(`  ${isFile ? `line ${at}: ` : ''}${input}: ${CODES[code]} [${code}]`);
  }
  if (bad.length > REFUSED_SHOWN_MAX)
    terminal.note(`  and ${count(bad.length - REFUSED_SHOWN_MAX)} more: --json lists them all`);
}
