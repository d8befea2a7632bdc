/**
 * `orbweaver judge LOG`: was a crawl polite? By the practice web's own log and nothing that the crawl says of itself.
 *
 * What was promised comes from the crawl's configuration: give the same `--config` and `--set`.
 */
import { Command } from 'commander';
import type { Config } from '../config/schema.js';
import { addressClockKey, addressRangesOf } from '../policy/addresses.js';
import { JITTER_SHARE } from '../policy/backoff.js';
import { QUARANTINE } from '../policy/breaker.js';
import { hostDelayMs } from '../policy/delay.js';
import { THROTTLE_BACKOFF } from '../policy/throttle.js';
import { judgeFile, type Rules, type Verdict, type Violation } from '../practice/judge.js';
import { readConfig } from './configuration.js';
import { unreadable } from './files.js';
import { type ConfigOptions, withConfigOptions, withJsonOption } from './options.js';
import { requiredProductToken } from './product-token.js';
import { examples } from './program.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal } from './terminal.js';

interface JudgeOptions extends ConfigOptions {
  readonly again: boolean;
  readonly json: boolean;
}

const VIOLATIONS_SHOWN_MAX = 20;

export function judgeCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('judge')
    .description('say whether a crawl was polite, by the log of the practice web (`practice --log`)')
    .argument('<log>', 'the file that `practice --log` wrote')
    .option('--again', 'URLs were crawled again on purpose: repeats are no fault', false)
    .addHelpText('after', () =>
      examples(
        ['judge web.log --set politeness.delayMs=100', 'exit 0: no rule was broken; 1: those that were are listed'],
        ['judge web.log --config crawl.yaml --json', 'one JSON object for each violation, then the figures'],
      ),
    );
  return withJsonOption(withConfigOptions(command)).action(async (log: string, options: JudgeOptions) => {
    const { config } = readConfig(options);
    const verdict = await verdictOn(log, promisesOf(config, options.again));
    tell(verdict, options.json, terminal);
    ended(verdict.violations.length === 0 ? EXIT.done : EXIT.failed);
  });
}

/** What a crawl of this configuration promises, in the judge's own words. */
function promisesOf(config: Config, again: boolean): Rules {
  const { politeness, breaker } = config;
  const exempt = addressRangesOf(politeness.addressExempt);
  return {
    productToken: requiredProductToken(config),
    delayMs: (host) => hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    addressDelayMs: politeness.addressDelayMs,
    addressClockOf: (address) => addressClockKey(address, exempt),
    patience: {
      throttle: THROTTLE_BACKOFF,
      breaker: { failures: breaker.failures, firstMs: breaker.quarantineSeconds * 1_000, capMs: QUARANTINE.capMs },
      jitterShare: JITTER_SHARE,
    },
    repeats: again ? 'allowed' : 'judged',
  };
}

/** Rejects with CommandError. */
async function verdictOn(path: string, promises: Rules): Promise<Verdict> {
  try {
    const verdict = await judgeFile(path, promises);
    if (verdict.stats.requests > 0) return verdict;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw unreadable(error, path);
    throw notALog(path, error);
  }
  throw notALog(path);
}

function notALog(path: string, cause?: unknown): CommandError {
  const what = cause === undefined ? 'no request stands in it' : 'it is no such log';
  const advice = 'give the file that `practice --log` wrote';
  return new CommandError('log_invalid', what, EXIT.usage, path, advice, { cause });
}

function tell({ violations, stats }: Verdict, json: boolean, terminal: Terminal): void {
  if (json) {
    for (const violation of violations) printJson(terminal, violation);
    return printJson(terminal, { event: 'summary', violations: violations.length, ...stats });
  }
  for (const violation of violations.slice(0, VIOLATIONS_SHOWN_MAX)) terminal.print(lineOf(violation));
  if (violations.length > VIOLATIONS_SHOWN_MAX)
    terminal.print(`  and ${violations.length - VIOLATIONS_SHOWN_MAX} more: --json lists them all`);
  const gap = stats.smallestGapMinusDelayMs;
  terminal.print(`${stats.requests} requests to ${stats.hosts} hosts: ${violations.length} violations.`);
  if (gap !== null) terminal.print(`The least that a request waited beyond its delay: ${gap.toFixed(1)} ms.`);
  terminal.print(
    `Put to the test: ${stats.robotsAnswers} robots.txt, ${stats.retryAfters} Retry-After, ${stats.kills} kills, ${stats.repeatsExcused} repeats that they excuse.`,
  );
}

function lineOf({ rule, host, at, detail }: Violation): string {
  return `  ${rule}  ${host}  at ${(at / 1_000).toFixed(3)} s: ${detail}`;
}
