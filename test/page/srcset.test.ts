import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { srcsetUrls } from '../../src/page/srcset.js';

describe('srcset (HTML Standard §4.8.4.2.1)', () => {
  it.each([
    ['a.png', ['a.png']],
    ['a.png 1x, b.png 2x', ['a.png', 'b.png']],
    ['a.png 100w,b.png 200w', ['a.png', 'b.png']],
    ['a.png 100w 50h, b.png 200w 100h', ['a.png', 'b.png']],
    ['a.png,b.png', ['a.png,b.png']],
    ['a.png, b.png', ['a.png', 'b.png']],
    ['a.png,, b.png,,, ', ['a.png', 'b.png']],
    [' ,\t\n, a.png', ['a.png']],
    ['/w_100,h_50/a.png 1x, /w_200,h_100/a.png 2x', ['/w_100,h_50/a.png', '/w_200,h_100/a.png']],
    ['data:image/png;base64,AAAA 1x, b.png', ['data:image/png;base64,AAAA', 'b.png']],
    ['data:,a ( , data:,b 1x, ), data:,c', ['data:,c']],
    ['a.png 1.5x, b.png .5x, c.png 1e2x, d.png 0x', ['a.png', 'b.png', 'c.png', 'd.png']],
    ['', []],
    [' , ', []],
  ])('%j: %j', (text, urls) => {
    expect(srcsetUrls(text)).toEqual(urls);
  });

  it.each(['1w 2w', '1x 2x', '1x 1w', '0w', '-1x', '1.5w', '1x 2h', '2h', 'x', 'large', '1w 1h 1h', '+1w', '1 w'])(
    'a candidate with the descriptors %j is none, the next is one',
    (descriptors) => {
      expect(srcsetUrls(`bad.png ${descriptors}, good.png 1x`)).toEqual(['good.png']);
    },
  );

  it('ends for any text, and gives no URL that is empty or holds white space', () => {
    const piece = fc.constantFrom('a', ',', ' ', '(', ')', '1x', '2w', '\n', 'data:,');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const url of srcsetUrls(pieces.join(''))) expect(url).toMatch(/^[^ \n,][^ \n]*$/);
      }),
    );
  });
});
