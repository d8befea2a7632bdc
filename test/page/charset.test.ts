import { describe, expect, it } from 'vitest';
import { charsetOf, decodeText } from '../../src/page/charset.js';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const utf8 = (text: string) => new Uint8Array(Buffer.from(text, 'utf8'));

describe('which encoding (HTML Standard §13.2.3.2)', () => {
  it('a byte order mark beats the header', () => {
    expect(charsetOf(utf8('\ufeffпривет'), 'cp1251', true)).toBe('utf-8');
    expect(charsetOf(bytes('\xff\xfea\0'), 'utf-8', true)).toBe('utf-16le');
    expect(charsetOf(bytes('\xfe\xff\0a'), 'utf-8', false)).toBe('utf-16be');
  });

  it('the header beats meta, meta beats a guess', () => {
    const body = bytes('<meta charset=iso-8859-8>\xcf\xf0\xe8\xe2\xe5\xf2');
    expect(charsetOf(body, 'windows-1251', true)).toBe('windows-1251');
    expect(charsetOf(body, null, true)).toBe('iso-8859-8');
    expect(charsetOf(bytes('<meta http-equiv=Content-Type content="text/html; charset=koi8-r">'), null, true)).toBe('koi8-r');
    expect(charsetOf(bytes('<?xml version="1.0" encoding="euc-jp"?><html>\xa4\xa2'), null, true)).toBe('euc-jp');
  });

  it.each([
    ['windows-31j', 'shift_jis'],
    ['x-sjis', 'shift_jis'],
    ['gb2312', 'gbk'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['unicode', 'utf-16le'],
    ['Latin1', 'windows-1252'],
    ['ascii', 'windows-1252'],
  ])('label %s means %s (Encoding Standard §4.2)', (label, name) => {
    expect(charsetOf(bytes('x'), label, true)).toBe(name);
  });

  it.each(['utf-7', 'utf-8;', 'none', ''])('label %j is passed over', (label) => {
    expect(charsetOf(bytes('<meta charset=koi8-r>'), label, true)).toBe('koi8-r');
  });

  it('guesses UTF-8 where it is valid, cut sequences granted, else by statistics', () => {
    expect(charsetOf(utf8('plain'), null, true)).toBe('utf-8');
    expect(charsetOf(utf8('größer 日本'), null, false)).toBe('utf-8');
    expect(charsetOf(utf8('日本').subarray(0, 5), null, true)).toBe('utf-8');
    const russian = 'Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний.';
    const cp1251 = Uint8Array.from(russian, (c) => (c === 'ё' ? 0xb8 : c >= 'А' && c <= 'я' ? c.charCodeAt(0) - 0x410 + 0xc0 : c.charCodeAt(0)));
    expect(charsetOf(cp1251, null, false)).toBe('windows-1251');
    const late = Buffer.concat([Buffer.alloc(200_000, 'a'), cp1251]);
    expect(charsetOf(late, null, true)).toBe('windows-1251');
    expect(charsetOf(bytes('une r\xe9sum\xe9 de l\x92\xe9t\xe9, \xe0 la fran\xe7aise, tr\xe8s d\xe9j\xe0 vu'), null, true)).toBe('windows-1252');
  });
});

describe('text (Encoding Standard §9)', () => {
  it.each(['iso-8859-1', 'latin1', 'windows-1252', 'ascii'])('bytes 80 92 93 under label %s are the euro sign and curly quotes', (label) => {
    const body = bytes('\x80\x92\x93');
    expect(decodeText(body, charsetOf(body, label, true))).toBe('\u20ac\u2019\u201c');
  });

  it('reads double-byte encodings, drops the mark, replaces what is broken', () => {
    expect(decodeText(bytes('\x93\xfa\x96\x7b'), 'shift_jis')).toBe('日本');
    expect(decodeText(utf8('\ufeffx'), 'utf-8')).toBe('x');
    expect(decodeText(bytes('a\xffb'), 'utf-8')).toBe('a\ufffdb');
    expect(decodeText(bytes('abc'), charsetOf(bytes('abc'), 'iso-2022-kr', true))).toBe('\ufffd');
  });
});
