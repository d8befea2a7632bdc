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
