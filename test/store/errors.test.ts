/** What an operator is told of a store that failed. */
import { describe, expect, it } from 'vitest';
import { adviceAfter, storeErrorFrom } from '../../src/store/errors.js';

describe('D3 and D5: what to do after a failure', () => {
  it.each(['Error: store_corrupt: StoreError: its files are damaged', 'host: crashed too often: store_corrupt: x'])(
    'a damaged store is not called whole: %s',
    (failure) => {
      expect(adviceAfter(failure)).toBe(storeErrorFrom(new Error('Corruption: x'), 'it').advice);
    },
  );

  it.each(['Error: store_full: no space is left', 'TypeError: x'])('any other goes on: %s', (failure) => {
    expect(adviceAfter(failure)).toContain('goes on');
  });

  it.each([
    ['ENOENT: /d/store/MANIFEST-000071: No such file or directory', 'store_corrupt'],
    ['IO error: /d/store/LOCK: Is a directory', 'store_blocked'],
    ['EISDIR: illegal operation on a directory, read', 'store_blocked'],
    ['ENOENT: no such file or directory', 'store_io'],
  ])('%s is %s', (text, code) => {
    expect(storeErrorFrom(new Error(text), 'it').code).toBe(code);
  });
});
