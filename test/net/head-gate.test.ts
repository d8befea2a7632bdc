/** What the parser is spared, and that it is spared nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeadGate } from '../../src/net/head-gate.js';

/** What comes out, if this comes in pieces of these sizes. */
function through(text: string, sizes: readonly number[] = [text.length], bytesMax = 1000): string {
  const gate = new HeadGate(bytesMax);
  gate.begin();
  const bytes = Buffer.from(text, 'latin1');
  let out = '';
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const piece = bytes.subarray(at, at + Math.max(1, sizes[i % sizes.length] ?? 1));
    out += gate.pass(Buffer.from(piece))?.toString('latin1') ?? '';
    at += piece.length;
  }
  return out;
}

const OK = 'HTTP/1.1 200 OK\r\nX: 1\r\n\r\n';

describe('the gate before the parser', () => {
  it.each<[string, string, string]>([
    ['an ordinary answer', `${OK}body`, `${OK}body`],
    ['an interim one before it (RFC 9110 §15.2)', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, OK],
    [
      'interim ones of all kinds',
      `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.0 199 \r\n\r\n${OK}`,
      OK,
    ],
    ['101, which is none', 'HTTP/1.1 101 So\r\n\r\nbytes', 'HTTP/1.1 101 So\r\n\r\nbytes'],
    [
      'folds (RFC 9112 §5.2)',
      'HTTP/1.1 200 OK\r\nX: 1\r\n \t2\r\n\t3\r\nY: 4\r\n\r\n\r\n 5',
      'HTTP/1.1 200 OK\r\nX: 1 2 3\r\nY: 4\r\n\r\n\r\n 5',
    ],
    ['a fold behind the status line', 'HTTP/1.1 200 OK\r\n X: 1\r\n\r\n', 'HTTP/1.1 200 OK\r\n X: 1\r\n\r\n'],
    ['line feeds only', 'HTTP/1.1 200 OK\nX: 1\n\nbody', 'HTTP/1.1 200 OK\nX: 1\n\nbody'],
    ['no HTTP', 'SSH-2.0-x\r\n', 'SSH-2.0-x\r\n'],
    ['no HTTP behind an interim answer', 'HTTP/1.1 100 C\r\n\r\nSSH', 'SSH'],
    ['what begins like HTTP and is none', 'HTTQ/1.1 100 C\r\n\r\n', 'HTTQ/1.1 100 C\r\n\r\n'],
  ])('%s, in whatever pieces it comes', (_title, text, seen) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sizes) => {
        expect(through(text, sizes)).toBe(seen);
      }),
    );
  });

  it('holds a head up to its bound, and not one octet more', () => {
    const long = (length: number) => `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(length - 20)}`;
    expect(through(long(1000))).toBe('');
    expect(through(long(1001))).toBe(long(1001));
  });

  it('touches nothing behind the head, and begins anew with the next request', () => {
    const gate = new HeadGate(1000);
    for (let i = 0; i < 2; i++) {
      gate.begin();
      expect(gate.pass(Buffer.from('HTTP/1.1 100 C\r\n\r\n'))).toBeNull();
      expect(gate.pass(Buffer.from(OK))?.toString()).toBe(OK);
      const body = Buffer.from('HTTP/1.1 100 C\r\n\r\nX\r\n y');
      expect(gate.pass(body)).toBe(body);
    }
  });

  it('S2: a body is handed on as it came, without a copy', () => {
    const gate = new HeadGate(1000);
    gate.begin();
    const chunk = Buffer.from(`${OK}body`);
    expect(gate.pass(chunk)).toBe(chunk);
  });
});
