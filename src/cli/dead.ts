/** `orbweaver dead`: the URLs that were given up, why, and what was tried; or what was brought back of them, and by whom. */
import { Command } from 'commander';
import type { Control, DeadRow, RedriveView } from '../admin/control.js';
import { deadFilterOf, type DeadFilterOptions, withDeadFilter } from './dead-options.js';
import { wholeNumber, withDataOptions } from './options.js';
import { count } from './progress.js';
import { examples } from './program.js';
import type { DataOptions } from './reach.js';
import { formatTable } from './table.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface DeadOptions extends DataOptions, DeadFilterOptions {
  readonly limit: number;
  readonly audit: boolean;
}

const PAGE = 500;

export function deadCommand(terminal: Terminal): Command {
  const command = withDeadFilter(
    new Command('dead').description('list the URLs that were given up, with their cause and what was tried'),
  )
    .option('--audit', 'list the redrives instead: what was brought back, when, how and by whom', false)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000_000), 1_000)
    .addHelpText('after', () =>
      examples(
        ['dead --data crawls/example', 'what was given up, and why'],
        ['dead --host www.example.org --newer-than 2h --json', 'one JSON object a line'],
        ['dead --audit', 'what `redrive` has brought back, and how far it has come'],
      ),
    );
  return withDataOptions(command).action(async (options: DeadOptions) => {
    const { withControl } = await import('./reach.js');
    if (options.audit) refuseFilter(options);
    await withControl(options, (control) =>
      options.audit ? listRedrives(control, options, terminal) : listDead(control, options, terminal),
    );
  });
}

async function listDead(control: Control, options: DeadOptions, terminal: Terminal): Promise<void> {
  const filter = deadFilterOf(options, Date.now(), 'dead');
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

// -- the audit ----------------------------------------------------------------------------------------------------

/** A filter says which letters are meant, and an audit lists none. */
function refuseFilter({ host, cause, code, olderThan, newerThan }: DeadOptions): void {
  if ([host, cause, code, olderThan, newerThan].every((it) => it === undefined)) return;
  const advice = 'leave the filter out: each redrive is listed with its own';
  throw new CommandError('usage', '--audit lists redrives, and takes no filter of letters', EXIT.usage, 'dead', advice);
}

async function listRedrives(control: Control, { json, limit }: DeadOptions, terminal: Terminal): Promise<void> {
  let before: number | null = null;
  let shown = 0;
  do {
    const page = await control.redrives({ limit: Math.min(PAGE, limit - shown), before });
    if (json) for (const redrive of page.redrives) printJson(terminal, redrive);
    else if (page.redrives.length > 0) for (const line of formatRedrives(page.redrives)) terminal.print(line);
    shown += page.redrives.length;
    before = page.next;
  } while (before !== null && shown < limit);
  if (!json && shown === 0) terminal.note('Nothing was ever redriven here.');
  if (before !== null) terminal.note(`There are more: raise --limit above ${limit}`);
}

function formatRedrives(redrives: readonly RedriveView[]): string[] {
  return formatTable(
    [
      { title: 'no.', align: 'right' },
      { title: 'wished', align: 'left' },
      { title: 'by', align: 'left' },
      { title: 'which', align: 'left' },
      { title: 'rate', align: 'left' },
      { title: 'meant', align: 'right' },
      { title: 'redriven', align: 'right' },
      { title: 'blocked', align: 'right' },
      { title: 'left', align: 'left' },
      { title: 'stage', align: 'left' },
    ],
    redrives.map((it) => [
      String(it.number),
      it.at,
      it.who === null ? it.way : `${it.who} (${it.way})`,
      filterWords(it.filter),
      it.rate ?? 'all at once',
      count(it.matched),
      count(it.redriven),
      count(it.blocked),
      leftWords(it.left),
      it.stage === 'going'
        ? `going, ${count(it.ahead)} ahead, until about ${it.endsAbout}`
        : `${it.stage} ${it.changedAt}`,
    ]),
  );
}

function filterWords({ host, cause, code, before, since }: RedriveView['filter']): string {
  const words = [
    host === null ? null : `host ${host}`,
    code === null ? null : `code ${code}`,
    cause === null ? null : `cause '${cause}'`,
    since === null ? null : `since ${since}`,
    before === null ? null : `before ${before}`,
  ].filter((it) => it !== null);
  return words.length === 0 ? 'all' : words.join(', ');
}

function leftWords(left: RedriveView['left']): string {
  const words = Object.entries(left).map(([reason, letters]) => `${count(letters)} ${reason}`);
  return words.length === 0 ? '0' : words.join(', ');
}
