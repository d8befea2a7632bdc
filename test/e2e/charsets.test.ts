/** A sample of what `npm run e2e:charsets` asks of whole translations. */
import { describe, expect, it } from 'vitest';
import { missingForCharsets, TRIALS, tryCharset } from './charsets.js';

const missing = missingForCharsets();

describe.skipIf(missing !== null)(`pages in old encodings${missing === null ? '' : ` (${missing})`}`, () => {
  it.each(TRIALS.map((trial) => [trial.charset, trial.language, trial] as const))(
    'T02: %s (%s), told by the header or by the page, gives the text, title and links of the UTF-8 original',
    (_charset, _language, trial) => {
      const { pages, bytesBeyondAscii, differences } = tryCharset(trial, 2);
      expect(differences).toEqual([]);
      expect(pages).toBe(2);
      expect(bytesBeyondAscii).toBeGreaterThan(5);
    },
    20_000,
  );
});
