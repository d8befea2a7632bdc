import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardRules, vet, vetAll } from '../../src/net/guard.js';

const STRICT = guardRules([]);

describe('S1: what the guard refuses', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['10.0.0.5', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.1.1', 'linkLocal'],
    ['169.254.169.254', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'linkLocal'],
    ['fc00::1', 'uniqueLocal'],
    ['fd00:ec2::254', 'metadata'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['5f00::1', 'segmentRouting'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['::ffff:10.0.0.1', 'ipv4Mapped'],
    ['::ffff:8.8.8.8', 'ipv4Mapped'],
    ['::ffff:a9fe:a9fe', 'ipv4Mapped'],
    ['::7f00:1', 'ipv4Compatible'],
    ['::127.0.0.1', 'ipv4Mapped'],
    ['2002:7f00:1::', '6to4'],
    ['64:ff9b::7f00:1', 'rfc6052'],
    ['64:ff9b:1::a00:1', 'rfc6052'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'teredo'],
    ['4000::1', 'unassigned'],
  ])('%s (%s)', (address, range) => {
    expect(vet(address, STRICT)).toMatchObject({ ok: false, range, detail: expect.stringContaining(address) });
  });

  it.each([
    ['0x7f.1', 'loopback'],
    ['0x7f.0.0.1', 'loopback'],
    ['2130706433', 'loopback'],
    ['0177.1', 'loopback'],
    ['127.1', 'loopback'],
    ['[::1]', 'loopback'],
    ['[::ffff:127.0.0.1]', 'ipv4Mapped'],
    ['0', 'unspecified'],
    ['127。0。0。1', 'invalid'],
    ['127.0.0.1%eth0', 'invalid'],
    ['fe80::1%eth0', 'invalid'],
    ['2606:4700::1%eth0', 'invalid'],
    ['127.0.0.1 ', 'invalid'],
    ['example.com', 'invalid'],
    ['', 'invalid'],
    ['[', 'invalid'],
  ])('raw spelling %j (%s)', (address, range) => {
    expect(vet(address, STRICT)).toMatchObject({ ok: false, range });
  });

  it.each([
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.1/',
    'http://127.1/',
    'http://0.0.0.0/',
    'http://127。0。0。1/',
    'http://127%E3%80%820%E3%80%820%E3%80%821/',
    'http://１２７.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
  ])('as the URL parser spells %s', (url) => {
    expect(vet(new URL(url).hostname, STRICT).ok).toBe(false);
  });
});

describe('S1: what passes', () => {
  it.each([
    ['93.184.216.34', '93.184.216.34', 4],
    ['1572395042', '93.184.216.34', 4],
    ['2606:4700:0:0::6810:84e5', '2606:4700::6810:84e5', 6],
    ['[2606:4700::1]', '2606:4700::1', 6],
  ])('%s, spelled canonically', (address, canonical, family) => {
    expect(vet(address, STRICT)).toEqual({ ok: true, address: { address: canonical, family } });
  });

  it('an allowed range, up to its edge and no further', () => {
    const rules = guardRules(['127.0.0.0/31', '::1', '10.1.0.0/16']);
    expect(vet('127.0.0.1', rules).ok).toBe(true);
    expect(vet('127.0.0.2', rules).ok).toBe(false);
    expect(vet('::1', rules).ok).toBe(true);
    expect(vet('10.1.255.255', rules).ok).toBe(true);
    expect(vet('10.2.0.0', rules).ok).toBe(false);
  });

  it('never what embeds an IPv4 address, whatever is allowed', () => {
    const rules = guardRules(['0.0.0.0/0', '::/0', '::ffff:0:0/96', '64:ff9b::/96']);
    for (const address of ['::ffff:127.0.0.1', '2002:7f00:1::', '64:ff9b::7f00:1', '2001::1', '::7f00:1']) {
      expect(vet(address, rules).ok).toBe(false);
    }
  });

  it('cloud metadata only where it is named itself', () => {
    expect(vet('169.254.169.254', guardRules(['0.0.0.0/0'])).ok).toBe(false);
    expect(vet('169.254.169.254', guardRules(['169.254.169.254'])).ok).toBe(true);
    expect(vet('168.63.129.16', guardRules(['168.63.129.16/32'])).ok).toBe(true);
  });
});

describe('S1: whole answers', () => {
  it('one refused address refuses all', () => {
    expect(vetAll(['93.184.216.34', '169.254.169.254'], STRICT)).toMatchObject({ ok: false, range: 'metadata' });
    expect(vetAll(['93.184.216.34', '::1'], STRICT)).toMatchObject({ ok: false, range: 'loopback' });
  });

  it('IPv4 comes first, each address once', () => {
    expect(vetAll(['2606:4700::1', '93.184.216.34', '2606:4700:0::1', '1.1.1.1'], STRICT)).toMatchObject({
      addresses: [{ address: '93.184.216.34' }, { address: '1.1.1.1' }, { address: '2606:4700::1' }],
    });
  });
});

describe('the operator’s ranges', () => {
  it.each(['10.0.0.0/33', '10.0.0.0/', 'localhost', '*', '', '::1/129', 'fe80::1%eth0'])(
    '%j is named as wrong',
    (entry) => {
      expect(() => guardRules(['127.0.0.0/8', entry])).toThrow(JSON.stringify(entry));
    },
  );
});

/** Written down apart from the code: [first octets as a number, prefix length]. */
const FORBIDDEN_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const numberOf = (dotted: string) => dotted.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const dottedOf = (number: number) => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
const inside = (number: number) =>
  FORBIDDEN_V4.some(([first, bits]) => number >= numberOf(first) && number < numberOf(first) + 2 ** (32 - bits));

describe('S1: properties', () => {
  it('no address of a forbidden range passes, in any spelling or wrapping', () => {
    const forbidden = fc
      .constantFrom(...FORBIDDEN_V4)
      .chain(([first, bits]) => fc.nat({ max: 2 ** (32 - bits) - 1 }).map((offset) => numberOf(first) + offset));
    fc.assert(
      fc.property(forbidden, (number) => {
        const hex = number.toString(16).padStart(8, '0');
        const halves = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        const spellings = [dottedOf(number), `${number}`, `0x${hex}`, `::ffff:${halves}`, `::${halves}`];
        const wrappings = [`2002:${halves}::1`, `64:ff9b::${halves}`, `::ffff:0:${halves}`, `2001:0:${halves}::`];
        for (const spelling of [...spellings, ...wrappings]) expect(vet(spelling, STRICT).ok).toBe(false);
      }),
    );
  });

  it('whatever passes is outside of the forbidden ranges, unless it is allowed', () => {
    const rules = guardRules(['127.0.0.0/8']);
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), (number) => {
        const vetting = vet(dottedOf(number), rules);
        if (vetting.ok) expect(inside(number) && Math.floor(number / 2 ** 24) !== 127).toBe(false);
      }),
    );
  });

  it('vetting what passed changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6()), (address) => {
        const vetting = vet(address, STRICT);
        if (vetting.ok) expect(vet(vetting.address.address, STRICT)).toEqual(vetting);
      }),
    );
  });
});
