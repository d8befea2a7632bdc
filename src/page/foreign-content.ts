/**
 * SVG and MathML inside HTML: which tags of a token stream make HTML elements, without a tree.
 *
 * The rules for parsing tokens in foreign content (HTML Standard §13.2.6.5) need to know the open elements from the
 * outermost `svg` or `math` on, and no others. They are kept in *stretches*: a stretch of foreign elements, a stretch
 * of HTML elements inside an integration point (`foreignObject`, `mtext`, …), a foreign one again. Each knows how
 * many of a name are open in it, so that an end tag that matches nothing costs one look-up however deep the nesting.
 *
 * Outside foreign content only counts are kept: enough to know that `</div>` inside an `svg` closes both.
 */
import { foreignContent, type Token } from 'parse5';

export type Realm = 'html' | 'svg' | 'math';

interface OpenElement {
  readonly name: string;
  readonly realm: Realm;
  readonly point: Point;
  readonly isHidden: boolean;
}

/** What an element is to the content inside it (HTML Standard §13.2.6: integration points). */
type Point = 'none' | 'html' | 'text' | 'annotation';

interface Stretch {
  readonly isForeign: boolean;
  readonly elements: OpenElement[];
  readonly counts: Map<string, number>;
  /** How many of its elements are special: no end tag of HTML reaches below them. */
  special: number;
}

const VOID_NAMES = new Set(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'.split(' '),
);
/** Start tags that close an open `p` (HTML Standard §13.2.6.4.7), the common ones. */
const CLOSES_P = new Set(
  'address article aside blockquote center details dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table ul'.split(
    ' ',
  ),
);
const TEXT_POINTS = new Set(['mi', 'mo', 'mn', 'ms', 'mtext']);
const SVG_HTML_POINTS = new Set(['foreignobject', 'desc', 'title']);
const ANNOTATION_HTML_ENCODINGS = new Set(['text/html', 'application/xhtml+xml']);
const HIDDEN_NAMES = new Set(['script', 'style', 'title']);

export class ForeignContent {
  /** Stretches from the outermost `svg` or `math` on. Empty outside foreign content. */
  private readonly stretches: Stretch[] = [];
  /** Open HTML elements by name, outside foreign content. Implied end tags are not seen, so a count is an upper bound. */
  private readonly outerCounts = new Map<string, number>();
  private hidden = 0;

  /** Is the current node inside an element whose text nobody sees (a script, a style, an SVG title)? */
  get isHidden(): boolean {
    return this.hidden > 0;
  }

  /** What the tokenizer has to know: CDATA sections exist here. */
  get isForeignNode(): boolean {
    const top = this.top();
    return top !== undefined && top.realm !== 'html' && (top.point === 'none' || top.point === 'annotation');
  }

  /** A start tag. Answers in which realm its element is. */
  start(tag: Token.TagToken): Realm {
    const top = this.top();
    if (top !== undefined && takesAsForeign(top, tag)) {
      if (!foreignContent.causesExit(tag)) {
        if (!tag.selfClosing) this.open(tag, top.realm);
        return top.realm;
      }
      this.leaveToPoint();
    }
    return this.startInHtml(tag);
  }

  /** An end tag. Answers whether it ended a foreign element, and so nothing of HTML. */
  end(tag: Token.TagToken): boolean {
    const name = tag.tagName;
    const stretch = this.stretches.at(-1);
    if (stretch === undefined) this.countOuter(name, -1);
    else if (!stretch.isForeign) this.close(stretch, name);
    else if (name === 'p' || name === 'br') {
      this.leaveToPoint();
      if (stretch.elements.length === 0) return this.end(tag);
    } else if (stretch.counts.has(name)) {
      this.close(stretch, name);
      return true;
    } else this.endBelow(stretch, name);
    return false;
  }

