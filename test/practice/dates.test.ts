import { describe, expect, it } from 'vitest';
import { httpDateMsOf } from '../../src/policy/throttle.js';
import { httpDate } from '../../src/practice/dates.js';

const AT_MS = Date.UTC(1994, 10, 6, 8, 49, 37, 999);

describe('HTTP dates of the practice web (RFC 9110 §5.6.7)', () => {
  it.each([
    ['fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['rfc850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
  ] as const)('%s, as in the specification', (form, text) => {
    expect(httpDate(AT_MS, form)).toBe(text);
    expect(httpDateMsOf(text, AT_MS)).toBe(AT_MS - 999);
  });
});
