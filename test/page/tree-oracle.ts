/**
 * The oracle of the token reader: the same questions asked of a full parse5 tree, by an iterative walk that shares no
 * code with it.
 */
import { type DefaultTreeAdapterTypes, html, parse } from 'parse5';
import { formTargets } from './tree-forms.js';

type Element = DefaultTreeAdapterTypes.Element;

export interface TreeContent {
  /** `element href rel` of each, in document order. */
  readonly links: readonly string[];
  /** Without white space: where elements separate words is not a question to a tree. */
  readonly text: string;
  readonly title: string | null;
  readonly baseHref: string | null;
  readonly canonicalHref: string | null;
  /** Every `content` of meta robots and meta refresh. */
  readonly robots: readonly string[];
  readonly refreshes: readonly string[];
  readonly scripts: number;
  /** Where forms that ask by GET lead to; an empty action is `pageUrl`. */
  readonly forms: readonly string[];
}

export function askTree(source: string, pageUrl = ''): TreeContent {
  const links: string[] = [];
  const titles: string[] = [];
  const robots: string[] = [];
  const refreshes: string[] = [];
  let text = '';
  let scripts = 0;
  let baseHref: string | null = null;
  let canonicalHref: string | null = null;
  type Frame = { node: DefaultTreeAdapterTypes.Node; isHidden: boolean };
  const document = parse(source, { scriptingEnabled: false });
  const stack: Frame[] = [{ node: document, isHidden: false }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { node } = frame;
    if (node.nodeName === '#text') {
      if (!frame.isHidden) text += (node as DefaultTreeAdapterTypes.TextNode).value;
      continue;
    }
    let { isHidden } = frame;
    if ('tagName' in node) {
      const isHtml = node.namespaceURI === html.NS.HTML;
      const name = node.tagName.toLowerCase();
      isHidden ||=
        ['script', 'style', 'title'].includes(name) || (isHtml && ['iframe', 'noembed', 'noframes'].includes(name));
      if (isHtml && name === 'title')
        titles.push(node.childNodes.map((child) => ('value' in child ? child.value : '')).join(''));
      if (isHtml && name === 'base') baseHref ??= stripped(attributeOf(node, 'href'));
      if (isHtml && name === 'script') scripts++;
      if (isHtml && name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attributeOf(node, 'rel') ?? ''))
        canonicalHref ??= stripped(attributeOf(node, 'href'));
      const content = isHtml && name === 'meta' ? attributeOf(node, 'content') : null;
      if (content !== null && /^\s*robots\s*$/i.test(attributeOf(node, 'name') ?? '')) robots.push(content);
      if (content !== null && /^\s*refresh\s*$/i.test(attributeOf(node, 'http-equiv') ?? '')) refreshes.push(content);
      for (const href of hrefsOf(node, name, isHtml)) {
        const rel = name === 'img' || name === 'source' ? null : attributeOf(node, 'rel');
        links.push(`${name} ${stripped(href)} ${rel}`);
      }
    }
    if ('childNodes' in node) {
      for (let i = node.childNodes.length - 1; i >= 0; i--) stack.push({ node: node.childNodes[i]!, isHidden });
    }
  }
  const title = titles[0]?.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '') || null;
  const forms = formTargets(document, pageUrl);
  text = text.replace(/[\t\n\f\r ]+/g, '');
  return { links, text, title, baseHref, canonicalHref, robots, refreshes, scripts, forms };
}

function hrefsOf(node: Element, name: string, isHtml: boolean): string[] {
  if (name === 'a') return present(attributeOf(node, 'href') ?? (isHtml ? null : attributeOf(node, 'href', 'xlink')));
  if (!isHtml) return [];
  if (name === 'area' || name === 'link') return present(attributeOf(node, 'href'));
  if (name === 'iframe' || name === 'frame') return present(attributeOf(node, 'src'));
  if (name !== 'img' && name !== 'source') return [];
  const src = present(attributeOf(node, 'src')).filter((href) => stripped(href) !== '');
  return [...src, ...candidatesOf(attributeOf(node, 'srcset') ?? '')];
}

/**
 * `srcset` by regular expressions: a run of what is no white space, and, unless it ends with a comma, what follows up to
 * a comma outside parentheses. Descriptors are taken for good ones.
 */
function candidatesOf(srcset: string): string[] {
  const urls: string[] = [];
  for (let rest = srcset; ; ) {
    const match = /^[\s,]*([^\s]+)([\s\S]*)$/.exec(rest);
    if (match === null) return urls;
    const [, word = '', tail = ''] = match;
    urls.push(word.replace(/,+$/, ''));
    rest = word.endsWith(',') ? tail : tail.replace(/^(?:\([^)]*\)?|[^,(])*/, '');
  }
}

function present(value: string | null): string[] {
  return value === null ? [] : [value];
}

function stripped<T extends string | null>(value: T): T {
  return (value?.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '') ?? null) as T;
}

function attributeOf(node: Element, name: string, prefix = ''): string | null {
  return node.attrs.find((attr) => attr.name === name && (attr.prefix ?? '') === prefix)?.value ?? null;
}
