/**
 * What an HTML page says: its links, title, visible text, base, refresh, what it calls itself and what it asks of robots.
 */
import { relationsOf } from '../policy/links.js';
import { bothDirectives, type Directives, NO_DIRECTIVES, parseDirectives, speaksToUs } from './directives.js';
import { FormReading, type GetForm } from './forms.js';
import { addLinks, attribute, type FoundLink, strip } from './links.js';
import { type Attributes, type MarkupListener, type Place, readMarkup } from './markup.js';
import { parseRefresh, REFRESH_REDIRECT_SECONDS_MAX } from './refresh.js';
import { JoinedText } from './words.js';

/** The same page in another language or for readers elsewhere. */
export interface Alternate {
  readonly hreflang: string;
  /** As written. */
  readonly href: string;
}

export interface HtmlContent {
  /** The first title's text; null without one or with an empty one. */
  readonly title: string | null;
  /** Visible text, white space joined. */
  readonly text: string;
  /** How much of it stands in links, without white space. */
  readonly linkTextLength: number;
  /** As written, in document order, whether a crawl follows them or not; forms apart. */
  readonly links: readonly FoundLink[];
  /** Forms that ask by GET; empty where they were not asked for. */
  readonly forms: readonly GetForm[];
  /** The href of the first `base` that has one. */
  readonly baseHref: string | null;
  /** Where a meta refresh sends every reader at once or soon; null without one. */
  readonly refreshHref: string | null;
  /** The href of the first `link rel=canonical`. */
  readonly canonicalHref: string | null;
  readonly alternates: readonly Alternate[];
  readonly scripts: number;
  readonly directives: Directives;
}

export interface HtmlQuestions {
  readonly forms: boolean;
  /** In lower case: meta elements of this name speak to us. */
  readonly productToken: string;
}

export function readHtml(html: string, asked: HtmlQuestions): HtmlContent {
  const reading = new HtmlReading(asked);
  readMarkup(html, reading);
  return reading.content();
}

class HtmlReading implements MarkupListener {
  private readonly links: FoundLink[] = [];
  private readonly alternates: Alternate[] = [];
  private readonly visible = new JoinedText();
  private readonly forms: FormReading | null;
  private readonly productToken: string;
  private titleText: JoinedText | null = null;
  private isTitleOver = false;
  private isInLink = false;
  private linkTextLength = 0;
  private scripts = 0;
  private baseHref: string | null = null;
  private refreshHref: string | null = null;
  private canonicalHref: string | null = null;
  private directives: Directives = NO_DIRECTIVES;

  constructor({ forms, productToken }: HtmlQuestions) {
    this.forms = forms ? new FormReading() : null;
    this.productToken = productToken;
  }

  element(name: string, attributes: Attributes, place: Place): void {
    addLinks(this.links, name, attributes, place);
    if (name === 'a') this.isInLink = true;
    else if (!place.isForeign) this.htmlElement(name, attributes, place);
  }

  ended(name: string): void {
    if (name === 'a') this.isInLink = false;
    else this.forms?.ended(name);
  }

  boundary(): void {
    this.visible.space();
  }

  text(chars: string): void {
    this.visible.add(chars);
    if (this.isInLink) this.linkTextLength += chars.length;
    this.forms?.text(chars);
  }

  space(chars: string): void {
    this.visible.space();
    this.forms?.text(chars);
  }

  title(chars: string | null): void {
    if (this.isTitleOver || this.titleText === null) return;
    if (chars === null) this.titleText.space();
    else this.titleText.add(chars);
  }

  titleEnded(): void {
    this.isTitleOver = true;
  }

  content(): HtmlContent {
    return {
      title: this.titleText?.toString() || null,
      text: this.visible.toString(),
      linkTextLength: this.linkTextLength,
      links: this.links,
      forms: this.forms?.content() ?? [],
      baseHref: this.baseHref,
      refreshHref: this.refreshHref,
      canonicalHref: this.canonicalHref,
      alternates: this.alternates,
      scripts: this.scripts,
      directives: this.directives,
    };
  }

  private htmlElement(name: string, attributes: Attributes, place: Place): void {
    switch (name) {
      case 'title':
        this.titleText ??= new JoinedText();
        return;
      case 'link':
        return this.link(attributes);
      case 'meta':
        return this.meta(attributes, place);
      case 'base':
        this.base(attributes);
        return;
      case 'script':
        this.scripts++;
        return;
      default:
        this.forms?.started(name, attributes);
    }
  }

  private base(attributes: Attributes): void {
    const href = attribute(attributes, 'href');
    if (href !== null) this.baseHref ??= strip(href);
  }

  private link(attributes: Attributes): void {
    const href = attribute(attributes, 'href');
    const rel = attribute(attributes, 'rel');
    if (href === null || rel === null) return;
    const relations = relationsOf(rel);
    if (relations.includes('canonical')) this.canonicalHref ??= strip(href);
    const hreflang = attribute(attributes, 'hreflang');
    if (hreflang !== null && relations.includes('alternate')) this.alternates.push({ hreflang, href: strip(href) });
  }

  private meta(attributes: Attributes, place: Place): void {
    const content = attribute(attributes, 'content');
    if (content === null) return;
    if (speaksToUs(attribute(attributes, 'name'), this.productToken)) {
      this.directives = bothDirectives(this.directives, parseDirectives(content));
    }
    if (attribute(attributes, 'http-equiv')?.trim().toLowerCase() === 'refresh') this.refresh(content, place);
  }

  /**
   * A refresh in `noscript` is for readers without scripts, often to a page that only says so: a link, not a redirect.
   * So is one that lets its reader stay for a while, and every one after the first.
   */
  private refresh(content: string, place: Place): void {
    const refresh = parseRefresh(content);
    if (refresh === null) return;
    const isAtOnce = !place.isInNoscript && refresh.delaySeconds <= REFRESH_REDIRECT_SECONDS_MAX;
    if (isAtOnce && this.refreshHref === null) this.refreshHref = refresh.url;
    else this.links.push({ href: refresh.url, element: 'meta', rel: null });
  }
}
