/**
 * `why` after a crawl of a web in which every fate happens once. Its answers stand in the documentation as they are
 * given; `UPDATE_DOCS=1` writes them anew.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Candidate } from '../../src/domain/url.js';
import { openStore } from '../../src/store/store.js';
import type { WhyAnswer } from '../../src/why/answer.js';
import { explain } from '../../src/why/explain.js';
import type { WhyFacts } from '../../src/why/facts.js';
import { gatherFacts } from '../../src/why/gather.js';
import { lastConfig, termsOf } from '../../src/why/last-run.js';
import { judge, rulesInForce } from '../../src/why/rules.js';
import { renderAnswer } from '../../src/why/render.js';
import { ROOT } from './crawl-process.js';
import { CASES, RUNNING_CASES, type WhyCase } from './why-cases.js';
import { crawledWeb, type WhyWeb } from './why-web.js';

const PROGRAM = join(ROOT, 'dist/cli/main.js');
const PAGE = new URL('../../docs/why.md', import.meta.url);

/** The crawl of the documentation began then, and is asked about five minutes later. */
const BEGAN_MS = Date.UTC(2026, 2, 1, 12);
const ASKED_AFTER_MS = 5 * 60_000;

/** In the order of the page. */
const ALL = [...CASES, ...RUNNING_CASES];

let web: WhyWeb;
let began: number;
const answers = new Map<WhyCase, WhyAnswer>();

beforeAll(async () => {
  began = Date.now();
  web = await crawledWeb();
  const store = await openStore({ dir: web.dataDir, warcinfo: () => new Uint8Array() });
  try {
    const config = lastConfig(await store.lastRun());
    if (config === null) throw new Error('the run has left no note');
    const rules = rulesInForce(config, await store.readSettings());
    const sources = {
      store,
      nowMs: Date.now(),
      judge: (made: Candidate, depth: number) => judge(rules, made, depth),
      termsOf: (host: string) => termsOf(config, host),
      liveOf: null,
    };
    for (const one of CASES) {
      const facts = await gatherFacts(web.url(one.asked), sources);
      answers.set(one, explain(steady(facts)));
    }
  } finally {
    await store.close();
  }
});

beforeAll(async () => {
  await web.whileRunning(async (control) => {
    for (const one of RUNNING_CASES) answers.set(one, steadyAnswer(await control.why(web.url(one.asked))));
  });
});

afterAll(async () => {
  await web?.close();
});

/** Facts as if every crawl were as quick: times in whole hours after its beginning, durations alike, the usual port. */
function steady(facts: WhyFacts): WhyFacts {
  const hour = 3_600_000;
  const steadyOf = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(`:${web.port}`, '');
    if (typeof value === 'number') {
      if (name === 'nowMs') return BEGAN_MS + ASKED_AFTER_MS;
      if (/(?:^at|^since|At|Until)Ms$/.test(name)) return BEGAN_MS + Math.round((value - began) / hour) * hour;
      return /durationMs$/i.test(name) ? 12 : value;
    }
    if (Array.isArray(value)) return value.map((item) => steadyOf('', item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, steadyOf(key, inner)]));
  };
  return steadyOf('', facts) as WhyFacts;
}

/** The same for an answer that comes from another process, where only its words are at hand. */
function steadyAnswer(answer: WhyAnswer): WhyAnswer {
  const text = JSON.stringify(answer)
    .replaceAll(`:${web.port}`, '')
    .replaceAll(/just now|[\d.]+ s ago \([^)]*\)/g, '2 s ago (2026-03-01 12:00:00 UTC)')
    .replaceAll(/holds for another [^."]*/g, 'holds for another 24 hours');
  return JSON.parse(text) as WhyAnswer;
}

function printed(one: WhyCase): string {
  const lines = renderAnswer(answers.get(one) as WhyAnswer);
  return [
    `### ${one.title}`,
    '',
    '```',
    `$ orbweaver why '${one.asked.length > 80 ? `${one.asked.slice(0, 60)}…` : one.asked}'`,
    ...lines,
    '```',
    '',
  ].join('\n');
}

describe('why', () => {
  it.each(ALL)('$title', (one) => {
    const answer = answers.get(one) as WhyAnswer;
    expect({ state: answer.state, action: answer.next.action }).toEqual({ state: one.state, action: one.action });
    expect(answer.explanation.join('\n')).toMatch(one.says);
  });

  it('the program says the same, as JSON and for people', () => {
    const url = web.url('http://garden.test/private/keys');
    const called = (...words: string[]) =>
      execFileSync(process.execPath, [PROGRAM, 'why', ...words, '--data', web.dataDir], { encoding: 'utf8' });
    const lines = called('--json', url, 'mailto:x').trimEnd().split('\n');
    const told = lines.map((line) => JSON.parse(line) as WhyAnswer);
    expect(told.map(({ url, state }) => [url, state])).toEqual([
      [url, 'blocked_by_robots'],
      ['mailto:x', null],
    ]);
    expect(told[0]?.robots).toMatchObject({ allowed: false, rule: { line: 5, text: 'Disallow: /private/' } });
    expect(called(url)).toContain('  robots    http://garden.test');
  });

  it('a folder without a crawl is told as such, and stays as it was', () => {
    const words = [PROGRAM, 'why', 'http://garden.test/', '--data', join(web.dataDir, 'other')];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('[no_crawl]')]);
    expect(existsSync(join(web.dataDir, 'other'))).toBe(false);
  });

  it('docs/why.md shows these very answers', () => {
    const page = readFileSync(PAGE, 'utf8');
    const head = page.slice(0, page.indexOf(MARK) + MARK.length);
    const whole = `${head}\n\n${ALL.map(printed).join('\n')}`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, whole);
    else expect(page).toBe(whole);
  });
});

const MARK = '<!-- From here on written by test/e2e/why.test.ts. -->';
