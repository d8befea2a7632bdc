import { statSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHtml as read } from '../../src/page/html.js';
import { compareWithTree } from './against-tree.js';
import { comparePages, missingPackages, PACKAGES, pagesOf, sampleOf } from './real-pages.js';
import { askTree } from './tree-oracle.js';

const readHtml = (source: string) => read(source, { forms: true, productToken: 'testbot' });

function expectAsTree(source: string, name = source): void {
  expect(compareWithTree(source).differences, name).toEqual([]);
}

describe('the token reader sees what a tree sees (HTML Standard §13.2)', () => {
  it.skipIf(missingPackages().length > 0)(
    'on a sample of the pages of three documentation packages; `npm run e2e:pages` takes them all',
    () => {
      const paths = PACKAGES.flatMap((name) => sampleOf(pagesOf(name), 60));
      const { pages, links, differences } = comparePages(paths.filter((path) => statSync(path).size < 300_000));
      expect(differences).toEqual([]);
      expect(pages).toBeGreaterThan(150);
      expect(links).toBeGreaterThan(3_000);
    },
    60_000,
  );

  it.each([
    '<title>a <b>x</b> &amp; <!-- y --></title><a href=1>l',
    '<textarea><a href=1></textarea><a href=2>',
    '<script><!--<script></script><a href=1>--></script><a href=2>',
    '<script>if (a<b) document.write("<a href=1>")</script><a href=2>t',
    '<style><a href=1></style><xmp><a href=2></xmp><iframe src=3><a href=4></iframe><noembed><a href=5></noembed><a href=6>',
    '<noframes><a href=1></noframes><noscript><a href=2>x</a><iframe src=3></iframe></noscript>',
    '<head><noscript><link rel=next href=1><p><a href=2></noscript><a href=3>',
    '<a href=0>x<plaintext><a href=1></plaintext><a href=2>',
    '<!-- <a href=1> --><!--><a href=2>--><!- <a href=3> ><a href=4>',
    '<a href=1 href=2 HREF=3>x</a><A HREF=4>',
    '<a title="<a href=1>" href=2>',
    '<svg><title><a href=1>x</a></title><a href=2>t</a><a xlink:href=3></a><style><a href=4>y</a></style></svg><title>t</title>',
    '<svg><p>out<a href=1><title>the title</title>',
    '<svg><script><a href=1></script></svg><a href=2>',
    '<svg/><title>t<a href=1></title><a href=2>',
    '<svg><foreignObject><p><title>in<a href=1></title><a href=2></foreignObject><![CDATA[x]]></svg>',
    '<svg><desc><div>a</svg><title>b<a href=1></title>',
    '<svg><![CDATA[<a href=1>x</a>]]></svg><![CDATA[<a href=2>]]><a href=3>',
    '<math><mtext><a href=1><title>t<b></title></a></mtext><mi><style><a href=2></style></mi><style><a href=3>q</style></math><a href=4>',
    '<math><annotation-xml encoding="text/html"><title>t<a href=1></title><p>x</annotation-xml><![CDATA[y]]></math>',
    '<math><annotation-xml><svg><title>u<a href=1></title></svg><title>v<a href=2></title></annotation-xml></math>',
    '<div><svg><g></div><title>out<a href=1></title><a href=2>',
    '<div><svg><desc></div><title>in</title></desc><title>s<a href=1></title></svg><a href=2>',
    '<svg></p><title>t<a href=1></title>',
    '<svg></br><title>t<a href=1></title>',
    '<svg><font color=red><title>t<a href=1></title>',
    '<svg><font><title>t<a href=1></title></font></svg>',
    '<svg><g><g></G></g></svg><![CDATA[<a href=1>]]>',
    '<svg><foreignobject><svg></foreignobject><title>a<a href=1></title>',
    '<math><mi><mglyph><title>a<a href=1></title></mi></math>',
    '<template><a href=1>x</a><title>t</title><base href=q><template><a href=2></template>y</template><a href=3>z',
    '<template><a href=1>unclosed',
    '<template><math><g><template></template><a href=1></math></template><a href=2>',
    '<base target=x><base href=" b "><base href=c><a href=1>',
    '<title>first</title><title>second</title>',
    '<title></title><title>second</title>',
    '<title>unclosed <a href=1>',
    '<a href=1>nul\0l</a><svg>a\0b</svg>',
    '<a href="&#x41;&amp;b&copy=1&notit;">&lt;&nbsp;&bogus;',
    '<frameset><frame src=1><frame src=2></frameset>',
    '<link rel=stylesheet href=1><link rel="alternate stylesheet" href=2><link rel="Alternate" href=3><link href=4><link rel="shortcut icon" href=5>',
    '<a rel=nofollow href=1><a rel="noopener NoFollow" href=2><a rel=noopener href=3>',
    '<map><area href=1><area nohref></map><embed src=2><object data=3></object>',
    '<p>a<b>b<p>c</b>d<table><tr><td>e</table><select><option>f<option>g</select>',
    '<img src=1 srcset="2 1x, 3 2x"><picture><source srcset="4 100w, data:image/gif;base64,AA,5 200w" media=x><img src=" 6 "></picture>',
    '<img src=""><img srcset=""><image src=1 srcset=2><svg><image src=3 href=4 /><img src=5></svg>',
    '<video src=1><source src=2><source src="" srcset=3></video><noscript><img src=4></noscript><template><img src=5></template>',
    '<table><img src=1><tr><td><img src=2></table><p><img src=3 alt="<img src=4>">',
    '<link rel=preconnect href=1><link rel="dns-prefetch prefetch" href=2><link rel="next prefetch" href=3><link rel=icon href=4 sizes=any>',
    '<link rel="CANONICAL other" href=" a "><link rel=canonical href=b><link rel=canonical>',
    '<meta name=robots content="NOINDEX, nofollow"><meta name=robots content=all><meta name=otherbot content=none>',
    '<meta name=ROBOTS content=none><svg><meta name=robots content=x></svg>',
    '<script src=1></script><script>2</script><svg><script>3</script></svg><noscript><script>4</script></noscript>',
    '<form action=1><a href=2><form action=3><input formaction=4></form><a href=5></form>',
    '<a href="\u00a01\u00a0">no-break spaces belong to a URL</a><a href="\u20282">',
    '<a href=1',
    '<a href="1',
    '<',
    '',
    '\ufeff<a href=1>',
    '</a></b></svg></template></title><a href=1>',
  ])('%j', (source) => {
    expectAsTree(source);
  });

  const pieces = [
    '<svg>',
    '</svg>',
    '<math>',
    '</math>',
    '<g>',
    '</g>',
    '<mi>',
    '</mi>',
    '<mtext>',
    '<foreignObject>',
    '</foreignObject>',
    '<desc>',
    '</desc>',
    '<title>',
    '</title>',
    '<style>',
    '</style>',
    '<script>',
    '</script>',
    '<div>',
    '</div>',
    '<span>',
    '</span>',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    't',
    ' ',
    '<br>',
    '<annotation-xml encoding=text/html>',
    '<annotation-xml>',
    '</annotation-xml>',
    '<svg/>',
    '<textarea>',
    '</textarea>',
  ];

  it('in any order of the tags that matter to it: the same links', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
        const source = parts.map((part, i) => `${part}<i class=x></i><a href=${i}></a>`).join('');
        const hrefs = readHtml(source).links.map((link) => link.href);
        expect(hrefs, source).toEqual(Array.from(new Set(askTree(source).links.map((link) => link.split(' ')[1]))));
      }),
      { numRuns: 3000, seed: 7 },
    );
  });
});

