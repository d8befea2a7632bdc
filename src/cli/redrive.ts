/** `orbweaver redrive`: brings URLs that were given up back into their queues, all at once or at a rate. */
import { hostname, userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Control, RedrivePreview, RedriveReport, RedriveView } from '../admin/control.js';
import { readRate } from '../admin/redriving.js';
import { CODES } from '../domain/outcome.js';
import { type DeadFilter, LEFT_WORDS, type LeftReason, type RedriveRate } from '../domain/redrive.js';
import { deadFilterOf, type DeadFilterOptions, withDeadFilter } from './dead-options.js';
import { wholeNumber, withDataOptions } from './options.js';
import { count } from './progress.js';
import { commandLine, examples } from './program.js';
import type { DataOptions } from './reach.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface RedriveOptions extends DataOptions, DeadFilterOptions {
  readonly dryRun: boolean;
  readonly rate?: RedriveRate;
  readonly cancel?: number;
}

const PAGE = 500;
const SHOWN_MAX = 20;

export function redriveCommand(terminal: Terminal): Command {
  const command = withDeadFilter(
    new Command('redrive').description('queue URLs that were given up once more, with all their deliveries'),
  )
    .option('--dry-run', 'say what would become of each, and change nothing', false)
    .addOption(
      new Option('--rate <rate>', 'at most so many in a time, as in 10/s, 30/min or 5/h; outlives the crawl').argParser(
        rateOf,
      ),
    )
    .option('--cancel <number>', 'let this redrive go no further', wholeNumber(1, 1_000_000_000))
    .addHelpText(
      'after',
      () =>
        `${examples(
          ['redrive --host www.example.org --dry-run', 'what would be brought back'],
          ['redrive --code timeout --newer-than 2h', 'what an outage of the last two hours has cost'],
          ['redrive --rate 10/s', 'everything, ten a second, also over restarts of the crawl'],
          ['redrive --cancel 3', 'no more of redrive 3; `dead --audit` lists them'],
        )}\n\nWhat the rules of the crawl refuse by now stays a dead letter, and is said. Works on a crawl that runs and on one\nthat does not; there a redrive with a rate begins, and goes on with the next run.`,
    );
  return withDataOptions(command).action(async (options: RedriveOptions) => {
    const { withControl } = await import('./reach.js');
    if (options.cancel !== undefined) refuseBesideCancel(options);
    const filter = deadFilterOf(options, Date.now(), 'redrive');
    await withControl(options, async (control) => {
      if (options.cancel !== undefined)
        return tellCancelled(await control.cancelRedrive(options.cancel), options, terminal);
      if (options.dryRun) return preview(control, filter, options, terminal);
      const wish = { ...filter, rate: options.rate ?? null, way: 'command', who: whoAsks() } as const;
      const report = await control.redrive(wish);
      if (options.json) tellJson(report, terminal);
      else tell(report, terminal);
    });
  });
}

function rateOf(text: string): RedriveRate {
  const rate = readRate(text);
  if (rate !== null) return rate;
  throw new InvalidArgumentError('expected a rate as in 10/s, 30/min or 5/h, up to 1000000.');
}

function refuseBesideCancel({ dryRun, rate, ...filter }: RedriveOptions): void {
  const { host, cause, code, olderThan, newerThan } = filter;
  if (!dryRun && [rate, host, cause, code, olderThan, newerThan].every((it) => it === undefined)) return;
  const advice = 'a redrive is named by its number alone';
  throw new CommandError('usage', '--cancel stands alone', EXIT.usage, 'redrive', advice);
}

/** Whoever runs the command, as the system knows it. */
function whoAsks(): string | null {
  try {
    return `${userInfo().username}@${hostname()}`.slice(0, 200);
  } catch {
    return null;
  }
}

// -- dry run ------------------------------------------------------------------------------------------------------

type Would = RedrivePreview['letters'][number]['would'];

