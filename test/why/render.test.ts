import { describe, expect, it } from 'vitest';
import { CODES, type Code } from '../../src/domain/outcome.js';
import { CODE_WORDS } from '../../src/why/codes.js';
import { renderAnswer } from '../../src/why/render.js';
import { moment, span } from '../../src/why/times.js';

describe('codes in words', () => {
  it.each(Object.keys(CODES) as Code[])('%s: a clause, a sentence, and advice that ends', (code) => {
    const { said, follows, advice } = CODE_WORDS[code];
    expect(said).toMatch(/^[a-z].*[^.!?]$/);
    expect(follows).toMatch(/^[A-Z].*\.$/);
    if (advice !== null) expect(advice).toMatch(/^[A-Z].*\.$/);
  });
});

describe('times', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [119_000, '119 s'],
    [120_000, '2 minutes'],
    [2 * 3_600_000 - 1, '120 minutes'],
    [2 * 3_600_000, '2 hours'],
    [2 * 86_400_000 - 1, '48 hours'],
    [2 * 86_400_000, '2 days'],
    [-5, '0 ms'],
    [Number.NaN, 'an unknown time'],
  ])('%d ms: %s', (ms, text) => {
    expect(span(ms)).toBe(text);
  });

  it('ahead, behind, and neither', () => {
    const now = Date.UTC(2026, 2, 1, 12);
    expect(moment(now + 12_000, now)).toBe('in 12 s (2026-03-01 12:00:12 UTC)');
    expect(moment(now - 180_000, now)).toBe('3 minutes ago (2026-03-01 11:57:00 UTC)');
    expect([moment(now + 999, now), moment(now, now), moment(now - 999, now)]).toEqual(['now', 'just now', 'just now']);
    expect(moment(Number.NaN, now)).toBe('at an unknown time');
    expect(moment(9e15, now)).toBe('at an unknown time');
  });
});

describe('an answer for people', () => {
  const answer = (sentence: string) =>
    ({
      url: 'http://a.test/',
      story: [
        { topic: 'verdict', sentences: ['It is.'] },
        { topic: 'host', sentences: [sentence] },
      ],
    }) as const;
  const lines = (sentence: string, width: number) =>
    renderAnswer(answer(sentence) as unknown as Parameters<typeof renderAnswer>[0], width);

  it('labels a topic once, and never breaks a word', () => {
    expect(lines('one two http://a.test/far', 22)).toEqual([
      'http://a.test/',
      '  It is.',
      '',
      '  host      one two',
      '            http://a.test/far',
    ]);
  });

  it('fills a line to its last column, and no further', () => {
    expect(lines('abcde fghi', 22)[3]).toBe('  host      abcde fghi');
    expect(lines('abcde fghij', 22).slice(3)).toEqual(['  host      abcde', '            fghij']);
  });
});