  private startInHtml(tag: Token.TagToken): Realm {
    const name = tag.tagName;
    if (name === 'svg' || name === 'math') {
      if (!tag.selfClosing) this.open(tag, name);
      return name;
    }
    if (this.stretches.length === 0) this.countOuter(name, 1);
    else if (!VOID_NAMES.has(name)) {
      const stretch = this.stretches.at(-1);
      if (stretch && !stretch.isForeign && CLOSES_P.has(name)) this.close(stretch, 'p');
      this.open(tag, 'html');
    }
    return 'html';
  }

  /** An end tag of HTML that is met in foreign content closes it, if an element below is open and no integration point between. */
  private endBelow(stretch: Stretch, name: string): void {
    if (stretch.special > 0 || name === 'body' || name === 'html') return;
    const below = this.stretches.at(-2);
    const counts = below?.counts ?? this.outerCounts;
    if (!counts.has(name)) return;
    while (stretch.elements.length > 0) this.pop(stretch);
    if (below === undefined) this.countOuter(name, -1);
    else this.close(below, name);
  }

  private top(): OpenElement | undefined {
    return this.stretches.at(-1)?.elements.at(-1);
  }

  private open(tag: Token.TagToken, realm: Realm): void {
    const isForeign = realm !== 'html';
    let stretch = this.stretches.at(-1);
    if (stretch === undefined || stretch.isForeign !== isForeign) {
      stretch = { isForeign, elements: [], counts: new Map(), special: 0 };
      this.stretches.push(stretch);
    }
    const name = tag.tagName;
    const element = { name, realm, point: pointOf(tag, realm), isHidden: isForeign && HIDDEN_NAMES.has(name) };
    stretch.elements.push(element);
    stretch.counts.set(name, (stretch.counts.get(name) ?? 0) + 1);
    if (element.point !== 'none') stretch.special++;
    if (element.isHidden) this.hidden++;
  }

  /** Closes the innermost element of that name in a stretch, and what is open inside it; nothing where there is none. */
  private close(stretch: Stretch, name: string): void {
    if (!stretch.counts.has(name)) return;
    while (this.pop(stretch) !== name);
  }

  /** Pops foreign elements until the current node is HTML or an integration point. */
  private leaveToPoint(): void {
    const stretch = this.stretches.at(-1);
    if (stretch === undefined || !stretch.isForeign) return;
    while (stretch.elements.length > 0 && this.isForeignNode) this.pop(stretch);
  }

  private pop(stretch: Stretch): string | null {
    const element = stretch.elements.pop();
    if (element === undefined) return null;
    const left = (stretch.counts.get(element.name) ?? 0) - 1;
    if (left > 0) stretch.counts.set(element.name, left);
    else stretch.counts.delete(element.name);
    if (element.point !== 'none') stretch.special--;
    if (element.isHidden) this.hidden--;
    if (stretch.elements.length === 0) this.stretches.pop();
    return element.name;
  }

  private countOuter(name: string, change: 1 | -1): void {
    if (change === 1 && VOID_NAMES.has(name)) return;
    const count = (this.outerCounts.get(name) ?? 0) + change;
    if (count > 0) this.outerCounts.set(name, count);
    else this.outerCounts.delete(name);
  }
}

/** Does this start tag, met with that current node, make a foreign element? */
function takesAsForeign(current: OpenElement, tag: Token.TagToken): boolean {
  if (current.realm === 'html') return false;
  if (current.point === 'html') return false;
  if (current.point === 'text') return tag.tagName === 'mglyph' || tag.tagName === 'malignmark';
  return !(current.point === 'annotation' && tag.tagName === 'svg');
}

function pointOf(tag: Token.TagToken, realm: Realm): Point {
  if (realm === 'svg') return SVG_HTML_POINTS.has(tag.tagName) ? 'html' : 'none';
  if (realm !== 'math') return 'none';
  if (TEXT_POINTS.has(tag.tagName)) return 'text';
  if (tag.tagName !== 'annotation-xml') return 'none';
  const encoding = tag.attrs.find(({ name }) => name === 'encoding')?.value.toLowerCase();
  return encoding !== undefined && ANNOTATION_HTML_ENCODINGS.has(encoding) ? 'html' : 'annotation';
}
