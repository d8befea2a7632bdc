/** What a site may write on a terminal, and what a failed crawl is told to do. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shown } from '../../src/cli/terminal.js';

describe('S2: what sites wrote moves no terminal', () => {
  it.each([
    ['an escape sequence', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['a return over what stands there', 'safe\rrobots allow', 'safe\\u000drobots allow'],
    ['an eight-bit control', '\u009b2J\u007f', '\\u009b2J\\u007f'],
    ['a turned direction', 'a\u202eb\u2069', 'a\\u202eb\\u2069'],
    ['line ends, tabs and letters stay', 'Zoë\t東\n🕷', 'Zoë\t東\n🕷'],
  ])('%s', (_what, line, expected) => {
    expect(shown(line)).toBe(expected);
  });

  it('a line of JSON stays the same object', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = shown(JSON.stringify({ text }));
        expect(JSON.parse(line)).toEqual({ text });
        expect(line).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});
