/**
 * The whole kill -9 trial (test/e2e/support/kill-trial.ts): 25 kills at random moments and 10 by the server in the middle
 * of an answer, of which at least 30 must find a visit open. Prints a row a kill and the sums; ends with 1 where
 * anything is wrong. What it wrote is removed, unless it failed or `--keep` names a folder for it.
 *
 *     npm run e2e:kill -- [--seed N] [--hosts N] [--pages N] [--delay MS] [--random KILLS] [--server KILLS]
 *       [--alive MS: random kills fall so long after a life's first request] [--requests N: server's kills, within so many]
 *       [--side-by-side] [--keep DIR] [--json]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runKillTrial } from '../../dist-e2e/test/e2e/support/kill-trial.js';

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  hosts: { type: 'string', default: '240' },
  pages: { type: 'string', default: '3600' },
  delay: { type: 'string', default: '40' },
  random: { type: 'string', default: '25' },
  server: { type: 'string', default: '10' },
  requests: { type: 'string', default: '150' },
  alive: { type: 'string', default: '1500' },
  'side-by-side': { type: 'boolean', default: false },
  keep: { type: 'string' },
  json: { type: 'boolean', default: false },
};

const PROBLEMS_SHOWN = 40;

process.exitCode = await main();

async function main() {
  const { values } = parseArgs({ options: OPTIONS });
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'orbweaver-kill-'));
  mkdirSync(folder, { recursive: true });
  const kills = { randomKills: Number(values.random), serverKills: Number(values.server) };
  const report = await runKillTrial({
    program: fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)),
    folder,
    seed: Number(values.seed),
    hosts: Number(values.hosts),
    pages: Number(values.pages),
    delayMs: Number(values.delay),
    ...kills,
    startUpKills: Math.floor(kills.randomKills / 12),
    aliveMsMax: Number(values.alive),
    requestsMax: Number(values.requests),
    withOpenVisitsMin: Math.floor(((kills.randomKills + kills.serverKills) * 6) / 7),
    waitSeconds: 600,
    sideBySide: values['side-by-side'],
    say: (line) => console.error(line),
  });
  if (values.json) console.log(JSON.stringify(report));
  else print(report);
  const failed = report.problems.length > 0;
  if (!failed && values.keep === undefined) rmSync(folder, { recursive: true });
  else console.error(`logs and data: ${folder}`);
  return failed ? 1 : 0;
}

function print({ kills, undisturbed, disturbed, problems, verdicts, ...sums }) {
  console.table(kills);
  console.table({ undisturbed, disturbed });
  console.table(verdicts);
  const sum = (key) => kills.reduce((total, kill) => total + kill[key], 0);
  const totals = { inFlight: sum('inFlight'), openVisits: sum('openVisits'), repeats: sum('repeats') };
  console.log(JSON.stringify({ event: 'summary', ...sums, kills: kills.length, ...totals, problems: problems.length }));
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`PROBLEM ${problem}`);
  if (problems.length > PROBLEMS_SHOWN) console.log(`and ${problems.length - PROBLEMS_SHOWN} more`);
}
