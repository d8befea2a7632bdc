/**
 * Pages that are made to be hard to read: each is one kind of element or text, again and again, nested, repeated or never
 * closed. Each ends with a link, so that whoever reads one can be asked whether the end was reached.
 */
export interface NastyPage {
  readonly name: string;
  /** How many pieces the page has where it is read for its own sake: about a megabyte, or as many as a report named. */
  readonly pieces: number;
  readonly pageOf: (pieces: number) => string;
}

/** The link at the end of each. */
export const LAST_LINK = 'the-end';
const END = `<a href=${LAST_LINK}>end</a>`;

function nasty(name: string, pieces: number, pageOf: (pieces: number) => string): NastyPage {
  return { name, pieces, pageOf };
}

function repeated(name: string, pieces: number, piece: string, before = '', after = ''): NastyPage {
  return nasty(name, pieces, (count) => before + piece.repeat(count) + after + END);
}

function nested(name: string, pieces: number, open: string, close: string): NastyPage {
  return nasty(name, pieces, (count) => open.repeat(count) + END + close.repeat(count));
}

function numbered(count: number, piece: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => piece(i)).join('');
}

export const NASTY_PAGES: readonly NastyPage[] = [
  nested('nested elements', 20_000, '<div>', '</div>'),
  repeated('a megabyte of <b>', 350_000, '<b>'),
  repeated('list items that are never closed', 64_000, '<li>x', '<ul>'),
  nested('lists in lists', 20_000, '<ul><li>', '</ul>'),
  nested('tables in tables', 20_000, '<table><tr><td>', '</table>'),
  repeated('text that a table pushes out', 60_000, '<table>x'),
  repeated('fonts around paragraphs', 40_000, '<font size=1><p>x'),
  repeated('misnested formatting', 40_000, '<b><i></b>x</i>'),
  repeated('links in links', 40_000, '<a name=x>', '', ''),
  nested('svg groups', 20_000, '<g>', '</g>'),
  nasty(
    'svg groups against end tags that match none',
    20_000,
    (n) => `<svg>${'<g>'.repeat(n)}${'</x>'.repeat(n)}${END}`,
  ),
  nested('html in svg in html', 20_000, '<svg><foreignObject><div>', '</x></svg>'),
  nested('math in text in math', 20_000, '<math><mtext>', '</mtext></math>'),
  nasty(
    'html elements open below an svg',
    20_000,
    (n) => `${'<span>'.repeat(n)}<svg>${'</span></i>'.repeat(n)}</svg>${END}`,
  ),
  // What stands in a template is inert: the link is behind them.
  nasty('templates', 20_000, (n) => `${'<template>'.repeat(n)}${'</template>'.repeat(n)}${END}`),
  nested('noscripts', 20_000, '<noscript>', '</noscript>'),
  nested('forms, fieldsets and legends', 20_000, '<form><fieldset disabled><legend>', '</legend></fieldset></form>'),
  repeated('options', 60_000, '<option value=x>x', '<form><select name=s>', '</select></form>'),
  repeated('selects that are never closed', 40_000, '<select name=s><optgroup><option>', '<form>'),
  repeated('end tags alone', 200_000, '</p>'),
  repeated('frames', 60_000, '<iframe></iframe>'),
  repeated('comments', 100_000, '<!--x-->'),
  repeated('comments that hardly end', 100_000, '<!-- --', '', '-->'),
  repeated('tags that hardly begin', 300_000, '<<'),
  repeated('references that are none', 100_000, '&notit;&#x110000;'),
  repeated('references without end', 200_000, '&a'),
  repeated('NULs', 1_000_000, '\0'),
  repeated('white space', 1_000_000, ' '),
  repeated('titles', 60_000, '<title>x</title>'),
  nasty('one title', 1_000_000, (n) => `<title>${'x '.repeat(n >> 1)}</title>${END}`),
  nasty('attributes of one tag', 20_000, (n) => `<i ${numbered(n, (i) => `a${i} `)}>${END}`),
  nasty('one attribute', 1_000_000, (n) => `<i title="${'x '.repeat(n >> 1)}">${END}`),
  nasty('commas in a srcset', 1_000_000, (n) => `<img srcset="${','.repeat(n)}">${END}`),
  nasty('candidates in a srcset', 60_000, (n) => `<img srcset="${numbered(n, (i) => `/${i}.png ${i + 1}w,`)}">${END}`),
  nasty('parentheses in a srcset', 500_000, (n) => `<img srcset="a ${'('.repeat(n)}">${END}`),
  nasty('digits in a refresh', 1_000_000, (n) => `<meta http-equiv=refresh content="${'1'.repeat(n)}x">${END}`),
  nasty('spaces in a refresh', 1_000_000, (n) => `<meta http-equiv=refresh content="1${' '.repeat(n)}x">${END}`),
  nasty('words to robots', 1_000_000, (n) => `<meta name=robots content="${', '.repeat(n >> 1)}">${END}`),
  nasty('words of a relation', 1_000_000, (n) => `<link href=x rel="${'x '.repeat(n >> 1)}">${END}`),
  nasty('white space in an href', 1_000_000, (n) => `<a href="x${' '.repeat(n)}y"></a>${END}`),
];
