/**
 * What a page is made of, for those few that may be no pages: where its scripts come from, what it shows, what waits to
 * be filled. A second reading of the markup, up to a bound; ordinary pages are never read twice.
 */
import type { Holder, PageMake } from '../policy/challenge.js';
import { attribute } from './links.js';
import { type Attributes, type MarkupListener, type Place, readMarkup } from './markup.js';
import { JoinedText } from './words.js';

/** UTF-16 units. A door is never so large, and a shell shows itself before. */
const SOURCE_MAX = 512 * 1024;
const CODE_MAX = 256 * 1024;
const NAMES_MAX = 2_000;
const ADDRESSES_MAX = 64 * 1024;

export function pageMake(source: string): PageMake {
  const reading = new MakeReading();
  readMarkup(source.length > SOURCE_MAX ? source.slice(0, SOURCE_MAX) : source, reading);
  return reading.make(SHADOW_ROOT.test(source));
}

const SHADOW_ROOT = /<template[^>]{0,300}\sshadowroot(?:mode)?\s*=/i;

/** Where elements hold an address. */
const ADDRESS_ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ['script', 'src'],
  ['iframe', 'src'],
  ['frame', 'src'],
  ['form', 'action'],
  ['img', 'src'],
  ['link', 'href'],
]);

const MEDIA = new Set(['video', 'audio', 'object', 'embed', 'applet']);
const FIELD_TYPES_UNSEEN = new Set(['hidden', 'submit', 'button', 'image', 'reset', 'checkbox']);
const NAMES_OF_HEADINGS = /^(?:h[1-6]|a|section|article|li|dt|code|pre|dfn|p|td|th|svg|path|use|g)$/;

const USUAL_HOLDERS = new Set(
  'root app __next __nuxt ___gatsby app-root react-root reactroot react-app root-app main-app application ember-app q-app svelte vue-app ng-app mount app-mount app-container appcontainer spa app_root vueapp reactapp angular-app app-wrapper single-spa-application container-app webapp web-app'.split(
    ' ',
  ),
);

/** Scripts that count, measure or ask, and make no page. */
const SERVICES =
  /googletagmanager\.com|google-analytics\.com|googlesyndication\.com|google\.com\/recaptcha|plausible|cloudflareinsights|matomo|piwik|connect\.facebook\.net|hotjar|segment\.(?:com|io)|clarity\.ms|\/cdn-cgi\/|cookie-?(?:consent|bot|law)|onetrust|sentry|newrelic|nr-data|bugsnag|stats\.wp|umami|fathom|jquery|bootstrap(?:\.bundle)?(?:\.min)?\.js|modernizr|lightbox|highlight(?:\.min|\.pack)?\.js|prism[.-]|mathjax|katex|polyfill\.io|html5shiv|respond\.min/;

const RUNS = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/babel)$/;
/** Builders name what they build by its content. */
const BUILT = /[.-](?:[\w-]*\d[\w-]{5,}|[0-9a-f]{8,})\.m?js(?:$|\?)|\/_next\/|\/_nuxt\/|\bchunks?[./-]/;
/** A shorter one switches a class or counts a visit. */
const OWN_CODE_MIN = 120;

class MakeReading implements MarkupListener {
  private addresses = '';
  private code = '';
  private readonly names = new Set<string>();
  private readonly said = new JoinedText();
  private readonly plea = new JoinedText();
  private links = 0;
  private images = 0;
  private frames = 0;
  private media = 0;
  private fields = 0;
  private ownScripts = 0;
  private isPassing = false;
  private isBuilt = false;
  private isInNoscript = false;
  /** Units of the script that is being read; null outside of one that runs. */
  private scriptLength: number | null = null;
  private holder: OpenHolder | null = null;
  private candidate: OpenHolder | null = null;

  started(name: string, attributes: Attributes, place: Place): void {
    this.isInNoscript = place.isInNoscript;
    if (place.isForeign) return;
    this.nameAll(name, attributes);
    this.address(name, attributes);
    if (name === 'script') this.script(attributes);
    else if (name === 'meta') this.meta(attributes);
    else if (place.isInNoscript) this.unseen(name, attributes);
    else this.shown(name, attributes);
    this.hold(name, attributes, place);
  }

  element(): void {}

  ended(name: string): void {
    if (name === 'noscript') this.isInNoscript = false;
    if (name === 'script') this.scriptEnded();
    if (this.candidate !== null && this.candidate.element === name) {
      this.holder ??= this.candidate;
      this.candidate = null;
    }
    this.holder?.ended(name);
  }

  boundary(): void {
    this.said.space();
    this.plea.space();
    this.holder?.said.space();
  }

  text(chars: string): void {
    if (this.isInNoscript) {
      this.plea.add(chars);
      return;
    }
    this.said.add(chars);
    this.candidate = null;
    if (this.holder?.isOpen) this.holder.said.add(chars);
  }

  space(): void {
    this.boundary();
  }

  title(): void {}
  titleEnded(): void {}

  hidden(chars: string): void {
    if (this.scriptLength === null) return;
    this.scriptLength += chars.length;
    if (this.code.length < CODE_MAX) this.code += chars;
  }

  make(isShadowed: boolean): PageMake {
    const { names, links, images, frames, media, fields, ownScripts, isPassing } = this;
    return {
      addresses: this.addresses.toLowerCase(),
      code: this.code.toLowerCase(),
      names,
      said: this.said.toString().toLowerCase(),
      plea: this.plea.toString().toLowerCase(),
      links,
      images,
      frames,
      media,
      fields,
      ownScripts,
      holder: this.holder?.closed() ?? null,
      isBuilt: this.isBuilt || this.code.includes('import("') || this.code.includes("import('"),
      isPassing,
      isShadowed,
    };
  }

