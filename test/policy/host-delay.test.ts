import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostDelayMs } from '../../src/policy/delay.js';

const politeness = (hostDelaysMs: Record<string, number>) => ({ delayMs: 1_000, hostDelaysMs });

describe('P2 the configured delay of a host', () => {
  it('is that of all hosts where nothing names it', () => {
    expect(hostDelayMs('a.example.com', politeness({ 'b.example.com': 5, '*.other.com': 6 }))).toBe(1_000);
  });

  it('its own name beats every pattern, and may be zero', () => {
    expect(
      hostDelayMs('a.example.com', politeness({ '*.a.example.com': 7, '*.example.com': 5, 'a.example.com': 0 })),
    ).toBe(0);
  });

  it('the longest pattern wins, in whatever order they stand', () => {
    const patterns = { '*': 1, '*.com': 2, '*.example.com': 3, '*.b.example.com': 4 };
    const reversed = Object.fromEntries(Object.entries(patterns).reverse());
    for (const delays of [patterns, reversed]) {
      expect(hostDelayMs('a.b.example.com', politeness(delays))).toBe(4);
      expect(hostDelayMs('a.example.com', politeness(delays))).toBe(3);
      expect(hostDelayMs('other.com', politeness(delays))).toBe(2);
      expect(hostDelayMs('other.org', politeness(delays))).toBe(1);
    }
  });

  it('`*.` matches any depth, but neither the bare name nor a name that ends alike', () => {
    const delays = politeness({ '*.example.com': 3 });
    expect(hostDelayMs('a.b.c.example.com', delays)).toBe(3);
    expect(hostDelayMs('example.com', delays)).toBe(1_000);
    expect(hostDelayMs('badexample.com', delays)).toBe(1_000);
  });
});

describe('P2 the configured delay of any host', () => {
  const label = fc.constantFrom('a', 'b', 'com');
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  const pattern = fc.oneof(
    name,
    name.map((it) => `*.${it}`),
    fc.constant('*'),
  );

  it('is that of the most particular pattern that covers it, by the labels', () => {
    fc.assert(
      fc.property(name, fc.dictionary(pattern, fc.nat(9_999)), (host, delays) => {
        const labels = host.split('.');
        // From the name itself over ever shorter ends to all names.
        const candidates = [host, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join('.')}`), '*'];
        const expected = candidates.map((it) => delays[it]).find((it) => it !== undefined);
        expect(hostDelayMs(host, politeness(delays))).toBe(expected ?? 1_000);
      }),
      { numRuns: 500 },
    );
  });
});
