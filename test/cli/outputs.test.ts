import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WAIT_CAUSES } from '../../src/admin/control.js';
import { CODES, type Code } from '../../src/domain/outcome.js';
import type { WhyFacts } from '../../src/why/facts.js';
import { explain } from '../../src/why/explain.js';
import { CODE_WORDS } from '../../src/why/codes.js';
import { pageLine } from '../../src/sinks/pages.js';

const page = readFileSync(new URL('../../docs/outputs.md', import.meta.url), 'utf8');

const NOTHING_KNOWN: WhyFacts = {
  asked: 'tulips',
  nowMs: 0,
  spelling: { ok: false, refusal: 'url_invalid' },
  record: null,
  hops: [],
  reachesSeed: false,
  standing: null,
  dead: null,
  target: null,
  neighbours: [],
  host: null,
  robots: null,
  rules: null,
  terms: null,
  live: null,
};

function wordsOf(code: Code): string[] {
  const { follows, advice } = CODE_WORDS[code];
  return [follows, advice ?? ''];
}

describe('docs/outputs.md', () => {
  it('has every code with its meaning, in order, and no other', () => {
    const table = page.slice(page.indexOf('## Codes'), page.indexOf('## pages.jsonl'));
    const rows = table.split('\n').filter((line) => /^\| `\w+` \|/.test(line));
    const codes = Object.entries(CODES) as [Code, string][];
    const cells = ([code, means]: [Code, string]) => [`\`${code}\``, means, ...wordsOf(code)];
    expect(rows).toEqual(codes.map((entry) => `| ${cells(entry).join(' | ')} |`));
  });

  it('has every field of an answer of why', () => {
    const table = page.slice(page.indexOf('## `why --json`'), page.indexOf('## Outcomes'));
    const named = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
      cell.replaceAll('`', '').split(', '),
    );
    const answer = explain(NOTHING_KNOWN);
    expect(named.sort()).toEqual(
      Object.keys(answer)
        .filter((field) => field !== 'refusal')
        .sort(),
    );
    expect(table).toContain('`refusal`');
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
      data: '1',
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
