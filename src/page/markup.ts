/**
 * Reads HTML as a stream of tokens: as exact as a tree for what a crawler asks, in linear time and without its memory.
 *
 * A tokenizer alone misreads HTML: whether `<b>` is a tag depends on the elements around it (inside a title, a script
 * or an iframe it is text). The tree builder normally tells the tokenizer; here the few rules that matter are told by
 * the tags themselves. Scripting counts as off: the content of `noscript` is markup.
 *
 * Invariants:
 * 1. No recursion and no work that grows with the depth of nesting.
 * 2. A listener hears of each element once, in document order, and never of what stands in a `template`, which is inert.
 */
import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import { ForeignContent } from './foreign-content.js';

export type Attributes = readonly Token.Attribute[];

export interface MarkupListener {
  /** An element began that has attributes or tells something without. Names are in lower case. */
  element(name: string, attributes: Attributes, place: Place): void;
  /** An end tag was passed, whether anything of its name was open or not. */
  ended(name: string): void;
  /** A tag that separates words was passed. */
  boundary(): void;
  /** Text without white space that a reader of the page would see. */
  text(chars: string): void;
  /** White space between such text. */
  space(chars: string): void;
  /** The same for the inside of an HTML `title`; `chars` is null for white space. */
  title(chars: string | null): void;
  titleEnded(): void;
  /** Every element, also one without attributes; for those who look closely. */
  started?(name: string, attributes: Attributes, place: Place): void;
  /** The inside of a script or a style sheet, without white space. */
  hidden?(chars: string): void;
}

export interface Place {
  readonly isForeign: boolean;
  /** Shown only to who runs no scripts. */
  readonly isInNoscript: boolean;
}

/** Elements whose content is text to the tokenizer, and what that text is to us. */
const TEXT_ONLY = new Map<string, { mode: Tokenizer['state']; content: TextOnly }>([
  ['title', { mode: TokenizerMode.RCDATA, content: 'title' }],
  ['textarea', { mode: TokenizerMode.RCDATA, content: 'seen' }],
  ['script', { mode: TokenizerMode.SCRIPT_DATA, content: 'unseen' }],
  ['style', { mode: TokenizerMode.RAWTEXT, content: 'unseen' }],
  ['xmp', { mode: TokenizerMode.RAWTEXT, content: 'seen' }],
  ['iframe', { mode: TokenizerMode.RAWTEXT, content: 'unseen' }],
  ['noembed', { mode: TokenizerMode.RAWTEXT, content: 'unseen' }],
  ['noframes', { mode: TokenizerMode.RAWTEXT, content: 'unseen' }],
  ['plaintext', { mode: TokenizerMode.PLAINTEXT, content: 'seen' }],
]);

/** Elements that say something though they have no attribute: others have nothing to tell then. */
const TELLING_WITHOUT_ATTRIBUTES = new Set(
  'title script form button select optgroup option textarea fieldset legend datalist'.split(' '),
);

type TextOnly = 'title' | 'seen' | 'unseen';

/** Tags that end a word. Others (`b`, `span`, `wbr`, …) may stand inside one. */
const SEPARATORS = new Set(
  'address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input legend li main menu nav object ol optgroup option p pre search section select summary table tbody td textarea tfoot th thead title tr ul xmp'.split(
    ' ',
  ),
);

/** Reads a whole document and tells the listener. */
export function readMarkup(html: string, listener: MarkupListener): void {
  const reader = new MarkupReader(listener);
  reader.read(html);
}

class MarkupReader {
  private readonly tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, this);
  private readonly foreign = new ForeignContent();
  private textOnly: TextOnly | null = null;
  private templateDepth = 0;
  private noscriptDepth = 0;

  constructor(private readonly listener: MarkupListener) {}

  read(html: string): void {
    this.tokenizer.write(html, true);
  }

  onStartTag(tag: Token.TagToken): void {
    const name = tag.tagName;
    const realm = this.foreign.start(tag);
    this.tokenizer.inForeignNode = this.foreign.isForeignNode;
    if (realm === 'html') this.startHtml(name);
    if (this.templateDepth > 0) return;
    if (SEPARATORS.has(name)) this.listener.boundary();
    this.listener.started?.(name, tag.attrs, placeOf(realm !== 'html', this.noscriptDepth > 0));
    if (tag.attrs.length > 0 || TELLING_WITHOUT_ATTRIBUTES.has(name)) {
      this.listener.element(name, tag.attrs, placeOf(realm !== 'html', this.noscriptDepth > 0));
    }
  }

  onEndTag(tag: Token.TagToken): void {
    const name = tag.tagName;
    if (this.textOnly === 'title' && this.templateDepth === 0) this.listener.titleEnded();
    this.textOnly = null;
    const isForeign = this.foreign.end(tag);
    this.tokenizer.inForeignNode = this.foreign.isForeignNode;
    if (!isForeign) this.endHtml(name);
    if (this.templateDepth > 0) return;
    this.listener.ended(name);
    if (SEPARATORS.has(name)) this.listener.boundary();
  }

  onCharacter(token: Token.CharacterToken): void {
    if (this.isSeen()) this.listener.text(token.chars);
    else if (this.textOnly === 'title' && this.templateDepth === 0) this.listener.title(token.chars);
    else if (this.textOnly === 'unseen' && this.templateDepth === 0) this.listener.hidden?.(token.chars);
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    if (this.isSeen()) this.listener.space(token.chars);
    else if (this.textOnly === 'title' && this.templateDepth === 0) this.listener.title(null);
  }

  /** NUL is dropped in HTML and replaced in foreign content (HTML Standard §13.2.6.5). */
  onNullCharacter(token: Token.CharacterToken): void {
    if (this.tokenizer.inForeignNode && this.isSeen()) this.listener.text('\ufffd'.repeat(token.chars.length));
  }

  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}

  private startHtml(name: string): void {
    const only = TEXT_ONLY.get(name);
    if (only !== undefined) {
      this.tokenizer.state = only.mode;
      this.textOnly = only.content;
    } else if (name === 'template') this.templateDepth++;
    else if (name === 'noscript') this.noscriptDepth++;
  }

  private endHtml(name: string): void {
    if (name === 'template' && this.templateDepth > 0) this.templateDepth--;
    else if (name === 'noscript' && this.noscriptDepth > 0) this.noscriptDepth--;
  }

  private isSeen(): boolean {
    if (this.templateDepth > 0 || this.foreign.isHidden) return false;
    return this.textOnly === null || this.textOnly === 'seen';
  }
}

const PLACES = {
  html: { isForeign: false, isInNoscript: false },
  htmlNoscript: { isForeign: false, isInNoscript: true },
  foreign: { isForeign: true, isInNoscript: false },
  foreignNoscript: { isForeign: true, isInNoscript: true },
} as const;

/** The four places there are, so that no tag makes an object. */
function placeOf(isForeign: boolean, isInNoscript: boolean): Place {
  if (isForeign) return isInNoscript ? PLACES.foreignNoscript : PLACES.foreign;
  return isInNoscript ? PLACES.htmlNoscript : PLACES.html;
}
