import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getSurt } from 'warcio/utils';
import { cdxjLine, mimeOfHead, readCdxjLine, sortedLines, surt, timestamp14 } from '../../src/sinks/cdxj.js';

describe('CDXJ', () => {
  it.each([
    'http://example.com/',
    'https://www.Example.com/Path/Page.HTML?b=2&a=1',
    'https://www2.example.co.uk:8443/x?y',
    'http://192.0.2.1/a',
    'http://[2001:db8::1]/a',
    'https://xn--bcher-kva.example/%E4%B8%AD?q=%20',
    'http://example.com/?b=2&a=1&a=0&c&b=10',
    'http://example.com/?',
    'mailto:someone',
  ])('makes the SURT of %s as its readers do', (url) => {
    expect(surt(url)).toBe(getSurt(url));
  });

  it('writes a line that it can read back', () => {
    const payloadDigest = 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ';
    const entry = { url: 'http://a.test/x y', atMs: 0, mime: 'text/html', status: 200, payloadDigest };
    const line = cdxjLine(entry, { filename: 'f.warc.gz', offset: 7, length: 9 });
    expect(line.endsWith('\n')).toBe(true);
    expect(readCdxjLine(line.trimEnd())).toEqual({ url: entry.url, payloadDigest, offset: 7, length: 9 });
    expect(readCdxjLine(line.slice(0, 30))).toBeNull();
    expect(readCdxjLine('')).toBeNull();
  });

  it('writes times in UTC', () => {
    expect(timestamp14(Date.UTC(2024, 11, 31, 23, 59, 59, 999))).toBe('20241231235959');
  });

  it('names the media type as its readers do: without parameters, of all that were declared', () => {
    const head = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
    expect(mimeOfHead(head('content-TYPE:  text/html ; charset=x', 'X: y'))).toBe('text/html');
    expect(mimeOfHead(head('Content-Type: a/b', 'Content-Type: c/d'))).toBe('a/b, c/d');
    expect(mimeOfHead(head('X-Content-Type: a/b'))).toBeNull();
    expect(mimeOfHead(head('Content-Type:'))).toBeNull();
    const entry = { url: 'http://a.test/', atMs: 0, mime: null, status: 200, payloadDigest: 'sha1:A' };
    expect(cdxjLine(entry, { filename: 'f', offset: 0, length: 1 })).not.toContain('mime');
  });

  it('sorts lines by their bytes, and leaves them as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ''))), (lines) => {
        const index = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const sorted = sortedLines(index);
        const expected = lines.map((line) => Buffer.from(`${line}\n`)).sort(Buffer.compare);
        expect(sorted.equals(Buffer.concat(expected))).toBe(true);
      }),
      { seed: 3 },
    );
  });
});
