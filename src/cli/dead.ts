/** `orbweaver dead`: the URLs that were given up, why, and what was tried. Pages are printed as they come. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DeadRow } from '../admin/control.js';
import { CODES, type Code } from '../domain/outcome.js';
import { wholeNumber, withDataOptions } from './options.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { formatTable } from './table.js';
import { printJson, type Terminal } from './terminal.js';

interface DeadOptions extends DataOptions {
  readonly host?: string;
  readonly cause?: string;
  readonly code?: Code;
  /** Milliseconds, as all ages. */
  readonly olderThan?: number;
  readonly newerThan?: number;
  readonly limit: number;
}

const PAGE = 500;

export function deadCommand(terminal: Terminal): Command {
  const command = new Command('dead')
    .description('list the URLs that were given up, with their cause and what was tried')
    .option('--host <name>', 'of this host only')
    .option('--cause <text>', 'whose cause holds this text')
    .addOption(new Option('--code <code>', 'whose last attempt had this code').argParser(readCode))
    .option('--older-than <age>', 'given up longer ago than this, as in 30m, 2h or 3d', readAge)
    .option('--newer-than <age>', 'given up no longer ago than this', readAge)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000_000), 1_000)
    .addHelpText('after', () =>
      examples(
        ['dead --data crawls/example', 'what was given up, and why'],
        ['dead --host www.example.org --newer-than 2h --json', 'one JSON object a line'],
      ),
    );
  return withDataOptions(command).action(async (options: DeadOptions) => {
    const { withControl } = await import('./reach.js');
    const now = Date.now();
    const filter = {
      host: options.host?.toLowerCase().replace(/\.$/, '') ?? null,
      cause: options.cause ?? null,
      code: options.code ?? null,
      beforeMs: options.olderThan === undefined ? null : now - options.olderThan,
      sinceMs: options.newerThan === undefined ? null : now - options.newerThan,
    };
    await withControl(options, async (control) => {
      let after: string | null = null;
      let shown = 0;
      do {
        const page = await control.dead({ ...filter, limit: Math.min(PAGE, options.limit - shown), after });
        if (options.json) for (const row of page.letters) printJson(terminal, row);
        else if (page.letters.length > 0) for (const line of formatDead(page.letters)) terminal.print(line);
        shown += page.letters.length;
        after = page.next;
      } while (after !== null && shown < options.limit);
      if (after !== null) terminal.note(`There may be more: raise --limit above ${options.limit}`);
    });
  });
}

function formatDead(rows: readonly DeadRow[]): string[] {
  return formatTable(
    [
      { title: 'given up', align: 'left' },
      { title: 'deliveries', align: 'right' },
      { title: 'code', align: 'left' },
      { title: 'cause', align: 'left' },
      { title: 'url', align: 'left' },
    ],
    rows.map(({ lastAt, deliveries, code, cause, url }) => [lastAt ?? '', String(deliveries), code, cause, url]),
  );
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readAge(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit ?? ''];
  if (digits === undefined || unitMs === undefined)
    throw new InvalidArgumentError('expected an age as in 30m, 2h or 3d.');
  return Number(digits) * unitMs;
}

function readCode(text: string): Code {
  if (Object.hasOwn(CODES, text)) return text as Code;
  throw new InvalidArgumentError('no such code: docs name them all.');
}
