import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CODES } from '../../src/domain/outcome.js';

const page = readFileSync(new URL('../../docs/outputs.md', import.meta.url), 'utf8');

describe('docs/outputs.md', () => {
  it('has every code with its meaning, in order, and no other', () => {
    const table = page.slice(page.indexOf('## Codes'), page.indexOf('## The data directory'));
    const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
    expect(rows).toEqual(Object.entries(CODES));
  });
});
