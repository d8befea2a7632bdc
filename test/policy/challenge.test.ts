import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { challengeOf, type ChallengeMeasures, DOOR_TEXT_MAX, SHELL_MARKUP_MIN } from '../../src/policy/challenge.js';

const seen = (changes: Partial<ChallengeMeasures> = {}) =>
  challengeOf({ markup: '<p>words', title: null, textLength: 5, scripts: 0, links: 3, ...changes });

describe('doors in front of pages', () => {
  const mark = '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>';

  it.each([
    mark,
    '<script>window._cf_chl_opt={}</script>',
    '<iframe src="https://geo.captcha-delivery.com/captcha/?x"></iframe>',
    '<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>',
    '<div id="px-captcha"></div>',
  ])('are known by their marks: %s', (markup) => {
    expect(seen({ markup })).toEqual({ verdict: true, reasons: [expect.stringContaining('a mark of')] });
  });

  it('and by their titles', () => {
    expect(seen({ title: 'Just a moment...' }).verdict).toBe(true);
    expect(seen({ title: 'Just a moment of peace' }).verdict).toBe(false);
  });

  it('but an article that quotes a mark is a page', () => {
    expect(seen({ markup: mark, textLength: DOOR_TEXT_MAX }).verdict).toBe(true);
    expect(seen({ markup: mark, textLength: DOOR_TEXT_MAX + 1 })).toEqual({ verdict: false, reasons: [] });
  });
});

describe("a script's empty shell", () => {
  const shell = { markup: 'x'.repeat(SHELL_MARKUP_MIN), textLength: 9, scripts: 1, links: 0 };

  it('has scripts, next to no text and no links', () => {
    expect(seen(shell)).toEqual({ verdict: true, reasons: [expect.stringContaining('9 characters of text in 500')] });
    for (const page of [{ textLength: 10 }, { scripts: 0 }, { links: 1 }, { markup: shell.markup.slice(1) }]) {
      expect(seen({ ...shell, ...page }).verdict).toBe(false);
    }
  });
});

describe('doors, any page', () => {
  const page: fc.Arbitrary<ChallengeMeasures> = fc.record({
    markup: fc.string({ maxLength: 2_000 }),
    title: fc.option(fc.string({ maxLength: 40 })),
    textLength: fc.oneof(fc.nat(300), fc.nat(5_000)),
    scripts: fc.nat(3),
    links: fc.nat(3),
  });

  it('are told with reasons, and no page with more words than a door says is one', () => {
    fc.assert(
      fc.property(page, (given) => {
        const { verdict, reasons } = challengeOf(given);
        expect(reasons.length > 0).toBe(verdict);
        if (given.textLength > DOOR_TEXT_MAX) expect(verdict).toBe(false);
      }),
    );
  });

  it('a page with links, or without scripts, is no shell', () => {
    fc.assert(
      fc.property(page, (given) => {
        if (given.links === 0 && given.scripts > 0) return;
        expect(challengeOf(given).reasons.some((it) => it.includes('shell'))).toBe(false);
      }),
    );
  });
});
