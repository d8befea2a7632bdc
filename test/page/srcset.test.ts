import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { srcsetUrls } from '../../src/page/srcset.js';

describe('srcset (HTML Standard §4.8.4.2.1)', () => {
  it.each([
    ['', []],
    [' , ', []],
    ['a.png', ['a.png']],
    [' a.png ', ['a.png']],
    ['a.png 1x, b.png 2x', ['a.png', 'b.png']],
    ['a.png, b.png 2x', ['a.png', 'b.png']],
    ['a.png,b.png', ['a.png,b.png']],
    ['a.png,b.png, c.png', ['a.png,b.png', 'c.png']],
    ['a.png,,, b.png', ['a.png', 'b.png']],
    [',,a.png 1x,,b.png', ['a.png', 'b.png']],
    ['/w,100/h,200/a.png 100w, /w,200/a.png 200w', ['/w,100/h,200/a.png', '/w,200/a.png']],
    ['data:image/png;base64,AA,BB 1x, b.png 2x', ['data:image/png;base64,AA,BB', 'b.png']],
    ['data:,a ( , data:,b 1x, ), data:,c', ['data:,c']],
    ['a.png 100w 50h, b.png 200w 100h', ['a.png', 'b.png']],
    ['a.png\n\t100w,\fb.png\r200w', ['a.png', 'b.png']],
    ['a.png 1.5x, b.png .5x, c.png 1e3x, d.png 1E+3x', ['a.png', 'b.png', 'c.png', 'd.png']],
    ['a.png 0x', ['a.png']],
    ['a.png -0x', ['a.png']],
  ])('%j → %j', (srcset, urls) => {
    expect(srcsetUrls(srcset)).toEqual(urls);
  });

  it.each([
    '1w 1w',
    '1x 1x',
    '1w 1x',
    '1x 1h',
    '1h',
    '0w',
    '1w 0h',
    '-1x',
    '+1x',
    '1.x',
    '1.5w',
    '1',
    'x',
    'w',
    '1w(',
    '1q',
  ])('a candidate with descriptors %j is none, and costs no other', (descriptors) => {
    expect(srcsetUrls(`a.png 1x, bad.png ${descriptors}, c.png`.replace('(,', '(),'))).toEqual(['a.png', 'c.png']);
  });

  it('what is never closed swallows the rest', () => {
    expect(srcsetUrls('a.png, b.png (1x, c.png 1x')).toEqual(['a.png']);
  });

  it('gives back what was written, in any spacing', () => {
    const url = fc
      .string({ unit: fc.constantFrom('a', 'b', '/', ',', '.', '(', ')', ':', ';', '%'), minLength: 1, maxLength: 12 })
      .filter((text) => !text.startsWith(',') && !text.endsWith(','));
    const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t'), minLength: 1, maxLength: 3 });
    const descriptor = fc.constantFrom('1x', '2.5x', '100w', '100w 50h');
    fc.assert(
      fc.property(fc.array(fc.tuple(url, space, descriptor)), space, (candidates, gap) => {
        const srcset = candidates.map(([text, between, words]) => text + between + words).join(`,${gap}`);
        expect(srcsetUrls(srcset)).toEqual(candidates.map(([text]) => text));
      }),
    );
  });
});
