/**
 * `npm run bench -- NAME [--json FILE]`: runs one bench, prints its figures, and writes them down where asked.
 *
 * One bench a process, so that none inherits another's heap or compiled code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from './measure.js';
import type { Bench, BenchResult } from './result.js';

const BENCHES: Readonly<Record<string, () => Promise<{ readonly run: Bench }>>> = {
  'raw-loop': () => import('./raw-loop.js'),
};

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } });
  const [name = ''] = positionals;
  const load = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (load === undefined || positionals.length !== 1) {
    console.error(`usage: npm run bench -- NAME [--json FILE]; NAME is one of ${Object.keys(BENCHES).join(', ')}`);
    return 2;
  }
  const result = await (await load()).run();
  print(result);
  if (values.json !== undefined) write(values.json, result);
  return 0;
}

function print({ name, figures, cpuMicrosPerPage }: BenchResult): void {
  console.log(`${name}\n\n${table(Object.entries(figures))}`);
  if (cpuMicrosPerPage === undefined) return;
  const total = Object.values(cpuMicrosPerPage).reduce((sum, micros) => sum + micros, 0);
  const rows = Object.entries(cpuMicrosPerPage).map(([stage, micros]) => [
    stage,
    micros,
    `${Math.round((micros / total) * 100)} %`,
  ]);
  console.log(`\n${table([['CPU by stage', 'µs a page', 'share'], ...rows])}`);
}

function write(path: string, result: BenchResult): void {
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
}
