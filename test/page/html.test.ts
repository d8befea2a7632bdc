import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHtml as read } from '../../src/page/html.js';
import { compareWithTree } from './against-tree.js';
import { askTree } from './tree-oracle.js';

const readHtml = (source: string) => read(source, { forms: false, productToken: 'testbot' });

function expectAsTree(source: string, name = source): void {
  expect(compareWithTree(source).differences, name).toEqual([]);
}

const FOLDERS = [
  '/usr/share/doc/debian-handbook/html/en-US',
  '/usr/share/doc/debian-handbook/html/ja-JP',
  '/usr/share/doc/python3.11/html/library',
  '/usr/share/doc/python3/html/library',
];

function pagesOf(folder: string, count: number): string[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.html'))
    .sort();
  const step = Math.max(1, Math.floor(files.length / count));
  return files
    .filter((_, i) => i % step === 0)
    .slice(0, count)
    .map((file) => join(folder, file));
}

describe('the token reader sees what a tree sees (HTML Standard §13.2)', () => {
  for (const folder of FOLDERS) {
    it.skipIf(!existsSync(folder))(
      `on real pages of ${folder.split('/').slice(4, 6).join('/')}`,
      () => {
        const pages = pagesOf(folder, 110);
        for (const page of pages) {
          const source = readFileSync(page, 'utf8');
          if (source.length < 400_000) expectAsTree(source, page);
        }
        expect(pages.length).toBeGreaterThan(20);
      },
      60_000,
    );
  }

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
  });
});
