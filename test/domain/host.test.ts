import { describe, expect, it } from 'vitest';
import { fnv1a, hostOf, PARTITIONS, partitionOf, siteOf } from '../../src/domain/host.js';
import { fetcher, host, parser } from '../../src/protocols/addresses.js';

describe('hosts, sites, partitions', () => {
  it('a site is the registrable domain, private suffixes counted', () => {
    expect(siteOf('www.shop.example.co.uk')).toBe('example.co.uk');
    expect(siteOf('someone.github.io')).toBe('someone.github.io');
    expect(siteOf('a.someone.github.io')).toBe('someone.github.io');
  });

  it('what the list knows nothing of is its own site', () => {
    for (const name of ['localhost', '192.0.2.7', '[2001:db8::1]']) expect(siteOf(name)).toBe(name);
  });

  it('FNV-1a, 32 bits: the published values', () => {
    expect(fnv1a('')).toBe(0x811c9dc5);
    expect(fnv1a('a')).toBe(0xe40c292c);
    expect(fnv1a('foobar')).toBe(0xbf9cf968);
  });

  it('all hosts of a site share a partition, which stands in their address', () => {
    expect(partitionOf('a.example.com')).toBe(partitionOf('b.c.example.com'));
    const partition = partitionOf('example.com');
    expect(partition).toBeLessThan(PARTITIONS);
    expect(host('a.example.com').path).toBe(`hosts/p${String(partition).padStart(3, '0')}/a.example.com`);
    const paths = [fetcher(1, 3), fetcher(2, 0), fetcher(3, 1), parser(0)].map(({ path }) => path);
    expect(paths).toEqual([
      'fetchers/fetcher-3',
      'impersonators/impersonator-0',
      'browsers/browser-1',
      'parsers/parser-0',
    ]);
  });

  it('the trailing dot makes no host of its own; an IPv6 literal keeps its brackets', () => {
    expect(hostOf(new URL('http://EXAMPLE.com./x'))).toBe('example.com');
    expect(hostOf(new URL('http://[2001:DB8::1]:8080/'))).toBe('[2001:db8::1]');
  });
});