describe('any nesting in linear time, without recursion', () => {
  const deep = 20_000;
  it.each([
    ['20 000 nested elements', `${'<div>'.repeat(deep)}<a href=deep>x`, 'deep'],
    ['20 000 nested and closed', `${'<div>'.repeat(deep)}<a href=deep>x</a>${'</div>'.repeat(deep)}`, 'deep'],
    ['1 MB of <b>', `${'<b>'.repeat(350_000)}<a href=deep>x`, 'deep'],
    [
      '20 000 nested svg groups against end tags that match none',
      `<svg>${'<g>'.repeat(deep)}${'</x>'.repeat(deep)}<a href=deep>x`,
      'deep',
    ],
    [
      '20 000 nested integration points',
      `${'<svg><foreignObject><div>'.repeat(deep)}${'</x></svg>'.repeat(deep)}<a href=deep>x`,
      'deep',
    ],
    ['64 000 list items', `<ul>${'<li>'.repeat(64_000)}<a href=deep>x`, 'deep'],
    ['20 000 tables in tables', `${'<table><tr><td>'.repeat(deep)}<a href=deep>x`, 'deep'],
    ['20 000 tables, none with a cell', `${'<table>'.repeat(deep)}<a href=deep>x`, 'deep'],
    [
      '100 000 fonts, closed in the wrong order',
      `${'<font><i>'.repeat(50_000)}${'</font></b>'.repeat(50_000)}<a href=deep>x`,
      'deep',
    ],
    ['20 000 svgs in svgs', `${'<svg><g>'.repeat(deep)}<a href=deep>x`, 'deep'],
    [
      '20 000 forms, fieldsets and selects',
      `${'<form><fieldset disabled><select><option>'.repeat(deep)}<a href=deep>x`,
      'deep',
    ],
    ['a srcset of 100 000 commas and blanks', `<img srcset="${', '.repeat(100_000)}deep">`, 'deep'],
    ['a srcset of 100 000 parentheses', `<img srcset="deep ${'('.repeat(100_000)}"><img srcset="deep">`, 'deep'],
    ['20 000 templates', `${'<template>'.repeat(deep)}${'</template>'.repeat(deep)}<a href=deep>x`, 'deep'],
  ])('%s', (_, source, href) => {
    expect(readHtml(source).links.map((link) => link.href)).toEqual([href]);
  });
});

