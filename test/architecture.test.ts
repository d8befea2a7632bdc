import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

it('ARCHITECTURE.md shows the tree that the program prints', () => {
  const printed = execFileSync(process.execPath, [path('../dist/cli/main.js'), 'tree'], { encoding: 'utf8' });
  const shown = /```\n(crawler [\s\S]*?)\n```/.exec(readFileSync(path('../ARCHITECTURE.md'), 'utf8'))?.[1];
  expect(shown).toBe(printed.trimEnd());
});
