/**
 * What an HTML page says: its links, title, visible text, base, refresh and what it asks of robots.
 */
import { bothDirectives, type Directives, NO_DIRECTIVES, parseDirectives } from './directives.js';
import { attribute, type FoundLink, linkOf } from './links.js';
import { type Attributes, type MarkupListener, type Place, readMarkup } from './markup.js';
import { parseRefresh, REFRESH_REDIRECT_SECONDS_MAX } from './refresh.js';
import { JoinedText } from './words.js';

export interface HtmlContent {
  /** The first title's text; null without one or with an empty one. */
  readonly title: string | null;
  /** Visible text, white space joined. */
  readonly text: string;
  /** Followed links as written, in document order. */
  readonly links: readonly FoundLink[];
  /** The href of the first `base` that has one. */
  readonly baseHref: string | null;
  /** Where a meta refresh sends every reader at once or soon; null without one. */
  readonly refreshHref: string | null;
  /** The href of the first `link rel=canonical`. */
  readonly canonicalHref: string | null;
  readonly directives: Directives;
}

export function readHtml(html: string): HtmlContent {
  const reading = new HtmlReading();
  readMarkup(html, reading);
  return reading.content();
}

class HtmlReading implements MarkupListener {
  private readonly links: FoundLink[] = [];
  private readonly visible = new JoinedText();
  private titleText: JoinedText | null = null;
  private isTitleOver = false;
  private baseHref: string | null = null;
  private refreshHref: string | null = null;
  private canonicalHref: string | null = null;
  private directives: Directives = NO_DIRECTIVES;

  element(name: string, attributes: Attributes, place: Place): void {
    if (name === 'title') {
      if (!place.isForeign) this.titleText ??= new JoinedText();
      return;
    }
    const link = linkOf(name, attributes, place);
    if (link !== null) {
      this.links.push(link);
      if (name === 'link' && link.rel?.toLowerCase().trim() === 'canonical') this.canonicalHref ??= link.href;
    } else if (name === 'meta' && !place.isForeign) this.meta(attributes, place);
    else if (name === 'base' && !place.isForeign) this.baseHref ??= attribute(attributes, 'href')?.trim() ?? null;
  }

  boundary(): void {
    this.visible.space();
  }

  text(chars: string): void {
    this.visible.add(chars);
  }

  space(): void {
    this.visible.space();
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
      links: this.links,
      baseHref: this.baseHref,
      refreshHref: this.refreshHref,
      canonicalHref: this.canonicalHref,
      directives: this.directives,
    };
  }

  private meta(attributes: Attributes, place: Place): void {
    const content = attribute(attributes, 'content');
    if (content === null) return;
    if (attribute(attributes, 'name')?.trim().toLowerCase() === 'robots') {
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
