/**
 * The oracle of the token reader: the same questions asked of a full parse5 tree, by an iterative walk that shares no
 * code with it.
 */
import { type DefaultTreeAdapterTypes, html, parse } from 'parse5';

export interface TreeContent {
  readonly links: string[];
  /** Without white space: where elements separate words is not a question to a tree. */
  readonly text: string;
  readonly title: string | null;
  readonly baseHref: string | null;
}

const NAVIGATION =
  /^(?:alternate|amphtml|appendix|archives|author|bookmark|canonical|chapter|collection|contents|copyright|first|glossary|help|index|item|last|license|me|next|prev|previous|related|section|shortlink|start|subsection|toc|top|up)$/;
const RESOURCE =
  /^(?:apple-touch-icon|dns-prefetch|icon|manifest|mask-icon|modulepreload|pingback|preconnect|prefetch|preload|prerender|search|shortcut|stylesheet)$/;

export function askTree(source: string): TreeContent {
  const links: string[] = [];
  const titles: string[] = [];
  let text = '';
  let baseHref: string | null = null;
  type Frame = { node: DefaultTreeAdapterTypes.Node; isHidden: boolean };
  const stack: Frame[] = [{ node: parse(source, { scriptingEnabled: false }), isHidden: false }];
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
      if (isHtml && name === 'base') baseHref ??= attributeOf(node, 'href')?.trim() ?? null;
      const href = hrefOf(node, name, isHtml);
      if (href !== null) links.push(href.trim());
    }
    if ('childNodes' in node) {
      for (let i = node.childNodes.length - 1; i >= 0; i--) stack.push({ node: node.childNodes[i]!, isHidden });
    }
  }
  const title = titles[0]?.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '') || null;
  return { links, text: text.replace(/[\t\n\f\r ]+/g, ''), title, baseHref };
}

function hrefOf(node: DefaultTreeAdapterTypes.Element, name: string, isHtml: boolean): string | null {
  const rel = (attributeOf(node, 'rel') ?? '').toLowerCase().split(/[\t\n\f\r ]+/);
  if (rel.includes('nofollow')) return null;
  if (name === 'a') return attributeOf(node, 'href') ?? (isHtml ? null : attributeOf(node, 'href', 'xlink'));
  if (!isHtml) return null;
  if (name === 'area') return attributeOf(node, 'href');
  if (name === 'iframe' || name === 'frame') return attributeOf(node, 'src');
  if (name !== 'link') return null;
  return rel.some((word) => NAVIGATION.test(word)) && !rel.some((word) => RESOURCE.test(word))
    ? attributeOf(node, 'href')
    : null;
}

function attributeOf(node: DefaultTreeAdapterTypes.Element, name: string, prefix = ''): string | null {
  return node.attrs.find((attr) => attr.name === name && (attr.prefix ?? '') === prefix)?.value ?? null;
}
