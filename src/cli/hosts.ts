/** `orbweaver hosts` and `orbweaver host NAME`: who is crawled, how much of each is left, and what each waits for. */
import { Command, Option } from 'commander';
import { type HostRow, HOST_STATES, type HostState } from '../admin/control.js';
import { wholeNumber, withDataOptions } from './options.js';
import { commandLine, examples } from './program.js';
import type { DataOptions } from './reach.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface HostsOptions extends DataOptions {
  readonly state: HostState;
  readonly limit: number;
  readonly after?: string;
}

const PAGE = 500;

export function hostsCommand(terminal: Terminal): Command {
  const command = new Command('hosts')
    .description('list the hosts of a crawl: what is queued of each, and what it waits for')
    .addOption(
      new Option('--state <state>', 'only these').choices(HOST_STATES).default('work', 'work: with anything queued'),
    )
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000), 50)
    .option('--after <host>', 'go on after this one, in the order of the store')
    .addHelpText('after', () =>
      examples(
        ['hosts --data crawls/example', 'hosts with anything queued'],
        ['hosts --state parked', 'those whose robots.txt can not be read'],
        ['hosts --state all --limit 1000 --json', 'every host, one JSON object a line'],
      ),
    );
  return withDataOptions(command).action(async (options: HostsOptions) => {
    const { withControl } = await import('./reach.js');
    const { formatHosts } = await import('./status-text.js');
    const { rows, next } = await withControl(options, async (control) => {
      const rows: HostRow[] = [];
      let after = options.after ?? null;
      do {
        const limit = Math.min(PAGE, options.limit - rows.length);
        const page = await control.hosts({ state: options.state, limit, after });
        rows.push(...page.hosts);
        after = page.next;
      } while (after !== null && rows.length < options.limit);
      return { rows, next: after };
    });
    if (options.json) for (const row of rows) printJson(terminal, row);
    else for (const line of formatHosts(rows, Date.now())) terminal.print(line);
    if (next !== null)
      terminal.note(
        `There may be more: ${commandLine(`hosts --data ${options.data} --state ${options.state} --after ${next}`)}`,
      );
  });
}

export function hostCommand(terminal: Terminal): Command {
  const command = new Command('host')
    .description('say everything about one host: queue, clock, delay, breaker, robots.txt')
    .argument('<name>', 'as in www.example.org')
    .addHelpText('after', () =>
      examples(['host www.example.org --data crawls/example', 'why it is, or is not, being asked']),
    );
  return withDataOptions(command).action(async (name: string, options: DataOptions) => {
    const { withControl } = await import('./reach.js');
    if (/[/:@?#]/.test(name.replace(/^\[[0-9a-f:.]+\]$/i, ''))) throw notAName(name);
    const { formatHost } = await import('./status-text.js');
    const report = await withControl(options, (control) => control.host(name.toLowerCase().replace(/\.$/, '')));
    if (options.json) printJson(terminal, report);
    else for (const line of formatHost(report, Date.now())) terminal.print(line);
  });
}

/** As it was copied from a URL. */
function notAName(given: string): CommandError {
  const host = URL.canParse(given) ? new URL(given).hostname : '';
  const advice = host === '' ? 'as in `host www.example.org`' : `give the name alone: \`host ${host}\``;
  return new CommandError('host_name', 'this is not the name of a host', EXIT.usage, given, advice);
}