async function preview(control: Control, filter: DeadFilter, { json }: RedriveOptions, terminal: Terminal) {
  const counts: Record<Would, number> = { queue: 0, block: 0, stay: 0 };
  let shown = 0;
  let after: string | null = null;
  do {
    const page: RedrivePreview = await control.previewRedrive({ ...filter, limit: PAGE, after });
    for (const { url, would, reason } of page.letters) {
      counts[would] += 1;
      if (json) printJson(terminal, { url, redriven: false, reason: reason ?? 'dry_run', would });
      else if (++shown <= SHOWN_MAX)
        terminal.print(`${WOULD[would]}  ${url}${reason === null ? '' : `  ${words(reason)}`}`);
    }
    after = page.next;
  } while (after !== null);
  const { queue, block, stay } = counts;
  const matched = queue + block + stay;
  if (json)
    return printJson(terminal, {
      event: 'summary',
      dryRun: true,
      matched,
      redriven: queue,
      blocked: block,
      left: stay,
    });
  if (shown > SHOWN_MAX) terminal.print(`and ${count(shown - SHOWN_MAX)} more: --json lists them all`);
  terminal.print(
    `${count(matched)} dead letters are meant: ${count(queue)} would be queued, ${count(block)} are disallowed by robots.txt now, ${count(stay)} would stay. Nothing was changed.`,
  );
}

const WOULD: Readonly<Record<Would, string>> = { queue: 'queue', block: 'block', stay: 'stay ' };

// -- what became of it --------------------------------------------------------------------------------------------

function tellJson({ letters, redrive, matched, redriven, blocked, left, ahead }: RedriveReport, terminal: Terminal) {
  for (const letter of letters) printJson(terminal, letter);
  const { number = null, rate = null, stage = null, endsAbout = null } = redrive ?? {};
  const counts = { matched, redriven, blocked, left, ahead };
  printJson(terminal, { event: 'summary', number, ...counts, rate, stage, endsAbout });
}

function tell(report: RedriveReport, terminal: Terminal): void {
  const { redrive, matched, redriven, blocked, left, ahead, letters } = report;
  if (redrive === null) return terminal.print('No dead letter is meant: nothing was changed.');
  const more = [
    blocked === 0 ? null : `${count(blocked)} are disallowed by robots.txt now and wait for other rules`,
    left === 0 ? null : `${count(left)} stay dead letters`,
    ahead === 0
      ? null
      : `${count(ahead)} follow at ${redrive.rate}, until about ${redrive.endsAbout} while a crawl runs`,
  ].filter((it) => it !== null);
  terminal.print(
    `Redrive ${redrive.number}: ${count(redriven)} of ${count(matched)} dead letters are queued again${more.length === 0 ? '' : `; ${more.join('; ')}`}.`,
  );
  const bad = letters.filter(({ reason }) => reason !== null);
  for (const { url, reason } of bad.slice(0, SHOWN_MAX)) terminal.note(`  ${url}: ${words(reason as LeftReason)}`);
  if (bad.length > SHOWN_MAX) terminal.note(`  and ${count(bad.length - SHOWN_MAX)} more: --json lists them all`);
  if (ahead > 0) terminal.note(`\`${commandLine('dead --audit')}\` says how far it has come`);
}

function tellCancelled(redrive: RedriveView, { json }: RedriveOptions, terminal: Terminal): void {
  if (json) return printJson(terminal, redrive);
  const { number, stage, redriven } = redrive;
  const how = stage === 'cancelled' ? 'is cancelled' : 'was over already';
  terminal.print(`Redrive ${number} ${how}; the ${count(redriven)} URLs that it has queued stay queued.`);
}

function words(reason: LeftReason): string {
  const said = reason in CODES ? CODES[reason as keyof typeof CODES] : LEFT_WORDS[reason as keyof typeof LEFT_WORDS];
  return `${said} [${reason}]`;
}
