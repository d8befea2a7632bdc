import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inScope, scopeOf, widen } from '../../src/policy/scope.js';

const host = fc
  .tuple(
    fc.constantFrom('', 'www.', 'a.b.', 'shop.'),
    fc.constantFrom('x', 'y', 'zz'),
    fc.constantFrom('.com', '.co.uk', '.test'),
  )
  .map((parts) => parts.join(''));
const kind = fc.constantFrom('host' as const, 'site' as const, 'any' as const);

describe('scope', () => {
  it('host: the seeds and nothing beside them', () => {
    const scope = scopeOf('host', ['www.example.com', 'b.test']);
    expect(['www.example.com', 'b.test', 'example.com', 'a.b.test', 'c.test'].map((h) => inScope(scope, h))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('site: all of the registrable domain, and not its neighbours under a public suffix', () => {
    const scope = scopeOf('site', ['www.example.co.uk', '127.0.0.1']);
    expect(inScope(scope, 'example.co.uk')).toBe(true);
    expect(inScope(scope, 'a.b.example.co.uk')).toBe(true);
    expect(inScope(scope, 'other.co.uk')).toBe(false);
    expect(inScope(scope, '127.0.0.1')).toBe(true);
    expect(inScope(scope, '127.0.0.2')).toBe(false);
  });

  it('any: everything', () => {
    expect(inScope(scopeOf('any', []), 'anything.example')).toBe(true);
    expect(inScope(scopeOf('site', []), 'anything.example')).toBe(false);
  });

  it('P6: widening adds the host and loses none, and is the same as having seeded it', () => {
    fc.assert(
      fc.property(kind, fc.array(host), fc.array(host), (which, seeds, more) => {
        const widened = more.reduce(widen, scopeOf(which, seeds));
        expect(widened).toEqual(scopeOf(which, [...seeds, ...more]));
        for (const name of [...seeds, ...more]) expect(inScope(widened, name)).toBe(true);
        expect(JSON.parse(JSON.stringify(widened))).toEqual(widened);
      }),
    );
  });

  it('widening by what is inside changes nothing', () => {
    const scope = scopeOf('site', ['www.example.com']);
    expect(widen(scope, 'shop.example.com')).toBe(scope);
  });
});
