import { describe, expect, it } from 'vitest';
import { differ } from './differential.js';
import { referenceAllows } from './reference.js';

describe('RFC 9309: three ways to decide', () => {
  it('agree on a sample of random files and URLs', () => {
    const { checks, allowed, disallowed, byRule, disagreements } = differ(20260701, 1_500);
    expect(disagreements).toEqual([]);
    expect(checks).toBe(6_000);
    expect(Math.min(allowed, disallowed, byRule)).toBeGreaterThan(600);
  });

  it('the reference itself knows the examples of the RFC', () => {
    const example = (path: string, rule: string) => !referenceAllows(`User-agent: x\nDisallow: ${rule}`, 'x', path);
    expect(example('/foo/bar/%62%61%7A', '/foo/bar/baz')).toBe(true);
    expect(example('/path/file-with-a-%2A.html', '/path/file-with-a-%2A.html')).toBe(true);
    expect(example('/path/foo-%24', '/path/foo-%24')).toBe(true);
    const both = 'User-agent: x\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif';
    expect(referenceAllows(both, 'x', '/example/page/disallowed.gif')).toBe(false);
    expect(referenceAllows(both, 'x', '/example/page/')).toBe(true);
    expect(referenceAllows('User-agent: *\nDisallow: /a$', 'x', '/a')).toBe(false);
    expect(referenceAllows('User-agent: *\nDisallow: /a$', 'x', '/ab')).toBe(true);
    expect(referenceAllows('User-agent: y\nDisallow: /', 'x', '/')).toBe(true);
  });
});