  // -- what markers hang on ---------------------------------------------------------------------------------------

  private nameAll(name: string, attributes: Attributes): void {
    if (this.names.size > NAMES_MAX || NAMES_OF_HEADINGS.test(name)) return;
    if (name.includes('-')) this.names.add(name);
    const id = attribute(attributes, 'id');
    if (id !== null) this.names.add(id.toLowerCase());
    const field = attribute(attributes, 'name');
    if (field !== null) this.names.add(field.toLowerCase());
    const classes = attribute(attributes, 'class');
    if (classes !== null) for (const one of classes.toLowerCase().split(/\s+/, 20)) this.names.add(one);
  }

  private address(name: string, attributes: Attributes): void {
    const holder = ADDRESS_ATTRIBUTES.get(name);
    const address = holder === undefined ? null : attribute(attributes, holder);
    if (address !== null && this.addresses.length < ADDRESSES_MAX) this.addresses += `${address.slice(0, 2_000)}\n`;
  }

  private meta(attributes: Attributes): void {
    if (attribute(attributes, 'http-equiv')?.trim().toLowerCase() !== 'refresh') return;
    const content = attribute(attributes, 'content') ?? '';
    if (this.addresses.length < ADDRESSES_MAX) this.addresses += `${content.slice(0, 2_000)}\n`;
    if (!this.isInNoscript && content.includes('=')) this.isPassing = true;
  }

  // -- scripts ----------------------------------------------------------------------------------------------------

  private script(attributes: Attributes): void {
    if (!RUNS.test((attribute(attributes, 'type') ?? '').trim().toLowerCase())) return;
    const src = attribute(attributes, 'src');
    if (src === null) this.scriptLength = 0;
    else if (!SERVICES.test(src.toLowerCase())) this.ownScripts++;
    if (src !== null && (BUILT.test(src) || attribute(attributes, 'type') === 'module')) this.isBuilt = true;
  }

  private scriptEnded(): void {
    if (this.scriptLength !== null && this.scriptLength >= OWN_CODE_MIN) this.ownScripts++;
    if (this.scriptLength !== null) this.code += '\n';
    this.scriptLength = null;
  }

  // -- what is shown ----------------------------------------------------------------------------------------------

  private shown(name: string, attributes: Attributes): void {
    switch (name) {
      case 'a':
      case 'area':
        if (leadsOn(attribute(attributes, 'href'))) this.show('links');
        return;
      case 'img':
      case 'picture':
        if (name === 'img' && !isHidden(attributes)) this.show('images');
        return;
      case 'frame':
        this.show('frames');
        return;
      case 'iframe':
        if (!isHidden(attributes) && leadsOn(attribute(attributes, 'src'))) this.show('frames');
        return;
      case 'input':
        if (!FIELD_TYPES_UNSEEN.has((attribute(attributes, 'type') ?? 'text').toLowerCase())) this.show('fields');
        return;
      case 'textarea':
      case 'select':
        if (!isHidden(attributes)) this.show('fields');
        return;
      default:
        if (MEDIA.has(name)) this.show('media');
    }
  }

  /** In `noscript`: pictures that scripts load later, and the points that count visits. */
  private unseen(name: string, attributes: Attributes): void {
    if (name === 'img' && !isHidden(attributes)) this.images++;
  }

  private show(what: 'links' | 'images' | 'frames' | 'fields' | 'media'): void {
    this[what]++;
    if (this.holder?.isOpen) this.holder.shown++;
  }

  // -- what waits -------------------------------------------------------------------------------------------------

  private hold(name: string, attributes: Attributes, { isInNoscript }: Place): void {
    if (isInNoscript) return;
    this.holder?.began(name);
    const id = attribute(attributes, 'id')?.toLowerCase() ?? null;
    const isCustom = name.includes('-');
    const isUsual =
      (id !== null && USUAL_HOLDERS.has(id)) || USUAL_HOLDERS.has(name) || attribute(attributes, 'ng-app') !== null;
    if (isUsual && name !== 'html' && name !== 'body' && !this.holder?.isUsual) {
      this.holder = new OpenHolder(name, id === null ? `<${name}>` : `#${id}`, true);
      return;
    }
    this.candidate = null;
    if (this.holder === null && (isCustom || (id !== null && (name === 'div' || name === 'main')))) {
      this.candidate = new OpenHolder(name, id === null ? `<${name}>` : `#${id}`, false);
    }
  }
}

class OpenHolder {
  readonly said = new JoinedText();
  shown = 0;
  /** Elements of its own name that are open, itself included. */
  private depth = 1;

  constructor(
    readonly element: string,
    readonly name: string,
    readonly isUsual: boolean,
  ) {}

  get isOpen(): boolean {
    return this.depth > 0;
  }

  began(name: string): void {
    if (this.isOpen && name === this.element) this.depth++;
  }

  ended(name: string): void {
    if (this.isOpen && name === this.element) this.depth--;
  }

  closed(): Holder {
    const { name, isUsual, shown } = this;
    return { name, isUsual, shown, said: this.said.toString().toLowerCase() };
  }
}

function leadsOn(href: string | null): boolean {
  return href !== null && !/^\s*(?:#|javascript:|mailto:|tel:|$)/i.test(href);
}

/** A point that counts visits, or what is not shown. */
function isHidden(attributes: Attributes): boolean {
  for (const { name, value } of attributes) {
    if (name === 'hidden') return true;
    if ((name === 'width' || name === 'height') && /^\s*[01](?:px)?\s*$/.test(value)) return true;
    if (
      name === 'style' &&
      /display\s*:\s*none|visibility\s*:\s*hidden|(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)/i.test(value)
    )
      return true;
  }
  return false;
}
