import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OneRequest } from '../../src/net/one-request.js';

/** A record whose content has that many octets once its sealing (TLS 1.3) is taken off. */
function record(kind: number, bytes: number, sealing = 17): Buffer {
  const head = Buffer.from([kind, 3, 3, 0, 0]);
  head.writeUInt16BE(bytes + sealing, 3);
  return Buffer.concat([head, Buffer.alloc(bytes + sealing, kind)]);
}

const DATA = 23;
const data = (bytes: number, sealing = 17) => record(DATA, bytes, sealing);
/** A greeting, what changes the cipher, the end of the handshake, preface, settings. */
const OPENING = [record(22, 1_978), record(20, 1, 0), data(52), data(24), data(46)];
const OPENING_1_2 = [record(22, 1_978), record(20, 1, 0), record(22, 16, 24), data(24, 24), data(46, 24)];
const REQUEST = data(471);

function hear(...pieces: Buffer[]) {
  let others = 0;
  const heard: Buffer[] = [];
  const one = new OneRequest(() => {
    others += 1;
  });
  one.on('data', (piece: Buffer) => heard.push(piece));
  for (const piece of pieces) {
    // The far end speaks all the time.
    one.spokenTo();
    one.write(piece);
  }
  return { one, passed: () => Buffer.concat(heard), others: () => others };
}

describe('one request through a passage (P2)', () => {
  it('it passes, and another one does not', () => {
    const { passed, others } = hear(...OPENING, REQUEST, data(9), data(27));
    expect(passed()).toEqual(Buffer.concat([...OPENING, REQUEST, data(9)]));
    expect(others()).toBe(1);
  });

  it('the same in TLS 1.2, whose records are sealed otherwise', () => {
    const { passed, others } = hear(...OPENING_1_2, data(471, 24), data(17, 24), data(25, 24), data(25, 24));
    expect(passed()).toEqual(Buffer.concat([...OPENING_1_2, data(471, 24), data(17, 24)]));
    expect(others()).toBe(1);
  });

  it.each([
    [22, true],
    [23, false],
  ])('%d octets pass: %s', (bytes, passes) => {
    const { passed } = hear(...OPENING, REQUEST, data(bytes));
    expect(passed().length - Buffer.concat([...OPENING, REQUEST]).length).toBe(passes ? data(bytes).length : 0);
  });

  it.each([26, 34, 35, 43, 52])('%d octets may be acknowledgements: they wait for the answer', (bytes) => {
    const { one, passed, others } = hear(...OPENING, REQUEST, data(bytes), data(9));
    expect({ bytes: passed().length, others: others() }).toEqual({
      bytes: Buffer.concat([...OPENING, REQUEST]).length,
      others: 0,
    });
    one.answered();
    expect(passed()).toEqual(Buffer.concat([...OPENING, REQUEST, data(bytes), data(9)]));
  });

  it('a greeting that is said twice (RFC 8446 §4.1.2) is no end of a handshake', () => {
    const again = [record(22, 1_978), record(20, 1, 0), record(22, 2_000), data(52)];
    expect(hear(...again, REQUEST, data(27)).others()).toBe(1);
  });

  it('what comes before the server has spoken is of the same request, in however many records', () => {
    const request = Buffer.concat([data(16_384), data(9), data(16_384), data(30)]);
    const { passed, others } = hear(...OPENING, request, data(17));
    expect(passed()).toEqual(Buffer.concat([...OPENING, request, data(17)]));
    expect(others()).toBe(0);
    expect(hear(...OPENING, request, data(40)).others()).toBe(1);
  });

  it('once an answer has begun all passes', () => {
    const { one, passed, others } = hear(...OPENING, REQUEST);
    one.answered();
    one.write(data(1_000));
    expect(passed()).toEqual(Buffer.concat([...OPENING, REQUEST, data(1_000)]));
    expect(others()).toBe(0);
  });

  it('what is held when the client hangs up goes nowhere, even when an answer comes', async () => {
    const { one, passed } = hear(...OPENING, REQUEST, data(26), data(500).subarray(0, 90));
    one.end();
    await once(one, 'end');
    one.answered();
    expect(passed()).toEqual(Buffer.concat([...OPENING, REQUEST]));
  });

  it('what is not TLS passes, and nothing depends on how it is cut into pieces', () => {
    const plain = Buffer.from('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n');
    const tls = Buffer.concat([...OPENING, REQUEST, data(9), data(17)]);
    fc.assert(
      fc.property(fc.constantFrom(plain, tls), fc.array(fc.nat({ max: 3_000 }), { maxLength: 12 }), (whole, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % whole.length).sort((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((end, i) => whole.subarray(places[i], end));
        expect(hear(...pieces).passed()).toEqual(whole);
      }),
    );
  });
});
