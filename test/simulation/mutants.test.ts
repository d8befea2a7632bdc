import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

function mutants(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/mutants.mjs', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, said: `${stdout}${stderr}`, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

describe('planted faults', () => {
  it('each have a head that says what they are, and a patch that applies', () => {
    const count = readdirSync(resolve(ROOT, 'test/simulation/mutants')).filter((it) => it.endsWith('.patch')).length;
    const { status, said, lastLine } = mutants('--check');
    expect(lastLine, said).toBe(`${count} of ${count} apply`);
    expect(status).toBe(0);
    expect(count).toBeGreaterThan(25);
  });

  it('are found by the checker that is named, in universes that acquit the source as it is', () => {
    const { status, said, lastLine } = mutants('01', '04', '--seeds-max', '20');
    expect(lastLine, said).toBe('2 of 2 found');
    expect(status).toBe(0);
  }, 300_000);
});
