/** `orbweaver sim`: the real actors against a simulated web in simulated time; invariants are checked from outside. */
import { Command } from 'commander';
import type { UniverseResult } from '../sim/universe.js';
import { wholeNumber, withJsonOption } from './options.js';
import { EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

interface SimOptions {
  readonly seed: number;
  readonly seeds: number;
  readonly days: number;
  readonly hosts: number;
  readonly pages: number;
  readonly kills: number;
  readonly pauses: number;
  readonly exclusions: number;
  readonly sowings: number;
  readonly diskErrors: number;
  readonly json: boolean;
}

const DAY_MS = 86_400_000;
const EVENTS_MAX = 50_000_000;

export function simCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('sim')
    .description('crawl a simulated, failing web in simulated time and judge the crawl by the servers’ own log')
    .option('--seed <n>', 'the first universe; the same seed has the same history', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--seeds <count>', 'how many universes, one after the other', wholeNumber(1, 1e6), 1)
    .option('--days <d>', 'simulated days that a crawl may take', wholeNumber(1, 3_650), 30)
    .option('--hosts <h>', 'hosts of the web', wholeNumber(1, 10_000), 6)
    .option('--pages <n>', 'pages on all hosts together', wholeNumber(1, 1e6), 60)
    .option('--kills <n>', 'deaths of the process (kill -9)', wholeNumber(0, 1_000), 3)
    .option('--pauses <n>', 'pauses by command, each taken back after a while', wholeNumber(0, 1_000), 1)
    .option('--exclusions <n>', 'parts of the web excluded by command, each taken back', wholeNumber(0, 1_000), 1)
    .option('--sowings <n>', 'times that seeds are brought while it runs', wholeNumber(0, 1_000), 1)
    .option('--disk-errors <n>', 'writes that fail', wholeNumber(0, 1_000), 1);
  return withJsonOption(command).action(async (options: SimOptions) => {
    let violations = 0;
    let seed = options.seed;
    // Simulated time never comes back to wait: an interrupt ends the process, with a word on how far it came.
    void untilInterrupted().then(() => {
      terminal.note(
        `Interrupted: ${seed - options.seed} of ${options.seeds} universes done, ${violations} violations.`,
      );
      process.exit(EXIT.interrupted);
    });
    for (; seed < options.seed + options.seeds; seed++) {
      const result = await universe(seed, options);
      violations += result.violations.length;
      await report(result, options, terminal);
    }
    conclude(violations, options, terminal);
    ended(violations === 0 ? EXIT.done : EXIT.failed);
  });
}

async function universe(
  seed: number,
  { hosts, pages, kills, pauses, exclusions, sowings, diskErrors, days }: SimOptions,
): Promise<UniverseResult> {
  const { productionEngine } = await import('../sim/engine.js');
  const { runUniverse } = await import('../sim/universe.js');
  const bounds = { simulatedMsMax: days * DAY_MS, eventsMax: EVENTS_MAX };
  return runUniverse(
    {
      seed,
      hosts,
      pages,
      kills,
      pauses,
      exclusions,
      sowings,
      storeErrors: diskErrors,
      again: true,
      openings: true,
      ...bounds,
    },
    productionEngine(),
  );
}

async function report(result: UniverseResult, { json }: SimOptions, terminal: Terminal): Promise<void> {
  const { evidence: _evidence, ...told } = result;
  if (json) return printJson(terminal, told);
  const { seed, traceHash, simulatedSeconds, requests, events, kills, faults, violations } = result;
  const verdict = violations.length === 0 ? 'no violation' : `${violations.length} VIOLATIONS`;
  terminal.print(
    `seed ${seed}  trace ${traceHash}  ${Math.round(simulatedSeconds)} s simulated, ${requests} requests, ${events} events, ${kills} kills, ${faults} faults: ${verdict}`,
  );
  if (violations.length === 0) return;
  const { tellStory } = await import('../sim/story.js');
  terminal.print(tellStory(result));
}

function conclude(violations: number, { json, seeds, seed }: SimOptions, terminal: Terminal): void {
  if (json) printJson(terminal, { event: 'summary', seeds, violations });
  else if (violations === 0)
    terminal.print(`${seeds} of ${seeds} universes without a violation, from seed ${seed} on.`);
  else terminal.print(`${violations} violations. The same --seed brings the same history again.`);
}