describe('title, text and what they leave out', () => {
  it('joins white space, separates blocks and cells, keeps words whole', () => {
    const read = readHtml('<title>\n a \t b </title><p>on<b>e</b>\n two<p>three<table><tr><td>4<td>5</table>six<br>7');
    expect(read.title).toBe('a b');
    expect(read.text).toBe('one two three 4 5 six 7');
  });

  it('leaves out scripts, styles, templates and titles', () => {
    expect(
      readHtml(
        '<title>t</title><style>s</style><script>x</script>seen<template>y</template><svg><title>z</title><text>drawn</text></svg>',
      ).text,
    ).toBe('seen drawn');
  });
});

describe('meta', () => {
  it.each([
    ['<meta content="0;url=../x.html" http-equiv=refresh>', '../x.html'],
    [`<meta http-equiv=Refresh content="0; URL='y'">`, 'y'],
    ['<meta http-equiv=refresh content="0;z">', 'z'],
    ['<meta http-equiv=refresh content="10;url=a">', 'a'],
    ['<meta http-equiv=refresh content="0.5, url = b">', 'b'],
    ['<meta http-equiv=refresh content="0;url=c"', null],
    ['<meta http-equiv=refresh content="11;url=a">', null],
    ['<meta http-equiv=refresh content="5">', null],
    ['<meta http-equiv=refresh content="5;">', null],
    ['<meta http-equiv=refresh content="url=a">', null],
    ['<noscript><meta http-equiv=refresh content="0;url=a"></noscript>', null],
    ['<template><meta http-equiv=refresh content="0;url=a"></template>', null],
    [
      '<svg><title><!--x--></title></svg><meta http-equiv=refresh content="0;url=first"><meta http-equiv=refresh content="0;url=second">',
      'first',
    ],
  ])('refresh: %s → %s (HTML Standard §4.2.5.3)', (source, target) => {
    expect(readHtml(source).refreshHref).toBe(target);
  });

  it('takes a refresh that is no redirect for a link', () => {
    const links = (source: string) => readHtml(source).links;
    expect(links('<meta http-equiv=refresh content="11;url=a">')).toEqual([{ href: 'a', element: 'meta', rel: null }]);
    expect(links('<noscript><meta http-equiv=refresh content="0;url=a"></noscript>')).toHaveLength(1);
  });

  it('adds up robots directives and passes over those of one crawler', () => {
    const asked = (source: string) => readHtml(source).directives;
    expect(asked('<meta name=ROBOTS content="NoIndex"><meta name=robots content="index,nofollow">')).toEqual({
      noindex: true,
      nofollow: true,
    });
    expect(asked('<meta name=robots content=none>')).toEqual({ noindex: true, nofollow: true });
    expect(asked('<meta name=googlebot content=none>')).toEqual({ noindex: false, nofollow: false });
    expect(asked('<meta name=" TestBot " content=noindex>')).toEqual({ noindex: true, nofollow: false });
  });
});
