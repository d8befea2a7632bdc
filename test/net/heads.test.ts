/** RFC 9112 §2.1, RFC 9110 §15.2: heads as they go over the wire, cut where they end and nowhere else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heads } from '../../src/net/heads.js';

const HEAD = 'HTTP/1.1 200  Fine\r\nX-oDD:\tvalue \r\nx-odd: \xe9\r\n\r\n';

function received(bytesMax: number, ...pieces: readonly string[]): string | null {
  const heads = new Heads(bytesMax);
  heads.begin();
  for (const piece of pieces) heads.receive(Buffer.from(piece, 'latin1'));
  return heads.received;
}

describe('the head of an answer', () => {
  it('is what came up to the blank line, octet for octet', () => {
    expect(received(1_000, `${HEAD}body\r\n\r\nmore`)).toBe(HEAD);
  });

  it('is the same in whatever pieces it comes', () => {
    const text = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${HEAD}body`;
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        expect(received(1_000, ...pieces)).toBe(HEAD);
      }),
      { seed: 11 },
    );
  });

  it('is not that of an interim answer, but is that of 101', () => {
    expect(received(1_000, 'HTTP/1.1 100 Continue\r\n\r\n')).toBeNull();
    expect(received(1_000, `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${HEAD}`)).toBe(HEAD);
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n';
    expect(received(1_000, `${upgrade}${HEAD}`)).toBe(upgrade);
  });

  it('may end its lines without CR (RFC 9112 §2.2)', () => {
    expect(received(1_000, 'HTTP/1.1 200 OK\nA: b\n\nbody\r\n\r\n')).toBe('HTTP/1.1 200 OK\nA: b\n\n');
  });

  it('is kept at its bound (n), not beyond (n+1), and not before it is whole', () => {
    expect(received(HEAD.length, HEAD)).toBe(HEAD);
    expect(received(HEAD.length - 1, HEAD)).toBeNull();
    expect(received(HEAD.length, HEAD.slice(0, -1))).toBeNull();
    expect(received(10, 'x'.repeat(11), '\r\n\r\n')).toBeNull();
  });

  it('belongs to its own request: what was before is forgotten', () => {
    const heads = new Heads(1_000);
    heads.receive(Buffer.from(HEAD, 'latin1'));
    expect(heads.received).toBeNull();
    heads.begin();
    heads.send('GET / HTTP/1.1\r\n\r\n');
    heads.send('more');
    heads.receive(Buffer.from(HEAD, 'latin1'));
    expect([heads.sent, heads.received]).toEqual(['GET / HTTP/1.1\r\n\r\n', HEAD]);
    heads.begin();
    expect([heads.sent, heads.received]).toEqual([null, null]);
  });
});
