/**
 * `npm run bench -- NAME [--pages N] [--hosts N] [--bytes N] [--links N] [--rounds N] [--json FILE] [--plot FILE]`: runs
 * one bench, prints its figures, and writes them down where asked, or as an SVG image. Exit status 1: what must hold of
 * them does not.
 *
 * One bench a process, so that none inherits another's heap or compiled code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from './measure.js';
import type { Bench, BenchResult, Figures } from './result.js';

const BENCHES: Readonly<Record<string, () => Promise<{ readonly run: Bench }>>> = {
  'address-clock': () => import('./address-clock.js'),
  fairness: () => import('./fairness.js'),
  incident: () => import('./incident.js'),
  'incident-real': () => import('./incident-real.js'),
  'hot-host': () => import('./hot-host.js'),
  nesting: () => import('./nesting.js'),
  passivation: () => import('./passivation.js'),
  'raw-loop': () => import('./raw-loop.js'),
  resume: () => import('./resume.js'),
  throughput: () => import('./throughput.js'),
};

const NUMBERS = ['pages', 'hosts', 'bytes', 'links', 'rounds'] as const;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parsed();
  const [name = ''] = positionals;
  const load = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  const wrong = NUMBERS.some((key) => values[key] !== undefined && !/^[1-9]\d{0,8}$/.test(values[key]));
  if (load === undefined || positionals.length !== 1 || wrong) {
    const numbers = NUMBERS.map((key) => `[--${key} N]`).join(' ');
    console.error(
      `usage: npm run bench -- NAME ${numbers} [--json FILE] [--plot FILE]; NAME is one of ${Object.keys(BENCHES).join(', ')}`,
    );
    return 2;
  }
  const numberOf = (key: (typeof NUMBERS)[number]) => (values[key] === undefined ? null : Number(values[key]));
  const { run } = await load();
  const result = await run({
    pages: numberOf('pages'),
    hosts: numberOf('hosts'),
    bytes: numberOf('bytes'),
    links: numberOf('links'),
    rounds: numberOf('rounds'),
  });
  print(result);
  const { plot, ...written } = result;
  if (values.json !== undefined) write(values.json, written);
  if (values.plot !== undefined) draw(values.plot, plot);
  for (const what of result.broken ?? []) console.error(`NOT HELD: ${what}`);
  return (result.broken ?? []).length === 0 ? 0 : 1;
}

/** What is not understood is as good as no name: the usage is said. */
function parsed() {
  const text = { type: 'string' } as const;
  const options = { json: text, pages: text, hosts: text, bytes: text, links: text, rounds: text, plot: text };
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch {
    return { values: {} as { readonly [K in keyof typeof options]?: string }, positionals: [] };
  }
}

function print({ name, figures, cpuMicrosPerPage, subjects }: BenchResult): void {
  console.log(`${name}\n\n${table(Object.entries(figures))}`);
  if (subjects !== undefined) {
    console.log(`\n${compare(Object.entries(subjects).map(([subject, { figures }]) => [subject, figures]))}`);
    for (const [subject, { cpuMicrosPerPage }] of Object.entries(subjects))
      if (cpuMicrosPerPage !== undefined) printStages(subject, cpuMicrosPerPage);
  }
  if (cpuMicrosPerPage !== undefined) printStages('CPU by stage', cpuMicrosPerPage);
}

/** One line a figure, one column a subject; `-` where a subject has no such figure. */
function compare(columns: readonly (readonly [subject: string, figures: Figures])[]): string {
  const names = new Set(columns.flatMap(([, figures]) => Object.keys(figures)));
  return table([
    ['', ...columns.map(([subject]) => subject)],
    ...[...names].map((name) => [name, ...columns.map(([, figures]) => figures[name] ?? '-')]),
  ]);
}

function printStages(title: string, stages: Figures): void {
  const total = Object.values(stages).reduce((sum, micros) => sum + micros, 0);
  const rows = Object.entries(stages).map(([stage, micros]) => [
    stage,
    micros,
    `${Math.round((micros / total) * 100)} %`,
  ]);
  console.log(`\n${table([[title, 'µs a page', 'share'], ...rows])}`);
}

function draw(path: string, plot: string | undefined): void {
  if (plot === undefined) return console.error('this bench draws nothing');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, plot);
}

function write(path: string, result: Omit<BenchResult, 'plot'>): void {
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
}
