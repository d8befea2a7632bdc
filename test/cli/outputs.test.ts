import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WAIT_CAUSES } from '../../src/admin/control.js';
import { CODES } from '../../src/domain/outcome.js';
import { pageLine } from '../../src/sinks/pages.js';

const page = readFileSync(new URL('../../docs/outputs.md', import.meta.url), 'utf8');

describe('docs/outputs.md', () => {
  it('has every code with its meaning, in order, and no other', () => {
    const table = page.slice(page.indexOf('## Codes'), page.indexOf('## pages.jsonl'));
    const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
    expect(rows).toEqual(Object.entries(CODES));
  });

  it('has every field of a line of pages.jsonl', () => {
    const table = page.slice(page.indexOf('## pages.jsonl'), page.indexOf('## The data directory'));
    const named = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
      cell.replaceAll('`', '').split(', '),
    );
    const line = {
      url: 'http://a.test/',
      canonical: null,
      fetchedAt: '2026-01-01T00:00:00.000Z',
      status: 200,
      mime: null,
      charset: null,
      title: null,
      digest: null,
      simhash: null,
      declaredCanonical: null,
      kind: 'other',
      links: 0,
      noindex: false,
      outcome: 'fetched',
    };
    expect(named).toEqual(Object.keys(JSON.parse(pageLine(line as unknown as Parameters<typeof pageLine>[0], null))));
  });
});

describe('docs/control.md', () => {
  const control = readFileSync(new URL('../../docs/control.md', import.meta.url), 'utf8');

  it('has every cause for which a host waits, in order, and no other', () => {
    const table = control.slice(control.indexOf('## What a host waits for'), control.indexOf('## `hosts --json`'));
    const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, cause, meaning]) => [cause, meaning]);
    expect(rows).toEqual(Object.entries(WAIT_CAUSES));
  });
});
