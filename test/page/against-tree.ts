/** The token reader beside a tree: what they see differently of one page. */
import { formLink } from '../../src/page/forms.js';
import { readHtml } from '../../src/page/html.js';
import { askTree } from './tree-oracle.js';

export interface Comparison {
  readonly links: number;
  readonly forms: number;
  readonly textLength: number;
  /** One line each; empty where both see the same. */
  readonly differences: readonly string[];
}

const PAGE_URL = 'http://site.example/page';

export function compareWithTree(source: string): Comparison {
  const tree = askTree(source, PAGE_URL);
  const read = readHtml(source, { forms: true, productToken: 'testbot' });
  const links = read.links.filter((link) => link.element !== 'meta');
  const forms = read.forms.map((form) => formLink(form, PAGE_URL, 'utf-8').href);
  const text = read.text.replace(/[\t\n\f\r ]+/g, '');
  const differences = [
    ...setDifferences(new Set(links.map(({ element, href, rel }) => `${element} ${href} ${rel}`)), new Set(tree.links)),
    ...differenceOf('text', text, tree.text),
    ...differenceOf('title', read.title, tree.title),
    ...differenceOf('base', read.baseHref, tree.baseHref),
    ...differenceOf('canonical', read.canonicalHref, tree.canonicalHref),
    ...differenceOf('forms', forms.join(' '), tree.forms.join(' ')),
    ...differenceOf('scripts', String(read.scripts), String(tree.scripts)),
    ...differenceOf('noindex', String(read.directives.noindex), String(asks(tree.robots, 'noindex'))),
    ...differenceOf('nofollow', String(read.directives.nofollow), String(asks(tree.robots, 'nofollow'))),
  ];
  return { links: tree.links.length, forms: tree.forms.length, textLength: tree.text.length, differences };
}

function asks(contents: readonly string[], directive: string): boolean {
  return contents.some((content) =>
    content
      .toLowerCase()
      .split(/[\s,]+/)
      .some((word) => word === directive || word === 'none'),
  );
}

function setDifferences(read: ReadonlySet<string>, tree: ReadonlySet<string>): string[] {
  return [
    ...[...read].filter((link) => !tree.has(link)).map((link) => `only the reader sees the link ${link}`),
    ...[...tree].filter((link) => !read.has(link)).map((link) => `only the tree sees the link ${link}`),
  ];
}

function differenceOf(what: string, read: string | null, tree: string | null): string[] {
  if (read === tree) return [];
  let at = 0;
  while (read !== null && tree !== null && at < read.length && read[at] === tree[at]) at++;
  const part = (text: string | null) =>
    text === null ? 'none' : JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return [`${what} at ${at}: ${part(read)}, in the tree ${part(tree)}`];
}
