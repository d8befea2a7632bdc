/** RFC 9110 §8.8 and §13, C08, C10: validators are kept and sent by the grammar, or not at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  conditionsOf,
  ETAG_CHARACTERS_MAX,
  isConditional,
  refreshed,
  validatorsOf,
} from '../../src/policy/validators.js';

const NOW = Date.UTC(2026, 2, 10, 12);
const DATE = 'Mon, 09 Mar 2026 12:00:00 GMT';
const ARCHIVED = { url: 'http://a.test/', recordId: 'urn:uuid:1', atMs: 1, payloadDigest: 'sha1:A' };
const KNOWN = { etag: '"1"', lastModified: DATE, digest: 'sha1:A', archived: ARCHIVED };

const etagOf = (value: string) => validatorsOf([['ETag', value]], NOW).etag;
const dateOf = (value: string) => validatorsOf([['last-modified', value]], NOW).lastModified;

describe('what an answer says of its version', () => {
  it.each(['"x"', 'W/"x"', '""', ' "x" ', '"a/b-c:\xe9"'])('§8.8.3: takes the entity tag %s', (value) => {
    expect(etagOf(value)).toBe(value.trim());
  });

  it.each(['x', '"x', 'w/"x"', '"a"b"', '"a b"', '"a\r\nHost: evil"', '"a\0"', '"a\x7f"', '"\u20ac"'])(
    '§8.8.3: takes %j for none',
    (value) => expect(etagOf(value)).toBeNull(),
  );

  it('bounds it (n and n+1)', () => {
    const tag = (length: number) => `"${'x'.repeat(length - 2)}"`;
    expect(etagOf(tag(ETAG_CHARACTERS_MAX))).toHaveLength(ETAG_CHARACTERS_MAX);
    expect(etagOf(tag(ETAG_CHARACTERS_MAX + 1))).toBeNull();
  });

  it.each([DATE, 'Monday, 09-Mar-26 12:00:00 GMT', 'Mon Mar  9 12:00:00 2026'])(
    '§5.6.7: keeps the date %s as it was spelled',
    (value) => expect(dateOf(value)).toBe(value),
  );

  it.each(['-1', '0', 'yesterday', 'Thu, 01 Jan 2099 00:00:00 GMT', `${DATE}\r\nX: y`, '2026-03-09'])(
    'C10: ignores %j',
    (value) => expect(dateOf(value)).toBeNull(),
  );

  it('C10: a date is in the future from the next second on (n and n+1)', () => {
    expect(dateOf('Tue, 10 Mar 2026 12:00:00 GMT')).not.toBeNull();
    expect(dateOf('Tue, 10 Mar 2026 12:00:01 GMT')).toBeNull();
  });

  it('C08: a 304 renews what it says, and leaves the rest', () => {
    expect(refreshed(KNOWN, { etag: '"2"', lastModified: null })).toEqual({ etag: '"2"', lastModified: DATE });
    expect(refreshed(KNOWN, { etag: null, lastModified: null })).toEqual({ etag: '"1"', lastModified: DATE });
  });
});

describe('a request', () => {
  it('§13.1: carries what is known', () => {
    const conditions = conditionsOf(KNOWN, true, NOW);
    expect(conditions).toEqual([
      ['if-none-match', '"1"'],
      ['if-modified-since', DATE],
    ]);
    expect(isConditional(conditions)).toBe(true);
    expect(isConditional([['accept', '*/*']])).toBe(false);
  });

  it('is plain where the body is not kept', () => {
    expect(conditionsOf({ ...KNOWN, digest: null }, false, NOW)).toEqual([]);
    expect(conditionsOf({ ...KNOWN, archived: null }, true, NOW)).toEqual([]);
    expect(conditionsOf({ ...KNOWN, archived: null }, false, NOW)).toHaveLength(2);
  });

  it('never carries what is no validator, whatever the store says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const [, value] of conditionsOf({ ...KNOWN, etag: text, lastModified: text }, true, NOW)) {
          expect(value).toMatch(/^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$|^[A-Z][A-Za-z0-9 :,-]+$/);
        }
      }),
      { seed: 5 },
    );
  });
});
