import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/domain/record.js';
import type { DeadFilter } from '../../src/domain/redrive.js';
import { meets } from '../../src/policy/dead-filter.js';

const letter: DeadLetter = {
  url: 'http://a.test/1',
  key: '00112233445566778899aabbccddeeff' as DeadLetter['key'],
  host: 'a.test',
  cause: 'The connection was reset',
  code: 'unmodified_without_validators',
  deliveries: 8,
  firstAtMs: 100,
  lastAtMs: 1_000,
  attempts: [],
};
const ALL: DeadFilter = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null };

describe('R1 a filter of dead letters', () => {
  it('that names nothing means every letter', () => {
    expect(meets(letter, ALL)).toBe(true);
  });

  it.each<[Partial<DeadFilter>, boolean]>([
    [{ host: 'a.test' }, true],
    [{ host: 'b.a.test' }, false],
    [{ cause: 'RESET' }, true],
    [{ cause: 'refused' }, false],
    [{ code: 'unmodified_without_validators' }, true],
    [{ beforeMs: 1_000 }, false],
    [{ beforeMs: 1_001 }, true],
    [{ sinceMs: 1_000 }, true],
    [{ sinceMs: 1_001 }, false],
    [{ host: 'a.test', cause: 'refused' }, false],
  ])('%j: %s', (part, expected) => {
    expect(meets(letter, { ...ALL, ...part })).toBe(expected);
  });
});
