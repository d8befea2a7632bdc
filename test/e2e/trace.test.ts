/** The same seed has the same history, in two processes; another seed has another. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

interface Universe {
  readonly traceHash: string;
  readonly events: number;
  readonly requests: number;
  readonly kills: number;
  readonly violations: readonly unknown[];
}

async function universe(seed: number): Promise<Universe> {
  const words = [
    'sim',
    '--seed',
    String(seed),
    '--mode',
    'liveness',
    '--hosts',
    '30',
    '--pages',
    '3000',
    '--kills',
    '3',
    '--json',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout.split('\n')[0] ?? '') as Universe;
}

it('one seed, two processes, one trace of at least 100 000 events, the order of actors in it', async () => {
  const [first, second, other] = await Promise.all([universe(7), universe(7), universe(8)]);
  expect(first.violations).toEqual([]);
  expect(first.events).toBeGreaterThanOrEqual(100_000);
  expect(first.kills).toBeGreaterThan(0);
  expect(second).toEqual(first);
  expect(other.traceHash).not.toBe(first.traceHash);
}, 120_000);
