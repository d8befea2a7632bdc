/** Every event that the source can log is in the documentation, and no other; each line is free of secrets. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../src/index.js';
import { logPort } from '../src/library/log-port.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LEVELS = ['debug', 'info', 'warn', 'error'];
/** Simulation and practice web write logs of their own. */
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !/^(sim|practice)\//.test(name),
);

/** The quoted words between the name of the call and its fields. */
function eventsIn(source: string): string[] {
  const calls = [...source.matchAll(/(?:\blog|\.note|\.log)\(([^;{}]*)[{;]/g)];
  // Words that are compared with are conditions, and those in brackets are types.
  return calls.flatMap(([, words = '']) =>
    [...words.replaceAll(/[!=]==\s*'\w+'|\['\w+'\]/g, '').matchAll(/'(\w+)'/g)].map(([, word = '']) => word),
  );
}

describe('the log', () => {
  it('has every event in docs/outputs.md, and no other', () => {
    const events = SOURCES.flatMap((name) => eventsIn(readFileSync(join(ROOT, 'src', name), 'utf8')));
    const page = readFileSync(join(ROOT, 'docs/outputs.md'), 'utf8');
    const table = page.slice(page.indexOf('## The log'));
    const rows = [...table.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| [a-z, ]+ \|/gm)];
    const documented = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
    const logged = new Set(events.filter((word) => !LEVELS.includes(word)));
    for (const name of ['set_aside', 'in_hand_dropped', 'visit_lost']) expect(logged).toContain(name);
    expect(documented.sort()).toEqual([...logged].sort());
  });

  it('gives programs no credentials (S3: no secret is printed), and outlives what they throw', () => {
    const lines: string[] = [];
    const heard: LogFields[] = [];
    const port = logPort(
      (...line) => {
        lines.push(JSON.stringify(line));
        throw new Error('the log is full');
      },
      (_level, _event, fields) => heard.push(fields),
    );
    port.log('warn', 'at http://ann:s3cret@a.test/', {
      url: 'https://ann:s3cret@a.test/x',
      detail: 'proxy http://s3cret@proxy.test refused',
      authorization: 'Basic s3cret',
      token: 's3cret',
    });
    expect(lines).toHaveLength(1);
    expect(lines.join() + JSON.stringify(heard)).not.toContain('s3cret');
    expect(heard[0]).toMatchObject({ url: 'https://[redacted]@a.test/x', token: '[redacted]' });
  });

  it('goes to a logger that takes fields first', () => {
    const lines: unknown[] = [];
    const take = (level: string) => (fields: LogFields, event: string) => void lines.push([level, event, fields]);
    const logger = { debug: take('debug'), info: take('info'), warn: take('warn'), error: take('error') };
    logPort(logger, () => {}).log('info', 'crawl_started', { seeds: 1 });
    logPort(undefined, () => {}).log('info', 'crawl_started', { seeds: 1 });
    expect(lines).toEqual([['info', 'crawl_started', { seeds: 1 }]]);
  });
});
