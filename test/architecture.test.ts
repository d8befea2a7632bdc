import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What a crawl has none of unless it is told to. */
const WITH_ALL_TIERS = ['--set', 'impersonate.sites=["*"]', '--set', 'browser.endpoint=http://127.0.0.1:8191/v1'];

it('ARCHITECTURE.md shows the tree that the program prints of a crawl with all tiers', () => {
  const command = [path('../dist/cli/main.js'), 'tree', ...WITH_ALL_TIERS];
  const printed = execFileSync(process.execPath, command, { encoding: 'utf8' });
  const shown = /```\n(crawler [\s\S]*?)\n```/.exec(readFileSync(path('../ARCHITECTURE.md'), 'utf8'))?.[1];
  expect(shown).toBe(printed.trimEnd());
});
