import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressClockKey, addressRangesOf } from '../../src/policy/addresses.js';

describe('P2 the address clock', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['::1', '::/64'],
  ])('of %s is %s', (address, key) => {
    expect(addressClockKey(address, [])).toBe(key);
  });

  it.each([
    ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
    ['10.64.0.0/10', '10.127.255.255', '10.128.0.0'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['192.0.2.2/31', '192.0.2.3', '192.0.2.4'],
    ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::1'],
    ['2001:db8::1', '2001:db8::1', '2001:db8::2'],
    ['0.0.0.0/0', '203.0.113.9', '::1'],
    ['::/0', '2001:db8::1', '203.0.113.9'],
    ['::ffff:10.0.0.0/104', '10.1.2.3', '11.0.0.0'],
  ])('range %s exempts %s and not %s', (range, inside, outside) => {
    const exempt = addressRangesOf(['198.51.100.0/24', range]);
    expect(addressClockKey(inside, exempt)).toBeNull();
    expect(addressClockKey(outside, exempt)).not.toBeNull();
    expect(JSON.parse(JSON.stringify(exempt))).toEqual(exempt);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.1/8',
    '010.0.0.1',
    'example.com',
    '',
    '::/129',
    '::ffff:10.0.0.0/95',
  ])('refuses %j as a range, by name', (text) => {
    expect(() => addressRangesOf([text])).toThrow(new RangeError(`not an address or a range of addresses: ${text}`));
  });

  it('refuses what is no address', () => {
    expect(() => addressClockKey('example.com', [])).toThrow(RangeError);
  });
});

describe('P2 the clock of any address', () => {
  const byte = fc.nat(255);
  const v4 = fc.tuple(byte, byte, byte, byte);
  const v6 = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
  const written = (groups: readonly number[]) => groups.map((it) => it.toString(16)).join(':');

  it('an IPv4 address has its own, however it is clothed', () => {
    fc.assert(
      fc.property(v4, v4, (one, other) => {
        const [address, another] = [one.join('.'), other.join('.')];
        expect(addressClockKey(`::ffff:${address}`, [])).toBe(addressClockKey(address, []));
        expect(addressClockKey(address, []) === addressClockKey(another, [])).toBe(address === another);
      }),
    );
  });

  it('IPv6 addresses share one where their first 64 bits are the same', () => {
    fc.assert(
      fc.property(v6, v6, (one, other) => {
        // What begins like an IPv4 address in other clothes is one.
        const head = [0x2001, ...one.slice(1, 4)];
        const near = [...head, ...other.slice(4)];
        expect(addressClockKey(written([...head, ...one.slice(4)]), [])).toBe(addressClockKey(written(near), []));
        const far = [0x2001, ...other.slice(1, 4), ...one.slice(4)];
        const isSame = written(far.slice(0, 4)) === written(head);
        expect(addressClockKey(written(far), []) === addressClockKey(written(near), [])).toBe(isSame);
      }),
    );
  });

  it('a range exempts what shares its first bits, and nothing else', () => {
    fc.assert(
      fc.property(v4, v4, fc.integer({ min: 0, max: 32 }), (range, address, bits) => {
        const exempt = addressRangesOf([`${range.join('.')}/${bits}`]);
        const bitsOf = (bytes: readonly number[]) => bytes.map((it) => it.toString(2).padStart(8, '0')).join('');
        const isCovered = bitsOf(range).slice(0, bits) === bitsOf(address).slice(0, bits);
        expect(addressClockKey(address.join('.'), exempt) === null).toBe(isCovered);
      }),
    );
  });
});
